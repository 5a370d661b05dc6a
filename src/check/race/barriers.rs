//! What barriers order: those of the block, of the warp and of the cluster (PTX ISA, "Memory Consistency Model", "Synchronizes";
//! "bar, barrier", "bar.warp.sync", "barrier.cluster").

use std::collections::BTreeMap;
use std::sync::Arc;

use smallvec::SmallVec;

use super::clock::{Clock, learn};
use super::threads::{Block, Past};
use crate::machine::{LaneMask, Tick};

/// Lanes of a warp that have arrived at a barrier of the block in its present phase.
#[derive(Clone, Debug)]
pub(super) struct Arrival {
    warp: u8,
    lanes: LaneMask,
    /// What they knew, if they did not wait and go on doing things.
    past: Option<Past>,
}

/// Lanes that wait: slot, warp and mask.
type Waiting = (u32, u8, LaneMask);

/// The barrier of a cluster.
#[derive(Clone, Debug, Default)]
pub(super) struct ClusterBarrier {
    /// The cluster, in order of launch.
    number: u64,
    /// What the present phase will pass on, from those who have arrived.
    arriving: Passed,
    /// What the last phase passed on.
    ended: Passed,
    /// Who has arrived in the present phase, by slot and warp.
    arrived: BTreeMap<(u32, u8), LaneMask>,
    /// Who waits for its end.
    waiting: Vec<Waiting>,
}

/// What a phase of the barrier of a cluster passes on to those who wait for it.
#[derive(Clone, Debug, Default)]
pub(super) struct Passed {
    /// What those knew who arrived and released it.
    pub released: Option<Arc<Clock>>,
    /// The same whether they released it or not: that much is over when the phase ends.
    pub over: Option<Arc<Clock>>,
}

impl Block {
    /// Lanes arrive at barrier `id`.
    pub fn arrive(&mut self, id: usize, warp: u8, lanes: LaneMask, waits: bool, tick: Tick) {
        let past = (!waits).then(|| self.past(warp, tick));
        self.barriers[id].push(Arrival { warp, lanes, past });
    }

    /// The phase of barrier `id` ends: what those released who arrived is known to those who wait.
    pub fn release(&mut self, id: usize, tick: Tick) {
        let arrivals = std::mem::take(&mut self.barriers[id]);
        let mut met = vec![0; self.warps.len()];
        arrivals.iter().filter(|arrival| arrival.past.is_none()).for_each(|arrival| met[usize::from(arrival.warp)] |= arrival.lanes);
        if self.warps.iter().zip(&met).all(|(warp, met)| *met == warp.all) && arrivals.iter().all(|arrival| arrival.past.is_none()) {
            return self.meet(tick);
        }
        let mut clock = Clock::default();
        for Arrival { warp, lanes, past } in &arrivals {
            let now;
            let past = match past {
                Some(past) => past,
                None => {
                    now = self.past(*warp, tick);
                    &now
                }
            };
            clock.join(&past.released(*lanes));
        }
        let clock = Arc::new(clock);
        if self.warps.iter().zip(&met).all(|(warp, met)| *met == warp.live) {
            self.known = Some(clock);
            for warp in &mut self.warps {
                (warp.known, warp.own) = (None, None);
                warp.parts.clear();
            }
            return;
        }
        for (warp, met) in met.iter().enumerate().filter(|(_, met)| **met != 0) {
            self.acquire(warp as u8, *met, &clock);
        }
    }

    /// All threads that there ever were meet.
    fn meet(&mut self, tick: Tick) {
        let number = self.number;
        self.whole = tick + 1;
        for (index, warp) in self.warps.iter_mut().enumerate() {
            warp.gather(number, index as u8);
            if let Some(known) = warp.known.take() {
                learn(&mut self.known, &known);
            }
        }
    }

    /// Lanes come to a `bar.warp.sync` of `members`; when the last has come, all know what each did.
    pub fn warp_sync(&mut self, warp: u8, lanes: LaneMask, members: LaneMask, tick: Tick) {
        let of = &mut self.warps[usize::from(warp)];
        let members = members & of.live;
        let mut met = lanes;
        of.syncs.retain(|(of, there)| {
            let same = *of == members;
            met |= if same { *there } else { 0 };
            !same
        });
        if members & !met != 0 {
            return of.syncs.push((members, met));
        }
        self.meet_in_warp(warp, met, tick);
    }

    fn meet_in_warp(&mut self, warp: u8, met: LaneMask, tick: Tick) {
        let number = self.number;
        let of = &mut self.warps[usize::from(warp)];
        if met == of.all {
            of.synced = tick + 1;
            of.gather(number, warp);
        } else if met.count_ones() > 1 {
            let clock = Arc::new(self.past(warp, tick).released(met));
            self.acquire(warp, met, &clock);
        }
    }

    /// Lanes have waited for a phase of the barrier of the cluster.
    pub fn pass_cluster(&mut self, warp: u8, lanes: LaneMask, passed: &Passed) {
        passed.released.iter().for_each(|clock| self.acquire(warp, lanes, clock));
        passed.over.iter().for_each(|clock| learn(&mut self.left, clock));
    }

    /// Lanes exit: who waits for them in a `bar.warp.sync` does not any more.
    pub fn exit(&mut self, warp: u8, lanes: LaneMask, tick: Tick) {
        let of = &mut self.warps[usize::from(warp)];
        of.live &= !lanes;
        let live = of.live;
        let complete: SmallVec<[LaneMask; 2]> =
            of.syncs.iter().filter(|(members, met)| members & live & !met == 0).map(|(_, met)| *met).collect();
        of.syncs.retain(|(members, met)| *members & live & !*met != 0);
        complete.into_iter().for_each(|met| self.meet_in_warp(warp, met & live, tick));
    }
}

impl ClusterBarrier {
    /// The barrier is that of cluster `number`, which may have taken the place of another.
    pub fn enter(&mut self, number: u64) {
        if self.number != number {
            *self = Self { number, ..Self::default() };
        }
    }

    /// Lanes of the block in `slot` arrive.
    pub fn arrive(&mut self, slot: u32, warp: u8, lanes: LaneMask, Passed { released, over }: &Passed) {
        *self.arrived.entry((slot, warp)).or_default() |= lanes;
        released.iter().for_each(|clock| learn(&mut self.arriving.released, clock));
        over.iter().for_each(|clock| learn(&mut self.arriving.over, clock));
    }

    /// Lanes wait; what the phase that they saw end passes on, if it has ended.
    pub fn wait(&mut self, slot: u32, warp: u8, lanes: LaneMask) -> Option<Passed> {
        if self.arrived.get(&(slot, warp)).is_some_and(|arrived| arrived & lanes != 0) {
            self.waiting.push((slot, warp, lanes));
            return None;
        }
        Some(self.ended.clone())
    }

    /// The phase ends: who waited for it, and what it passes on to them.
    pub fn end(&mut self) -> (Vec<Waiting>, Passed) {
        self.arrived.clear();
        self.ended = std::mem::take(&mut self.arriving);
        (std::mem::take(&mut self.waiting), self.ended.clone())
    }
}
