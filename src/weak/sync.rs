//! What orders threads: fences, barriers, mbarriers.

use std::ops::RangeInclusive;

use smallvec::SmallVec;

use super::history::Location;
use super::memory::{Meeting, WeakMemory};
use super::thread::{Group, Place};
use super::view::View;
use crate::isa::Scope;

/// The threads of a scope around a thread: its GPU, and the number of the block or cluster there.
pub(super) type Around = (Scope, u32, u32);

impl WeakMemory {
    /// A fence.
    pub fn fence(&mut self, by: Place, sc: bool, scope: Scope, now: u64) {
        self.releasing.insert(Group::warp(by));
        let around: SmallVec<[Around; 4]> = if sc { around(by).filter(|(level, ..)| *level <= scope).collect() } else { SmallVec::new() };
        let thread = self.threads.entry(by).or_default();
        thread.acquire(by, scope, None);
        around.iter().filter_map(|around| self.sc_fences.get(around)).for_each(|view| thread.view.join(view));
        let view = self.view_of(by, now);
        around.into_iter().for_each(|around| self.sc_fences.entry(around).or_default().join(&view));
        self.threads.entry(by).or_default().fences.insert(scope, view);
    }

    /// What all of `arrived` have done comes before what `waiting` do next.
    pub fn barrier(&mut self, arrived: &[Place], waiting: &[Place], now: u64) {
        let mut all = View::default();
        arrived.iter().for_each(|by| all.join(&self.view_of(*by, now)));
        all.share();
        let is_same = arrived == waiting;
        for by in waiting {
            let view = &mut self.threads.entry(*by).or_default().view;
            // The view of a thread that has arrived is a part of it.
            if is_same { *view = all.clone() } else { view.join(&all) }
        }
    }

    /// All threads of a block meet, of which `first` is the first. If no other block accesses its shared memory, no thread can read
    /// anything but the newest there.
    pub fn meet_block(&mut self, first: Place, now: u64, is_private: bool) {
        self.meet_all(Group::block(first), first..=Place { thread: u32::MAX, ..first }, now);
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

    /// All threads of a warp meet, of which `first` is the first.
    pub fn meet_warp(&mut self, first: Place, now: u64) {
        self.meet_all(Group::warp(first), first..=Place { thread: first.thread + 31, ..first }, now);
    }

    fn meet_all(&mut self, group: Group, threads: RangeInclusive<Place>, now: u64) {
        let mut view = self.met.get_mut(&group).map(|met| std::mem::take(&mut met.view)).unwrap_or_default();
        for (_, thread) in self.threads.range_mut(threads) {
            view.join(&std::mem::take(&mut thread.view));
        }
        for (part, met) in self.met.range_mut(group..).take_while(|(part, _)| group.contains(part)) {
            if *part != group {
                view.join(&std::mem::take(&mut met.view));
            }
        }
        view.share_met(group, now);
        self.met.insert(group, Meeting { view, time: now });
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
        let memory = first.block + 1;
        self.lines.forget(memory);
        self.histories_of(memory).into_iter().for_each(|at| self.forget(at));
    }

    /// Threads use an object that orders each use after those before it.
    pub fn meet(&mut self, object: u64, places: &[Place], now: u64) {
        let mut all = self.meetings.remove(&object).unwrap_or_default();
        places.iter().for_each(|by| all.join(&self.view_of(*by, now)));
        all.share();
        places.iter().for_each(|by| self.threads.entry(*by).or_default().view = all.clone());
        self.meetings.insert(object, all);
    }
}

/// The scopes around a thread.
fn around(by: Place) -> impl Iterator<Item = Around> {
    [(Scope::Cta, by.gpu, by.block), (Scope::Cluster, by.gpu, by.cluster), (Scope::Gpu, by.gpu, 0), (Scope::Sys, 0, 0)].into_iter()
}
