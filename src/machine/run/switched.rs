//! A schedule that names the warps that have the turn, and what it takes to find one: which warps can run, and what they have done.

use std::hash::Hasher;

use crate::machine::run::schedule::WARP_TURN;
use crate::machine::state::digest::Digest;
use crate::machine::state::lanes::LaneMask;
use crate::machine::state::launch::{Schedule, Switch};
use crate::machine::state::machine::Machine;
use crate::machine::state::warp::{GroupState, Warp};
use crate::program::Pc;

impl Machine {
    /// The next time for which the schedule names a warp.
    pub(in crate::machine) fn next_switch(&self) -> Option<Switch> {
        match &self.prepared.config.schedule {
            Schedule::Switched(switches) => switches.get(self.cursor.switches).copied(),
            Schedule::InOrder | Schedule::Random | Schedule::Priority { .. } | Schedule::Held(_) => None,
        }
    }

    /// Gives the turn to the warp that the schedule names for now, if it can run.
    pub(in crate::machine) fn take_switch(&mut self) {
        while let Some(switch) = self.next_switch().filter(|switch| switch.at <= self.tick()) {
            self.cursor.switches += 1;
            if switch.at == self.tick() {
                self.switch_to(switch.block, switch.warp);
            }
        }
    }

    /// Gives a warp of the block of number `block` a whole scheduling turn, now; false, and nothing changes, if it has one anyway, or
    /// cannot run.
    pub fn switch_to(&mut self, block: u64, warp: u32) -> bool {
        let block_slot = self.blocks.iter().position(|slot| slot.as_ref().is_some_and(|resident| resident.number == block));
        block_slot.is_some_and(|block_slot| self.give_turn_in(block_slot, warp as usize))
    }

    /// Gives the first turn to the first warp, and later the warp that had the turn another one if it did something in the one that is
    /// over; false if it did not, or cannot run.
    pub(in crate::machine) fn begins_or_goes_on(&mut self) -> bool {
        let (block_slot, warp) = (self.cursor.block_slot, self.cursor.warp);
        let may_go_on = self.tick() == self.start() || self.cursor.progress != self.progress;
        let goes_on = may_go_on && self.can_run(block_slot, warp);
        if goes_on {
            self.begin_turn(block_slot, warp, WARP_TURN);
        }
        goes_on
    }

    /// The warp that has the turn, as the number of its block and its own; none if that is over.
    pub fn turn(&self) -> Option<(u64, u32)> {
        let block = self.blocks.get(self.cursor.block_slot)?.as_ref()?;
        let has_turn = self.cursor.warp_left > 0 && self.can_run(self.cursor.block_slot, self.cursor.warp);
        has_turn.then_some((block.number, self.cursor.warp as u32))
    }

    /// The warps that can run, each as the number of its block and its own, in order of these.
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

    /// Externally visible effects of threads so far, modulo 2^64: a thread that spins has none.
    pub fn progress(&self) -> u64 {
        self.progress
    }

    /// The pc, the lanes and the state of each group of a warp; nothing if its block is not resident.
    pub fn group_states(&self, block: u64, warp: u32) -> Vec<(Pc, LaneMask, GroupState)> {
        let groups = self.warp_of(block, warp).into_iter().flat_map(|warp| &warp.groups);
        let mut stand: Vec<_> = groups.map(|group| (group.pc, group.mask, group.state)).collect();
        stand.sort_unstable_by_key(|(_, mask, _)| mask.first());
        stand
    }

    /// A fingerprint of the registers of a warp, but for those that say what time it is; none if its block is not on the machine.
    pub fn register_state(&self, block: u64, warp: u32) -> Option<u64> {
        let mut digest = Digest::default();
        self.prepared.clocks.hash_registers(self.warp_of(block, warp)?, &mut digest);
        Some(digest.finish())
    }

    /// The mbarriers in the shared memory of its block for which a warp waits: the address of each, and its phase.
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
            | GroupState::AwaitsTurn => None,
        });
        awaited.collect()
    }

    fn warp_of(&self, block: u64, warp: u32) -> Option<&Warp> {
        let resident = self.resident_blocks().find(|resident| resident.number == block)?;
        resident.warps.get(warp as usize).map(|warp| &**warp)
    }
}
