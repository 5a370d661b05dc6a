//! Contraction of a product with a multiplication by a power of two from 1/8 to 8, or with a flushing conversion to 64 bits: the product
//! is scaled, or flushed, before it is rounded.

use std::collections::BTreeSet;

use super::flow::Function;
use super::folding::Folded;
use super::saved_registers::two_registers;
use super::sums::{FusibleProduct, fusible_product, register};
use crate::flow::def_use::Definition;
use crate::isa::{Factored, FloatBinary, FloatTernary, FloatType, Rounding, ScalarType};
use crate::program::{Bank, Contraction, ContractionKind, ConvertOp, Dst, FloatOp, MoveOp, Op, Pc, Program, Src, SrcKind};

/// The use of a product that is contracted with it.
enum ScaledUse {
    /// A multiplication or division by `by`.
    Scaled { f: FloatTernary, by: Src },
    /// A flushing conversion to `f64` or a 64-bit integer, which the hardware's conversions do not have.
    Widened,
}

/// Contracts products with their scaling in function number `index`, except products that are contracted with sums.
pub(super) fn contract_scaled(program: &mut Program, index: usize, function: &Function) {
    let summed: BTreeSet<usize> = program.contractions.iter().map(|contraction| contraction.first.index()).collect();
    for at in program.functions[index].code.start as usize..program.functions[index].code.end as usize {
        if summed.contains(&at) {
            continue;
        }
        let Some((product, scaled_use)) = function.scaling(program, at) else { continue };
        let Some((product_at, fusible)) = function.only_use_product(program, product, at) else { continue };
        match scaled_use {
            ScaledUse::Scaled { f, by } => scale(program, index, function, (product_at, fusible), (at, f, by)),
            ScaledUse::Widened if fusible.mode.modifiers.ftz => continue,
            ScaledUse::Widened => flush(program, index, (product_at, fusible)),
        }
        program.contractions.push(Contraction { kind: ContractionKind::Scale, second: Pc::new(at), first: Pc::new(product_at) });
    }
}

impl Function {
    /// The operand that the instruction at `at` scales or widens, and the kind of use.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the assembler is known to do it to these instructions, and to no others")]
    fn scaling(&self, program: &Program, at: usize) -> Option<(Src, ScaledUse)> {
        let power = |source: Src| match self.folded_value(program, source, Bank::B32, at)? {
            Folded::Constant(bits) => is_scale(bits).then_some(source),
            Folded::Computed => None,
        };
        match program.code[at].op {
            Op::Float(FloatOp::Binary { f, ty: FloatType::F32, mode, a, b, .. }) if mode.modifiers.rounding == Rounding::Nearest => match f
            {
                FloatBinary::Mul => {
                    let (by, product) = power(b).map(|by| (by, a)).or_else(|| power(a).map(|by| (by, b)))?;
                    Some((product, ScaledUse::Scaled { f: FloatTernary::MulScaleUp, by }))
                }
                FloatBinary::DivApproxKnown | FloatBinary::DivFullKnown => {
                    Some((a, ScaledUse::Scaled { f: FloatTernary::MulScaleDown, by: power(b)? }))
                }
                _ => None,
            },
            Op::Convert(ConvertOp::Single { mode, a, .. })
                if mode.from == ScalarType::F32 && mode.to.bits() == 64 && mode.ftz && !mode.sat =>
            {
                Some((a, ScaledUse::Widened))
            }
            _ => None,
        }
    }

    /// The product whose only use, possibly through copies, is as `source` of the instruction at `at`.
    fn only_use_product(&self, program: &Program, source: Src, at: usize) -> Option<(usize, FusibleProduct)> {
        let SrcKind::Reg(slot) = source.kind() else { return None };
        let register = register(FloatType::F32, slot);
        let [Definition::At(from)] = self.def_use.definitions(register, at)[..] else { return None };
        let inst = &program.code[from];
        if inst.guard.is_some() || self.readers(register, from, false)? != [at] {
            return None;
        }
        if let Some(copied) = plain_copy(&inst.op) {
            return self.only_use_product(program, copied, from);
        }
        let fusible = fusible_product(&inst.op).filter(|fusible| fusible.ty == FloatType::F32)?;
        (!self.is_folded(program, &fusible, from)).then_some((from, fusible))
    }
}

/// True if these are the bits of a power of two from 1/8 to 8, except 1.
fn is_scale(bits: u64) -> bool {
    matches!(bits, 0x3e00_0000 | 0x3e80_0000 | 0x3f00_0000 | 0x4000_0000 | 0x4080_0000 | 0x4100_0000)
}

/// The source that `op` copies unchanged.
#[expect(clippy::wildcard_enum_match_arm, reason = "the assembler is known to do it to these instructions, and to no others")]
fn plain_copy(op: &Op) -> Option<Src> {
    match *op {
        Op::Move(MoveOp::Move { a, .. }) => Some(a),
        Op::Convert(ConvertOp::Single { mode, a, .. }) => {
            let is_plain = !mode.to_integral && !mode.sat && !mode.ftz;
            (is_plain && mode.from == ScalarType::F32 && mode.to == ScalarType::F32).then_some(a)
        }
        _ => None,
    }
}

/// Replaces the instruction at `at` by a scaled product of the factors of `fusible`, which is at `product_at`.
fn scale(
    program: &mut Program,
    index: usize,
    function: &Function,
    (product_at, fusible): (usize, FusibleProduct),
    (at, f, by): (usize, FloatTernary, Src),
) {
    let Op::Float(FloatOp::Binary { ty, mode, d, .. }) = program.code[at].op else { return };
    let is_unchanged = |factor: Src| match factor.kind() {
        SrcKind::Reg(slot) => function.def_use.is_unchanged(register(ty, slot), product_at, at),
        SrcKind::Const(_) | SrcKind::Special(_) => true,
    };
    let [a, b] = if fusible.f == Factored::Mul && is_unchanged(fusible.a) && is_unchanged(fusible.b) {
        [fusible.a, fusible.b]
    } else {
        save_factors(program, index, (product_at, fusible))
    };
    program.code[at].op = Op::Float(FloatOp::Ternary { f, ty, mode, d, a, b, c: by });
}

/// Makes the product at `product_at` flush its factors and its result.
fn flush(program: &mut Program, index: usize, (product_at, mut fusible): (usize, FusibleProduct)) {
    fusible.mode.modifiers.ftz = true;
    save_factors(program, index, (product_at, fusible));
}

/// Makes the product at `product_at` save its factors; returns the registers.
fn save_factors(program: &mut Program, index: usize, (product_at, fusible): (usize, FusibleProduct)) -> [Src; 2] {
    let FusibleProduct { f, ty, mode, d, a, b } = fusible;
    let saved = two_registers(&mut program.functions[index], ty);
    program.code[product_at].op = Op::Float(FloatOp::ProductWithFactors { f, ty, mode, d, a, b, factors: saved });
    [saved, Dst(saved.0.offset(1))].map(|factor| Src::reg(factor.0))
}
