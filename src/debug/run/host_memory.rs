//! Memory of the process around the library, on which kernels run as on their device: taken page by page when it is first touched, and
//! kept, so that other runs find it as it was.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{fmt, fs, io};

use crate::launch::file::{Init, Memory};
use crate::launch::pages;
use crate::machine::{Device, Machine, OUTSIDE, PAGE_BYTES, PageSource, Trap};

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

    /// Writes the pages that were taken to files in `folder`; the memory of a launch file beside them. What no run has touched is there,
    /// and not known.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn save(&self, folder: &Path) -> io::Result<Vec<Memory>> {
        let (taken, mut names, mut all) = (self.taken(), BTreeSet::new(), Vec::new());
        for (number, (start, end)) in taken.extents.iter().enumerate() {
            let own: Vec<(u64, &Page)> = taken.pages.range(start..end).map(|(address, page)| (address - start, &**page)).collect();
            let file = format!("memory{number}.pages");
            fs::write(folder.join(&file), pages::encode(own.into_iter()))?;
            let name = taken.names.get(start).filter(|name| is_name(name) && names.insert(name.as_str()));
            all.push(Memory { name: name.cloned(), ..Memory::at(*start, end - start, Init::Pages(file)) });
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

/// Whether memory of a launch file can be called so in an expression.
fn is_name(name: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphabetic() || letter == '_';
    name.starts_with(is_letter) && name.chars().all(|letter| is_letter(letter) || letter.is_ascii_digit())
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
