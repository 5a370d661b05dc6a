//! The focused thread, and filters of threads.
//!
//! Both are written as in cuda-gdb: `block 1,0,0 warp 2 lane 0-7`, `block (1,0,0) thread (32,0,0)`. A
//! [`FocusChange`] moves the focus and keeps the coordinates that it does not name; a [`ThreadFilter`] limits a listing.

mod words;

use std::fmt;

use serde::{Deserialize, Serialize};

use super::roles::{NO_ROLES, Roles};
use crate::machine::{LANES, LaneMask, Machine};

pub use words::FocusError;

/// The focused thread, as block, warp and lane, and the selected call frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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

impl Focus {
    /// The first thread of a launch.
    pub fn first(machine: &Machine) -> Self {
        Self { block: machine.block_index(0), ..Self::default() }
    }
}

/// Threads that a breakpoint, a watchpoint or a listing is limited to. Absent fields do not limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadFilter {
    /// One block.
    pub block: Option<[u32; 3]>,
    /// One warp of each block.
    pub warp: Option<u32>,
    /// Several warps of each block, by their numbers: those of a role. A block has at most 32.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warps: Option<LaneMask>,
    /// Lanes of each warp.
    pub lanes: Option<LaneMask>,
}

/// A move of the focus: absent fields are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FocusChange {
    /// The block.
    pub block: Option<[u32; 3]>,
    /// The warp.
    pub warp: Option<u32>,
    /// The lane.
    pub lane: Option<u32>,
}

/// The extents of a launch, against which thread coordinates are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extents {
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z.
    pub block: [u32; 3],
    /// Blocks of a cluster in x, y and z.
    pub cluster: [u32; 3],
}

impl Extents {
    /// The extents of a machine's launch.
    pub fn of(machine: &Machine) -> Self {
        let config = machine.config();
        Self { grid: config.grid, block: config.block, cluster: config.cluster }
    }

    /// Warps of a block.
    pub fn warps(&self) -> u32 {
        self.threads().div_ceil(LANES as u32)
    }

    /// The index of block number `number` in order of launch; none if the grid has fewer.
    pub fn block_at(&self, number: u64) -> Option<[u32; 3]> {
        let [x, y, z] = self.grid.map(|extent| u64::from(extent.max(1)));
        (number / x / y < z).then_some([(number % x) as u32, (number / x % y) as u32, (number / x / y) as u32])
    }

    /// Threads of a block.
    pub fn threads(&self) -> u32 {
        self.block.iter().product()
    }
}

impl ThreadFilter {
    /// The lanes of a warp that pass.
    pub fn lanes_of(&self, block: [u32; 3], warp: u32) -> LaneMask {
        let is_of_warps = self.warps.is_none_or(|warps| warp < LANES as u32 && warps.contains(warp as usize));
        let passes = self.block.is_none_or(|wanted| wanted == block) && self.warp.is_none_or(|wanted| wanted == warp) && is_of_warps;
        if passes { self.lanes.unwrap_or(LaneMask::ALL) } else { LaneMask::NONE }
    }

    /// A representative of the threads that pass: absent fields are those of `focus`, and of several lanes of `among` it is the focused
    /// one, otherwise the lowest.
    pub fn representative(&self, focus: &Focus, among: LaneMask) -> Focus {
        let (block, warp) = (self.block.unwrap_or(focus.block), self.representative_warp(focus));
        let lanes = self.lanes.unwrap_or(LaneMask::ALL) & among;
        let lane = if lanes.intersects(focus.lane_mask()) { focus.lane } else { lanes.first() as u32 };
        let moved = (block, warp, lane) != (focus.block, focus.warp, focus.lane);
        Focus { block, warp, lane, frame: if moved { 0 } else { focus.frame } }
    }

