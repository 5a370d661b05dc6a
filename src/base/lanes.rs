//! Lanes of a warp: sets of lanes, and arrays with one value for each lane.

use std::fmt;
use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Not};

/// Lanes of a warp.
pub const LANES: usize = 32;

/// A set of lanes.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
#[repr(transparent)]
pub struct LaneMask(u32);

/// One value for each lane.
pub type PerLane<T> = [T; LANES];

/// Lanes of a row: the lanes of a warp are four rows.
pub const ROW: usize = 8;

/// Rows of a warp.
pub const ROWS: usize = LANES / ROW;

/// How the addresses of the lanes of a warp follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneShape {
    /// All are the same.
    Same,
    /// The distance between neighbors, in each row; [`UNEVEN`] if it is not the same.
    Rows([u32; ROWS]),
}

/// The stride of a row whose lanes have different distances.
pub const UNEVEN: u32 = u32::MAX;

impl LaneMask {
    /// No lane.
    pub const NONE: Self = Self(0);
    /// All lanes.
    pub const ALL: Self = Self(u32::MAX);

    /// The set with lane `i` for bit `i` of a member mask, of a vote or of a predicate.
    #[inline(always)]
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// The mask as in a register: bit `i` for lane `i`.
    #[inline(always)]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// One lane; it must be below 32.
    #[inline(always)]
    pub const fn of(lane: usize) -> Self {
        Self(1 << lane)
    }

    /// All lanes or none.
    #[inline(always)]
    pub const fn all_if(condition: bool) -> Self {
        if condition { Self::ALL } else { Self::NONE }
    }

    /// The lanes below `count`; all of them from 32 on.
    pub const fn lowest(count: u32) -> Self {
        if count >= LANES as u32 { Self::ALL } else { Self((1 << count) - 1) }
    }

    /// The lanes for which `test` is true.
    #[inline(always)]
    pub fn from_fn(test: impl Fn(usize) -> bool) -> Self {
        let mut bits = 0;
        for lane in 0..LANES {
            bits |= u32::from(test(lane)) << lane;
        }
        Self(bits)
    }

    /// True if the lane, which must be below 32, is in the set.
    #[inline(always)]
    pub const fn contains(self, lane: usize) -> bool {
        self.0 & (1 << lane) != 0
    }

    /// True if all lanes of `other` are in the set.
    #[inline(always)]
    pub const fn contains_all(self, other: Self) -> bool {
        other.0 & !self.0 == 0
    }

    /// True if a lane is in both sets.
    #[inline(always)]
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// True if it has no lane.
    #[inline(always)]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The number of lanes.
    #[inline(always)]
    pub const fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// The lowest lane, or 0 for the empty set.
    #[inline(always)]
    pub const fn first(self) -> usize {
        self.0.trailing_zeros() as usize % LANES
    }

    /// The highest lane, or 31 for the empty set.
    #[inline(always)]
    pub const fn last(self) -> usize {
        31 - self.0.leading_zeros() as usize % LANES
    }

    /// The set without the lanes of `other`.
    #[inline(always)]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Its lanes, lowest first.
    #[inline(always)]
    pub fn iter(self) -> impl Iterator<Item = usize> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let lane = rest.trailing_zeros() as usize;
            rest &= rest.wrapping_sub(1);
            (lane < LANES).then_some(lane)
        })
    }

    /// The lanes of the set for which `test` is true.
    #[inline]
    pub fn filter(self, test: impl Fn(usize) -> bool) -> Self {
        self.iter().filter(|lane| test(*lane)).collect()
    }

    /// `0-3,7` for lanes 0, 1, 2, 3 and 7.
    pub fn list(self) -> String {
        let mut parts = Vec::new();
        let mut rest = self.0;
        while rest != 0 {
            let lane = rest.trailing_zeros();
            let run = (rest >> lane).trailing_ones();
            let last = lane + run - 1;
            parts.push(if run == 1 { lane.to_string() } else { format!("{lane}-{last}") });
            rest &= !Self::lowest(last + 1).0;
        }
        parts.join(",")
    }

    /// `all lanes`, `lane 3` or `lanes 0-3,7`.
    pub fn describe(self) -> String {
        match self.count() {
            32 => "all lanes".to_string(),
            1 => format!("lane {}", self.list()),
            _ => format!("lanes {}", self.list()),
        }
    }
}

impl fmt::Debug for LaneMask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:#010x}")
    }
}

impl fmt::LowerHex for LaneMask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::LowerHex::fmt(&self.0, f)
    }
}

impl FromIterator<usize> for LaneMask {
    #[inline(always)]
    fn from_iter<I: IntoIterator<Item = usize>>(lanes: I) -> Self {
        lanes.into_iter().fold(Self::NONE, |mask, lane| mask | Self::of(lane))
    }
}

