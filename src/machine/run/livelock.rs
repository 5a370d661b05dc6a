//! Threads that spin for ever.
//!
//! While nobody changes anything that others can notice, and no copy is in flight that will, what a warp does follows from its own state
//! alone. So if every warp that can run has meanwhile come back to a state in which it was before, all of them go round for ever: nothing
//! is left that could change what they wait for. Barriers do not hold that up: they hand nothing over but that others have come, so a
//! warp that goes round over a barrier goes on like that, or stays there. A barrier with a reduction hands over a value, and counts as a
//! change.
//!
//! What clocks say is no part of such a state. Of a program that reads them it is said only after the clocks have leapt ahead
//! ([`ClockJump`](crate::machine::state::clocks::ClockJump)), so that a warp that waits for some time to pass has gone on.
//!
//! States are compared by their digests, at the beginning of turns. That is done in windows of time ever further apart, which long
//! computations hardly notice; who spins is found out by the time that he has spun twice as long again.

use std::hash::Hasher;

use crate::machine::state::livelock::Livelock;

use crate::machine::state::digest::Digest;
use crate::machine::state::machine::Machine;
use crate::machine::state::warp::{GroupState, LaneGroup, Warp};

/// In place of the number of a barrier of a block: the barrier of its cluster.
pub const CLUSTER: u32 = u32::MAX;

impl Machine {
    /// Whether all threads that can run were seen to spin for ever, and nobody has changed anything since.
    pub(in crate::machine) fn is_livelocked(&self) -> bool {
        self.livelock.proven && self.livelock.effects == self.effects
    }

    /// Somebody from outside has changed a register or memory, which may set threads going that nothing else would.
    pub fn restart_detection(&mut self) {
        self.effects = self.effects.wrapping_add(1);
    }

    /// The current warp begins its turn: whether all threads that can run are now known to spin for ever.
    pub(in crate::machine) fn spins_for_ever(&mut self) -> bool {
        if self.effects != self.livelock.effects {
            self.livelock = Livelock::no_progress_since(self.tick, self.effects);
            self.leap.rest();
        }
        if self.tick < self.livelock.opens {
            return false;
        }
        let (slot, number) = (self.cursor.slot, self.cursor.warp);
        let Some(warp) = self.blocks[slot].as_ref().and_then(|block| block.warps.get(number)) else { return false };
        let clocks = &self.prepared.clocks;
        let state = || {
            let mut digest = Digest::default();
            clocks.hash_registers(warp, &mut digest);
            warp.hash_rest(&mut digest);
            digest.finish()
        };
        let returned = self.livelock.turn((slot, number), self.tick, state);
        assert!(!returned || self.livelock.seen.contains_key(&(slot, number)), "a warp comes back that was not seen");
        if returned && self.all_have_returned() {
            self.livelock.proven = self.prepared.clocks.is_empty() || !self.leap.jump();
            self.livelock.close();
        }
        self.livelock.proven
    }

    /// Threads of the block in `slot` have arrived at a barrier that hands nothing over.
    pub(in crate::machine) fn arrived_quietly(&mut self, slot: usize, barrier: u32) {
        assert!(slot < self.blocks.len(), "threads arrive in a slot that is not there");
        if self.tick >= self.livelock.opens && self.effects == self.livelock.effects {
            self.livelock.arrived.insert((slot, barrier));
        }
    }

    fn all_have_returned(&self) -> bool {
        let may_start = self.started < self.prepared.blocks && (self.blocks.len() as u64) < self.prepared.resident;
        if may_start || self.in_flight.has_copies() {
            return false;
        }
        let warps = self.blocks.iter().enumerate().flat_map(|(slot, block)| {
            let warps = block.iter().flat_map(|block| &block.warps).enumerate();
            warps.map(move |(number, warp)| ((slot, number), warp))
        });
        warps
            .filter(|((slot, _), warp)| self.moves(*slot, warp))
            .all(|(place, _)| self.livelock.seen.get(&place).is_some_and(|seen| seen.returned))
    }

    /// Whether a warp does anything before others set it going, or others that run come to where it waits for them.
    fn moves(&self, slot: usize, warp: &Warp) -> bool {
        let arrived = &self.livelock.arrived;
        let is_met = |group: &LaneGroup| match group.state {
            GroupState::AtBarrier { id, .. } => arrived.contains(&(slot, id)),
            GroupState::AtCluster { .. } => arrived.contains(&(self.cluster_slots(slot).start, CLUSTER)),
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
        moves(warp) || warp.groups.iter().any(is_met)
    }
}

/// Whether a warp does anything before others set it going: also one whose waits time out, or end when the user says so.
fn moves(warp: &Warp) -> bool {
    warp.groups
        .iter()
        .any(|group| matches!(group.state, GroupState::Ready | GroupState::AtMbarrier { .. } | GroupState::AtCopies | GroupState::AtWgmmas))
}
