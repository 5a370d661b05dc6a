//! The part of the memory that is compared after a launch of which only some blocks run: what these blocks have stored.

use std::ops::Range;

use serde::Serialize;

use crate::debug::run::{Written, is_partial};
use crate::launch::{Case, Compare, PlannedBuffer, PlannedLaunch, whole_elements};

/// The part of the expected memory that was compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ComparedPart {
    /// Bytes that were compared.
    pub bytes: u64,
    /// Bytes of the expected memory that were not, since atomics update them: other blocks may do so, too.
    pub updated_bytes: u64,
    /// Blocks that ran.
    pub blocks: u64,
    /// Blocks of their launches.
    pub grid_blocks: u64,
}

impl ComparedPart {
    /// The part of the buffers of `case`, at `addresses`, that `written` allows to compare.
    pub fn new(case: &Case, addresses: &[u64], written: &Written) -> Self {
        let partial = || case.launches.iter().filter(|launch| is_partial(launch));
        let blocks = partial().map(|launch| launch.blocks.len() as u64).sum();
        let mut part = Self { blocks, grid_blocks: partial().map(PlannedLaunch::block_count).sum(), ..Self::default() };
        for (buffer, address) in case.buffers.iter().zip(addresses) {
            let Some(expect) = buffer.expect.as_ref().filter(|expect| expect.compare == Compare::Index) else { continue };
            let stored = stored_of(buffer, *address, written);
            part.bytes += whole_elements(buffer.element, &stored).map(|range| expect.contents.known_bytes(&range)).sum::<u64>();
            part.updated_bytes += written.updated_bytes(&(*address..address + buffer.bytes));
        }
        part
    }
}

/// The byte ranges of the buffer at `address` that were stored.
pub(super) fn stored_of(buffer: &PlannedBuffer, address: u64, written: &Written) -> Vec<Range<u64>> {
    let stored = written.stored(&(address..address + buffer.bytes));
    stored.into_iter().map(|range| range.start - address..range.end - address).collect()
}
