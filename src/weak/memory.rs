//! Loads, stores, atomic operations, fences and barriers.

use std::collections::BTreeMap;

use smallvec::SmallVec;

use super::history::{History, Location, Write, places};
use super::thread::{Pattern, Place, ThreadState};
use super::view::View;
use crate::isa::{Ordering, Scope};

/// How memory is accessed.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// The thread.
    pub by: Place,
    /// The bytes.
    pub at: Location,
    /// The semantics.
    pub ordering: Ordering,
    /// The scope, of a strong access.
    pub scope: Scope,
    /// The time.
    pub time: u64,
}

/// Bytes of the longest access.
const BYTES_MAX: u64 = 64;

impl Access {
    /// The scope of a strong access.
    fn strong(&self) -> Scope {
        match self.ordering {
            Ordering::Weak => Scope::None,
            Ordering::Volatile | Ordering::Mmio => Scope::Sys,
            Ordering::Relaxed | Ordering::Acquire | Ordering::Release | Ordering::AcqRel | Ordering::SeqCst => self.scope,
        }
    }

    /// True if it is morally strong to a write at the same location.
    fn is_strong_to(&self, write: &Write) -> bool {
        let Some(by) = write.by else { return false };
        by == self.by || self.by.includes(self.strong(), by) && by.includes(write.scope, self.by)
    }
}

/// What a load returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    /// The bytes.
    pub bytes: SmallVec<[u8; 16]>,
    /// The write, by its number.
    pub number: u64,
    /// True if a later write of the location, in coherence order, was executed before.
    pub is_stale: bool,
}

/// The memory of a launch, as its threads see it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct WeakMemory {
    state: u64,
    histories: BTreeMap<Location, History>,
    threads: BTreeMap<Place, ThreadState>,
    /// What was seen by threads that have met at an object, such as the mbarriers of a cluster.
    meetings: BTreeMap<u64, View>,
    /// The `fence.sc` of each thread and scope, with their views.
    sc_fences: BTreeMap<(Place, Scope), View>,
}

impl WeakMemory {
    /// The memory before the first operation.
    pub fn new(seed: u64) -> Self {
        Self { state: seed ^ 0x9e37_79b9_7f4a_7c15, ..Self::default() }
    }

