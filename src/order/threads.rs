//! The clocks of resident threads, in layers: those that all threads of a block, all lanes of a warp, or some lanes of a warp have
//! acquired. The clock of a thread includes an operation if that happens before the next operation of the thread.

use std::sync::Arc;

use smallvec::SmallVec;

use super::clock::{BlockClock, ProxyKind, VectorClock, includes, join_into, join_shared, sufficient_kinds};
use super::lane_state::LaneState;
use super::lanewise::{LanewiseClock, LanewiseClocks};
use super::locations::ScFenceCondition;
use super::operation::{Agent, Operation};
use crate::base::lanes::LaneMask;
use crate::base::{IdVec, Tick, WarpId};
use crate::isa::Scope;

/// Barriers of a block.
const BARRIERS: usize = 16;

/// The most lanewise clocks of a warp; more are split into clocks of single lanes.
const MAX_LANEWISE: usize = 8;

/// The kinds of commit groups; the groups of a kind complete in the order in which a lane committed them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupKind {
    /// `cp.async`.
    CpAsync,
    /// Bulk copies.
    Bulk,
    /// `wgmma`.
    Wgmma,
}

/// A block on the machine.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// Its number in order of launch.
    pub number: u32,
    /// Operations of all its threads before this tick happen before the next operation of any of them.
    pub all_before: Tick,
    /// The clock that all its threads have acquired in addition.
    pub acquired: Option<Arc<VectorClock>>,
    /// Its warps.
    pub warps: IdVec<WarpId, Warp>,
    /// The arrivals at its barriers.
    pub barriers: [Vec<Arrival>; BARRIERS],
    /// The number of copies issued that complete on mbarriers.
    pub copies: u32,
    /// In a cluster, the joined clocks of its threads at their exits, and of the arrivals at barriers of the cluster that they waited for.
    pub exit_clock: Option<Arc<VectorClock>>,
}

/// A warp.
#[derive(Clone, Debug, Default)]
pub struct Warp {
    /// The lanes that it was launched with.
    pub all: LaneMask,
    /// The lanes that have not exited.
    pub live: LaneMask,
    /// Operations of all its lanes before this tick happen before the next operation of any of them.
    pub warp_before: Tick,
    /// The same by a barrier of the warp alone, without the order that only running in lockstep gives.
    pub synchronized_before: Tick,
    /// The clock that all its live lanes have acquired in addition.
    pub acquired: Option<Arc<VectorClock>>,
    /// The clocks that only some of its lanes have acquired.
    pub lane_clocks: SmallVec<[(LaneMask, Arc<VectorClock>); 1]>,
    /// The lanewise clocks that some of its lanes have acquired.
    pub lanewise: LanewiseClocks,
    /// The state of each lane that no other thread has acquired yet.
    pub lane_state: Option<Arc<LaneState>>,
    /// The ticks at which lanes committed groups, by [`GroupKind`].
    pub commits: [Vec<(Tick, LaneMask)>; 3],
    /// The number of `wgmma` groups committed.
    pub wgmma_groups: u32,
    /// The clocks of lanes at their last fences, which the strong writes after them release.
    pub fences: SmallVec<[FenceClock; 1]>,
    /// The clocks that lanes acquire at their next fence, by strong reads before it.
    pub deferred: Vec<DeferredAcquire>,
    /// The clocks that lanes would have acquired if the scopes were wider.
    pub out_of_scope: SmallVec<[(LaneMask, Arc<VectorClock>); 1]>,
    /// For a warp with a SIMT stack, the lanes that last ran in lockstep, and the tick.
    pub lockstep: (LaneMask, Tick),
    /// Incomplete `bar.warp.sync`: the members of each, and those that have arrived.
    pub syncs: SmallVec<[(LaneMask, LaneMask); 1]>,
}

