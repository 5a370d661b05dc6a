//! Turns conflicts into findings.

use std::ops::Range;

use super::access::Access;
use super::advice::Language;
use super::cause;
use super::detector::{Conflict, ConflictKind};
use super::exemption::Exemption;
use super::why::{WHY_REORDERED, why};
use super::{RaceChecker, ShadowMemory};
use crate::base::Severity;
use crate::check::catalogue::FindingId;
use crate::check::conflict_bytes::ConflictBytes;
use crate::check::finding::{Finding, MemoryRange, Pair, PathStep, Side, SideAction, ThreadDistance};
use crate::check::race::catalogue::{
    RACE_ASYNC_COPY, RACE_GLOBAL, RACE_LOCKSTEP, RACE_MIXED_ATOMIC, RACE_PROXY, RACE_SAME_VALUE, RACE_SCOPE, RACE_SHARED_RAW,
    RACE_SHARED_WAR, RACE_SHARED_WAW, RACE_UNORDERED, RACE_WGMMA,
};
use crate::check::reachability::BarrierKind;
use crate::check::remedy::Advice;
use crate::check::reporter::Reporter;
use crate::isa::{Scope, Space};
use crate::machine::{LaneMask, Proxy, Tick};
use crate::order::{Agent, AsyncKind, scope_of};

/// The relation of the two sides of a race.
#[derive(Clone, Copy)]
pub(super) struct Relation {
    /// Their distance: the level of the thread hierarchy that they share.
    pub distance: ThreadDistance,
    /// True if both are strong, but of different sizes.
    pub sizes_differ: bool,
    /// The iterations of a loop in which they race.
    pub iterations: LoopIterations,
    /// True if the block has one warp only.
    pub is_lone_warp: bool,
}

/// The iterations of a loop in which an unordered read and write race.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LoopIterations {
    /// In the same iteration, or not in a loop.
    Same,
    /// The read of one iteration with the write of the next.
    Next,
    /// Both.
    Both,
}

impl RaceChecker {
    /// Reports the conflicts of an access of the block in `block_slot`. True if there is a new finding among them.
    pub(super) fn report(&mut self, memory: ShadowMemory, block_slot: u32, access: &Access, to: &mut Reporter<'_>) -> bool {
        if self.conflicts.is_empty() {
            return false;
        }
        // A racy read may order some threads.
        self.record_unrecorded(block_slot);
        let new = self.report_conflicts(memory, block_slot, access, to);
        if self.log_of(memory).is_full() {
            self.sweep(memory);
        }
        new
    }

    fn report_conflicts(&mut self, memory: ShadowMemory, block_slot: u32, access: &Access, to: &mut Reporter<'_>) -> bool {
        let mut new = false;
        for mut conflict in std::mem::take(&mut self.conflicts) {
            self.order_racy_read(block_slot, access, &conflict);
            if conflict.kind == ConflictKind::SameValue && self.is_lost_update(&conflict.first, access) {
                conflict.kind = ConflictKind::Unordered;
            }
            let is_reordered = conflict.kind == ConflictKind::Lockstep && self.may_be_reordered(&conflict.first, access);
            if is_reordered {
                conflict.kind = ConflictKind::Unordered;
            } else if conflict.kind == ConflictKind::Lockstep && std::mem::replace(&mut self.is_lockstep_reported, true) {
                continue;
            }
            if is_mbarrier_overlap(&conflict.first, access) || is_mbarrier_overlap(access, &conflict.first) {
                // A plain access to the bytes of an mbarrier in use is a finding of its own, whether ordered or not.
                continue;
            }
            if conflict.kind == ConflictKind::RelaxedPair && !self.is_order_observable(&conflict.first, access) {
                continue;
            }
            assert!(conflict.first.op.tick <= access.op.tick, "a race is with what came before");
            assert!(!conflict.first_lanes.is_empty() && !conflict.second_lanes.is_empty(), "a race is of some lanes");
            let id = self.finding_id(memory, block_slot, access, &conflict);
            let (first, second) = (self.side(&conflict.first, conflict.first_lanes), self.side(access, conflict.second_lanes));
            let distance = self.distance(&conflict.first, access);
            let conflict_bytes = self.bytes_of_both(memory, &conflict, access);
            let ignored = self.ignored(id, memory, (&conflict, access), &conflict_bytes);
            let exemption = ignored.or_else(|| self.exemption(id, &conflict.first, access));
            let exemption = exemption.or_else(|| self.unused(memory, &conflict, access));
            let severity = if exemption.is_some() { Severity::Note } else { id.severity() };
            if to.findings.count_race_again(Pair::new(id, to.launch, Some(&first), &second), severity, distance, &conflict_bytes) {
                continue;
            }
            let relation = self.relation(id, distance, &conflict.first, access);
            let language = Language::of(&self.program, access.pc);
            let (why, advice) = match exemption {
                Some(exemption) => (exemption.why().to_string(), Advice::text_only(exemption.fix())),
                None if is_reordered => (WHY_REORDERED.to_string(), self.fix(id, relation, block_slot, &conflict, access)),
                None => (why(id, language, relation, &conflict, access), self.fix(id, relation, block_slot, &conflict, access)),
            };
            let finding = Finding {
                id,
                severity,
                launch: to.launch,
                memory: Some(self.memory_range(memory, &conflict, access)),
                conflict_bytes,
                why,
                fix: advice.text,
                candidates: advice.candidates,
                path: self.path(block_slot, &first, &second, &conflict.first, access),
                first: Some(first),
                second,
                count: 1,
                distance: Some(distance),
            };
            if conflict.kind == ConflictKind::RelaxedPair {
                self.unordered.defer((access.op.block, conflict.address), finding);
                continue;
            }
            let (program, reachability) = (&self.program, &mut self.reachability);
            new |= to.findings.report_unless(finding, |earlier, finding| cause::is_same(program, reachability, earlier, finding));
        }
        new
    }

