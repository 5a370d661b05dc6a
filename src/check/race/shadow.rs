//! Shadow memory: for every unit of memory that was accessed, its last writers and its readers since.
//!
//! A page has one entry for 512 bytes, until an access to less of them, or one that comes after the others for some of its bytes only,
//! splits it into smaller units, down to a byte.

use std::collections::BTreeMap;

use super::access::{AccessRef, Sweep};
use crate::machine::{FastPath, FastPaths};

/// Bytes of memory whose shadow is one page.
const PAGE: u64 = 4096;

/// The size of the largest units, as a power of two.
const LARGEST: u8 = 9;

/// The size of the units in which accesses are compared one by one, as a power of two: mostly that of an element.
const WORD: u8 = 2;

/// The same in bytes.
pub(super) const WORD_BYTES: u64 = 1 << WORD;

/// The number of pages in the lookup cache.
const CACHE: usize = 16;

/// The shadow of one unit of memory: its last writes and reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct Entry {
    /// The latest writes: those that nothing orders before a newer one.
    pub writes: AccessRef,
    /// Reads since.
    pub reads: AccessRef,
}

impl Entry {
    /// An entry that no unit of memory has.
    pub const NEVER: Self = Self { writes: AccessRef(u32::MAX), reads: AccessRef(u32::MAX) };
}

#[derive(Clone, Debug)]
struct Page {
    /// Bytes of a unit, as a power of two, [`LARGEST`] at most.
    unit: u8,
    entries: Vec<Entry>,
}

/// The shadow of global memory, or of the shared memory of a block.
#[derive(Clone, Debug)]
pub(super) struct Shadow {
    /// The size of the largest units, as a power of two.
    largest: u8,
    pages: Vec<Page>,
    index: BTreeMap<u64, u32>,
    cache: [(u64, u32); CACHE],
}

impl Shadow {
    /// A shadow without pages, which judges accesses in large units or word by word.
    pub fn new(fast_paths: FastPaths) -> Self {
        let largest = if fast_paths.has(FastPath::LargeUnits) { LARGEST } else { WORD };
        Self { largest, pages: Vec::new(), index: BTreeMap::new(), cache: Default::default() }
    }

    /// Starts over without accesses, in the memory that there is.
    pub fn restart(&mut self) {
        for page in &mut self.pages {
            page.unit = self.largest;
            page.entries.clear();
            page.entries.resize(PAGE as usize >> self.largest, Entry::default());
        }
    }

    /// True if the bytes from `address` on lie in one page.
    pub fn is_in_page(&self, address: u64, bytes: u64) -> bool {
        address % PAGE + bytes <= PAGE
    }

    /// The entries of the bytes from `address` on, up to `bytes` but not beyond the page; and the size of a unit.
    pub fn units(&mut self, address: u64, bytes: u64) -> (&mut [Entry], u64) {
        self.units_up_to(address, bytes, LARGEST)
    }

    /// The same, in units of four bytes at most.
    pub fn words(&mut self, address: u64, bytes: u64) -> (&mut [Entry], u64) {
        self.units_up_to(address, bytes, WORD)
    }

    fn units_up_to(&mut self, address: u64, bytes: u64, largest: u8) -> (&mut [Entry], u64) {
        assert!(bytes > 0, "there are units of some bytes");
        let offset = address % PAGE;
        let end = (offset + bytes).min(PAGE);
        let page = self.page(address / PAGE);
        let fits = ((offset | end).trailing_zeros() as u8).min(largest);
        page.split(fits);
        let unit = page.unit;
        debug_assert!(offset.is_multiple_of(1 << unit) && end.is_multiple_of(1 << unit), "units begin and end with the access");
        (&mut page.entries[(offset >> unit) as usize..(end >> unit) as usize], 1 << unit)
    }

    /// The entries of the units that the `bytes` bytes from `address` on lie in, up to the end of the page; and these bytes.
    pub fn around(&mut self, address: u64, bytes: u64) -> (&[Entry], u64) {
        assert!(bytes > 0, "there are units of some bytes");
        let offset = address % PAGE;
        let end = (offset + bytes).min(PAGE);
        let page = self.page(address / PAGE);
        (&page.entries[(offset >> page.unit) as usize..=((end - 1) >> page.unit) as usize], end - offset)
    }

