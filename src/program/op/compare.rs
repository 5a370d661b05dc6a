//! Comparisons (PTX ISA, "Comparison and Selection Instructions": `setp`, `set`).

use super::effects::{Effects, OperandKind, OperandKinds};
use super::family::Family;
use super::undefined::Undefined;
use crate::base::lanes::LaneMask;
use crate::isa::{BoolOp, Compare, FloatType, IntType, ScalarType};
use crate::program::operands::OperandVisitor;
use crate::program::{Bank, Dst, PredSrc, Program, Src};

/// Comparisons.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs, reason = "operands have the letters of the PTX manual: d, a, b, c")]
#[rustfmt::skip]
pub enum CompareOp {
    /// `setp`: p = (a cmp b) BoolOp c, q = !(a cmp b) BoolOp c. Without a BoolOp `combine` is `And` and `c` is true.
    SetpInt { cmp: Compare, ty: IntType, combine: BoolOp, c: PredSrc, p: Dst, q: Dst, a: Src, b: Src },
    SetpFloat { cmp: Compare, ty: FloatType, ftz: bool, combine: BoolOp, c: PredSrc, p: Dst, q: Dst, a: Src, b: Src },
    /// `set`: all ones (1.0 for a float `to`) if (a cmp b) BoolOp c, else zero. `from` is the compared type.
    SetInt { cmp: Compare, from: IntType, to: ScalarType, combine: BoolOp, c: PredSrc, d: Dst, a: Src, b: Src },
    SetFloat { cmp: Compare, from: FloatType, to: ScalarType, ftz: bool, combine: BoolOp, c: PredSrc, d: Dst, a: Src, b: Src },
}

impl Family for CompareOp {
    fn operands(&self, visitor: &mut OperandVisitor<'_>) {
        match *self {
            Self::SetpInt { cmp: _, ty, combine: _, c, p, q, a, b } => visitor.compare(ty.bank(), [a, b], c, Bank::Pred, &[p, q]),
            Self::SetpFloat { cmp: _, ty, ftz: _, combine: _, c, p, q, a, b } => {
                visitor.compare(ty.bank(), [a, b], c, Bank::Pred, &[p, q]);
            }
            Self::SetInt { cmp: _, from, to: _, combine: _, c, d, a, b } => visitor.compare(from.bank(), [a, b], c, Bank::B32, &[d]),
            Self::SetFloat { cmp: _, from, to: _, ftz: _, combine: _, c, d, a, b } => {
                visitor.compare(from.bank(), [a, b], c, Bank::B32, &[d]);
            }
        }
    }

    /// All of them only compute.
    fn effects(&self, _: &Program) -> Effects {
        Effects::NONE
    }

    fn operand_kinds(&self) -> Option<OperandKinds> {
        match self {
            Self::SetpInt { .. } => OperandKinds::INTEGERS,
            Self::SetpFloat { ty, .. } => OperandKinds::both(ty.scalar()),
            Self::SetInt { .. } => None,
            Self::SetFloat { from, to, .. } => {
                Some(OperandKinds { sources: OperandKind::Number(from.scalar()), results: OperandKind::Number(*to) })
            }
        }
    }

    fn undefined_in(&self, undefined: &dyn Undefined, any: LaneMask) -> LaneMask {
        match *self {
            Self::SetpInt { combine, ty, c, a, b, .. } => {
                let bank = ty.bank();
                compared(undefined, undefined.of(bank, a) | undefined.of(bank, b), combine, c)
            }
            Self::SetpFloat { combine, ty, c, a, b, .. } => {
                let bank = ty.bank();
                compared(undefined, undefined.of(bank, a) | undefined.of(bank, b), combine, c)
            }
            Self::SetInt { .. } | Self::SetFloat { .. } => any,
        }
    }
}

/// The lanes in which `setp` is undefined, whose comparison is undefined in `compared` and is then combined with `c`.
fn compared(undefined: &dyn Undefined, compared: LaneMask, combine: BoolOp, c: PredSrc) -> LaneMask {
    let (undefined_c, true_c) = (undefined.predicate(c), undefined.true_lanes(c));
    let absorbed = match combine {
        BoolOp::And => !true_c & !undefined_c,
        BoolOp::Or => true_c & !undefined_c,
        BoolOp::Xor => LaneMask::NONE,
    };
    (compared | undefined_c) & !absorbed
}
