//! Races: accesses to the same bytes, at least one of them a write, that nothing orders.
//!
//! # Algorithm
//!
//! Happens-before as the PTX memory model defines it (PTX ISA, "Memory Consistency Model"), over the run as it went: [`crate::order`] keeps
//! what every thread knows of the others. Copies are threads of their own ([`copies`]). What other blocks of a cluster do to the shared
//! memory of a block must be known to it when it exits ([`exits`]). [`shadow`] holds for every byte its last writer and its readers since;
//! [`detector`] compares an access with them; most reads of shared memory need no record ([`recording`]). A write
//! that is ordered after everything before it replaces it all (Flanagan and Freund, "FastTrack", 2009).
//!
//! A write that a strong read observed is ordered before what follows the read ([`observed`]). Where warps have a stack, as below sm_70,
//! lanes that execute instructions together are ordered by that, unless the assembler may exchange the instructions ([`lockstep`]).
//!
//! Accesses that are morally strong to each other do not race. What does not depend on the interleaving is reported whichever
//! interleaving ran; what the threads decide by what they read from each other, they decide as in this one.
//!
//! # What it can miss
//!
//! - Races on a path through the kernel that this input does not take, or that an atomic's outcome did not take this time.
//! - Of more than 64 warps that touched the same bytes of global memory unordered, eight once thousands of accesses are remembered, only
//!   the newest is reported. If the grid synchronizes by itself, a write after them is taken to be ordered.
//! - The reserved part of shared memory, where the toolkit's libraries work: all lanes of a warp write the result of a cooperative
//!   group's reduction to the same place. What strong accesses there order counts.
//!
//! A volatile access counts as relaxed in the scope of the system. Fences of other threads of the block count where only one thread has
//! read the flag (the usual "last block" pattern), if both are `fence.sc`, as `__threadfence()` is.

mod access;
mod advice;
mod atomics;
pub mod catalogue;
mod cause;
mod copies;
mod detector;
mod exits;
mod lane_addresses;
mod lockstep;
mod observed;
mod path;
mod recording;
mod report;
mod scattered;
mod shadow;
mod tolerated;
mod unordered;
mod unrecorded;
mod wgmma;
mod why;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

pub(super) use cause::is_same as is_same_cause;

use access::{Access, Log, Sweep};
pub use advice::{Body, Language, Term};

use advice::{GroupWait, SyncAccess, SyncAccesses, Updates};
use detector::{Conflict, ConflictKind, Detector, Transitions};
use lane_addresses::LaneAddresses;
pub use path::SynchronizationPath;
use shadow::{Entry, Shadow};
use unordered::UnorderedFindings;
use unrecorded::UnrecordedReads;

use crate::base::WarpId;
use crate::check::catalogue::FindingId;
use crate::check::checker::{Checker, CheckerRow};
use crate::check::contention::Contention;
use crate::check::deferred::DeferredFindings;
use crate::check::finding::SideAction;
use crate::check::reachability::Reachability;
use crate::check::reporter::Reporter;
use crate::flow::result_uses::ResultUses;
use crate::isa::{Ordering, Scope, Space};
use crate::machine::{
    AccessEvent, AccessKind, BlockId, CopyWait, Event, EventKind, EventMask, IssuePoint, LaneMask, LaunchEnd, LaunchStart, Order,
    OrderEvent, PerLane, PreparedLaunch,
};
use crate::order::{Actor, Agent, AsyncKind, HappensBefore, Operation, Strong};
use crate::program::{self, AtomicOp, MemoryOp, Op, Pc, Program, map};

