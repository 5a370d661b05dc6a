//! The clocks of resident threads, in layers: what all threads of a block, all lanes of a warp, or some lanes of a warp have acquired. A
//! thread *knows* an operation if that is in its clock: the operation happens before what the thread does next.

use std::sync::Arc;

use smallvec::SmallVec;

use super::clock::{BlockClock, CompressedClock, PROXY_KINDS, ProxyKind, VectorClock, is_in, join_into, join_shared, kinds_of};
use super::lanewise::{LanewiseClock, LanewiseClocks};
use super::locations::ScFence;
use super::operation::{ASYNC_KINDS, Agent, Operation};
use crate::base::lanes::{LaneMask, PerLane};
use crate::base::{IdVec, Tick, WarpId};
use crate::isa::Scope;

/// Barriers of a block.
const BARRIERS: usize = 16;

/// Clocks that differ by lane that a warp keeps; more of them are made clocks of single lanes.
const LANEWISE_KEPT: usize = 8;

/// Groups that end in the order in which a lane committed them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queue {
    /// Of `cp.async`.
    Lane,
    /// Of bulk copies.
    Bulk,
    /// Of `wgmma`.
    Wgmma,
}

/// A block on the machine.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// Its number in order of launch.
    pub number: u32,
    /// Operations of all its threads before this tick happen before what any of them does next.
    pub all_before: Tick,
    /// The clock that all its threads have acquired in addition.
    pub known: Option<Arc<VectorClock>>,
    /// Its warps.
    pub warps: IdVec<WarpId, Warp>,
    /// The arrivals at its barriers.
    pub barriers: [Vec<Arrival>; BARRIERS],
    /// The number of copies issued that complete on mbarriers.
    pub copies: u32,
    /// In a cluster, the clocks of the threads that have exited, and what had completed when one of its threads passed a barrier of the
    /// cluster.
    pub exit_clock: Option<Arc<VectorClock>>,
}

/// A warp.
#[derive(Clone, Debug, Default)]
pub struct Warp {
    /// The lanes that it was launched with.
    pub all: LaneMask,
    /// Those that have not exited.
    pub live: LaneMask,
    /// Operations of all its lanes before this tick are known to all of them.
    pub warp_before: Tick,
    /// The same by a barrier of the warp, without what only running in lockstep orders.
    pub synchronized_before: Tick,
    /// The clock that all its live lanes have acquired in addition.
    pub known: Option<Arc<VectorClock>>,
    /// The clocks that only some of its lanes have acquired.
    pub lane_clocks: SmallVec<[(LaneMask, Arc<VectorClock>); 1]>,
    /// The same of clocks that differ by lane.
    pub lanewise: LanewiseClocks,
    /// The state of each lane that no other thread has acquired.
    pub own: Option<Arc<LaneState>>,
    /// When lanes committed groups: of `cp.async`, of bulk copies, of `wgmma`.
    pub commits: [Vec<(Tick, LaneMask)>; 3],
    /// The number of wgmma-groups committed.
    pub wgmma_groups: u32,
    /// The clocks of lanes at their last fences, which the strong writes after them release.
    pub fences: SmallVec<[Fenced; 1]>,
    /// The clocks that lanes acquire at their next fence, by strong reads before it.
    pub deferred: Vec<DeferredAcquire>,
    /// The clocks that lanes would have acquired if the scopes were wider.
    pub missed: SmallVec<[(LaneMask, Arc<VectorClock>); 1]>,
    /// Where warps have a stack, the lanes that last ran in lockstep, and when.
    pub lockstep: (LaneMask, Tick),
    /// The waits in a `bar.warp.sync`: its members, and those of them that have arrived.
    pub syncs: SmallVec<[(LaneMask, LaneMask); 1]>,
}

/// The clock of lanes at a fence.
#[derive(Clone, Debug)]
pub struct Fenced {
    /// The lanes.
    pub lanes: LaneMask,
    /// The scope of the fence.
    pub scope: Scope,
    /// Whether it is a `fence.sc`.
    pub sc: bool,
    /// The clock.
    pub clock: WarpClock,
    /// The clocks of earlier `fence.sc` that the lanes know, which precede this one in Fence-SC order.
    pub before: SmallVec<[Arc<VectorClock>; 1]>,
    /// Whether a barrier of the warp has propagated what lies before it to all lanes.
    pub is_propagated: bool,
}

