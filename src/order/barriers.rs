//! Barriers of the block, of the warp and of the cluster (PTX ISA, "Memory Consistency Model", "Synchronizes";
//! "bar, barrier", "bar.warp.sync", "barrier.cluster").

use std::sync::Arc;

use smallvec::SmallVec;

use super::clock::{VectorClock, join_into};
use super::cluster::{ClusterBarrier, PhaseClocks};
use super::operation::Actor;
use super::state::HappensBefore;
use super::threads::{Arrival, Block};
use crate::base::lanes::{LANES, LaneMask};
use crate::base::{Id, Tick, WarpId};
use crate::isa::Scope;

impl HappensBefore {
    /// Lanes arrive at barrier `id` of their block, and wait there if `waits`.
    pub fn arrive(&mut self, actor: Actor, id: u32, waits: bool) {
        self.acting_block(actor).arrive(id as usize, actor.warp, actor.lanes, waits, actor.tick);
    }

    /// The phase of a barrier of the block in `block_slot` has completed.
    pub fn complete_barrier(&mut self, block_slot: u32, id: u32, tick: Tick) {
        if let Some(Some(block)) = self.blocks.get_mut(block_slot as usize) {
            block.complete_barrier(id as usize, tick);
        }
    }

    /// True if the phase of a barrier that completes now orders all earlier operations of the block in `block_slot` before all later ones.
    pub fn orders_whole_block(&self, block_slot: u32, id: u32) -> bool {
        self.block(block_slot).is_some_and(|block| block.orders_whole_block(id as usize))
    }

    /// Lanes reach a `bar.warp.sync` of `members`.
    pub fn sync_warp(&mut self, actor: Actor, members: LaneMask) {
        self.acting_block(actor).warp_sync(actor.warp, actor.lanes, members, actor.tick);
    }

    /// Lanes execute an instruction in lockstep with all of `lockstep`: the earlier operations of all happen before the next of each. Only
    /// for warps with a SIMT stack (architectures below sm_70).
    pub fn run_in_lockstep(&mut self, actor: Actor, lockstep: LaneMask) {
        assert!(lockstep.contains_all(actor.lanes), "lanes run in lockstep with themselves");
        let block = self.acting_block(actor);
        let (before, tick) = std::mem::replace(&mut block.warps[actor.warp].lockstep, (lockstep, actor.tick));
        if before != lockstep && !before.is_empty() {
            // They diverge, or others have reconverged with them.
            block.end_lockstep(actor.warp, before, tick);
        }
    }

    /// The barrier of the cluster of `block_slot`.
    fn cluster_of(&mut self, block_slot: u32, number: u32) -> &mut ClusterBarrier {
        let size = self.cluster();
        let cluster = self.clusters.entry(block_slot - block_slot % size).or_default();
        cluster.enter(u64::from(number / size));
        cluster
    }

    /// Lanes arrive at the barrier of their cluster; if `relaxed`, they release only their clock at their last fence.
    pub fn arrive_at_cluster(&mut self, actor: Actor, relaxed: bool) {
        let Actor { block_slot, warp, lanes, tick } = actor;
        let block = self.acting_block(actor);
        let completed = Some(Arc::new(block.released(warp, lanes, tick)));
        let released = if relaxed { block.released_by_fences(warp, lanes, Scope::Cluster).map(Arc::new) } else { completed.clone() };
        let number = block.number;
        self.cluster_of(block_slot, number).arrive(block_slot, warp, lanes, &PhaseClocks { released, completed });
    }

    /// Lanes wait for the barrier of their cluster, or continue if its phase has completed.
    pub fn wait_for_cluster(&mut self, actor: Actor) {
        let number = self.acting_block(actor).number;
        if let Some(clocks) = self.cluster_of(actor.block_slot, number).wait(actor.block_slot, actor.warp, actor.lanes) {
            self.acting_block(actor).acquire_cluster_phase(actor.warp, actor.lanes, &clocks);
        }
    }

    /// The phase of the barrier of the cluster of block `number` in `block_slot` has completed.
    pub fn complete_cluster_barrier(&mut self, block_slot: u32, number: u32) {
        let (waiting, clocks) = self.cluster_of(block_slot, number).complete();
        for (block_slot, warp, lanes) in waiting {
            if let Some(Some(block)) = self.blocks.get_mut(block_slot as usize) {
                block.acquire_cluster_phase(warp, lanes, &clocks);
            }
        }
    }
}

impl Block {
    /// Lanes arrive at barrier `id`.
    pub fn arrive(&mut self, id: usize, warp: WarpId, lanes: LaneMask, waits: bool, tick: Tick) {
        let clock = (!waits).then(|| Box::new(self.clock_at(warp, tick)));
        self.barriers[id].push(Arrival { warp, lanes, clock });
    }

    /// The phase of barrier `id` completes: the threads that wait acquire the clocks that the arrivals released.
    pub fn complete_barrier(&mut self, id: usize, tick: Tick) {
        let mut arrivals = std::mem::take(&mut self.barriers[id]);
        let arrived = self.waiting(&arrivals);
        if self.are_all(&arrivals, &arrived) {
            self.synchronize_all(tick);
        } else {
            self.synchronize_some(&arrivals, &arrived, tick);
        }
        // The next phase gets the memory.
        arrivals.clear();
        self.barriers[id] = arrivals;
    }

