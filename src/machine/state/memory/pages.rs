//! A byte array that is cheap to clone, and allocates pages on the first write.
//!
//! Bytes are stored in pages of 4 KiB, pages in chunks of 1 MiB, both copy on write. A page that was never written is absent and reads as
//! the fill byte. Typed accesses are naturally aligned, so none of them crosses a page.

use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::LazyLock;

use triomphe::Arc;

use super::unknown::UnknownBytes;

use crate::machine::state::digest::Digest;

/// Bytes of a page.
pub const PAGE_BYTES: usize = 4096;
const PAGES_PER_CHUNK: usize = 256;
const CHUNK_BYTES: usize = PAGE_BYTES * PAGES_PER_CHUNK;

type Page = [u8; PAGE_BYTES];

/// The blank page of zeros, shared by all memory that starts as zeros.
static ZEROS: LazyLock<Arc<Page>> = LazyLock::new(|| Arc::new([0; PAGE_BYTES]));

#[derive(Clone)]
struct Chunk {
    pages: [Option<Arc<Page>>; PAGES_PER_CHUNK],
}

/// A byte array, copy on write.
#[derive(Clone)]
pub struct Pages {
    chunks: Vec<Option<Arc<Chunk>>>,
    len: u64,
    /// The number of allocated pages.
    allocated_pages: u32,
    /// The contents of absent pages; shared by all clones.
    blank: Arc<Page>,
    /// The unknown bytes; none if all are known.
    unknown: Option<UnknownBytes>,
}

impl Pages {
    /// `len` bytes, all of them `fill`.
    pub fn new(len: u64, fill: u8) -> Self {
        let chunks = usize::try_from(len.div_ceil(CHUNK_BYTES as u64)).unwrap_or(0);
        let blank = if fill == 0 { Arc::clone(&ZEROS) } else { Arc::new([fill; PAGE_BYTES]) };
        Self { chunks: vec![None; chunks], len, allocated_pages: 0, blank, unknown: None }
    }

    /// Number of bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Bytes of the pages that were ever written.
    pub fn written_bytes(&self) -> u64 {
        u64::from(self.allocated_pages) * PAGE_BYTES as u64
    }

    /// The page that holds byte `offset`, to read.
    #[inline(always)]
    pub fn page(&self, offset: u64) -> &Page {
        let index = offset as usize;
        match &self.chunks[index / CHUNK_BYTES] {
            Some(chunk) => chunk.pages[index / PAGE_BYTES % PAGES_PER_CHUNK].as_deref().unwrap_or(&self.blank),
            None => &self.blank,
        }
    }

    /// The page that holds byte `offset`, to write. Copied first if it is shared.
    #[inline(always)]
    pub fn page_mut(&mut self, offset: u64) -> &mut Page {
        let index = offset as usize;
        let chunk = match &mut self.chunks[index / CHUNK_BYTES] {
            Some(chunk) => chunk,
            absent => absent.insert(new_chunk()),
        };
        let page = &mut Arc::make_mut(chunk).pages[index / PAGE_BYTES % PAGES_PER_CHUNK];
        match page {
            Some(page) => Arc::make_mut(page),
            absent => {
                self.allocated_pages += 1;
                Arc::make_mut(absent.insert(Arc::new(*self.blank)))
            }
        }
    }

    /// Copies the bytes from `offset` on into `out`; the range must be inside.
    pub fn read(&self, mut offset: u64, mut out: &mut [u8]) {
        debug_assert!(offset.checked_add(out.len() as u64).is_some_and(|end| end <= self.len), "bytes are read past the end");
        while !out.is_empty() {
            let at = offset as usize % PAGE_BYTES;
            let count = out.len().min(PAGE_BYTES - at);
            let (head, tail) = out.split_at_mut(count);
            head.copy_from_slice(&self.page(offset)[at..at + count]);
            out = tail;
            offset += count as u64;
        }
    }

    /// Makes all bytes unknown except those of the pages that begin at the offsets `known`, in ascending order.
    pub fn set_known_pages(&mut self, known: impl Iterator<Item = u64>) {
        self.unknown = Some(UnknownBytes::all_but(self.len, known));
    }