/// The race checker of a case.
#[derive(Clone)]
struct Race {
    program: Arc<Program>,
    prepared: Option<Arc<PreparedLaunch>>,
    /// The happens-before relation.
    order: HappensBefore,
    /// The shadow of global memory.
    global: Option<Box<Shadow>>,
    /// That of the shared memory of the block in a block slot.
    shared: Vec<Option<Box<Shadow>>>,
    /// Reads that it does not hold yet.
    unrecorded: Vec<UnrecordedReads>,
    /// The accesses that the shadow of global memory refers to.
    log: Log,
    /// The accesses that the shadows of shared memory refer to: it is swept often, and they are small.
    shared_log: Log,
    contention: Contention,
    /// Bytes of global memory of which the launch says nothing.
    ignored: Vec<Range<u64>>,
    conflicts: Vec<Conflict>,
    /// Whether it was said that lanes rely on lockstep.
    is_lockstep_noted: bool,
    /// The lanes that run in lockstep with those that access memory now, where warps have a stack.
    lockstep: LaneMask,
    /// Accesses to the shared memory of blocks that may have exited by then.
    deferred: DeferredFindings,
    reachability: Reachability,
    result_uses: ResultUses,
    updates: Updates,
    sync_accesses: SyncAccesses,
    unordered: UnorderedFindings,
    /// Whether the assembler may exchange two accesses, as far as that was asked.
    exchanged: BTreeMap<(Pc, Pc), bool>,
    /// The stores that have written different values to one place, by threads that nothing orders.
    differing: BTreeSet<Pc>,
    /// Digests of what copies have replaced in global memory, by their numbers.
    replaced: BTreeMap<u64, u64>,
}

/// Memory: global, or the shared memory of the block in a block slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ShadowMemory {
    Global,
    Block(u32),
}

