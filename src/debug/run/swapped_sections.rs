//! Counts of pairs of critical sections that were executed once more in the opposite order.

/// Numbers of pairs of critical sections of one lock, executed once more with the second section before the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SwappedSections {
    /// Pairs that were tried; in some of them the warp could not be delayed until the other section ended.
    pub tried: u64,
    /// Pairs that were not tried because the budget was used up.
    pub untried: u64,
}

impl SwappedSections {
    /// Adds those of another case.
    pub fn add(&mut self, other: Self) {
        (self.tried, self.untried) = (self.tried + other.tried, self.untried + other.untried);
    }
}
