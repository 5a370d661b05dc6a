//! A set of bytes of memory: one bit a byte, in pages that are allocated when one of their bytes is added.

use std::ops::Range;

use triomphe::Arc;

/// Bytes of memory that a page covers.
const PAGE_BYTES: u64 = 4096;

/// Bits of a word.
const WORD: u64 = 64;

type Page = [u64; (PAGE_BYTES / WORD) as usize];

/// A set of bytes. A clone shares the pages that are not changed afterwards.
#[derive(Clone, Debug, Default)]
pub(super) struct Bytes {
    pages: Vec<Option<Arc<Page>>>,
    /// Bytes that are all in it, which most questions are about.
    full: Range<u64>,
}

impl Bytes {
    /// Adds `bytes` bytes from `start` on.
    #[inline]
    pub fn add(&mut self, start: u64, bytes: u64) {
        let end = start.saturating_add(bytes);
        each_word(start, bytes, |page, word, bits| {
            if page >= self.pages.len() {
                self.pages.resize(page + 1, None);
            }
            let page = self.pages[page].get_or_insert_with(|| Arc::new([0; _]));
            if page[word] & bits != bits {
                Arc::make_mut(page)[word] |= bits;
            }
            true
        });
        if start <= self.full.end && self.full.start <= end {
            let (before, after) = (start < self.full.start, end > self.full.end);
            self.full = self.full.start.min(start)..self.full.end.max(end);
            self.extend(before, after);
        } else if bytes > self.full.end - self.full.start {
            self.full = start..end;
        }
        debug_assert!(self.contains_words(self.full.start, self.full.end - self.full.start), "what was added is there");
    }

    /// Extends the bytes that are known to be in it over what was added before and is adjacent now.
    fn extend(&mut self, before: bool, after: bool) {
        while before && self.full.start >= WORD && self.contains_words(self.full.start - WORD, WORD) {
            self.full.start -= WORD;
        }
        while after && self.contains_words(self.full.end, WORD) {
            self.full.end += WORD;
        }
    }

    /// Adds all bytes of another set.
    pub fn join(&mut self, other: &Self) {
        if self.pages.len() < other.pages.len() {
            self.pages.resize(other.pages.len(), None);
        }
        for (own, other) in self.pages.iter_mut().zip(&other.pages) {
            match (own, other) {
                (_, None) => {}
                (own @ None, Some(other)) => *own = Some(Arc::clone(other)),
                (Some(own), Some(other)) => Arc::make_mut(own).iter_mut().zip(other.iter()).for_each(|(own, other)| *own |= other),
            }
        }
    }

    /// Removes `bytes` bytes from `start` on.
    pub fn remove(&mut self, start: u64, bytes: u64) {
        if start < self.full.end && self.full.start < start.saturating_add(bytes) {
            self.full = 0..0;
        }
        each_word(start, bytes, |page, word, bits| {
            if let Some(Some(page)) = self.pages.get_mut(page)
                && page[word] & bits != 0
            {
                Arc::make_mut(page)[word] &= !bits;
            }
            true
        });
    }

    /// True if `bytes` bytes from `start` on are all in it.
    #[inline]
    pub fn contains(&self, start: u64, bytes: u64) -> bool {
        self.are_known(start, bytes) || self.contains_words(start, bytes)
    }

    /// Bytes that are all in it.
    pub fn known(&self) -> Range<u64> {
        self.full.clone()
    }

    /// True if `bytes` bytes from `start` on are all in it; false also if that takes a look at each word.
    #[inline]
    pub fn are_known(&self, start: u64, bytes: u64) -> bool {
        self.full.start <= start && start.saturating_add(bytes) <= self.full.end
    }

    fn contains_words(&self, start: u64, bytes: u64) -> bool {
        each_word(start, bytes, |page, word, bits| match self.pages.get(page) {
            Some(Some(page)) => page[word] & bits == bits,
            _ => false,
        })
    }
}

/// Calls `visit` with page, word and bits for every 64-bit word of the `bytes` bytes from `start` on, until it returns false. True if it
/// never does.
#[inline(always)]
fn each_word(start: u64, bytes: u64, mut visit: impl FnMut(usize, usize, u64) -> bool) -> bool {
    let end = start.saturating_add(bytes);
    let mut at = start;
    while at < end {
        let first = at % WORD;
        let count = (WORD - first).min(end - at);
        let bits = if count == WORD { u64::MAX } else { ((1 << count) - 1) << first };
        if !visit((at / PAGE_BYTES) as usize, (at % PAGE_BYTES / WORD) as usize, bits) {
            return false;
        }
        at += count;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::Bytes;

    #[test]
    fn bytes_are_separate() {
        let mut bytes = Bytes::default();
        bytes.add(4090, 10);
        assert!(bytes.contains(4090, 10) && bytes.contains(4095, 2) && bytes.contains(4099, 1));
        assert!(!bytes.contains(4089, 1) && !bytes.contains(4100, 1) && !bytes.contains(4096, 64));
        bytes.add(4100, 28);
        assert!(bytes.contains(4090, 38) && !bytes.contains(4090, 39));
        bytes.add(4080, 4);
        assert!(bytes.contains(4080, 4) && bytes.contains(4090, 38) && !bytes.contains(4083, 8));
        bytes.remove(4095, 2);
        bytes.remove(1 << 20, 1);
        assert!(bytes.contains(4090, 5) && !bytes.contains(4095, 1) && !bytes.contains(4096, 1) && bytes.contains(4097, 31));
    }

    #[test]
    fn what_is_added_in_any_order_is_known() {
        for order in [[0, 1, 2, 3], [3, 1, 0, 2], [2, 0, 3, 1], [3, 2, 1, 0]] {
            let mut bytes = Bytes::default();
            order.into_iter().for_each(|row| bytes.add(1024 + row * 128, 128));
            assert!(bytes.are_known(1024, 512) && !bytes.are_known(1023, 1) && !bytes.are_known(1024, 513), "{order:?}");
        }
    }

    #[test]
    fn words_and_pages_are_crossed() {
        let mut bytes = Bytes::default();
        bytes.add(0, 3 * 4096 + 1);
        assert!(bytes.contains(0, 3 * 4096 + 1));
        assert!(!bytes.contains(3 * 4096 + 1, 1));
        assert!(bytes.contains(63, 2) && bytes.contains(4095, 2));
    }
}
