//! Whether a run on weak memory is sequentially consistent: whether an order of all accesses has each load return the last write before it.
//!
//! That is so if program order, what reads read from, the order of writes, and the order of a read before the writes after its own have no
//! cycle. All of them lead forward in time, but for two: a load that returns an older write comes before the next one, which was executed
//! earlier, and so does a store that takes a place before others. A cycle has such a step to a *missed* write. A first run of a launch
//! notes the missed writes, and a second one, which is the same, follows what comes after each of them: its threads, what they write, and
//! what reads or overwrites that. There is a cycle if it comes back.
//!
//! Where coherence order leaves two writes without an order, or too much is missed, nothing is said. What is no access of the generic
//! proxy, or a shuffle between lanes, is not followed: then a run may count as sequentially consistent that is not, and nothing is said.

use std::collections::BTreeMap;

use super::history::{History, Location, places};
use super::thread::Place;

/// A write: its thread, and when it was executed.
pub(super) type WriteKey = (Place, u64);

/// Writes that are followed at most, a bit each.
const MISSED_MAX: usize = u128::BITS as usize;

/// Writes of a location of which each is followed for itself; of those before it is known together what comes after the missed ones.
const WRITES_MAX: usize = 32;

/// Threads of a block at most.
pub(super) const BLOCK_THREADS_MAX: u32 = 1024;

/// A set of missed writes.
pub(super) type Missed = u128;

/// What a run shows of its order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Consistency {
    missed: BTreeMap<(Location, WriteKey), u32>,
    /// Nothing can be said.
    pub(super) is_unclear: bool,
    /// The missed writes that the next operations of threads, and uses of objects, come after; none in the first run.
    pub(super) after: Option<After>,
}

/// What comes after missed writes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct After {
    pub(super) threads: BTreeMap<Place, Missed>,
    pub(super) objects: BTreeMap<u64, Missed>,
    locations: BTreeMap<Location, Accesses>,
    /// Of each missed write those that lead to it.
    leading: Vec<Missed>,
}

/// The accesses of a location.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Accesses {
    before: Accessed,
    writes: Vec<(WriteKey, Accessed)>,
}

/// The missed writes that a write comes after, and those that come before what has read it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Accessed {
    written: Missed,
    read: Missed,
}

impl Accesses {
    /// The place after a write; the first one where it is among those of `before`.
    fn after(&self, write: WriteKey) -> usize {
        self.writes.iter().position(|(key, _)| *key == write).map_or(0, |place| place + 1)
    }

    fn until(&self, place: usize) -> impl Iterator<Item = &Accessed> {
        [&self.before].into_iter().chain(self.writes[..place].iter().map(|(_, accessed)| accessed))
    }
}

impl Consistency {
    /// For a second run of the same launch; none if the first one says all.
    pub fn following(&self) -> Option<Self> {
        let after = After { leading: vec![0; self.missed.len()], ..After::default() };
        (!self.is_unclear && !self.missed.is_empty()).then(|| Self { after: Some(after), ..self.clone() })
    }

    /// True if the run is sequentially consistent, false if that is not known.
    pub fn is_sequential(&self) -> bool {
        let Some(after) = &self.after else { return !self.is_unclear && self.missed.is_empty() };
        // All that lead to each, through others.
        let mut leading = after.leading.clone();
        for middle in 0..leading.len() {
            let through = leading[middle];
            leading.iter_mut().filter(|own| **own >> middle & 1 != 0).for_each(|own| *own |= through);
        }
        !self.is_unclear && leading.iter().enumerate().all(|(own, leading)| leading >> own & 1 == 0)
    }

    fn bit(&self, at: Location, write: WriteKey) -> Option<u32> {
        self.missed.get(&(at, write)).copied()
    }

    /// An event comes before a missed write; `mask` are those that it comes after.
    fn lead_to(&mut self, at: Location, missed: WriteKey, mask: Missed) {
        match (self.bit(at, missed), &mut self.after) {
            (Some(bit), Some(after)) => after.leading[bit as usize] |= mask,
            (None, None) if self.missed.len() < MISSED_MAX => {
                let bit = self.missed.len() as u32;
                self.missed.insert((at, missed), bit);
            }
            (None, None) => self.is_unclear = true,
            (Some(_), None) | (None, Some(_)) => {}
        }
    }

    /// A read: of a write, or else of the last one; `missed` is the next write.
    pub(super) fn read(&mut self, by: Place, at: Location, write: Option<WriteKey>, missed: Option<WriteKey>) {
        let mut mask = 0;
        if let Some(after) = &mut self.after {
            mask = after.threads.get(&by).copied().unwrap_or(0);
            if mask == 0 && !after.locations.contains_key(&at) {
                return;
            }
            let accesses = after.locations.entry(at).or_default();
            let place = write.map_or(accesses.writes.len(), |write| accesses.after(write));
            mask = accesses.until(place).fold(mask, |mask, accessed| mask | accessed.written);
            let read = place.checked_sub(1).map_or(&mut accesses.before, |place| &mut accesses.writes[place].1);
            read.read |= mask;
            after.threads.insert(by, mask);
        }
        missed.iter().for_each(|missed| self.lead_to(at, *missed, mask));
    }

    /// A write, the last one, or else before the write `next`.
    pub(super) fn write(&mut self, by: Place, time: u64, at: Location, next: Option<WriteKey>) {
        let own = self.bit(at, (by, time)).map_or(0, |bit| 1 << bit);
        let mut mask = own;
        if let Some(after) = &mut self.after {
            mask |= after.threads.get(&by).copied().unwrap_or(0);
            if mask == 0 && !after.locations.contains_key(&at) {
                return;
            }
            let accesses = after.locations.entry(at).or_default();
            let place = next.map_or(accesses.writes.len(), |next| accesses.after(next).saturating_sub(1));
            mask = accesses.until(place).fold(mask, |mask, accessed| mask | accessed.written | accessed.read);
            accesses.writes.insert(place, ((by, time), Accessed { written: mask, read: 0 }));
            if accesses.writes.len() > WRITES_MAX {
                let (_, Accessed { written, read }) = accesses.writes.remove(0);
                (accesses.before.written, accesses.before.read) = (accesses.before.written | written, accesses.before.read | read);
            }
            after.threads.insert(by, mask);
        }
        next.iter().for_each(|next| self.lead_to(at, *next, mask));
    }
}

impl History {
    /// The thread of a write, and its time.
    pub(super) fn key(&self, own: usize) -> Option<WriteKey> {
        let write = &self.writes[own];
        write.by.map(|by| (by, write.time))
    }

    /// The first of these writes in coherence order.
    pub(super) fn first_of(&self, writes: u64) -> Option<usize> {
        places(writes).min_by_key(|own| self.writes[*own].after.count_ones())
    }
}
