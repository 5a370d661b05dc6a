//! `Nop` and unsupported instructions, which belong to no family of the manual.

use super::effects::{Effect, Effects};
use super::family::Family;
use crate::base::define_id;
use crate::program::Program;
use crate::program::operands::OperandVisitor;

define_id!(
    /// An entry of `Program::unsupported`: why an instruction cannot be executed.
    UnsupportedId, "unsupported"
);

/// The family of `Nop`, which has no operands and no effects.
pub(super) struct NopFamily;

impl Family for NopFamily {
    fn operands(&self, _: &mut OperandVisitor<'_>) {}

    fn effects(&self, _: &Program) -> Effects {
        Effects::NONE
    }
}

/// An unsupported instruction, at which a run stops.
impl Family for UnsupportedId {
    fn operands(&self, _: &mut OperandVisitor<'_>) {}

    fn effects(&self, _: &Program) -> Effects {
        Effects::of(&[Effect::Stops])
    }
}
