//! What the threads on the machine know, in layers: all of a block, all of a warp, some lanes of a warp.

use std::sync::Arc;

use smallvec::SmallVec;

use super::access::{Access, Agent};
use super::barriers::Arrival;
use super::clock::{Clock, FENCEABLES, Fenceable, GROUPS, Group, Known, Ticks, learn};
use super::locations::Pending;
use super::shadow::Shadow;
use crate::check::finding::Deed;
use crate::isa::Scope;
use crate::machine::{BARRIERS, LaneMask, PerLane, Tick, lanes_of};

/// A block on the machine.
#[derive(Clone, Debug, Default)]
pub(super) struct Block {
    /// Its number in order of launch.
    pub number: u32,
    /// Its index in the grid.
    pub index: [u32; 3],
    /// Operations of all its threads before this tick are known to all of them.
    pub whole: Tick,
    /// What else all its threads know.
    pub known: Option<Arc<Clock>>,
    /// Its warps.
    pub warps: Vec<Warp>,
    /// Who has arrived at its barriers.
    pub barriers: [Vec<Arrival>; BARRIERS],
    /// Its shared memory.
    pub shadow: Option<Box<Shadow>>,
    /// Copies that complete on barrier objects, issued so far.
    pub copies: u32,
    /// In a cluster, what those knew who have exited, and what was over when one of its threads came past a barrier of the cluster.
    pub left: Option<Arc<Clock>>,
}

/// A warp.
#[derive(Clone, Debug, Default)]
pub(super) struct Warp {
    /// The lanes that it was launched with.
    pub all: LaneMask,
    /// Those that have not exited.
    pub live: LaneMask,
    /// Operations of all its lanes before this tick are known to all of them.
    pub synced: Tick,
    /// What else all its live lanes know.
    pub known: Option<Arc<Clock>>,
    /// What only some of its lanes know.
    pub parts: SmallVec<[(LaneMask, Arc<Clock>); 1]>,
    /// What each lane did for itself alone.
    pub own: Option<Arc<Own>>,
    /// When lanes closed groups: of `cp.async`, of bulk copies, of `wgmma`.
    pub commits: [Vec<(Tick, LaneMask)>; 3],
    /// Groups of `wgmma` closed so far.
    pub wgmma_groups: u32,
    /// What lanes knew at their last fences, for the strong writes behind them.
    pub fences: SmallVec<[Fenced; 1]>,
    /// What lanes will know at their next fence, from strong reads before it.
    pub pending: Vec<Pending>,
    /// What lanes would know, had the scopes been wider.
    pub missed: SmallVec<[(LaneMask, Arc<Clock>); 1]>,
    /// Who has come to a `bar.warp.sync`: its members, and those of them that are there.
    pub syncs: SmallVec<[(LaneMask, LaneMask); 1]>,
}

/// What lanes knew at a fence.
#[derive(Clone, Debug)]
pub(super) struct Fenced {
    /// The lanes.
    pub lanes: LaneMask,
    /// The scope of the fence.
    pub scope: Scope,
    /// Whether it is a `fence.sc`.
    pub sc: bool,
    /// What they knew.
    pub past: Past,
}

/// What a lane did for itself, which others learn of when it releases it.
#[derive(Clone, Debug)]
pub(super) struct Own {
    /// When it executed its last proxy fence for a kind of memory, plus one, by [`Fenceable`].
    pub fenced: [PerLane<Tick>; FENCEABLES],
    /// Asynchronous operations issued before these ticks have been waited for, by [`Group`].
    pub done: [PerLane<Tick>; GROUPS],
}

impl Default for Own {
    fn default() -> Self {
        Self { fenced: [[0; 32]; FENCEABLES], done: [[0; 32]; GROUPS] }
    }
}

/// What a warp knew at some time.
#[derive(Clone, Debug)]
pub(super) struct Past {
    number: u32,
    warp: u8,
    all: LaneMask,
    whole: Tick,
    synced: Tick,
    block: Option<Arc<Clock>>,
    known: Option<Arc<Clock>>,
    parts: SmallVec<[(LaneMask, Arc<Clock>); 1]>,
    pending: Vec<Pending>,
    own: Option<Arc<Own>>,
    /// When.
    tick: Tick,
}

impl Block {
    /// What a warp knows, as of `tick`.
    pub fn past(&self, warp: u8, tick: Tick) -> Past {
        let Self { number, whole, known: block, warps, .. } = self;
        let Warp { all, synced, known, parts, pending, own, .. } = &warps[usize::from(warp)];
        Past {
            number: *number,
            warp,
            all: *all,
            whole: *whole,
            synced: *synced,
            block: block.clone(),
            known: known.clone(),
            parts: parts.clone(),
            pending: pending.iter().filter(|pending| pending.sc).cloned().collect(),
            own: own.clone(),
            tick,
        }
    }

