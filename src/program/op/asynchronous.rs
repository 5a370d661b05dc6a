//! Asynchronous copies (PTX ISA, "Data Movement and Conversion Instructions: Asynchronous copy").

use super::effects::{Effect, Effects, Purpose};
use super::family::Family;
use crate::program::operands::OperandVisitor;
use crate::program::{CopyId, Program};

/// Asynchronous copies.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs, reason = "operands have the letters of the PTX manual: d, a, b, c")]
#[rustfmt::skip]
pub enum AsyncOp {
    /// `cp.async`, bulk and tensor copies, `st.async`, `red.async`.
    Copy { copy: CopyId },
    /// `commit_group`: the lane's uncommitted copies become a group, of `cp.async.bulk` if `bulk`, otherwise of `cp.async`.
    Commit { bulk: bool },
    /// Waits until at most `pending` of the lane's groups have not completed, or have not read their sources if `read`; with
    /// `uncommitted` for copies without a group too (`wait_all`).
    Wait { bulk: bool, read: bool, uncommitted: bool, pending: u32 },
}

impl Family for AsyncOp {
    fn operands(&self, visitor: &mut OperandVisitor<'_>) {
        match *self {
            Self::Copy { copy } => visitor.async_copy(copy),
            Self::Commit { bulk: _ } | Self::Wait { bulk: _, read: _, uncommitted: _, pending: _ } => {}
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