    fn page(&mut self, number: u64) -> &mut Page {
        let slot = number as usize % CACHE;
        // The cache holds numbers plus one, so that zero means nothing.
        if self.cache[slot].0 != number + 1 {
            let (pages, largest) = (&mut self.pages, self.largest);
            let index = *self.index.entry(number).or_insert_with(|| {
                pages.push(Page { unit: largest, entries: vec![Entry::default(); PAGE as usize >> largest] });
                pages.len() as u32 - 1
            });
            self.cache[slot] = (number + 1, index);
        }
        &mut self.pages[self.cache[slot].1 as usize]
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.pages.iter().map(|page| page.entries.len()).sum()
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> usize {
        self.len() * size_of::<Entry>()
    }

    /// Bytes of memory in the pages that were accessed.
    pub fn covered(&self) -> usize {
        self.pages.len() * PAGE as usize
    }

    /// The entries of all memory that was accessed, by address.
    pub fn entries(&self) -> impl Iterator<Item = (u64, Entry)> {
        self.index.iter().flat_map(|(number, index)| {
            let page = &self.pages[*index as usize];
            page.entries.iter().enumerate().map(move |(unit, entry)| (number * PAGE + ((unit as u64) << page.unit), *entry))
        })
    }

    /// Marks the accesses that it refers to.
    pub fn mark(&self, sweep: &mut Sweep<'_>) {
        let mut last = Entry::default();
        for page in &self.pages {
            for entry in &page.entries {
                // Adjacent entries are mostly equal.
                if *entry != last {
                    last = *entry;
                    sweep.mark(last.writes);
                    sweep.mark(last.reads);
                }
            }
        }
    }
}

impl Page {
    /// Splits its units to at most `1 << unit` bytes.
    fn split(&mut self, unit: u8) {
        if unit < self.unit {
            let times = 1 << (self.unit - unit);
            let count = self.entries.len();
            self.entries.resize(count * times, Entry::default());
            // From the last one on: its parts are where no other one is.
            for index in (0..count).rev() {
                let entry = self.entries[index];
                self.entries[index * times..(index + 1) * times].fill(entry);
            }
            self.unit = unit;
        }
        debug_assert!(self.entries.len() << self.unit == PAGE as usize, "the entries cover the page");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_narrow_access_splits_the_page() {
        let mut shadow = Shadow::new(FastPaths::ALL);
        let word = Entry { writes: AccessRef(7), reads: AccessRef(0) };
        assert_eq!((shadow.units(512, 512).0.len(), shadow.len()), (1, 8));
        shadow.units(8, 8).0.fill(word);
        assert_eq!((shadow.units(0, 16).0.len(), shadow.len()), (2, 512));
        assert_eq!((shadow.words(8, 4).0[0], shadow.len()), (word, 1024));
        let (entries, unit) = shadow.units(9, 1);
        assert_eq!((entries.len(), unit, entries[0]), (1, 1, word));
        entries[0].reads = AccessRef(3);
        assert_eq!(shadow.units(8, 4).0.iter().map(|entry| entry.reads.0).collect::<Vec<_>>(), [0, 3, 0, 0]);
        assert_eq!(shadow.units(16, 4).0[0], Entry::default());
    }

    #[test]
    fn a_range_ends_with_its_page() {
        let mut shadow = Shadow::new(FastPaths::ALL);
        assert_eq!(shadow.units(4096 - 8, 64).0.len(), 1);
        assert_eq!((shadow.units(4096, 56).0.len(), shadow.len()), (7, 1024));
    }

    #[test]
    fn a_look_at_a_range_splits_nothing() {
        let mut shadow = Shadow::new(FastPaths::ALL);
        shadow.units(1024, 512).0[0].writes = AccessRef(2);
        let (entries, bytes) = shadow.around(1020, 8);
        assert_eq!((entries.iter().map(|entry| entry.writes.0).collect::<Vec<_>>(), bytes), (vec![0, 2], 8));
        assert_eq!((shadow.around(4090, 8).1, shadow.len()), (6, 8));
    }
}