impl Fenced {
    /// Whether it is a `fence.sc` whose order counts for all threads.
    fn is_wide(&self) -> bool {
        self.sc && self.scope >= Scope::Gpu
    }

    /// Whether it is such a fence, and its lanes knew that `before` lies before another one.
    pub fn follows(&self, before: &Arc<VectorClock>) -> bool {
        self.is_wide() && self.before.iter().any(|known| Arc::ptr_eq(known, before))
    }
}

/// The state of a lane that others acquire when it releases it.
#[derive(Clone, Debug)]
pub struct LaneState {
    /// When it executed its last proxy fence for a kind of memory, plus one, by [`ProxyKind`].
    pub fenced: [PerLane<Tick>; PROXY_KINDS],
    /// Asynchronous operations issued before these ticks have been waited for, by [`AsyncKind`](super::operation::AsyncKind).
    pub done: [PerLane<Tick>; ASYNC_KINDS],
}

impl Default for LaneState {
    fn default() -> Self {
        Self { fenced: [[Tick::START; 32]; PROXY_KINDS], done: [[Tick::START; 32]; ASYNC_KINDS] }
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
    block: Option<Arc<VectorClock>>,
    known: Option<Arc<VectorClock>>,
    lane_clocks: SmallVec<[(LaneMask, Arc<VectorClock>); 1]>,
    lanewise: LanewiseClocks,
    deferred: Vec<DeferredAcquire>,
    own: Option<Arc<LaneState>>,
    /// The tick.
    pub tick: Tick,
}

/// Lanes of a warp that have arrived at a barrier of the block in its present phase.
#[derive(Clone, Debug)]
pub struct Arrival {
    /// The warp.
    pub warp: WarpId,
    /// The lanes.
    pub lanes: LaneMask,
    /// Their clock, if they did not wait and continued.
    pub clock: Option<WarpClock>,
}

/// A deferred acquire: the clock that lanes acquire when they execute a fence of at least this scope.
#[derive(Clone, Debug)]
pub struct DeferredAcquire {
    /// The lanes.
    pub lanes: LaneMask,
    /// The scope.
    pub scope: Scope,
    /// Whether a `fence.sc` of any thread that comes after is enough, or the only one that is: where what was read was not written
    /// strongly or not after a fence of the same thread, no pattern synchronizes, but fences have an order.
    pub sc: ScFence,
    /// The clock.
    pub clock: Arc<VectorClock>,
}

impl Block {
    /// The clock of a warp at `tick`.
    pub fn clock_at(&self, warp: WarpId, tick: Tick) -> WarpClock {
        let Self { number, all_before, known: block, warps, .. } = self;
        let Warp { all, warp_before, known, lane_clocks, lanewise, deferred, own, .. } = &warps[warp];
        WarpClock {
            number: *number,
            warp,
            all: *all,
            all_before: *all_before,
            warp_before: *warp_before,
            block: block.clone(),
            known: known.clone(),
            lane_clocks: lane_clocks.clone(),
            lanewise: lanewise.clone(),
            deferred: deferred.iter().filter(|acquire| acquire.sc != ScFence::Unrelated).cloned().collect(),
            own: own.clone(),
            tick,
        }
    }

    /// The clock that `lanes` of a warp release at `tick`: what they have acquired, and their own operations before.
    pub fn released(&self, warp: WarpId, lanes: LaneMask, tick: Tick) -> VectorClock {
        let Warp { all, warp_before, known, lane_clocks, lanewise, deferred, own, .. } = &self.warps[warp];
        let (number, all_before, block, all, warp_before) = (self.number, self.all_before, &self.known, *all, *warp_before);
        Knowledge { number, warp, all, all_before, warp_before, block, known, lane_clocks, lanewise, deferred, own, tick }.released(lanes)
    }