    fn finding_id(&mut self, memory: ShadowMemory, block_slot: u32, access: &Access, conflict: &Conflict) -> FindingId {
        let first = &conflict.first;
        let is = |test: fn(&Access) -> bool| test(first) || test(access);
        match conflict.kind {
            ConflictKind::SameValue => return RACE_SAME_VALUE,
            ConflictKind::RelaxedPair => return RACE_UNORDERED,
            ConflictKind::Lockstep => return RACE_LOCKSTEP,
            ConflictKind::Unfenced => return RACE_PROXY,
            // The memory model does not cover these proxies: only the end of the launch orders them.
            ConflictKind::Unordered if is(|access| matches!(access.proxy, Proxy::ReadOnly | Proxy::Surface)) => return RACE_PROXY,
            ConflictKind::Unordered => {}
        }
        if is(|access| access.op.agent == Agent::Async(AsyncKind::Wgmma)) {
            return RACE_WGMMA;
        }
        if is(|access| access.copy != 0) {
            return RACE_ASYNC_COPY;
        }
        if self.scope_is_too_narrow(first, access) || self.is_ordered_by_wider_scope(block_slot, conflict, access) {
            return RACE_SCOPE;
        }
        let on_mbarrier = uses_mbarrier(first) || uses_mbarrier(access);
        if is(|access| access.action == SideAction::Atomic) && is(|access| access.strong.is_none()) && !on_mbarrier {
            return RACE_MIXED_ATOMIC;
        }
        match memory {
            ShadowMemory::Global => RACE_GLOBAL,
            ShadowMemory::Block(_) => self.hazard(first, access),
        }
    }

    /// Read after write, write after read, or write after write. The order in this run is chance: the hazard follows from the path from one
    /// to the other without a barrier; if there are none or both, from their order in the control flow. Lanes of one warp run together: of
    /// paths that a loop closes, they took the one of this run.
    fn hazard(&mut self, a: &Access, b: &Access) -> FindingId {
        let Some((read, write)) = self.read_and_write(a, b) else { return RACE_SHARED_WAW };
        for barrier_kind in [BarrierKind::Any, BarrierKind::BlockWide] {
            let mut reaches =
                |from: &Access, to: &Access| self.reachability.reaches_without_barrier(&self.program, from.pc, to.pc, barrier_kind);
            match (reaches(write, read), reaches(read, write)) {
                (true, false) => return RACE_SHARED_RAW,
                (false, true) => return RACE_SHARED_WAR,
                (true, true) if a.op.agent == b.op.agent && (a.op.block, a.op.warp) == (b.op.block, b.op.warp) => {
                    return if std::ptr::eq(write, a) { RACE_SHARED_RAW } else { RACE_SHARED_WAR };
                }
                (true, true) | (false, false) => {}
            }
        }
        let mut flows = |from: &Access, to: &Access| self.reachability.reaches_without_back_edge(&self.program, from.pc, to.pc);
        if flows(read, write) && !flows(write, read) { RACE_SHARED_WAR } else { RACE_SHARED_RAW }
    }

