//! Memory outside of the device, such as that of the host: fetched page by page at the first access of a kernel.

use std::ops::Range;

use crate::isa::Space;
use crate::machine::state::machine::Machine;
use crate::machine::state::memory::PAGE_BYTES;
use crate::machine::state::trap::{Trap, TrapKind};

/// Memory from which pages are fetched.
pub trait PageSource {
    /// The mapped address range around `address`; none if nothing is mapped.
    fn extent(&mut self, address: u64) -> Option<Range<u64>>;

    /// The contents of the page at `address`, a multiple of [`PAGE_BYTES`] after the multiple of 16 at or below the start of its extent;
    /// none if it cannot be read. Bytes outside of the extent are ignored.
    fn page(&mut self, address: u64) -> Option<Box<[u8; PAGE_BYTES]>>;
}

impl Machine {
    /// Fetches the memory that caused `trap` from `source`. The run can continue then, since a trap changes nothing. False if the trap has
    /// another cause, or `source` has no such memory.
    pub fn fetch_page(&mut self, trap: &Trap, source: &mut dyn PageSource) -> bool {
        let is_global = |space: Space| matches!(space, Space::Global | Space::Generic);
        let Some(access) = trap.access.filter(|access| is_global(access.space)) else { return false };
        let address = access.address;
        if trap.kind == TrapKind::OutOfBounds {
            let extent = source.extent(address).filter(|extent| extent.contains(&address));
            return extent.is_some_and(|extent| self.device.map_unknown(HOST_MEMORY, &extent));
        }
        if trap.kind != TrapKind::NotCaptured {
            return false;
        }
        let Some(page) = self.device.page_address(address) else { return false };
        source.page(page).is_some_and(|contents| self.device.fill_page(address, &contents))
    }
}

/// The allocation name of memory from a [`PageSource`].
pub const HOST_MEMORY: &str = "host memory";