/// The clock of lanes at a fence.
#[derive(Clone, Debug)]
pub struct FenceClock {
    /// The lanes.
    pub lanes: LaneMask,
    /// The scope of the fence.
    pub scope: Scope,
    /// True if it is a `fence.sc`.
    pub sc: bool,
    /// The clock.
    pub clock: WarpClock,
    /// The clocks of the `fence.sc` that precede this one in Fence-SC order.
    pub before: SmallVec<[Arc<VectorClock>; 1]>,
    /// True if a barrier of the warp has propagated its clock to all lanes.
    pub is_propagated: bool,
}

impl FenceClock {
    /// True if it is a `fence.sc` that all threads of the grid order.
    fn is_wide(&self) -> bool {
        self.sc && self.scope >= Scope::Gpu
    }

    /// True if it is such a fence, and the `fence.sc` with the clock `before` precedes it.
    pub fn follows(&self, before: &Arc<VectorClock>) -> bool {
        self.is_wide() && self.before.iter().any(|clock| Arc::ptr_eq(clock, before))
    }
}

/// The clock of a warp at some time.
#[derive(Clone, Debug)]
pub struct WarpClock {
    number: u32,
    warp: WarpId,
    all: LaneMask,
    all_before: Tick,
    warp_before: Tick,
    block_clock: Option<Arc<VectorClock>>,
    warp_clock: Option<Arc<VectorClock>>,
    lane_clocks: SmallVec<[(LaneMask, Arc<VectorClock>); 1]>,
    lanewise: LanewiseClocks,
    deferred: Vec<DeferredAcquire>,
    lane_state: Option<Arc<LaneState>>,
    /// The tick.
    pub tick: Tick,
}

/// Lanes of a warp that have arrived at a barrier of the block in its current phase.
#[derive(Clone, Debug)]
pub struct Arrival {
    /// The warp.
    pub warp: WarpId,
    /// The lanes.
    pub lanes: LaneMask,
    /// Their clock, if they did not wait and continued.
    pub clock: Option<Box<WarpClock>>,
}

/// A deferred acquire: the clock that lanes acquire when they execute a fence of at least this scope.
#[derive(Clone, Debug)]
pub struct DeferredAcquire {
    /// The lanes.
    pub lanes: LaneMask,
    /// The scope.
    pub scope: Scope,
    /// The part that `fence.sc` plays: where the value read was not written strongly, or not after a fence of the same thread, no
    /// pattern synchronizes, but `fence.sc` are ordered.
    pub sc: ScFenceCondition,
    /// The clock.
    pub clock: Arc<VectorClock>,
}

impl Block {
    /// Starts over as block `number` with warps of these lanes, in the memory that there is.
    pub fn restart(&mut self, number: u32, lanes: &[LaneMask]) {
        let Self { number: of_block, all_before, acquired, warps, barriers, copies, exit_clock } = self;
        (*of_block, *all_before, *copies) = (number, Tick::START, 0);
        (*acquired, *exit_clock) = (None, None);
        barriers.iter_mut().for_each(Vec::clear);
        if warps.len() != lanes.len() {
            *warps = lanes.iter().map(|_| Warp::default()).collect();
        }
        warps.iter_mut().zip(lanes).for_each(|(warp, all)| warp.restart(*all));
    }

    /// The clock of a warp at `tick`.
    pub fn clock_at(&self, warp: WarpId, tick: Tick) -> WarpClock {
        let Self { number, all_before, acquired: block_clock, warps, .. } = self;
        let Warp { all, warp_before, acquired: warp_clock, lane_clocks, lanewise, deferred, lane_state, .. } = &warps[warp];
        WarpClock {
            number: *number,
            warp,
            all: *all,
            all_before: *all_before,
            warp_before: *warp_before,
            block_clock: block_clock.clone(),
            warp_clock: warp_clock.clone(),
            lane_clocks: lane_clocks.clone(),
            lanewise: lanewise.clone(),
            deferred: deferred.iter().filter(|acquire| acquire.sc != ScFenceCondition::Irrelevant).cloned().collect(),
            lane_state: lane_state.clone(),
            tick,
        }
    }