    /// The access that reads and the one that writes; none if both write.
    fn read_and_write<'a>(&self, a: &'a Access, b: &'a Access) -> Option<(&'a Access, &'a Access)> {
        let reads = |access: &Access| access.action == SideAction::Read || uses_mbarrier(access);
        match (reads(a), reads(b)) {
            (true, _) => Some((a, b)),
            (_, true) => Some((b, a)),
            (false, false) => None,
        }
    }

    /// The iterations of a loop in which a read and a write of shared memory race.
    fn loop_iterations(&mut self, id: FindingId, distance: ThreadDistance, a: &Access, b: &Access) -> LoopIterations {
        let shared = (id == RACE_SHARED_RAW || id == RACE_SHARED_WAR) && distance <= ThreadDistance::Block;
        let Some((read, write)) = self.read_and_write(a, b).filter(|_| shared) else { return LoopIterations::Same };
        let barrier_kind = if distance <= ThreadDistance::Warp { BarrierKind::Any } else { BarrierKind::BlockWide };
        let mut reaches =
            |from: &Access, to: &Access| self.reachability.reaches_without_barrier(&self.program, from.pc, to.pc, barrier_kind);
        match (reaches(write, read), reaches(read, write)) {
            (true, true) => LoopIterations::Both,
            (false, true) if !self.reachability.reaches_without_back_edge(&self.program, read.pc, write.pc) => LoopIterations::Next,
            _ => LoopIterations::Same,
        }
    }

    fn scope_is_too_narrow(&self, a: &Access, b: &Access) -> bool {
        let (Some(x), Some(y)) = (a.strong, b.strong) else { return false };
        x.min(y) < scope_of(a.op.block, b.op.block, self.hb.cluster())
    }

    /// True if the two sides would be ordered if all scopes were as wide as the grid.
    fn is_ordered_by_wider_scope(&self, block_slot: u32, conflict: &Conflict, access: &Access) -> bool {
        let Some(block) = self.hb.block(block_slot) else { return false };
        let out_of_scope = &block.warps[access.op.warp].out_of_scope;
        let first = &conflict.first;
        out_of_scope.iter().filter(|(lanes, _)| lanes.intersects(conflict.second_lanes)).any(|(_, clock)| {
            clock.get(first.op.block).is_some_and(|clock| clock.synchronous.tick_of(first.op.warp, conflict.first_lanes) > first.op.tick)
        })
    }

    fn relation(&mut self, id: FindingId, distance: ThreadDistance, a: &Access, b: &Access) -> Relation {
        let sizes_differ = a.strong.is_some() && b.strong.is_some() && a.bytes != b.bytes;
        Relation { distance, sizes_differ, iterations: self.loop_iterations(id, distance, a, b), is_lone_warp: self.hb.warps() == 1 }
    }

    fn distance(&self, a: &Access, b: &Access) -> ThreadDistance {
        match scope_of(a.op.block, b.op.block, self.hb.cluster()) {
            Scope::Cta if (a.op.tick, a.pc, a.op.warp) == (b.op.tick, b.pc, b.op.warp) => ThreadDistance::Instruction,
            Scope::Cta if a.op.warp == b.op.warp => ThreadDistance::Warp,
            Scope::Cta | Scope::None => ThreadDistance::Block,
            Scope::Cluster => ThreadDistance::Cluster,
            Scope::Gpu | Scope::Sys => ThreadDistance::Grid,
        }
    }

    pub(super) fn side(&self, access: &Access, lanes: LaneMask) -> Side {
        access.side(lanes, self.block_index(access.op.block))
    }

    /// The index of a block in the grid.
    pub(super) fn block_index(&self, number: u32) -> [u32; 3] {
        self.prepared.as_ref().map_or([0; 3], |prepared| prepared.block_index(u64::from(number)))
    }

    /// The index in the grid of the block in `block_slot`.
    pub(super) fn index_of_resident(&self, block_slot: u32) -> [u32; 3] {
        self.hb.block(block_slot).map_or([0; 3], |block| self.block_index(block.number))
    }

    /// The bytes that different threads of both accesses accessed: those of the conflict, and of other lanes.
    fn bytes_of_both(&self, memory: ShadowMemory, conflict: &Conflict, access: &Access) -> ConflictBytes {
        let log = if memory == ShadowMemory::Global { &self.log } else { &self.shared_log };
        let first = &conflict.first;
        let bytes = u64::from(first.bytes.min(access.bytes).clamp(1, 16));
        let mut conflict_bytes = ConflictBytes::of(conflict.address..conflict.address.saturating_add(bytes));
        let same_warp = (first.op.block, first.op.warp, first.op.agent) == (access.op.block, access.op.warp, access.op.agent);
        for lane in access.op.lanes.iter() {
            let Some(address) = access.lane_addresses.address(lane, log) else { break };
            let others = first.lanes_at(address, log);
            let is_shared = if same_warp { !others.without(LaneMask::of(lane)).is_empty() } else { !others.is_empty() };
            if is_shared {
                conflict_bytes.add(address..address.saturating_add(u64::from(access.bytes.max(1))));
            }
        }
        conflict_bytes
    }

    /// [`Exemption::Ignored`] if all bytes of the conflict are ones that `expect_ignoring` names, and neither side reads them: a value that
    /// is read may affect others.
    fn ignored(
        &mut self,
        id: FindingId,
        memory: ShadowMemory,
        (conflict, access): (&Conflict, &Access),
        conflict_bytes: &ConflictBytes,
    ) -> Option<Exemption> {
        let are_writes = conflict.first.action == SideAction::Write && access.action == SideAction::Write;
        if self.ignored.is_empty() || memory != ShadowMemory::Global || id.severity() == Severity::Note || !are_writes {
            return None;
        }
        let bytes = conflict.address..conflict.address.saturating_add(conflict.first.bytes.min(access.bytes).into());
        let is_ignored = |range: &Range<u64>| self.ignored.iter().any(|all| all.start <= range.start && range.end <= all.end);
        let are_all = !conflict_bytes.ranges().is_empty() && [&bytes].into_iter().chain(conflict_bytes.ranges()).all(is_ignored);
        if are_all {
            self.unordered_accesses.ignored.get_or_insert(access.pc);
        }
        are_all.then_some(Exemption::Ignored)
    }

    fn memory_range(&self, memory: ShadowMemory, conflict: &Conflict, access: &Access) -> MemoryRange {
        let bytes = conflict.first.bytes.min(access.bytes).min(16);
        let address = conflict.address;
        match memory {
            ShadowMemory::Global => MemoryRange { space: Space::Global, block: [0; 3], address, bytes },
            ShadowMemory::Block(block_slot) => {
                let block = self.index_of_resident(block_slot);
                MemoryRange { space: Space::Shared, block, address, bytes }
            }
        }
    }

    /// The synchronization between the two sides, and the missing steps.
    fn path(&self, block_slot: u32, first: &Side, second: &Side, a: &Access, b: &Access) -> Vec<PathStep> {
        let in_flight = |side: &Side| self.program.code[side.point.pc.index()].op.in_flight_noun();
        let step = |side: &Side| PathStep { point: Some(side.point), text: format!("{} {}", actor(side, in_flight(side)), action(side)) };
        let mut path = vec![step(first)];
        if let Some(block) = self.hb.block(block_slot)
            && a.op.block == b.op.block
        {
            let warp = &block.warps[b.op.warp];
            let barrier_text = |what: &str, tick: Tick| match tick {
                Tick::START => format!("{what} have not met at a barrier yet"),
                tick => format!("{what} last met at a barrier at time {}, which orders only what came before", tick - 1),
            };
            path.push(PathStep { point: None, text: barrier_text("all threads of the block", block.all_before) });
            if a.op.warp == b.op.warp && warp.warp_before > block.all_before {
                path.push(PathStep { point: None, text: barrier_text("the lanes of the warp", warp.warp_before) });
            }
        } else if a.op.block != b.op.block {
            path.push(PathStep {
                point: None,
                text: "nothing that the first thread released reached the second one in a scope that holds both".into(),
            });
        }
        path.push(step(second));
        path
    }
}

/// True if `one` uses an initialized mbarrier, and `other` is no mbarrier operation.
fn is_mbarrier_overlap(one: &Access, other: &Access) -> bool {
    uses_mbarrier(one) && !other.is_mbarrier
}

/// True if an access is an operation on an mbarrier that must be initialized.
pub(super) fn uses_mbarrier(access: &Access) -> bool {
    access.is_mbarrier && access.action != SideAction::Write
}

fn actor(side: &Side, in_flight: &str) -> String {
    let lanes = if side.lanes.count() == 1 { format!("lane {}", side.lanes.first()) } else { format!("{} lanes", side.lanes.count()) };
    let [x, y, z] = side.point.block;
    match side.copy {
        Some(copy) => format!("{in_flight} #{copy}, issued by block ({x},{y},{z}) warp {} {lanes},", side.point.warp),
        None => format!("block ({x},{y},{z}) warp {} {lanes}", side.point.warp),
    }
}

fn action(side: &Side) -> &'static str {
    match side.action {
        SideAction::Read => "reads",
        SideAction::Write => "writes",
        SideAction::Atomic => "reads and writes atomically",
        SideAction::Synchronize => "synchronizes",
        SideAction::Use => "uses it",
        SideAction::Exit => "exits",
    }
}
