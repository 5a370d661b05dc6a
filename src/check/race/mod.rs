//! Races: accesses to the same bytes, at least one of them a write, that nothing orders.
//!
//! # Algorithm
//!
//! Happens-before as the PTX memory model defines it (PTX ISA, "Memory Consistency Model"), in the order of the run: [`crate::order`] has
//! the vector clocks of the threads. An asynchronous copy is a thread of its own ([`copies`]). Accesses of other blocks of a cluster to the
//! shared memory of a block must happen before its exit ([`exits`]). [`shadow`] has for every byte its last writers and its readers
//! since; [`detector`] compares an access with them, for many bytes at once where it is [`ordered`] after them; most reads of shared
//! memory need no record ([`recording`]). A write that is ordered after all earlier accesses replaces them (Flanagan and Freund,
//! "FastTrack", 2009).
//!
//! A write that a strong read observed is ordered before the operations after the read ([`observed`]). Lanes of warps with a SIMT stack
//! (below sm_70) that execute instructions in lockstep are ordered by that, unless the assembler may reorder the instructions
//! ([`lockstep`]).
//!
//! Accesses that are morally strong to each other do not race. The findings are those of every interleaving in which the threads take the
//! same branches as in this one.
//!
//! # What it can miss
//!
//! - Races on a path through the kernel that this run does not take, because of its input or of the result of an atomic.
//! - Of more than 64 warps with unordered accesses to the same bytes of global memory (eight if the log is large), only the newest is
//!   reported. If the kernel itself synchronizes the grid, a write after them is taken to be ordered.
//! - Of the reads of a buffer that the addresses of all writes start outside of, those before a write that reaches it out of bounds: eight
//!   of each page are compared ([`read_only`]). The neighbour checker reports the write.
//! - The reserved part of shared memory, which the toolkit's libraries use: all lanes of a warp write the result of a cooperative group's
//!   reduction to the same location. Strong accesses there do order threads. A certificate says so.
//!
//! A volatile access is taken to be relaxed in system scope. If only one thread has read a flag (the usual "last block" pattern), fences of
//! other threads of its block order them as well if both are `fence.sc`, as `__threadfence()` is.

mod access;
mod advice;
mod atomics;
pub mod catalogue;
mod cause;
mod copies;
mod detector;
mod event_access;
mod exemption;
mod exits;
mod lane_addresses;
mod lockstep;
mod observed;
mod ordered;
mod ordered_writes;
mod path;
mod read_only;
mod recording;
mod records;
mod report;
mod retention;
mod rows;
mod same_value;
mod scattered;
mod shadow;
mod slab;
mod unordered;
mod unrecorded;
mod unused_loads;
mod wgmma;
mod why;

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

pub(super) use cause::{is_same as is_same_cause, variable as shared_variable};

use access::{Access, Log, Sweep};
pub use advice::{Construct, FunctionAnalysis, Language};

use advice::{GroupWait, SyncAccess, SyncAccesses, Updates};
use detector::{Conflict, Detector, Transitions};
use event_access::{access_of, actor, element_bytes, operation, strength};
use lane_addresses::LaneAddresses;
use ordered_writes::OrderedWrites;
pub use path::SynchronizationPath;
use read_only::ReadOnlyBuffers;
use shadow::{Entry, Shadow};
use unordered::UnorderedFindings;
use unrecorded::UnrecordedAccesses;
use unused_loads::UnusedLoads;

use crate::check::catalogue::FindingId;
use crate::check::checker::{Checker, CheckerRow};
use crate::check::deferred::DeferredFindings;
use crate::check::free_reads::FreeReads;
use crate::check::reachability::Reachability;
use crate::check::reporter::Reporter;
use crate::check::unordered_accesses::UnorderedAccesses;
use crate::flow::result_uses::ResultUses;
use crate::isa::{Ordering, Scope, Space};
use crate::machine::{
    AccessEvent, AccessKind, BlockId, CopyWait, Event, EventKind, EventMask, FastPath, FastPaths, LaneMask, LaunchEnd, LaunchStart,
    PerLane, PlainRead, PreparedLaunch, Proxy, SyncEvent, SyncKind, Tick,
};
use crate::order::{Actor, Agent, AsyncKind, HappensBefore, StrongAccess};
use crate::program::{Pc, Program, map};

