//! Warp numbers within a block.

use super::Id;

/// The number of a warp in its block, below 32.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub struct WarpId(u8);

impl WarpId {
    /// Maximum of warps in a block.
    pub const COUNT: u32 = 32;

    /// The warp of this number.
    ///
    /// # Panics
    /// If no block has that many warps.
    #[inline(always)]
    pub const fn new(number: u32) -> Self {
        assert!(number < Self::COUNT, "a block has 32 warps at most");
        Self(number as u8)
    }

    /// Its number.
    #[inline(always)]
    pub const fn number(self) -> u32 {
        self.0 as u32
    }

    /// Its number, as an index into a list with an entry for each warp of a block.
    #[inline(always)]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl Id for WarpId {
    #[inline(always)]
    fn position(self) -> usize {
        usize::from(self.0)
    }

    #[inline(always)]
    fn at(position: usize) -> Self {
        assert!(position < Self::COUNT as usize, "a block has 32 warps at most");
        Self(position as u8)
    }
}

impl std::fmt::Debug for WarpId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "warp{}", self.0)
    }
}

impl std::fmt::Display for WarpId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(&self.0, f)
    }
}

impl std::hash::Hash for WarpId {
    /// Hashes 32 bits, as in recorded digests, so that these stay comparable.
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.number().hash(state);
    }
}