    /// The clock that `lanes` of a warp release at `tick`: the clocks they have acquired, and their own operations.
    pub fn released(&self, warp: WarpId, lanes: LaneMask, tick: Tick) -> VectorClock {
        let Warp { all, warp_before, acquired: warp_clock, lane_clocks, lanewise, deferred, lane_state, .. } = &self.warps[warp];
        let (number, all_before, block_clock, all, warp_before) = (self.number, self.all_before, &self.acquired, *all, *warp_before);
        WarpClockView {
            number,
            warp,
            all,
            all_before,
            warp_before,
            block_clock,
            warp_clock,
            lane_clocks,
            lanewise,
            deferred,
            lane_state,
            tick,
        }
        .released(lanes)
    }

    /// The lanewise clocks that `lanes` of a warp release at `tick`, each with its lanes; only if [`Block::is_lanewise`].
    pub fn released_lanewise(&self, warp: WarpId, mut lanes: LaneMask, tick: Tick) -> LanewiseClocks {
        assert!(self.is_lanewise(warp), "lanes differ by their number alone");
        let all = self.released(warp, LaneMask::NONE, tick);
        let state = &self.warps[warp];
        let mut released = SmallVec::new();
        while !lanes.is_empty() {
            let (first, mut same_clock, mut clock) = (lanes.first(), lanes, LanewiseClock::new(all.clone()));
            for (mask, lanewise) in &state.lanewise {
                if mask.contains(first) {
                    clock.join(lanewise);
                    same_clock &= *mask;
                } else {
                    same_clock &= !*mask;
                }
            }
            clock.advance(self.number, warp, state.all, tick + 1);
            released.push((same_clock, Arc::new(clock)));
            lanes &= !same_clock;
        }
        released
    }

    /// True if the clocks of the lanes of `warp` differ by the number of the lane alone, and no fence is involved.
    pub fn is_lanewise(&self, warp: WarpId) -> bool {
        let state = &self.warps[warp];
        let has_fences = |clock: &Arc<VectorClock>| clock.after_fence.is_some() || clock.before_fence.is_some();
        state.lane_state.is_none()
            && state.lane_clocks.is_empty()
            && state.fences.is_empty()
            && state.deferred.is_empty()
            && ![&self.acquired, &state.acquired].into_iter().flatten().any(has_fences)
    }

    /// Lanes of a warp acquire `clock`.
    pub fn acquire(&mut self, warp: WarpId, lanes: LaneMask, clock: &Arc<VectorClock>) {
        self.warps[warp].acquire(lanes, clock);
    }

    /// The clock that lanes of a warp released by their fences of at least `scope`.
    pub fn released_by_fences(&self, warp: WarpId, lanes: LaneMask, scope: Scope) -> Option<VectorClock> {
        let fences = self.warps[warp].fences.iter().filter(|fence| fence.lanes.intersects(lanes) && fence.scope >= scope);
        fences.map(|fence| fence.clock.released(fence.lanes & lanes)).reduce(|mut all, more| {
            all.join(&more);
            all
        })
    }

    /// True if all of `operation` happens before every lane of `warp`, by the clocks that all lanes share. False also if only the clocks
    /// of single lanes show it.
    pub fn happens_before_all(&self, warp: WarpId, operation: &Operation) -> bool {
        let Operation { tick, .. } = *operation;
        let state = &self.warps[warp];
        let in_block = operation.agent == Agent::Threads && operation.block == self.number;
        if in_block && (tick < self.all_before || operation.warp == warp && tick < state.warp_before) {
            return true;
        }
        [&self.acquired, &state.acquired].into_iter().flatten().any(|clock| includes(clock, operation, operation.lanes))
    }

