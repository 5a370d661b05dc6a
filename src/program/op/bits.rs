//! Logic, shifts and bit fields (PTX ISA, "Logic and Shift Instructions").

use super::effects::{Effects, OperandKinds};
use super::family::Family;
use super::undefined::Undefined;
use crate::base::lanes::LaneMask;
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

    fn operand_kinds(&self) -> Option<OperandKinds> {
        OperandKinds::INTEGERS
    }

    fn undefined_in(&self, undefined: &dyn Undefined, any: LaneMask) -> LaneMask {
        match *self {
            Self::Lop3 { lut, a, b, c, .. } => lop3(undefined, lut, [a, b, c]),
            Self::Field32 { f: BitField32::Prmt, a, b, c, .. } => permuted(undefined, a, b, c),
            Self::Insert { width, a, c, e, .. } => undefined.of(width.bank(), a) | undefined.of(Bank::B32, c) | undefined.of(Bank::B32, e),
            Self::Shift { .. } | Self::Lop3Pred { .. } | Self::Field32 { .. } | Self::Extract { .. } => any,
        }
    }
}

/// Operands that the table does not depend on count for nothing, and neither do the same register's different ways.
fn lop3(undefined: &dyn Undefined, lut: u8, [a, b, c]: [Src; 3]) -> LaneMask {
    let at = |x: u8, y: u8, z: u8| lut >> (x << 2 | y << 1 | z) & 1;
    let pairs = [(0, 0), (0, 1), (1, 0), (1, 1)];
    let by_a = pairs.iter().any(|(y, z)| at(0, *y, *z) != at(1, *y, *z));
    let by_b = pairs.iter().any(|(x, z)| at(*x, 0, *z) != at(*x, 1, *z));
    let by_c = pairs.iter().any(|(x, y)| at(*x, *y, 0) != at(*x, *y, 1));
    if a == b && b == c && at(0, 0, 0) == at(1, 1, 1) {
        return LaneMask::NONE;
    }
    let operands = [(by_a, a), (by_b, b), (by_c, c)].into_iter().filter(|(counts, _)| *counts);
    operands.fold(LaneMask::NONE, |lanes, (_, source)| lanes | undefined.of(Bank::B32, source))
}

/// `prmt` in its plain form: each nibble of the selector picks a byte, the lower four of `a` and the upper ones of `b`.
fn permuted(undefined: &dyn Undefined, a: Src, b: Src, selector: Src) -> LaneMask {
    let selectors = undefined.values(Bank::B32, selector).unwrap_or([0x7654_3210; 32]);
    let picks = |upper: u64| LaneMask::ALL.filter(|lane| (0..4).any(|nibble| selectors[lane] >> (4 * nibble + 2) & 1 == upper));
    undefined.of(Bank::B32, selector) | picks(0) & undefined.of(Bank::B32, a) | picks(1) & undefined.of(Bank::B32, b)
}