    /// True if there are or were unknown bytes.
    #[inline(always)]
    pub fn has_unknown(&self) -> bool {
        self.unknown.is_some()
    }

    /// The first unknown byte of the `bytes` bytes from `offset` on.
    #[inline(always)]
    pub fn first_unknown(&self, offset: u64, bytes: u64) -> Option<u64> {
        self.unknown.as_ref().and_then(|unknown| unknown.first(offset, bytes))
    }

    /// The unknown ranges of the `bytes` bytes from `offset` on, in order.
    pub fn unknown_ranges(&self, offset: u64, bytes: u64) -> impl Iterator<Item = Range<u64>> {
        self.unknown.iter().flat_map(move |unknown| unknown.ranges(offset, bytes))
    }

    /// Makes written bytes known.
    #[inline(always)]
    pub fn mark_known(&mut self, offset: u64, bytes: u64) {
        if let Some(unknown) = &mut self.unknown {
            unknown.mark_known(offset, bytes);
        }
    }

    /// Fills the unknown page at `offset`, a multiple of [`PAGE_BYTES`], with `contents`, except for bytes written since. False if the page
    /// was known.
    pub fn fill_page(&mut self, offset: u64, contents: &Page) -> bool {
        assert!(offset.is_multiple_of(PAGE_BYTES as u64) && offset < self.len, "a page begins at {offset:#x}");
        let Some(unknown) = &mut self.unknown else { return false };
        let mut merged = *contents;
        let Some(is_written) = unknown.written(offset) else { return false };
        let written: Vec<usize> = (0..PAGE_BYTES).filter(|at| is_written(*at)).collect();
        drop(is_written);
        unknown.fill_page(offset);
        let page = self.page_mut(offset);
        written.iter().for_each(|at| merged[*at] = page[*at]);
        *page = merged;
        true
    }

    /// The allocated pages, each with its offset.
    pub fn existing(&self) -> impl Iterator<Item = (u64, &Page)> {
        self.chunks.iter().enumerate().filter_map(|(number, chunk)| Some((number, chunk.as_ref()?))).flat_map(|(number, chunk)| {
            let pages = chunk.pages.iter().enumerate();
            pages.filter_map(move |(page, at)| Some(((number * CHUNK_BYTES + page * PAGE_BYTES) as u64, &**at.as_ref()?)))
        })
    }

    /// Writes `bytes` from `offset` on; the range must be inside.
    pub fn write(&mut self, mut offset: u64, mut bytes: &[u8]) {
        debug_assert!(offset.checked_add(bytes.len() as u64).is_some_and(|end| end <= self.len), "bytes are written past the end");
        self.mark_known(offset, bytes.len() as u64);
        while !bytes.is_empty() {
            let at = offset as usize % PAGE_BYTES;
            let (head, tail) = bytes.split_at(bytes.len().min(PAGE_BYTES - at));
            self.page_mut(offset)[at..at + head.len()].copy_from_slice(head);
            offset += head.len() as u64;
            bytes = tail;
        }
    }

    /// Takes the pages that `part` has written since both were clones of `start`. Returns the bytes of those that both have written, which
    /// are not taken; all bytes if some are unknown.
    pub fn take_written(&mut self, part: &Pages, start: &Pages) -> Vec<Range<u64>> {
        assert!(self.len == part.len && self.len == start.len, "memory of one size");
        if self.has_unknown() {
            return std::iter::once(0..self.len).collect();
        }
        let mut written_by_both = Vec::new();
        let Self { chunks, allocated_pages, .. } = self;
        for (number, ((own, part), start)) in chunks.iter_mut().zip(&part.chunks).zip(&start.chunks).enumerate() {
            let Some(part) = part.as_ref().filter(|part| !start.as_ref().is_some_and(|start| Arc::ptr_eq(part, start))) else { continue };
            let own = Arc::make_mut(own.get_or_insert_with(new_chunk));
            for (index, (own, part)) in own.pages.iter_mut().zip(&part.pages).enumerate() {
                let start = start.as_ref().and_then(|start| start.pages[index].as_ref());
                if same_page(part.as_ref(), start) {
                    continue;
                }
                if same_page(own.as_ref(), start) {
                    *allocated_pages += u32::from(own.is_none());
                    own.clone_from(part);
                } else {
                    let offset = (number * CHUNK_BYTES + index * PAGE_BYTES) as u64;
                    written_by_both.push(offset..(offset + PAGE_BYTES as u64).min(self.len));
                }
            }
        }
        written_by_both
    }

