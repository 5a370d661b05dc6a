//! The detection of livelocks: the past states of warps that spin.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};

use crate::machine::state::issue_point::Tick;

/// Ticks without any change before states are compared for the first time.
const QUIET: u64 = 1 << 17;

/// Turns of a warp in the first window.
const TURNS: u32 = 64;

/// How long no window opens after one in which blocks have worked in their shared memory, in times of what the run took since the last
/// change; of others as long.
const RESTS_OF_BLOCKS: u64 = 8;

/// Stores that are compared at a time, and one more for this number of ticks of the run before.
const COMPARED: u64 = 1 << 15;
const COMPARED_SHARE: u64 = 16;

/// The warps that have returned to earlier states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Livelock {
    /// The progress count at the last change, and what was counted since without one.
    pub(in crate::machine) progress: u64,
    /// When that was.
    pub(in crate::machine) since: Tick,
    /// Whether stores are compared with what they overwrite. That begins and ends between turns.
    pub(in crate::machine) compares: bool,
    /// When that begins.
    pub(in crate::machine) compares_from: Tick,
    /// Stores that were compared since.
    pub(in crate::machine) compared: u64,
    /// When the window opens, or has opened.
    pub(in crate::machine) opens: Tick,
    /// Turns of a warp after which it closes.
    pub(in crate::machine) turns: u32,
    /// The warps that had turns in it, by block slot and number.
    pub(in crate::machine) seen: BTreeMap<(usize, usize), Seen>,
    /// Slots of the blocks whose own shared memory has changed since: each of these returns to an earlier state as a whole.
    pub(in crate::machine) rewritten: BTreeSet<usize>,
    /// The states of these blocks as a whole, at turns of warps that came back.
    pub(in crate::machine) wholes: BTreeMap<usize, BTreeSet<u64>>,
    /// The barriers at which threads arrived in it, by block slot and number; `u32::MAX` is that of the cluster.
    pub(in crate::machine) arrived: BTreeSet<(usize, u32)>,
    /// All have come back.
    pub(in crate::machine) proven: bool,
}

/// A warp in a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::machine) struct Seen {
    /// Its state at its first turn.
    pub(in crate::machine) state: u64,
    /// Turns that it has left.
    pub(in crate::machine) left: u32,
    /// It has returned to that state, and its block to an earlier one if it is looked at as a whole.
    pub(in crate::machine) returned: bool,
}

impl Livelock {
    /// Nothing has happened at `start`.
    pub fn new(start: Tick) -> Self {
        Self {
            progress: 0,
            since: start,
            compares: false,
            compared: 0,
            compares_from: start + QUIET,
            opens: start + QUIET,
            turns: TURNS,
            seen: BTreeMap::new(),
            rewritten: BTreeSet::new(),
            wholes: BTreeMap::new(),
            arrived: BTreeSet::new(),
            proven: false,
        }
    }

    /// An externally visible effect at `now`, in a run that began at `start`. Where it is one that stores were compared for, they are not
    /// compared any more until the run has taken twice the time, so that this costs nothing.
    pub(in crate::machine) fn note_change(&mut self, start: Tick, now: Tick, progress: u64) {
        assert!(now >= self.since && self.since >= start, "changes go back in time");
        let compares_from = if self.compares { now + (now - start).max(QUIET) } else { self.compares_from };
        *self = Self { progress, since: now, compares_from, opens: now + QUIET, ..Self::new(start) };
    }

    /// A turn begins at `now`: from then on stores may be compared with what they overwrite.
    pub(in crate::machine) fn begin_turn(&mut self, now: Tick) {
        self.compares = now >= self.compares_from;
    }

    /// Whether stores were compared long enough without a change, in a run that began at `start`, that it is time to wait.
    pub(in crate::machine) fn has_compared_enough(&self, start: Tick, now: Tick) -> bool {
        self.compared > COMPARED + (now - start) / COMPARED_SHARE
    }

    /// Whether the shared memory of the block in `block_slot` has changed, for that block alone to see.
    pub(in crate::machine) fn is_rewritten(&self, block_slot: usize) -> bool {
        self.rewritten.contains(&block_slot)
    }

    /// That it has.
    pub(in crate::machine) fn note_rewritten(&mut self, block_slot: usize) {
        if self.rewritten.insert(block_slot) {
            self.close();
        }
    }

    /// Begins the window anew.
    pub(in crate::machine) fn close(&mut self) {
        self.seen.clear();
        self.wholes.clear();
        self.arrived.clear();
    }

    /// A warp has its next turn in the window: whether it has come back to a state that it was in, if its block is looked at as a whole
    /// with that.
    pub(in crate::machine) fn turn(
        &mut self,
        warp: (usize, usize),
        now: Tick,
        state: impl FnOnce() -> u64,
        whole: impl FnOnce() -> u64,
    ) -> bool {
        let is_rewritten = self.is_rewritten(warp.0);
        let has_block = is_rewritten && self.has_returned(warp);
        let Some(seen) = self.seen.get_mut(&warp) else {
            self.seen.insert(warp, Seen { state: state(), left: self.turns, returned: false });
            return false;
        };
        if !has_block && !seen.returned && seen.state == state() {
            seen.returned = !is_rewritten || !self.wholes.entry(warp.0).or_default().insert(whole());
        }
        if has_block || seen.returned {
            return true;
        }
        assert!(seen.left > 0 && self.turns > 0, "a window is open without turns");
        assert!(now >= self.opens && self.opens > self.since, "a turn is counted before the window opens");
        seen.left -= 1;
        if seen.left == 0 {
            self.close();
            self.turns = self.turns.saturating_mul(2);
            // Threads that work in shared memory are few of those that spin.
            let rests = if self.rewritten.is_empty() { 1 } else { RESTS_OF_BLOCKS };
            self.opens = now + (now - self.since).saturating_mul(rests);
        }
        false
    }

    /// Whether a warp has come back, or the block in `block_slot` if it is looked at as a whole.
    pub(in crate::machine) fn has_returned(&self, (block_slot, number): (usize, usize)) -> bool {
        if self.is_rewritten(block_slot) {
            return self.seen.range((block_slot, 0)..=(block_slot, usize::MAX)).any(|(_, seen)| seen.returned);
        }
        self.seen.get(&(block_slot, number)).is_some_and(|seen| seen.returned)
    }
}

impl Hash for Livelock {
    /// When the window opens and how long it is: what was seen in it follows.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Self {
            opens,
            turns,
            compares,
            compares_from,
            compared,
            progress: _,
            since: _,
            seen: _,
            rewritten: _,
            wholes: _,
            arrived: _,
            proven: _,
        } = self;
        (opens, turns, compares, compares_from, compared).hash(state);
    }
}
