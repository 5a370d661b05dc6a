//! The schedule of explicit context switches, and queries for the search of such schedules.

use std::hash::Hasher;

use crate::machine::run::schedule::WARP_SLICE;
use crate::machine::state::digest::Digest;
use crate::machine::state::lanes::LaneMask;
use crate::machine::state::launch::{ContextSwitch, Schedule};
use crate::machine::state::machine::Machine;
use crate::machine::state::warp::{GroupState, Warp};
use crate::program::Pc;

impl Machine {
    /// The next context switch of the schedule.
    pub(in crate::machine) fn next_switch(&self) -> Option<ContextSwitch> {
        match &self.prepared.config.schedule {
            Schedule::ContextSwitches(switches) => switches.get(self.cursor.past_switches).copied(),
            Schedule::InOrder | Schedule::Random | Schedule::Priority { .. } | Schedule::Delayed(_) => None,
        }
    }

    /// Performs the context switches of the schedule at the current tick.
    pub(in crate::machine) fn perform_context_switches(&mut self) {
        while let Some(switch) = self.next_switch().filter(|switch| switch.at <= self.tick()) {
            self.cursor.past_switches += 1;
            if switch.at == self.tick() {
                self.switch_to(switch.block, switch.warp);
            }
        }
    }

    /// Starts a full time slice of a warp of block number `block` now. False, without effect, if it cannot run or is the current warp.
    pub fn switch_to(&mut self, block: u64, warp: u32) -> bool {
        let block_slot = self.blocks.iter().position(|slot| slot.as_ref().is_some_and(|resident| resident.number == block));
        block_slot.is_some_and(|block_slot| self.schedule_warp_in(block_slot, warp as usize))
    }

    /// Starts another time slice of the current warp, at the start of the launch or if its last slice had an effect; false otherwise, or if
    /// it cannot run.
    pub(in crate::machine) fn continue_current(&mut self) -> bool {
        let (block_slot, warp) = (self.cursor.block_slot, self.cursor.warp);
        let may_continue = self.tick() == self.start() || self.cursor.progress != self.progress;
        let continues = may_continue && self.can_run(block_slot, warp);
        if continues {
            self.begin_slice(block_slot, warp, WARP_SLICE);
        }
        continues
    }

    /// The warp whose time slice has not ended, as the number of its block and its own number.
    pub fn scheduled_warp(&self) -> Option<(u64, u32)> {
        let block = self.blocks.get(self.cursor.block_slot)?.as_ref()?;
        let is_scheduled = self.cursor.warp_ticks_left > 0 && self.can_run(self.cursor.block_slot, self.cursor.warp);
        is_scheduled.then_some((block.number, self.cursor.warp as u32))
    }

    /// The warps that can run, each as the number of its block and its own number, sorted.
    pub fn ready_warps(&self) -> Vec<(u64, u32)> {
        let mut warps: Vec<(u64, u32)> = self
            .blocks
            .iter()
            .enumerate()
            .filter_map(|(block_slot, block)| Some((block_slot, block.as_ref()?)))
            .flat_map(|(block_slot, block)| {
                let ready = (0..block.warps.len()).filter(move |warp| self.can_run(block_slot, *warp));
                ready.map(|warp| (block.number, warp as u32))
            })
            .collect();
        warps.sort_unstable();
        warps
    }

    /// The number of externally visible effects of threads so far, modulo 2^64: a thread that spins has none.
    pub fn progress(&self) -> u64 {
        self.progress
    }

    /// The pc, the lanes and the state of each group of a warp; empty if its block is not resident.
    pub fn group_states(&self, block: u64, warp: u32) -> Vec<(Pc, LaneMask, GroupState)> {
        let groups = self.warp_of(block, warp).into_iter().flat_map(|warp| &warp.groups);
        let mut states: Vec<_> = groups.map(|group| (group.pc, group.mask, group.state)).collect();
        states.sort_unstable_by_key(|(_, mask, _)| mask.first());
        states
    }

    /// A digest of the registers of a warp except those that depend on clocks; none if its block is not resident.
    pub fn register_state(&self, block: u64, warp: u32) -> Option<u64> {
        let mut digest = Digest::default();
        self.prepared.clocks.hash_registers(self.warp_of(block, warp)?, &mut digest);
        Some(digest.finish())
    }

    /// The mbarriers in the shared memory of its block for which a warp waits, by address, with their phases.
    pub fn awaited_phases(&self, block: u64, warp: u32) -> Vec<(u32, u64)> {
        let Some(resident) = self.resident_blocks().find(|resident| resident.number == block) else { return Vec::new() };
        let groups = self.warp_of(block, warp).into_iter().flat_map(|warp| &warp.groups);
        let awaited = groups.filter_map(|group| match group.state {
            GroupState::AtMbarrier { address } => Some((address, resident.shared.mbarrier(address).ok()?.phase)),
            GroupState::Ready
            | GroupState::AtBarrier { .. }
            | GroupState::AtSync { .. }
            | GroupState::AtCopies
            | GroupState::AtWgmmas
            | GroupState::AtWarpgroup
            | GroupState::AtCluster { .. }
            | GroupState::AtWarpSync { .. }
            | GroupState::AtReconvergence
            | GroupState::Deferred => None,
        });
        awaited.collect()
    }

    fn warp_of(&self, block: u64, warp: u32) -> Option<&Warp> {
        let resident = self.resident_blocks().find(|resident| resident.number == block)?;
        resident.warps.get(warp as usize).map(|warp| &**warp)
    }
}