    /// True if `other`, an earlier or later clone, shares all pages of the `bytes` bytes from `offset` on: no write accessed them in
    /// between.
    pub fn shares(&self, other: &Pages, offset: u64, bytes: u64) -> bool {
        if self.chunks.len() != other.chunks.len() {
            return false;
        }
        let last = offset.saturating_add(bytes.max(1) - 1).min(self.len.saturating_sub(1));
        let pages = (offset as usize / PAGE_BYTES)..=(last as usize / PAGE_BYTES);
        pages.into_iter().all(|page| match (self.chunk_at(page), other.chunk_at(page)) {
            (Some(own), Some(others)) => {
                let index = page % PAGES_PER_CHUNK;
                Arc::ptr_eq(own, others) || same_page(own.pages[index].as_ref(), others.pages[index].as_ref())
            }
            (None, None) => true,
            (Some(chunk), None) | (None, Some(chunk)) => chunk.pages[page % PAGES_PER_CHUNK].is_none(),
        })
    }

    /// Bytes of the pages that are not shared with `other`, an earlier clone.
    pub fn unshared_bytes(&self, other: &Pages) -> u64 {
        let chunks = self.chunks.iter().zip(other.chunks.iter().map(Some).chain(std::iter::repeat(None)));
        let pages = chunks.map(|(own, others)| match (own, others.and_then(Option::as_ref)) {
            (None, _) => 0,
            (Some(own), Some(others)) if Arc::ptr_eq(own, others) => 0,
            (Some(own), Some(others)) => {
                own.pages.iter().zip(&others.pages).filter(|(own, others)| !same_page(own.as_ref(), others.as_ref())).count()
            }
            (Some(own), None) => own.pages.iter().flatten().count(),
        });
        pages.sum::<usize>() as u64 * PAGE_BYTES as u64
    }

    fn chunk_at(&self, page: usize) -> Option<&Arc<Chunk>> {
        self.chunks.get(page / PAGES_PER_CHUNK).and_then(Option::as_ref)
    }
}

impl Hash for Pages {
    /// Hashes the contents, absent pages as fill bytes.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let digest_of = |page: &Page| {
            let mut digest = Digest::default();
            digest.write(page);
            digest.finish()
        };
        let blank = digest_of(&self.blank);
        self.len.hash(state);
        for offset in (0..self.len).step_by(PAGE_BYTES) {
            let page = self.page(offset);
            state.write_u64(if std::ptr::eq(page, &*self.blank) { blank } else { digest_of(page) });
        }
    }
}

fn same_page(a: Option<&Arc<Page>>, b: Option<&Arc<Page>>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => Arc::ptr_eq(a, b),
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    }
}

fn new_chunk() -> Arc<Chunk> {
    Arc::new(Chunk { pages: [const { None }; PAGES_PER_CHUNK] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_a_part_are_taken_unless_both_have_written_them() {
        let mut start = Pages::new(3 * CHUNK_BYTES as u64, 0);
        start.write(0, &[1, 2, 3]);
        let (mut own, mut part) = (start.clone(), start.clone());
        let [in_own, in_both, in_part] = [0, PAGE_BYTES as u64, 2 * CHUNK_BYTES as u64 + 5];
        own.write(in_own, &[7]);
        own.write(in_both, &[8]);
        part.write(in_both + 1, &[9]);
        part.write(in_part, &[10]);
        assert!(own.take_written(&part, &start).into_iter().eq(std::iter::once(in_both..2 * in_both)));
        for (offset, bytes) in [(0, [7, 2, 3]), (in_both, [8, 0, 0]), (in_part, [10, 0, 0])] {
            let mut found = [0; 3];
            own.read(offset, &mut found);
            assert_eq!(found, bytes, "{offset:#x}");
        }
        assert_eq!(own.written_bytes(), own.existing().count() as u64 * PAGE_BYTES as u64);
        assert!(part.shares(&own, in_part, 1) && start.shares(&part, 0, 1), "pages are taken, not copied");
    }
}
