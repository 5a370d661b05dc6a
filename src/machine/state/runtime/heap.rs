//! The heap of `malloc` and `free` (CUDA C++ Programming Guide, "Dynamic Global Memory Allocation").
//!
//! Heap blocks are allocations in global memory. An address is never reused, so that a use after free is detected.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::machine::state::issue_point::IssuePoint;
use crate::machine::state::memory::Region;
use crate::program::map;

/// The default size of the heap in bytes, headers included.
const HEAP_BYTES: u64 = 8 << 20;

/// Bytes of a block's header, and the alignment of block addresses.
const HEADER: u64 = 16;

/// The allocated and the freed blocks of the heap.
#[derive(Clone, Hash)]
pub struct Heap {
    next: u64,
    start: u64,
    used: u64,
    freed: Arc<Vec<Freed>>,
}

/// A freed block.
#[derive(Clone, Copy)]
struct Freed {
    start: u64,
    bytes: u64,
    by: IssuePoint,
}

/// An address of no allocated block of the heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAllocated {
    /// The instruction that freed the block at the address, if there was one.
    pub freed: Option<IssuePoint>,
}

impl Heap {
    pub(super) fn new(start: u64) -> Self {
        Self { next: start, start, used: 0, freed: Arc::new(Vec::new()) }
    }

    /// Allocates a block of `bytes` bytes with the name `name`; 0 if the heap is exhausted.
    pub fn allocate(&mut self, global: &mut Region, name: &str, bytes: u64) -> u64 {
        let size = bytes.max(1).checked_next_multiple_of(HEADER).and_then(|size| size.checked_add(HEADER));
        let Some(size) = size.filter(|size| self.used + size <= HEAP_BYTES && self.next + size <= self.start + map::HEAP_WINDOW) else {
            return 0;
        };
        let address = self.next + HEADER;
        global.insert(name, address, bytes, 0, 0);
        self.next += size;
        self.used += size;
        assert!(self.used <= self.next - self.start, "more is in use than was given");
        address
    }

    /// Checks that `address` is a block that can be freed.
    ///
    /// # Errors
    /// If it is no allocated block.
    pub fn check(&self, global: &Region, address: u64) -> Result<(), NotAllocated> {
        let in_heap = (self.start..self.next).contains(&address);
        match global.find(address) {
            Some(block) if in_heap && block.base == address => Ok(()),
            _ => Err(NotAllocated { freed: self.freed_by(address) }),
        }
    }

    /// Frees the block at `address`, if it is one.
    pub fn free(&mut self, global: &mut Region, address: u64, by: IssuePoint) {
        if self.check(global, address).is_err() {
            return;
        }
        if let Some(bytes) = global.remove(address) {
            self.used = self.used.saturating_sub(bytes.max(1).next_multiple_of(HEADER) + HEADER);
            Arc::make_mut(&mut self.freed).push(Freed { start: address, bytes, by });
        }
    }

    /// The instruction that freed the block that contained `address`.
    pub fn freed_by(&self, address: u64) -> Option<IssuePoint> {
        self.freed.iter().find(|freed| (freed.start..freed.start + freed.bytes.max(1)).contains(&address)).map(|freed| freed.by)
    }
}

impl Hash for Freed {
    /// Omits the instruction, which only messages use.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Self { start, bytes, by: _ } = self;
        (start, bytes).hash(state);
    }
}
