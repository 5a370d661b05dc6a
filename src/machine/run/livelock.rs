//! Threads that spin forever.
//!
//! While no externally visible effect occurs, and no copy is in flight that will have one, what a warp does follows from its own state
//! alone. So if every warp that can run has meanwhile returned to an earlier state, all of them are in a livelock. Barriers do not prevent
//! that: they pass on nothing but the arrivals themselves, so a warp that loops over a barrier continues to loop, or waits there. A barrier
//! with a reduction passes on a value, and counts as a change.
//!
//! A store of what is there already is no effect, and one to the stack of a thread none that others see. A plain store to the shared memory
//! of a block, and a reduction at its barrier, is seen by that block alone: it comes back as a whole then, all its warps and its shared
//! memory at one time. That holds in every order: whatever the order of its warps could change there is a race, which is reported. To
//! compare stores would slow down every run, so it is done now and then, each time for as long as there is no other effect, and a while.
//!
//! Clock values are not part of such a state. For a program that reads clocks a livelock is reported only after the clocks have jumped
//! ahead ([`ClockJump`](crate::machine::state::clocks::ClockJump)), so that a warp that waits for some time to pass has continued.
//!
//! States are compared by their digests, at the beginning of scheduling turns, in windows that grow with time, so that the cost for long
//! computations is small: detection is delayed by at most a factor of two, or of some more where blocks work in their shared memory.

use std::hash::Hasher;

use crate::machine::state::digest::Digest;
use crate::machine::state::machine::Machine;
use crate::machine::state::warp::{GroupState, LaneGroup, Warp};

/// In place of the number of a barrier of a block: the barrier of its cluster.
pub const CLUSTER: u32 = u32::MAX;

impl Machine {
    /// Whether all threads that can run were found to spin forever, and nothing has changed since.
    pub(in crate::machine) fn is_livelocked(&self) -> bool {
        self.livelock.proven && self.livelock.progress == self.progress
    }

    /// The user changed a register or memory; restarts livelock detection.
    pub fn restart_detection(&mut self) {
        self.progress = self.progress.wrapping_add(1);
    }

    /// An effect has occurred that others than the threads that spin can see.
    pub(in crate::machine) fn note_change(&mut self) {
        self.livelock.note_change(self.start(), self.tick, self.progress);
    }

    /// The current warp begins its scheduling turn: whether all threads that can run are now known to spin forever.
    pub(in crate::machine) fn detects_livelock(&mut self) -> bool {
        if self.progress != self.livelock.progress || self.livelock.has_compared_enough(self.start(), self.tick) {
            self.note_change();
            self.clock_jump.rest();
        }
        self.livelock.begin_turn(self.tick);
        if self.tick < self.livelock.opens {
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
        let whole = || {
            let mut digest = Digest::default();
            block.warps.iter().for_each(|warp| hash_warp(warp, &mut digest));
            block.hash_shared(&mut digest);
            digest.finish()
        };
        let returned = self.livelock.turn((block_slot, number), self.tick, state, whole);
        assert!(!returned || self.livelock.seen.contains_key(&(block_slot, number)), "a warp comes back that was not seen");
        if returned && self.all_have_returned() {
            self.livelock.proven = self.prepared.clocks.is_empty() || !self.clock_jump.jump();
            self.livelock.close();
        }
        self.livelock.proven
    }

    /// Threads of the block in `block_slot` have arrived at a barrier that hands nothing over.
    pub(in crate::machine) fn arrived_quietly(&mut self, block_slot: usize, barrier: u32) {
        assert!(block_slot < self.blocks.len(), "threads arrive in a block slot that is not there");
        if self.tick >= self.livelock.opens && self.progress == self.livelock.progress {
            self.livelock.arrived.insert((block_slot, barrier));
        }
    }

    fn all_have_returned(&self) -> bool {
        let may_start = self.started < self.prepared.blocks && (self.blocks.len() as u64) < self.prepared.resident;
        if may_start || self.in_flight.has_copies() {
            return false;
        }
        let warps = self.blocks.iter().enumerate().flat_map(|(block_slot, block)| {
            let warps = block.iter().flat_map(|block| &block.warps).enumerate();
            warps.map(move |(number, warp)| ((block_slot, number), warp))
        });
        warps.filter(|((block_slot, _), warp)| self.moves(*block_slot, warp)).all(|(place, _)| self.livelock.has_returned(place))
    }

    /// Whether a warp makes progress before others wake it, or others that run arrive where it waits for them.
    fn moves(&self, block_slot: usize, warp: &Warp) -> bool {
        let arrived = &self.livelock.arrived;
        let is_joined = |group: &LaneGroup| match group.state {
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
            | GroupState::AwaitsTurn => false,
        };
        moves(warp) || warp.groups.iter().any(is_joined)
    }
}

/// Whether a warp makes progress before others wake it: also one whose waits time out, or end by a command of the user.
fn moves(warp: &Warp) -> bool {
    warp.groups
        .iter()
        .any(|group| matches!(group.state, GroupState::Ready | GroupState::AtMbarrier { .. } | GroupState::AtCopies | GroupState::AtWgmmas))
}
