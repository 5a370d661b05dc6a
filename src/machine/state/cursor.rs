//! The position of the scheduler.

use crate::machine::state::random::Random;

/// The position of the scheduler.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Cursor {
    /// Slot of the block whose turn it is.
    pub block_slot: usize,
    /// Warp of that block whose turn it is.
    pub warp: usize,
    pub(in crate::machine) warp_left: u32,
    pub(in crate::machine) block_left: u32,
    pub(in crate::machine) random: Random,
}

impl Cursor {
    pub(in crate::machine) fn new(seed: u64) -> Self {
        Self { block_slot: 0, warp: 0, warp_left: 0, block_left: 0, random: Random::new(seed) }
    }
}
