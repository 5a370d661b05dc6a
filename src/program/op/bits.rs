//! Logic, shifts and bit fields (PTX ISA, "Logic and Shift Instructions").

use super::effects::{Effects, OperandKinds};
use super::family::Family;
use super::undefined::Undefined;
use crate::base::lanes::LaneMask;
use crate::isa::{BitField32, BoolOp, IntType, Shift, Width};
use crate::program::operands::OperandVisitor;
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
    fn operands(&self, visitor: &mut OperandVisitor<'_>) {
        match *self {
            Self::Shift { f: _, ty, d, a, b } => {
                visitor.read(ty.bank(), a);
                visitor.read(Bank::B32, b);
                visitor.write(ty.bank(), d);
            }
            Self::Lop3 { lut: _, d, a, b, c } | Self::Field32 { f: _, d, a, b, c } => visitor.one_bank(Bank::B32, d, [a, b, c]),
            Self::Lop3Pred { lut: _, f: _, d, p, a, b, c, q } => {
                visitor.predicate(q);
                visitor.one_bank(Bank::B32, d, [a, b, c]);
                visitor.write(Bank::Pred, p);
            }
            Self::Extract { ty, d, a, b, c } => {
                visitor.read(ty.bank(), a);
                visitor.read_all(Bank::B32, [b, c]);
                visitor.write(ty.bank(), d);
            }
            Self::Insert { width, d, a, b, c, e } => {
                visitor.read_all(width.bank(), [a, b]);
                visitor.read_all(Bank::B32, [c, e]);
                visitor.write(width.bank(), d);
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

/// `lop3`: operands on which the lookup table does not depend are ignored; so is a register that is all three operands if the result does
/// not depend on it.
fn lop3(undefined: &dyn Undefined, lut: u8, [a, b, c]: [Src; 3]) -> LaneMask {
    let at = |x: u8, y: u8, z: u8| lut >> (x << 2 | y << 1 | z) & 1;
    let pairs = [(0, 0), (0, 1), (1, 0), (1, 1)];
    let by_a = pairs.iter().any(|(y, z)| at(0, *y, *z) != at(1, *y, *z));
    let by_b = pairs.iter().any(|(x, z)| at(*x, 0, *z) != at(*x, 1, *z));
    let by_c = pairs.iter().any(|(x, y)| at(*x, *y, 0) != at(*x, *y, 1));
    if a == b && b == c && at(0, 0, 0) == at(1, 1, 1) {
        return LaneMask::NONE;
    }
    let operands = [(by_a, a), (by_b, b), (by_c, c)].into_iter().filter(|(matters, _)| *matters);
    operands.fold(LaneMask::NONE, |lanes, (_, source)| lanes | undefined.of(Bank::B32, source))
}

/// `prmt` without a mode: each nibble of the selector picks a byte, 0 to 3 of `a` and 4 to 7 of `b`.
fn permuted(undefined: &dyn Undefined, a: Src, b: Src, selector: Src) -> LaneMask {
    let selectors = undefined.values(Bank::B32, selector).unwrap_or([0x7654_3210; 32]);
    let picks = |upper: u64| LaneMask::ALL.filter(|lane| (0..4).any(|nibble| selectors[lane] >> (4 * nibble + 2) & 1 == upper));
    undefined.of(Bank::B32, selector) | picks(0) & undefined.of(Bank::B32, a) | picks(1) & undefined.of(Bank::B32, b)
}
