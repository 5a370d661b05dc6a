//! Floating-point arithmetic (PTX ISA, "Floating-Point Instructions", "Half Precision Floating-Point Instructions").

use super::effects::{Effects, OperandKinds};
use super::family::Family;
use crate::isa::{Factored, FloatBinary, FloatMode, FloatTernary, FloatType, FloatUnary, TestProperty};
use crate::program::operands::Walk;
use crate::program::{Bank, Dst, Program, Src};

/// Floating-point arithmetic.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs, reason = "operands have the letters of the PTX manual: d, a, b, c")]
#[rustfmt::skip]
pub enum FloatOp {
    Unary { f: FloatUnary, ty: FloatType, mode: FloatMode, d: Dst, a: Src },
    Binary { f: FloatBinary, ty: FloatType, mode: FloatMode, d: Dst, a: Src, b: Src },
    /// A product that leaves its factors in `kept` and the slot after it, for what is rounded once with it.
    KeepingProduct { f: Factored, ty: FloatType, mode: FloatMode, d: Dst, a: Src, b: Src, kept: Dst },
    Ternary { f: FloatTernary, ty: FloatType, mode: FloatMode, d: Dst, a: Src, b: Src, c: Src },
    TestProperty { f: TestProperty, ty: FloatType, p: Dst, a: Src },
}

impl Family for FloatOp {
    fn operands(&self, walk: &mut Walk<'_>) {
        match *self {
            Self::Unary { f: _, ty, mode: _, d, a } => walk.same(ty.bank(), d, [a]),
            Self::Binary { f: _, ty, mode: _, d, a, b } => walk.same(ty.bank(), d, [a, b]),
            Self::KeepingProduct { f: _, ty, mode: _, d, a, b, kept } => {
                walk.same(ty.bank(), d, [a, b]);
                walk.write(ty.bank(), kept);
                walk.write(ty.bank(), Dst(kept.0.offset(1)));
            }
            Self::Ternary { f: _, ty, mode: _, d, a, b, c } => walk.same(ty.bank(), d, [a, b, c]),
            Self::TestProperty { f: _, ty, p, a } => {
                walk.read(ty.bank(), a);
                walk.write(Bank::Pred, p);
            }
        }
    }

    /// All of them only compute.
    fn effects(&self, _: &Program) -> Effects {
        Effects::NONE
    }

    fn operand_kinds(&self) -> Option<OperandKinds> {
        match self {
            Self::Unary { ty, .. }
            | Self::Binary { ty, .. }
            | Self::Ternary { ty, .. }
            | Self::KeepingProduct { ty, .. }
            | Self::TestProperty { ty, .. } => OperandKinds::both(ty.scalar()),
        }
    }
}
