//! The origins of undefined values that were stored, by byte.

use std::collections::BTreeMap;
use std::ops::Range;

use triomphe::Arc;

use super::registers::{Origin, OriginId, OriginTable};

/// Bytes that a page covers.
const PAGE_BYTES: u64 = 256;

/// The origins of the values of bytes. An entry is valid until a defined value is written to the byte.
#[derive(Clone, Default)]
pub(super) struct UndefinedBytes {
    pages: BTreeMap<u64, Arc<[OriginId; PAGE_BYTES as usize]>>,
    /// The bits of bytes that are undefined in part.
    bits: BTreeMap<u64, u8>,
    table: OriginTable,
}

impl UndefinedBytes {
    /// True if no undefined value was stored.
    pub fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    /// An undefined value is stored in `bytes` bytes from `start` on.
    pub fn set(&mut self, start: u64, bytes: u64, origin: Origin) {
        let id = self.table.add(origin);
        for at in start..start.saturating_add(bytes) {
            self.bits.remove(&at);
            let page = self.pages.entry(at / PAGE_BYTES).or_insert_with(|| Arc::new([OriginId::UNKNOWN; _]));
            Arc::make_mut(page)[(at % PAGE_BYTES) as usize] = id;
        }
    }

    /// A value of which these bits are undefined is stored in a byte.
    pub fn set_bits(&mut self, at: u64, bits: u8, origin: Origin) {
        self.set(at, 1, origin);
        if bits != u8::MAX {
            self.bits.insert(at, bits);
        }
    }

    /// The undefined bits of a byte that is not defined.
    pub fn bits(&self, at: u64) -> u8 {
        self.bits.get(&at).copied().unwrap_or(u8::MAX)
    }

    /// A defined value is stored in a byte.
    pub fn clear(&mut self, at: u64) {
        if let Some(page) = self.pages.get_mut(&(at / PAGE_BYTES)) {
            Arc::make_mut(page)[(at % PAGE_BYTES) as usize] = OriginId::UNKNOWN;
        }
    }

    /// What the bytes of `range` for which `is_cleared` holds were stored is forgotten.
    pub fn clear_where(&mut self, range: Range<u64>, is_cleared: impl Fn(u64) -> bool) {
        for (number, page) in self.pages.range_mut(range.start / PAGE_BYTES..range.end.div_ceil(PAGE_BYTES)) {
            let is_cleared = |at: usize| {
                let key = number * PAGE_BYTES + at as u64;
                range.contains(&key) && is_cleared(key)
            };
            if (0..page.len()).any(|at| page[at] != OriginId::UNKNOWN && is_cleared(at)) {
                Arc::make_mut(page).iter_mut().enumerate().filter(|(at, _)| is_cleared(*at)).for_each(|(_, id)| *id = OriginId::UNKNOWN);
            }
        }
    }

    /// The origin of the undefined value of a byte; none if it is defined.
    pub fn get(&self, at: u64) -> Option<Origin> {
        let id = self.pages.get(&(at / PAGE_BYTES))?[(at % PAGE_BYTES) as usize];
        self.table.get(id)
    }
}
