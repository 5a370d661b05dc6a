//! What a tensor copy is asked for.

use crate::isa::{AtomicFn, TensorMode};
use crate::program::RANK_MAX;

/// Shared memory of a tensor copy starts at a multiple of this.
pub(super) const SHARED_ALIGNMENT: u64 = 128;

/// What an instruction asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Which way the bytes go.
    pub direction: Direction,
    /// How the instruction walks.
    pub mode: TensorMode,
    /// How many coordinates it names.
    pub rank: usize,
    /// Where the box starts, innermost first.
    pub coordinates: [i32; RANK_MAX],
    /// Added to the spatial coordinates of every pixel, in im2col mode.
    pub offsets: [u16; RANK_MAX - 2],
    /// Where it lies in shared memory, or will.
    pub shared: u64,
}

/// Which way the bytes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From global memory to shared.
    Load,
    /// From shared memory to global.
    Store,
    /// The same, combined with what is there.
    Reduce(AtomicFn),
}
