//! What warps have written, by lines of memory: enough to say that no thread can read anything but the newest write, and to make the
//! history of a location once a thread can.
//!
//! A line keeps the last writes of warps to it as long as their order is clear: each thread knew the writes before its own at the same
//! location, or was morally strong to them. Where that fails, or a load may return an older write, the location gets a history
//! (`History`), and its part of the line is *open*.

use std::collections::BTreeMap;
use std::sync::Arc;

use smallvec::SmallVec;

use super::history::Location;
use super::thread::Place;
use super::view::View;
use crate::base::lanes::{LANES, LaneMask, PerLane};
use crate::isa::Scope;

/// Bytes of a line; no access crosses one.
const LINE_BYTES: u64 = 128;

/// Lines of a page.
const PAGE_LINES: u64 = 32;

/// Writes of warps that a line keeps at most; the older half of more is dropped.
const RECORDS_MAX: usize = 64;

/// The bytes that the lanes of a warp access at once.
#[derive(Clone, Copy, Debug)]
pub struct WarpAccess<'a> {
    /// The number of the memory.
    pub memory: u32,
    /// The first thread of the warp.
    pub warp: Place,
    /// The lanes.
    pub mask: LaneMask,
    /// Their addresses; lanes outside repeat another.
    pub addresses: &'a PerLane<u64>,
    /// The lowest address.
    pub min: u64,
    /// The highest address.
    pub max: u64,
    /// True if all lanes take part and their bytes lie side by side.
    pub consecutive: bool,
    /// Bytes of a lane.
    pub bytes: u32,
    /// Bytes of an element of a lane: each is written or read for itself.
    pub element_bytes: u32,
}

/// The addresses of a record.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Addresses {
    /// From one address on, a lane's bytes after those of the lane before.
    Consecutive(u64),
    /// All the same.
    Same(u64),
    /// Any.
    Each(Box<PerLane<u64>>),
}

/// What the lanes of a warp wrote at once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Record {
    /// The first thread of the warp.
    pub warp: Place,
    /// When.
    pub time: u64,
    /// The instruction, by its number.
    pub code: u32,
    /// The scope of a strong write.
    pub scope: Scope,
    /// True if an atomic operation wrote.
    pub is_atomic: bool,
    /// The lanes, lowest first where they write one location.
    pub mask: LaneMask,
    addresses: Addresses,
    bytes: u32,
    element_bytes: u32,
    /// What each lane found, then what each lane left, lane after lane.
    data: Box<[u8]>,
}

/// A write of a location in a record.
#[derive(Clone, Copy, Debug)]
pub struct Recorded<'a> {
    /// The record.
    pub record: &'a Record,
    /// The lane.
    pub lane: usize,
    /// What the location held before, and then; none if only a part of it was written, or more as one.
    pub data: Option<(&'a [u8], &'a [u8])>,
}

impl Recorded<'_> {
    /// The thread.
    pub fn thread(&self) -> Place {
        self.record.warp.with_lane(self.lane)
    }
}

impl Record {
    /// A record of an access; `data` has what each of the 32 lanes found, lane after lane, then what each left.
    pub fn new(access: &WarpAccess<'_>, (time, code): (u64, u32), (scope, is_atomic): (Scope, bool), data: Box<[u8]>) -> Self {
        let addresses = if access.consecutive {
            Addresses::Consecutive(access.min)
        } else if access.min == access.max {
            Addresses::Same(access.min)
        } else {
            Addresses::Each(Box::new(*access.addresses))
        };
        let WarpAccess { warp, mask, bytes, element_bytes, .. } = *access;
        Self { warp, time, code, scope, is_atomic, mask, addresses, bytes, element_bytes, data }
    }

    fn has_addresses(&self, access: &WarpAccess<'_>) -> bool {
        self.mask == access.mask
            && self.bytes == access.bytes
            && match &self.addresses {
                Addresses::Consecutive(first) => access.consecutive && *first == access.min,
                Addresses::Same(all) => access.min == access.max && *all == access.min,
                Addresses::Each(each) => **each == *access.addresses,
            }
    }

    /// True if no two lanes access the same bytes.
    fn is_apart(&self) -> bool {
        match &self.addresses {
            Addresses::Consecutive(_) => true,
            Addresses::Same(_) => self.mask.count() == 1,
            Addresses::Each(each) => {
                let mut addresses: SmallVec<[u64; LANES]> = self.mask.iter().map(|lane| each[lane]).collect();
                addresses.sort_unstable();
                addresses.windows(2).all(|pair| pair[0] + u64::from(self.bytes) <= pair[1])
            }
        }
    }

    fn address(&self, lane: usize) -> u64 {
        match &self.addresses {
            Addresses::Consecutive(first) => first + lane as u64 * u64::from(self.bytes),
            Addresses::Same(all) => *all,
            Addresses::Each(each) => each[lane],
        }
    }