    /// The clocks that `lanes` of a warp release at `tick` where they differ by the number of the lane alone ([`Block::is_lanewise`]),
    /// each with its lanes.
    pub fn released_lanewise(&self, warp: WarpId, mut lanes: LaneMask, tick: Tick) -> LanewiseClocks {
        assert!(self.is_lanewise(warp), "lanes differ by their number alone");
        let all = self.released(warp, LaneMask::NONE, tick);
        let of = &self.warps[warp];
        let mut released = SmallVec::new();
        while !lanes.is_empty() {
            let (first, mut alike, mut clock) = (lanes.first(), lanes, LanewiseClock::new(all.clone()));
            for (mask, known) in &of.lanewise {
                if mask.contains(first) {
                    clock.join(known);
                    alike &= *mask;
                } else {
                    alike &= !*mask;
                }
            }
            clock.advance(self.number, warp, of.all, tick + 1);
            released.push((alike, Arc::new(clock)));
            lanes &= !alike;
        }
        released
    }

    /// Whether what lanes of `warp` know differs by the number of the lane alone, and no fence takes part.
    pub fn is_lanewise(&self, warp: WarpId) -> bool {
        let of = &self.warps[warp];
        let has_fences = |clock: &Arc<VectorClock>| clock.after_fence.is_some() || clock.before_fence.is_some();
        of.own.is_none()
            && of.lane_clocks.is_empty()
            && of.fences.is_empty()
            && of.deferred.is_empty()
            && ![&self.known, &of.known].into_iter().flatten().any(has_fences)
    }

    /// Lanes of a warp acquire `clock`.
    pub fn acquire(&mut self, warp: WarpId, lanes: LaneMask, clock: &Arc<VectorClock>) {
        self.warps[warp].acquire(lanes, clock);
    }

    /// The clock that lanes of a warp released by their fences of at least `scope`.
    pub fn fenced(&self, warp: WarpId, lanes: LaneMask, scope: Scope) -> Option<VectorClock> {
        let fences = self.warps[warp].fences.iter().filter(|fenced| fenced.lanes.intersects(lanes) && fenced.scope >= scope);
        fences.map(|fenced| fenced.clock.released(fenced.lanes & lanes)).reduce(|mut all, more| {
            all.join(&more);
            all
        })
    }

    /// Whether every lane of `warp` knows everything that `operation` did, as far as that does not depend on single lanes. False also
    /// where it does.
    pub fn happens_before_all(&self, warp: WarpId, operation: &Operation) -> bool {
        let Operation { tick, .. } = *operation;
        let of = &self.warps[warp];
        let in_block = operation.agent == Agent::Threads && operation.block == self.number;
        if in_block && (tick < self.all_before || operation.warp == warp && tick < of.warp_before) {
            return true;
        }
        [&self.known, &of.known].into_iter().flatten().any(|clock| is_in(clock, operation, operation.lanes))
    }

    /// Whether what lanes of `warp` know depends on the lane, or anything at all is known that `happens_before_all` did not find.
    pub fn has_lane_precision(&self, warp: WarpId, operation: &Operation) -> bool {
        let of = &self.warps[warp];
        operation.block == self.number && operation.warp == warp
            || !(of.lane_clocks.is_empty() && of.lanewise.is_empty())
            || operation.lanes.count() > 1 && (self.known.is_some() || of.known.is_some())
    }

    /// Whether lane `lane` of `warp` knows what lane `other` of `operation` did.
    pub fn happens_before(&self, warp: WarpId, lane: usize, operation: &Operation, other: usize) -> bool {
        let of = &self.warps[warp];
        let is_own = operation.block == self.number && operation.warp == warp && lane == other;
        let at_once = match operation.agent {
            Agent::Threads if is_own => true,
            Agent::Threads => {
                operation.block == self.number
                    && (operation.tick < self.all_before || operation.warp == warp && operation.tick < of.warp_before)
            }
            Agent::Async(kind) if is_own => {
                let done = |own: &Arc<LaneState>| kinds_of(kind, operation).any(|kind| own.done[kind as usize][lane] > operation.tick);
                of.own.as_ref().is_some_and(done)
            }
            Agent::Async(_) | Agent::Copy(_) => false,
        };
        if at_once {
            return true;
        }
        let lane_clocks = of.lane_clocks.iter().filter(|(lanes, _)| lanes.contains(lane)).map(|(_, clock)| clock);
        [&self.known, &of.known].into_iter().flatten().chain(lane_clocks).any(|clock| is_in(clock, operation, LaneMask::of(other)))
            || of.lanewise.iter().any(|(lanes, clock)| lanes.contains(lane) && clock.knows(lane, operation, other))
    }

