//! Memory of the process around the library, on which kernels run as on their device: taken page by page when it is first touched, and
//! kept, so that other runs find it as it was.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{fmt, fs, io};

use crate::launch::file::{Init, Memory};
use crate::launch::pages;
use crate::machine::{Device, Machine, OUTSIDE, PAGE_BYTES, PageSource, Trap};
use crate::program::map::Map;

type Page = [u8; PAGE_BYTES];

/// Memory outside of the launch. Clones share it.
#[derive(Clone)]
pub struct HostMemory(Arc<Mutex<Taken>>);

/// What was taken so far.
struct Taken {
    source: Box<dyn PageSource + Send>,
    /// Where memory is, by start: registered, or found when a kernel touched it.
    extents: BTreeMap<u64, u64>,
    /// What registered memory is called, by start.
    names: BTreeMap<u64, String>,
    pages: BTreeMap<u64, Box<Page>>,
}

/// Memory with bounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostRange {
    /// Its addresses: they start at a multiple of 16, and there are some.
    pub addresses: Range<u64>,
    /// What it is called in findings.
    pub name: String,
}

/// Bytes that a kernel has left at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostWrite {
    /// The address of the first one.
    pub address: u64,
    /// The bytes.
    pub bytes: Vec<u8>,
}

impl HostMemory {
    /// The memory that `source` has. Each of the ranges `registered`, which are apart, is bounded; around them a kernel finds what the
    /// source finds.
    pub fn new(source: Box<dyn PageSource + Send>, registered: &[HostRange]) -> Self {
        let is_right = |range: &HostRange| range.addresses.start < range.addresses.end && range.addresses.start.is_multiple_of(16);
        assert!(registered.iter().all(is_right), "ranges that start at multiples of 16: {registered:?}");
        let extents = registered.iter().map(|HostRange { addresses, .. }| (addresses.start, addresses.end)).collect();
        let names = registered.iter().map(|range| (range.addresses.start, range.name.clone())).collect();
        Self(Arc::new(Mutex::new(Taken { source, extents, names, pages: BTreeMap::new() })))
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the device what is known so far.
    pub(super) fn install(&self, device: &mut Device) {
        let taken = self.taken();
        for (start, end) in &taken.extents {
            device.adopt(taken.names.get(start).map_or(OUTSIDE, String::as_str), &(*start..*end));
        }
        for (address, page) in &taken.pages {
            device.supply(*address, page);
        }
    }

    /// Takes what an access lacked; false where there is nothing to take, so that the trap stands.
    pub(in crate::debug) fn take(&self, machine: &mut Machine, trap: &Trap) -> bool {
        machine.take_page(trap, &mut *self.taken())
    }

    /// Writes the pages that were taken to files in `folder`; the memory of a launch file beside them.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn save(&self, folder: &Path) -> io::Result<Vec<Memory>> {
        let taken = self.taken();
        let mut all = Vec::new();
        for (number, region) in taken.regions().into_iter().enumerate() {
            let at = region.start;
            // What the run has not touched of a page stays 0: a run that begins here does not touch it either.
            let mut moved: BTreeMap<u64, Page> = BTreeMap::new();
            for (start, end) in taken.extents.range(region.clone()) {
                for (first, page) in taken.pages.range(start..end) {
                    for (byte, address) in page.iter().zip(*first..*end) {
                        let offset = (address - at) as usize;
                        moved.entry((offset / PAGE_BYTES * PAGE_BYTES) as u64).or_insert([0; PAGE_BYTES])[offset % PAGE_BYTES] = *byte;
                    }
                }
            }
            let file = format!("memory{number}.pages");
            fs::write(folder.join(&file), pages::encode(moved.iter().map(|(offset, page)| (*offset, page))))?;
            let name = taken.name_of(&region).filter(|name| !all.iter().any(|other: &Memory| other.name.as_deref() == Some(name)));
            all.push(Memory { name: name.map(str::to_string), ..Memory::at(at, region.end - at, Init::Pages(file)) });
        }
        Ok(all)
    }

    /// What `device` holds otherwise than was taken, in order of address.
    pub fn writes(&self, device: &Device) -> Vec<HostWrite> {
        let taken = self.taken();
        let mut writes: Vec<HostWrite> = Vec::new();
        for (start, end) in &taken.extents {
            for (address, page) in device.pages(*start) {
                let before = taken.pages.get(&address);
                if before.is_some_and(|before| **before == *page) {
                    continue;
                }
                let length = PAGE_BYTES.min((end - address) as usize);
                let is_same = |at: usize| before.is_some_and(|before| before[at] == page[at]);
                let unknown = if before.is_some() { Vec::new() } else { device.unknown(address, length as u64) };
                let is_written = |at: &usize| !is_same(*at) && !unknown.iter().any(|range| range.contains(&(address + *at as u64)));
                for at in (0..length).filter(is_written) {
                    match writes.last_mut() {
                        Some(last) if last.address + last.bytes.len() as u64 == address + at as u64 => last.bytes.push(page[at]),
                        _ => writes.push(HostWrite { address: address + at as u64, bytes: vec![page[at]] }),
                    }
                }
            }
        }
        writes
    }
}

impl Taken {
    /// What the extents are as memory of a launch file. It begins at a multiple of what the driver gives, so the pages of a region lie
    /// across those that were taken, and extents that are less apart are one region.
    fn regions(&self) -> Vec<Range<u64>> {
        let mut regions: Vec<Range<u64>> = Vec::new();
        for (start, end) in &self.extents {
            let at = start - start % Map::ALIGN_AT;
            match regions.last_mut() {
                Some(last) if at < last.end => last.end = *end,
                Some(_) | None => regions.push(at..*end),
            }
        }
        regions
    }

    /// The name of a region, where it is that of all of it and one that a launch file takes.
    fn name_of(&self, region: &Range<u64>) -> Option<&str> {
        let mut extents = self.extents.range(region.clone());
        let (start, _) = extents.next().filter(|(start, _)| **start == region.start && extents.next().is_none())?;
        let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let is_name = |name: &&str| name.starts_with(|first: char| first.is_ascii_alphabetic()) && name.chars().all(is_letter);
        self.names.get(start).map(String::as_str).filter(is_name)
    }
}

impl fmt::Debug for HostMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let taken = self.taken();
        f.debug_struct("HostMemory").field("extents", &taken.extents).field("pages", &taken.pages.len()).finish_non_exhaustive()
    }
}

impl PageSource for Taken {
    /// The extent is clipped where another one begins.
    fn extent(&mut self, address: u64) -> Option<Range<u64>> {
        let found = self.source.extent(address)?;
        let before = self.extents.range(..=address).next_back().map_or(0, |(_, end)| end.next_multiple_of(16));
        let after = self.extents.range(address..).next().map_or(u64::MAX, |(start, _)| *start);
        let clipped = found.start.max(before)..found.end.min(after);
        if !clipped.contains(&address) {
            return None;
        }
        self.extents.insert(clipped.start, clipped.end);
        Some(clipped)
    }

    fn page(&mut self, address: u64) -> Option<Box<Page>> {
        if let Some(page) = self.pages.get(&address) {
            return Some(page.clone());
        }
        let page = self.source.page(address)?;
        self.pages.insert(address, page.clone());
        Some(page)
    }
}
