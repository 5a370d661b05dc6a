//! What orders threads: fences, barriers, mbarriers.

use smallvec::SmallVec;

use super::consistency::{BLOCK_THREADS_MAX, Consistency, Event};
use super::history::Location;
use super::lines::WarpAccess;
use super::memory::{Access, Meeting, WeakMemory};
use super::thread::{Group, Party, Pattern, Place};
use super::view::View;
use crate::base::lanes::{LANES, LaneMask};
use crate::isa::{Ordering, Scope};

/// The threads of a scope around a thread: its GPU, and the number of the block or cluster there.
pub(super) type Around = (Scope, u32, u32);

impl WeakMemory {
    /// A fence, which acquires, releases or both; `fence.sc` is in an order with others.
    pub fn fence(&mut self, by: Place, ordering: Ordering, scope: Scope, now: u64) {
        let sc = ordering == Ordering::SeqCst;
        let around: SmallVec<[Around; 4]> = if sc { around(by).filter(|(level, ..)| *level <= scope).collect() } else { SmallVec::new() };
        let thread = self.threads.entry(by).or_default();
        if ordering.acquires() {
            thread.acquire(by, scope, None);
        }
        if !ordering.releases() {
            return;
        }
        self.releasing.insert(Group::warp(by));
        around.iter().filter_map(|around| self.sc_fences.get(around)).for_each(|last| thread.join(last));
        let pattern = Pattern::new(by, now, scope, self.view_of(by, now));
        // The thread knows what the fences before it knew.
        self.sc_fences.extend(around.into_iter().map(|around| (around, pattern.clone())));
        self.threads.entry(by).or_default().fences.insert(scope, pattern);
    }

    /// What all of `arrived` have done comes before what `waiting` do next, as in litmus tests, whose order is not noted.
    pub fn barrier(&mut self, arrived: &[Place], waiting: &[Place], now: u64) {
        debug_assert!(self.consistency.is_none(), "threads that only arrive are not followed");
        let mut all = View::default();
        arrived.iter().for_each(|by| all.join(&self.view_of(*by, now)));
        all.share();
        waiting.iter().for_each(|by| self.threads.entry(*by).or_default().view.join(&all));
    }

    /// Lanes of the warp of `first` execute a collective together: each knows then what one of them has acquired. Of what they have
    /// written themselves they learn nothing.
    pub fn pass_on(&mut self, first: Place, lanes: LaneMask) {
        let place = |lane: usize| first.with_lane(lane);
        if self.threads.range(first..=place(LANES - 1)).next().is_none() {
            return;
        }
        let mut all = View::default();
        lanes.iter().filter_map(|lane| self.threads.get(&place(lane))).for_each(|thread| all.join(&thread.view));
        all.share();
        let has_all = |lane: usize| self.threads.get(&place(lane)).is_some_and(|thread| thread.view.is_same(&all));
        if all == View::default() || lanes.iter().all(has_all) {
            return;
        }
        lanes.iter().for_each(|lane| self.threads.entry(place(lane)).or_default().view = all.clone());
    }

    /// All threads of a block meet, of which `first` is the first. If no other block accesses its shared memory, no thread can read
    /// anything but the newest there.
    pub fn meet_block(&mut self, first: Place, now: u64, is_private: bool) {
        self.meet(&[Party::Block(first)], None, now);
        if !is_private {
            return;
        }
        let memory = first.block + 1;
        self.lines.forget(memory);
        for at in self.histories_of(memory) {
            // Of writes that coherence order does not relate any may be read.
            if self.histories[&at].last().nth(1).is_none() {
                self.forget(at);
            } else {
                self.lines.open(at);
            }
        }
        self.met.get_mut(&Group::block(first)).iter_mut().for_each(|met| met.view.forget_memory(memory));
    }

    /// All that the threads of `parties` have done comes before what they do next. With an object, what was done before its last use does
    /// as well, and the next use comes after this one.
    pub fn meet(&mut self, parties: &[Party], object: Option<u64>, now: u64) {
        self.note_order_of_meeting(parties, object);
        let mut all = object.and_then(|object| self.meetings.remove(&object)).unwrap_or_default();
        for party in parties {
            let known = self.take_view(*party, now);
            all.join(&known);
        }
        if parties.len() > 1 {
            all.share();
        } else {
            all.compact();
        }
        for party in parties {
            match party {
                Party::Block(_) | Party::Warp(_) => drop(self.met.insert(party.group(), Meeting { view: all.clone(), time: now })),
                Party::Thread(by) => self.threads.entry(*by).or_default().view = all.clone(),
            }
        }
        object.map(|object| self.meetings.insert(object, all));
    }

    /// All that the threads of a party know, their own writes until now included, taken from them: they are to get it back.
    fn take_view(&mut self, party: Party, now: u64) -> View {
        let (group, threads) = (party.group(), party.threads());
        let mut view = self.met.get_mut(&group).map(|met| std::mem::take(&mut met.view)).unwrap_or_default();
        for (_, thread) in self.threads.range_mut(threads.clone()) {
            view.join(&std::mem::take(&mut thread.view));
        }
        for (part, met) in self.met.range_mut(group..).take_while(|(part, _)| group.contains(part)) {
            if *part != group {
                view.join(&std::mem::take(&mut met.view));
            }
        }
        // What the threads of a part knew includes what all threads of the groups around it knew when they met.
        for around in Group::all_of(*threads.start()).into_iter().filter(|around| *around != group && around.contains(&group)) {
            self.met.get(&around).iter().for_each(|met| view.join_met(around, &met.view, met.time));
        }
        match party {
            Party::Block(_) | Party::Warp(_) => view.add_met(group, now),
            Party::Thread(_) => view.add_until(group, now),
        }
        view
    }

