//! `Nop`, which does nothing, and what is not modelled: neither belongs to a family of the manual.

use super::effects::{Effect, Effects};
use super::family::Family;
use crate::base::define_id;
use crate::program::Program;
use crate::program::operands::Walk;

define_id!(
    /// An entry of `Program::unsupported`: why an instruction cannot be executed.
    UnsupportedId, "unsupported"
);

/// What does nothing.
pub(super) struct Nothing;

impl Family for Nothing {
    fn operands(&self, _: &mut Walk<'_>) {}

    fn effects(&self, _: &Program) -> Effects {
        Effects::NONE
    }
}

/// What is not modelled, at which a run stops.
impl Family for UnsupportedId {
    fn operands(&self, _: &mut Walk<'_>) {}

    fn effects(&self, _: &Program) -> Effects {
        Effects::of(&[Effect::Stops])
    }
}
