//! Integer arithmetic (PTX ISA, "Integer Arithmetic Instructions", "Extended-Precision Integer Arithmetic Instructions").

use super::effects::{Effect, Effects, OperandKinds};
use super::family::Family;
use super::undefined::Undefined;
use crate::base::lanes::LaneMask;
use crate::isa::{BitCount, CarryFn, DotFn, IntBinary, IntTernary, IntType, IntUnary};
use crate::program::operands::OperandVisitor;
use crate::program::{Bank, Dst, Program, Src};

/// Integer arithmetic.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs, reason = "operands have the letters of the PTX manual: d, a, b, c")]
#[rustfmt::skip]
pub enum IntegerOp {
    Unary { f: IntUnary, ty: IntType, d: Dst, a: Src },
    BitCount { f: BitCount, ty: IntType, d: Dst, a: Src },
    Binary { f: IntBinary, ty: IntType, d: Dst, a: Src, b: Src },
    Ternary { f: IntTernary, ty: IntType, d: Dst, a: Src, b: Src, c: Src },
    /// `mul.wide`: the result has twice the width of `ty`.
    MulWide { ty: IntType, d: Dst, a: Src, b: Src },
    /// `mad.wide`: `c` has twice the width of `ty` as well.
    MadWide { ty: IntType, d: Dst, a: Src, b: Src, c: Src },
    /// `.cc` arithmetic. `Add` and `Sub` do not read `c`.
    Carry { f: CarryFn, ty: IntType, carry_in: bool, carry_out: bool, d: Dst, a: Src, b: Src, c: Src },
    Dot { f: DotFn, a_signed: bool, b_signed: bool, d: Dst, a: Src, b: Src, c: Src },
}

impl Family for IntegerOp {
    fn operands(&self, visitor: &mut OperandVisitor<'_>) {
        match *self {
            Self::Unary { f: _, ty, d, a } => visitor.one_bank(ty.bank(), d, [a]),
            Self::BitCount { f: _, ty, d, a } => {
                visitor.read(ty.bank(), a);
                visitor.write(Bank::B32, d);
            }
            Self::Binary { f: _, ty, d, a, b } => visitor.one_bank(ty.bank(), d, [a, b]),
            Self::Ternary { f: _, ty, d, a, b, c } => visitor.one_bank(ty.bank(), d, [a, b, c]),
            Self::MulWide { ty, d, a, b } => {
                visitor.read_all(ty.bank(), [a, b]);
                visitor.write(ty.twice_bank(), d);
            }
            Self::MadWide { ty, d, a, b, c } => {
                visitor.read_all(ty.bank(), [a, b]);
                visitor.read(ty.twice_bank(), c);
                visitor.write(ty.twice_bank(), d);
            }
            // For functions without a `c` it is a constant.
            Self::Carry { f: _, ty, carry_in: _, carry_out: _, d, a, b, c } => visitor.one_bank(ty.bank(), d, [a, b, c]),
            Self::Dot { f: _, a_signed: _, b_signed: _, d, a, b, c } => visitor.one_bank(Bank::B32, d, [a, b, c]),
        }
    }

    fn effects(&self, _: &Program) -> Effects {
        match self {
            Self::Carry { .. } => Effects::of(&[Effect::UsesCarry]),
            Self::Unary { .. }
            | Self::BitCount { .. }
            | Self::Binary { .. }
            | Self::Ternary { .. }
            | Self::MulWide { .. }
            | Self::MadWide { .. }
            | Self::Dot { .. } => Effects::NONE,
        }
    }

    fn operand_kinds(&self) -> Option<OperandKinds> {
        OperandKinds::INTEGERS
    }

    fn undefined_in(&self, undefined: &dyn Undefined, any: LaneMask) -> LaneMask {
        match *self {
            Self::Binary { f, ty, a, b, .. } => int_binary(undefined, f, ty, a, b),
            Self::MulWide { ty, a, b, .. } => undefined.either(ty.bank(), a, b, 0),
            Self::MadWide { ty, a, b, c, .. } => undefined.of(ty.twice_bank(), c) | undefined.either(ty.bank(), a, b, 0),
            Self::Ternary { f: IntTernary::MadLo | IntTernary::Mad24Lo, ty, a, b, c, .. } => {
                undefined.of(ty.bank(), c) | undefined.either(ty.bank(), a, b, 0)
            }
            Self::Unary { .. } | Self::BitCount { .. } | Self::Ternary { .. } | Self::Carry { .. } | Self::Dot { .. } => any,
        }
    }
}

fn int_binary(undefined: &dyn Undefined, f: IntBinary, ty: IntType, a: Src, b: Src) -> LaneMask {
    let bank = ty.bank();
    let ones = match ty {
        IntType::U16 | IntType::S16 => 0xffff,
        IntType::U64 | IntType::S64 => u64::MAX,
        IntType::U32 | IntType::S32 | IntType::U16x2 | IntType::S16x2 => 0xffff_ffff,
    };
    if f.cancels() && a == b {
        return LaneMask::NONE;
    }
    match f.absorbing_bit() {
        Some(bit) => undefined.either(bank, a, b, if bit { ones } else { 0 }),
        None => undefined.of(bank, a) | undefined.of(bank, b),
    }
}
