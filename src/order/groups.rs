//! Groups of asynchronous operations (PTX ISA, "cp.async.wait_group", "cp.async.bulk.wait_group", "wgmma.wait_group").
//!
//! A thread waits for its own copies. A group of `wgmma` is the warpgroup's, so a wait of one warp is the end of what all four read.

use std::sync::Arc;

use super::clock::VectorClock;
use super::operation::{Actor, AsyncKind};
use super::state::HappensBefore;
use super::threads::{Block, Queue, Warp};
use crate::base::lanes::{LaneMask, PerLane};
use crate::base::{Tick, WarpId};

/// Times at which lanes committed groups that are remembered; a wait names one of the last few.
const COMMITS: usize = 128;

/// Warps of a warpgroup.
const WARPS: u32 = 4;

impl HappensBefore {
    /// Lanes commit their groups of copies.
    pub fn commit(&mut self, actor: Actor, bulk: bool) {
        let queue = if bulk { Queue::Bulk } else { Queue::Lane };
        self.acting(actor).warps[actor.warp].commit(queue, actor.lanes, actor.tick);
    }

    /// Lanes have waited until at most `pending` of their groups of copies were left, for those not committed yet as well if `open`.
    pub fn wait(&mut self, actor: Actor, kind: AsyncKind, open: bool, pending: u32) {
        self.acting(actor).warps[actor.warp].wait(kind, actor.lanes, (open, pending), actor.tick);
    }

    /// A warp commits group `group` of its `wgmma`.
    pub fn commit_wgmma(&mut self, actor: Actor, group: u32) {
        let warp = &mut self.acting(actor).warps[actor.warp];
        assert!(group >= warp.wgmma_groups, "group {group} is committed after {}", warp.wgmma_groups);
        warp.commit(Queue::Wgmma, actor.lanes, actor.tick);
        warp.wgmma_groups = group + 1;
    }

    /// A warp has waited for all groups of `wgmma` below `done`: the parts of all warps of the warpgroup have ended.
    pub fn wait_wgmma(&mut self, actor: Actor, done: u32) {
        self.acting(actor).wait_for_warpgroup(actor.warp, actor.lanes, done);
    }
}

impl Block {
    fn wait_for_warpgroup(&mut self, warp: WarpId, lanes: LaneMask, done: u32) {
        let first = warp.number() - warp.number() % WARPS;
        let mut clock = VectorClock::default();
        let known = &mut clock.of_mut(self.number).asynchronous_mut().done[AsyncKind::Wgmma as usize];
        for (number, of) in self.warps.entries().skip(first as usize).take(WARPS as usize) {
            let later = of.wgmma_groups.checked_sub(done).filter(|_| done > 0);
            let committed = later.and_then(|later| of.commits[Queue::Wgmma as usize].iter().rev().nth(later as usize));
            committed.iter().for_each(|(tick, _)| known.advance(number, LaneMask::ALL, LaneMask::ALL, *tick));
        }
        self.acquire(warp, lanes, &Arc::new(clock));
    }
}

impl Warp {
    fn commit(&mut self, queue: Queue, lanes: LaneMask, tick: Tick) {
        let commits = &mut self.commits[queue as usize];
        assert!(commits.last().is_none_or(|(last, _)| *last <= tick), "groups are committed in the order of time");
        if commits.len() == COMMITS {
            commits.drain(..COMMITS / 2);
        }
        commits.push((tick, lanes));
    }

    fn wait(&mut self, kind: AsyncKind, lanes: LaneMask, (open, pending): (bool, u32), tick: Tick) {
        let queue = match kind {
            AsyncKind::Lane => Queue::Lane,
            AsyncKind::Bulk | AsyncKind::BulkRead => Queue::Bulk,
            // Waits for these are the warpgroup's.
            AsyncKind::Wgmma => return,
        };
        let commits = &self.commits[queue as usize];
        let committed = |lane: usize| {
            let of_lane = commits.iter().rev().filter(|(_, lanes)| lanes.contains(lane));
            of_lane.map(|(tick, _)| *tick).nth(pending as usize).unwrap_or(Tick::START)
        };
        let done: PerLane<Tick> = std::array::from_fn(|lane| match lanes.contains(lane) {
            false => Tick::START,
            true if open => tick + 1,
            true => committed(lane),
        });
        assert!(done.iter().all(|done| *done <= tick + 1), "a wait ends nothing that comes after it");
        if done.iter().all(|tick| *tick == Tick::START) {
            return;
        }
        let own = &mut Arc::make_mut(self.own.get_or_insert_default()).done[kind as usize];
        own.iter_mut().zip(done).for_each(|(known, done)| *known = (*known).max(done));
    }
}
