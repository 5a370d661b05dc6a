//! Loads and stores whose lanes access one page.

use super::pattern::Pattern;
use crate::isa::Space;
use crate::machine::state::lanes::{LANES, LaneMask, LaneShape, PerLane, ROW};
use crate::machine::state::memory::{PAGE_BYTES, Pages, Region};
use crate::program::map::Map;

pub(super) type Page = [u8; PAGE_BYTES];

/// The memory that a stretch can access.
pub(super) struct Memory<'a> {
    /// The windows of generic addresses.
    pub map: &'a Map,
    /// Global memory.
    pub global: &'a mut Region,
    /// Constant memory.
    pub constant: &'a Region,
    /// The block's shared memory.
    pub shared: &'a mut Pages,
    /// The start of the block's shared memory in the window of shared memory.
    pub shared_base: u64,
    /// The part of it that the kernel may access.
    pub shared_range: (u64, u64),
    /// The parameters of the kernel.
    pub params: &'a [u8],
}

/// The memory of an access.
pub(super) struct Found<'a> {
    /// Its space, never `Generic`.
    pub space: Space,
    /// The lowest address in that space.
    pub low: u64,
    /// The pages, and the position of that address in them; none for parameters.
    pub pages: Option<(&'a Pages, u64)>,
}

impl Memory<'_> {
    /// The memory of an access in `space`, of `bytes` bytes at every address from `low` to `low + span`. None if it is not all accessible
    /// and known.
    #[inline(always)]
    pub fn find(&self, space: Space, low: u64, span: u32, bytes: u32) -> Option<Found<'_>> {
        let (space, window) = match space {
            Space::Global => (space, 0),
            Space::Shared | Space::SharedCluster => (Space::Shared, self.shared_base),
            Space::Const => (space, 0),
            Space::Generic => match self.map.window_of(low) {
                (Space::Shared, window) => (Space::Shared, window + self.shared_base),
                owner => owner,
            },
            Space::Local | Space::Param | Space::ParamFunc => return None,
        };
        let low = low.checked_sub(window)?;
        let pages = match space {
            Space::Global => in_region(self.global, low, span, bytes)?,
            Space::Shared => (&*self.shared, self.in_shared(low, span, bytes)?),
            Space::Const => in_region(self.constant, low, span, bytes)?,
            Space::Generic | Space::SharedCluster | Space::Local | Space::Param | Space::ParamFunc => return None,
        };
        Some(Found { space, low, pages: Some(pages) })
    }

    /// The memory of an access that writes, the position of its lowest address in the pages, and in its page. None also if it is not all
    /// in one page.
    #[inline(always)]
    pub fn find_writable(&self, space: Space, low: u64, span: u32, bytes: u32) -> Option<(Found<'_>, u64, usize)> {
        let found = self.find(space, low, span, bytes)?;
        let (_, start) = found.pages.filter(|_| found.space != Space::Const)?;
        Some((found, start, in_one_page(start, span, bytes)?))
    }

    /// The parameter of `N` bytes at `address`.
    #[inline(always)]
    pub fn param<const N: usize>(&self, address: u64) -> Option<[u8; N]> {
        self.params.get(usize::try_from(address).ok()?..)?.first_chunk().copied()
    }

    /// The page to write of what was found at the address `low` of global or shared memory.
    #[inline(always)]
    pub fn page_mut(&mut self, space: Space, low: u64, start: u64) -> Option<&mut Page> {
        let pages = if space == Space::Shared { &mut *self.shared } else { &mut self.global.find_mut(low)?.pages };
        Some(pages.page_mut(start))
    }

    #[inline(always)]
    fn in_shared(&self, low: u64, span: u32, bytes: u32) -> Option<u64> {
        let (start, end) = self.shared_range;
        (low >= start && low.saturating_add(u64::from(span) + u64::from(bytes)) <= end).then_some(low)
    }
}

