//! Dynamic stack allocation (PTX ISA, "Stack Manipulation Instructions").

use super::effects::{Effect, Effects, Purpose};
use super::family::Family;
use crate::program::operands::OperandVisitor;
use crate::program::{Bank, Dst, Program, Src};

/// Dynamic stack allocation.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs, reason = "operands have the letters of the PTX manual: d, a, b, c")]
#[rustfmt::skip]
pub enum StackOp {
    /// `alloca`: d = address in local space of `size` new bytes at the top of the stack, aligned to `align`.
    Alloca { wide: bool, d: Dst, size: Src, align: u32 },
    Save { wide: bool, d: Dst },
    Restore { wide: bool, a: Src },
}

impl Family for StackOp {
    fn operands(&self, visitor: &mut OperandVisitor<'_>) {
        match *self {
            Self::Alloca { wide: is_wide, d, size, align: _ } => visitor.one_bank(Bank::of_wide(is_wide), d, [size]),
            Self::Save { wide: is_wide, d } => visitor.write(Bank::of_wide(is_wide), d),
            Self::Restore { wide: is_wide, a } => visitor.read(Bank::of_wide(is_wide), a),
        }
    }

    fn effects(&self, _: &Program) -> Effects {
        match self {
            Self::Alloca { .. } => Effects::of(&[Effect::DependsOnContext, Effect::ChangesStack]),
            Self::Save { .. } => Effects::of(&[Effect::DependsOnContext]),
            Self::Restore { .. } => Effects::of(&[Effect::ChangesStack]),
        }
    }

    fn purpose(&self) -> Purpose {
        match self {
            Self::Alloca { .. } => Purpose::Parameter,
            Self::Save { .. } | Self::Restore { .. } => Purpose::Result,
        }
    }
}