/// The race checker of a case.
#[derive(Clone)]
struct RaceChecker {
    program: Arc<Program>,
    prepared: Option<Arc<PreparedLaunch>>,
    /// Whether accesses are judged together, or each at once and word by word.
    fast_paths: FastPaths,
    /// The happens-before relation.
    hb: HappensBefore,
    /// The shadow of global memory.
    global: Option<Box<Shadow>>,
    /// The buffers of global memory that no access needs a record for yet.
    read_only: ReadOnlyBuffers,
    /// The shadows of the shared memory of blocks, by block slot.
    shared: Vec<Option<Box<Shadow>>>,
    /// The accesses that are not in them yet, by block slot.
    unrecorded: Vec<UnrecordedAccesses>,
    /// By block slot: the tick of the newest access that the shadow of its shared memory has or had; [`u64::MAX`] after one that barriers
    /// do not order.
    newest: Vec<Option<Tick>>,
    ordered_writes: OrderedWrites,
    /// The accesses that the shadow of global memory refers to.
    log: Log,
    /// The accesses that the shadows of shared memory refer to: a log of its own, since it is swept often.
    shared_log: Log,
    unordered_accesses: UnorderedAccesses,
    /// Bytes of global memory that `expect_ignoring` names.
    ignored: Vec<Range<u64>>,
    conflicts: Vec<Conflict>,
    /// True if it was reported that lanes rely on lockstep.
    is_lockstep_reported: bool,
    /// The lanes that run in lockstep with those that access memory now; none if threads are scheduled independently.
    lockstep: LaneMask,
    /// Findings about accesses to the shared memory of blocks that may have exited.
    deferred: DeferredFindings,
    reachability: Reachability,
    result_uses: ResultUses,
    updates: Updates,
    sync_accesses: SyncAccesses,
    unordered: UnorderedFindings,
    unused_loads: UnusedLoads,
    /// A cache: whether the assembler may reorder two accesses.
    reordered: BTreeMap<(Pc, Pc), bool>,
    /// The stores by unordered threads that have written different values to one location.
    differing_stores: BTreeSet<Pc>,
    /// Digests of the bytes that copies have replaced in global memory, by number of the copy.
    replaced_digests: BTreeMap<u64, u64>,
}

/// Memory: global, or the shared memory of the block in a block slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ShadowMemory {
    Global,
    Block(u32),
}

impl RaceChecker {
    pub fn new(program: &Arc<Program>) -> Self {
        Self {
            program: Arc::clone(program),
            prepared: None,
            fast_paths: FastPaths::default(),
            hb: HappensBefore::new(0, 1),
            global: None,
            read_only: ReadOnlyBuffers::default(),
            shared: Vec::new(),
            unrecorded: Vec::new(),
            newest: Vec::new(),
            ordered_writes: OrderedWrites::default(),
            log: Log::default(),
            shared_log: Log::default(),
            unordered_accesses: UnorderedAccesses::default(),
            ignored: Vec::new(),
            conflicts: Vec::new(),
            is_lockstep_reported: false,
            lockstep: LaneMask::NONE,
            deferred: DeferredFindings::default(),
            reachability: Reachability::default(),
            result_uses: ResultUses::default(),
            updates: Updates::default(),
            sync_accesses: SyncAccesses::default(),
            unordered: UnorderedFindings::new(program),
            unused_loads: UnusedLoads::default(),
            reordered: BTreeMap::new(),
            differing_stores: BTreeSet::new(),
            replaced_digests: BTreeMap::new(),
        }
    }
}

/// The race checker.
pub(super) const ROW: CheckerRow = CheckerRow {
    word: "race",
    about: "accesses to the same memory that nothing orders",
    findings: catalogue::FINDINGS,
    make: Some(|program| Box::new(RaceChecker::new(program))),
};

impl Checker for RaceChecker {
    fn begin(&mut self, start: &LaunchStart) {
        let LaunchStart { prepared, ignored, .. } = start;
        let config = &prepared.config;
        // The reference records every access.
        let has_read_only = config.fast_paths.has(FastPath::ReadOnlyBuffers);
        let read_only = if has_read_only { ReadOnlyBuffers::of(&self.program, start) } else { ReadOnlyBuffers::default() };
        let hb = HappensBefore::new(config.block.iter().product(), config.blocks_of_cluster());
        *self = Self {
            prepared: Some(Arc::clone(prepared)),
            fast_paths: config.fast_paths,
            ignored: ignored.clone(),
            hb,
            read_only,
            ..Self::new(&self.program)
        };
    }

