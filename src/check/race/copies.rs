//! Asynchronous copies and mbarriers (PTX ISA, "Asynchronous operations", "mbarrier").
//!
//! The reads and writes of a copy happen at its issue for the checker, whenever the machine moves the bytes.

use super::access::Access;
use super::advice::SyncAccess;
use super::detector::ConflictKind;
use super::lane_addresses::LaneAddresses;
use super::{RaceChecker, ShadowMemory, actor, operation};
use crate::check::finding::SideAction;
use crate::check::reporter::Reporter;
use crate::check::statement::is_same_line;
use crate::isa::{Ordering, Scope};
use crate::machine::{
    AsyncCopy, Contribution, CopyCompletion, CopyEvent, CopyKind, CopyStage, LaneMask, MbarrierChange, MbarrierEvent, MemoryAddress,
    MemoryOwner, Proxy,
};
use crate::order::{Agent, AsyncKind, MbarrierKey, MbarrierSemantics, Operation};

/// Bytes of an mbarrier.
const MBARRIER_BYTES: u32 = 8;

impl RaceChecker {
    /// An operation on an mbarrier.
    #[inline(never)]
    pub(super) fn mbarrier(&mut self, event: &MbarrierEvent, to: &mut Reporter<'_>) -> bool {
        let key = MbarrierKey { block_slot: event.block_slot, address: event.address };
        if let MbarrierChange::PhaseCompleted(phase) = event.change {
            self.hb.end_phase(key, phase);
            return false;
        }
        self.enter(event.block_id);
        self.record_unrecorded(event.block_id.block_slot);
        let actor = actor(event.block_id, &event.point, event.lanes);
        let semantics = MbarrierSemantics { ordering: event.semantics.ordering, scope: event.semantics.scope };
        let sync_access = mbarrier_access(event);
        let action = match event.change {
            MbarrierChange::Initialized(_) | MbarrierChange::Invalidated => {
                self.hb.reset_mbarrier(key);
                SideAction::Write
            }
            MbarrierChange::Contributed(Contribution::Arrived(_) | Contribution::Dropped(_)) => {
                self.hb.arrive_at_mbarrier(actor, key, event.phase, semantics);
                self.sync_accesses.add_write(sync_access);
                SideAction::Atomic
            }
            MbarrierChange::Tested { completed, .. } => {
                // What a wait acquires orders what follows it: it does not order the wait itself after the initialization.
                let found = self.access_mbarrier(event, SideAction::Read, to);
                if completed && self.result_uses.is_result_used(&self.program, event.point.pc) {
                    self.hb.wait_for_mbarrier(actor, key, semantics);
                    self.sync_accesses.add_read(sync_access);
                }
                return found;
            }
            MbarrierChange::Contributed(Contribution::ExpectTx(_) | Contribution::CompleteTx(_)) | MbarrierChange::PhaseCompleted(_) => {
                SideAction::Atomic
            }
        };
        self.access_mbarrier(event, action, to)
    }

    /// An operation accesses the bytes of the mbarrier: its initialization must be ordered before its uses.
    fn access_mbarrier(&mut self, event: &MbarrierEvent, action: SideAction, to: &mut Reporter<'_>) -> bool {
        let block_slot = event.block_id.block_slot;
        let access = Access {
            op: operation(event.block_id, &event.point, event.lanes, (Agent::Threads, action)),
            pc: event.point.pc,
            action,
            is_mbarrier: true,
            strong: (action != SideAction::Write).then_some(Scope::Sys),
            is_relaxed: false,
            proxy: Proxy::Generic,
            bytes: MBARRIER_BYTES,
            element: MBARRIER_BYTES,
            lane_addresses: LaneAddresses::All,
            copy: 0,
        };
        let memory = ShadowMemory::Block(event.block_slot);
        self.with_detector(memory, block_slot, access, |detector, shadow| {
            detector.compare_range(shadow, u64::from(event.address), u64::from(MBARRIER_BYTES));
        });
        self.report(memory, block_slot, &access, to)
    }

    /// A copy is issued, reads, or ends.
    #[inline(never)]
    pub(super) fn copy(&mut self, event: &CopyEvent<'_>, to: &mut Reporter<'_>) -> bool {
        let copy = event.copy;
        match event.stage {
            CopyStage::Issued => {
                self.replaced_digests.extend(event.replaces.map(|digest| (copy.id, digest)));
                self.issue(copy, to)
            }
            CopyStage::Read => false,
            CopyStage::Ended => {
                self.end_copy(copy, event.lanes);
                false
            }
        }
    }

    fn issue(&mut self, copy: &AsyncCopy, to: &mut Reporter<'_>) -> bool {
        assert!(!copy.lanes.is_empty(), "copy #{} is issued by some lane", copy.id);
        self.enter(copy.block_id);
        let block_slot = copy.block_id.block_slot;
        let agent = match copy.completion {
            CopyCompletion::Group { bulk, .. } => Agent::Async(if bulk { AsyncKind::Bulk } else { AsyncKind::CpAsync }),
            CopyCompletion::Mbarrier { .. } => self.hb.issue_copy(actor(copy.block_id, &copy.issued, copy.lanes), copy.id),
        };
        let op = operation(copy.block_id, &copy.issued, copy.lanes, (agent, SideAction::Read));
        let access = Access {
            proxy: if matches!(copy.kind, CopyKind::Bulk { .. } | CopyKind::Tensor(_)) { Proxy::Async } else { Proxy::Generic },
            copy: copy.id,
            ..Access::plain(op, (copy.issued.pc, SideAction::Read), 0, LaneAddresses::All)
        };
        let mut found = self.access_all(copy, block_slot, access, to);
        let (action, strong) = if is_reduction(copy) { (SideAction::Atomic, Some(Scope::Gpu)) } else { (SideAction::Write, None) };
        let op = Operation { only_reads: false, ..access.op };
        found |= self.access_all(copy, block_slot, Access { op, action, strong, ..access }, to);
        found
    }

