//! Reciprocals of a fast reciprocal, and of a fast power of two: both are computed from the operand of the first operation. A double
//! negation becomes a copy, also of a NaN.

use std::collections::BTreeMap;

use super::flow::Function;
use super::saved_registers::two_registers;
use super::sums::{register, width_of};
use crate::flow::def_use::Definition;
use crate::isa::{Factored, FloatBinary, FloatType, FloatUnary, Width};
use crate::program::{Contraction, ContractionKind, FloatOp, MoveOp, Op, Pc, Program, Src, SrcKind};

/// Contracts reciprocals in function number `index`; returns true if the code has changed.
pub(super) fn contract_inverses(program: &mut Program, index: usize, function: &Function) -> bool {
    // Operands that are overwritten before the reciprocal, by the first operation: they are saved in new registers.
    let mut saved: BTreeMap<usize, (FloatUnary, Src)> = BTreeMap::new();
    let mut changes = false;
    for at in program.functions[index].code.start as usize..program.functions[index].code.end as usize {
        if let Some((width, operand)) = function.double_negation(program, at)
            && let Op::Float(FloatOp::Unary { d, .. }) = program.code[at].op
        {
            program.code[at].op = Op::Move(MoveOp::Move { width, d, a: operand });
            changes = true;
        }
        let Some(divisor) = fast_divisor(&program.code[at].op) else { continue };
        let Some((inverse_at, f, operand)) = function.inverse(program, &saved, divisor, at) else { continue };
        let operand = match operand.kind() {
            SrcKind::Reg(slot)
                if !saved.contains_key(&inverse_at) && !function.def_use.is_unchanged(register(FloatType::F32, slot), inverse_at, at) =>
            {
                let saved_operand = save_operand(program, index, inverse_at, f);
                saved.insert(inverse_at, (f, saved_operand));
                saved_operand
            }
            SrcKind::Reg(_) | SrcKind::Const(_) | SrcKind::Special(_) => operand,
        };
        invert(program, at, f, operand);
        program.contractions.push(Contraction { kind: ContractionKind::Inverse, second: Pc::new(at), first: Pc::new(inverse_at) });
        changes = true;
    }
    changes
}

/// The operand that `op` negates without flushing, and its type; not of `.bf16x2`, whose double negations are not contracted.
fn negated_operand(op: &Op) -> Option<(FloatType, Src)> {
    let Op::Float(FloatOp::Unary { f: FloatUnary::Neg, ty, mode, a, .. }) = *op else { return None };
    (!mode.modifiers.ftz && ty != FloatType::BF16x2).then_some((ty, a))
}

/// The operand of which `op` takes the reciprocal, if the special-function unit computes it without scaling.
fn fast_divisor(op: &Op) -> Option<Src> {
    let Op::Float(
        FloatOp::Unary { f: FloatUnary::RcpApprox, ty: FloatType::F32, mode, a: divisor, .. }
        | FloatOp::Binary { f: FloatBinary::DivApprox, ty: FloatType::F32, mode, b: divisor, .. },
    ) = *op
    else {
        return None;
    };
    mode.modifiers.ftz.then_some(divisor)
}

/// The function of `op` and its operand, if it is a reciprocal or power that the special-function unit computes without scaling.
fn fast_inverse(op: &Op) -> Option<(FloatUnary, Src)> {
    let Op::Float(FloatOp::Unary { f: f @ (FloatUnary::RcpApprox | FloatUnary::Ex2Approx), ty: FloatType::F32, mode, a, .. }) = *op else {
        return None;
    };
    mode.modifiers.ftz.then_some((f, a))
}

impl Function {
    /// The operand of a double negation that ends at `at`, if its register is unchanged.
    fn double_negation(&self, program: &Program, at: usize) -> Option<(Width, Src)> {
        let (ty, source) = negated_operand(&program.code[at].op)?;
        let SrcKind::Reg(slot) = source.kind() else { return None };
        let [Definition::At(from)] = self.def_use.definitions(register(ty, slot), at)[..] else { return None };
        let inst = &program.code[from];
        let (_, operand) = negated_operand(&inst.op).filter(|(other, _)| *other == ty && inst.guard.is_none())?;
        let is_unchanged = match operand.kind() {
            SrcKind::Reg(slot) => self.def_use.is_unchanged(register(ty, slot), from, at),
            SrcKind::Const(_) | SrcKind::Special(_) => true,
        };
        is_unchanged.then_some((width_of(ty), operand))
    }

    /// The reciprocal or power that `divisor` holds when the instruction at `at` reads it: its pc, its function and its operand. A power is
    /// contracted only if it has no other use.
    fn inverse(
        &self,
        program: &Program,
        saved: &BTreeMap<usize, (FloatUnary, Src)>,
        divisor: Src,
        at: usize,
    ) -> Option<(usize, FloatUnary, Src)> {
        let mut reader = (divisor, at);
        let mut is_only_use = !matches!(program.code[at].op, Op::Float(FloatOp::Binary { a, b, .. }) if a == b);
        loop {
            let SrcKind::Reg(slot) = reader.0.kind() else { return None };
            let register = register(FloatType::F32, slot);
            let [Definition::At(from)] = self.def_use.definitions(register, reader.1)[..] else { return None };
            let inst = &program.code[from];
            if inst.guard.is_some() {
                return None;
            }
            is_only_use &= self.readers(register, from, false).is_some_and(|readers| readers == [reader.1]);
            if let Op::Move(MoveOp::Move { width: Width::B32, a, .. }) = inst.op {
                reader = (a, from);
                continue;
            }
            let (f, operand) = fast_inverse(&inst.op).or_else(|| saved.get(&from).copied())?;
            return (f == FloatUnary::RcpApprox || is_only_use).then_some((from, f, operand));
        }
    }
}

/// Makes the reciprocal or power at `inverse_at` save its operand; returns the register.
fn save_operand(program: &mut Program, index: usize, inverse_at: usize, function: FloatUnary) -> Src {
    let Op::Float(FloatOp::Unary { ty, mode, d, a, .. }) = program.code[inverse_at].op else {
        unreachable!("only a reciprocal or a power is kept")
    };
    let saved = two_registers(&mut program.functions[index], ty);
    let f = if function == FloatUnary::RcpApprox { Factored::RcpOperand } else { Factored::Ex2Operand };
    program.code[inverse_at].op = Op::Float(FloatOp::ProductWithFactors { f, ty, mode, d, a, b: a, factors: saved });
    Src::reg(saved.0.offset(1))
}

/// Replaces the division or reciprocal at `at` by an operation on `operand`, the operand of the divisor's function `f`.
fn invert(program: &mut Program, at: usize, f: FloatUnary, operand: Src) {
    let is_reciprocal = f == FloatUnary::RcpApprox;
    let Op::Float(op) = program.code[at].op else { return };
    program.code[at].op = match op {
        FloatOp::Unary { d, .. } if is_reciprocal => Op::Move(MoveOp::Move { width: Width::B32, d, a: operand }),
        FloatOp::Unary { ty, mode, d, .. } => Op::Float(FloatOp::Unary { f: FloatUnary::InverseEx2Approx, ty, mode, d, a: operand }),
        FloatOp::Binary { ty, mode, d, a, .. } => {
            let f = if is_reciprocal { FloatBinary::Mul } else { FloatBinary::MulInverseEx2 };
            Op::Float(FloatOp::Binary { f, ty, mode, d, a, b: operand })
        }
        FloatOp::Ternary { .. } | FloatOp::ProductWithFactors { .. } | FloatOp::TestProperty { .. } => {
            unreachable!("{op:?} divides nothing")
        }
    };
}
