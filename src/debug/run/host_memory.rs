//! Memory of the host process, on which kernels run as on their device. A page is copied when a kernel first accesses it; the copies are
//! cached, so that other runs start from the same contents.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{fmt, fs, io};

use crate::launch::file::{Init, Memory};
use crate::launch::{Element, pages};
use crate::machine::{Device, HOST_MEMORY, Machine, ORIGIN_ALIGN, PAGE_BYTES, PageSource, Trap};

type Page = [u8; PAGE_BYTES];

/// Memory outside of the launch. Clones share the cached pages.
#[derive(Clone)]
pub struct HostMemory(Arc<Mutex<PageCache>>);

/// The pages that were copied so far.
struct PageCache {
    source: Box<dyn PageSource + Send>,
    /// Mapped memory, start to end: registered, or found when a kernel accessed it.
    extents: BTreeMap<u64, u64>,
    /// Names and elements of registered memory, by start.
    registered: BTreeMap<u64, (String, Option<Element>)>,
    /// By the address at which they begin, a multiple of a page after the origin of their extent.
    pages: BTreeMap<u64, Box<Page>>,
}

/// A registered range of host memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostRange {
    /// Its addresses: not empty.
    pub addresses: Range<u64>,
    /// Its name in findings.
    pub name: String,
    /// The type of its elements, by which the debugger shows it; `None` for bytes.
    pub element: Option<Element>,
}

/// Bytes that a kernel has written at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostWrite {
    /// The address of the first one.
    pub address: u64,
    /// The bytes.
    pub bytes: Vec<u8>,
}

impl HostMemory {
    /// The memory that `source` provides. Accesses are checked against the bounds of the disjoint ranges `registered`; outside of them,
    /// `source` determines the bounds.
    pub fn new(source: Box<dyn PageSource + Send>, registered: &[HostRange]) -> Self {
        let is_valid = |range: &HostRange| range.addresses.start < range.addresses.end;
        assert!(registered.iter().all(is_valid), "ranges with at least one byte: {registered:?}");
        let extents = registered.iter().map(|HostRange { addresses, .. }| (addresses.start, addresses.end)).collect();
        let registered = registered.iter().map(|range| (range.addresses.start, (range.name.clone(), range.element))).collect();
        Self(Arc::new(Mutex::new(PageCache { source, extents, registered, pages: BTreeMap::new() })))
    }

    fn lock(&self) -> MutexGuard<'_, PageCache> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Maps the cached pages into the device.
    pub(super) fn install(&self, device: &mut Device) {
        let cache = self.lock();
        for (start, end) in &cache.extents {
            device.map_unknown(cache.registered.get(start).map_or(HOST_MEMORY, |(name, _)| name), &(*start..*end));
            for (page, contents) in cache.pages_of(*start..*end) {
                device.fill_page(page.max(*start), contents);
            }
        }
    }

    /// The cached pages, each with its address, in order.
    pub(in crate::debug) fn pages(&self) -> Vec<(u64, Box<Page>)> {
        self.lock().pages.iter().map(|(address, page)| (*address, page.clone())).collect()
    }

    /// Fills the unknown pages of buffers that are cached.
    pub(super) fn fill_buffers(&self, device: &mut Device) {
        for (address, page) in &self.lock().pages {
            // The first page of a buffer may begin before it.
            let _ = (*address..*address + ORIGIN_ALIGN).any(|at| device.fill_page(at, page));
        }
    }

    /// Copies the page whose absence caused `trap`; false if the source has no such page, so that the trap is a fault.
    pub(in crate::debug) fn fetch_page(&self, machine: &mut Machine, trap: &Trap) -> bool {
        machine.fetch_page(trap, &mut *self.lock())
    }

    /// Writes the cached pages to files in `folder`; returns the memory entries of a launch file next to them. Pages that no run has
    /// accessed are mapped there with unknown contents.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn save(&self, folder: &Path) -> io::Result<Vec<Memory>> {
        let (cache, mut names, mut all) = (self.lock(), BTreeSet::new(), Vec::new());
        for (number, (start, end)) in cache.extents.iter().enumerate() {
            let pages: Vec<(u64, &Page)> = cache.pages_of(*start..*end).map(|(address, page)| (address - origin(*start), page)).collect();
            let file = format!("memory{number}.pages");
            fs::write(folder.join(&file), pages::encode(pages.into_iter()))?;
            let (name, element) = cache.registered.get(start).map_or((None, None), |(name, element)| (Some(name), *element));
            let name = name.filter(|name| is_name(name) && names.insert(name.as_str())).cloned();
            let memory = Memory { name, ..Memory::at(*start, end - start, Init::Pages(file)) };
            // The elements fill the memory, except for an allocation that has other data as well.
            let fits = element.filter(|element| (end - start).is_multiple_of(u64::from(element.bytes())));
            all.push(match fits {
                Some(elem) => Memory { elem, len: Some((end - start) / u64::from(elem.bytes())), ..memory },
                None => memory,
            });
        }
        Ok(all)
    }

    /// The bytes of `device` that differ from the cached pages, in order of address.
    pub fn writes(&self, device: &Device) -> Vec<HostWrite> {
        let cache = self.lock();
        let mut writes: Vec<HostWrite> = Vec::new();
        for (start, end) in &cache.extents {
            for (address, page) in device.pages(*start) {
                let before = cache.pages.get(&address);
                if before.is_some_and(|before| **before == *page) {
                    continue;
                }
                let (first, length) = (start.saturating_sub(address) as usize, PAGE_BYTES.min((end - address) as usize));
                let is_same = |at: usize| before.is_some_and(|before| before[at] == page[at]);
                let own = address.max(*start);
                let unknown = if before.is_some() { Vec::new() } else { device.unknown(own, (length - first) as u64) };
                let is_written = |at: &usize| !is_same(*at) && !unknown.iter().any(|range| range.contains(&(address + *at as u64)));
                for at in (first..length).filter(is_written) {
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

/// True if an expression can refer to memory by this name.
fn is_name(name: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphabetic() || letter == '_';
    name.starts_with(is_letter) && name.chars().all(|letter| is_letter(letter) || letter.is_ascii_digit())
}

impl fmt::Debug for HostMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cache = self.lock();
        f.debug_struct("HostMemory").field("extents", &cache.extents).field("pages", &cache.pages.len()).finish_non_exhaustive()
    }
}

/// The address at which the first page of the memory that starts at `start` begins.
fn origin(start: u64) -> u64 {
    start - start % ORIGIN_ALIGN
}

impl PageCache {
    /// The cached pages of the extent at `range`, each with its address. The pages of two extents may overlap, if one ends less than 16
    /// bytes before the other starts.
    fn pages_of(&self, range: Range<u64>) -> impl Iterator<Item = (u64, &Page)> {
        let origin = origin(range.start);
        let pages = self.pages.range(origin..range.end).map(|(address, page)| (*address, &**page));
        pages.filter(move |(address, _)| (address - origin).is_multiple_of(PAGE_BYTES as u64))
    }
}

impl PageSource for PageCache {
    /// The extent is clipped at its neighbouring extents.
    fn extent(&mut self, address: u64) -> Option<Range<u64>> {
        let found = self.source.extent(address)?;
        let before = self.extents.range(..=address).next_back().map_or(0, |(_, end)| *end);
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
