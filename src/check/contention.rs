//! Conflicting strong accesses that nothing orders: no race, but their order depends on the schedule.

use std::collections::BTreeSet;

use crate::program::Pc;

/// The accesses of the runs of a case whose results depend on the schedule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contention {
    /// Pairs of instructions whose accesses were morally strong, conflicted, and were not ordered; the lower first.
    pairs: BTreeSet<(Pc, Pc)>,
    /// The pair that was added last.
    last: Option<(Pc, Pc)>,
    /// The number of accesses that could not be compared, because too many had accessed the same bytes.
    pub uncompared: u64,
    /// An access that raced with another one on bytes that the launch ignores (`expect_ignoring`).
    pub ignored: Option<Pc>,
}

impl Contention {
    /// Adds a pair.
    #[inline]
    pub fn add(&mut self, one: Pc, other: Pc) {
        let pair = (one.min(other), one.max(other));
        if self.last != Some(pair) {
            self.last = Some(pair);
            self.pairs.insert(pair);
        }
    }

    /// Whether the pair that was added last is this one.
    #[inline]
    pub fn is_last_pair(&self, one: Pc, other: Pc) -> bool {
        self.last == Some((one.min(other), one.max(other)))
    }

    /// Adds the contention of another launch.
    pub fn join(&mut self, other: &Self) {
        self.pairs.extend(&other.pairs);
        self.uncompared += other.uncompared;
        self.ignored = self.ignored.or(other.ignored);
    }

    /// The instructions that contended with the one at `pc`.
    pub fn contending_with(&self, pc: Pc) -> impl Iterator<Item = Pc> + '_ {
        let other = move |(one, other): &(Pc, Pc)| match (*one == pc, *other == pc) {
            (true, _) => Some(*other),
            (false, true) => Some(*one),
            (false, false) => None,
        };
        self.pairs.iter().filter_map(other)
    }
}