    fn histories_of(&self, memory: u32) -> Vec<Location> {
        self.histories.range((memory, 0, 0)..(memory + 1, 0, 0)).map(|(at, _)| *at).collect()
    }

    /// A block has exited, whose first thread is `first`: what its threads have seen and its shared memory are gone.
    pub fn end_block(&mut self, first: Place) {
        let threads: Vec<Place> = self.threads.range(first..=Place { thread: u32::MAX, ..first }).map(|(by, _)| *by).collect();
        threads.iter().for_each(|by| drop(self.threads.remove(by)));
        let group = Group::block(first);
        self.met.retain(|part, _| !group.contains(part));
        self.releasing.retain(|part| !group.contains(part));
        self.polls.forget(group);
        let memory = first.block + 1;
        self.lines.forget(memory);
        self.histories_of(memory).into_iter().for_each(|at| self.forget(at));
    }
}

impl WeakMemory {
    /// Notes the order of a run from here on.
    pub fn note_order(&mut self, consistency: Consistency) {
        self.consistency = Some(Box::new(consistency));
    }

    /// What was noted of that.
    pub fn consistency(&self) -> Option<&Consistency> {
        self.consistency.as_deref()
    }

    /// The lanes of a warp access the newest writes, at a time by an instruction; `reads` and `writes` say how.
    pub fn note_warp(&mut self, access: &WarpAccess<'_>, (reads, writes): (bool, bool), (time, code): (u64, u32)) {
        let Some(consistency) = self.consistency.as_mut().filter(|consistency| consistency.after.is_some()) else { return };
        for lane in access.mask.iter() {
            let event = Event { by: access.warp.with_lane(lane), time, code };
            for skip in (0..access.bytes).step_by(access.element_bytes as usize) {
                let at = (access.memory, access.addresses[lane] + u64::from(skip), access.element_bytes);
                if reads {
                    consistency.read(event, at, None, None);
                }
                if writes {
                    consistency.write(event, at, None);
                }
            }
        }
    }

    /// A thread reads a write of a location, by its place in the history; without one what memory holds.
    pub(super) fn note_order_of_read(&mut self, access: &Access, write: Option<usize>) {
        let Access { by, at, time, code, .. } = *access;
        // What a thread knows when it reads a write comes before that, if coherence order does not relate them.
        let known = match (&self.consistency, self.histories.get(&at)) {
            (Some(_), Some(history)) => self.known(by, at, history),
            _ => 0,
        };
        let Self { consistency: Some(consistency), histories, .. } = self else { return };
        let event = Event { by, time, code };
        let history = histories.get(&at);
        let (Some(history), Some(own)) = (history, write) else { return consistency.read(event, at, None, None) };
        // What was there before the first write that is kept has no thread.
        let before = (Place { gpu: u32::MAX, cluster: 0, block: 0, thread: 0 }, 0);
        let read = history.key(own).unwrap_or(before);
        consistency.read(event, at, Some(read), history.first_of(history.later_than(own) & !known).and_then(|next| history.key(next)));
    }

    /// A write of a location, by its place in the history, which comes before those of `later`.
    pub(super) fn note_order_of_write(&mut self, at: Location, own: usize, later: u64) {
        let Self { consistency: Some(consistency), histories, .. } = self else { return };
        let Some(history) = histories.get(&at) else { return };
        let is_placed = history.writes[own].after | later | 1 << own == history.all();
        consistency.is_unclear |= !is_placed;
        let write = &history.writes[own];
        if let Some(by) = write.by {
            let event = Event { by, time: write.time, code: write.code };
            consistency.write(event, at, history.first_of(later).and_then(|next| history.key(next)));
        }
    }

    /// Threads meet, at an object that orders each use after those before it if there is one.
    fn note_order_of_meeting(&mut self, parties: &[Party], object: Option<u64>) {
        let Some(after) = self.consistency.as_mut().and_then(|consistency| consistency.after.as_mut()) else { return };
        let all: Vec<Place> = parties.iter().flat_map(|party| places_of(*party)).collect();
        let before = object.and_then(|object| after.objects.get(&object)).copied().unwrap_or(0);
        let mask = all.iter().fold(before, |mask, by| mask | after.threads.get(by).copied().unwrap_or(0));
        if mask != 0 {
            after.trace_meeting(&all, mask);
            after.threads.extend(all.into_iter().map(|by| (by, mask)));
            after.objects.extend(object.map(|object| (object, mask)));
        }
    }

    /// An atomic operation reads a write that another one follows, which it cannot in an order of all.
    pub(super) fn note_unclear_order(&mut self) {
        self.consistency.iter_mut().for_each(|consistency| consistency.is_unclear = true);
    }
}

/// The scopes around a thread.
fn around(by: Place) -> impl Iterator<Item = Around> {
    [(Scope::Cta, by.gpu, by.block), (Scope::Cluster, by.gpu, by.cluster), (Scope::Gpu, by.gpu, 0), (Scope::Sys, 0, 0)].into_iter()
}

/// The threads of a party.
fn places_of(party: Party) -> impl Iterator<Item = Place> {
    let (first, last) = party.threads().into_inner();
    (first.thread..=last.thread.min(first.thread + BLOCK_THREADS_MAX - 1)).map(move |thread| Place { thread, ..first })
}
