//! Conflicting strong accesses that nothing orders: no race, but results may depend on the schedule.

use std::collections::BTreeSet;

use crate::program::Pc;

/// The conflicting strong accesses of a case that are not ordered, so that their results may depend on the schedule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnorderedAccesses {
    /// Pairs of instructions whose accesses were morally strong, conflicted, and were not ordered; the lower first.
    pairs: BTreeSet<(Pc, Pc)>,
    /// The pair that was added last.
    last: Option<(Pc, Pc)>,
    /// The number of accesses that could not be compared, because too many had accessed the same bytes.
    pub uncompared: u64,
    /// An access that raced with another one on bytes that the launch ignores (`expect_ignoring`).
    pub ignored: Option<Pc>,
}

impl UnorderedAccesses {
    /// Adds a pair.
    #[inline]
    pub fn add(&mut self, one: Pc, other: Pc) {
        let pair = (one.min(other), one.max(other));
        if self.last != Some(pair) {
            self.last = Some(pair);
            self.pairs.insert(pair);
        }
    }

    /// True if this is the pair that was added last.
    #[inline]
    pub fn is_last_pair(&self, one: Pc, other: Pc) -> bool {
        self.last == Some((one.min(other), one.max(other)))
    }

    /// Adds the accesses of another launch.
    pub fn join(&mut self, other: &Self) {
        self.pairs.extend(&other.pairs);
        self.uncompared += other.uncompared;
        self.ignored = self.ignored.or(other.ignored);
    }

    /// The instructions whose accesses conflicted with those of `pc` and were not ordered.
    pub fn unordered_with(&self, pc: Pc) -> impl Iterator<Item = Pc> + '_ {
        let other = move |(one, other): &(Pc, Pc)| match (*one == pc, *other == pc) {
            (true, _) => Some(*other),
            (false, true) => Some(*one),
            (false, false) => None,
        };
        self.pairs.iter().filter_map(other)
    }
}
