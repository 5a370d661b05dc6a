//! Asynchronous copies (PTX ISA, "Data Movement and Conversion Instructions: Asynchronous copy").

use super::effects::{Effect, Effects, Purpose};
use super::family::Family;
use crate::program::operands::Walk;
use crate::program::{CopyId, Program};

/// Asynchronous copies.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs, reason = "operands have the letters of the PTX manual: d, a, b, c")]
#[rustfmt::skip]
pub enum AsyncOp {
    /// `cp.async` and its kin, `st.async`, `red.async`.
    Copy { copy: CopyId },
    /// Closes the group of the lane's copies: of `cp.async.bulk`, or of `cp.async`.
    Commit { bulk: bool },
    /// Waits until at most `pending` of the lane's groups have not ended, or have not been read if `read`; `open` are waited for too
    /// (`wait_all`).
    Wait { bulk: bool, read: bool, open: bool, pending: u32 },
}

impl Family for AsyncOp {
    fn operands(&self, walk: &mut Walk<'_>) {
        match *self {
            Self::Copy { copy } => walk.async_copy(copy),
            Self::Commit { bulk: _ } | Self::Wait { bulk: _, read: _, open: _, pending: _ } => {}
        }
    }

    fn effects(&self, _: &Program) -> Effects {
        match self {
            Self::Copy { copy: _ } => Effects::of(&[Effect::ReadsMemory, Effect::WritesMemory, Effect::Asynchronous]),
            Self::Commit { bulk: _ } => Effects::of(&[Effect::Asynchronous]),
            Self::Wait { .. } => Effects::of(&[Effect::Blocks, Effect::Orders]),
        }
    }

    fn purpose(&self) -> Purpose {
        match self {
            Self::Copy { copy: _ } => Purpose::Parameter,
            Self::Commit { .. } | Self::Wait { .. } => Purpose::Result,
        }
    }
}