    /// Whether lane `lane` of `warp` knows that a proxy fence comes after what lane `other` of `operation` did.
    pub fn fenced_before(&self, proxy: ProxyKind, warp: WarpId, lane: usize, operation: &Operation, other: usize) -> bool {
        let of = &self.warps[warp];
        let is_own = operation.block == self.number && operation.warp == warp && lane == other;
        if is_own && of.own.as_ref().is_some_and(|own| own.fenced[proxy as usize][lane] > operation.tick) {
            return true;
        }
        let lane_clocks = of.lane_clocks.iter().filter(|(lanes, _)| lanes.contains(lane)).map(|(_, clock)| clock);
        [&self.known, &of.known]
            .into_iter()
            .flatten()
            .chain(lane_clocks)
            .map(|clock| &**clock)
            .chain(of.lanewise.iter().filter(|(lanes, _)| lanes.contains(lane)).map(|(_, clock)| clock.of_all()))
            .any(|clock| clock_fenced_before(clock, proxy, operation, LaneMask::of(other)))
    }

    /// Whether every lane of `warp` knows that such a fence lies after all that `operation` did. False also where the lane decides.
    pub fn all_fenced_before(&self, proxy: ProxyKind, warp: WarpId, operation: &Operation) -> bool {
        let of = &self.warps[warp];
        [&self.known, &of.known].into_iter().flatten().any(|clock| clock_fenced_before(clock, proxy, operation, operation.lanes))
    }

    /// Whether `warp` knows anything of other blocks.
    pub fn knows_others(&self, warp: WarpId) -> bool {
        let of = &self.warps[warp];
        let lane_clocks = of.lane_clocks.iter().map(|(_, clock)| clock);
        [&self.known, &of.known].into_iter().flatten().chain(lane_clocks).any(|clock| clock.knows_others(self.number))
            || of.lanewise.iter().any(|(_, clock)| clock.knows_others(self.number))
    }

    /// Lanes of `warp` execute a `fence.sc`: they acquire what becomes known after one.
    pub fn pass_fence(&mut self, warp: WarpId, lanes: LaneMask) {
        let of = &mut self.warps[warp];
        let lane_clocks = of.lane_clocks.iter().filter(|(mask, _)| mask.intersects(lanes)).map(|(_, clock)| clock);
        let released: SmallVec<[Arc<VectorClock>; 2]> =
            [&self.known, &of.known].into_iter().flatten().chain(lane_clocks).filter_map(|clock| clock.after_fence.clone()).collect();
        released.iter().for_each(|clock| of.acquire(lanes, clock));
    }

    /// The clocks of the `fence.sc` that `lane` knows.
    pub fn before_fence(&self, warp: WarpId, lane: usize) -> impl Iterator<Item = &Arc<VectorClock>> {
        let of = &self.warps[warp];
        let lane_clocks = of.lane_clocks.iter().filter(move |(lanes, _)| lanes.contains(lane)).map(|(_, clock)| clock);
        [&self.known, &of.known].into_iter().flatten().chain(lane_clocks).filter_map(|clock| clock.before_fence.as_ref())
    }

    /// Whether any lane of `warp` comes after a `fence.sc`.
    pub fn knows_fence(&self, warp: WarpId) -> bool {
        let of = &self.warps[warp];
        let lane_clocks = of.lane_clocks.iter().map(|(_, clock)| clock);
        [&self.known, &of.known].into_iter().flatten().chain(lane_clocks).any(|clock| clock.before_fence.is_some())
    }

    /// The same of each of `lanes`, each once.
    pub fn before_fence_of(&self, warp: WarpId, lanes: LaneMask) -> SmallVec<[Arc<VectorClock>; 1]> {
        let of = &self.warps[warp];
        let lane_clocks = of.lane_clocks.iter().filter(|(mask, _)| mask.intersects(lanes)).map(|(_, clock)| clock);
        [&self.known, &of.known].into_iter().flatten().chain(lane_clocks).filter_map(|clock| clock.before_fence.clone()).collect()
    }

