//! How far critical sections were run the other way round.

/// How many pairs of critical sections were run the other way round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reversed {
    /// Those that were, and those where the warp could not be held up to there.
    pub tried: u64,
    /// Those for which nothing was left of the runs that are allowed.
    pub left: u64,
}

impl Reversed {
    /// Adds those of another case.
    pub fn add(&mut self, other: Self) {
        (self.tried, self.left) = (self.tried + other.tried, self.left + other.left);
    }
}