    /// True if a clock that [`Block::happens_before_all`] does not look at could include a lane of `operation` for a lane of `warp`.
    pub fn has_lane_precision(&self, warp: WarpId, operation: &Operation) -> bool {
        let state = &self.warps[warp];
        operation.block == self.number && operation.warp == warp
            || !(state.lane_clocks.is_empty() && state.lanewise.is_empty())
            || operation.lanes.count() > 1 && (self.acquired.is_some() || state.acquired.is_some())
    }

    /// True if lane `other` of `operation` happens before the next operation of lane `lane` of `warp`.
    pub fn happens_before(&self, warp: WarpId, lane: usize, operation: &Operation, other: usize) -> bool {
        let state = &self.warps[warp];
        let is_same_thread = operation.block == self.number && operation.warp == warp && lane == other;
        let is_known = match operation.agent {
            Agent::Threads if is_same_thread => true,
            Agent::Threads => {
                operation.block == self.number
                    && (operation.tick < self.all_before || operation.warp == warp && operation.tick < state.warp_before)
            }
            Agent::Async(kind) if is_same_thread => {
                let is_completed = |state: &Arc<LaneState>| {
                    sufficient_kinds(kind, operation).any(|kind| state.completed[kind as usize][lane] > operation.tick)
                };
                state.lane_state.as_ref().is_some_and(is_completed)
            }
            Agent::Async(_) | Agent::Copy(_) => false,
        };
        if is_known {
            return true;
        }
        let lane_clocks = state.lane_clocks.iter().filter(|(lanes, _)| lanes.contains(lane)).map(|(_, clock)| clock);
        [&self.acquired, &state.acquired]
            .into_iter()
            .flatten()
            .chain(lane_clocks)
            .any(|clock| includes(clock, operation, LaneMask::of(other)))
            || state.lanewise.iter().any(|(lanes, clock)| lanes.contains(lane) && clock.includes(lane, operation, other))
    }

    /// True if a proxy fence after lane `other` of `operation` happens before the next operation of lane `lane` of `warp`.
    pub fn fenced_before(&self, proxy: ProxyKind, warp: WarpId, lane: usize, operation: &Operation, other: usize) -> bool {
        let state = &self.warps[warp];
        let is_same_thread = operation.block == self.number && operation.warp == warp && lane == other;
        if is_same_thread && state.lane_state.as_ref().is_some_and(|state| state.proxy_fenced[proxy as usize][lane] > operation.tick) {
            return true;
        }
        let lane_clocks = state.lane_clocks.iter().filter(|(lanes, _)| lanes.contains(lane)).map(|(_, clock)| clock);
        [&self.acquired, &state.acquired]
            .into_iter()
            .flatten()
            .chain(lane_clocks)
            .map(|clock| &**clock)
            .chain(state.lanewise.iter().filter(|(lanes, _)| lanes.contains(lane)).map(|(_, clock)| clock.common()))
            .any(|clock| clock_fenced_before(clock, proxy, operation, LaneMask::of(other)))
    }

    /// True if a proxy fence after all of `operation` happens before every lane of `warp`. False also if that depends on the lane.
    pub fn all_fenced_before(&self, proxy: ProxyKind, warp: WarpId, operation: &Operation) -> bool {
        let state = &self.warps[warp];
        [&self.acquired, &state.acquired].into_iter().flatten().any(|clock| clock_fenced_before(clock, proxy, operation, operation.lanes))
    }

    /// True if a clock of `warp` has an entry for another block.
    pub fn has_other_blocks(&self, warp: WarpId) -> bool {
        let state = &self.warps[warp];
        let lane_clocks = state.lane_clocks.iter().map(|(_, clock)| clock);
        [&self.acquired, &state.acquired].into_iter().flatten().chain(lane_clocks).any(|clock| clock.has_other_blocks(self.number))
            || state.lanewise.iter().any(|(_, clock)| clock.has_other_blocks(self.number))
    }