/// The pages of an access to `region`, and its position in them.
#[inline(always)]
fn in_region(region: &Region, low: u64, span: u32, bytes: u32) -> Option<(&Pages, u64)> {
    let allocation = region.find(low)?;
    let is_inside = allocation.holds(low, low.saturating_add(u64::from(span)), bytes) && !allocation.pages.has_unknown();
    is_inside.then(|| (&allocation.pages, allocation.offset(low)))
}

/// The position of an access in its page.
#[inline(always)]
pub(super) fn in_one_page(start: u64, span: u32, bytes: u32) -> Option<usize> {
    let at = start as usize % PAGE_BYTES;
    (at + span as usize + bytes as usize <= PAGE_BYTES).then_some(at)
}

/// Reads words of `N` bytes, which are aligned, at `at` and the distances of `pattern`.
#[inline(always)]
pub(super) fn gather<const N: usize, T: Copy + Default>(
    page: &Page,
    at: usize,
    pattern: &Pattern,
    word: impl Fn([u8; N]) -> T,
) -> PerLane<T> {
    let words = page.as_chunks::<N>().0;
    let count = PAGE_BYTES / N;
    let strides = match pattern.shape {
        LaneShape::Same => return [word(words[at / N % count]); LANES],
        LaneShape::Rows(strides) => strides,
    };
    let mut out = [T::default(); LANES];
    for (row, out) in out.as_chunks_mut::<ROW>().0.iter_mut().enumerate() {
        let first = at + pattern.deltas[row * ROW] as usize;
        if strides[row] as usize == N
            && let Some(words) = words.get(first / N % count..).and_then(|words| words.first_chunk::<ROW>())
        {
            for lane in 0..ROW {
                out[lane] = word(words[lane]);
            }
        } else if strides[row] == 0 {
            *out = [word(words[first / N % count]); ROW];
        } else {
            for lane in 0..ROW {
                out[lane] = word(words[(at + pattern.deltas[row * ROW + lane] as usize) / N % count]);
            }
        }
    }
    out
}

/// [`gather`] as a function of its own: inlined into the loop of stretches for every form of load, it would take the compiler minutes.
pub(super) struct Words<'a, const N: usize, F> {
    pub page: &'a Page,
    pub at: usize,
    pub pattern: &'a Pattern,
    /// A word of these bytes.
    pub word: F,
}

impl<const N: usize, T: Copy + Default, F: Fn([u8; N]) -> T> pulp::WithSimd for Words<'_, N, F> {
    type Output = PerLane<T>;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _simd: S) -> PerLane<T> {
        gather(self.page, self.at, self.pattern, self.word)
    }
}

/// Writes words of `N` bytes, which are aligned, for the lanes of `mask`, the lowest first.
#[inline(never)]
pub(super) fn scatter<const N: usize, T: Copy>(
    page: &mut Page,
    at: usize,
    (pattern, mask): (&Pattern, LaneMask),
    values: &PerLane<T>,
    bytes: impl Fn(T) -> [u8; N],
) {
    let count = PAGE_BYTES / N;
    let words = page.as_chunks_mut::<N>().0;
    if let LaneShape::Rows(strides) = pattern.shape
        && mask == LaneMask::ALL
    {
        for (row, values) in values.as_chunks::<ROW>().0.iter().enumerate() {
            let first = at + pattern.deltas[row * ROW] as usize;
            if strides[row] as usize == N
                && let Some(words) = words.get_mut(first / N % count..).and_then(|words| words.first_chunk_mut::<ROW>())
            {
                for lane in 0..ROW {
                    words[lane] = bytes(values[lane]);
                }
            } else {
                for lane in 0..ROW {
                    words[(at + pattern.deltas[row * ROW + lane] as usize) / N % count] = bytes(values[lane]);
                }
            }
        }
    } else {
        mask.iter().for_each(|lane| words[(at + pattern.deltas[lane] as usize) / N % count] = bytes(values[lane]));
    }
}

/// True if all addresses from `low` on are multiples of `bytes`, a power of two.
#[inline(always)]
pub(super) fn is_aligned(low: u64, pattern: &Pattern, bytes: u32) -> bool {
    (low as u32 | pattern.low_bits) & (bytes - 1) == 0
}
