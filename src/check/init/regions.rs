//! What is known of the bytes of a region of memory.

use std::ops::Range;

use super::bits::Bytes;
use super::local::LocalBytes;
use super::undefined::UndefinedBytes;

/// The lifetime of a stored value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lifetime {
    /// It ends with the launch.
    Launch,
    /// It outlives the launch.
    Output,
    /// It outlives the launch in a buffer that is not compared although others are.
    UncomparedOutput,
}

/// A region of global memory that was uninitialized.
#[derive(Clone)]
pub(super) struct UndefinedRegion {
    /// Its addresses.
    pub range: Range<u64>,
    /// The bytes written with defined values, from its start on.
    pub written: Bytes,
    /// The bytes written with undefined values, by address.
    pub undefined: UndefinedBytes,
}

/// The written bytes of a block's shared memory and its threads' local memory.
#[derive(Clone, Default)]
pub(super) struct BlockBytes {
    /// The block, in order of launch.
    pub number: u64,
    pub shared: Bytes,
    /// The bytes of shared memory written with undefined values.
    pub undefined: UndefinedBytes,
    /// The written bytes of local memory, by warp.
    pub local: Vec<LocalBytes>,
    /// The bytes of local memory written with undefined values, by warp: byte b of lane l has the index 32 b + l.
    pub undefined_local: Vec<UndefinedBytes>,
}
