//! The written bytes of the local memory of a warp's threads: lanes mostly access the same address at once, so every address has
//! a mask of the lanes that have written it.

use std::ops::Range;

use triomphe::Arc;

use crate::machine::{AccessEvent, LaneMask};

/// Addresses that a page covers.
const PAGE_BYTES: usize = 256;

type Page = [LaneMask; PAGE_BYTES];

/// The written bytes of local memory, by lane.
#[derive(Clone, Debug, Default)]
pub(super) struct LocalBytes {
    pages: Vec<Option<Arc<Page>>>,
}

impl LocalBytes {
    /// Adds the bytes of the access.
    pub fn add(&mut self, event: &AccessEvent<'_>) {
        for (lanes, address) in by_address(event) {
            (0..u64::from(event.bytes)).for_each(|offset| self.add_byte(lanes, address + offset));
        }
        debug_assert!(self.contains(event), "what was added is there");
    }

    /// Adds the byte at `address` in `lanes`.
    pub fn add_byte(&mut self, lanes: LaneMask, address: u64) {
        assert!(!lanes.is_empty(), "a byte is written by some lane");
        let (page, at) = page_of(address);
        if page >= self.pages.len() {
            self.pages.resize(page + 1, None);
        }
        let page = self.pages[page].get_or_insert_with(|| Arc::new([LaneMask::NONE; PAGE_BYTES]));
        if page[at] & lanes != lanes {
            Arc::make_mut(page)[at] |= lanes;
        }
    }

    /// The byte at `address` becomes undefined in `lanes`.
    pub fn remove_byte(&mut self, lanes: LaneMask, address: u64) {
        let (page, at) = page_of(address);
        if let Some(Some(page)) = self.pages.get_mut(page) {
            Arc::make_mut(page)[at] &= !lanes;
        }
    }

    /// These bytes become undefined in `lanes`.
    pub fn remove(&mut self, lanes: LaneMask, bytes: Range<usize>) {
        let end = bytes.end.min(self.pages.len() * PAGE_BYTES);
        let mut at = bytes.start;
        while at < end {
            let (page, first) = (at / PAGE_BYTES, at % PAGE_BYTES);
            let count = (PAGE_BYTES - first).min(end - at);
            if let Some(page) = &mut self.pages[page] {
                let is_written = page[first..first + count].iter().any(|written| !(*written & lanes).is_empty());
                if is_written {
                    Arc::make_mut(page)[first..first + count].iter_mut().for_each(|written| *written &= !lanes);
                }
            }
            at += count;
        }
    }

    /// The lanes of `lanes` that have not written the byte at `address`.
    pub fn missing(&self, lanes: LaneMask, address: u64) -> LaneMask {
        let (page, at) = page_of(address);
        match self.pages.get(page) {
            Some(Some(page)) => lanes & !page[at],
            _ => lanes,
        }
    }

    /// True if all bytes of the access are written.
    pub fn contains(&self, event: &AccessEvent<'_>) -> bool {
        by_address(event).all(|(lanes, address)| (0..u64::from(event.bytes)).all(|offset| self.missing(lanes, address + offset).is_empty()))
    }
}

/// The lanes of an access by the address they access: all of them at once if that is the same.
fn by_address<'e>(event: &'e AccessEvent<'_>) -> impl Iterator<Item = (LaneMask, u64)> + 'e {
    let first = event.addresses[0];
    let is_same_address = event.addresses.iter().all(|address| *address == first);
    let all = is_same_address.then_some((event.lanes, first));
    let each = (if is_same_address { LaneMask::NONE } else { event.lanes }).iter().map(|lane| (LaneMask::of(lane), event.addresses[lane]));
    all.into_iter().chain(each)
}

fn page_of(address: u64) -> (usize, usize) {
    (address as usize / PAGE_BYTES, address as usize % PAGE_BYTES)
}
