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
use std::collections::btree_map::Entry;

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

/// An access: its thread, when it was executed, and the instruction, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Event {
    /// The thread.
    pub by: Place,
    /// When.
    pub time: u64,
    /// The instruction.
    pub code: u32,
}

/// A stretch of a thread on a cycle, from the access at which the cycle comes to it to the one at which it leaves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The thread.
    pub by: Place,
    /// The first access; none where threads have met.
    pub entry: Option<Event>,
    /// The last access; none where threads meet then.
    pub exit: Option<Event>,
}

/// How what comes after one missed write does so.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Trace {
    /// The missed write.
    bit: u32,
    /// How each thread comes after it.
    steps: BTreeMap<Place, Step>,
    /// The accesses that come after it and before missed writes, the first for each.
    ends: BTreeMap<u32, Event>,
}

/// The first access of a thread that comes after a missed write, and the thread before it, with the access that leads to this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Step {
    entry: Option<Event>,
    from: Option<(Place, Option<Event>)>,
}

/// What comes after missed writes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct After {
    pub(super) threads: BTreeMap<Place, Missed>,
    pub(super) objects: BTreeMap<u64, Missed>,
    locations: BTreeMap<Location, Accesses>,
    /// Of each missed write those that lead to it.
    leading: Vec<Missed>,
    /// How what comes after one of them does so, if that is asked.
    trace: Option<Trace>,
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
    /// The write, and a read, that comes after the traced one.
    traced_write: Option<Event>,
    traced_read: Option<Event>,
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
    /// For a second run of the same launch; none if nothing was missed.
    pub fn following(&self) -> Option<Self> {
        let after = After { leading: vec![0; self.missed.len()], ..After::default() };
        (!self.missed.is_empty()).then(|| Self { after: Some(after), ..self.clone() })
    }

    /// True if a second run says more.
    pub fn is_open(&self) -> bool {
        !self.is_unclear && !self.missed.is_empty()
    }

    /// True if the run is sequentially consistent, false if that is not known.
    pub fn is_sequential(&self) -> bool {
        !self.is_unclear && (self.missed.is_empty() || self.after.is_some() && !self.has_cycle())
    }

    /// After the second run: true if a missed write leads to itself, through others. Writes that coherence order does not relate are in the
    /// order in which they were executed.
    pub fn has_cycle(&self) -> bool {
        let mut leading = self.after.as_ref().map_or(Vec::new(), |after| after.leading.clone());
        for middle in 0..leading.len() {
            let through = leading[middle];
            leading.iter_mut().filter(|own| **own >> middle & 1 != 0).for_each(|own| *own |= through);
        }
        leading.iter().enumerate().any(|(own, leading)| leading >> own & 1 != 0)
    }

    fn bit(&self, at: Location, write: WriteKey) -> Option<u32> {
        self.missed.get(&(at, write)).copied()
    }

    /// An event comes before a missed write; `mask` are those that it comes after.
    fn lead_to(&mut self, at: Location, missed: WriteKey, (event, mask): (Event, Missed)) {
        match (self.bit(at, missed), &mut self.after) {
            (Some(bit), Some(after)) => {
                after.leading[bit as usize] |= mask;
                if let Some(trace) = after.trace.as_mut().filter(|trace| mask >> trace.bit & 1 != 0) {
                    trace.ends.entry(bit).or_insert(event);
                }
            }
            (None, None) if self.missed.len() < MISSED_MAX => {
                let bit = self.missed.len() as u32;
                self.missed.insert((at, missed), bit);
            }
            (None, None) => self.is_unclear = true,
            (Some(_), None) | (None, Some(_)) => {}
        }
    }

    /// A read: of a write, or else of the last one; `missed` is the next write.
    pub(super) fn read(&mut self, event: Event, at: Location, write: Option<WriteKey>, missed: Option<WriteKey>) {
        let (by, mut mask) = (event.by, 0);
        if let Some(after) = &mut self.after {
            let known = after.threads.get(&by).copied().unwrap_or(0);
            if known == 0 && !after.locations.contains_key(&at) {
                return;
            }
            let accesses = after.locations.entry(at).or_default();
            let place = write.map_or(accesses.writes.len(), |write| accesses.after(write));
            mask = accesses.until(place).fold(known, |mask, accessed| mask | accessed.written);
            let from = accesses.until(place).find_map(|accessed| accessed.traced_write);
            let read = place.checked_sub(1).map_or(&mut accesses.before, |place| &mut accesses.writes[place].1);
            read.read |= mask;
            if let Some(trace) = after.trace.as_mut().filter(|trace| mask >> trace.bit & 1 != 0) {
                read.traced_read.get_or_insert(event);
                trace.steps.entry(by).or_insert(Step { entry: Some(event), from: from.map(|from| (from.by, Some(from))) });
            }
            after.threads.insert(by, mask);
        }
        missed.iter().for_each(|missed| self.lead_to(at, *missed, (event, mask)));
    }

    /// A write, the last one, or else before the write `next`.
    pub(super) fn write(&mut self, event: Event, at: Location, next: Option<WriteKey>) {
        let Event { by, time, .. } = event;
        let mut mask = self.bit(at, (by, time)).map_or(0, |bit| 1 << bit);
        if let Some(after) = &mut self.after {
            let own = mask;
            mask |= after.threads.get(&by).copied().unwrap_or(0);
            if mask == 0 && !after.locations.contains_key(&at) {
                return;
            }
            let accesses = after.locations.entry(at).or_default();
            let place = next.map_or(accesses.writes.len(), |next| accesses.after(next).saturating_sub(1));
            mask = accesses.until(place).fold(mask, |mask, accessed| mask | accessed.written | accessed.read);
            let from = accesses.until(place).find_map(|accessed| accessed.traced_write.or(accessed.traced_read));
            let mut accessed = Accessed { written: mask, ..Accessed::default() };
            if let Some(trace) = after.trace.as_mut().filter(|trace| mask >> trace.bit & 1 != 0) {
                accessed.traced_write = Some(event);
                let from = from.filter(|_| own >> trace.bit & 1 == 0);
                trace.steps.entry(by).or_insert(Step { entry: Some(event), from: from.map(|from| (from.by, Some(from))) });
            }
            accesses.writes.insert(place, ((by, time), accessed));
            if accesses.writes.len() > WRITES_MAX {
                let (_, first) = accesses.writes.remove(0);
                accesses.before.join(&first);
            }
            after.threads.insert(by, mask);
        }
        next.iter().for_each(|next| self.lead_to(at, *next, (event, mask)));
    }
}

