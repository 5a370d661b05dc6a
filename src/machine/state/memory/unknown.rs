//! Unknown bytes of memory: those of pages that a capture has not stored.

use std::collections::BTreeMap;
use std::ops::Range;

use triomphe::Arc;

use super::PAGE_BYTES;

const PAGE: u64 = PAGE_BYTES as u64;

/// The written bytes of a page, one bit each.
type Written = [u64; PAGE_BYTES / 64];

/// The unknown bytes of a memory. A write makes bytes known.
#[derive(Clone)]
pub struct UnknownBytes {
    /// One bit per page: set if it was unknown at first.
    pages: Arc<Vec<u64>>,
    /// The bytes of such pages that were written since, by page number.
    written: Arc<BTreeMap<u64, Written>>,
}

impl UnknownBytes {
    /// `len` unknown bytes, except for the pages that begin at the offsets `known`.
    pub fn all_but(len: u64, known: impl Iterator<Item = u64>) -> Self {
        let mut pages = vec![u64::MAX; usize::try_from(len.div_ceil(PAGE).div_ceil(64)).unwrap_or(0)];
        for page in known.map(|offset| offset / PAGE) {
            if let Some(word) = pages.get_mut((page / 64) as usize) {
                *word &= !(1 << (page % 64));
            }
        }
        Self { pages: Arc::new(pages), written: Arc::new(BTreeMap::new()) }
    }

    /// The first unknown byte of the `bytes` bytes from `offset` on.
    pub fn first(&self, offset: u64, bytes: u64) -> Option<u64> {
        let unknown = |(page, range): (u64, Range<u64>)| {
            let written = self.written.get(&page);
            let is_written = |at: &u64| written.is_some_and(|written| written[(at / 64) as usize] >> (at % 64) & 1 != 0);
            range.into_iter().find(|at| !is_written(at)).map(|at| page * PAGE + at)
        };
        parts(offset, bytes).filter(|(page, _)| self.is_page_unknown(*page)).find_map(unknown)
    }

    /// The unknown ranges of the `bytes` bytes from `offset` on, in order. A range ends at the end of its page.
    pub fn ranges(&self, offset: u64, bytes: u64) -> impl Iterator<Item = Range<u64>> {
        let end = offset.saturating_add(bytes);
        let mut at = offset;
        std::iter::from_fn(move || {
            let start = self.first(at, end - at)?;
            let page_end = (start / PAGE + 1) * PAGE;
            let known = |at: &u64| self.first(*at, 1).is_none();
            at = (start..end.min(page_end)).find(known).unwrap_or(end.min(page_end));
            Some(start..at)
        })
    }

    /// A predicate for the written bytes of the page at `offset`, if it was unknown at first.
    pub fn written(&self, offset: u64) -> Option<impl Fn(usize) -> bool + '_> {
        let page = offset / PAGE;
        let written = self.written.get(&page);
        self.is_page_unknown(page).then_some(move |at: usize| written.is_some_and(|written| written[at / 64] >> (at % 64) & 1 != 0))
    }

    /// Makes the whole page at `offset` known.
    pub fn fill_page(&mut self, offset: u64) {
        let page = offset / PAGE;
        if let Some(word) = Arc::make_mut(&mut self.pages).get_mut((page / 64) as usize) {
            *word &= !(1 << (page % 64));
        }
        Arc::make_mut(&mut self.written).remove(&page);
    }

    /// Makes the `bytes` bytes from `offset` on known.
    pub fn mark_known(&mut self, offset: u64, bytes: u64) {
        for (page, range) in parts(offset, bytes) {
            if self.is_page_unknown(page) {
                let written = Arc::make_mut(&mut self.written).entry(page).or_insert([0; PAGE_BYTES / 64]);
                range.for_each(|at| written[(at / 64) as usize] |= 1 << (at % 64));
            }
        }
    }

    fn is_page_unknown(&self, page: u64) -> bool {
        self.pages.get((page / 64) as usize).is_some_and(|word| word >> (page % 64) & 1 != 0)
    }
}

/// The pages of the `bytes` bytes from `offset` on, each with the range of its bytes.
fn parts(offset: u64, bytes: u64) -> impl Iterator<Item = (u64, Range<u64>)> {
    let end = offset.saturating_add(bytes);
    let pages = if bytes == 0 { 0..0 } else { offset / PAGE..(end - 1) / PAGE + 1 };
    pages.map(move |page| (page, offset.max(page * PAGE) - page * PAGE..end.min((page + 1) * PAGE) - page * PAGE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_known_byte_by_byte() {
        let mut unknown = UnknownBytes::all_but(4 * PAGE + 100, [PAGE, 3 * PAGE].into_iter());
        assert_eq!(unknown.first(0, 8), Some(0));
        assert_eq!(unknown.first(PAGE, PAGE), None);
        assert_eq!(unknown.first(PAGE + 8, PAGE), Some(2 * PAGE));
        assert_eq!(unknown.first(4 * PAGE + 99, 1), Some(4 * PAGE + 99));
        let before = unknown.clone();
        unknown.mark_known(2 * PAGE - 4, 8);
        assert_eq!(unknown.first(2 * PAGE - 8, 12), None);
        assert_eq!(unknown.first(2 * PAGE, 5), Some(2 * PAGE + 4));
        assert_eq!(before.first(2 * PAGE, 5), Some(2 * PAGE), "a clone is as it was");
        assert_eq!(unknown.first(0, 0), None);
        let mut ranges = unknown.ranges(PAGE + 1, 2 * PAGE);
        assert_eq!((ranges.next(), ranges.next()), (Some(2 * PAGE + 4..3 * PAGE), None));
        assert_eq!(unknown.ranges(3 * PAGE, PAGE + 10).next(), Some(4 * PAGE..4 * PAGE + 10));
    }
}
