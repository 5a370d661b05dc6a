//! The bytes of a race: those that both sides accessed, for all pairs of instructions counted in it.

use std::ops::Range;

/// The most ranges that are retained.
const MAX_RANGES: usize = 1 << 10;

/// Disjoint ranges of addresses, in order; empty if there were too many.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConflictBytes {
    ranges: Vec<Range<u64>>,
    is_too_many: bool,
}

impl ConflictBytes {
    /// One range.
    pub fn of(range: Range<u64>) -> Self {
        let mut conflict_bytes = Self::default();
        conflict_bytes.add(range);
        conflict_bytes
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
        // The ranges from `first` up to `last` overlap or adjoin it.
        let first = self.ranges.partition_point(|known| known.end < range.start);
        let last = self.ranges.partition_point(|known| known.start <= range.end);
        if let Some(overlapping) = self.ranges.get(first..last).filter(|overlapping| !overlapping.is_empty()) {
            let start = overlapping.first().map_or(range.start, |known| known.start.min(range.start));
            let end = overlapping.last().map_or(range.end, |known| known.end.max(range.end));
            self.ranges.splice(first..last, std::iter::once(start..end));
        } else {
            self.ranges.insert(first, range);
        }
        if self.ranges.len() > MAX_RANGES {
            self.ranges.clear();
            self.is_too_many = true;
        }
    }

    /// Adds the ranges of another one.
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
        let mut conflict_bytes = ConflictBytes::default();
        for range in [8..12, 0..4, 20..24, 4..8, 16..17, 11..18] {
            conflict_bytes.add(range);
        }
        assert_eq!(conflict_bytes.ranges(), [0..18, 20..24]);
        conflict_bytes.join(&ConflictBytes::of(18..20));
        assert_eq!(conflict_bytes.ranges(), std::slice::from_ref(&(0..24)));
    }

    #[test]
    fn too_many_ranges_are_none() {
        let mut conflict_bytes = ConflictBytes::default();
        (0..=MAX_RANGES as u64).for_each(|at| conflict_bytes.add(2 * at..2 * at + 1));
        assert_eq!(conflict_bytes.ranges(), []);
        conflict_bytes.add(0..1);
        assert_eq!(conflict_bytes.ranges(), []);
    }
}