    /// Lanes of `warp` executed a proxy fence.
    pub fn fence_proxy(&mut self, warp: WarpId, lanes: LaneMask, proxies: &[ProxyKind], tick: Tick) {
        let mut fenced = self.known.as_ref().map_or_else(VectorClock::default, |known| (**known).clone());
        fenced.of_mut(self.number).own.advance_all(self.all_before);
        let of = &mut self.warps[warp];
        of.resolve_lanewise();
        of.known.iter().for_each(|known| fenced.join(known));
        fenced.of_mut(self.number).own.advance(warp, of.all, of.all, of.warp_before);
        fenced.fence(proxies);
        of.lane_clocks.iter_mut().filter(|(mask, _)| lanes.contains_all(*mask)).for_each(|(_, clock)| Arc::make_mut(clock).fence(proxies));
        let own = Arc::make_mut(of.own.get_or_insert_default());
        for proxy in proxies {
            lanes.iter().for_each(|lane| own.fenced[*proxy as usize][lane] = tick + 1);
        }
        of.acquire(lanes, &Arc::new(fenced));
    }
}

impl Warp {
    /// Lanes acquire `clock`.
    pub fn acquire(&mut self, lanes: LaneMask, clock: &Arc<VectorClock>) {
        if lanes & self.live == self.live {
            return join_into(&mut self.known, clock);
        }
        if self.lane_clocks.iter().any(|(mask, known)| mask.contains_all(lanes) && Arc::ptr_eq(known, clock)) {
            return;
        }
        match self.lane_clocks.iter_mut().find(|(mask, _)| *mask == lanes) {
            Some((_, known)) => Arc::make_mut(known).join(clock),
            None => self.lane_clocks.push((lanes, Arc::clone(clock))),
        }
    }

    /// Lanes acquire a clock that differs by lane.
    pub fn acquire_lanewise(&mut self, lanes: LaneMask, clock: &Arc<LanewiseClock>) {
        match self.lanewise.iter_mut().find(|(mask, _)| *mask == lanes) {
            Some((_, known)) => Arc::make_mut(known).join(clock),
            None => self.lanewise.push((lanes, Arc::clone(clock))),
        }
        if self.lanewise.len() > LANEWISE_KEPT {
            self.resolve_lanewise();
        }
    }

    /// Makes clocks of single lanes of those that differ by lane.
    fn resolve_lanewise(&mut self) {
        for (lanes, clock) in std::mem::take(&mut self.lanewise) {
            lanes.iter().map(LaneMask::of).for_each(|lane| self.acquire(lane, &Arc::new(clock.of(lane))));
        }
    }

    /// Lanes would have acquired `clock` if the scopes were wider.
    pub fn miss_by_scope(&mut self, lanes: LaneMask, clock: &Arc<VectorClock>) {
        // A thread that spins on a location misses the same clock each time.
        match self.missed.iter_mut().find(|(_, missed)| Arc::ptr_eq(missed, clock)) {
            Some((missed, _)) => *missed |= lanes,
            None => self.missed.push((lanes, Arc::clone(clock))),
        }
    }

    /// The clock of its lanes at their `fence.sc`, of those that no barrier of the warp has propagated yet.
    fn propagate_fences(&mut self) -> Option<Arc<VectorClock>> {
        let mut before = None;
        for fenced in self.fences.iter_mut().filter(|fenced| fenced.is_wide() && !fenced.is_propagated) {
            fenced.is_propagated = true;
            join_into(&mut before, &Arc::new(fenced.clock.released(fenced.lanes).without_fences()));
        }
        before
    }

    /// The clock of some of its lanes at their last `fence.sc`.
    pub fn fenced_by(&self, lanes: LaneMask) -> Option<Arc<VectorClock>> {
        let mut before = None;
        for fenced in self.fences.iter().filter(|fenced| fenced.is_wide() && !fenced.is_propagated && fenced.lanes.intersects(lanes)) {
            join_into(&mut before, &Arc::new(fenced.clock.released(fenced.lanes & lanes).without_fences()));
        }
        before
    }

