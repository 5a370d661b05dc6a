//! Buffers in global memory that a kernel only reads: plain reads of them race with nothing, and are not recorded.
//!
//! A buffer is only read if the address of every write starts at another one ([`crate::flow::written_bases`]). An index that is out of
//! bounds may bring a write to it nevertheless. So some reads of every page are retained: at the first write to the buffer they are
//! recorded, and from then on all are.

use std::ops::Range;

use super::access::Access;
use crate::check::base_bytes::read_only_buffers;
use crate::check::finding::SideAction;
use crate::machine::LaunchStart;
use crate::program::Program;
use crate::program::map::overlap;

/// Bytes of memory for which reads are retained together.
const PAGE: u64 = 4096;

/// Reads that are retained of a page: the last of each group of warps.
const RETAINED: usize = 8;

/// The buffers that a launch only reads, as far as is known.
#[derive(Clone, Default)]
pub(super) struct ReadOnlyBuffers(Vec<Buffer>);

/// A buffer, with the reads that are retained, by page from its start on.
#[derive(Clone)]
struct Buffer {
    bytes: Range<u64>,
    pages: Vec<Option<Box<[Option<Access>; RETAINED]>>>,
}

impl ReadOnlyBuffers {
    /// The buffers that the kernel of a launch only reads.
    pub fn of(program: &Program, start: &LaunchStart) -> Self {
        Self(read_only_buffers(program, start).map(|bytes| Buffer { bytes, pages: Vec::new() }).collect())
    }

    /// Retains a read of the bytes `range`, instead of recording it; false, without effect, if they are not all in one of the buffers.
    #[inline(always)]
    pub fn retain(&mut self, range: &Range<u64>, read: impl FnOnce() -> Access) -> bool {
        let Some(buffer) =
            self.0.iter_mut().find(|buffer| buffer.bytes.contains(&range.start)).filter(|buffer| range.end <= buffer.bytes.end)
        else {
            return false;
        };
        let page = ((range.start - buffer.bytes.start) / PAGE) as usize;
        if page >= buffer.pages.len() {
            buffer.pages.resize_with(page + 1, || None);
        }
        let read = read();
        assert!(read.action == SideAction::Read && read.strong.is_none(), "a plain read is retained");
        let group = (read.op.block as usize + read.op.warp.index()) % RETAINED;
        buffer.pages[page].get_or_insert_default()[group] = Some(read);
        true
    }

    /// The reads that were retained of buffers of which one of the bytes `range` is part: these are written now.
    #[inline(always)]
    pub fn take(&mut self, range: &Range<u64>) -> Vec<Access> {
        if !self.0.iter().any(|buffer| overlap(&buffer.bytes, range)) {
            return Vec::new();
        }
        let (written, read) = std::mem::take(&mut self.0).into_iter().partition(|buffer| overlap(&buffer.bytes, range));
        self.0 = read;
        let written: Vec<Buffer> = written;
        let mut reads: Vec<Access> =
            written.into_iter().flat_map(|buffer| buffer.pages).flatten().flat_map(|page| *page).flatten().collect();
        reads.sort_by_key(|read| read.op.tick);
        reads
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> usize {
        let pages = self.0.iter().flat_map(|buffer| &buffer.pages);
        pages.map(|page| size_of_val(page) + page.as_ref().map_or(0, |page| size_of_val(&**page))).sum()
    }

    /// Bytes of memory in the pages of which reads are retained.
    pub fn covered(&self) -> usize {
        self.0.iter().flat_map(|buffer| &buffer.pages).flatten().count() * PAGE as usize
    }
}
