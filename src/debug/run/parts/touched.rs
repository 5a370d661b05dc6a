//! The global memory that a part of a grid touches, and the observer that records it.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::check::Checkers;
use crate::isa::Space;
use crate::machine::{
    AccessEvent, AccessKind, CopyEvent, CopyStage, Event, EventKind, EventMask, LaneMask, LaneShape, MemoryOwner, Observer, PlainRead, ROW,
};
use crate::program::map::overlap;

/// Bytes of a page.
const PAGE: u64 = 4096;

/// Bytes of a unit: two parts that touch one unit are taken to touch the same bytes.
const UNIT: u64 = 4;

/// Words of the bits of a page.
const WORDS: usize = (PAGE / UNIT / 64) as usize;

/// A bit for each unit of a page.
type Units = [u64; WORDS];

/// The units of a page that were read and written.
#[derive(Clone, Default)]
struct Page {
    read: Units,
    written: Units,
}

/// A buffer that the kernel only reads, as far as its code says.
struct ReadOnlyBuffer {
    bytes: Range<u64>,
    /// True if it was read: then all of it counts as read.
    is_read: bool,
}

/// The global memory that was touched.
#[derive(Default)]
pub(super) struct Touched {
    read_only: Vec<ReadOnlyBuffer>,
    pages: Vec<Page>,
    /// The index of each page, by its number.
    index: BTreeMap<u64, u32>,
    /// The pages that were looked up last, each with its number plus one.
    recent: [(u64, u32); 16],
}

impl Touched {
    /// Nothing, by a kernel that only reads these buffers.
    pub fn new(read_only: impl Iterator<Item = Range<u64>>) -> Self {
        Self { read_only: read_only.map(|bytes| ReadOnlyBuffer { bytes, is_read: false }).collect(), ..Self::default() }
    }

    fn page(&mut self, number: u64) -> &mut Page {
        let recent = &mut self.recent[number as usize % 16];
        if recent.0 != number + 1 {
            let pages = &mut self.pages;
            let index = *self.index.entry(number).or_insert_with(|| {
                pages.push(Page::default());
                pages.len() as u32 - 1
            });
            *recent = (number + 1, index);
        }
        &mut self.pages[recent.1 as usize]
    }

    /// Adds the `bytes` bytes from `address` on.
    #[inline]
    fn add(&mut self, mut address: u64, bytes: u64, (reads, writes): (bool, bool)) {
        let end = address.saturating_add(bytes);
        while address < end {
            let page = self.page(address / PAGE);
            let first = address % PAGE / UNIT;
            let last = (end - 1).min(address / PAGE * PAGE + PAGE - 1) % PAGE / UNIT;
            for word in first / 64..=last / 64 {
                let from = first.max(word * 64) % 64;
                let to = last.min(word * 64 + 63) % 64;
                let bits = u64::MAX >> (63 - (to - from)) << from;
                page.read[word as usize] |= if reads { bits } else { 0 };
                page.written[word as usize] |= if writes { bits } else { 0 };
            }
            address = (address / PAGE + 1) * PAGE;
        }
    }

    /// Notes that memory from `low` to `last` is read; false if it is in no buffer that the kernel only reads.
    fn is_noted(&mut self, low: u64, last: u64) -> bool {
        let buffer = self.read_only.iter_mut().find(|buffer| buffer.bytes.contains(&low) && buffer.bytes.contains(&last));
        buffer.map(|buffer| buffer.is_read = true).is_some()
    }

    fn add_access(&mut self, event: &AccessEvent<'_>) {
        if event.kind == AccessKind::Read && self.is_noted(event.min, event.max.saturating_add(u64::from(event.bytes) - 1)) {
            return;
        }
        let kind = (event.kind != AccessKind::Write, event.kind != AccessKind::Read);
        match event.shape {
            Some(shape) if event.lanes == LaneMask::ALL => self.add_shape(shape, |lane| event.addresses[lane], event.bytes, kind),
            Some(_) | None => event.lanes.iter().for_each(|lane| self.add(event.addresses[lane], u64::from(event.bytes), kind)),
        }
    }