    /// All lanes acquire what single lanes or some of them have acquired.
    pub fn gather(&mut self, number: u32, warp: WarpId) {
        let before = self.propagate_fences();
        let has_lane_clocks = !(self.lane_clocks.is_empty() && self.lanewise.is_empty());
        if self.own.is_none() && !has_lane_clocks && self.deferred.is_empty() && before.is_none() {
            return;
        }
        let known = Arc::make_mut(self.known.get_or_insert_default());
        let deferred = self.deferred.iter().filter(|acquire| acquire.sc != ScFence::Unrelated);
        deferred.for_each(|acquire| join_into(&mut known.after_fence, &acquire.clock));
        self.lane_clocks.drain(..).for_each(|(_, clock)| known.join(&clock));
        self.lanewise.drain(..).for_each(|(lanes, clock)| known.join(&clock.of(lanes)));
        before.iter().for_each(|before| join_into(&mut known.before_fence, before));
        if let Some(own) = self.own.take() {
            own.add_to(known.of_mut(number), warp, self.all, self.all);
        }
    }
}

impl LaneState {
    /// Adds what `lanes` did for themselves to `known`.
    fn add_to(&self, known: &mut BlockClock, warp: WarpId, lanes: LaneMask, all: LaneMask) {
        let known = known.asynchronous_mut();
        known.fenced.iter_mut().zip(&self.fenced).for_each(|(known, fenced)| advance_lanes(known, fenced, warp, lanes, all));
        known.done.iter_mut().zip(&self.done).for_each(|(known, done)| advance_lanes(known, done, warp, lanes, all));
    }
}

impl WarpClock {
    /// The clock that `lanes` released then: what they had acquired, and their own operations before.
    pub fn released(&self, lanes: LaneMask) -> VectorClock {
        let Self { number, warp, all, all_before, warp_before, tick, .. } = *self;
        let Self { block, known, lane_clocks, lanewise, deferred, own, .. } = self;
        Knowledge { number, warp, all, all_before, warp_before, block, known, lane_clocks, lanewise, deferred, own, tick }.released(lanes)
    }
}

/// The clock of a warp at a time, from which the clock of some lanes is computed.
struct Knowledge<'a> {
    number: u32,
    warp: WarpId,
    all: LaneMask,
    all_before: Tick,
    warp_before: Tick,
    block: &'a Option<Arc<VectorClock>>,
    known: &'a Option<Arc<VectorClock>>,
    lane_clocks: &'a [(LaneMask, Arc<VectorClock>)],
    lanewise: &'a [(LaneMask, Arc<LanewiseClock>)],
    deferred: &'a [DeferredAcquire],
    own: &'a Option<Arc<LaneState>>,
    tick: Tick,
}

impl Knowledge<'_> {
    fn released(&self, lanes: LaneMask) -> VectorClock {
        let mut clock = self.block.as_ref().map_or_else(VectorClock::default, |known| (**known).clone());
        self.known.iter().for_each(|known| clock.join(known));
        self.lane_clocks.iter().filter(|(mask, _)| mask.intersects(lanes)).for_each(|(_, known)| clock.join(known));
        self.lanewise.iter().filter(|(mask, _)| mask.intersects(lanes)).for_each(|(mask, known)| clock.join(&known.of(*mask & lanes)));
        let deferred = self.deferred.iter().filter(|acquire| acquire.sc != ScFence::Unrelated && acquire.lanes.intersects(lanes));
        deferred.for_each(|acquire| join_into(&mut clock.after_fence, &acquire.clock));
        let known = clock.of_mut(self.number);
        known.own.advance_all(self.all_before);
        known.own.advance(self.warp, self.all, self.all, self.warp_before);
        known.own.advance(self.warp, lanes, self.all, self.tick + 1);
        self.own.iter().for_each(|own| own.add_to(known, self.warp, lanes, self.all));
        clock
    }
}

fn clock_fenced_before(clock: &VectorClock, proxy: ProxyKind, operation: &Operation, lanes: LaneMask) -> bool {
    let known = clock.of(operation.block).and_then(BlockClock::asynchronous);
    known.is_some_and(|known| known.fenced[proxy as usize].of(operation.warp, lanes) > operation.tick)
}

fn advance_lanes(known: &mut CompressedClock, ticks: &PerLane<Tick>, warp: WarpId, lanes: LaneMask, all: LaneMask) {
    let first = ticks[lanes.first()];
    if lanes.iter().all(|lane| ticks[lane] == first) {
        if first > Tick::START {
            known.advance(warp, lanes, all, first);
        }
        return;
    }
    for lane in lanes.iter().filter(|lane| ticks[*lane] > Tick::START) {
        known.advance(warp, LaneMask::of(lane), all, ticks[lane]);
    }
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
