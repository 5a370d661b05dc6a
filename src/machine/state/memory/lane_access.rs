//! One memory access by the lanes of a warp: its addresses, and the loops that read and write.

use super::{PAGE_BYTES, Pages};
use crate::machine::state::lanes::{LANES, LaneMask, PerLane};

/// The addresses of one access, with properties of them for checks and fast paths.
#[derive(Clone, Copy)]
pub struct LaneAccess {
    /// Address of each lane; lanes outside `mask` repeat that of the first lane inside.
    pub addresses: PerLane<u64>,
    /// The lanes that access memory; not empty.
    pub mask: LaneMask,
    /// Bytes per lane: a power of two.
    pub bytes: u32,
    /// Lowest address.
    pub min: u64,
    /// Highest address.
    pub max: u64,
    /// True if all lanes take part and the address of lane `i` is exactly `i * bytes` above the first.
    pub consecutive: bool,
    /// True if some address is no multiple of `bytes`.
    pub misaligned: bool,
    /// For shared memory of the cluster, the rank of the block.
    pub rank: u32,
}

impl LaneAccess {
    /// The access by the lanes in `mask`.
    #[inline(always)]
    pub fn new(mut addresses: PerLane<u64>, mask: LaneMask, bytes: u32) -> Self {
        debug_assert!(!mask.is_empty(), "no lane accesses memory");
        debug_assert!(bytes > 0, "an access of no byte");
        let first = addresses[mask.first()];
        if mask != LaneMask::ALL {
            for (lane, address) in addresses.iter_mut().enumerate() {
                *address = if mask.contains(lane) { *address } else { first };
            }
        }
        let (mut min, mut max, mut low_bits, mut stride_error) = (first, first, 0, 0);
        for (lane, address) in addresses.iter().enumerate() {
            min = min.min(*address);
            max = max.max(*address);
            low_bits |= *address;
            stride_error |= address.wrapping_sub(first) ^ (lane as u64 * u64::from(bytes));
        }
        let misaligned = low_bits & u64::from(bytes - 1) != 0;
        Self { addresses, mask, bytes, min, max, consecutive: mask == LaneMask::ALL && stride_error == 0, misaligned, rank: 0 }
    }

    /// The lanes for whose address `test` holds.
    pub fn lanes_where(&self, test: impl Fn(u64) -> bool) -> LaneMask {
        self.mask.filter(|lane| test(self.addresses[lane]))
    }

    /// The same access, by the lanes of `mask` only.
    pub fn only(&self, mask: LaneMask) -> Self {
        assert!(self.mask.contains_all(mask), "lanes access memory that did not");
        Self { rank: self.rank, ..Self::new(self.addresses, mask, self.bytes) }
    }

    /// Subtracts the start of a window from all addresses.
    #[inline(always)]
    pub fn subtract_window(&mut self, window: u64) {
        if window != 0 {
            debug_assert!(self.min >= window, "an access before its window");
            self.addresses.iter_mut().for_each(|address| *address = address.wrapping_sub(window));
            self.min -= window;
            self.max -= window;
        }
    }
}

/// Reads `N` bytes per lane, `skip` bytes after its address, and passes them to `put`. `origin` is the address of the first byte of
/// `pages`; every lane must access bytes inside.
#[inline(always)]
pub fn gather<const N: usize>(pages: &Pages, origin: u64, access: &LaneAccess, skip: u64, mut put: impl FnMut(usize, [u8; N])) {
    debug_assert!(access.min >= origin && access.min <= access.max, "an access before its memory");
    let start = access.min - origin + skip;
    let span = access.max - access.min;
    if span == 0 {
        let value = bytes_at(pages.page(start), start);
        (0..LANES).for_each(|lane| put(lane, value));
    } else if offset_in_page(start) + span as usize + N <= PAGE_BYTES && span < PAGE_BYTES as u64 {
        let page = pages.page(start);
        if access.consecutive && access.bytes as usize == N {
            let bytes = &page[offset_in_page(start)..offset_in_page(start) + LANES * N];
            bytes.chunks_exact(N).enumerate().for_each(|(lane, bytes)| put(lane, array(bytes)));
        } else {
            (0..LANES).for_each(|lane| put(lane, bytes_at(page, access.addresses[lane] - origin + skip)));
        }
    } else {
        gather_pages(pages, origin, access, skip, put);
    }
}

/// The general loop of [`gather`], for lanes on several pages.
#[inline(never)]
fn gather_pages<const N: usize>(pages: &Pages, origin: u64, access: &LaneAccess, skip: u64, mut put: impl FnMut(usize, [u8; N])) {
    let mut offset = access.addresses[0] - origin + skip;
    let mut page = pages.page(offset);
    let mut index = page_index(offset);
    for (lane, address) in access.addresses.iter().enumerate() {
        offset = address - origin + skip;
        if page_index(offset) != index {
            page = pages.page(offset);
            index = page_index(offset);
        }
        put(lane, bytes_at(page, offset));
    }
}

/// Passes the `N` bytes of each lane to `change`, which may read and write them, lowest lane first. All bytes must be inside `pages`.
#[inline(always)]
pub fn scatter<const N: usize>(
    pages: &mut Pages,
    origin: u64,
    access: &LaneAccess,
    skip: u64,
    mut change: impl FnMut(usize, &mut [u8; N]),
) {
    let mut lanes = access.mask.iter().peekable();
    while let Some(lane) = lanes.peek() {
        let offset = access.addresses[*lane] - origin + skip;
        let index = page_index(offset);
        let page = pages.page_mut(offset);
        while let Some(lane) = lanes.next_if(|lane| page_index(access.addresses[*lane] - origin + skip) == index) {
            let at = offset_in_page(access.addresses[lane] - origin + skip);
            debug_assert!(at + N <= PAGE_BYTES, "an access over the end of a page");
            if let Some(bytes) = page[at..].first_chunk_mut() {
                change(lane, bytes);
            }
        }
    }
    if pages.has_unknown() {
        access.mask.iter().for_each(|lane| pages.mark_known(access.addresses[lane] - origin + skip, N as u64));
    }
}

#[inline(always)]
fn offset_in_page(offset: u64) -> usize {
    offset as usize % PAGE_BYTES
}

#[inline(always)]
fn page_index(offset: u64) -> u64 {
    offset / PAGE_BYTES as u64
}

#[inline(always)]
fn bytes_at<const N: usize>(page: &[u8; PAGE_BYTES], offset: u64) -> [u8; N] {
    array(&page[offset_in_page(offset)..offset_in_page(offset) + N])
}

#[inline(always)]
fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(bytes);
    out
}
