//! Relations between the events of an execution, as rows of bits.

use smallvec::SmallVec;

/// The most events that a relation has.
pub const EVENTS_MAX: usize = 64;

/// A relation between events, by their numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relation(SmallVec<[u64; 32]>);

impl Relation {
    /// The empty one.
    pub fn empty(size: usize) -> Self {
        assert!(size <= EVENTS_MAX, "a row has {EVENTS_MAX} bits");
        Self(SmallVec::from_elem(0, size))
    }

    /// The pairs of which `holds` does.
    pub fn of(size: usize, holds: impl Fn(usize, usize) -> bool) -> Self {
        let mut relation = Self::empty(size);
        for one in 0..size {
            (0..size).filter(|other| holds(one, *other)).for_each(|other| relation.add(one, other));
        }
        relation
    }

    /// True if it has the pair.
    pub fn has(&self, one: usize, other: usize) -> bool {
        self.0[one] >> other & 1 != 0
    }

    /// Adds a pair.
    pub fn add(&mut self, one: usize, other: usize) {
        self.0[one] |= 1 << other;
    }

    /// The events that `one` is related to.
    pub fn row(&self, one: usize) -> u64 {
        self.0[one]
    }

    /// Its pairs.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        self.0.iter().enumerate().flat_map(|(one, row)| bits(*row).map(move |other| (one, other)))
    }

    /// Both.
    pub fn or(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(one, other)| one | other).collect())
    }

    /// What both have.
    pub fn and(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(one, other)| one & other).collect())
    }

    /// What is not in the other.
    pub fn without(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(one, other)| one & !other).collect())
    }

    /// From events of `from` to events of `to`.
    pub fn between(&self, from: u64, to: u64) -> Self {
        Self(self.0.iter().enumerate().map(|(one, row)| if from >> one & 1 != 0 { row & to } else { 0 }).collect())
    }

    /// This, then `next`.
    pub fn then(&self, next: &Self) -> Self {
        Self(self.0.iter().map(|row| bits(*row).fold(0, |all, middle| all | next.0[middle])).collect())
    }

    /// With all pairs the other way.
    pub fn inverse(&self) -> Self {
        let mut inverse = Self::empty(self.0.len());
        self.pairs().for_each(|(one, other)| inverse.add(other, one));
        inverse
    }

    /// With each event related to itself.
    pub fn reflexive(mut self) -> Self {
        self.0.iter_mut().enumerate().for_each(|(one, row)| *row |= 1 << one);
        self
    }

    /// The transitive closure.
    pub fn closure(mut self) -> Self {
        for middle in 0..self.0.len() {
            let row = self.0[middle];
            if row != 0 {
                self.0.iter_mut().filter(|of| **of >> middle & 1 != 0).for_each(|of| *of |= row);
            }
        }
        self
    }

    /// True if it has no pair.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|row| *row == 0)
    }

    /// True if no event is related to itself.
    pub fn is_irreflexive(&self) -> bool {
        self.0.iter().enumerate().all(|(one, row)| row >> one & 1 == 0)
    }

    /// True if it has no cycle.
    pub fn is_acyclic(&self) -> bool {
        self.clone().closure().is_irreflexive()
    }
}

/// The numbers of the bits that are set.
pub fn bits(mut row: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = row.trailing_zeros() as usize;
        (row != 0).then(|| {
            row &= row - 1;
            bit
        })
    })
}
