//! Logic, shifts and bit fields (PTX ISA, "Logic and Shift Instructions").

use super::effects::{Effects, Holds};
use super::family::Family;
use crate::isa::{BitField32, BoolOp, IntType, Shift, Width};
use crate::program::operands::Walk;
use crate::program::{Bank, Dst, PredSrc, Program, Src};

/// Logic, shifts and bit fields.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs, reason = "operands have the letters of the PTX manual: d, a, b, c")]
#[rustfmt::skip]
pub enum BitsOp {
    Shift { f: Shift, ty: IntType, d: Dst, a: Src, b: Src },
    Lop3 { lut: u8, d: Dst, a: Src, b: Src, c: Src },
    /// `lop3.BoolOp`: also writes predicate `p` = (d != 0) BoolOp q.
    Lop3Pred { lut: u8, f: BoolOp, d: Dst, p: Dst, a: Src, b: Src, c: Src, q: PredSrc },
    Field32 { f: BitField32, d: Dst, a: Src, b: Src, c: Src },
    /// `bfe`: `a` of type `ty`, `b` (position) and `c` (length) 32-bit.
    Extract { ty: IntType, d: Dst, a: Src, b: Src, c: Src },
    /// `bfi`: the field `a` put into `b` at position `c` with length `e`.
    Insert { width: Width, d: Dst, a: Src, b: Src, c: Src, e: Src },
}

impl Family for BitsOp {
    fn operands(&self, walk: &mut Walk<'_>) {
        match *self {
            Self::Shift { f: _, ty, d, a, b } => {
                walk.read(ty.bank(), a);
                walk.read(Bank::B32, b);
                walk.write(ty.bank(), d);
            }
            Self::Lop3 { lut: _, d, a, b, c } | Self::Field32 { f: _, d, a, b, c } => walk.same(Bank::B32, d, [a, b, c]),
            Self::Lop3Pred { lut: _, f: _, d, p, a, b, c, q } => {
                walk.predicate(q);
                walk.same(Bank::B32, d, [a, b, c]);
                walk.write(Bank::Pred, p);
            }
            Self::Extract { ty, d, a, b, c } => {
                walk.read(ty.bank(), a);
                walk.read_all(Bank::B32, [b, c]);
                walk.write(ty.bank(), d);
            }
            Self::Insert { width, d, a, b, c, e } => {
                walk.read_all(width.bank(), [a, b]);
                walk.read_all(Bank::B32, [c, e]);
                walk.write(width.bank(), d);
            }
        }
    }

    /// All of them only compute.
    fn effects(&self, _: &Program) -> Effects {
        Effects::NONE
    }

    fn holds(&self) -> Option<(Holds, Holds)> {
        Holds::INTEGERS
    }
}
