//! Threads that spin for ever.
//!
//! While nobody changes anything that others can notice, and no copy is in flight that will, what a warp does follows from its own state
//! alone, unless it reads a clock. So if every warp that can run has meanwhile come back to a state in which it was before, all of them
//! go round for ever: nobody is left who could change what they wait for.
//!
//! States are compared by their digests, at the beginning of turns. That is done in windows of time ever further apart, which long
//! computations hardly notice; who spins is found out by the time that he has spun twice as long again.

use std::collections::BTreeMap;

use super::digest::Digest;
use super::special;
use super::warp::{GroupState, Warp};
use super::{Machine, Tick};
use crate::program::Op;

/// Ticks without any change before states are compared for the first time.
const QUIET: Tick = 1 << 17;

/// Turns of a warp in the first window.
const TURNS: u32 = 64;

/// Which warps have come back to states that they were in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Livelock {
    /// What had been done by the last change.
    effects: u64,
    /// When that was.
    since: Tick,
    /// When the window opens, or has opened.
    opens: Tick,
    /// Turns of a warp after which it closes.
    turns: u32,
    /// The warps that had turns in it, by slot and number.
    seen: BTreeMap<(usize, usize), Seen>,
    /// All have come back.
    proven: bool,
}

/// A warp in a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seen {
    /// Its state at its first turn.
    state: u64,
    /// Turns that it has left.
    left: u32,
    /// It has been in that state again.
    returned: bool,
}

impl Livelock {
    /// Something that others can notice changed `now` for the last time.
    pub fn quiet_since(now: Tick, effects: u64) -> Self {
        Self { effects, since: now, opens: now + QUIET, turns: TURNS, seen: BTreeMap::new(), proven: false }
    }

    /// Adds everything to `digest`.
    pub fn digest(&self, digest: &mut Digest) {
        digest.word(self.opens);
        digest.word(u64::from(self.turns));
    }

    /// A warp has its next turn in the window: whether it has come back to a state that it was in.
    fn turn(&mut self, warp: (usize, usize), now: Tick, state: impl FnOnce() -> u64) -> bool {
        let Some(seen) = self.seen.get_mut(&warp) else {
            self.seen.insert(warp, Seen { state: state(), left: self.turns, returned: false });
            return false;
        };
        seen.returned = seen.returned || seen.state == state();
        if seen.returned {
            return true;
        }
        seen.left -= 1;
        if seen.left == 0 {
            self.seen.clear();
            self.turns = self.turns.saturating_mul(2);
            self.opens = now + (now - self.since);
        }
        false
    }
}

impl Machine {
    /// Whether all threads that can run were seen to spin for ever, and nobody has changed anything since.
    pub(super) fn is_livelocked(&self) -> bool {
        self.livelock.proven && self.livelock.effects == self.effects
    }

    /// Somebody from outside has changed a register or memory, which may set threads going that nothing else would.
    pub fn disturb(&mut self) {
        self.effects = self.effects.wrapping_add(1);
    }

    /// The current warp begins its turn: whether all threads that can run are now known to spin for ever.
    pub(super) fn spins_for_ever(&mut self) -> bool {
        if self.effects != self.livelock.effects {
            self.livelock = Livelock::quiet_since(self.tick, self.effects);
        }
        if self.tick < self.livelock.opens {
            return false;
        }
        let (slot, number) = (self.cursor.slot, self.cursor.warp);
        let Some(warp) = self.blocks[slot].as_ref().and_then(|block| block.warps.get(number)) else { return false };
        let state = || {
            let mut digest = Digest::default();
            warp.digest(&mut digest);
            digest.value()
        };
        let returned = self.livelock.turn((slot, number), self.tick, state);
        self.livelock.proven = returned && self.all_have_returned();
        self.livelock.proven
    }

    fn all_have_returned(&self) -> bool {
        let may_start = self.started < self.linked.blocks && (self.blocks.len() as u64) < self.linked.resident;
        if may_start || !self.copies.is_empty() || self.reads_clock() {
            return false;
        }
        let warps = self.blocks.iter().enumerate().flat_map(|(slot, block)| {
            let warps = block.iter().flat_map(|block| &block.warps).enumerate();
            warps.map(move |(number, warp)| ((slot, number), warp))
        });
        warps.filter(|(_, warp)| moves(warp)).all(|(place, _)| self.livelock.seen.get(&place).is_some_and(|seen| seen.returned))
    }

    fn reads_clock(&self) -> bool {
        let reads = |op: &Op| matches!(op, Op::ReadSpecial { register, .. } if special::is_clock(*register));
        self.device.program.code.iter().any(|inst| reads(&inst.op))
    }
}

/// Whether a warp does anything before others set it going: also one whose waits time out, or end when the user says so.
fn moves(warp: &Warp) -> bool {
    warp.groups
        .iter()
        .any(|group| matches!(group.state, GroupState::Ready | GroupState::AtMbarrier { .. } | GroupState::AtCopies | GroupState::AtWgmmas))
}
