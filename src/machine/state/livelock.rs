//! The detection of livelocks: earlier states of warps that spin. `run::livelock` has the rules.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};

use crate::machine::state::issue_point::Tick;

/// Ticks without any change before states are compared for the first time.
const QUIET_TICKS: u64 = 1 << 17;

/// Time slices of a warp in the first window.
const SLICES: u32 = 64;

/// The pause after a window in which blocks changed their shared memory, as a multiple of the ticks since the last effect. After other
/// windows it is one such time.
const PAUSE_WITH_BLOCKS: u64 = 8;

/// The stores that are compared before the comparison stops: this number, and one for every `COMPARED_SHARE` ticks of the run.
const COMPARED_STORES: u64 = 1 << 15;
const COMPARED_SHARE: u64 = 16;

/// The state of the detection. In a window, the states of warps at their time slices are compared with their state at the first slice of
/// the window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LivelockDetector {
    /// The progress count at the last effect, and non_progress progress since.
    pub(in crate::machine) progress: u64,
    /// The tick of the last effect.
    pub(in crate::machine) last_effect: Tick,
    /// True if stores are compared with the bytes that they overwrite. Changes between time slices only.
    pub(in crate::machine) compares_stores: bool,
    /// The tick from which on stores are compared.
    pub(in crate::machine) compares_from: Tick,
    /// The number of compared stores.
    pub(in crate::machine) compared: u64,
    /// The tick at which the window starts or has started.
    pub(in crate::machine) window_start: Tick,
    /// Time slices of a warp after which the window ends.
    pub(in crate::machine) slices: u32,
    /// The warps that had time slices in the window, by block slot and number.
    pub(in crate::machine) warps: BTreeMap<(usize, usize), WarpInWindow>,
    /// Slots of the blocks whose own shared memory has changed: for these, the state of the whole block is compared.
    pub(in crate::machine) changed_blocks: BTreeSet<usize>,
    /// The states of these blocks at time slices in which a warp has returned to its state.
    pub(in crate::machine) block_states: BTreeMap<usize, BTreeSet<u64>>,
    /// The barriers at which threads arrived in the window, by block slot and number; `u32::MAX` is that of the cluster.
    pub(in crate::machine) arrived_barriers: BTreeSet<(usize, u32)>,
    /// True if all warps that can run have returned to an earlier state: a livelock.
    pub(in crate::machine) proven: bool,
}

/// A warp in a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::machine) struct WarpInWindow {
    /// Where its groups were at its first time slice: an equal state has them there.
    pub(in crate::machine) place: u64,
    /// The digest of its state then.
    pub(in crate::machine) state: u64,
    /// The remaining time slices of the window.
    pub(in crate::machine) slices_left: u32,
    /// True if it has returned to that state, and its block too if the whole block is compared.
    pub(in crate::machine) returned: bool,
}

impl LivelockDetector {
    /// The state at the first tick, `start`.
    pub fn new(start: Tick) -> Self {
        Self {
            progress: 0,
            last_effect: start,
            compares_stores: false,
            compared: 0,
            compares_from: start + QUIET_TICKS,
            window_start: start + QUIET_TICKS,
            slices: SLICES,
            warps: BTreeMap::new(),
            changed_blocks: BTreeSet::new(),
            block_states: BTreeMap::new(),
            arrived_barriers: BTreeSet::new(),
            proven: false,
        }
    }

    /// Records an externally visible effect at `now`, in a run that began at `start`. If stores were compared, the next comparison starts
    /// when the run has taken twice the time, which bounds its cost.
    pub(in crate::machine) fn record_effect(&mut self, start: Tick, now: Tick, progress: u64) {
        assert!(now >= self.last_effect && self.last_effect >= start, "changes go back in time");
        if self.compares_stores {
            self.compares_from = now + (now - start).max(QUIET_TICKS);
        }
        (self.progress, self.last_effect, self.window_start, self.slices) = (progress, now, now + QUIET_TICKS, SLICES);
        (self.compares_stores, self.compared, self.proven) = (false, 0, false);
        self.restart_window();
        if !self.changed_blocks.is_empty() {
            self.changed_blocks.clear();
        }
    }

