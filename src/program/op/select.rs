//! Selection and logic of predicates (PTX ISA, "Comparison and Selection Instructions": `selp`, `slct`).

use super::effects::Effects;
use super::family::Family;
use super::undefined::Undefined;
use crate::base::lanes::LaneMask;
use crate::isa::{BoolOp, Width};
use crate::program::operands::OperandVisitor;
use crate::program::{Bank, Dst, PredSrc, Program, Src};

/// Selection and logic of predicates.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs, reason = "operands have the letters of the PTX manual: d, a, b, c")]
#[rustfmt::skip]
pub enum SelectOp {
    /// `selp`: p ? a : b.
    Select { width: Width, d: Dst, a: Src, b: Src, p: PredSrc },
    /// `slct`: c >= 0 ? a : b; `float` compares `c` as `.f32` (with `ftz`: -subnormal counts as zero).
    SelectSign { width: Width, float: bool, ftz: bool, d: Dst, a: Src, b: Src, c: Src },
    PredBinary { f: BoolOp, d: Dst, a: PredSrc, b: PredSrc },
    /// `not.pred` and `mov.pred`.
    PredMove { d: Dst, a: PredSrc },
}

impl Family for SelectOp {
    fn operands(&self, visitor: &mut OperandVisitor<'_>) {
        match *self {
            Self::Select { width, d, a, b, p } => {
                visitor.predicate(p);
                visitor.one_bank(width.bank(), d, [a, b]);
            }
            Self::SelectSign { width, float: _, ftz: _, d, a, b, c } => {
                visitor.read(Bank::B32, c);
                visitor.one_bank(width.bank(), d, [a, b]);
            }
            Self::PredBinary { f: _, d, a, b } => {
                visitor.predicate(a);
                visitor.predicate(b);
                visitor.write(Bank::Pred, d);
            }
            Self::PredMove { d, a } => {
                visitor.predicate(a);
                visitor.write(Bank::Pred, d);
            }
        }
    }

    /// All of them only compute.
    fn effects(&self, _: &Program) -> Effects {
        Effects::NONE
    }

    fn undefined_in(&self, undefined: &dyn Undefined, _: LaneMask) -> LaneMask {
        match *self {
            Self::Select { width, a, b, p, .. } => {
                let (bank, chosen) = (width.bank(), undefined.true_lanes(p));
                undefined.predicate(p) | chosen & undefined.of(bank, a) | !chosen & undefined.of(bank, b)
            }
            Self::SelectSign { width, a, b, c, .. } => {
                let bank = width.bank();
                undefined.of(Bank::B32, c) | undefined.of(bank, a) & undefined.of(bank, b)
            }
            Self::PredBinary { f, a, b, .. } => bool_binary(undefined, f, a, b),
            Self::PredMove { a, .. } => undefined.predicate(a),
        }
    }
}

fn bool_binary(undefined: &dyn Undefined, f: BoolOp, a: PredSrc, b: PredSrc) -> LaneMask {
    let (x, y) = (undefined.predicate(a), undefined.predicate(b));
    let absorbed = match f {
        BoolOp::And => !undefined.true_lanes(a) & !x | !undefined.true_lanes(b) & !y,
        BoolOp::Or => undefined.true_lanes(a) & !x | undefined.true_lanes(b) & !y,
        BoolOp::Xor => LaneMask::NONE,
    };
    (x | y) & !absorbed
}
