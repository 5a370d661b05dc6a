//! Barriers of the block, of the warp and of the cluster (PTX ISA, "Memory Consistency Model", "Synchronizes";
//! "bar, barrier", "bar.warp.sync", "barrier.cluster").

use std::sync::Arc;

use smallvec::SmallVec;

use super::clock::{VectorClock, join_into};
use super::cluster::{ClusterBarrier, Passed};
use super::operation::Actor;
use super::state::HappensBefore;
use super::threads::{Arrival, Block};
use crate::base::lanes::LaneMask;
use crate::base::{Id, Tick, WarpId};
use crate::isa::Scope;

impl HappensBefore {
    /// Lanes arrive at barrier `id` of their block, and wait there if it `waits`.
    pub fn arrive(&mut self, actor: Actor, id: u32, waits: bool) {
        self.acting(actor).arrive(id as usize, actor.warp, actor.lanes, waits, actor.tick);
    }

    /// A barrier of the block in `block_slot` ended its phase.
    pub fn complete_barrier(&mut self, block_slot: u32, id: u32, tick: Tick) {
        if let Some(Some(block)) = self.blocks.get_mut(block_slot as usize) {
            block.complete_barrier(id as usize, tick);
        }
    }

    /// Whether the phase of a barrier that ends now orders all that the block in `block_slot` did before all that it does after.
    pub fn is_barrier_of_all(&self, block_slot: u32, id: u32) -> bool {
        self.block(block_slot).is_some_and(|block| block.is_barrier_of_all(id as usize))
    }

    /// Lanes reach a `bar.warp.sync` of `members`.
    pub fn sync_warp(&mut self, actor: Actor, members: LaneMask) {
        self.acting(actor).warp_sync(actor.warp, actor.lanes, members, actor.tick);
    }

    /// Lanes do something together with all of `lockstep`, which run one instruction after the other: each knows what all did before.
    /// Warps of architectures below sm_70, which have a stack, are relied on for that.
    pub fn run_in_lockstep(&mut self, actor: Actor, lockstep: LaneMask) {
        assert!(lockstep.contains_all(actor.lanes), "lanes run in lockstep with themselves");
        let block = self.acting(actor);
        let (before, tick) = std::mem::replace(&mut block.warps[actor.warp].lockstep, (lockstep, actor.tick));
        if before != lockstep && !before.is_empty() {
            // They part, or others have joined them.
            block.leave_lockstep(actor.warp, before, tick);
        }
    }

    /// The barrier of the cluster around `block_slot`.
    fn cluster_of(&mut self, block_slot: u32, number: u32) -> &mut ClusterBarrier {
        let size = self.cluster();
        let cluster = self.clusters.entry(block_slot - block_slot % size).or_default();
        cluster.enter(u64::from(number / size));
        cluster
    }

    /// Lanes arrive at the barrier of their cluster; `relaxed`, they release only what they knew at a fence before.
    pub fn arrive_at_cluster(&mut self, actor: Actor, relaxed: bool) {
        let Actor { block_slot, warp, lanes, tick } = actor;
        let block = self.acting(actor);
        let completed = Some(Arc::new(block.released(warp, lanes, tick)));
        let released = if relaxed { block.fenced(warp, lanes, Scope::Cluster).map(Arc::new) } else { completed.clone() };
        let number = block.number;
        self.cluster_of(block_slot, number).arrive(block_slot, warp, lanes, &Passed { released, completed });
    }

    /// Lanes wait for the barrier of their cluster, or pass if it has ended.
    pub fn wait_for_cluster(&mut self, actor: Actor) {
        let number = self.acting(actor).number;
        if let Some(passed) = self.cluster_of(actor.block_slot, number).wait(actor.block_slot, actor.warp, actor.lanes) {
            self.acting(actor).pass_cluster(actor.warp, actor.lanes, &passed);
        }
    }

    /// The barrier of the cluster around the block `number` in `block_slot` ended its phase.
    pub fn complete_cluster_barrier(&mut self, block_slot: u32, number: u32) {
        let (waiting, passed) = self.cluster_of(block_slot, number).end();
        for (block_slot, warp, lanes) in waiting {
            if let Some(Some(block)) = self.blocks.get_mut(block_slot as usize) {
                block.pass_cluster(warp, lanes, &passed);
            }
        }
    }
}

impl Block {
    /// Lanes arrive at barrier `id`.
    pub fn arrive(&mut self, id: usize, warp: WarpId, lanes: LaneMask, waits: bool, tick: Tick) {
        let clock = (!waits).then(|| self.clock_at(warp, tick));
        self.barriers[id].push(Arrival { warp, lanes, clock });
    }