impl Race {
    pub fn new(program: &Arc<Program>) -> Self {
        Self {
            program: Arc::clone(program),
            prepared: None,
            order: HappensBefore::new(0, 1),
            global: None,
            shared: Vec::new(),
            unrecorded: Vec::new(),
            log: Log::default(),
            shared_log: Log::default(),
            contention: Contention::default(),
            ignored: Vec::new(),
            conflicts: Vec::new(),
            is_lockstep_noted: false,
            lockstep: LaneMask::NONE,
            deferred: DeferredFindings::default(),
            reachability: Reachability::default(),
            result_uses: ResultUses::default(),
            updates: Updates::default(),
            sync_accesses: SyncAccesses::default(),
            unordered: UnorderedFindings::new(program),
            exchanged: BTreeMap::new(),
            differing: BTreeSet::new(),
            replaced: BTreeMap::new(),
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
    fn begin(&mut self, LaunchStart { prepared, ignored, .. }: &LaunchStart) {
        let config = &prepared.config;
        let order = HappensBefore::new(config.block.iter().product(), config.blocks_of_cluster());
        *self = Self { prepared: Some(Arc::clone(prepared)), ignored: ignored.clone(), order, ..Self::new(&self.program) };
    }

    fn mask(&self) -> EventMask {
        const MASK: EventMask =
            EventMask::of(&[EventKind::Access, EventKind::Order, EventKind::Copy, EventKind::Mbarrier, EventKind::Wgmma]);
        MASK
    }

    fn end(&mut self, _end: &LaunchEnd, _fault: Option<FindingId>, to: &mut Reporter<'_>) {
        self.deferred.release(to);
        self.release_unordered(to);
        to.findings.contention.join(&self.contention);
    }

    fn size(&self) -> (usize, usize) {
        let of = |size: fn(&Shadow) -> usize| self.shadows().map(size).sum::<usize>();
        let unrecorded: usize = self.unrecorded.iter().map(UnrecordedReads::bytes).sum();
        let logs = self.log.bytes() + self.shared_log.bytes();
        (of(Shadow::bytes) + logs + unrecorded, of(Shadow::covered))
    }

    fn event(&mut self, event: &Event<'_>, to: &mut Reporter<'_>) -> bool {
        match event {
            Event::Access(access) => return self.access(access, to),
            Event::Order(order) => self.order(order),
            Event::Copy(copy) => return self.copy(copy, to),
            Event::Mbarrier(object) => return self.mbarrier(object, to),
            Event::Wgmma(wgmma) => return self.wgmma(wgmma, to),
            // A warp collective orders nothing.
            Event::Collective(_) | Event::Before(..) | Event::After(..) | Event::Reconverged(..) | Event::Arrived(..) => {}
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
        let owner = match event.space {
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
            self.order.run_in_lockstep(actor(event.block_id, &event.place, event.lanes), event.lockstep);
        }
        if event.semantics.ordering != Ordering::Weak {
            self.record(event.block_id.block_slot);
            if event.semantics.ordering.acquires() && event.kind != AccessKind::Write {
                self.note_acquired(owner, event);
            }
            self.order_through(owner, event);
            if let ShadowMemory::Block(_) = owner {
                self.unordered.note(event.block_id.number as u32, event);
            }
        }
        if owner != ShadowMemory::Global && event.max < map::SHARED_RESERVED {
            return false;
        }
        if self.sets_aside(event) {
            return false;
        }
        let access = self.plain(owner, event);
        self.check(owner, event.block_id.block_slot, access, event.addresses);
        self.compare_values(event, &access);
        self.report(owner, event.block_id.block_slot, &access, to)
    }

    /// Records that the acquire of an access depends on the order: the write that it reads is ordered before it by that acquire alone.
    fn note_acquired(&mut self, owner: ShadowMemory, event: &AccessEvent<'_>) {
        let Self { order, global, shared, log, shared_log, contention, .. } = self;
        let (shadow, log) = match owner {
            ShadowMemory::Global => (global.as_mut(), log),
            ShadowMemory::Block(block_slot) => (shared.get_mut(block_slot as usize).and_then(Option::as_mut), shared_log),
        };
        let (Some(shadow), Some(block)) = (shadow, order.block(event.block_id.block_slot)) else { return };
        let warp = WarpId::new(event.place.warp.number());
        for lane in event.lanes.iter() {
            let address = event.addresses[lane];
            let (entries, _) = shadow.units(address, u64::from(event.bytes));
            let Some(entry) = entries.first().filter(|entry| !entry.writes.is_none()) else { continue };
            let newest = log.newest(entry.writes);
            // One lane is enough.
            if contention.was_last(newest.pc, event.place.pc) {
                continue;
            }
            let by = newest.lanes_at(address, log);
            if newest.strong.is_some() && !by.is_empty() && !block.happens_before(warp, lane, &newest.op, by.first()) {
                contention.add(newest.pc, event.place.pc);
            }
        }
    }

    /// Finds the conflicts of plain stores of one instruction that write the same bytes. They are found address by address, and counted
    /// once for two accesses.
    fn compare_values(&mut self, event: &AccessEvent<'_>, access: &Access) {
        let Some(store) = event.store.filter(|_| access.strong.is_none()) else { return };
        let is_plain = |first: &Access| first.action == SideAction::Write && first.strong.is_none() && first.copy == 0;
        let (conflicts, differing) = (&mut self.conflicts, &mut self.differing);
        for conflict in conflicts.iter_mut().filter(|conflict| is_plain(&conflict.first) && conflict.kind == ConflictKind::Unordered) {
            let writer = conflict.first_lanes.first();
            let other = if (conflict.first.op.tick, conflict.first.op.warp) == (access.op.tick, access.op.warp) {
                conflict.second_lanes.filter(|lane| !store.are_equal(writer, lane))
            } else {
                // Accesses of one size are apart or at the same place, and an earlier store is what memory holds.
                conflict.second_lanes.filter(|lane| !store.is_there(lane, event.addresses[lane]))
            };
            // What the first of several earlier stores left was overwritten since: it was the same if no two of them have differed.
            if !other.is_empty() {
                conflict.second_lanes = other;
                differing.extend([conflict.first.pc, access.pc]);
            } else if conflict.first.pc == access.pc && !differing.contains(&access.pc) {
                conflict.kind = ConflictKind::SameValue;
            }
        }
        let of = |conflict: &Conflict| (conflict.first.op.tick, conflict.first.op.block, conflict.first.op.warp, conflict.kind);
        let mut seen = Vec::new();
        self.conflicts.retain(|conflict| {
            let is_new = !seen.contains(&of(conflict));
            if is_new {
                seen.push(of(conflict));
            }
            is_new || conflict.first.pc != access.pc
        });
    }

    fn plain(&mut self, owner: ShadowMemory, event: &AccessEvent<'_>) -> Access {
        let action = match event.kind {
            AccessKind::Read => SideAction::Read,
            AccessKind::Write => SideAction::Write,
            AccessKind::Atomic => SideAction::Atomic,
        };
        let is_weak = event.semantics.ordering == Ordering::Weak;
        let element = if is_weak { event.bytes } else { element_bytes(&self.program.code[event.place.pc.index()].op, event.bytes) };
        Access {
            op: operation(event.block_id, &event.place, event.lanes, (Agent::Threads, action)),
            pc: event.place.pc,
            action,
            is_mbarrier: false,
            strong: strength(&event.semantics),
            is_relaxed: matches!(event.semantics.ordering, Ordering::Volatile | Ordering::Relaxed) && event.kind != AccessKind::Atomic,
            proxy: event.proxy,
            bytes: event.bytes,
            element,
            lane_addresses: self.lane_addresses(owner, event.lanes, event.addresses),
            copy: 0,
        }
    }

    fn lane_addresses(&mut self, owner: ShadowMemory, lanes: LaneMask, addresses: &PerLane<u64>) -> LaneAddresses {
        self.log_of(owner).lane_addresses(lanes, addresses)
    }

    fn log_of(&mut self, memory: ShadowMemory) -> &mut Log {
        match memory {
            ShadowMemory::Global => &mut self.log,
            ShadowMemory::Block(_) => &mut self.shared_log,
        }
    }

    /// Checks an access of lanes of the block in `block_slot`.
    fn check(&mut self, owner: ShadowMemory, block_slot: u32, access: Access, addresses: &PerLane<u64>) {
        self.with_detector(owner, block_slot, access, |detector, shadow| detector.lanes(shadow, addresses));
    }

    /// Calls `compare` for an access that a warp of the block in `block_slot` does or has issued.
    fn with_detector(
        &mut self,
        owner: ShadowMemory,
        block_slot: u32,
        access: Access,
        mut compare: impl FnMut(&mut Detector<'_>, &mut Shadow),
    ) {
        let Self { order, global, shared, unrecorded, log, shared_log, conflicts, contention, lockstep, is_lockstep_noted, .. } = self;
        let (shadow, unrecorded, log) = match owner {
            ShadowMemory::Global => (global, None, log),
            ShadowMemory::Block(block_slot) => match shared.get_mut(block_slot as usize) {
                Some(shadow) if order.block(block_slot).is_some() => (shadow, unrecorded.get_mut(block_slot as usize), shared_log),
                _ => return,
            },
        };
        let Some(block) = order.block(block_slot) else { return };
        assert!(block.number == access.op.block || access.op.agent != Agent::Threads, "an access is checked for the block that does it");
        let own = log.push(access);
        let (is_global, cluster) = (owner == ShadowMemory::Global, order.cluster());
        let lockstep = if access.op.agent == Agent::Threads { *lockstep } else { LaneMask::NONE };
        let notes_lockstep = !*is_lockstep_noted;
        let (compared, transitions) = (Entry::default(), Transitions::NONE);
        let mut detector = Detector {
            log,
            unrecorded,
            block,
            cluster,
            is_global,
            conflicts,
            contention,
            access,
            own,
            notes_lockstep,
            lockstep,
            compared,
            transitions,
        };
        compare(&mut detector, shadow.get_or_insert_default());
        // Conflicts refer to the log until they are reported.
        if self.conflicts.is_empty() && self.log_of(owner).is_full() {
            self.sweep(owner);
        }
    }

    fn shadows(&self) -> impl Iterator<Item = &Shadow> {
        self.global.iter().chain(self.shared.iter().flatten()).map(|shadow| &**shadow)
    }

    /// Throws away the accesses to `memory`, or to all shared memory, that no shadow refers to, if that is worth its time.
    fn sweep(&mut self, memory: ShadowMemory) {
        let Self { log, shared_log, global, shared, .. } = self;
        let (log, shadows) = match memory {
            ShadowMemory::Global => (log, std::slice::from_mut(global)),
            ShadowMemory::Block(_) => (shared_log, &mut shared[..]),
        };
        if log.is_worth_a_sweep(shadows.iter().flatten().map(|shadow| shadow.len()).sum()) {
            let mut sweep = Sweep::new(log);
            shadows.iter().flatten().for_each(|shadow| shadow.mark(&mut sweep));
            let swept = sweep.end();
            shadows.iter_mut().flatten().for_each(|shadow| shadow.follow(&swept));
        }
    }

    /// The block of an event, which may be new in its block slot.
    fn enter(&mut self, block_id: BlockId) {
        if self.order.enter(block_id.block_slot, block_id.number as u32) {
            let block_slot = block_id.block_slot as usize;
            if self.shared.len() <= block_slot {
                self.shared.resize_with(block_slot + 1, || None);
                self.unrecorded.resize_with(block_slot + 1, UnrecordedReads::default);
            }
            self.shared[block_slot] = None;
            self.unrecorded[block_slot].clear();
        }
        debug_assert!((block_id.block_slot as usize) < self.shared.len(), "a block in a block slot has a place for its shadow");
    }

    /// A block of the same cluster, which may not have done anything yet: they lie side by side.
    fn enter_peer(&mut self, BlockId { number, block_slot }: BlockId, peer: u32) {
        let number = (number + u64::from(peer)).saturating_sub(u64::from(block_slot));
        assert!(
            u64::from(block_slot.abs_diff(peer)) < u64::from(self.order.cluster()),
            "block slot {peer} is of another cluster than block slot {block_slot}"
        );
        self.enter(BlockId { number, block_slot: peer });
    }

    /// A strong access acquires the clocks of its locations, and releases to them.
    fn order_through(&mut self, owner: ShadowMemory, event: &AccessEvent<'_>) {
        let memory = if let ShadowMemory::Block(block_slot) = owner { block_slot + 1 } else { 0 };
        let (reads, writes) = (event.kind != AccessKind::Write, event.kind != AccessKind::Read);
        let scope = strength(&event.semantics).unwrap_or(Scope::Sys);
        let op = &self.program.code[event.place.pc.index()].op;
        let element = element_bytes(op, event.bytes);
        let how = Strong { reads, writes, is_reduction: op.is_reduction(), ordering: event.semantics.ordering, scope, bytes: element };
        self.note_signal(memory, event, (reads, writes), scope);
        let actor = actor(event.block_id, &event.place, event.lanes);
        self.order.release_acquire(actor, memory, event.addresses, how);
        for skip in (element..event.bytes).step_by(element as usize) {
            self.order.release_acquire(actor, memory, &event.addresses.map(|address| address + u64::from(skip)), how);
        }
    }

    /// A read observes a racing write: a `fence.sc` before the write precedes one after the read in Fence-SC order.
    fn order_racy_read(&mut self, block_slot: u32, access: &Access, conflict: &Conflict) {
        let are_threads = access.op.agent == Agent::Threads && conflict.first.op.agent == Agent::Threads;
        if conflict.is_read && are_threads {
            let actor = Actor { block_slot, warp: access.op.warp, lanes: conflict.second_lanes, tick: access.op.tick };
            self.order.read_after_fence(actor, &conflict.first.op, conflict.first_lanes.first());
        }
    }

    /// Remembers a strong access to one place, which may be a flag or a lock.
    fn note_signal(&mut self, memory: u32, event: &AccessEvent<'_>, (reads, writes): (bool, bool), scope: Scope) {
        let address = event.addresses[event.lanes.first()];
        if event.lanes.iter().any(|lane| event.addresses[lane] != address) {
            return;
        }
        let signal = SyncAccess::new((memory, address), event.block_id, &event.place, event.lanes, (event.semantics.ordering, scope));
        if reads {
            self.sync_accesses.note_read(signal);
        }
        if writes {
            self.sync_accesses.note_write(signal);
        }
    }

    /// A synchronization of threads.
    fn order(&mut self, event: &OrderEvent<'_>) {
        let OrderEvent { place, block_id, lanes, order } = *event;
        self.enter(block_id);
        let actor = actor(block_id, &place, lanes);
        if !self.unrecorded[block_id.block_slot as usize].is_empty() && self.may_order_some(block_id.block_slot, order) {
            self.record(block_id.block_slot);
        }
        match order {
            Order::Fence { kind, ordering, scope } => self.order.fence(actor, kind, ordering, scope),
            Order::Arrived { id, waits, .. } => self.order.arrive(actor, id, waits),
            Order::BarrierCompleted { id, .. } => {
                self.unrecorded[block_id.block_slot as usize].clear();
                self.order.complete_barrier(block_id.block_slot, id, place.tick);
            }
            Order::WarpSync { members } => self.order.sync_warp(actor, members),
            Order::Committed { bulk } => self.order.commit(actor, bulk),
            Order::Awaited(CopyWait { bulk, read, open, pending }) => {
                let kind = match (bulk, read) {
                    (false, _) => AsyncKind::Lane,
                    (true, false) => AsyncKind::Bulk,
                    (true, true) => AsyncKind::BulkRead,
                };
                if kind == AsyncKind::Lane {
                    let by = (block_id.number as u32, WarpId::new(place.warp.number()));
                    self.sync_accesses.note_wait(GroupWait { by, tick: place.tick, pc: place.pc, pending: if open { 0 } else { pending } });
                }
                self.order.wait(actor, kind, open, pending);
            }
            Order::ClusterArrived { relaxed, .. } => self.order.arrive_at_cluster(actor, relaxed),
            Order::ClusterWaits => self.order.wait_for_cluster(actor),
            Order::ClusterBarrierCompleted { .. } => self.order.complete_cluster_barrier(block_id.block_slot, block_id.number as u32),
            Order::Exited => {
                self.order.exit(actor);
                if self.order.cluster() > 1 {
                    self.leave(event);
                }
            }
            // A warp collective orders nothing.
            Order::Collective { .. } => {}
        }
    }
}

/// The lanes of a block that execute an instruction.
fn actor(block_id: BlockId, place: &IssuePoint, lanes: LaneMask) -> Actor {
    Actor { block_slot: block_id.block_slot, warp: WarpId::new(place.warp.number()), lanes, tick: place.tick }
}

/// The operation of lanes of a block at an instruction, or the one that they put in flight there.
fn operation(block_id: BlockId, place: &IssuePoint, lanes: LaneMask, (agent, action): (Agent, SideAction)) -> Operation {
    let only_reads = action == SideAction::Read;
    Operation { tick: place.tick, block: block_id.number as u32, warp: WarpId::new(place.warp.number()), lanes, agent, only_reads }
}

/// Bytes of the scalars that an instruction accesses, which accesses `bytes` bytes a lane (PTX ISA, "Vector Data-types").
fn element_bytes(op: &Op, bytes: u32) -> u32 {
    let bits = if let Op::Memory(MemoryOp::LoadVector { bits, .. } | MemoryOp::StoreVector { bits, .. }) = op {
        u32::from(*bits)
    } else if let Op::Atomic(AtomicOp::Vector { ty, .. }) = op {
        ty.bits()
    } else {
        return bytes;
    };
    assert!(bits >= 8 && bytes.is_multiple_of(bits / 8), "{bytes} bytes are elements of {bits} bits");
    bits / 8
}

/// The scope of a strong access (PTX ISA, "Strong operations"); none for a weak one.
fn strength(access: &program::Access) -> Option<Scope> {
    match access.ordering {
        Ordering::Weak => None,
        Ordering::Volatile | Ordering::Mmio => Some(Scope::Sys),
        _ if access.scope == Scope::None => Some(Scope::Gpu),
        Ordering::Relaxed | Ordering::Acquire | Ordering::Release | Ordering::AcqRel | Ordering::SeqCst => Some(access.scope),
    }
}
