//! Which thread the user looks at, and which threads a question is about.

use crate::machine::{ALL_LANES, LaneMask};

/// The thread the user looks at, as block, warp and lane; the selected call frame is part of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Focus {
    /// Block index.
    pub block: [u32; 3],
    /// Warp of the block.
    pub warp: u32,
    /// Lane of the warp.
    pub lane: u32,
    /// Call frame, 0 for the innermost.
    pub frame: u32,
}

/// Threads that a breakpoint, a watchpoint or a listing is limited to. What is absent is not limited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadFilter {
    /// One block.
    pub block: Option<[u32; 3]>,
    /// One warp of each block.
    pub warp: Option<u32>,
    /// Lanes of each warp.
    pub lanes: Option<LaneMask>,
}

impl ThreadFilter {
    /// The lanes of a warp that pass.
    pub fn lanes_of(&self, block: [u32; 3], warp: u32) -> LaneMask {
        let passes = self.block.is_none_or(|wanted| wanted == block) && self.warp.is_none_or(|wanted| wanted == warp);
        if passes { self.lanes.unwrap_or(ALL_LANES) } else { 0 }
    }
}