    /// The lanes that write some of these bytes.
    fn lanes_at(&self, address: u64, bytes: u32) -> LaneMask {
        let (end, own) = (address + u64::from(bytes), u64::from(self.bytes));
        match &self.addresses {
            Addresses::Consecutive(first) => {
                let lanes = |until: u64| LaneMask::lowest((until.saturating_sub(*first)).div_ceil(own).min(LANES as u64) as u32);
                let before = LaneMask::lowest((address.saturating_sub(*first) / own).min(LANES as u64) as u32);
                self.mask & lanes(end) & !before
            }
            Addresses::Same(all) if *all < end && address < *all + own => self.mask,
            Addresses::Same(_) => LaneMask::NONE,
            Addresses::Each(each) => {
                let overlaps = |at: u64| at < end && address < at + own;
                each.iter()
                    .enumerate()
                    .fold(LaneMask::NONE, |lanes, (lane, at)| if overlaps(*at) { lanes | LaneMask::of(lane) } else { lanes })
                    & self.mask
            }
        }
    }

    /// Its writes that overlap a location.
    fn writes_of(&self, (_, address, bytes): Location) -> impl Iterator<Item = Recorded<'_>> {
        self.lanes_at(address, bytes).iter().map(move |lane| {
            let skip = address.checked_sub(self.address(lane)).filter(|skip| skip.is_multiple_of(u64::from(self.element_bytes)));
            let is_element = bytes == self.element_bytes;
            let data = skip.filter(|_| is_element).map(|skip| {
                let at = lane * self.bytes as usize + skip as usize;
                let (old, new) = self.data.split_at(self.data.len() / 2);
                (&old[at..at + bytes as usize], &new[at..at + bytes as usize])
            });
            Recorded { record: self, lane, data }
        })
    }
}

/// A record, with the words of a line that it wrote.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Part {
    record: Arc<Record>,
    words: u32,
}

/// What is known of a line.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Line {
    /// The last writes of warps, oldest first.
    records: Vec<Part>,
    /// The words that they wrote, or that are open.
    written: u32,
    /// The words of which locations have histories.
    open: u32,
    /// The first thread of the warp that wrote all of them.
    warp: Option<Place>,
    /// The first thread of the only block that wrote them.
    block: Option<Place>,
    /// True if all of them have the same addresses.
    is_one_pattern: bool,
    /// The narrowest scope of them.
    scope: Scope,
    /// The time of the last one.
    last: u64,
}

impl Line {
    /// A line that nothing was written to.
    fn new() -> Self {
        Self { records: Vec::new(), written: 0, open: 0, warp: None, block: None, is_one_pattern: true, scope: Scope::Sys, last: 0 }
    }

    fn push(&mut self, record: &Arc<Record>, words: u32, is_same: bool) {
        let block = Place { thread: 0, ..record.warp };
        if self.records.is_empty() {
            (self.warp, self.block) = (Some(record.warp), Some(block));
        } else {
            self.is_one_pattern &= is_same;
            self.warp = self.warp.filter(|warp| *warp == record.warp);
            self.block = self.block.filter(|own| *own == block);
        }
        self.written |= words;
        self.scope = self.scope.min(record.scope);
        self.last = record.time;
        if let Some(last) = self.records.last_mut().filter(|last| Arc::ptr_eq(&last.record, record)) {
            last.words |= words;
            return;
        }
        if self.records.len() >= RECORDS_MAX {
            self.records.drain(..RECORDS_MAX / 2);
        }
        self.records.push(Part { record: Arc::clone(record), words });
    }
}

/// The last meetings of the threads of a warp: what they knew then, and when.
#[derive(Clone, Copy, Debug)]
pub struct Met<'a> {
    /// Of all threads of the block.
    pub block: Option<(&'a View, u64)>,
    /// Of all threads of the warp.
    pub warp: Option<(&'a View, u64)>,
}

impl Met<'_> {
    /// True if all threads know what another warp had executed at a time.
    fn covers(&self, warp: Place, time: u64) -> bool {
        self.warp.into_iter().chain(self.block).any(|(view, _)| view.covers_warp(warp, time))
    }
}

/// What an access finds in the lines that it touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// True if each lane knows all that was written where it accesses memory.
    pub is_known: bool,
    /// True if all that was written there is strong, with scopes that include the warp, and so is the access.
    pub is_strong: bool,
}

/// The lines of all memories.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Lines {
    memories: BTreeMap<u32, BTreeMap<u64, Arc<Page>>>,
}

/// The lines of a page that something was written to.
type Page = [Option<Box<Line>>; PAGE_LINES as usize];

impl Lines {
    /// What an access finds, by the scope of the access if it is strong.
    #[inline]
    pub fn find(&self, access: &WarpAccess<'_>, scope: Scope, met: &Met<'_>) -> Found {
        let mut found = Found { is_known: true, is_strong: true };
        let Some(pages) = self.memories.get(&access.memory) else { return found };
        let mut page = (u64::MAX, None);
        for_each_line(access, |line, words| {
            if page.0 != line / PAGE_LINES {
                page = (line / PAGE_LINES, pages.get(&(line / PAGE_LINES)));
            }
            let Some(line) = page.1.and_then(|page| page[(line % PAGE_LINES) as usize].as_deref()) else { return true };
            if line.written & words == 0 {
                return true;
            }
            found.is_known &= line.open & words == 0 && is_known(line, words, access, scope, met);
            found.is_strong &= line.open & words == 0 && is_strong(line, access, scope);
            found.is_known || found.is_strong
        });
        found
    }

