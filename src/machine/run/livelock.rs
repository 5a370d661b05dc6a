//! Threads that spin forever.
//!
//! While there is no externally visible effect, and no copy in flight that will have one, the run of a warp follows from its own state
//! alone. So if every warp that can run has returned to an earlier state, all of them are in a livelock. Barriers do not prevent that: they
//! transfer no data but the arrivals, so a warp that loops over a barrier continues to loop, or waits there. A barrier with a reduction
//! transfers a value, and counts as an effect.
//!
//! A store of the value that memory already holds has no effect, and a store to local memory has none that is visible to other threads. A
//! weak store to the shared memory of a block, and a reduction at its barrier, is visible to that block alone: then the state of the whole
//! block is compared, all its warps and its shared memory. The result is the same in every order: if the order of the warps could change
//! it, that would be a race, which is reported. Comparing stores would slow down every run, so it is done in intervals, each until the next
//! other effect or a limit.
//!
//! Clock values are not part of the compared state. For a program that reads clocks a livelock is reported only after the clocks were
//! advanced ([`ClockJump`](crate::machine::state::clocks::ClockJump)), so that a warp that waits for a time has continued, and after
//! enough ticks that a warp that waits for a value of the clock has met it.
//!
//! States are compared by their digests, at the start of time slices, in windows whose length and distance grow, so that the cost for long
//! computations is small: the detection is delayed by a factor of at most two, or somewhat more if blocks change their shared memory.

use std::hash::Hasher;

use crate::machine::state::digest::Digest;
use crate::machine::state::machine::Machine;
use crate::machine::state::warp::{GroupState, LaneGroup, Warp};

/// The number of the barrier of the cluster, among the barriers of a block.
pub const CLUSTER: u32 = u32::MAX;

impl Machine {
    /// True if the detection found a livelock, and there was no effect since.
    pub(in crate::machine) fn is_livelocked(&self) -> bool {
        self.livelock.proven && self.livelock.progress == self.progress
    }

    /// Restarts the detection of livelocks, since the user changed the state.
    pub fn restart_detection(&mut self) {
        self.progress = self.progress.wrapping_add(1);
    }

    /// Records an effect that threads other than those that spin can see.
    pub(in crate::machine) fn record_effect(&mut self) {
        self.livelock.record_effect(self.start(), self.tick, self.progress);
    }

    /// Records the state of the current warp at the start of its time slice. True if there is a livelock.
    pub(in crate::machine) fn detect_livelock(&mut self) -> bool {
        if self.progress != self.livelock.progress || self.livelock.has_compared_enough(self.start(), self.tick) {
            self.record_effect();
            self.clock_jump.reset();
        }
        self.livelock.begin_slice(self.tick);
        if self.tick < self.livelock.window_start {
            return false;
        }
        let (block_slot, number) = (self.cursor.block_slot, self.cursor.warp);
        let Some(block) = self.blocks[block_slot].as_ref() else { return false };
        let clocks = &self.prepared.clocks;
        let hash_warp = |warp: &Warp, digest: &mut Digest| {
            clocks.hash_registers(warp, digest);
            warp.hash_rest(digest);
        };
        let state = || {
            let mut digest = Digest::default();
            block.warps.get(number).iter().for_each(|warp| hash_warp(warp, &mut digest));
            digest.finish()
        };
        let block_state = || {
            let mut digest = Digest::default();
            block.warps.iter().for_each(|warp| hash_warp(warp, &mut digest));
            block.hash_shared(&mut digest);
            digest.finish()
        };
        let place = block.warps.get(number).map_or(0, |warp| place(warp));
        let returned = self.livelock.record_slice((block_slot, number), self.tick, place, state, block_state);
        assert!(!returned || self.livelock.warps.contains_key(&(block_slot, number)), "a warp comes back that was not seen");
        if returned && self.all_have_returned() {
            let clocks = &self.prepared.clocks;
            let has_met_clocks = self.tick - self.livelock.last_effect >= clocks.met_ticks();
            self.livelock.proven = clocks.is_empty() || (!self.clock_jump.jump() && has_met_clocks);
            self.livelock.restart_window();
        }
        self.livelock.proven
    }

    /// Records that threads of the block in `block_slot` have arrived at a barrier without a reduction.
    pub(in crate::machine) fn note_barrier_arrival(&mut self, block_slot: usize, barrier: u32) {
        assert!(block_slot < self.blocks.len(), "threads arrive in a block slot that is not there");
        if self.tick >= self.livelock.window_start && self.progress == self.livelock.progress {
            self.livelock.arrived_barriers.insert((block_slot, barrier));
        }
    }

    fn all_have_returned(&self) -> bool {
        let may_start = self.started < self.end && (self.blocks.len() as u64) < self.prepared.resident;
        if may_start || self.in_flight.has_copies() {
            return false;
        }
        let warps = self.blocks.iter().enumerate().flat_map(|(block_slot, block)| {
            let warps = block.iter().flat_map(|block| &block.warps).enumerate();
            warps.map(move |(number, warp)| ((block_slot, number), warp))
        });
        warps.filter(|((block_slot, _), warp)| self.can_progress(*block_slot, warp)).all(|(warp, _)| self.livelock.has_returned(warp))
    }

    /// True if a warp can run before others wake it, or waits at a barrier at which other threads arrive.
    fn can_progress(&self, block_slot: usize, warp: &Warp) -> bool {
        let arrived = &self.livelock.arrived_barriers;
        let waits_for_arrival = |group: &LaneGroup| match group.state {
            GroupState::AtBarrier { id, .. } => arrived.contains(&(block_slot, id)),
            GroupState::AtCluster { .. } => arrived.contains(&(self.cluster_block_slots(block_slot).start, CLUSTER)),
            GroupState::Ready
            | GroupState::AtSync { .. }
            | GroupState::AtMbarrier { .. }
            | GroupState::AtCopies
            | GroupState::AtWgmmas
            | GroupState::AtWarpgroup
            | GroupState::AtWarpSync { .. }
            | GroupState::AtReconvergence
            | GroupState::Deferred => false,
        };
        can_progress(warp) || warp.groups.iter().any(waits_for_arrival)
    }
}

/// A number that is the same for warps whose groups have the same lanes at the same instructions.
fn place(warp: &Warp) -> u64 {
    warp.groups.iter().fold(0, |place, group| place.wrapping_add(u64::from(group.pc.0) << 32 | u64::from(group.mask.bits())))
}

/// True if a warp can run before others wake it. A wait that times out, or that the user ends, counts too.
fn can_progress(warp: &Warp) -> bool {
    warp.groups
        .iter()
        .any(|group| matches!(group.state, GroupState::Ready | GroupState::AtMbarrier { .. } | GroupState::AtCopies | GroupState::AtWgmmas))
}
