//! The footprint of a run: its simulated state in bytes, and the limit on it.
//!
//! It is the state of the modelled machine: the pages of global memory that were written, and for every resident block its registers, call
//! frames, written local memory and shared memory. It does not depend on the host, its allocator or shared snapshots, so the limit ends a
//! run at the same tick everywhere.

use crate::machine::state::block::Block;
use crate::machine::state::footprint::{Footprint, FootprintCheck};
use crate::machine::state::machine::Machine;
use crate::machine::state::warp::{CallFrame, Warp, depth};

/// The minimum number of ticks between two comparisons with the limit.
const CHECK_TICKS: u64 = 1 << 10;

impl Machine {
    /// The current footprint.
    pub fn footprint(&self) -> Footprint {
        Footprint { global: self.device.written_bytes(), blocks: self.block_bytes }
    }

    /// True if the last comparison found the footprint over the limit; the run cannot continue.
    pub(in crate::machine) fn is_over_limit(&self) -> bool {
        self.footprint_check.is_over
    }

    /// Compares the footprint with the limit if that is due. True if it is over the limit. Called between time slices only, since these do
    /// not depend on budgets.
    pub(in crate::machine) fn check_footprint(&mut self) -> bool {
        if self.tick() >= self.footprint_check.due {
            let is_over = self.footprint().bytes() > self.prepared.config.memory_limit.0;
            self.footprint_check = FootprintCheck { due: self.tick() + CHECK_TICKS, is_over };
        }
        self.footprint_check.is_over
    }
}

impl Block {
    /// Bytes of its simulated state.
    pub(in crate::machine) fn state_bytes(&self) -> u64 {
        self.shared.pages.len() + self.warps.iter().map(|warp| warp.state_bytes()).sum::<u64>()
    }
}

impl Warp {
    /// Bytes of its simulated state: registers, call frames, local memory.
    pub(in crate::machine) fn state_bytes(&self) -> u64 {
        let depth: u64 = self.groups.iter().map(|group| u64::from(depth(&group.stack))).sum();
        self.registers.state_bytes() + self.local.written_bytes() + depth * size_of::<CallFrame>() as u64
    }
}