impl Accessed {
    fn join(&mut self, later: &Self) {
        (self.written, self.read) = (self.written | later.written, self.read | later.read);
        (self.traced_write, self.traced_read) = (self.traced_write.or(later.traced_write), self.traced_read.or(later.traced_read));
    }
}

impl After {
    /// The shortest cycle of missed writes from one on, each of which leads to the next.
    fn shortest_cycle(&self, first: u32) -> Option<Vec<u32>> {
        let mut before: BTreeMap<u32, u32> = BTreeMap::new();
        let mut front = vec![first];
        while !front.is_empty() && !before.contains_key(&first) {
            let mut reached = Vec::new();
            for from in front {
                for to in (0..self.leading.len() as u32).filter(|to| self.leading[*to as usize] >> from & 1 != 0) {
                    if let Entry::Vacant(new) = before.entry(to) {
                        new.insert(from);
                        reached.push(to);
                    }
                }
            }
            front = reached;
        }
        let mut cycle = vec![*before.get(&first)?];
        while let Some(last) = cycle.last().copied().filter(|last| *last != first) {
            cycle.push(*before.get(&last)?);
        }
        cycle.reverse();
        Some(cycle)
    }

    /// Threads meet, and come after these missed writes then.
    pub(super) fn trace_meeting(&mut self, all: &[Place], mask: Missed) {
        let Some(trace) = self.trace.as_mut().filter(|trace| mask >> trace.bit & 1 != 0) else { return };
        let Some(from) = all.iter().find(|by| trace.steps.contains_key(by)) else { return };
        for by in all {
            trace.steps.entry(*by).or_insert(Step { entry: None, from: Some((*from, None)) });
        }
    }
}

/// The cycles of a run that is not sequentially consistent.
impl Consistency {
    /// After the second run: missed writes each of which leads to the next one, and the last one to the first; the fewest.
    pub fn cycle(&self) -> Option<Vec<u32>> {
        let after = self.after.as_ref()?;
        (0..after.leading.len() as u32).filter_map(|first| after.shortest_cycle(first)).min_by_key(Vec::len)
    }

    /// For a third run of the same launch, which traces what comes after one missed write; `self` is that of the first one.
    pub fn tracing(&self, bit: u32) -> Option<Self> {
        let mut following = self.following()?;
        following.after.as_mut()?.trace = Some(Trace { bit, ..Trace::default() });
        Some(following)
    }

    /// After the third run: the stretches of threads from the traced write to the access that misses the write `to`, which is in the last.
    pub fn path(&self, to: u32) -> Option<Vec<Segment>> {
        let trace = self.after.as_ref()?.trace.as_ref()?;
        let end = *trace.ends.get(&to)?;
        let (mut by, mut exit, mut path) = (end.by, Some(end), Vec::new());
        while path.len() <= trace.steps.len() {
            let Step { entry, from } = *trace.steps.get(&by)?;
            path.push(Segment { by, entry, exit });
            let Some(before) = from else {
                path.reverse();
                return Some(path);
            };
            (by, exit) = before;
        }
        None
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
