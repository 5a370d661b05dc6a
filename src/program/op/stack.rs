//! Dynamic stack allocation (PTX ISA, "Stack Manipulation Instructions").

use super::effects::{Effect, Effects, Purpose};
use super::family::Family;
use crate::program::operands::Walk;
use crate::program::{Bank, Dst, Program, Src};

/// Dynamic stack allocation.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs, reason = "operands have the letters of the PTX manual: d, a, b, c")]
#[rustfmt::skip]
pub enum StackOp {
    /// `alloca`: d = new address in local space, `size` bytes below the stack, aligned to `align`.
    Alloca { wide: bool, d: Dst, size: Src, align: u32 },
    Save { wide: bool, d: Dst },
    Restore { wide: bool, a: Src },
}

impl Family for StackOp {
    fn operands(&self, walk: &mut Walk<'_>) {
        match *self {
            Self::Alloca { wide: is_wide, d, size, align: _ } => walk.same(Bank::of_wide(is_wide), d, [size]),
            Self::Save { wide: is_wide, d } => walk.write(Bank::of_wide(is_wide), d),
            Self::Restore { wide: is_wide, a } => walk.read(Bank::of_wide(is_wide), a),
        }
    }

    fn effects(&self, _: &Program) -> Effects {
        match self {
            Self::Alloca { .. } => Effects::of(&[Effect::DependsOnPlace, Effect::ChangesStack]),
            Self::Save { .. } => Effects::of(&[Effect::DependsOnPlace]),
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