    fn mask(&self) -> EventMask {
        const MASK: EventMask =
            EventMask::of(&[EventKind::Access, EventKind::Sync, EventKind::Copy, EventKind::Mbarrier, EventKind::Wgmma]);
        MASK
    }

    fn end(&mut self, _end: &LaunchEnd, _fault: Option<FindingId>, to: &mut Reporter<'_>) {
        self.deferred.release(to);
        self.release_unordered(to);
        if let Some(prepared) = &self.prepared {
            let index_of = |number| prepared.block_index(number);
            self.unordered_accesses.end_launch(prepared.blocks, prepared.config.cooperative, index_of);
        }
        to.findings.unordered_accesses.join(&self.unordered_accesses);
    }

    fn size(&self) -> (usize, usize) {
        let total = |size: fn(&Shadow) -> usize| self.shadows().map(size).sum::<usize>();
        let unrecorded: usize = self.unrecorded.iter().map(UnrecordedAccesses::bytes).sum();
        let logs = self.log.bytes() + self.shared_log.bytes() + self.read_only.bytes();
        (total(Shadow::bytes) + logs + unrecorded, total(Shadow::covered) + self.read_only.covered())
    }

    fn event(&mut self, event: &Event<'_>, to: &mut Reporter<'_>) -> bool {
        match event {
            Event::Access(access) => return self.access(access, to),
            Event::Sync(sync) => self.sync(sync),
            Event::Copy(copy) => return self.copy(copy, to),
            Event::Mbarrier(mbarrier) => return self.mbarrier(mbarrier, to),
            Event::Wgmma(wgmma) => return self.wgmma(wgmma, to),
            // A warp collective orders nothing.
            Event::LocalStart(_)
            | Event::Collective(_)
            | Event::Before(..)
            | Event::After(..)
            | Event::Reconverged(..)
            | Event::Arrived(..) => {}
        }
        false
    }

    fn plain_read(&mut self, read: &PlainRead<'_>) -> bool {
        self.enter(read.block_id);
        if !read.lockstep.is_empty() {
            self.hb.run_in_lockstep(actor(read.block_id, read.point, LaneMask::ALL), read.lockstep);
        }
        if read.space == Space::Global {
            self.is_read_left_to_read_only(read) || self.try_record_row_read(read)
        } else {
            self.try_leave_shared_read(read)
        }
    }

    fn free_reads(&self, block_id: BlockId) -> Option<FreeReads> {
        self.may_leave_shared_reads(block_id).then(|| FreeReads::of(map::SHARED_RESERVED..u64::MAX))
    }

    fn free_read(&mut self, read: &PlainRead<'_>) -> bool {
        self.unrecorded[read.block_id.block_slot as usize].push_shared_read(read)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn boxed_clone(&self) -> Box<dyn Checker> {
        Box::new(self.clone())
    }
}

impl RaceChecker {
    /// Lanes access memory.
    fn access(&mut self, event: &AccessEvent<'_>, to: &mut Reporter<'_>) -> bool {
        let memory = match event.space {
            Space::Global | Space::Generic => ShadowMemory::Global,
            Space::Shared | Space::SharedCluster => ShadowMemory::Block(event.owner.0),
            Space::Local | Space::ParamFunc | Space::Param | Space::Const => return false,
        };
        self.enter(event.block_id);
        if event.space == Space::SharedCluster {
            self.enter_peer(event.block_id, event.owner.0);
        }
        self.lockstep = event.lockstep;
        if !event.lockstep.is_empty() {
            self.hb.run_in_lockstep(actor(event.block_id, &event.point, event.lanes), event.lockstep);
        }
        if event.semantics.ordering != Ordering::Weak {
            self.strong_access(memory, event);
        }
        if memory != ShadowMemory::Global && event.max < map::SHARED_RESERVED {
            self.unordered_accesses.has_reserved = true;
            return false;
        }
        if self.try_leave_unrecorded(event) {
            return false;
        }
        self.recorded_access(memory, event, to)
    }

