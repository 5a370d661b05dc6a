//! The priorities of warps, where the schedule goes by them.

use std::collections::BTreeMap;

use crate::machine::state::issue_point::Tick;
use crate::machine::state::random::Random;

/// A warp: the number of its block, and its own.
pub type WarpKey = (u64, u32);

/// The priority of a warp; the greatest runs. First those that were not lowered, by what was drawn for them, then those that a moment has
/// lowered, and last those that spun, the longest ago first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rank {
    /// It spun; the greater number the longer ago.
    Spun(u64),
    /// A moment has lowered it; the moments are numbered.
    Lowered(u32),
    /// Its random priority.
    Drawn(u64),
}

/// The priorities of warps, and the moments at which they change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Priorities {
    seed: u64,
    /// Moments to come, the next one last, with their numbers.
    moments: Vec<(Tick, u32)>,
    lowered: BTreeMap<WarpKey, Rank>,
    /// The number of times that a warp spun.
    spun: u64,
    /// The warp that has the turn, the beginning of the turn, and the progress count then.
    since: Option<(WarpKey, Tick, u64)>,
}

/// Ticks after which a warp counts as one that spins, if all it did had no effect.
const SPIN: u64 = 1 << 10;

impl Priorities {
    /// The priorities of `seed`, which change at `depth - 1` moments among `steps` ticks from `start` on.
    pub fn new(seed: u64, depth: u32, steps: u64, start: Tick) -> Self {
        assert!(depth > 0 && steps > 0, "no bug takes no ordering");
        let mut random = Random::new(seed);
        let mut moments: Vec<(Tick, u32)> = (1..depth).map(|number| (start + 1 + random.draw(steps), number)).collect();
        moments.sort_unstable_by(|one, other| other.cmp(one));
        Self { seed, moments, ..Self::default() }
    }

    /// The priority of a warp.
    pub fn rank(&self, warp: WarpKey) -> Rank {
        let drawn = || {
            let mut random = Random::new(self.seed ^ warp.0.rotate_left(32) ^ u64::from(warp.1).wrapping_mul(0x9e37_79b9));
            random.draw(u64::MAX);
            Rank::Drawn(random.draw(u64::MAX))
        };
        self.lowered.get(&warp).copied().unwrap_or_else(drawn)
    }

    /// The next moment at which a priority changes.
    pub fn next(&self) -> Option<Tick> {
        self.moments.last().map(|(tick, _)| *tick)
    }

    /// The turn of `ran` is over at `now`, with this `progress` count: lowers its priority if a moment of change has come, or if it spins.
    pub fn end_turn(&mut self, ran: WarpKey, now: Tick, progress: u64) {
        while let Some((_, number)) = self.moments.pop_if(|(tick, _)| *tick <= now) {
            self.lowered.insert(ran, Rank::Lowered(number));
        }
        match self.since {
            Some((warp, since, then)) if warp == ran && then == progress => {
                if now - since >= SPIN {
                    self.spun += 1;
                    self.lowered.insert(ran, Rank::Spun(u64::MAX - self.spun));
                    self.since = None;
                }
            }
            _ => self.since = Some((ran, now, progress)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_lowers_the_warp_that_runs_and_spinning_lowers_it_further() {
        let mut priorities = Priorities::new(7, 3, 100, Tick(50));
        let (one, other) = ((0, 0), (0, 1));
        assert!(matches!(priorities.rank(one), Rank::Drawn(_)) && priorities.rank(one) != priorities.rank(other));
        let last = priorities.moments.first().map(|(tick, _)| *tick).unwrap();
        assert!(priorities.moments.len() == 2 && Tick(50) < last && last <= Tick(150));
        priorities.end_turn(one, last, 0);
        assert!(matches!(priorities.rank(one), Rank::Lowered(_)) && priorities.next().is_none());
        assert!(priorities.rank(one) < priorities.rank(other));
        priorities.end_turn(other, last + 1, 1);
        priorities.end_turn(other, last + 1 + SPIN, 2);
        assert!(matches!(priorities.rank(other), Rank::Drawn(_)), "it had progress");
        priorities.end_turn(other, last + 1 + 2 * SPIN, 2);
        assert!(priorities.rank(other) < priorities.rank(one), "it spun");
    }
}