    /// Adds an access of `bytes` bytes by each lane of a warp, whose addresses have this shape.
    fn add_shape(&mut self, shape: &LaneShape, address: impl Fn(usize) -> u64, bytes: u32, kind: (bool, bool)) {
        let lane_bytes = u64::from(bytes);
        let strides = match shape {
            LaneShape::Same => return self.add(address(0), lane_bytes, kind),
            LaneShape::Rows(strides) => strides,
        };
        for (row, stride) in strides.iter().enumerate() {
            let lanes = row * ROW..(row + 1) * ROW;
            if *stride == bytes {
                self.add(address(lanes.start), ROW as u64 * lane_bytes, kind);
            } else if *stride == 0 {
                self.add(address(lanes.start), lane_bytes, kind);
            } else {
                lanes.for_each(|lane| self.add(address(lane), lane_bytes, kind));
            }
        }
    }

    /// Adds a plain read of global memory.
    fn add_read(&mut self, read: &PlainRead<'_>) {
        if self.is_noted(read.low, read.low.saturating_add(read.span - 1)) {
            return;
        }
        let (kind, address) = ((true, false), |lane: usize| read.low + u64::from(read.deltas[lane]));
        if read.lanes == LaneMask::ALL {
            self.add_shape(read.shape, address, read.bytes, kind);
        } else {
            read.lanes.iter().for_each(|lane| self.add(address(lane), u64::from(read.bytes), kind));
        }
    }

    fn add_copy(&mut self, event: &CopyEvent<'_>) {
        if event.stage != CopyStage::Issued {
            return;
        }
        event.copy.kind.visit_reads(event.lanes, |at, bytes| {
            if at.owner == MemoryOwner::Global {
                self.add(at.address, bytes, (true, false));
            }
        });
        event.copy.kind.visit_writes(event.lanes, |at, bytes| {
            if at.owner == MemoryOwner::Global {
                self.add(at.address, bytes, (true, true));
            }
        });
    }

    /// True if one part writes what the other one touches.
    pub fn meets(&self, other: &Self) -> bool {
        self.writes_read_only(other) || other.writes_read_only(self) || self.meets_units(other)
    }

    /// True if it writes to a buffer that is only read, and another part reads.
    fn writes_read_only(&self, other: &Self) -> bool {
        let mut read = other.read_only.iter().filter(|buffer| buffer.is_read).map(|buffer| &buffer.bytes);
        read.any(|bytes| {
            let mut pages = self.index.range(bytes.start / PAGE..bytes.end.div_ceil(PAGE));
            pages.any(|(number, index)| self.written_of(*number, *index).any(|written| overlap(&written, bytes)))
        })
    }

    fn meets_units(&self, other: &Self) -> bool {
        let both = self.index.iter().filter_map(|(number, index)| Some((index, other.index.get(number)?)));
        both.map(|(own, others)| (&self.pages[*own as usize], &other.pages[*others as usize])).any(|(own, other)| {
            let touched = |page: &Page, word: usize| page.read[word] | page.written[word];
            (0..WORDS).any(|word| own.written[word] & touched(other, word) | touched(own, word) & other.written[word] != 0)
        })
    }

    /// The units that were written, as ranges of addresses of which each is in one page.
    pub fn written(&self) -> impl Iterator<Item = Range<u64>> {
        self.index.iter().flat_map(|(number, index)| self.written_of(*number, *index))
    }

    /// Those of the page of this number, at this index.
    fn written_of(&self, number: u64, index: u32) -> impl Iterator<Item = Range<u64>> {
        let start = number * PAGE;
        runs(&self.pages[index as usize].written).map(move |run| start + run.start * UNIT..start + run.end * UNIT)
    }
}

/// The runs of bits that are set.
fn runs(units: &Units) -> impl Iterator<Item = Range<u64>> {
    /// The first unit from `from` on of which `bits` has the bit, which gives those of a word.
    fn first(from: u64, bits: impl Fn(u64) -> u64) -> Option<u64> {
        let of_word = |word: u64| bits(word) & if word == from / 64 { u64::MAX << (from % 64) } else { u64::MAX };
        let place = |word: u64| Some(of_word(word)).filter(|bits| *bits != 0).map(|bits| word * 64 + u64::from(bits.trailing_zeros()));
        (from / 64..WORDS as u64).find_map(place)
    }
    let mut next = 0;
    std::iter::from_fn(move || {
        let start = first(next, |word| units[word as usize])?;
        next = first(start, |word| !units[word as usize]).unwrap_or(PAGE / UNIT);
        Some(start..next)
    })
}