    /// An access that may synchronize.
    #[inline(never)]
    fn strong_access(&mut self, memory: ShadowMemory, event: &AccessEvent<'_>) {
        // A relaxed atomic orders nothing before a fence does.
        if event.kind != AccessKind::Atomic || event.semantics.ordering != Ordering::Relaxed {
            self.record_unrecorded(event.block_id.block_slot);
        }
        if event.semantics.ordering.acquires() && event.kind != AccessKind::Write {
            self.record_unordered_acquire(memory, event);
        }
        self.synchronize(memory, event);
        if let ShadowMemory::Block(_) = memory {
            self.unordered.add_synchronizing(event.block_id.number as u32, event);
        }
    }

    /// Compares an access with the shadow, and records it there.
    #[inline(never)]
    fn recorded_access(&mut self, memory: ShadowMemory, event: &AccessEvent<'_>, to: &mut Reporter<'_>) -> bool {
        if memory == ShadowMemory::Global && self.is_left_to_read_only(event) {
            return false;
        }
        if self.try_record_row(memory, event) {
            return false;
        }
        let lane_addresses = self.log_of(memory).addresses_of(event);
        let access = access_of(&self.program, event, event.lanes, lane_addresses);
        self.check(memory, event.block_id.block_slot, access, event.addresses);
        self.compare_values(event, &access);
        self.report(memory, event.block_id.block_slot, &access, to)
    }

    /// Adds the acquire of an access to the unordered accesses if it alone orders the access after the write that it reads: that depends on
    /// the schedule.
    fn record_unordered_acquire(&mut self, memory: ShadowMemory, event: &AccessEvent<'_>) {
        let Self { hb, global, shared, log, shared_log, unordered_accesses, .. } = self;
        let (shadow, log) = match memory {
            ShadowMemory::Global => (global.as_mut(), log),
            ShadowMemory::Block(block_slot) => (shared.get_mut(block_slot as usize).and_then(Option::as_mut), shared_log),
        };
        let (Some(shadow), Some(block)) = (shadow, hb.block(event.block_id.block_slot)) else { return };
        let warp = event.point.warp;
        for lane in event.lanes.iter() {
            let address = event.addresses[lane];
            let (entries, _) = shadow.around(address, u64::from(event.bytes));
            let Some(entry) = entries.first().filter(|entry| !entry.writes.is_none()) else { continue };
            let newest = log.newest(entry.writes);
            // One pair of lanes is enough, unless the write is by a block that starts later.
            let (own, other) = (event.block_id.number, u64::from(newest.op.block));
            if own >= other && unordered_accesses.is_last_pair(newest.pc, event.point.pc) {
                continue;
            }
            let by = newest.lanes_at(address, log);
            if newest.strong.is_some() && !by.is_empty() && !block.happens_before(warp, lane, &newest.op, by.first()) {
                unordered_accesses.add(newest.pc, event.point.pc);
                if event.kind == AccessKind::Read {
                    unordered_accesses.add_read(hb.cluster(), (event.point.pc, own), (newest.pc, other));
                }
            }
        }
    }

    fn lane_addresses(&mut self, memory: ShadowMemory, lanes: LaneMask, addresses: &PerLane<u64>) -> LaneAddresses {
        self.log_of(memory).lane_addresses(lanes, addresses)
    }

    fn log_of(&mut self, memory: ShadowMemory) -> &mut Log {
        match memory {
            ShadowMemory::Global => &mut self.log,
            ShadowMemory::Block(_) => &mut self.shared_log,
        }
    }

    /// Checks an access of lanes of the block in `block_slot`.
    fn check(&mut self, memory: ShadowMemory, block_slot: u32, access: Access, addresses: &PerLane<u64>) {
        self.with_detector(memory, block_slot, access, |detector, shadow| detector.compare_lanes(shadow, addresses));
    }

