//! Asynchronous matrix multiplication of a warpgroup (PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions").

use super::effects::{Effect, Effects};
use crate::program::WgmmaId;
use crate::program::operands::{RegisterOperand, Use, Walk};

/// Asynchronous matrix multiplication of a warpgroup.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs, reason = "operands have the letters of the PTX manual: d, a, b, c")]
#[rustfmt::skip]
pub enum WarpgroupOp {
    /// `wgmma.mma_async`.
    Multiply { wgmma: WgmmaId },
    /// `wgmma.fence`.
    Fence,
    /// `wgmma.commit_group`.
    Commit,
    /// `wgmma.wait_group`: waits until at most `pending` of the warp's groups have not ended.
    Wait { pending: u32 },
}

impl WarpgroupOp {
    /// Shows the registers that it uses, what it reads before what it writes.
    pub(in crate::program) fn operands<V: FnMut(Use, RegisterOperand)>(&self, walk: &mut Walk<'_, V>) {
        match *self {
            Self::Multiply { wgmma } => walk.wgmma(wgmma),
            Self::Fence | Self::Commit | Self::Wait { pending: _ } => {}
        }
    }

    /// What it does beside writing registers.
    pub fn effects(&self) -> Effects {
        match self {
            Self::Multiply { wgmma: _ } => Effects::of(&[Effect::ReadsMemory, Effect::Exchanges, Effect::Asynchronous]),
            Self::Fence => Effects::of(&[Effect::Orders]),
            Self::Commit => Effects::of(&[Effect::Asynchronous]),
            Self::Wait { pending: _ } => Effects::of(&[Effect::Blocks, Effect::Orders]),
        }
    }
}
