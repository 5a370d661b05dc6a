//! Groups of asynchronous operations (PTX ISA, "cp.async.wait_group", "cp.async.bulk.wait_group", "wgmma.wait_group").
//!
//! A thread waits for its own copies. A group of `wgmma` is that of the warpgroup, so a wait of one warp ends the reads of all four.

use std::sync::Arc;

use super::clock::VectorClock;
use super::operation::{Actor, AsyncKind};
use super::state::HappensBefore;
use super::threads::{Block, GroupKind, Warp};
use crate::base::lanes::{LaneMask, PerLane};
use crate::base::{Tick, WarpId};

/// The most commits that are retained; a wait names one of the last few.
const COMMITS: usize = 128;

/// Warps of a warpgroup.
const WARPGROUP_WARPS: u32 = 4;

impl HappensBefore {
    /// Lanes commit their groups of copies.
    pub fn commit(&mut self, actor: Actor, bulk: bool) {
        let group_kind = if bulk { GroupKind::Bulk } else { GroupKind::CpAsync };
        self.acting_block(actor).warps[actor.warp].commit(group_kind, actor.lanes, actor.tick);
    }

    /// Lanes have waited until at most `pending` of their groups of copies were pending, and for the uncommitted copies as well if
    /// `includes_uncommitted`.
    pub fn wait(&mut self, actor: Actor, kind: AsyncKind, includes_uncommitted: bool, pending: u32) {
        self.acting_block(actor).warps[actor.warp].wait(kind, actor.lanes, (includes_uncommitted, pending), actor.tick);
    }

    /// A warp commits group `group` of its `wgmma`.
    pub fn commit_wgmma(&mut self, actor: Actor, group: u32) {
        let warp = &mut self.acting_block(actor).warps[actor.warp];
        assert!(group >= warp.wgmma_groups, "group {group} is committed after {}", warp.wgmma_groups);
        warp.commit(GroupKind::Wgmma, actor.lanes, actor.tick);
        warp.wgmma_groups = group + 1;
    }

    /// A warp has waited for all groups of `wgmma` below `done`: those of all warps of the warpgroup have completed.
    pub fn wait_wgmma(&mut self, actor: Actor, done: u32) {
        self.acting_block(actor).wait_for_warpgroup(actor.warp, actor.lanes, done);
    }
}

impl Block {
    fn wait_for_warpgroup(&mut self, warp: WarpId, lanes: LaneMask, done: u32) {
        let first = warp.number() - warp.number() % WARPGROUP_WARPS;
        let mut clock = VectorClock::default();
        let completed = &mut clock.get_mut(self.number).asynchronous_mut().completed[AsyncKind::Wgmma as usize];
        for (number, state) in self.warps.entries().skip(first as usize).take(WARPGROUP_WARPS as usize) {
            let later = state.wgmma_groups.checked_sub(done).filter(|_| done > 0);
            let committed = later.and_then(|later| state.commits[GroupKind::Wgmma as usize].iter().rev().nth(later as usize));
            committed.iter().for_each(|(tick, _)| completed.advance(number, LaneMask::ALL, LaneMask::ALL, *tick));
        }
        self.acquire(warp, lanes, &Arc::new(clock));
    }
}

impl Warp {
    fn commit(&mut self, group_kind: GroupKind, lanes: LaneMask, tick: Tick) {
        let commits = &mut self.commits[group_kind as usize];
        assert!(commits.last().is_none_or(|(last, _)| *last <= tick), "groups are committed in the order of time");
        if commits.len() == COMMITS {
            commits.drain(..COMMITS / 2);
        }
        commits.push((tick, lanes));
    }

    fn wait(&mut self, kind: AsyncKind, lanes: LaneMask, (includes_uncommitted, pending): (bool, u32), tick: Tick) {
        let group_kind = match kind {
            AsyncKind::CpAsync => GroupKind::CpAsync,
            AsyncKind::Bulk | AsyncKind::BulkRead => GroupKind::Bulk,
            // Waits for these are the warpgroup's.
            AsyncKind::Wgmma => return,
        };
        let commits = &self.commits[group_kind as usize];
        let committed = |lane: usize| {
            let of_lane = commits.iter().rev().filter(|(_, lanes)| lanes.contains(lane));
            of_lane.map(|(tick, _)| *tick).nth(pending as usize).unwrap_or(Tick::START)
        };
        // The lanes mostly commit together.
        let are_alike = includes_uncommitted || commits.iter().all(|(_, committing)| committing.contains_all(lanes));
        let of_first = if includes_uncommitted { tick + 1 } else { committed(lanes.first()) };
        let completed: PerLane<Tick> = std::array::from_fn(|lane| match lanes.contains(lane) {
            false => Tick::START,
            true if are_alike => of_first,
            true => committed(lane),
        });
        assert!(completed.iter().all(|completed| *completed <= tick + 1), "a wait ends nothing that comes after it");
        if completed.iter().all(|tick| *tick == Tick::START) {
            return;
        }
        let own = &mut Arc::make_mut(self.lane_state.get_or_insert_default()).completed[kind as usize];
        own.iter_mut().zip(completed).for_each(|(tick, completed)| *tick = (*tick).max(completed));
    }
}
