//! Floating-point arithmetic (PTX ISA, "Floating-Point Instructions", "Half Precision Floating-Point Instructions").

use super::effects::{Effects, OperandKinds};
use super::family::Family;
use crate::isa::{Factored, FloatBinary, FloatMode, FloatTernary, FloatType, FloatUnary, TestProperty};
use crate::program::operands::OperandVisitor;
use crate::program::{Bank, Dst, Program, Src};

/// Floating-point arithmetic.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs, reason = "operands have the letters of the PTX manual: d, a, b, c")]
#[rustfmt::skip]
pub enum FloatOp {
    Unary { f: FloatUnary, ty: FloatType, mode: FloatMode, d: Dst, a: Src },
    Binary { f: FloatBinary, ty: FloatType, mode: FloatMode, d: Dst, a: Src, b: Src },
    /// A product that also writes its factors to `factors` and the following slot, for a later operation that is contracted with it.
    ProductWithFactors { f: Factored, ty: FloatType, mode: FloatMode, d: Dst, a: Src, b: Src, factors: Dst },
    Ternary { f: FloatTernary, ty: FloatType, mode: FloatMode, d: Dst, a: Src, b: Src, c: Src },
    TestProperty { f: TestProperty, ty: FloatType, p: Dst, a: Src },
}

impl Family for FloatOp {
    fn operands(&self, visitor: &mut OperandVisitor<'_>) {
        match *self {
            Self::Unary { f: _, ty, mode: _, d, a } => visitor.one_bank(ty.bank(), d, [a]),
            Self::Binary { f: _, ty, mode: _, d, a, b } => visitor.one_bank(ty.bank(), d, [a, b]),
            Self::ProductWithFactors { f: _, ty, mode: _, d, a, b, factors } => {
                visitor.one_bank(ty.bank(), d, [a, b]);
                visitor.write(ty.bank(), factors);
                visitor.write(ty.bank(), Dst(factors.0.offset(1)));
            }
            Self::Ternary { f: _, ty, mode: _, d, a, b, c } => visitor.one_bank(ty.bank(), d, [a, b, c]),
            Self::TestProperty { f: _, ty, p, a } => {
                visitor.read(ty.bank(), a);
                visitor.write(Bank::Pred, p);
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
            | Self::ProductWithFactors { ty, .. }
            | Self::TestProperty { ty, .. } => OperandKinds::both(ty.scalar()),
        }
    }
}