/// An observer that records what a part touches, beside the checkers.
pub(super) struct Touching<'a> {
    pub touched: &'a mut Touched,
    pub checkers: Option<&'a mut Checkers>,
}

/// The events that [`Touched`] needs.
const TOUCHES: EventMask = EventMask::of(&[EventKind::Access, EventKind::Copy]);

impl Observer for Touching<'_> {
    #[inline]
    fn mask(&self) -> EventMask {
        self.checkers.as_ref().map_or(TOUCHES, |checkers| checkers.mask().with(TOUCHES))
    }

    fn event(&mut self, event: &Event<'_>) -> bool {
        match event {
            Event::Access(access) if access.space == Space::Global => self.touched.add_access(access),
            Event::Copy(copy) => self.touched.add_copy(copy),
            Event::Access(_)
            | Event::Sync(_)
            | Event::Mbarrier(_)
            | Event::Wgmma(_)
            | Event::LocalStart(_)
            | Event::Collective(_)
            | Event::Before(..)
            | Event::After(..)
            | Event::Reconverged(..)
            | Event::Arrived(..) => {}
        }
        self.checkers.as_mut().is_some_and(|checkers| checkers.event(event))
    }

    fn observes(&self, space: Space) -> bool {
        space == Space::Global || self.checkers.as_ref().is_some_and(|checkers| checkers.observes(space))
    }

    fn plain_read(&mut self, read: &PlainRead<'_>) -> bool {
        let is_noted = self.checkers.as_mut().is_none_or(|checkers| checkers.plain_read(read));
        if is_noted && read.space == Space::Global {
            self.touched.add_read(read);
        }
        is_noted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_meet_where_one_writes_what_another_touches() {
        let of = |touches: &[(u64, u64, bool)]| {
            let mut touched = Touched::default();
            touches.iter().for_each(|(address, bytes, writes)| touched.add(*address, *bytes, (!writes, *writes)));
            touched
        };
        let written = of(&[(0x1000, 128, true), (0x1ffc, 8, true), (0x1100, 4, false)]);
        let ranges: Vec<Range<u64>> = written.written().collect();
        assert_eq!(ranges, [0x1000..0x1080, 0x1ffc..0x2000, 0x2000..0x2004]);
        for (touches, meets) in [
            (&[(0x1080, 0x80, false)][..], false),
            (&[(0x107f, 1, false)], true),
            (&[(0x2003, 1, true)], true),
            (&[(0x1100, 4, false)], false),
            (&[(0x1100, 4, true)], true),
            (&[(0x3000, 4096, true)], false),
            (&[(0xf00, 0x101, false)], true),
        ] {
            assert_eq!((written.meets(&of(touches)), of(touches).meets(&written)), (meets, meets), "{touches:x?}");
        }
    }

    #[test]
    fn a_write_to_a_buffer_that_is_only_read_meets_its_reads() {
        let reader = |is_read| {
            let mut touched = Touched::new(std::iter::once(0x2000..0x3000));
            touched.read_only[0].is_read = is_read;
            touched
        };
        let writer = |address| {
            let mut touched = Touched::new(std::iter::once(0x2000..0x3000));
            touched.add(address, 4, (false, true));
            touched
        };
        for (address, is_read, meets) in [(0x2ffc, true, true), (0x2ffc, false, false), (0x3000, true, false), (0x1ffc, true, false)] {
            let (reader, writer) = (reader(is_read), writer(address));
            assert_eq!((reader.meets(&writer), writer.meets(&reader)), (meets, meets), "{address:#x}");
        }
    }

    #[test]
    fn a_range_over_pages_sets_all_its_units() {
        let mut touched = Touched::default();
        touched.add(0x0ff0, 0x2020, (false, true));
        assert_eq!(touched.written().map(|range| range.end - range.start).sum::<u64>(), 0x2020);
    }
}
