//! What is known of the bytes of a region of memory.

use std::ops::Range;

use super::bits::Bytes;
use super::local::LocalBytes;
use super::undefined::UndefinedBytes;
use crate::base::WarpId;
use crate::machine::{LANES, LocalStart};
use crate::program::ParamStorage;

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

impl BlockBytes {
    /// The written bytes of the local memory of a warp.
    pub fn local_of(&mut self, warp: WarpId) -> &mut LocalBytes {
        if warp.index() >= self.local.len() {
            self.local.resize_with(warp.index() + 1, LocalBytes::default);
        }
        &mut self.local[warp.index()]
    }

    /// Lanes get local memory: nothing but the arguments of the call is defined there, though an earlier call may have written it.
    pub fn begin_local(&mut self, event: &LocalStart<'_>) {
        let LocalStart { point, lanes, start, end, params, .. } = *event;
        if let Some(undefined) = self.undefined_local.get_mut(point.warp.index()) {
            let key = |address: u32| LANES as u64 * u64::from(address);
            undefined.clear_where(key(start)..key(end), |key| lanes.contains(key as usize % LANES));
        }
        let local = self.local_of(point.warp);
        local.remove(lanes, start as usize..end as usize);
        for param in params {
            if let ParamStorage::Frame(offset) = param.storage {
                (0..param.bytes).for_each(|byte| local.add_byte(lanes, u64::from(start + offset + byte)));
            }
        }
    }
}
