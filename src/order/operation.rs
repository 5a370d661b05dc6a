//! Operations, the elements of happens-before: those of lanes of a warp, and the asynchronous ones that lanes have issued.

use crate::base::lanes::LaneMask;
use crate::base::{Tick, WarpId};

/// The kinds of asynchronous operations whose completion a thread observes in the order in which it issued them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AsyncKind {
    /// `cp.async`.
    CpAsync,
    /// Bulk copies in commit groups.
    Bulk,
    /// The reads of their source by such copies.
    BulkRead,
    /// `wgmma.mma_async`.
    Wgmma,
}

/// Kinds of [`AsyncKind`].
pub const ASYNC_KINDS: usize = 4;

/// The agent that performs an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agent {
    /// The threads themselves.
    Threads,
    /// An asynchronous operation of a kind that its threads wait for.
    Async(AsyncKind),
    /// A copy that completes on an mbarrier; its number in its block.
    Copy(u32),
}

/// An operation.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    /// Its tick; of an asynchronous operation, the tick at which it was issued.
    pub tick: Tick,
    /// The block, in order of launch.
    pub block: u32,
    /// The warp of the block.
    pub warp: WarpId,
    /// The lanes.
    pub lanes: LaneMask,
    /// The agent that performs it.
    pub agent: Agent,
    /// True if it only reads.
    pub only_reads: bool,
}

/// The lanes of a warp that act now.
#[derive(Clone, Copy, Debug)]
pub struct Actor {
    /// The block slot of their block.
    pub block_slot: u32,
    /// Their warp.
    pub warp: WarpId,
    /// The lanes.
    pub lanes: LaneMask,
    /// The tick.
    pub tick: Tick,
}