    /// Lanes of a warp learn what `clock` says.
    pub fn acquire(&mut self, warp: u8, lanes: LaneMask, clock: &Arc<Clock>) {
        self.warps[usize::from(warp)].acquire(lanes, clock);
    }

    /// Whether every lane of `warp` knows everything that `access` did, as far as that does not depend on single lanes. False also
    /// where it does.
    pub fn knows_all(&self, warp: u8, access: &Access) -> bool {
        let Access { tick, .. } = *access;
        let of = &self.warps[usize::from(warp)];
        let in_block = access.agent == Agent::Threads && access.block == self.number;
        if in_block && (tick < self.whole || access.warp == warp && tick < of.synced) {
            return true;
        }
        [&self.known, &of.known].into_iter().flatten().any(|clock| clock_knows(clock, access, access.lanes))
    }

    /// Whether what lanes of `warp` know depends on the lane, or anything at all is known that `knows_all` did not find.
    pub fn knows_by_lane(&self, warp: u8, access: &Access) -> bool {
        let of = &self.warps[usize::from(warp)];
        access.block == self.number && access.warp == warp
            || !of.parts.is_empty()
            || access.lanes.count_ones() > 1 && (self.known.is_some() || of.known.is_some())
    }

    /// Whether lane `lane` of `warp` knows what lane `by` of `access` did.
    pub fn knows(&self, warp: u8, lane: usize, access: &Access, by: usize) -> bool {
        let of = &self.warps[usize::from(warp)];
        let is_own = access.block == self.number && access.warp == warp && lane == by;
        let at_once = match access.agent {
            Agent::Threads if is_own => true,
            Agent::Threads => access.block == self.number && (access.tick < self.whole || access.warp == warp && access.tick < of.synced),
            Agent::Group(group) if is_own => {
                let done = |own: &Arc<Own>| groups_of(group, access).any(|group| own.done[group as usize][lane] > access.tick);
                of.own.as_ref().is_some_and(done)
            }
            Agent::Group(_) | Agent::Copy(_) => false,
        };
        if at_once {
            return true;
        }
        let parts = of.parts.iter().filter(|(lanes, _)| lanes >> lane & 1 != 0).map(|(_, clock)| clock);
        [&self.known, &of.known].into_iter().flatten().chain(parts).any(|clock| clock_knows(clock, access, 1 << by))
    }

    /// Whether lane `lane` of `warp` knows that a proxy fence lies behind what lane `by` of `access` did.
    pub fn knows_fenced(&self, memory: Fenceable, warp: u8, lane: usize, access: &Access, by: usize) -> bool {
        let of = &self.warps[usize::from(warp)];
        let is_own = access.block == self.number && access.warp == warp && lane == by;
        if is_own && of.own.as_ref().is_some_and(|own| own.fenced[memory as usize][lane] > access.tick) {
            return true;
        }
        let parts = of.parts.iter().filter(|(lanes, _)| lanes >> lane & 1 != 0).map(|(_, clock)| clock);
        [&self.known, &of.known].into_iter().flatten().chain(parts).any(|clock| clock_knows_fenced(clock, memory, access, 1 << by))
    }

    /// Whether every lane of `warp` knows that such a fence lies behind all that `access` did. False also where that depends on the lane.
    pub fn knows_all_fenced(&self, memory: Fenceable, warp: u8, access: &Access) -> bool {
        let of = &self.warps[usize::from(warp)];
        [&self.known, &of.known].into_iter().flatten().any(|clock| clock_knows_fenced(clock, memory, access, access.lanes))
    }

    /// Whether `warp` knows anything of other blocks.
    pub fn knows_others(&self, warp: u8) -> bool {
        let of = &self.warps[usize::from(warp)];
        let parts = of.parts.iter().map(|(_, clock)| clock);
        [&self.known, &of.known].into_iter().flatten().chain(parts).any(|clock| clock.knows_others(self.number))
    }

    /// Lanes of `warp` execute a `fence.sc`: they learn what they were told would be known behind one.
    pub fn pass_fence(&mut self, warp: u8, lanes: LaneMask) {
        let of = &mut self.warps[usize::from(warp)];
        let parts = of.parts.iter().filter(|(mask, _)| mask & lanes != 0).map(|(_, clock)| clock);
        let behind: SmallVec<[Arc<Clock>; 2]> =
            [&self.known, &of.known].into_iter().flatten().chain(parts).filter_map(|clock| clock.behind_fence.clone()).collect();
        behind.iter().for_each(|clock| of.acquire(lanes, clock));
    }

