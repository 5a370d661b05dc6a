//! Views: sets of writes.
//!
//! A thread's view only grows, so a view that has all that a thread had executed until some time has all that it knew then: what is joined
//! is asked for that first, and most joins are none.

use std::sync::Arc;

use super::history::{History, Location};
use super::sorted_map::SortedMap;
use super::thread::{Group, Place};
use crate::base::lanes::LaneMask;

/// Facts that a view keeps to itself at most: to copy it costs no more than these.
const OWN_MAX: usize = 12;

/// The writes that precede an operation in causality order.
///
/// What views have in common is one set; what a view adds to it is a small one of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct View {
    shared: Option<Arc<Facts>>,
    own: Facts,
}

/// A set of writes: all that threads had executed at a time, and single ones that were observed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Facts {
    /// For threads, the time up to which all their writes are in the set.
    until: SortedMap<Group, u64>,
    /// Of each location a bit for each write that was observed, from its first one on.
    observed: SortedMap<Location, Known>,
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

    fn join(self, other: Self) -> Self {
        let first = self.first.max(other.first);
        Self { first, bits: self.from(first) | other.from(first) }
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
        !self.until.is_empty() && Group::all_of(by).into_iter().any(|group| self.has_met(group, time))
    }

    /// True if all that the threads of a group had executed at a time is in it.
    fn has_met(&self, group: Group, time: u64) -> bool {
        self.until.get(&group).is_some_and(|until| until >= time)
    }

    fn add_all(&mut self, other: &Self) {
        self.until.join_all(&other.until, u64::max);
        self.observed.join_all(&other.observed, Known::join);
    }
}

impl View {
    /// The writes of a history that were observed, as bits.
    pub fn observed(&self, at: Location, history: &History) -> u64 {
        self.facts().fold(0, |all, facts| all | facts.observed.get(&at).map_or(0, |known| known.from(history.first)))
    }

    /// True if all that the threads of a warp had executed at a time is in it.
    pub fn covers_warp(&self, warp: Place, time: u64) -> bool {
        self.facts().any(|facts| facts.has_met(Group::warp(warp), time) || facts.has_met(Group::block(warp), time))
    }

    /// True if it has what a thread wrote at a time, because all is in it that the thread had executed until then.
    pub fn covers(&self, by: Place, time: u64) -> bool {
        self.facts().any(|facts| facts.covers(by, time))
    }

    /// True if it has what one of these lanes of a warp wrote at a time.
    pub fn covers_lane(&self, warp: Place, lanes: LaneMask, time: u64) -> bool {
        let lane_has = |facts: &Facts, lane: usize| facts.has_met(Group::thread(warp.with_lane(lane)), time);
        self.facts().any(|facts| !facts.until.is_empty() && lanes.iter().any(|lane| lane_has(facts, lane)))
    }

    fn facts(&self) -> impl Iterator<Item = &Facts> {
        self.shared.as_deref().into_iter().chain([&self.own])
    }

    /// Adds a write, by its number, of a location whose first write that is kept has the number `first`.
    pub fn observe(&mut self, at: Location, first: u64, number: u64) {
        self.own.observed.join(at, Known { first, bits: 1 << (number - first) }, Known::join);
    }

    /// Adds all that threads have executed until a time.
    pub fn add_until(&mut self, group: Group, time: u64) {
        self.own.until.join(group, time, u64::max);
    }

    /// Adds what the threads of a group knew when they met at a time.
    pub fn join_met(&mut self, group: Group, view: &Self, time: u64) {
        if !self.facts().any(|facts| facts.has_met(group, time)) {
            self.join(view);
        }
    }

    /// True if another view is a copy of it.
    pub fn is_same(&self, other: &Self) -> bool {
        self.shared.as_ref().map(Arc::as_ptr) == other.shared.as_ref().map(Arc::as_ptr) && self.own == other.own
    }

    /// Makes what it keeps to itself shared, if that is much.
    pub fn compact(&mut self) {
        if self.own.len() > OWN_MAX {
            self.share();
        }
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

    /// Adds that all threads of a group have met at a time: what is in it of a part of them says less.
    pub fn add_met(&mut self, group: Group, time: u64) {
        self.own.until.retain(|part| !group.contains(part));
        self.own.until.join(group, time, u64::max);
        if self.shared.as_ref().is_some_and(|shared| shared.until.keys().any(|part| group.contains(part) && *part != group)) {
            self.shared.iter_mut().for_each(|shared| Arc::make_mut(shared).until.retain(|part| !group.contains(part)));
        }
        self.compact();
    }

    /// Forgets what was observed of a memory.
    pub fn forget_memory(&mut self, memory: u32) {
        let range = (memory, 0, 0)..(memory + 1, 0, 0);
        self.own.observed.retain(|at| at.0 != memory);
        if self.shared.as_ref().is_some_and(|shared| shared.observed.has_key_in(&range)) {
            self.shared.iter_mut().for_each(|shared| Arc::make_mut(shared).observed.retain(|at| at.0 != memory));
        }
    }
}
