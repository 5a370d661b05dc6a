//! Bytes of simulated state, and the limit on them.

use crate::base::Tick;

/// Bytes of simulated state that a run may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryLimit(pub u64);

impl Default for MemoryLimit {
    fn default() -> Self {
        Self(8 << 30)
    }
}

/// Bytes of simulated state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Footprint {
    /// Pages of global memory, constants and the heap that were written.
    pub global: u64,
    /// Registers, call frames, local and shared memory of the resident blocks.
    pub blocks: u64,
}

impl Footprint {
    /// The sum.
    pub fn bytes(self) -> u64 {
        self.global.saturating_add(self.blocks)
    }
}

/// The next comparison of the footprint with its limit, and the result of the last one.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::machine) struct FootprintCheck {
    pub(in crate::machine) due: Tick,
    pub(in crate::machine) is_over: bool,
}