    /// Lanes of `warp` executed a proxy fence.
    pub fn fence_proxy(&mut self, warp: u8, lanes: LaneMask, memories: &[Fenceable], tick: Tick) {
        let mut behind = self.known.as_ref().map_or_else(Clock::default, |known| (**known).clone());
        behind.of_mut(self.number).own.learn_whole(self.whole);
        let of = &mut self.warps[usize::from(warp)];
        of.known.iter().for_each(|known| behind.join(known));
        behind.of_mut(self.number).own.learn(warp, of.all, of.all, of.synced);
        behind.fence(memories);
        of.parts.iter_mut().filter(|(mask, _)| mask & !lanes == 0).for_each(|(_, clock)| Arc::make_mut(clock).fence(memories));
        let own = Arc::make_mut(of.own.get_or_insert_default());
        for memory in memories {
            lanes_of(lanes).for_each(|lane| own.fenced[*memory as usize][lane] = tick + 1);
        }
        of.acquire(lanes, &Arc::new(behind));
    }
}

impl Warp {
    /// Lanes learn what `clock` says.
    pub fn acquire(&mut self, lanes: LaneMask, clock: &Arc<Clock>) {
        if lanes & self.live == self.live {
            return learn(&mut self.known, clock);
        }
        if self.parts.iter().any(|(mask, known)| lanes & !mask == 0 && Arc::ptr_eq(known, clock)) {
            return;
        }
        match self.parts.iter_mut().find(|(mask, _)| *mask == lanes) {
            Some((_, known)) => Arc::make_mut(known).join(clock),
            None => self.parts.push((lanes, Arc::clone(clock))),
        }
    }

    /// What its lanes for themselves and parts of them know becomes known to all.
    pub fn gather(&mut self, number: u32, warp: u8) {
        if self.own.is_none() && self.parts.is_empty() && self.pending.is_empty() {
            return;
        }
        let known = Arc::make_mut(self.known.get_or_insert_default());
        let pending = self.pending.iter().filter(|pending| pending.sc);
        pending.for_each(|pending| learn(&mut known.behind_fence, &pending.clock));
        self.parts.drain(..).for_each(|(_, clock)| known.join(&clock));
        if let Some(own) = self.own.take() {
            own.tell(known.of_mut(number), warp, self.all, self.all);
        }
    }
}

impl Own {
    /// Tells what `lanes` did for themselves.
    fn tell(&self, known: &mut Known, warp: u8, lanes: LaneMask, all: LaneMask) {
        known.fenced.iter_mut().zip(&self.fenced).for_each(|(known, fenced)| tell(known, fenced, warp, lanes, all));
        known.done.iter_mut().zip(&self.done).for_each(|(known, done)| tell(known, done, warp, lanes, all));
    }
}

impl Past {
    /// What `lanes` released then: what they knew, and what they had done before.
    pub fn released(&self, lanes: LaneMask) -> Clock {
        let mut clock = self.block.as_ref().map_or_else(Clock::default, |known| (**known).clone());
        self.known.iter().for_each(|known| clock.join(known));
        self.parts.iter().filter(|(mask, _)| mask & lanes != 0).for_each(|(_, known)| clock.join(known));
        let pending = self.pending.iter().filter(|pending| pending.lanes & lanes != 0);
        pending.for_each(|pending| learn(&mut clock.behind_fence, &pending.clock));
        let known = clock.of_mut(self.number);
        known.own.learn_whole(self.whole);
        known.own.learn(self.warp, self.all, self.all, self.synced);
        known.own.learn(self.warp, lanes, self.all, self.tick + 1);
        self.own.iter().for_each(|own| own.tell(known, self.warp, lanes, self.all));
        clock
    }
}

/// The kinds of knowledge each of which is enough to know what `access`, an operation of `group`, did.
fn groups_of(group: Group, access: &Access) -> impl Iterator<Item = Group> {
    let read = group == Group::Bulk && access.deed == Deed::Read;
    [Some(group), read.then_some(Group::BulkRead)].into_iter().flatten()
}

pub(super) fn clock_knows(clock: &Clock, access: &Access, lanes: LaneMask) -> bool {
    let Some(known) = clock.of(access.block) else { return false };
    let of = |ticks: &Ticks| ticks.of(access.warp, lanes) > access.tick;
    match access.agent {
        Agent::Threads => of(&known.own),
        Agent::Group(group) => groups_of(group, access).any(|group| of(&known.done[group as usize])),
        Agent::Copy(number) => known.copies.contains(number),
    }
}

fn clock_knows_fenced(clock: &Clock, memory: Fenceable, access: &Access, lanes: LaneMask) -> bool {
    clock.of(access.block).is_some_and(|known| known.fenced[memory as usize].of(access.warp, lanes) > access.tick)
}

fn tell(known: &mut Ticks, ticks: &PerLane<Tick>, warp: u8, lanes: LaneMask, all: LaneMask) {
    let first = ticks[lanes.trailing_zeros() as usize % 32];
    if lanes_of(lanes).all(|lane| ticks[lane] == first) {
        if first > 0 {
            known.learn(warp, lanes, all, first);
        }
        return;
    }
    for lane in lanes_of(lanes).filter(|lane| ticks[*lane] > 0) {
        known.learn(warp, 1 << lane, all, ticks[lane]);
    }
}
