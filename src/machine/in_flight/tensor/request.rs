//! The request of a tensor copy.

use crate::isa::{AtomicFn, TensorMode};
use crate::program::RANK_MAX;

/// The alignment of the shared memory address of a tensor copy.
pub(super) const SHARED_ALIGNMENT: u64 = 128;

/// A tensor copy, as the instruction specifies it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The direction of the copy.
    pub direction: Direction,
    /// The mode: tiled, or im2col.
    pub mode: TensorMode,
    /// The number of coordinates.
    pub rank: usize,
    /// The start of the box, innermost dimension first.
    pub coordinates: [i32; RANK_MAX],
    /// Added to the spatial coordinates of every pixel, in im2col mode.
    pub offsets: [u16; RANK_MAX - 2],
    /// The address in shared memory.
    pub shared: u64,
}

/// The direction of the copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From global memory to shared.
    Load,
    /// From shared memory to global.
    Store,
    /// From shared memory to global, with a reduction.
    Reduce(AtomicFn),
}
