//! A run of bytes that is cheap to clone and pays only for what is touched.
//!
//! Bytes lie in pages of 4 KiB, pages in chunks of 1 MiB, both shared until they are written (copy on write). A page that was never
//! written does not exist and reads as the fill byte. Typed accesses are naturally aligned, so none of them crosses a page.

use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::LazyLock;

use triomphe::Arc;

use super::unknown::Unknown;

use crate::machine::state::digest::Digest;

/// Bytes of a page.
pub const PAGE_BYTES: usize = 4096;
const PAGES_PER_CHUNK: usize = 256;
const CHUNK_BYTES: usize = PAGE_BYTES * PAGES_PER_CHUNK;

type Page = [u8; PAGE_BYTES];

/// The page that never-written zeros read as: most memory starts as zeros, and every block has some.
static ZEROS: LazyLock<Arc<Page>> = LazyLock::new(|| Arc::new([0; PAGE_BYTES]));

#[derive(Clone)]
struct Chunk {
    pages: [Option<Arc<Page>>; PAGES_PER_CHUNK],
}

/// A run of bytes, shared until written.
#[derive(Clone)]
pub struct Pages {
    chunks: Vec<Option<Arc<Chunk>>>,
    len: u64,
    /// Pages that exist.
    touched: u32,
    /// The contents of absent pages; shared by all clones.
    blank: Arc<Page>,
    /// The bytes that are not known; nothing where all are.
    unknown: Option<Unknown>,
}

impl Pages {
    /// `len` bytes, all of them `fill`.
    pub fn new(len: u64, fill: u8) -> Self {
        let chunks = usize::try_from(len.div_ceil(CHUNK_BYTES as u64)).unwrap_or(0);
        let blank = if fill == 0 { Arc::clone(&ZEROS) } else { Arc::new([fill; PAGE_BYTES]) };
        Self { chunks: vec![None; chunks], len, touched: 0, blank, unknown: None }
    }

    /// Number of bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Bytes of pages that were written at any time.
    pub fn touched_bytes(&self) -> u64 {
        u64::from(self.touched) * PAGE_BYTES as u64
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

    /// The page that holds byte `offset`, to write; unshared first if need be.
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
                self.touched += 1;
                Arc::make_mut(absent.insert(Arc::new(*self.blank)))
            }
        }
    }

    /// Copies the bytes from `offset` on into `out`; the range must lie inside.
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

    /// All bytes are unknown but for those of the pages that begin at the offsets `known`, in ascending order.
    pub fn know_only(&mut self, known: impl Iterator<Item = u64>) {
        self.unknown = Some(Unknown::all_but(self.len, known));
    }

    /// Whether there were bytes that are not known.
    #[inline(always)]
    pub fn has_unknown(&self) -> bool {
        self.unknown.is_some()
    }

    /// The first of `bytes` bytes from `offset` on that is not known.
    #[inline(always)]
    pub fn first_unknown(&self, offset: u64, bytes: u64) -> Option<u64> {
        self.unknown.as_ref().and_then(|unknown| unknown.first(offset, bytes))
    }

    /// The ranges of bytes that are not known, of `bytes` bytes from `offset` on, in order.
    pub fn unknown_ranges(&self, offset: u64, bytes: u64) -> impl Iterator<Item = Range<u64>> {
        self.unknown.iter().flat_map(move |unknown| unknown.ranges(offset, bytes))
    }

    /// Bytes are written: they are known from now on.
    #[inline(always)]
    pub fn learn(&mut self, offset: u64, bytes: u64) {
        if let Some(unknown) = &mut self.unknown {
            unknown.learn(offset, bytes);
        }
    }

    /// The page at `offset`, a multiple of [`PAGE_BYTES`], holds `contents`, but for what has been written to it since. False where it was
    /// known.
    pub fn supply(&mut self, offset: u64, contents: &Page) -> bool {
        assert!(offset.is_multiple_of(PAGE_BYTES as u64) && offset < self.len, "a page begins at {offset:#x}");
        let Some(unknown) = &mut self.unknown else { return false };
        let mut merged = *contents;
        let Some(is_written) = unknown.written(offset) else { return false };
        let written: Vec<usize> = (0..PAGE_BYTES).filter(|at| is_written(*at)).collect();
        drop(is_written);
        unknown.supply(offset);
        let page = self.page_mut(offset);
        written.iter().for_each(|at| merged[*at] = page[*at]);
        *page = merged;
        true
    }

    /// The pages that exist, each with its offset.
    pub fn existing(&self) -> impl Iterator<Item = (u64, &Page)> {
        self.chunks.iter().enumerate().filter_map(|(number, chunk)| Some((number, chunk.as_ref()?))).flat_map(|(number, chunk)| {
            let pages = chunk.pages.iter().enumerate();
            pages.filter_map(move |(page, at)| Some(((number * CHUNK_BYTES + page * PAGE_BYTES) as u64, &**at.as_ref()?)))
        })
    }

    /// Copies `bytes` to `offset` on; the range must lie inside.
    pub fn write(&mut self, mut offset: u64, mut bytes: &[u8]) {
        debug_assert!(offset.checked_add(bytes.len() as u64).is_some_and(|end| end <= self.len), "bytes are written past the end");
        self.learn(offset, bytes.len() as u64);
        while !bytes.is_empty() {
            let at = offset as usize % PAGE_BYTES;
            let (head, tail) = bytes.split_at(bytes.len().min(PAGE_BYTES - at));
            self.page_mut(offset)[at..at + head.len()].copy_from_slice(head);
            offset += head.len() as u64;
            bytes = tail;
        }
    }

    /// Whether `other`, an earlier or later clone, shares all pages of `bytes` bytes from `offset` on: no write touched them in between.
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

    /// Bytes of pages that `other`, an earlier clone, does not share.
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
    /// The contents, absent pages as the fill bytes they read as.
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
