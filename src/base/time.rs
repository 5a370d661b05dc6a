//! Simulated time.

use std::fmt;
use std::ops::{Add, AddAssign, Sub, SubAssign};

/// Simulated time: the number of warp instructions issued since the first launch.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
#[repr(transparent)]
pub struct Tick(pub u64);

impl Tick {
    /// The start of the first launch.
    pub const START: Self = Self(0);
    /// Later than every event.
    pub const MAX: Self = Self(u64::MAX);

    /// `ticks` later, or [`Tick::MAX`].
    #[inline(always)]
    pub const fn saturating_add(self, ticks: u64) -> Self {
        Self(self.0.saturating_add(ticks))
    }

    /// `ticks` earlier, or the start.
    #[inline(always)]
    pub const fn saturating_sub(self, ticks: u64) -> Self {
        Self(self.0.saturating_sub(ticks))
    }

    /// `ticks` earlier; `None` if that is before the start.
    pub fn checked_sub(self, ticks: u64) -> Option<Self> {
        self.0.checked_sub(ticks).map(Self)
    }

    /// Ticks since `earlier`, or 0 if that is later.
    #[inline(always)]
    pub const fn saturating_since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// Ticks between two times in either order.
    pub const fn abs_diff(self, other: Self) -> u64 {
        self.0.abs_diff(other.0)
    }
}

impl From<Tick> for u64 {
    fn from(time: Tick) -> Self {
        time.0
    }
}

impl fmt::Display for Tick {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for Tick {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl Add<u64> for Tick {
    type Output = Self;

    #[inline(always)]
    fn add(self, ticks: u64) -> Self {
        Self(self.0 + ticks)
    }
}

impl Sub<u64> for Tick {
    type Output = Self;

    #[inline(always)]
    fn sub(self, ticks: u64) -> Self {
        Self(self.0 - ticks)
    }
}

/// The ticks from one time to a later one.
impl Sub for Tick {
    type Output = u64;

    #[inline(always)]
    fn sub(self, earlier: Self) -> u64 {
        self.0 - earlier.0
    }
}

impl AddAssign<u64> for Tick {
    #[inline(always)]
    fn add_assign(&mut self, ticks: u64) {
        self.0 += ticks;
    }
}

impl SubAssign<u64> for Tick {
    #[inline(always)]
    fn sub_assign(&mut self, ticks: u64) {
        self.0 -= ticks;
    }
}

#[cfg(test)]
mod tests {
    use super::Tick;

    #[test]
    fn times_and_counts_differ() {
        let (early, late) = (Tick(5), Tick(5) + 7);
        assert_eq!((late - early, late - 2, early.saturating_since(late), early.abs_diff(late)), (7, Tick(10), 0, 7));
        assert_eq!((early.checked_sub(6), early.saturating_sub(6), Tick::MAX.saturating_add(1)), (None, Tick::START, Tick::MAX));
        assert_eq!(format!("{late:>4} {early:?}"), "  12 5");
    }
}
