//! The priorities of warps, under a priority schedule (PCT).

use std::collections::BTreeMap;

use crate::base::Random;
use crate::machine::state::issue_point::Tick;

/// A warp: the number of its block, and its number in the block.
pub type WarpKey = (u64, u32);

/// The priority of a warp; the greatest runs. Warps whose priority was not lowered come first, by their random priority, then those lowered
/// at a change point, and last those that spun, the longest ago first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rank {
    /// The warp spun; the greater the number, the longer ago.
    Spun(u64),
    /// The change point of this number has lowered it.
    Lowered(u32),
    /// The random initial priority.
    Drawn(u64),
}

/// The priorities of warps, and the priority change points.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Priorities {
    seed: u64,
    /// The change points to come, the next one last, with their numbers.
    change_points: Vec<(Tick, u32)>,
    lowered: BTreeMap<WarpKey, Rank>,
    /// The number of times that a warp spun.
    spun: u64,
    /// The warp that runs, the first of its time slices without progress, and the progress count then.
    current: Option<(WarpKey, Tick, u64)>,
}

/// Ticks without effect after which a warp counts as spinning.
const SPIN_TICKS: u64 = 1 << 10;

impl Priorities {
    /// The priorities of `seed`, with `depth - 1` change points in the `steps` ticks from `start` on.
    pub fn new(seed: u64, depth: u32, steps: u64, start: Tick) -> Self {
        assert!(depth > 0 && steps > 0, "no bug takes no ordering");
        let mut random = Random::new(seed);
        let mut change_points: Vec<(Tick, u32)> = (1..depth).map(|number| (start + 1 + random.draw(steps), number)).collect();
        change_points.sort_unstable_by(|one, other| other.cmp(one));
        Self { seed, change_points, ..Self::default() }
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

    /// The next change point.
    pub fn next(&self) -> Option<Tick> {
        self.change_points.last().map(|(tick, _)| *tick)
    }

    /// Ends the time slice of `ran` at `now`, with this `progress` count: lowers its priority at a change point, or if it spins.
    pub fn end_slice(&mut self, ran: WarpKey, now: Tick, progress: u64) {
        while let Some((_, number)) = self.change_points.pop_if(|(tick, _)| *tick <= now) {
            self.lowered.insert(ran, Rank::Lowered(number));
        }
        match self.current {
            Some((warp, since, then)) if warp == ran && then == progress => {
                if now - since >= SPIN_TICKS {
                    self.spun += 1;
                    self.lowered.insert(ran, Rank::Spun(u64::MAX - self.spun));
                    self.current = None;
                }
            }
            _ => self.current = Some((ran, now, progress)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_point_lowers_the_warp_that_runs_and_spinning_lowers_it_further() {
        let mut priorities = Priorities::new(7, 3, 100, Tick(50));
        let (one, other) = ((0, 0), (0, 1));
        assert!(matches!(priorities.rank(one), Rank::Drawn(_)) && priorities.rank(one) != priorities.rank(other));
        let last = priorities.change_points.first().map(|(tick, _)| *tick).unwrap();
        assert!(priorities.change_points.len() == 2 && Tick(50) < last && last <= Tick(150));
        priorities.end_slice(one, last, 0);
        assert!(matches!(priorities.rank(one), Rank::Lowered(_)) && priorities.next().is_none());
        assert!(priorities.rank(one) < priorities.rank(other));
        priorities.end_slice(other, last + 1, 1);
        priorities.end_slice(other, last + 1 + SPIN_TICKS, 2);
        assert!(matches!(priorities.rank(other), Rank::Drawn(_)), "it had progress");
        priorities.end_slice(other, last + 1 + 2 * SPIN_TICKS, 2);
        assert!(priorities.rank(other) < priorities.rank(one), "it spun");
    }
}
