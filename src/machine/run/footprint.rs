//! The footprint of a run: its simulated state in bytes, and the limit on it.
//!
//! Counted is what the modelled machine would hold: pages of global memory that were written, and of every resident block its
//! registers, call frames, touched local memory and shared memory. Nothing depends on the host, its allocator or on what snapshots
//! share, so a run that the limit ends is ended at the same tick everywhere.

use crate::machine::state::block::Block;
use crate::machine::state::footprint::{Footprint, FootprintCheck};
use crate::machine::state::machine::Machine;
use crate::machine::state::warp::{CallFrame, Warp, depth};

/// Ticks between two comparisons with the limit, at least.
const CHECK_TICKS: u64 = 1 << 10;

impl Machine {
    /// The present footprint.
    pub fn footprint(&self) -> Footprint {
        Footprint { global: self.device.touched_bytes(), blocks: self.block_bytes }
    }

    /// Whether the state was found to be over the limit; the run cannot continue.
    pub(in crate::machine) fn is_over_limit(&self) -> bool {
        self.footprint_check.is_over
    }

    /// Compares the footprint with the limit if that is due. True if it is over the limit. Called between turns only, whose ends do not
    /// depend on how a run is sliced by budgets.
    pub(in crate::machine) fn exceeds_limit(&mut self) -> bool {
        if self.tick() >= self.footprint_check.due {
            let is_over = self.footprint().bytes() > self.prepared.config.memory_limit.0;
            self.footprint_check = FootprintCheck { due: self.tick() + CHECK_TICKS, is_over };
        }
        self.footprint_check.is_over
    }
}

impl Block {
    /// Bytes of simulated state that it holds.
    pub(in crate::machine) fn state_bytes(&self) -> u64 {
        self.shared.pages.len() + self.warps.iter().map(|warp| warp.state_bytes()).sum::<u64>()
    }
}

impl Warp {
    /// Bytes of simulated state that it holds: registers, call frames, local memory.
    pub(in crate::machine) fn state_bytes(&self) -> u64 {
        let depth: u64 = self.groups.iter().map(|group| u64::from(depth(&group.stack))).sum();
        self.registers.state_bytes() + self.local.touched_bytes() + depth * size_of::<CallFrame>() as u64
    }
}