    /// Starts a time slice at `now`, in which stores may be compared with the bytes that they overwrite.
    pub(in crate::machine) fn begin_slice(&mut self, now: Tick) {
        self.compares_stores = now >= self.compares_from;
    }

    /// True if the comparison must pause: too many stores were compared without result in a run that began at `start`.
    pub(in crate::machine) fn has_compared_enough(&self, start: Tick, now: Tick) -> bool {
        self.compared > COMPARED_STORES + (now - start) / COMPARED_SHARE
    }

    /// True if the block in `block_slot` has changed its own shared memory.
    pub(in crate::machine) fn has_changed_shared(&self, block_slot: usize) -> bool {
        self.changed_blocks.contains(&block_slot)
    }

    /// Records such a change.
    pub(in crate::machine) fn note_changed_shared(&mut self, block_slot: usize) {
        if self.changed_blocks.insert(block_slot) {
            self.restart_window();
        }
    }

    /// Restarts the window.
    pub(in crate::machine) fn restart_window(&mut self) {
        let Self { warps, block_states, arrived_barriers, .. } = self;
        // Mostly there is nothing to free, and every exit comes here.
        if !(warps.is_empty() && block_states.is_empty() && arrived_barriers.is_empty()) {
            warps.clear();
            block_states.clear();
            arrived_barriers.clear();
        }
    }

    /// Records a time slice of a warp in the window. True if the warp, or its block if the whole block is compared, has returned to an
    /// earlier state.
    pub(in crate::machine) fn record_slice(
        &mut self,
        warp: (usize, usize),
        now: Tick,
        place: u64,
        state: impl FnOnce() -> u64,
        block_state: impl FnOnce() -> u64,
    ) -> bool {
        let has_changed_shared = self.has_changed_shared(warp.0);
        let has_block = has_changed_shared && self.has_returned(warp);
        let Some(seen) = self.warps.get_mut(&warp) else {
            self.warps.insert(warp, WarpInWindow { place, state: state(), slices_left: self.slices, returned: false });
            return false;
        };
        if !has_block && !seen.returned && seen.place == place && seen.state == state() {
            seen.returned = !has_changed_shared || !self.block_states.entry(warp.0).or_default().insert(block_state());
        }
        if has_block || seen.returned {
            return true;
        }
        assert!(seen.slices_left > 0 && self.slices > 0, "a window is open without turns");
        assert!(now >= self.window_start && self.window_start > self.last_effect, "a turn is counted before the window opens");
        seen.slices_left -= 1;
        if seen.slices_left == 0 {
            self.restart_window();
            self.slices = self.slices.saturating_mul(2);
            // Few of the threads that spin change shared memory.
            let pause = if self.changed_blocks.is_empty() { 1 } else { PAUSE_WITH_BLOCKS };
            self.window_start = now + (now - self.last_effect).saturating_mul(pause);
        }
        false
    }

    /// True if a warp has returned to an earlier state, or the block in `block_slot` if the whole block is compared.
    pub(in crate::machine) fn has_returned(&self, (block_slot, number): (usize, usize)) -> bool {
        if self.has_changed_shared(block_slot) {
            return self.warps.range((block_slot, 0)..=(block_slot, usize::MAX)).any(|(_, seen)| seen.returned);
        }
        self.warps.get(&(block_slot, number)).is_some_and(|seen| seen.returned)
    }
}

impl Hash for LivelockDetector {
    /// Hashes the start and the length of the window; its contents follow from the run.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Self {
            window_start,
            slices,
            compares_stores,
            compares_from,
            compared,
            progress: _,
            last_effect: _,
            warps: _,
            changed_blocks: _,
            block_states: _,
            arrived_barriers: _,
            proven: _,
        } = self;
        (window_start, slices, compares_stores, compares_from, compared).hash(state);
    }
}
