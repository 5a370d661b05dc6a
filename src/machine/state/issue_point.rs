//! The point of issue of an instruction: the tick, the instruction, the block and the warp.

pub use crate::base::{Tick, WarpId};
use crate::program::Pc;

/// The instruction, thread block and warp of an event, and its tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IssuePoint {
    /// The instruction.
    pub pc: Pc,
    /// Time: warp-instructions issued before it.
    pub tick: Tick,
    /// Block index.
    pub block: [u32; 3],
    /// Warp of the block.
    pub warp: WarpId,
}

/// A resident block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BlockId {
    /// Its number in order of launch.
    pub number: u64,
    /// Its block slot: its index among the resident blocks.
    pub block_slot: u32,
}