    /// Calls `compare` with a detector for an access by the block in `block_slot`, or by a copy that it has issued.
    fn with_detector(
        &mut self,
        memory: ShadowMemory,
        block_slot: u32,
        access: Access,
        mut compare: impl FnMut(&mut Detector<'_>, &mut Shadow),
    ) {
        if let ShadowMemory::Block(slot) = memory
            && let Some(newest) = self.newest.get_mut(slot as usize)
        {
            // Barriers order the accesses of threads through the generic proxy.
            let is_ordered = access.op.agent == Agent::Threads && access.proxy == Proxy::Generic;
            *newest = (*newest).max(Some(if is_ordered { access.op.tick } else { Tick(u64::MAX) }));
        }
        let Self {
            hb,
            global,
            shared,
            unrecorded,
            log,
            shared_log,
            conflicts,
            unordered_accesses,
            lockstep,
            is_lockstep_reported,
            fast_paths,
            ..
        } = self;
        let (shadow, unrecorded, log) = match memory {
            ShadowMemory::Global => (global, None, log),
            ShadowMemory::Block(block_slot) => match shared.get_mut(block_slot as usize) {
                Some(shadow) if hb.block(block_slot).is_some() => (shadow, unrecorded.get_mut(block_slot as usize), shared_log),
                _ => return,
            },
        };
        let Some(block) = hb.block(block_slot) else { return };
        assert!(block.number == access.op.block || access.op.agent != Agent::Threads, "an access is checked for the block that does it");
        let access_ref = log.push(access);
        let (is_global, cluster) = (memory == ShadowMemory::Global, hb.cluster());
        let lockstep = if access.op.agent == Agent::Threads { *lockstep } else { LaneMask::NONE };
        let reports_lockstep = !*is_lockstep_reported;
        let (compared, transitions) = (Entry::default(), Transitions::NONE);
        let mut detector = Detector {
            log,
            unrecorded,
            block,
            cluster,
            is_global,
            conflicts,
            unordered_accesses,
            access,
            access_ref,
            reports_lockstep,
            lockstep,
            compared,
            transitions,
        };
        compare(&mut detector, shadow.get_or_insert_with(|| Box::new(Shadow::new(*fast_paths))));
        // Conflicts refer to the log until they are reported.
        if self.conflicts.is_empty() && self.log_of(memory).is_full() {
            self.sweep(memory);
        }
    }

    fn shadows(&self) -> impl Iterator<Item = &Shadow> {
        self.global.iter().chain(self.shared.iter().flatten()).map(|shadow| &**shadow)
    }

    /// Sweeps the log of `memory`, if enough was added to it: removes the accesses that no shadow refers to.
    fn sweep(&mut self, memory: ShadowMemory) {
        let Self { log, shared_log, global, shared, ordered_writes, .. } = self;
        let (log, shadows) = match memory {
            ShadowMemory::Global => (log, std::slice::from_ref(global)),
            ShadowMemory::Block(_) => (shared_log, &shared[..]),
        };
        if log.is_worth_a_sweep(shadows.iter().flatten().map(|shadow| shadow.covered()).sum()) {
            let mut sweep = Sweep::new(log);
            shadows.iter().flatten().for_each(|shadow| shadow.mark(&mut sweep));
            sweep.finish();
            ordered_writes.clear();
        }
    }

    /// Starts the state of the block of an event, if it is new in its block slot.
    #[inline]
    fn enter(&mut self, block_id: BlockId) {
        if self.hb.enter(block_id.block_slot, block_id.number as u32) {
            let block_slot = block_id.block_slot as usize;
            if self.shared.len() <= block_slot {
                self.shared.resize_with(block_slot + 1, || None);
                self.unrecorded.resize_with(block_slot + 1, UnrecordedAccesses::default);
                self.newest.resize(block_slot + 1, None);
            }
            self.shared[block_slot].iter_mut().for_each(|shadow| shadow.restart());
            self.unrecorded[block_slot].clear();
            self.newest[block_slot] = None;
            self.ordered_writes.leave(block_slot);
        }
        debug_assert!((block_id.block_slot as usize) < self.shared.len(), "a block in a block slot has a place for its shadow");
    }

    /// The same for another block of the cluster, which may have had no event yet: blocks of a cluster have adjacent block slots.
    fn enter_peer(&mut self, BlockId { number, block_slot }: BlockId, peer: u32) {
        let number = (number + u64::from(peer)).saturating_sub(u64::from(block_slot));
        assert!(
            u64::from(block_slot.abs_diff(peer)) < u64::from(self.hb.cluster()),
            "block slot {peer} is of another cluster than block slot {block_slot}"
        );
        self.enter(BlockId { number, block_slot: peer });
    }

    /// A strong access acquires the clocks of its locations, and releases to them.
    fn synchronize(&mut self, memory: ShadowMemory, event: &AccessEvent<'_>) {
        let number = if let ShadowMemory::Block(block_slot) = memory { block_slot + 1 } else { 0 };
        let (reads, writes) = (event.kind != AccessKind::Write, event.kind != AccessKind::Read);
        let scope = strength(&event.semantics).unwrap_or(Scope::Sys);
        let op = &self.program.code[event.point.pc.index()].op;
        let element = element_bytes(op, event.bytes);
        let strong =
            StrongAccess { reads, writes, is_reduction: op.is_reduction(), ordering: event.semantics.ordering, scope, bytes: element };
        self.record_sync_access(number, event, (reads, writes), scope);
        let actor = actor(event.block_id, &event.point, event.lanes);
        self.hb.release_acquire(actor, number, event.addresses, strong);
        for skip in (element..event.bytes).step_by(element as usize) {
            self.hb.release_acquire(actor, number, &event.addresses.map(|address| address + u64::from(skip)), strong);
        }
    }

    /// A read observes a racing write: a `fence.sc` before the write precedes one after the read in Fence-SC order.
    fn order_racy_read(&mut self, block_slot: u32, access: &Access, conflict: &Conflict) {
        let are_threads = access.op.agent == Agent::Threads && conflict.first.op.agent == Agent::Threads;
        if conflict.is_read && are_threads {
            let actor = Actor { block_slot, warp: access.op.warp, lanes: conflict.second_lanes, tick: access.op.tick };
            self.hb.read_after_fence(actor, &conflict.first.op, conflict.first_lanes.first());
        }
    }

    /// Records a strong access to one location, which may be a flag or a lock.
    fn record_sync_access(&mut self, number: u32, event: &AccessEvent<'_>, (reads, writes): (bool, bool), scope: Scope) {
        let address = event.addresses[event.lanes.first()];
        if event.lanes.iter().any(|lane| event.addresses[lane] != address) {
            return;
        }
        let sync_access = SyncAccess::new((number, address), event.block_id, &event.point, event.lanes, (event.semantics.ordering, scope));
        if reads {
            self.sync_accesses.add_read(sync_access);
        }
        if writes {
            self.sync_accesses.add_write(sync_access);
        }
    }

    /// Threads synchronize.
    #[inline(never)]
    fn sync(&mut self, event: &SyncEvent<'_>) {
        let SyncEvent { point, block_id, lanes, kind } = *event;
        self.enter(block_id);
        let actor = actor(block_id, &point, lanes);
        if !self.unrecorded[block_id.block_slot as usize].is_empty() && self.may_order_partially(block_id.block_slot, kind) {
            self.record_unrecorded(block_id.block_slot);
        }
        match kind {
            SyncKind::Fence { kind, ordering, scope } => self.hb.fence(actor, kind, ordering, scope),
            SyncKind::Arrived { id, waits, .. } => self.hb.arrive(actor, id, waits),
            SyncKind::BarrierCompleted { id, .. } => {
                self.unrecorded[block_id.block_slot as usize].clear();
                self.hb.complete_barrier(block_id.block_slot, id, point.tick);
            }
            SyncKind::WarpSync { members } => self.hb.sync_warp(actor, members),
            SyncKind::Committed { bulk } => self.hb.commit(actor, bulk),
            SyncKind::Awaited(CopyWait { bulk, read, uncommitted, pending }) => {
                let copies = match (bulk, read) {
                    (false, _) => AsyncKind::CpAsync,
                    (true, false) => AsyncKind::Bulk,
                    (true, true) => AsyncKind::BulkRead,
                };
                if copies == AsyncKind::CpAsync {
                    let by = (block_id.number as u32, point.warp);
                    self.sync_accesses.add_wait(GroupWait {
                        by,
                        lanes,
                        tick: point.tick,
                        pc: point.pc,
                        pending: if uncommitted { 0 } else { pending },
                    });
                }
                self.hb.wait(actor, copies, uncommitted, pending);
            }
            SyncKind::ClusterArrived { relaxed, .. } => self.hb.arrive_at_cluster(actor, relaxed),
            SyncKind::ClusterWaits => self.hb.wait_for_cluster(actor),
            SyncKind::ClusterBarrierCompleted { .. } => self.hb.complete_cluster_barrier(block_id.block_slot, block_id.number as u32),
            SyncKind::Exited => {
                self.hb.exit(actor);
                if self.hb.cluster() > 1 {
                    self.check_exit(event);
                }
            }
            // A warp collective orders nothing.
            SyncKind::Collective { .. } => {}
        }
    }
}