    /// Adds what a warp wrote.
    pub fn add(&mut self, access: &WarpAccess<'_>, record: Record) {
        let record = Arc::new(record);
        let pages = self.memories.entry(access.memory).or_default();
        for_each_line(access, |line, words| {
            let line = line_mut(pages, line);
            let is_same = line.records.last().is_none_or(|last| Arc::ptr_eq(&last.record, &record) || last.record.has_addresses(access));
            line.push(&record, words, is_same);
            true
        });
    }

    /// Makes a location open.
    pub fn open(&mut self, (memory, address, bytes): Location) {
        let line = line_mut(self.memories.entry(memory).or_default(), address / LINE_BYTES);
        line.open |= words(address, bytes);
        line.written |= words(address, bytes);
    }

    /// What was written to a location that is not open, oldest first.
    pub fn written(&self, at: Location) -> impl Iterator<Item = Recorded<'_>> {
        let (memory, address, bytes) = at;
        let number = address / LINE_BYTES;
        let page = self.memories.get(&memory).and_then(|pages| pages.get(&(number / PAGE_LINES)));
        let line = page.and_then(|page| page[(number % PAGE_LINES) as usize].as_deref());
        let words = words(address, bytes);
        let parts: &[Part] = line.filter(|line| line.written & words != 0 && line.open & words == 0).map_or(&[], |line| &line.records);
        parts.iter().filter(move |part| part.words & words != 0).flat_map(move |part| part.record.writes_of(at))
    }

    /// Forgets all of a memory.
    pub fn forget(&mut self, memory: u32) {
        self.memories.remove(&memory);
    }
}

/// True if each lane knows what was written to these words: its block or its warp has met since, or the lane alone wrote there, or what
/// the warp has acquired before it met includes what was written. A weak access learns nothing, so what its warp wrote is enough.
fn is_known(line: &Line, words: u32, access: &WarpAccess<'_>, scope: Scope, met: &Met<'_>) -> bool {
    let is_of_block = line.block == Some(Place { thread: 0, ..access.warp });
    let is_of_warp = line.warp == Some(access.warp);
    let is_own_of = |last: &Part| last.record.has_addresses(access) && last.record.is_apart();
    let is_own = || is_of_warp && line.is_one_pattern && line.records.last().is_some_and(is_own_of);
    let is_covered = |Part { record, words: written }: &Part| {
        written & words == 0 || scope == Scope::None && record.warp == access.warp || met.covers(record.warp, record.time)
    };
    is_of_block && met.block.is_some_and(|(_, time)| line.last <= time)
        || is_of_warp && met.warp.is_some_and(|(_, time)| line.last <= time)
        || is_of_warp && scope == Scope::None
        || is_own()
        || line.records.iter().rev().all(is_covered)
}

/// True if an access of this scope is morally strong to all writes of a line.
fn is_strong(line: &Line, access: &WarpAccess<'_>, scope: Scope) -> bool {
    let is_of_block = line.block == Some(Place { thread: 0, ..access.warp });
    let needed = if is_of_block { Scope::Cta } else { Scope::Gpu };
    scope >= needed && line.scope >= needed
}

fn line_mut(pages: &mut BTreeMap<u64, Arc<Page>>, line: u64) -> &mut Line {
    let page = pages.entry(line / PAGE_LINES).or_insert_with(|| Arc::new([const { None }; PAGE_LINES as usize]));
    Arc::make_mut(page)[(line % PAGE_LINES) as usize].get_or_insert_with(|| Box::new(Line::new()))
}

/// The words of its line that a location touches.
fn words(address: u64, bytes: u32) -> u32 {
    let first = address % LINE_BYTES / 4;
    let last = (address % LINE_BYTES + u64::from(bytes) - 1) / 4;
    (u32::MAX >> (31 - last.min(31) + first)) << first
}

/// Calls `each` with the lines that an access touches, and the words there, until it answers false. A line may come more than once.
#[inline(always)]
fn for_each_line(access: &WarpAccess<'_>, mut each: impl FnMut(u64, u32) -> bool) {
    if access.consecutive {
        let (mut from, end) = (access.min, access.max + u64::from(access.bytes));
        while from < end {
            let to = end.min((from / LINE_BYTES + 1) * LINE_BYTES);
            if !each(from / LINE_BYTES, words(from, (to - from) as u32)) {
                return;
            }
            from = to;
        }
        return;
    }
    if access.min == access.max {
        each(access.min / LINE_BYTES, words(access.min, access.bytes));
        return;
    }
    let mut last = (u64::MAX, 0);
    for lane in access.mask.iter() {
        let address = access.addresses[lane];
        let line = address / LINE_BYTES;
        if line == last.0 {
            last.1 |= words(address, access.bytes);
            continue;
        }
        if last.1 != 0 && !each(last.0, last.1) {
            return;
        }
        last = (line, words(address, access.bytes));
    }
    each(last.0, last.1);
}
