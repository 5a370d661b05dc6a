//! The bytes that a race is about: those that both sides touched, of all pairs that are counted in it.

use std::ops::Range;

/// Ranges that are kept at most.
const KEPT: usize = 1 << 10;

/// Disjoint ranges of addresses, in order; none where there were too many.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Touched {
    ranges: Vec<Range<u64>>,
    is_too_many: bool,
}

impl Touched {
    /// One range.
    pub fn of(range: Range<u64>) -> Self {
        let mut touched = Self::default();
        touched.add(range);
        touched
    }

    /// The ranges.
    pub fn ranges(&self) -> &[Range<u64>] {
        &self.ranges
    }

    /// Adds a range.
    pub fn add(&mut self, range: Range<u64>) {
        assert!(range.start < range.end, "a range of no bytes");
        if self.is_too_many {
            return;
        }
        // Those from `first` up to `last` meet it.
        let first = self.ranges.partition_point(|known| known.end < range.start);
        let last = self.ranges.partition_point(|known| known.start <= range.end);
        if let Some(met) = self.ranges.get(first..last).filter(|met| !met.is_empty()) {
            let start = met.first().map_or(range.start, |known| known.start.min(range.start));
            let end = met.last().map_or(range.end, |known| known.end.max(range.end));
            self.ranges.splice(first..last, std::iter::once(start..end));
        } else {
            self.ranges.insert(first, range);
        }
        if self.ranges.len() > KEPT {
            self.ranges.clear();
            self.is_too_many = true;
        }
    }

    /// Adds those of another one.
    pub fn join(&mut self, other: &Self) {
        self.is_too_many |= other.is_too_many;
        if self.is_too_many {
            self.ranges.clear();
        }
        other.ranges.iter().for_each(|range| self.add(range.clone()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_meet_become_one() {
        let mut touched = Touched::default();
        for range in [8..12, 0..4, 20..24, 4..8, 16..17, 11..18] {
            touched.add(range);
        }
        assert_eq!(touched.ranges(), [0..18, 20..24]);
        touched.join(&Touched::of(18..20));
        assert_eq!(touched.ranges(), std::slice::from_ref(&(0..24)));
    }

    #[test]
    fn too_many_ranges_are_none() {
        let mut touched = Touched::default();
        (0..=KEPT as u64).for_each(|at| touched.add(2 * at..2 * at + 1));
        assert_eq!(touched.ranges(), []);
        touched.add(0..1);
        assert_eq!(touched.ranges(), []);
    }
}