    /// A random number below `count` (splitmix64).
    fn below(&mut self, count: usize) -> usize {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % count.max(1) as u64) as usize
    }

    /// The newest is chosen as often as all others together.
    fn choose(&mut self, among: &[usize]) -> usize {
        let last = among.len() - 1;
        if last == 0 || self.below(2) == 0 { among[last] } else { among[self.below(last)] }
    }

    /// The writes that a load may return, in the order in which they were executed; none of a location that nothing was written to.
    pub fn readable(&self, access: &Access) -> Vec<(u64, &Write)> {
        let Some(history) = self.histories.get(&access.at) else { return Vec::new() };
        let known = self.known(access.by, access.at, history);
        history.readable(known).map(|write| (history.first + write as u64, &history.writes[write])).collect()
    }

    fn known(&self, by: Place, at: Location, history: &History) -> u64 {
        self.threads.get(&by).map_or(0, |thread| thread.view.known(at, history.first))
    }

    /// A load, where memory holds `held`; none if nothing was written to its location, so that it returns that.
    pub fn load(&mut self, access: &Access, held: &[u8]) -> Option<Read> {
        let history = self.histories.get(&access.at)?;
        if history.held[..] != *held {
            self.histories.remove(&access.at);
            return None;
        }
        let among: Vec<usize> = history.readable(self.known(access.by, access.at, history)).collect();
        let chosen = self.choose(&among);
        self.observe(access, chosen, access.ordering.acquires());
        let history = self.histories.get(&access.at)?;
        let is_stale = history.successors(chosen) != 0;
        Some(Read { bytes: history.writes[chosen].bytes.clone(), number: history.first + chosen as u64, is_stale })
    }

    /// A read observes a write.
    fn observe(&mut self, access: &Access, write: usize, acquires: bool) {
        let Some(history) = self.histories.get(&access.at) else { return };
        let of = &history.writes[write];
        if access.is_strong_to(of) {
            let thread = self.threads.entry(access.by).or_default();
            thread.view.add(access.at, history.first, history.first + write as u64);
            thread.observe(access.by, access.at, &of.patterns, acquires.then_some(access.scope));
        } else if acquires && access.strong() != Scope::None {
            self.threads.entry(access.by).or_default().acquire(access.by, access.scope, Some(access.at));
        }
    }

    /// Makes room for a write of a location. Where memory holds something else than its history says, something else has written to it,
    /// such as an asynchronous copy; where it overlaps other locations, these are accessed otherwise now. Both begin anew.
    fn prepare(&mut self, at: Location, held: &[u8]) {
        let (memory, address, bytes) = at;
        let first = (memory, address.saturating_sub(BYTES_MAX), 0);
        let overlaps = |other: &Location| other.1 + u64::from(other.2) > address && *other != at;
        let others: SmallVec<[Location; 4]> =
            self.histories.range(first..(memory, address + u64::from(bytes), 0)).map(|(other, _)| *other).filter(overlaps).collect();
        others.iter().for_each(|other| drop(self.histories.remove(other)));
        let history = self.histories.entry(at).or_insert_with(|| History::new(held));
        if history.held[..] != *held {
            let first = history.first + history.writes.len() as u64;
            *history = History { first, ..History::new(held) };
        }
        history.make_room();
    }

    /// A store; `held` is what memory holds before it. Answers whether memory holds the new bytes then: not if the write takes a place
    /// before another one.
    pub fn store(&mut self, access: &Access, held: &[u8], bytes: &[u8]) -> bool {
        self.prepare(access.at, held);
        let history = &self.histories[&access.at];
        let known = self.known(access.by, access.at, history);
        let mut before = places(known & history.all()).fold(1, |before, write| before | 1 << write | history.writes[write].after);
        let open: Vec<usize> = places(history.all() & !before).filter(|write| access.is_strong_to(&history.writes[*write])).collect();
        // One of the writes that are not known, and what follows it, may come later in coherence order.
        let from = self.below(2 * open.len() + 1);
        let history = &self.histories[&access.at];
        let mut later = open.get(from).map_or(0, |write| 1 << write | history.successors(*write));
        if later & before != 0 || history.splits_atomic(later) {
            later = 0;
        }
        before |= open.iter().filter(|write| later >> **write & 1 == 0).fold(0, |before, write| before | 1 << write);
        self.write(access, bytes, (before, later), None)
    }

    /// An atomic operation, which reads the newest write that is morally strong to it, or one that none such follows. Memory holds `held`;
    /// `change` has the new bytes for the old ones. Answers what it reads, and whether memory holds the new bytes then.
    pub fn atomic(
        &mut self,
        access: &Access,
        is_reduction: bool,
        held: &[u8],
        change: impl FnOnce(&[u8]) -> SmallVec<[u8; 16]>,
    ) -> (Read, bool) {
        self.prepare(access.at, held);
        let history = &self.histories[&access.at];
        let is_last = |write: &usize| !places(history.successors(*write)).any(|other| access.is_strong_to(&history.writes[other]));
        let among: Vec<usize> = history.readable(self.known(access.by, access.at, history)).filter(is_last).collect();
        let chosen = self.choose(&among);
        let acquires = access.ordering.acquires();
        if is_reduction {
            // It returns nothing, so it is part of no acquire pattern; that it observes counts.
            self.observe_reduction(access, chosen);
        } else {
            self.observe(access, chosen, acquires);
        }
        let history = &self.histories[&access.at];
        let source = &history.writes[chosen];
        let old = source.bytes.clone();
        let is_observed = access.is_strong_to(source);
        let patterns = if is_observed { source.patterns.clone() } else { Vec::new() };
        let number = history.first + chosen as u64;
        let is_stale = history.successors(chosen) != 0;
        let known = self.known(access.by, access.at, history);
        let strong = places(history.all()).filter(|write| access.is_strong_to(&history.writes[*write]));
        let before = strong.fold(known & history.all() | 1, |before, write| before | 1 << write);
        let new = change(&old);
        let holds = self.write(access, &new, (before, 0), Some((number, patterns)));
        (Read { bytes: old, number, is_stale }, holds)
    }

    fn observe_reduction(&mut self, access: &Access, write: usize) {
        let Some(history) = self.histories.get(&access.at) else { return };
        if access.is_strong_to(&history.writes[write]) {
            let thread = self.threads.entry(access.by).or_default();
            thread.view.add(access.at, history.first, history.first + write as u64);
        }
    }

    /// Adds a write; `source` is the one that an atomic operation has read, with the patterns that it passes on. Answers whether memory
    /// holds it then: of writes that coherence order does not relate, either may be what it holds.
    fn write(&mut self, access: &Access, bytes: &[u8], (before, later): (u64, u64), source: Option<(u64, Vec<Pattern>)>) -> bool {
        let coin = self.below(2) == 0;
        let Some(history) = self.histories.get_mut(&access.at) else { return true };
        let scope = access.strong();
        let (source, passed) = source.map_or((None, Vec::new()), |(number, patterns)| (Some(number), patterns));
        let write =
            Write { bytes: SmallVec::from_slice(bytes), by: Some(access.by), time: access.time, scope, after: 0, source, patterns: passed };
        let own = history.add(write, before, later);
        let thread = self.threads.entry(access.by).or_default();
        thread.view.add(access.at, history.first, history.first + own as u64);
        if access.ordering.releases() {
            thread.releases.insert((access.at, access.scope), thread.view.clone());
        }
        if scope != Scope::None {
            history.writes[own].patterns.extend(thread.patterns(access.by, access.at));
        }
        let rivals = places(history.all()).filter(|write| *write != own && history.successors(*write) == 0).count();
        let holds = later == 0 && (rivals == 0 || coin);
        if holds {
            history.held = SmallVec::from_slice(bytes);
        }
        holds
    }

    /// A fence.
    pub fn fence(&mut self, by: Place, sc: bool, scope: Scope) {
        let thread = self.threads.entry(by).or_default();
        thread.acquire(by, scope, None);
        if sc {
            for ((other, of), view) in &self.sc_fences {
                if *other == by || by.includes(scope, *other) && other.includes(*of, by) {
                    thread.view.join(view);
                }
            }
            self.sc_fences.insert((by, scope), thread.view.clone());
        }
        thread.fences.insert(scope, thread.view.clone());
    }

    /// What all of `arrived` have done comes before what `waiting` do next.
    pub fn barrier(&mut self, arrived: &[Place], waiting: &[Place]) {
        let mut all = View::default();
        arrived.iter().filter_map(|by| self.threads.get(by)).for_each(|thread| all.join(&thread.view));
        all.share();
        for by in waiting {
            let view = &mut self.threads.entry(*by).or_default().view;
            // The view of a thread that has arrived is a part of it.
            if arrived == waiting { *view = all.clone() } else { view.join(&all) }
        }
    }

    /// A block has exited, whose first thread is `first`: what its threads have seen and its shared memory are gone.
    pub fn end_block(&mut self, first: Place) {
        let threads: Vec<Place> = self.threads.range(first..=Place { thread: u32::MAX, ..first }).map(|(by, _)| *by).collect();
        threads.iter().for_each(|by| drop(self.threads.remove(by)));
        let memory = first.block + 1;
        let shared: Vec<Location> = self.histories.range((memory, 0, 0)..(memory + 1, 0, 0)).map(|(at, _)| *at).collect();
        shared.iter().for_each(|at| drop(self.histories.remove(at)));
    }

    /// Threads use an object that orders each use after those before it.
    pub fn meet(&mut self, object: u64, places: &[Place]) {
        let all = self.meetings.entry(object).or_default();
        places.iter().filter_map(|by| self.threads.get(by)).for_each(|thread| all.join(&thread.view));
        all.share();
        places.iter().for_each(|by| self.threads.entry(*by).or_default().view = all.clone());
    }

    /// The bytes that memory holds at a location at the end: those of a last write in coherence order.
    pub fn last(&self, at: Location) -> Option<&Write> {
        let history = self.histories.get(&at)?;
        history.writes.iter().enumerate().rfind(|(write, _)| history.successors(*write) == 0).map(|(_, write)| write)
    }
}

impl History {
    /// True if a write before those of `later` alone would come between the read and the write of an atomic operation.
    fn splits_atomic(&self, later: u64) -> bool {
        let source = |write: usize| self.writes[write].source.and_then(|source| source.checked_sub(self.first));
        places(later).any(|write| source(write).is_some_and(|source| later >> source & 1 == 0))
    }
}
