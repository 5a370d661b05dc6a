//! Operations, between which happens-before is a relation: those of lanes of a warp, or those that they have put in flight.

use crate::base::lanes::LaneMask;
use crate::base::{Tick, WarpId};

/// Asynchronous operations that a thread issued and that become known in the order in which it issued them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AsyncKind {
    /// `cp.async`.
    Lane,
    /// Bulk copies that belong to groups.
    Bulk,
    /// Only that such copies have read their source.
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
    /// When; of an asynchronous one, when it was issued.
    pub tick: Tick,
    /// The block, in order of launch.
    pub block: u32,
    /// The warp of the block.
    pub warp: WarpId,
    /// The lanes.
    pub lanes: LaneMask,
    /// The agent that performs it.
    pub agent: Agent,
    /// Whether it only reads.
    pub only_reads: bool,
}

/// Lanes of a warp that do something now.
#[derive(Clone, Copy, Debug)]
pub struct Actor {
    /// The block slot of their block.
    pub block_slot: u32,
    /// Their warp.
    pub warp: WarpId,
    /// They.
    pub lanes: LaneMask,
    /// The tick.
    pub tick: Tick,
}
