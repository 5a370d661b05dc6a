//! Races: accesses to the same bytes, at least one of them a write, that nothing orders.
//!
//! # Algorithm
//!
//! Happens-before as the PTX memory model defines it (PTX ISA, "Memory Consistency Model"), over the run as it went. [`threads`] keeps
//! what every thread knows of the others as vector clocks whose counter is the time of the run, in layers (block, warp, lanes), so
//! that a barrier of the whole block is one number. What makes knowledge pass on: barriers ([`barriers`]), releases and acquires
//! through memory with their scopes and fences ([`locations`]), barrier objects and asynchronous copies ([`copies`]), proxy fences.
//! Copies are threads of their own, which know what their issuer knew and are known to who waits for them. What other blocks of a cluster
//! do to the shared memory of a block must be known to it when it exits ([`exits`]).
//! [`shadow`] says for every byte who wrote it last and who has read it since; [`judge`] weighs an access against them. A write that is
//! ordered behind everything before it replaces it all (Flanagan and Freund, "FastTrack", 2009).
//!
//! Accesses that are morally strong to each other do not race. What does not depend on the interleaving is reported whichever
//! interleaving ran; what the threads decide by what they read from each other, they decide as in this one.
//!
//! # What it can miss
//!
//! - Races on a way through the kernel that this input does not take, or that an atomic's outcome did not take this time.
//! - Of more than 64 warps that touched the same bytes of global memory unordered, eight once thousands of accesses are remembered, only
//!   the newest is told. If the grid synchronizes by itself, a write behind them is taken to be ordered.
//! - Surfaces, of which the memory model says nothing.
//! - The reserved part of shared memory, where the toolkit's libraries work: all lanes of a warp write the result of a cooperative
//!   group's reduction to the same place. What strong accesses there order counts.
//!
//! A volatile access counts as relaxed in the scope of the system. Fences of other threads of the block count where only one thread has
//! read the flag (the usual "last block" pattern), if both are `fence.sc`, as `__threadfence()` is.

mod access;
mod barriers;
pub mod catalogue;
mod clock;
mod copies;
mod exits;
mod heed;
mod judge;
mod locations;
mod pattern;
mod report;
mod shadow;
mod threads;
mod wgmma;

use std::collections::BTreeMap;
use std::sync::Arc;

use access::{Access, Agent, Log, Sweep};
use barriers::{ClusterBarrier, Passed};
use clock::{Fenceable, Group};
use copies::{Flight, Object, Queue};
use heed::Heed;
use judge::{Conflict, Judge};
use locations::{Found, Locations, Pending};
use pattern::{Pattern, Tile};
use shadow::Shadow;
use threads::{Block, Fenced, Warp};

use crate::check::catalogue::FindingId;
use crate::check::checker::{Checker, CheckerRow};
use crate::check::finding::Deed;
use crate::check::held::Held;
use crate::check::reporter::Reporter;
use crate::check::ways::Ways;
use crate::isa::{FenceKind, Ordering, Scope, Space};
use crate::machine::{
    AccessEvent, AccessKind, BlockId, CopyWait, Event, EventKind, EventMask, LANES, LaneMask, LaunchEnd, LaunchStart, Linked, Order,
    OrderEvent, PerLane, Proxy, lanes_of,
};
use crate::program::{self, Program, map};

/// The race checker of a case.
#[derive(Clone)]
struct Race {
    program: Arc<Program>,
    linked: Option<Arc<Linked>>,
    /// The lanes of each warp of a block.
    warps: Vec<LaneMask>,
    /// Blocks of a cluster.
    cluster: u32,
    /// By slot.
    blocks: Vec<Option<Box<Block>>>,
    global: Option<Box<Shadow>>,
    log: Log,
    locations: Locations,
    clusters: BTreeMap<u32, ClusterBarrier>,
    /// Barrier objects, by slot and address.
    objects: BTreeMap<(u32, u32), Object>,
    /// Copies in flight that complete on barrier objects, by number.
    flights: BTreeMap<u64, Flight>,
    /// Accesses that could not be judged because too many had touched the same bytes.
    undecided: u64,
    conflicts: Vec<Conflict>,
    /// Accesses to the shared memory of blocks that may have exited by then.
    held: Held,
    ways: Ways,
    heed: Heed,
}

