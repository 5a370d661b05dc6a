//! Views: sets of writes.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::history::{History, Location};
use super::thread::{Group, Place};

/// The writes that precede an operation in causality order.
///
/// What threads that have met share is one set; what a thread adds to it is a small one of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct View {
    shared: Option<Arc<Facts>>,
    own: Facts,
}

/// A set of writes: all that threads had executed at a time, and single ones that were observed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Facts {
    /// For threads, the time up to which all their writes are in the set.
    until: BTreeMap<Group, u64>,
    /// Of each location a bit for each write that was observed, from its first one on.
    observed: BTreeMap<Location, Known>,
}

/// Writes of a location, by their numbers: `bits` of those from `first` on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Known {
    first: u64,
    bits: u64,
}

impl Known {
    /// The bits of the writes from `first` on.
    fn from(self, first: u64) -> u64 {
        match first.checked_sub(self.first) {
            Some(past @ 0..64) => self.bits >> past,
            Some(_) => 0,
            None => self.bits.checked_shl((self.first - first).min(64) as u32).unwrap_or(0),
        }
    }

    fn join(&mut self, other: Self) {
        let first = self.first.max(other.first);
        *self = Self { first, bits: self.from(first) | other.from(first) };
    }
}

impl Facts {
    fn is_empty(&self) -> bool {
        self.until.is_empty() && self.observed.is_empty()
    }

    fn len(&self) -> usize {
        self.until.len() + self.observed.len()
    }

    /// True if what a thread wrote at a time is among what threads had executed.
    fn covers(&self, by: Place, time: u64) -> bool {
        !self.until.is_empty() && Group::all_of(by).iter().any(|group| self.until.get(group).is_some_and(|until| *until >= time))
    }

    fn add_all(&mut self, other: &Self) {
        for (group, time) in &other.until {
            let until = self.until.entry(*group).or_default();
            *until = (*until).max(*time);
        }
        other.observed.iter().for_each(|(at, known)| self.observed.entry(*at).or_default().join(*known));
    }
}

impl View {
    /// The writes of a history that are in it, as bits.
    pub fn known(&self, at: Location, history: &History) -> u64 {
        let mut known = 0;
        for facts in self.facts() {
            known |= facts.observed.get(&at).map_or(0, |known| known.from(history.first));
            for (place, write) in history.writes.iter().enumerate() {
                if write.by.is_some_and(|by| facts.covers(by, write.time)) {
                    known |= 1 << place;
                }
            }
        }
        known
    }

    /// True if it has what a thread wrote at a time, because all is in it that the thread had executed until then.
    pub fn covers(&self, by: Place, time: u64) -> bool {
        self.facts().any(|facts| facts.covers(by, time))
    }

    fn facts(&self) -> impl Iterator<Item = &Facts> {
        self.shared.as_deref().into_iter().chain([&self.own])
    }

    /// Adds a write, by its number, of a location whose first write that is kept has the number `first`.
    pub fn observe(&mut self, at: Location, first: u64, number: u64) {
        self.own.observed.entry(at).or_default().join(Known { first, bits: 1 << (number - first) });
    }

    /// Adds all that threads have executed until a time.
    pub fn add_until(&mut self, group: Group, time: u64) {
        let until = self.own.until.entry(group).or_default();
        *until = (*until).max(time);
    }

    /// Adds all of another view.
    pub fn join(&mut self, other: &Self) {
        if let Some(theirs) = &other.shared {
            match &self.shared {
                Some(own) if Arc::ptr_eq(own, theirs) => {}
                Some(own) if own.len() >= theirs.len() => self.own.add_all(&Arc::clone(theirs)),
                Some(own) => {
                    let own = Arc::clone(own);
                    self.shared = Some(Arc::clone(theirs));
                    self.own.add_all(&own);
                }
                None => self.shared = Some(Arc::clone(theirs)),
            }
        }
        self.own.add_all(&other.own);
    }

    /// Makes all of it shared by the views that are cloned from it.
    pub fn share(&mut self) {
        let own = std::mem::take(&mut self.own);
        if !own.is_empty() {
            Arc::make_mut(self.shared.get_or_insert_default()).add_all(&own);
        }
    }

    /// The same, where all threads of a group have met at a time: what is in it of a part of them says less.
    pub fn share_met(&mut self, group: Group, time: u64) {
        let mut own = std::mem::take(&mut self.own);
        own.until.retain(|part, _| !group.contains(part));
        own.until.insert(group, time);
        let shared = Arc::make_mut(self.shared.get_or_insert_default());
        shared.until.retain(|part, _| !group.contains(part));
        shared.add_all(&own);
    }

    /// Forgets what was observed of a memory.
    pub fn forget_memory(&mut self, memory: u32) {
        let range = (memory, 0, 0)..(memory + 1, 0, 0);
        if self.own.observed.range(range.clone()).next().is_some() {
            self.own.observed.retain(|at, _| at.0 != memory);
        }
        if self.shared.as_ref().is_some_and(|shared| shared.observed.range(range).next().is_some()) {
            self.shared.iter_mut().for_each(|shared| Arc::make_mut(shared).observed.retain(|at, _| at.0 != memory));
        }
    }
}
