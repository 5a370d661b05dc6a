//! The bytes of global memory that the blocks of a partial launch have written: of the memory after a whole launch, these alone can be
//! compared. Bytes that atomics update are apart: other blocks may have updated them, too.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::isa::Space;
use crate::launch::{Case, PlannedLaunch, join_ranges};
use crate::machine::{AccessKind, CopyStage, Event, EventKind, EventMask, MemoryOwner, Observer, PlainRead};

/// Bytes of a page of the map: a bit for each byte in a word.
const PAGE_BYTES: u64 = 64;

/// The bytes of global memory that were written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// A bit for each byte that was stored or copied to, by the index of its page.
    stored: BTreeMap<u64, u64>,
    /// A bit for each byte that an atomic has updated.
    updated: BTreeMap<u64, u64>,
}

impl Written {
    /// The bytes in `range` that were stored and that no atomic has updated, in order.
    pub fn stored(&self, range: &Range<u64>) -> Vec<Range<u64>> {
        let pages = self.stored.range(range.start / PAGE_BYTES..range.end.div_ceil(PAGE_BYTES));
        let mut found: Vec<Range<u64>> = Vec::new();
        for (page, bits) in pages {
            let bits = bits & !self.updated.get(page).copied().unwrap_or(0);
            let bytes = (0..PAGE_BYTES).filter(|at| bits >> at & 1 != 0).map(|at| page * PAGE_BYTES + at);
            for byte in bytes.filter(|byte| range.contains(byte)) {
                match found.last_mut() {
                    Some(last) if last.end == byte => last.end += 1,
                    _ => found.push(byte..byte + 1),
                }
            }
        }
        join_ranges(&mut found);
        found
    }

    /// The number of bytes in `range` that atomics have updated.
    pub fn updated_bytes(&self, range: &Range<u64>) -> u64 {
        let pages = self.updated.range(range.start / PAGE_BYTES..range.end.div_ceil(PAGE_BYTES));
        let is_inside = |page: &u64, at: u64| range.contains(&(page * PAGE_BYTES + at));
        pages.map(|(page, bits)| (0..PAGE_BYTES).filter(|at| bits >> at & 1 != 0 && is_inside(page, *at)).count() as u64).sum()
    }

    /// True if a byte in `range` was stored or updated.
    pub fn any(&self, range: &Range<u64>) -> bool {
        self.count(range) > 0
    }

    /// True if all bytes in `range` were stored or updated.
    pub fn all(&self, range: &Range<u64>) -> bool {
        self.count(range) == range.end - range.start
    }

    /// The number of bytes in `range` that were stored or updated.
    fn count(&self, range: &Range<u64>) -> u64 {
        let pages = range.start / PAGE_BYTES..range.end.div_ceil(PAGE_BYTES);
        let bits = |page: u64| self.stored.get(&page).copied().unwrap_or(0) | self.updated.get(&page).copied().unwrap_or(0);
        let is_inside = |page: u64, at: u64| range.contains(&(page * PAGE_BYTES + at));
        pages.map(|page| (0..PAGE_BYTES).filter(|at| bits(page) >> at & 1 != 0 && is_inside(page, *at)).count() as u64).sum()
    }

    fn add(bytes: &mut BTreeMap<u64, u64>, address: u64, count: u64) {
        let end = address.saturating_add(count);
        let mut at = address;
        while at < end {
            let (page, first) = (at / PAGE_BYTES, at % PAGE_BYTES);
            let here = (end - at).min(PAGE_BYTES - first);
            *bytes.entry(page).or_insert(0) |= u64::MAX >> (PAGE_BYTES - here) << first;
            at += here;
        }
    }
}

impl Observer for Written {
    fn mask(&self) -> EventMask {
        EventMask::of(&[EventKind::Access, EventKind::Copy])
    }

    fn event(&mut self, event: &Event<'_>) -> bool {
        match event {
            Event::Access(access) if access.space == Space::Global && access.kind != AccessKind::Read => {
                let bytes = if access.kind == AccessKind::Atomic { &mut self.updated } else { &mut self.stored };
                access.lanes.iter().for_each(|lane| Self::add(bytes, access.addresses[lane], access.bytes.into()));
            }
            Event::Copy(event) if event.stage == CopyStage::Ended => {
                // A reduction, or a copy of some of the bytes.
                let bytes = if event.copy.kind.replaces() { &mut self.stored } else { &mut self.updated };
                event.copy.kind.visit_writes(event.lanes, |to, count| {
                    if to.owner == MemoryOwner::Global {
                        Self::add(bytes, to.address, count);
                    }
                });
            }
            _ => {}
        }
        false
    }

    fn observes(&self, space: Space) -> bool {
        space == Space::Global
    }

    fn plain_read(&mut self, _read: &PlainRead<'_>) -> bool {
        true
    }
}

/// An observer with another one beside it, each of which receives the events of its own mask.
pub struct Beside<'a>(pub &'a mut dyn Observer, pub &'a mut dyn Observer);

impl Observer for Beside<'_> {
    fn mask(&self) -> EventMask {
        self.0.mask().with(self.1.mask())
    }

    fn event(&mut self, event: &Event<'_>) -> bool {
        let pass = |observer: &mut dyn Observer| observer.mask().has(event.kind()) && observer.event(event);
        // Each receives it, whatever the other one answers.
        let pauses = pass(self.0);
        pass(self.1) || pauses
    }

    fn observes(&self, space: Space) -> bool {
        self.0.observes(space) || self.1.observes(space)
    }

    /// What the second one takes note of, it may receive again.
    fn plain_read(&mut self, read: &PlainRead<'_>) -> bool {
        let notes = |observer: &mut dyn Observer| !observer.mask().has(EventKind::Access) || observer.plain_read(read);
        notes(self.1) && notes(self.0)
    }
}

/// True if some of the blocks of a launch do not run.
pub fn is_partial(launch: &PlannedLaunch) -> bool {
    !launch.blocks.is_empty()
}

/// An empty record, if some launch of `case` is partial.
pub fn record_of(case: &Case) -> Option<Written> {
    case.launches.iter().any(is_partial).then(Written::default)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_joined_and_those_of_atomics_are_apart() {
        let mut written = Written::default();
        Written::add(&mut written.stored, 60, 72);
        Written::add(&mut written.stored, 200, 4);
        Written::add(&mut written.updated, 64, 4);
        assert_eq!(written.stored(&(0..1000)), [60..64, 68..132, 200..204]);
        assert_eq!(written.stored(&(62..70)), [62..64, 68..70]);
        assert!(written.all(&(60..132)) && !written.all(&(59..132)) && written.any(&(130..200)) && !written.any(&(132..200)));
        assert_eq!((written.updated_bytes(&(0..1000)), written.updated_bytes(&(0..66)), written.updated_bytes(&(68..90))), (4, 2, 0));
    }
}
