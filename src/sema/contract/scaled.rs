//! A product and its multiplication by a power of two from an eighth to eight, or its widening that flushes: one multiplication that
//! scales, or flushes, before it rounds.

use std::collections::BTreeSet;

use super::flow::Function;
use super::kept::two_registers;
use super::known::Known;
use super::sums::{FusibleProduct, open_product, register};
use crate::flow::def_use::Definition;
use crate::isa::{Factored, FloatBinary, FloatTernary, FloatType, Rounding, ScalarType};
use crate::program::{Bank, Contraction, ContractionKind, ConvertOp, Dst, FloatOp, MoveOp, Op, Pc, Program, Src, SrcKind};

/// How a product is taken.
enum ScaledUse {
    /// Multiplied by this source, or divided by it.
    Scaled { f: FloatTernary, by: Src },
    /// Flushed and made an `f64` or an integer of 64 bits, which no conversion flushes by itself.
    Widened,
}

/// Joins products and what scales them in function number `index`. What goes into sums is not scaled, but multiplied in these.
pub(super) fn contract_scaled(program: &mut Program, index: usize, function: &Function) {
    let summed: BTreeSet<usize> = program.contracted.iter().map(|contracted| contracted.given.index()).collect();
    for at in program.functions[index].code.start as usize..program.functions[index].code.end as usize {
        if summed.contains(&at) {
            continue;
        }
        let Some((product, taken)) = function.scaling(program, at) else { continue };
        let Some((given, open)) = function.sole_product(program, product, at) else { continue };
        match taken {
            ScaledUse::Scaled { f, by } => scale(program, index, function, (given, open), (at, f, by)),
            ScaledUse::Widened if open.mode.words.ftz => continue,
            ScaledUse::Widened => flush(program, index, (given, open)),
        }
        program.contracted.push(Contraction { how: ContractionKind::Scale, taker: Pc::new(at), given: Pc::new(given) });
    }
}

impl Function {
    /// What the instruction at `at` scales or widens, and how.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the assembler is known to do it to these instructions, and to no others")]
    fn scaling(&self, program: &Program, at: usize) -> Option<(Src, ScaledUse)> {
        let power = |source: Src| match self.known(program, source, Bank::B32, at)? {
            Known::Constant(bits) => is_scale(bits).then_some(source),
            Known::Computed => None,
        };
        match program.code[at].op {
            Op::Float(FloatOp::Binary { f, ty: FloatType::F32, mode, a, b, .. }) if mode.words.rounding == Rounding::Nearest => match f {
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

    /// The product that `source` holds where the instruction at `at`, and nothing else, reads it; plain copies between are passed.
    fn sole_product(&self, program: &Program, source: Src, at: usize) -> Option<(usize, FusibleProduct)> {
        let SrcKind::Reg(slot) = source.kind() else { return None };
        let register = register(FloatType::F32, slot);
        let [Definition::At(from)] = self.def_use.definitions(register, at)[..] else { return None };
        let inst = &program.code[from];
        if inst.guard.is_some() || self.readers(register, from, false)? != [at] {
            return None;
        }
        if let Some(copied) = plain_copy(&inst.op) {
            return self.sole_product(program, copied, from);
        }
        let open = open_product(&inst.op).filter(|open| open.ty == FloatType::F32)?;
        (!self.is_folded(program, &open, from)).then_some((from, open))
    }
}

/// Whether these are the bits of a power of two from an eighth to eight, 1 aside.
fn is_scale(bits: u64) -> bool {
    matches!(bits, 0x3e00_0000 | 0x3e80_0000 | 0x3f00_0000 | 0x4000_0000 | 0x4080_0000 | 0x4100_0000)
}

/// The source that `op` copies as it is.
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

/// Makes the instruction at `at` a scaled product of the factors of `open`, which is at `given`.
fn scale(
    program: &mut Program,
    index: usize,
    function: &Function,
    (given, open): (usize, FusibleProduct),
    (at, f, by): (usize, FloatTernary, Src),
) {
    let Op::Float(FloatOp::Binary { ty, mode, d, .. }) = program.code[at].op else { return };
    let is_unchanged = |factor: Src| match factor.kind() {
        SrcKind::Reg(slot) => function.def_use.is_unchanged(register(ty, slot), given, at),
        SrcKind::Const(_) | SrcKind::Special(_) => true,
    };
    let [a, b] = if open.f == Factored::Mul && is_unchanged(open.a) && is_unchanged(open.b) {
        [open.a, open.b]
    } else {
        keep(program, index, (given, open))
    };
    program.code[at].op = Op::Float(FloatOp::Ternary { f, ty, mode, d, a, b, c: by });
}

/// Lets the product at `given` flush its factors and its result.
fn flush(program: &mut Program, index: usize, (given, mut open): (usize, FusibleProduct)) {
    open.mode.words.ftz = true;
    keep(program, index, (given, open));
}

/// Lets the product at `given` keep its factors, and says where.
fn keep(program: &mut Program, index: usize, (given, open): (usize, FusibleProduct)) -> [Src; 2] {
    let FusibleProduct { f, ty, mode, d, a, b } = open;
    let kept = two_registers(&mut program.functions[index], ty);
    program.code[given].op = Op::Float(FloatOp::KeepingProduct { f, ty, mode, d, a, b, kept });
    [kept, Dst(kept.0.offset(1))].map(|factor| Src::reg(factor.0))
}