    /// Lanes of `warp` execute a `fence.sc`: they acquire the clocks that wait for one.
    pub fn execute_sc_fence(&mut self, warp: WarpId, lanes: LaneMask) {
        let state = &mut self.warps[warp];
        let lane_clocks = state.lane_clocks.iter().filter(|(mask, _)| mask.intersects(lanes)).map(|(_, clock)| clock);
        let released: SmallVec<[Arc<VectorClock>; 2]> = [&self.acquired, &state.acquired]
            .into_iter()
            .flatten()
            .chain(lane_clocks)
            .filter_map(|clock| clock.after_fence.clone())
            .collect();
        released.iter().for_each(|clock| state.acquire(lanes, clock));
    }

    /// The clocks of the `fence.sc` that happen before `lane`.
    pub fn before_fence(&self, warp: WarpId, lane: usize) -> impl Iterator<Item = &Arc<VectorClock>> {
        let state = &self.warps[warp];
        let lane_clocks = state.lane_clocks.iter().filter(move |(lanes, _)| lanes.contains(lane)).map(|(_, clock)| clock);
        [&self.acquired, &state.acquired].into_iter().flatten().chain(lane_clocks).filter_map(|clock| clock.before_fence.as_ref())
    }

    /// True if a `fence.sc` happens before any lane of `warp`.
    pub fn follows_sc_fence(&self, warp: WarpId) -> bool {
        let state = &self.warps[warp];
        let lane_clocks = state.lane_clocks.iter().map(|(_, clock)| clock);
        [&self.acquired, &state.acquired].into_iter().flatten().chain(lane_clocks).any(|clock| clock.before_fence.is_some())
    }

    /// The clocks of the `fence.sc` that happen before some of `lanes`, each once.
    pub fn before_fences(&self, warp: WarpId, lanes: LaneMask) -> SmallVec<[Arc<VectorClock>; 1]> {
        let state = &self.warps[warp];
        let lane_clocks = state.lane_clocks.iter().filter(|(mask, _)| mask.intersects(lanes)).map(|(_, clock)| clock);
        [&self.acquired, &state.acquired].into_iter().flatten().chain(lane_clocks).filter_map(|clock| clock.before_fence.clone()).collect()
    }

    /// Lanes of `warp` executed a proxy fence.
    pub fn fence_proxy(&mut self, warp: WarpId, lanes: LaneMask, proxies: &[ProxyKind], tick: Tick) {
        let mut clock = self.acquired.as_ref().map_or_else(VectorClock::default, |clock| (**clock).clone());
        clock.get_mut(self.number).synchronous.advance_all(self.all_before);
        let state = &mut self.warps[warp];
        state.resolve_lanewise();
        state.acquired.iter().for_each(|acquired| clock.join(acquired));
        clock.get_mut(self.number).synchronous.advance(warp, state.all, state.all, state.warp_before);
        clock.fence(proxies);
        state
            .lane_clocks
            .iter_mut()
            .filter(|(mask, _)| lanes.contains_all(*mask))
            .for_each(|(_, clock)| Arc::make_mut(clock).fence(proxies));
        let own = Arc::make_mut(state.lane_state.get_or_insert_default());
        for proxy in proxies {
            lanes.iter().for_each(|lane| own.proxy_fenced[*proxy as usize][lane] = tick + 1);
        }
        state.acquire(lanes, &Arc::new(clock));
    }
}

impl Warp {
    /// Starts over with these lanes.
    fn restart(&mut self, lanes: LaneMask) {
        let Self {
            all,
            live,
            warp_before,
            synchronized_before,
            acquired,
            lane_clocks,
            lanewise,
            lane_state,
            commits,
            wgmma_groups,
            fences,
            deferred,
            out_of_scope,
            lockstep,
            syncs,
        } = self;
        (*all, *live, *warp_before, *synchronized_before) = (lanes, lanes, Tick::START, Tick::START);
        (*acquired, *lane_state, *wgmma_groups, *lockstep) = (None, None, 0, Default::default());
        lane_clocks.clear();
        lanewise.clear();
        commits.iter_mut().for_each(Vec::clear);
        fences.clear();
        deferred.clear();
        out_of_scope.clear();
        syncs.clear();
    }

