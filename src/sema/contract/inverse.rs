//! The reciprocal of a fast reciprocal, and of a fast power of two: both are computed from the operand of the first one. The negative of a
//! negative is a copy, of a NaN as well.

use std::collections::BTreeMap;

use super::flow::Function;
use super::kept::two_registers;
use super::sums::{register, width_of};
use crate::flow::def_use::Definition;
use crate::isa::{Factored, FloatBinary, FloatType, FloatUnary, Width};
use crate::program::{Contraction, ContractionKind, FloatOp, MoveOp, Op, Pc, Program, Src, SrcKind};

/// Joins reciprocals in function number `index`; says whether there were any.
pub(super) fn contract_inverses(program: &mut Program, index: usize, function: &Function) -> bool {
    // Operands that are overwritten before they are taken, by the instruction that reads them first.
    let mut kept: BTreeMap<usize, (FloatUnary, Src)> = BTreeMap::new();
    let mut changes = false;
    for at in program.functions[index].code.start as usize..program.functions[index].code.end as usize {
        if let Some((width, operand)) = function.twice_negated(program, at)
            && let Op::Float(FloatOp::Unary { d, .. }) = program.code[at].op
        {
            program.code[at].op = Op::Move(MoveOp::Move { width, d, a: operand });
            changes = true;
        }
        let Some(divisor) = fast_divisor(&program.code[at].op) else { continue };
        let Some((given, f, operand)) = function.inverse(program, &kept, divisor, at) else { continue };
        let operand = match operand.kind() {
            SrcKind::Reg(slot)
                if !kept.contains_key(&given) && !function.def_use.is_unchanged(register(FloatType::F32, slot), given, at) =>
            {
                let own = keep(program, index, given, f);
                kept.insert(given, (f, own));
                own
            }
            SrcKind::Reg(_) | SrcKind::Const(_) | SrcKind::Special(_) => operand,
        };
        invert(program, at, f, operand);
        program.contracted.push(Contraction { how: ContractionKind::Inverse, taker: Pc::new(at), given: Pc::new(given) });
        changes = true;
    }
    changes
}

/// What `op` negates without flushing, and its type; two negations of `.bf16x2` stay.
fn plain_negative(op: &Op) -> Option<(FloatType, Src)> {
    let Op::Float(FloatOp::Unary { f: FloatUnary::Neg, ty, mode, a, .. }) = *op else { return None };
    (!mode.words.ftz && ty != FloatType::BF16x2).then_some((ty, a))
}

/// What `op` takes the reciprocal of, if the special-function unit does it without scaling.
fn fast_divisor(op: &Op) -> Option<Src> {
    let Op::Float(
        FloatOp::Unary { f: FloatUnary::RcpApprox, ty: FloatType::F32, mode, a: divisor, .. }
        | FloatOp::Binary { f: FloatBinary::DivApprox, ty: FloatType::F32, mode, b: divisor, .. },
    ) = *op
    else {
        return None;
    };
    mode.words.ftz.then_some(divisor)
}

/// The reciprocal or power that `op` takes from the special-function unit without scaling, with its operand.
fn fast_inverse(op: &Op) -> Option<(FloatUnary, Src)> {
    let Op::Float(FloatOp::Unary { f: f @ (FloatUnary::RcpApprox | FloatUnary::Ex2Approx), ty: FloatType::F32, mode, a, .. }) = *op else {
        return None;
    };
    mode.words.ftz.then_some((f, a))
}

impl Function {
    /// What the instruction at `at` negates back, if it does and that is still there.
    fn twice_negated(&self, program: &Program, at: usize) -> Option<(Width, Src)> {
        let (ty, source) = plain_negative(&program.code[at].op)?;
        let SrcKind::Reg(slot) = source.kind() else { return None };
        let [Definition::At(from)] = self.def_use.definitions(register(ty, slot), at)[..] else { return None };
        let inst = &program.code[from];
        let (_, operand) = plain_negative(&inst.op).filter(|(other, _)| *other == ty && inst.guard.is_none())?;
        let is_unchanged = match operand.kind() {
            SrcKind::Reg(slot) => self.def_use.is_unchanged(register(ty, slot), from, at),
            SrcKind::Const(_) | SrcKind::Special(_) => true,
        };
        is_unchanged.then_some((width_of(ty), operand))
    }

    /// The reciprocal or power that `divisor` holds where the instruction at `at` reads it: its place, its function and its operand. A
    /// power is only taken if nothing else takes it.
    fn inverse(
        &self,
        program: &Program,
        kept: &BTreeMap<usize, (FloatUnary, Src)>,
        divisor: Src,
        at: usize,
    ) -> Option<(usize, FloatUnary, Src)> {
        let mut reader = (divisor, at);
        let mut is_sole = !matches!(program.code[at].op, Op::Float(FloatOp::Binary { a, b, .. }) if a == b);
        loop {
            let SrcKind::Reg(slot) = reader.0.kind() else { return None };
            let register = register(FloatType::F32, slot);
            let [Definition::At(from)] = self.def_use.definitions(register, reader.1)[..] else { return None };
            let inst = &program.code[from];
            if inst.guard.is_some() {
                return None;
            }
            is_sole &= self.readers(register, from, false).is_some_and(|readers| readers == [reader.1]);
            if let Op::Move(MoveOp::Move { width: Width::B32, a, .. }) = inst.op {
                reader = (a, from);
                continue;
            }
            let (f, operand) = fast_inverse(&inst.op).or_else(|| kept.get(&from).copied())?;
            return (f == FloatUnary::RcpApprox || is_sole).then_some((from, f, operand));
        }
    }
}

/// Lets the reciprocal or power at `given` keep its operand, and says where.
fn keep(program: &mut Program, index: usize, given: usize, function: FloatUnary) -> Src {
    let Op::Float(FloatOp::Unary { ty, mode, d, a, .. }) = program.code[given].op else {
        unreachable!("only a reciprocal or a power is kept")
    };
    let kept = two_registers(&mut program.functions[index], ty);
    let f = if function == FloatUnary::RcpApprox { Factored::RcpOperand } else { Factored::Ex2Operand };
    program.code[given].op = Op::Float(FloatOp::KeepingProduct { f, ty, mode, d, a, b: a, kept });
    Src::reg(kept.0.offset(1))
}

/// Makes the division or reciprocal at `at` one by the inverse of `f`, of `operand`.
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
        FloatOp::Ternary { .. } | FloatOp::KeepingProduct { .. } | FloatOp::TestProperty { .. } => {
            unreachable!("{op:?} divides nothing")
        }
    };
}