    /// The threads `arrived`, which wait at a barrier whose phase completes, acquire the clocks of all `arrivals`.
    fn synchronize_some(&mut self, arrivals: &[Arrival], arrived: &[LaneMask], tick: Tick) {
        let mut joined = VectorClock::default();
        for Arrival { warp, lanes, clock } in arrivals {
            let now;
            let arrived = match clock {
                Some(clock) => clock,
                None => {
                    now = self.clock_at(*warp, tick);
                    &now
                }
            };
            joined.join(&arrived.released(*lanes));
            let before = self.warps[*warp].last_sc_fence(*lanes);
            before.iter().for_each(|before| join_into(&mut joined.before_fence, before));
        }
        let clock = Arc::new(joined);
        if self.warps.iter().zip(arrived).all(|(warp, arrived)| *arrived == warp.live) {
            self.acquired = Some(clock);
            for warp in &mut self.warps {
                (warp.acquired, warp.lane_state) = (None, None);
                warp.lane_clocks.clear();
                warp.lanewise.clear();
            }
            return;
        }
        for (warp, lanes) in arrived.iter().enumerate().filter(|(_, lanes)| !lanes.is_empty()) {
            self.acquire(WarpId::at(warp), *lanes, &clock);
        }
    }

    /// The lanes of each warp that wait, of these arrivals.
    fn waiting(&self, arrivals: &[Arrival]) -> SmallVec<[LaneMask; LANES]> {
        let mut arrived: SmallVec<[LaneMask; LANES]> = SmallVec::from_elem(LaneMask::NONE, self.warps.len());
        for arrival in arrivals.iter().filter(|arrival| arrival.clock.is_none()) {
            let own = &mut arrived[arrival.warp.position()];
            assert!(!own.intersects(arrival.lanes), "a lane waits at a barrier once a phase");
            *own |= arrival.lanes;
        }
        arrived
    }

    /// True if the lanes `arrived`, which wait, are all threads of the block.
    fn are_all(&self, arrivals: &[Arrival], arrived: &[LaneMask]) -> bool {
        self.warps.iter().zip(arrived).all(|(warp, arrived)| *arrived == warp.all) && arrivals.iter().all(|arrival| arrival.clock.is_none())
    }

    /// True if all threads of the block, none of which has exited, wait at barrier `id`.
    fn orders_whole_block(&self, id: usize) -> bool {
        let arrivals = &self.barriers[id];
        self.are_all(arrivals, &self.waiting(arrivals))
    }

    /// All threads of the block, none of which has exited, synchronize.
    fn synchronize_all(&mut self, tick: Tick) {
        let number = self.number;
        self.all_before = tick + 1;
        for (index, warp) in self.warps.iter_mut().enumerate() {
            warp.merge_lane_clocks(number, WarpId::at(index));
            if let Some(clock) = warp.acquired.take() {
                join_into(&mut self.acquired, &clock);
            }
        }
    }

    /// Lanes reach a `bar.warp.sync` of `members`; when the last has arrived, each acquires the clocks of all.
    pub fn warp_sync(&mut self, warp: WarpId, lanes: LaneMask, members: LaneMask, tick: Tick) {
        let state = &mut self.warps[warp];
        let members = members & state.live;
        let mut arrived = lanes;
        state.syncs.retain(|(other, there)| {
            let same = *other == members;
            arrived |= if same { *there } else { LaneMask::NONE };
            !same
        });
        if !arrived.contains_all(members) {
            return state.syncs.push((members, arrived));
        }
        self.synchronize_lanes(warp, arrived, tick);
    }

    /// Lanes that ran in lockstep until `tick` do not from then on.
    fn end_lockstep(&mut self, warp: WarpId, lanes: LaneMask, tick: Tick) {
        let number = self.number;
        let state = &mut self.warps[warp];
        let live = lanes & state.live;
        if lanes == state.all {
            state.warp_before = state.warp_before.max(tick + 1);
            state.merge_lane_clocks(number, warp);
        } else if !live.is_empty() {
            let clock = Arc::new(self.released(warp, lanes, tick));
            self.acquire(warp, live, &clock);
        }
    }

    fn synchronize_lanes(&mut self, warp: WarpId, lanes: LaneMask, tick: Tick) {
        let number = self.number;
        let state = &mut self.warps[warp];
        if lanes == state.all {
            (state.warp_before, state.synchronized_before) = (tick + 1, tick + 1);
            state.merge_lane_clocks(number, warp);
        } else if lanes.count() > 1 {
            let clock = Arc::new(self.released(warp, lanes, tick));
            self.acquire(warp, lanes, &clock);
        }
    }

    /// Lanes have waited for a phase of the barrier of the cluster.
    pub fn acquire_cluster_phase(&mut self, warp: WarpId, lanes: LaneMask, clocks: &PhaseClocks) {
        clocks.released.iter().for_each(|clock| self.acquire(warp, lanes, clock));
        clocks.completed.iter().for_each(|clock| join_into(&mut self.exit_clock, clock));
    }

    /// Lanes exit: a `bar.warp.sync` no longer waits for them.
    pub fn exit(&mut self, warp: WarpId, lanes: LaneMask, tick: Tick) {
        let state = &mut self.warps[warp];
        state.live &= !lanes;
        if state.syncs.is_empty() {
            return;
        }
        let live = state.live;
        let complete: SmallVec<[LaneMask; 2]> =
            state.syncs.iter().filter(|(members, arrived)| arrived.contains_all(*members & live)).map(|(_, arrived)| *arrived).collect();
        state.syncs.retain(|(members, arrived)| !arrived.contains_all(*members & live));
        complete.into_iter().for_each(|lanes| self.synchronize_lanes(warp, lanes & live, tick));
    }
}
