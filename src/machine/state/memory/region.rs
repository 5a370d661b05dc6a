//! Allocations in an address space, separated by unmapped bytes.

use std::ops::Range;
use std::sync::Arc as Shared;

use triomphe::Arc;

use super::Pages;
use crate::program::map::overlap;

/// The size from which on accesses may use the padding.
const WORD_BYTES: u32 = 4;

/// Alignment of the addresses at which pages begin. A typed access has at most as many bytes and is aligned, so it never crosses a page.
pub const ORIGIN_ALIGN: u64 = 16;

/// An allocation of memory.
#[derive(Clone, Hash)]
pub struct Allocation {
    /// The name of its variable or buffer.
    pub name: Shared<str>,
    /// Address of its first byte.
    pub base: u64,
    /// The number of bytes.
    pub bytes: u64,
    /// The address at which its first page begins: the multiple of [`ORIGIN_ALIGN`] at or below `base`.
    pub origin: u64,
    /// The bytes from `origin` on: at most 15 that nothing accesses, its own, and padding for accesses of at least [`WORD_BYTES`] bytes
    /// (see [`Region::insert`]).
    pub pages: Pages,
}

impl Allocation {
    /// One past the address of its last byte.
    pub fn end(&self) -> u64 {
        self.base + self.bytes
    }

    /// One past the address of the last byte of its padding.
    #[inline(always)]
    pub fn padded_end(&self) -> u64 {
        self.origin.saturating_add(self.pages.len())
    }

    /// The position in `pages` of the byte at `address`, which is inside.
    #[inline(always)]
    pub fn offset(&self, address: u64) -> u64 {
        debug_assert!(address >= self.base, "an address before its memory");
        address - self.origin
    }

    /// True if `bytes` bytes at every address from `min` to `max` are inside. The padding counts for accesses of at least [`WORD_BYTES`]
    /// bytes.
    #[inline(always)]
    pub fn holds(&self, min: u64, max: u64, bytes: u32) -> bool {
        debug_assert!(min <= max, "the highest address is the lowest");
        let end = if bytes >= WORD_BYTES { self.padded_end() } else { self.end() };
        min >= self.base && max.saturating_add(u64::from(bytes)) <= end
    }

    /// The first unknown byte of the `bytes` bytes at every address from `min` to `max`, all of which are inside.
    #[inline(always)]
    pub fn first_unknown(&self, min: u64, max: u64, bytes: u64) -> Option<u64> {
        debug_assert!(min >= self.base && max >= min, "an access before its memory");
        let found = self.pages.first_unknown(self.offset(min), max.saturating_add(bytes) - min);
        found.map(|offset| self.origin + offset)
    }
}

/// A request that the address space cannot hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the address space has no room for {bytes} more bytes")]
pub struct OutOfMemory {
    /// The requested size.
    pub bytes: u64,
}

/// Allocations in order of address.
#[derive(Clone, Default, Hash)]
pub struct Region {
    allocations: Vec<Arc<Allocation>>,
}

impl Region {
    /// Adds an allocation at the free address `base`. `padding` bytes follow, for accesses of at least four bytes: some kernels store 8-bit
    /// results as 32-bit words, in memory that was allocated by the byte.
    pub fn insert(&mut self, name: &str, base: u64, bytes: u64, padding: u64, fill: u8) {
        let index = self.allocations.partition_point(|allocation| allocation.base < base);
        let origin = base - base % ORIGIN_ALIGN;
        let pages = Pages::new((base - origin).saturating_add(bytes).saturating_add(padding), fill);
        let before = index.checked_sub(1).map(|before| &self.allocations[before]);
        assert!(before.is_none_or(|before| before.padded_end() <= base), "an allocation in another one");
        let after = self.allocations.get(index);
        assert!(after.is_none_or(|after| origin.saturating_add(pages.len()) <= after.base), "an allocation over another one");
        self.allocations.insert(index, Arc::new(Allocation { name: name.into(), base, bytes, origin, pages }));
    }

    /// The first allocation with a byte in `range`.
    pub fn overlapping(&self, range: &Range<u64>) -> Option<&Allocation> {
        let overlaps = |allocation: &&Allocation| overlap(range, &(allocation.base..allocation.padded_end()));
        self.allocations().find(overlaps)
    }

    /// Removes the allocation that starts at `base`, and returns its size.
    pub fn remove(&mut self, base: u64) -> Option<u64> {
        let index = self.allocations.binary_search_by_key(&base, |allocation| allocation.base).ok()?;
        Some(self.allocations.remove(index).bytes)
    }

    /// All allocations in order of address.
    pub fn allocations(&self) -> impl DoubleEndedIterator<Item = &Allocation> {
        self.allocations.iter().map(|allocation| &**allocation)
    }

    /// The allocation that contains `address`.
    #[inline]
    pub fn find(&self, address: u64) -> Option<&Allocation> {
        self.index_of(address).map(|index| &*self.allocations[index])
    }

    /// The allocation that contains `address`, to write. Copied first if it is shared.
    #[inline]
    pub fn find_mut(&mut self, address: u64) -> Option<&mut Allocation> {
        self.index_of(address).map(|index| Arc::make_mut(&mut self.allocations[index]))
    }

    /// Takes the pages that `part` has written since both were clones of `start`. Returns the addresses of those that both have written,
    /// in order, which are not taken.
    pub fn take_written(&mut self, part: &Region, start: &Region) -> Vec<Range<u64>> {
        assert!(self.allocations.len() == part.allocations.len() && self.allocations.len() == start.allocations.len(), "clones");
        let mut written_by_both = Vec::new();
        for ((own, part), start) in self.allocations.iter_mut().zip(&part.allocations).zip(&start.allocations) {
            assert!(own.base == part.base && own.base == start.base, "clones have the same allocations");
            if !Arc::ptr_eq(part, start) {
                let Allocation { origin, pages, .. } = Arc::make_mut(own);
                let offsets = pages.take_written(&part.pages, &start.pages);
                written_by_both.extend(offsets.into_iter().map(|bytes| *origin + bytes.start..*origin + bytes.end));
            }
        }
        written_by_both
    }

    /// Bytes of the pages that were ever written.
    pub fn written_bytes(&self) -> u64 {
        self.allocations().map(|allocation| allocation.pages.written_bytes()).sum()
    }

    /// Bytes of the pages that are not shared with `other`, an earlier clone.
    pub fn unshared_bytes(&self, other: &Region) -> u64 {
        let unshared = |allocation: &Arc<Allocation>| match other.allocations.binary_search_by_key(&allocation.base, |other| other.base) {
            Ok(index) if Arc::ptr_eq(allocation, &other.allocations[index]) => 0,
            Ok(index) => allocation.pages.unshared_bytes(&other.allocations[index].pages),
            Err(_) => allocation.pages.unshared_bytes(&Pages::new(0, 0)),
        };
        self.allocations.iter().map(unshared).sum()
    }

    #[inline]
    fn index_of(&self, address: u64) -> Option<usize> {
        let index = self.allocations.partition_point(|allocation| allocation.base <= address).checked_sub(1)?;
        let allocation = &self.allocations[index];
        (address - allocation.origin < allocation.pages.len()).then_some(index)
    }
}