/// Memory: global, or the shared memory of the block in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Home {
    Global,
    Block(u32),
}

impl Race {
    pub fn new(program: &Arc<Program>) -> Self {
        Self {
            program: Arc::clone(program),
            linked: None,
            warps: Vec::new(),
            cluster: 1,
            blocks: Vec::new(),
            global: None,
            log: Log::default(),
            locations: Locations::default(),
            clusters: BTreeMap::new(),
            objects: BTreeMap::new(),
            flights: BTreeMap::new(),
            undecided: 0,
            conflicts: Vec::new(),
            held: Held::default(),
            ways: Ways::default(),
            heed: Heed::default(),
        }
    }
}

/// The race checker.
pub(super) const ROW: CheckerRow = CheckerRow {
    word: "race",
    about: "accesses to the same memory that nothing orders",
    findings: catalogue::FINDINGS,
    make: Some(|program| Box::new(Race::new(program))),
};

impl Checker for Race {
    fn begin(&mut self, LaunchStart { linked, .. }: &LaunchStart) {
        let config = &linked.config;
        let threads = config.block.iter().product::<u32>();
        let lanes = |warp: u32| crate::machine::lowest(threads - warp * LANES as u32);
        *self = Self {
            linked: Some(Arc::clone(linked)),
            warps: (0..threads.div_ceil(LANES as u32)).map(lanes).collect(),
            cluster: config.blocks_of_cluster(),
            ..Self::new(&self.program)
        };
    }

    fn mask(&self) -> EventMask {
        const MASK: EventMask =
            EventMask::of(&[EventKind::Access, EventKind::Order, EventKind::Copy, EventKind::Mbarrier, EventKind::Wgmma]);
        MASK
    }

    fn end(&mut self, _end: &LaunchEnd, _fault: Option<FindingId>, to: &mut Reporter<'_>) {
        self.held.release(to);
    }

    fn size(&self) -> (usize, usize) {
        let of = |size: fn(&Shadow) -> usize| self.shadows().map(size).sum::<usize>();
        (of(Shadow::bytes) + self.log.bytes(), of(Shadow::covered))
    }

    fn event(&mut self, event: &Event<'_>, to: &mut Reporter<'_>) -> bool {
        match event {
            Event::Access(access) => return self.access(access, to),
            Event::Order(order) => self.order(order),
            Event::Copy(copy) => return self.copy(copy, to),
            Event::Mbarrier(object) => return self.mbarrier(object, to),
            Event::Wgmma(wgmma) => return self.wgmma(wgmma, to),
            // Lanes that exchange registers are not ordered by that.
            Event::Exchange(_) | Event::Before(..) | Event::After(..) | Event::Merged(..) | Event::Arrived(..) => {}
        }
        false
    }

    fn boxed_clone(&self) -> Box<dyn Checker> {
        Box::new(self.clone())
    }
}

impl Race {
    /// Lanes access memory.
    fn access(&mut self, event: &AccessEvent<'_>, to: &mut Reporter<'_>) -> bool {
        let home = match event.space {
            Space::Global | Space::Generic => Home::Global,
            Space::Shared | Space::SharedCluster => Home::Block(event.home.0),
            Space::Local | Space::ParamFunc | Space::Param | Space::Const => return false,
        };
        if event.proxy == Proxy::Surface {
            return false;
        }
        self.enter(event.by, event.place.block);
        if event.space == Space::SharedCluster {
            self.enter_peer(event.by, event.home.0);
        }
        let how = event.how;
        if how.ordering != Ordering::Weak {
            self.order_through(home, event, &how);
        }
        if home != Home::Global && event.addresses.iter().all(|address| *address < map::SHARED_RESERVED) {
            return false;
        }
        let access = self.plain(event);
        self.judge(home, event.by.slot, access, event.addresses);
        self.report(home, event.by.slot, &access, to)
    }

