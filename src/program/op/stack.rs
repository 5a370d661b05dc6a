//! Dynamic stack allocation (PTX ISA, "Stack Manipulation Instructions").

use super::effects::{Effect, Effects};
use crate::program::operands::{RegisterOperand, Use, Walk};
use crate::program::{Bank, Dst, Src};

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

impl StackOp {
    /// Shows the registers that it uses, what it reads before what it writes.
    pub(in crate::program) fn operands<V: FnMut(Use, RegisterOperand)>(&self, walk: &mut Walk<'_, V>) {
        match *self {
            Self::Alloca { wide: is_wide, d, size, align: _ } => walk.same(Bank::of_wide(is_wide), d, [size]),
            Self::Save { wide: is_wide, d } => walk.write(Bank::of_wide(is_wide), d),
            Self::Restore { wide: is_wide, a } => walk.read(Bank::of_wide(is_wide), a),
        }
    }

    /// What it does beside writing registers.
    pub fn effects(&self) -> Effects {
        match self {
            Self::Alloca { .. } => Effects::of(&[Effect::DependsOnPlace, Effect::ChangesStack]),
            Self::Save { .. } => Effects::of(&[Effect::DependsOnPlace]),
            Self::Restore { .. } => Effects::of(&[Effect::ChangesStack]),
        }
    }
}