    /// Lanes acquire `clock`.
    pub fn acquire(&mut self, lanes: LaneMask, clock: &Arc<VectorClock>) {
        if lanes & self.live == self.live {
            return join_into(&mut self.acquired, clock);
        }
        if self.lane_clocks.iter().any(|(mask, old)| mask.contains_all(lanes) && Arc::ptr_eq(old, clock)) {
            return;
        }
        match self.lane_clocks.iter_mut().find(|(mask, _)| *mask == lanes) {
            Some((_, old)) => Arc::make_mut(old).join(clock),
            None => self.lane_clocks.push((lanes, Arc::clone(clock))),
        }
    }

    /// Lanes acquire a lanewise clock.
    pub fn acquire_lanewise(&mut self, lanes: LaneMask, clock: &Arc<LanewiseClock>) {
        match self.lanewise.iter_mut().find(|(mask, _)| *mask == lanes) {
            Some((_, old)) => Arc::make_mut(old).join(clock),
            None => self.lanewise.push((lanes, Arc::clone(clock))),
        }
        if self.lanewise.len() > MAX_LANEWISE {
            self.resolve_lanewise();
        }
    }

    /// Splits the lanewise clocks into clocks of single lanes.
    fn resolve_lanewise(&mut self) {
        for (lanes, clock) in std::mem::take(&mut self.lanewise) {
            lanes.iter().map(LaneMask::of).for_each(|lane| self.acquire(lane, &Arc::new(clock.joined(lane))));
        }
    }

    /// Lanes would have acquired `clock` if the scopes were wider.
    pub fn add_out_of_scope(&mut self, lanes: LaneMask, clock: &Arc<VectorClock>) {
        // A thread that spins on a location reads the same clock each time.
        match self.out_of_scope.iter_mut().find(|(_, out_of_scope)| Arc::ptr_eq(out_of_scope, clock)) {
            Some((out_of_scope, _)) => *out_of_scope |= lanes,
            None => self.out_of_scope.push((lanes, Arc::clone(clock))),
        }
    }

    /// The joined clock of the `fence.sc` that no barrier of the warp has propagated yet; marks them as propagated.
    fn propagate_fences(&mut self) -> Option<Arc<VectorClock>> {
        let mut before = None;
        for fence in self.fences.iter_mut().filter(|fence| fence.is_wide() && !fence.is_propagated) {
            fence.is_propagated = true;
            join_into(&mut before, &Arc::new(fence.clock.released(fence.lanes).without_fences()));
        }
        before
    }

    /// The joined clock of `lanes` at their last `fence.sc`, of those not propagated yet.
    pub fn last_sc_fence(&self, lanes: LaneMask) -> Option<Arc<VectorClock>> {
        let mut before = None;
        for fence in self.fences.iter().filter(|fence| fence.is_wide() && !fence.is_propagated && fence.lanes.intersects(lanes)) {
            join_into(&mut before, &Arc::new(fence.clock.released(fence.lanes & lanes).without_fences()));
        }
        before
    }

    /// All lanes acquire the clocks of single lanes.
    pub fn merge_lane_clocks(&mut self, number: u32, warp: WarpId) {
        let before = self.propagate_fences();
        let has_lane_clocks = !(self.lane_clocks.is_empty() && self.lanewise.is_empty());
        if self.lane_state.is_none() && !has_lane_clocks && self.deferred.is_empty() && before.is_none() {
            return;
        }
        let warp_clock = Arc::make_mut(self.acquired.get_or_insert_default());
        let deferred = self.deferred.iter().filter(|acquire| acquire.sc != ScFenceCondition::Irrelevant);
        deferred.for_each(|acquire| join_into(&mut warp_clock.after_fence, &acquire.clock));
        self.lane_clocks.drain(..).for_each(|(_, clock)| warp_clock.join(&clock));
        self.lanewise.drain(..).for_each(|(lanes, clock)| warp_clock.join(&clock.joined(lanes)));
        before.iter().for_each(|before| join_into(&mut warp_clock.before_fence, before));
        if let Some(own) = self.lane_state.take() {
            own.add_to(warp_clock.get_mut(number), warp, self.all, self.all);
        }
    }
}