    /// The named warp; of several the focused one, otherwise the lowest; the focused one if none is named.
    pub fn representative_warp(&self, focus: &Focus) -> u32 {
        let of_several = |warps: LaneMask| match warps.contains(focus.warp as usize % LANES) {
            true => focus.warp,
            false => warps.first() as u32,
        };
        self.warp.or(self.warps.map(of_several)).unwrap_or(focus.warp)
    }

    /// True if no warp and no lane is named.
    pub fn is_of_whole_blocks(&self) -> bool {
        self.warp.is_none() && self.warps.is_none() && self.lanes.is_none()
    }

    /// The filter that passes one warp.
    pub fn of_warp(focus: &Focus) -> Self {
        Self { warp: Some(focus.warp), ..Self::of_block(focus) }
    }

    /// The filter that passes one block.
    pub fn of_block(focus: &Focus) -> Self {
        Self { block: Some(focus.block), ..Self::default() }
    }

    /// Reads words such as `block 1,0,0 warp 2 lane 0-7`, `thread 33,0,0` or `producer`, one of the `roles`.
    ///
    /// # Errors
    /// A word is unknown, or the launch has no such thread.
    pub fn parse(words: &str, extents: &Extents, roles: &Roles) -> Result<Self, FocusError> {
        words::filter(words, extents, roles)
    }
}

impl FocusChange {
    /// Reads words such as `block 1,0,0`, `lane 3` or `block (1,0,0) thread (32,0,0)`. `focus` supplies the warp that is not
    /// named.
    ///
    /// # Errors
    /// A word is unknown, or the launch has no such thread.
    pub fn parse(words: &str, extents: &Extents, focus: &Focus) -> Result<Self, FocusError> {
        words::change(words, extents, focus)
    }

    /// The focus after the change. A change of thread selects its innermost frame. A lane that the new warp does not
    /// have is replaced by the warp's last one.
    pub fn apply(&self, focus: Focus, extents: &Extents) -> Focus {
        let block = self.block.unwrap_or(focus.block);
        let warp = self.warp.unwrap_or(focus.warp);
        let lanes = extents.threads().saturating_sub(warp.saturating_mul(LANES as u32)).clamp(1, LANES as u32);
        let lane = self.lane.unwrap_or(focus.lane).min(lanes - 1);
        let moved = (block, warp, lane) != (focus.block, focus.warp, focus.lane);
        Focus { block, warp, lane, frame: if moved { 0 } else { focus.frame } }
    }
}

impl Focus {
    /// The lane, as a mask.
    pub fn lane_mask(&self) -> LaneMask {
        LaneMask::of((self.lane % LANES as u32) as usize)
    }

    /// The focus on one of these lanes: unchanged if it is on one of them, otherwise on the lowest.
    #[must_use]
    pub fn among(self, block: [u32; 3], warp: u32, lanes: LaneMask) -> Self {
        let stays = (self.block, self.warp) == (block, warp) && lanes.intersects(self.lane_mask());
        let lane = if stays { self.lane } else { lanes.first() as u32 };
        Self { block, warp, lane, frame: 0 }
    }
}

impl Focus {
    /// `block 1,0,0 producer warp 0 lane 5`: as it is typed, with the role name of the warp.
    pub fn describe(&self, roles: &Roles) -> String {
        let [x, y, z] = self.block;
        let frame = if self.frame > 0 { format!(" frame {}", self.frame) } else { String::new() };
        format!("block {x},{y},{z} {} lane {}{frame}", roles.warp(self.warp), self.lane)
    }
}

impl fmt::Display for Focus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.describe(&NO_ROLES))
    }
}

impl fmt::Display for ThreadFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let block = self.block.map(|[x, y, z]| format!("block {x},{y},{z}"));
        let warp = self.warp.map(|warp| format!("warp {warp}"));
        let warps = self.warps.map(|warps| format!("warps {}", warps.list()));
        let lanes = self.lanes.map(|lanes| format!("lane {}", lanes.list()));
        let parts: Vec<String> = block.into_iter().chain(warp).chain(warps).chain(lanes).collect();
        f.write_str(&parts.join(" "))
    }
}
