//! The count of pairs of critical sections that were executed once more in the other order.

/// Pairs of critical sections of one lock, executed once more with the second section before the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SwappedSections {
    /// The pairs that were tried; in some of them the warp could not be held until the other section.
    pub tried: u64,
    /// The pairs that were not tried because the budget of runs was spent.
    pub left: u64,
}

impl SwappedSections {
    /// Adds those of another case.
    pub fn add(&mut self, other: Self) {
        (self.tried, self.left) = (self.tried + other.tried, self.left + other.left);
    }
}