impl WarpClock {
    /// The clock that `lanes` release: the clocks they had acquired at that time, and their own operations before.
    pub fn released(&self, lanes: LaneMask) -> VectorClock {
        let Self { number, warp, all, all_before, warp_before, tick, .. } = *self;
        let Self { block_clock, warp_clock, lane_clocks, lanewise, deferred, lane_state, .. } = self;
        WarpClockView {
            number,
            warp,
            all,
            all_before,
            warp_before,
            block_clock,
            warp_clock,
            lane_clocks,
            lanewise,
            deferred,
            lane_state,
            tick,
        }
        .released(lanes)
    }
}

/// A borrowed [`WarpClock`], from which the clock of some lanes is computed.
struct WarpClockView<'a> {
    number: u32,
    warp: WarpId,
    all: LaneMask,
    all_before: Tick,
    warp_before: Tick,
    block_clock: &'a Option<Arc<VectorClock>>,
    warp_clock: &'a Option<Arc<VectorClock>>,
    lane_clocks: &'a [(LaneMask, Arc<VectorClock>)],
    lanewise: &'a [(LaneMask, Arc<LanewiseClock>)],
    deferred: &'a [DeferredAcquire],
    lane_state: &'a Option<Arc<LaneState>>,
    tick: Tick,
}

impl WarpClockView<'_> {
    fn released(&self, lanes: LaneMask) -> VectorClock {
        let mut clock = self.block_clock.as_ref().map_or_else(VectorClock::default, |acquired| (**acquired).clone());
        self.warp_clock.iter().for_each(|acquired| clock.join(acquired));
        self.lane_clocks.iter().filter(|(mask, _)| mask.intersects(lanes)).for_each(|(_, acquired)| clock.join(acquired));
        self.lanewise
            .iter()
            .filter(|(mask, _)| mask.intersects(lanes))
            .for_each(|(mask, acquired)| clock.join(&acquired.joined(*mask & lanes)));
        let deferred = self.deferred.iter().filter(|acquire| acquire.sc != ScFenceCondition::Irrelevant && acquire.lanes.intersects(lanes));
        deferred.for_each(|acquire| join_into(&mut clock.after_fence, &acquire.clock));
        let block_clock = clock.get_mut(self.number);
        block_clock.synchronous.advance_all(self.all_before);
        block_clock.synchronous.advance(self.warp, self.all, self.all, self.warp_before);
        block_clock.synchronous.advance(self.warp, lanes, self.all, self.tick + 1);
        self.lane_state.iter().for_each(|state| state.add_to(block_clock, self.warp, lanes, self.all));
        clock
    }
}

fn clock_fenced_before(clock: &VectorClock, proxy: ProxyKind, operation: &Operation, lanes: LaneMask) -> bool {
    let asynchronous = clock.get(operation.block).and_then(BlockClock::asynchronous);
    asynchronous.is_some_and(|asynchronous| asynchronous.proxy_fenced[proxy as usize].tick_of(operation.warp, lanes) > operation.tick)
}

impl DeferredAcquire {
    /// Adds it to those of a warp.
    pub fn add_to(self, deferred: &mut Vec<Self>) {
        let same = |other: &&mut Self| {
            (other.scope, other.sc) == (self.scope, self.sc) && (Arc::ptr_eq(&other.clock, &self.clock) || other.lanes == self.lanes)
        };
        match deferred.iter_mut().find(same) {
            Some(other) => {
                join_shared(&mut other.clock, &self.clock);
                other.lanes |= self.lanes;
            }
            None => deferred.push(self),
        }
    }
}
