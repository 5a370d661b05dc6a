//! Strong accesses that conflict and that nothing orders: no race, but which of them comes first is chance.

use std::collections::BTreeSet;

use crate::program::Pc;

/// The accesses of the runs of a case whose results depend on the order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contention {
    /// Pairs of instructions whose accesses were morally strong, conflicted, and were not ordered; the lower first.
    pairs: BTreeSet<(Pc, Pc)>,
    /// The pair that was added last.
    last: Option<(Pc, Pc)>,
    /// Accesses that could not be compared because too many had touched the same bytes.
    pub undecided: u64,
    /// An access that raced with another one on bytes of which the launch says nothing.
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
    pub fn was_last(&self, one: Pc, other: Pc) -> bool {
        self.last == Some((one.min(other), one.max(other)))
    }

    /// Adds that of another launch.
    pub fn join(&mut self, other: &Self) {
        self.pairs.extend(&other.pairs);
        self.undecided += other.undecided;
        self.ignored = self.ignored.or(other.ignored);
    }

    /// The instructions that contended with the one at `pc`.
    pub fn with(&self, pc: Pc) -> impl Iterator<Item = Pc> + '_ {
        let other = move |(one, other): &(Pc, Pc)| match (*one == pc, *other == pc) {
            (true, _) => Some(*other),
            (false, true) => Some(*one),
            (false, false) => None,
        };
        self.pairs.iter().filter_map(other)
    }
}
