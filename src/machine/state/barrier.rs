//! The sixteen named barriers of a block (PTX ISA, "bar, barrier").
//!
//! Threads are counted one by one, but a warp all of whose live lanes have arrived counts as 32, as the manual prescribes for partial
//! warps. Without a thread count a barrier waits for every thread of the block that has not exited.

use crate::machine::state::lanes::{LANES, LaneMask};

/// Number of barriers of a block.
pub const BARRIERS: usize = 16;

/// One barrier in its current phase.
#[derive(Clone, Debug, PartialEq, Eq, Default, Hash)]
pub struct Barrier {
    /// Lanes that have arrived, by warp; empty in a phase without arrivals.
    pub arrived: Vec<LaneMask>,
    /// Threads counted as arrived.
    pub count: u32,
    /// The thread count, if the instructions have one.
    pub thread_count: Option<u32>,
    /// Threads whose predicate is true, in a reduction.
    pub votes: u32,
    /// Threads with a predicate.
    pub voters: u32,
    /// Phases completed.
    pub phase: u64,
}

/// The reduction of a completed phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BarrierReduction {
    /// Threads whose predicate is true.
    pub votes: u32,
    /// Threads with a predicate.
    pub voters: u32,
}

impl Barrier {
    /// Records the thread count of an arrival; none means every thread. If the arrivals of a phase disagree, which is undefined behaviour,
    /// the greatest count is used, so that the order of arrivals does not matter.
    pub fn set_thread_count(&mut self, thread_count: Option<u32>) {
        assert!(thread_count != Some(0), "a barrier of no thread");
        self.thread_count =
            if self.arrived.is_empty() { thread_count } else { self.thread_count.zip(thread_count).map(|(one, other)| one.max(other)) };
    }

    /// Counts the arrival of the lanes `mask` of `warp` (of `warps`). The predicates of the lanes `votes` are true.
    pub fn arrive(&mut self, warps: usize, warp: usize, mask: LaneMask, live: LaneMask, votes: LaneMask) {
        assert!(warp < warps, "a warp arrives that the block does not have");
        assert!(!mask.is_empty() && live.contains_all(mask), "lanes arrive that are not live");
        self.arrived.resize(warps, LaneMask::NONE);
        let before = contribution(self.arrived[warp], live);
        let again = (self.arrived[warp] & mask).count();
        self.arrived[warp] |= mask;
        self.count += contribution(self.arrived[warp], live) - before + again;
        self.votes += (votes & mask).count();
        self.voters += mask.count();
        assert!(self.votes <= self.voters, "more predicates are true than there are");
        assert!(self.arrived[warp].contains_all(mask), "lanes arrive and are not recorded");
        assert!(self.count >= self.arrived_lanes(), "threads arrive and are not counted");
    }

    /// Corrects the count after lanes of `warp` exited; `live` are the remaining ones.
    pub fn lanes_exited(&mut self, warp: usize, live_before: LaneMask, live: LaneMask) {
        assert!(live_before.contains_all(live) && live != live_before, "lanes exit that had exited");
        let Some(arrived) = self.arrived.get(warp) else { return };
        if !arrived.is_empty() {
            self.count += contribution(*arrived, live).saturating_sub(contribution(*arrived, live_before));
        }
        assert!(self.count >= self.arrived_lanes(), "threads that have arrived are not counted any more");
    }

    /// The number of lanes that have arrived.
    fn arrived_lanes(&self) -> u32 {
        self.arrived.iter().map(|lanes| lanes.count()).sum()
    }

    /// True if the phase is complete, given the live lanes of all warps.
    pub fn is_complete(&self, live: impl Iterator<Item = LaneMask>) -> bool {
        if self.arrived.is_empty() {
            return false;
        }
        match self.thread_count {
            Some(thread_count) => self.count >= thread_count,
            None => self.arrived.iter().zip(live).all(|(arrived, live)| arrived.contains_all(live)),
        }
    }

    /// Ends the phase and returns its reduction.
    pub fn complete(&mut self) -> BarrierReduction {
        assert!(self.arrived.is_empty(), "a phase ends with lanes that have not been woken");
        assert!(self.count > 0, "a phase ends at which no thread has arrived");
        assert!(self.thread_count.is_none_or(|thread_count| self.count >= thread_count), "a phase ends before its threads have arrived");
        let reduction = BarrierReduction { votes: self.votes, voters: self.voters };
        *self = Self { phase: self.phase + 1, ..Self::default() };
        assert!(self.count == 0 && self.thread_count.is_none(), "a phase begins with what was counted in the one before");
        reduction
    }
}

/// The arrivals that a warp contributes when the lanes `arrived` have arrived and the lanes `live` have not exited.
fn contribution(arrived: LaneMask, live: LaneMask) -> u32 {
    if !arrived.is_empty() && arrived.contains_all(live) { LANES as u32 } else { arrived.count() }
}

/// The state of one block at the barrier of its cluster.
#[derive(Clone, Debug, PartialEq, Eq, Default, Hash)]
pub struct ClusterBarrier {
    /// Lanes that have arrived in the current phase, by warp; empty without arrivals.
    pub arrived: Vec<LaneMask>,
    /// Phases completed.
    pub phase: u64,
}

impl ClusterBarrier {
    /// The lanes of `warp` that have arrived.
    pub fn arrived_of(&self, warp: usize) -> LaneMask {
        self.arrived.get(warp).copied().unwrap_or(LaneMask::NONE)
    }
}
