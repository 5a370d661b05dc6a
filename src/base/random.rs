//! Numbers drawn from a seed.

/// The generator SplitMix64.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Random(u64);

impl Random {
    /// The generator that starts from `seed`.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Draws the next number, below `bound`.
    pub fn draw(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound.max(1)
    }

    /// Its state, for a digest.
    pub fn state(&self) -> u64 {
        self.0
    }
}