impl BitAnd for LaneMask {
    type Output = Self;

    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl BitOr for LaneMask {
    type Output = Self;

    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitXor for LaneMask {
    type Output = Self;

    #[inline(always)]
    fn bitxor(self, other: Self) -> Self {
        Self(self.0 ^ other.0)
    }
}

impl Not for LaneMask {
    type Output = Self;

    #[inline(always)]
    fn not(self) -> Self {
        Self(!self.0)
    }
}

impl BitAndAssign for LaneMask {
    #[inline(always)]
    fn bitand_assign(&mut self, other: Self) {
        *self = *self & other;
    }
}

impl BitOrAssign for LaneMask {
    #[inline(always)]
    fn bitor_assign(&mut self, other: Self) {
        *self = *self | other;
    }
}

impl BitXorAssign for LaneMask {
    #[inline(always)]
    fn bitxor_assign(&mut self, other: Self) {
        *self = *self ^ other;
    }
}

/// A value of a register's bank.
pub trait Word: Copy {
    /// No bit.
    const NONE: Self;

    /// `new` if all bits of `taken` are set, `old` if none is.
    fn choose(taken: u32, new: Self, old: Self) -> Self;
}

impl Word for u32 {
    const NONE: Self = 0;

    #[inline(always)]
    fn choose(taken: u32, new: Self, old: Self) -> Self {
        new & taken | old & !taken
    }
}

impl Word for u64 {
    const NONE: Self = 0;

    #[inline(always)]
    fn choose(taken: u32, new: Self, old: Self) -> Self {
        let taken = i64::from(taken as i32) as u64;
        new & taken | old & !taken
    }
}

/// For each set of the lanes of a row, a word for each lane: all bits if the lane is in the set, otherwise none. From a table, the
/// compiler takes no word for a condition: stores of single lanes cost more than twenty ticks on some hosts.
static ROW_WORDS: [[u32; ROW]; 1 << ROW] = row_words();

const fn row_words() -> [[u32; ROW]; 1 << ROW] {
    let mut words = [[0; ROW]; 1 << ROW];
    let mut at = 0;
    while at < ROW << ROW {
        let (set, lane) = (at / ROW, at % ROW);
        words[set][lane] = if (set >> lane) & 1 == 1 { u32::MAX } else { 0 };
        at += 1;
    }
    words
}

/// Replaces the lanes of `mask` in `old` by those of `new`.
#[inline(always)]
pub fn blend<T: Word>(old: &mut PerLane<T>, new: &PerLane<T>, mask: LaneMask) {
    if mask == LaneMask::ALL {
        *old = *new;
        return;
    }
    let mut taken = [0; LANES];
    for (row, bits) in mask.bits().to_le_bytes().into_iter().enumerate() {
        taken[row * ROW..(row + 1) * ROW].copy_from_slice(&ROW_WORDS[bits as usize]);
    }
    for lane in 0..LANES {
        old[lane] = T::choose(taken[lane], new[lane], old[lane]);
    }
}

#[cfg(test)]
mod tests {
    use super::{LANES, LaneMask, PerLane, blend};

    #[test]
    fn lanes_are_listed_as_ranges() {
        assert_eq!(LaneMask::of(5).describe(), "lane 5");
        assert_eq!(LaneMask::from_bits(0xf000_000f).describe(), "lanes 0-3,28-31");
        assert_eq!(LaneMask::from_bits(0b10110).describe(), "lanes 1-2,4");
        assert_eq!(LaneMask::ALL.describe(), "all lanes");
        assert_eq!(LaneMask::NONE.list(), "");
    }

    #[test]
    fn lanes_of_a_mask_are_replaced() {
        for mask in [0, 1, 0x8000_0001, 0xf0f0_1234, u32::MAX].map(LaneMask::from_bits) {
            let (mut narrow, mut wide) = ([0xdead_beef_u32; LANES], [0xdead_beef_0123_4567_u64; LANES]);
            let news: PerLane<u64> = std::array::from_fn(|lane| (lane as u64 + 1) << 33 | lane as u64);
            blend(&mut narrow, &news.map(|new| new as u32), mask);
            blend(&mut wide, &news, mask);
            for lane in 0..LANES {
                assert_eq!(narrow[lane], if mask.contains(lane) { lane as u32 } else { 0xdead_beef }, "{mask:?} {lane}");
                assert_eq!(wide[lane], if mask.contains(lane) { news[lane] } else { 0xdead_beef_0123_4567 }, "{mask:?} {lane}");
            }
        }
    }

    #[test]
    fn a_set_of_lanes_is_a_set() {
        let (low, odd) = (LaneMask::lowest(4), LaneMask::from_fn(|lane| lane % 2 == 1));
        assert_eq!((low & odd).iter().collect::<Vec<_>>(), [1, 3]);
        assert_eq!((low.without(odd).bits(), (low ^ odd).count(), (low | odd).first()), (0b101, 16, 0));
        assert!(low.contains(3) && !low.contains(4) && low.intersects(odd) && !low.contains_all(odd) && odd.contains_all(low & odd));
        assert_eq!(odd.filter(|lane| lane < 6), [1, 3, 5].into_iter().collect());
        assert!((low & !low).is_empty() && LaneMask::lowest(40) == !LaneMask::NONE && LaneMask::all_if(false) == LaneMask::NONE);
    }
}