    /// The phase of barrier `id` ends: what the arrivals released happens before the continuation of those that wait.
    pub fn complete_barrier(&mut self, id: usize, tick: Tick) {
        let arrivals = std::mem::take(&mut self.barriers[id]);
        let arrived = self.waiting(&arrivals);
        if self.are_all(&arrivals, &arrived) {
            return self.synchronize_all(tick);
        }
        let mut joined = VectorClock::default();
        for Arrival { warp, lanes, clock } in &arrivals {
            let now;
            let arrived = match clock {
                Some(clock) => clock,
                None => {
                    now = self.clock_at(*warp, tick);
                    &now
                }
            };
            joined.join(&arrived.released(*lanes));
            let before = self.warps[*warp].fenced_by(*lanes);
            before.iter().for_each(|before| join_into(&mut joined.before_fence, before));
        }
        let clock = Arc::new(joined);
        if self.warps.iter().zip(&arrived).all(|(warp, arrived)| *arrived == warp.live) {
            self.known = Some(clock);
            for warp in &mut self.warps {
                (warp.known, warp.own) = (None, None);
                warp.lane_clocks.clear();
                warp.lanewise.clear();
            }
            return;
        }
        for (warp, lanes) in arrived.iter().enumerate().filter(|(_, lanes)| !lanes.is_empty()) {
            self.acquire(WarpId::at(warp), *lanes, &clock);
        }
    }

    /// The lanes of each warp that wait at a barrier where these have arrived.
    fn waiting(&self, arrivals: &[Arrival]) -> Vec<LaneMask> {
        let mut arrived = vec![LaneMask::NONE; self.warps.len()];
        for arrival in arrivals.iter().filter(|arrival| arrival.clock.is_none()) {
            let own = &mut arrived[arrival.warp.position()];
            assert!(!own.intersects(arrival.lanes), "a lane waits at a barrier once a phase");
            *own |= arrival.lanes;
        }
        arrived
    }

    /// Whether those that have `arrived` and wait are all threads of the block.
    fn are_all(&self, arrivals: &[Arrival], arrived: &[LaneMask]) -> bool {
        self.warps.iter().zip(arrived).all(|(warp, arrived)| *arrived == warp.all) && arrivals.iter().all(|arrival| arrival.clock.is_none())
    }

    /// Whether all threads of the block, none of which has exited, wait at barrier `id`.
    fn is_barrier_of_all(&self, id: usize) -> bool {
        let arrivals = &self.barriers[id];
        self.are_all(arrivals, &self.waiting(arrivals))
    }

    /// All threads of the block, none of which has exited, synchronize.
    fn synchronize_all(&mut self, tick: Tick) {
        let number = self.number;
        self.all_before = tick + 1;
        for (index, warp) in self.warps.iter_mut().enumerate() {
            warp.gather(number, WarpId::at(index));
            if let Some(known) = warp.known.take() {
                join_into(&mut self.known, &known);
            }
        }
    }

    /// Lanes reach a `bar.warp.sync` of `members`; when the last has arrived, each knows what all did.
    pub fn warp_sync(&mut self, warp: WarpId, lanes: LaneMask, members: LaneMask, tick: Tick) {
        let of = &mut self.warps[warp];
        let members = members & of.live;
        let mut arrived = lanes;
        of.syncs.retain(|(of, there)| {
            let same = *of == members;
            arrived |= if same { *there } else { LaneMask::NONE };
            !same
        });
        if !arrived.contains_all(members) {
            return of.syncs.push((members, arrived));
        }
        self.synchronize_lanes(warp, arrived, tick);
    }

    /// Lanes that ran in lockstep until `tick` run apart from then on.
    fn leave_lockstep(&mut self, warp: WarpId, lanes: LaneMask, tick: Tick) {
        let number = self.number;
        let of = &mut self.warps[warp];
        let live = lanes & of.live;
        if lanes == of.all {
            of.warp_before = of.warp_before.max(tick + 1);
            of.gather(number, warp);
        } else if !live.is_empty() {
            let clock = Arc::new(self.released(warp, lanes, tick));
            self.acquire(warp, live, &clock);
        }
    }

    fn synchronize_lanes(&mut self, warp: WarpId, lanes: LaneMask, tick: Tick) {
        let number = self.number;
        let of = &mut self.warps[warp];
        if lanes == of.all {
            (of.warp_before, of.synchronized_before) = (tick + 1, tick + 1);
            of.gather(number, warp);
        } else if lanes.count() > 1 {
            let clock = Arc::new(self.released(warp, lanes, tick));
            self.acquire(warp, lanes, &clock);
        }
    }

    /// Lanes have waited for a phase of the barrier of the cluster.
    pub fn pass_cluster(&mut self, warp: WarpId, lanes: LaneMask, passed: &Passed) {
        passed.released.iter().for_each(|clock| self.acquire(warp, lanes, clock));
        passed.completed.iter().for_each(|clock| join_into(&mut self.exit_clock, clock));
    }

    /// Lanes exit: a `bar.warp.sync` no longer waits for them.
    pub fn exit(&mut self, warp: WarpId, lanes: LaneMask, tick: Tick) {
        let of = &mut self.warps[warp];
        of.live &= !lanes;
        let live = of.live;
        let complete: SmallVec<[LaneMask; 2]> =
            of.syncs.iter().filter(|(members, arrived)| arrived.contains_all(*members & live)).map(|(_, arrived)| *arrived).collect();
        of.syncs.retain(|(members, arrived)| !arrived.contains_all(*members & live));
        complete.into_iter().for_each(|lanes| self.synchronize_lanes(warp, lanes & live, tick));
    }
}
