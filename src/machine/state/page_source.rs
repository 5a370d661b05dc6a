//! Memory that lies outside of the device: taken page by page when a kernel first touches it.

use std::ops::Range;

use crate::isa::Space;
use crate::machine::state::machine::Machine;
use crate::machine::state::memory::PAGE_BYTES;
use crate::machine::state::trap::{Trap, TrapKind};

/// Memory that pages are taken from.
pub trait PageSource {
    /// The addresses around `address` that hold memory; none where there is none. The start is a multiple of 16.
    fn extent(&mut self, address: u64) -> Option<Range<u64>>;

    /// What the page at `address` holds, a multiple of [`PAGE_BYTES`] after the start of its extent; none where it cannot be read. Bytes
    /// past the end of the extent do not count.
    fn page(&mut self, address: u64) -> Option<Box<[u8; PAGE_BYTES]>>;
}

impl Machine {
    /// Takes what an access lacked from `source`: after a trap, which changes nothing, the run can go on. False where the trap is about
    /// something else, or nothing is there.
    pub fn take_page(&mut self, trap: &Trap, source: &mut dyn PageSource) -> bool {
        let is_global = |space: Space| matches!(space, Space::Global | Space::Generic);
        let Some(access) = trap.access.filter(|access| is_global(access.space)) else { return false };
        let address = access.address;
        if trap.kind == TrapKind::OutOfBounds {
            let extent = source.extent(address).filter(|extent| extent.contains(&address));
            return extent.is_some_and(|extent| self.device.adopt(OUTSIDE, &extent));
        }
        if trap.kind != TrapKind::NotCaptured {
            return false;
        }
        let Some(around) = self.device.around(address) else { return false };
        let page = address - (address - around.start) % PAGE_BYTES as u64;
        source.page(page).is_some_and(|contents| self.device.supply(page, &contents))
    }
}

/// What memory of a [`PageSource`] is called.
pub const OUTSIDE: &str = "host memory";