    /// Checks all reads of a copy, or all its writes.
    fn access_all(&mut self, copy: &AsyncCopy, block_slot: u32, access: Access, to: &mut Reporter<'_>) -> bool {
        if let CopyKind::CpAsync(copies) = &copy.kind {
            let (memory, addresses, bytes) = match access.action {
                SideAction::Read => (ShadowMemory::Global, copies.from, u32::from(*copies.source_sizes.iter().max().unwrap_or(&0))),
                SideAction::Write | SideAction::Atomic | SideAction::Synchronize | SideAction::Use | SideAction::Exit => {
                    (owner_of(copies.owner), copies.to.map(u64::from), copies.bytes)
                }
            };
            let lanes =
                if access.action == SideAction::Read { copy.lanes.filter(|lane| copies.source_sizes[lane] > 0) } else { copy.lanes };
            if lanes.is_empty() {
                return false;
            }
            let access = Access { op: Operation { lanes, ..access.op }, bytes, element: bytes, ..access };
            if access.action == SideAction::Read && self.is_copy_left_to_read_only(&access, &addresses) {
                return false;
            }
            let access = Access { lane_addresses: self.lane_addresses(memory, lanes, &addresses), ..access };
            self.check(memory, block_slot, access, &addresses);
            return self.report(memory, block_slot, &access, to);
        }
        let mut ranges: Vec<(MemoryAddress, u64)> = Vec::new();
        let visit = |at: MemoryAddress, bytes: u64| match ranges.last_mut() {
            Some((last, length)) if last.owner == at.owner && last.address + *length == at.address => *length += bytes,
            _ => ranges.push((at, bytes)),
        };
        match access.action {
            SideAction::Read => copy.kind.visit_reads(copy.lanes, visit),
            SideAction::Write | SideAction::Atomic | SideAction::Synchronize | SideAction::Use | SideAction::Exit => {
                copy.kind.visit_writes(copy.lanes, visit);
            }
        }
        let Some(memory) = ranges.first().map(|(at, _)| owner_of(at.owner)) else { return false };
        let bytes = ranges.iter().map(|(_, bytes)| *bytes as u32).sum();
        let access = Access { bytes, element: bytes, ..access };
        if access.action != SideAction::Read && memory == ShadowMemory::Global {
            ranges.iter().for_each(|(at, bytes)| self.end_read_only(&(at.address..at.address + bytes)));
        }
        self.with_detector(memory, block_slot, access, |detector, shadow| {
            ranges.iter().for_each(|(at, bytes)| detector.compare_range(shadow, at.address, *bytes));
        });
        self.compare_copies(&access);
        self.report(memory, block_slot, &access, to)
    }

    /// Marks the conflicts of copies of one source line that write equal values to the same bytes of global memory.
    fn compare_copies(&mut self, access: &Access) {
        let Self { program, conflicts, replaced_digests, .. } = self;
        let Some(digest) = replaced_digests.get(&access.copy).filter(|_| access.action == SideAction::Write) else { return };
        let is_same = |first: &Access| {
            let is_write = first.action == SideAction::Write && first.copy != 0;
            is_write && replaced_digests.get(&first.copy) == Some(digest) && is_same_line(program, first.pc, access.pc)
        };
        let unordered = conflicts.iter_mut().filter(|conflict| conflict.kind == ConflictKind::Unordered);
        unordered.filter(|conflict| is_same(&conflict.first)).for_each(|conflict| conflict.kind = ConflictKind::SameValue);
    }

    fn end_copy(&mut self, copy: &AsyncCopy, lanes: LaneMask) {
        if let CopyCompletion::Mbarrier { owner: MemoryOwner::Block { block_slot, .. }, address, .. } = copy.completion {
            let arrival = matches!(copy.kind, CopyKind::CpAsyncArrive).then_some(lanes);
            self.hb.end_copy(copy.id, MbarrierKey { block_slot, address }, arrival);
        }
    }
}

/// An operation on an mbarrier as a synchronizing access. Without a scope it has that of the cluster, and without semantics an arrival
/// releases and a wait acquires (PTX ISA, "mbarrier.arrive", "mbarrier.try_wait").
fn mbarrier_access(event: &MbarrierEvent) -> SyncAccess {
    let at = (event.block_slot + 1, u64::from(event.address));
    let ordering = if event.semantics.ordering == Ordering::Weak { Ordering::AcqRel } else { event.semantics.ordering };
    let semantics = (ordering, event.semantics.scope);
    SyncAccess { phase: Some(event.phase), ..SyncAccess::new(at, event.block_id, &event.point, event.lanes, semantics) }
}

fn is_reduction(copy: &AsyncCopy) -> bool {
    match &copy.kind {
        CopyKind::Bulk { reduction, .. } => reduction.is_some(),
        CopyKind::StAsync { reduction, .. } => reduction.is_some(),
        CopyKind::Tensor(copy) => !copy.replaces(),
        CopyKind::CpAsync(_) | CopyKind::CpAsyncArrive => false,
    }
}

fn owner_of(owner: MemoryOwner) -> ShadowMemory {
    match owner {
        MemoryOwner::Global => ShadowMemory::Global,
        MemoryOwner::Block { block_slot, .. } => ShadowMemory::Block(block_slot),
    }
}
