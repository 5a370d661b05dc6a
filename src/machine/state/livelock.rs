//! The detection of livelocks: the past states of warps that spin.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};

use crate::machine::state::issue_point::Tick;

/// Ticks without any change before states are compared for the first time.
const QUIET: u64 = 1 << 17;

/// Turns of a warp in the first window.
const TURNS: u32 = 64;

/// The warps that have returned to earlier states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Livelock {
    /// The progress count at the last change.
    pub(in crate::machine) progress: u64,
    /// When that was.
    pub(in crate::machine) since: Tick,
    /// When the window opens, or has opened.
    pub(in crate::machine) opens: Tick,
    /// Turns of a warp after which it closes.
    pub(in crate::machine) turns: u32,
    /// The warps that had turns in it, by block slot and number.
    pub(in crate::machine) seen: BTreeMap<(usize, usize), Seen>,
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
    /// It has returned to that state.
    pub(in crate::machine) returned: bool,
}

impl Livelock {
    /// The last externally visible effect was at `now`.
    pub fn no_progress_since(now: Tick, progress: u64) -> Self {
        Self { progress, since: now, opens: now + QUIET, turns: TURNS, seen: BTreeMap::new(), arrived: BTreeSet::new(), proven: false }
    }

    /// Begins the window anew.
    pub(in crate::machine) fn close(&mut self) {
        self.seen.clear();
        self.arrived.clear();
    }

    /// A warp has its next turn in the window: whether it has come back to a state that it was in.
    pub(in crate::machine) fn turn(&mut self, warp: (usize, usize), now: Tick, state: impl FnOnce() -> u64) -> bool {
        let Some(seen) = self.seen.get_mut(&warp) else {
            self.seen.insert(warp, Seen { state: state(), left: self.turns, returned: false });
            return false;
        };
        seen.returned = seen.returned || seen.state == state();
        if seen.returned {
            return true;
        }
        assert!(seen.left > 0 && self.turns > 0, "a window is open without turns");
        assert!(now >= self.opens && self.opens > self.since, "a turn is counted before the window opens");
        seen.left -= 1;
        if seen.left == 0 {
            self.close();
            self.turns = self.turns.saturating_mul(2);
            self.opens = now + (now - self.since);
        }
        false
    }
}

impl Hash for Livelock {
    /// When the window opens and how long it is: what was seen in it follows.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Self { opens, turns, progress: _, since: _, seen: _, arrived: _, proven: _ } = self;
        (opens, turns).hash(state);
    }
}