    fn plain(&mut self, event: &AccessEvent<'_>) -> Access {
        let deed = match event.kind {
            AccessKind::Read => Deed::Read,
            AccessKind::Write => Deed::Write,
            AccessKind::Atomic => Deed::Atomic,
        };
        Access {
            tick: event.place.tick,
            pc: event.place.pc,
            block: event.by.number as u32,
            warp: event.place.warp as u8,
            lanes: event.lanes,
            deed,
            strong: strength(&event.how),
            agent: Agent::Threads,
            proxy: event.proxy,
            bytes: event.bytes,
            pattern: self.pattern(event.lanes, event.addresses),
            copy: 0,
        }
    }

    fn pattern(&mut self, lanes: LaneMask, addresses: &PerLane<u64>) -> Pattern {
        Tile::of(lanes, addresses).map_or_else(|| self.log.scatter(addresses), Pattern::Tile)
    }

    /// Judges an access of lanes of the block in `slot`.
    fn judge(&mut self, home: Home, slot: u32, access: Access, addresses: &PerLane<u64>) {
        self.with_judge(home, slot, access, |judge, shadow| judge.lanes(shadow, addresses));
    }

    /// Calls `judge` for an access that a warp of the block in `slot` does or has issued.
    fn with_judge(&mut self, home: Home, slot: u32, access: Access, mut judge: impl FnMut(&mut Judge<'_>, &mut Shadow)) {
        let Some(mut shadow) = self.shadow(home).map(|shadow| shadow.take().unwrap_or_default()) else { return };
        let own = self.log.push(access);
        if let Some(Some(block)) = self.blocks.get(slot as usize) {
            let Self { log, cluster, conflicts, undecided, .. } = self;
            let is_global = home == Home::Global;
            judge(&mut Judge { log, block, cluster: *cluster, is_global, conflicts, undecided, access, own, memo: None }, &mut shadow);
        }
        if let Some(place) = self.shadow(home) {
            *place = Some(shadow);
        }
        if self.log.is_full() && self.log.is_worth_a_sweep(self.shadows().map(Shadow::len).sum()) {
            self.sweep();
        }
    }

    /// The shadow, which is out while an access is judged, since the judge looks at the block as well.
    fn shadow(&mut self, home: Home) -> Option<&mut Option<Box<Shadow>>> {
        match home {
            Home::Global => Some(&mut self.global),
            Home::Block(slot) => Some(&mut self.block(slot)?.shadow),
        }
    }

    fn shadows(&self) -> impl Iterator<Item = &Shadow> {
        self.global.iter().chain(self.blocks.iter().flatten().filter_map(|block| block.shadow.as_ref())).map(|shadow| &**shadow)
    }

    /// Throws away the accesses that no shadow refers to.
    fn sweep(&mut self) {
        let mut sweep = Sweep::new(&mut self.log);
        let shadows = || self.global.iter().chain(self.blocks.iter().flatten().filter_map(|block| block.shadow.as_ref()));
        shadows().for_each(|shadow| shadow.mark(&mut sweep));
        let swept = sweep.end();
        let shared = self.blocks.iter_mut().flatten().filter_map(|block| block.shadow.as_mut());
        self.global.iter_mut().chain(shared).for_each(|shadow| shadow.follow(&swept));
    }

    /// The block that does something, which may be new in its slot.
    fn enter(&mut self, by: BlockId, index: [u32; 3]) {
        let slot = by.slot as usize;
        if self.blocks.len() <= slot {
            self.blocks.resize_with(slot + 1, || None);
        }
        if self.blocks[slot].as_ref().is_some_and(|block| block.number == by.number as u32) {
            return;
        }
        let warps = self.warps.iter().map(|all| Warp { all: *all, live: *all, ..Warp::default() }).collect();
        self.blocks[slot] = Some(Box::new(Block { number: by.number as u32, index, warps, ..Block::default() }));
        self.objects.retain(|(of, _), _| *of != by.slot);
    }

    /// A block of the same cluster, which may not have done anything yet: they lie side by side.
    fn enter_peer(&mut self, BlockId { number, slot }: BlockId, peer: u32) {
        let Some(linked) = &self.linked else { return };
        let number = (number + u64::from(peer)).saturating_sub(u64::from(slot));
        let index = linked.block_index(number);
        self.enter(BlockId { number, slot: peer }, index);
    }

    fn block(&mut self, slot: u32) -> Option<&mut Block> {
        self.blocks.get_mut(slot as usize)?.as_deref_mut()
    }

    /// What a strong access learns from the location, and leaves there.
    fn order_through(&mut self, home: Home, event: &AccessEvent<'_>, how: &program::Access) {
        let (slot, warp, tick) = (event.by.slot, event.place.warp as u8, event.place.tick);
        let Some(block) = self.blocks.get_mut(slot as usize).and_then(Option::as_deref_mut) else { return };
        let releases = event.kind != AccessKind::Read && matches!(how.ordering, Ordering::Release | Ordering::AcqRel | Ordering::SeqCst);
        let has_fence = !block.warps[usize::from(warp)].fences.is_empty();
        if self.locations.is_empty() && !releases && !has_fence {
            return;
        }
        let scope = strength(how).unwrap_or(Scope::Sys);
        let acquires = matches!(how.ordering, Ordering::Acquire | Ordering::AcqRel | Ordering::SeqCst);
        let memory = if let Home::Block(slot) = home { slot + 1 } else { 0 };
        for lane in lanes_of(event.lanes) {
            let at = (memory, event.addresses[lane]);
            if event.kind != AccessKind::Write {
                for found in self.locations.read(at, scope, block.number, self.cluster) {
                    let warp = &mut block.warps[usize::from(warp)];
                    match found {
                        Found::Seen(_, _, clock) if acquires => warp.acquire(1 << lane, &clock),
                        Found::Seen(scope, sc, clock) => Pending { lanes: 1 << lane, scope, sc, clock }.add_to(&mut warp.pending),
                        Found::Missed(clock) => warp.missed.push((1 << lane, clock)),
                    }
                }
            }
            if event.kind != AccessKind::Read {
                let mut clocks = Vec::new();
                if releases {
                    clocks.push((scope, false, Arc::new(block.past(warp, tick).released(1 << lane))));
                }
                for fenced in block.warps[usize::from(warp)].fences.iter().filter(|fenced| fenced.lanes >> lane & 1 != 0) {
                    clocks.push((scope.min(fenced.scope), fenced.sc, Arc::new(fenced.past.released(1 << lane))));
                }
                self.locations.write(at, (block.number, warp, lane as u8), event.kind == AccessKind::Atomic, clocks);
            }
        }
    }

    /// Threads did something that orders them.
    fn order(&mut self, event: &OrderEvent<'_>) {
        let OrderEvent { place, by, lanes, order } = *event;
        self.enter(by, place.block);
        let (slot, warp, tick) = (by.slot, place.warp as u8, place.tick);
        if let Order::ClusterArrived { .. } | Order::ClusterWaits | Order::ClusterReleased { .. } = order {
            return self.order_cluster(event);
        }
        let Some(block) = self.block(slot) else { return };
        match order {
            Order::Fence { kind, ordering, scope } => fence(block, warp, lanes, kind, ordering, scope, tick),
            Order::Arrived { id, waits, .. } => block.arrive(id as usize, warp, lanes, waits, tick),
            Order::Released { id, .. } => block.release(id as usize, tick),
            Order::WarpSync { members } => block.warp_sync(warp, lanes, members, tick),
            Order::Committed { bulk } => {
                let queue = if bulk { Queue::Bulk } else { Queue::Lane };
                block.warps[usize::from(warp)].commit(queue, lanes, tick);
            }
            Order::Awaited(CopyWait { bulk, read, open, pending }) => {
                let group = match (bulk, read) {
                    (false, _) => Group::Lane,
                    (true, false) => Group::Bulk,
                    (true, true) => Group::BulkRead,
                };
                block.warps[usize::from(warp)].wait(group, lanes, (open, pending), tick);
            }
            Order::Exited => {
                block.exit(warp, lanes, tick);
                if self.cluster > 1 {
                    self.leave(event);
                }
            }
            // Lanes that exchange registers are not ordered by that.
            Order::Exchange { .. } | Order::ClusterArrived { .. } | Order::ClusterWaits | Order::ClusterReleased { .. } => {}
        }
    }

    fn order_cluster(&mut self, event: &OrderEvent<'_>) {
        let OrderEvent { place, by: BlockId { slot, number }, lanes, order } = *event;
        let warp = place.warp as u8;
        let cluster = self.clusters.entry(slot - slot % self.cluster).or_default();
        cluster.enter(number / u64::from(self.cluster));
        let Some(Some(block)) = self.blocks.get_mut(slot as usize) else { return };
        match order {
            Order::ClusterArrived { relaxed, .. } => {
                let over = Some(Arc::new(block.past(warp, place.tick).released(lanes)));
                let released = if relaxed { block.fenced(warp, lanes, Scope::Cluster).map(Arc::new) } else { over.clone() };
                cluster.arrive(slot, warp, lanes, &Passed { released, over });
            }
            Order::ClusterWaits => {
                if let Some(passed) = cluster.wait(slot, warp, lanes) {
                    block.pass_cluster(warp, lanes, &passed);
                }
            }
            _ => {
                let (waiting, passed) = cluster.end();
                for (slot, warp, lanes) in waiting {
                    if let Some(block) = self.block(slot) {
                        block.pass_cluster(warp, lanes, &passed);
                    }
                }
            }
        }
    }
}

impl Block {
    /// What lanes of a warp released with their fences of at least `scope`.
    pub(super) fn fenced(&self, warp: u8, lanes: LaneMask, scope: Scope) -> Option<clock::Clock> {
        let fences = self.warps[usize::from(warp)].fences.iter().filter(|fenced| fenced.lanes & lanes != 0 && fenced.scope >= scope);
        fences.map(|fenced| fenced.past.released(fenced.lanes & lanes)).reduce(|mut all, more| {
            all.join(&more);
            all
        })
    }
}

/// Lanes of a warp execute a fence.
fn fence(block: &mut Block, warp: u8, lanes: LaneMask, kind: FenceKind, ordering: Ordering, scope: Scope, tick: u64) {
    match kind {
        FenceKind::ProxyAsync => return block.fence_proxy(warp, lanes, &[Fenceable::Shared, Fenceable::Global], tick),
        FenceKind::ProxyAsyncShared => return block.fence_proxy(warp, lanes, &[Fenceable::Shared], tick),
        FenceKind::ProxyAsyncGlobal => return block.fence_proxy(warp, lanes, &[Fenceable::Global], tick),
        // The fence that releases a change of a tensor map makes nobody see it yet.
        FenceKind::ProxyTensorMap if ordering == Ordering::Acquire => return block.fence_proxy(warp, lanes, &[Fenceable::TensorMap], tick),
        FenceKind::ProxyAlias | FenceKind::ProxyTensorMap => return,
        FenceKind::Memory | FenceKind::MbarrierInit => {}
    }
    let sc = ordering == Ordering::SeqCst;
    if sc && scope >= Scope::Gpu {
        block.pass_fence(warp, lanes);
    }
    if !matches!(ordering, Ordering::Release) && kind == FenceKind::Memory {
        let of = &mut block.warps[usize::from(warp)];
        for mut pending in std::mem::take(&mut of.pending) {
            let seen = if pending.scope <= scope { pending.lanes & lanes } else { 0 };
            if seen != 0 {
                of.acquire(seen, &pending.clock);
            }
            pending.lanes &= !seen;
            if pending.lanes != 0 {
                of.pending.push(pending);
            }
        }
    }
    if !matches!(ordering, Ordering::Acquire) {
        let past = block.past(warp, tick);
        let fences = &mut block.warps[usize::from(warp)].fences;
        fences.retain_mut(|fenced| {
            fenced.lanes &= if fenced.scope <= scope && fenced.sc <= sc { !lanes } else { LaneMask::MAX };
            fenced.lanes != 0
        });
        fences.push(Fenced { lanes, scope, sc, past });
    }
}

/// The scope of a strong access (PTX ISA, "Strong operations"); none for a weak one.
fn strength(how: &program::Access) -> Option<Scope> {
    match how.ordering {
        Ordering::Weak => None,
        Ordering::Volatile | Ordering::Mmio => Some(Scope::Sys),
        _ if how.scope == Scope::None => Some(Scope::Gpu),
        _ => Some(how.scope),
    }
}
