//! Asynchronous copies and mbarriers (PTX ISA, "Asynchronous operations", "mbarrier").
//!
//! The reads and writes of a copy count from the moment it was issued, whenever the machine moves the bytes.

use super::access::Access;
use super::advice::SyncAccess;
use super::detector::ConflictKind;
use super::lane_addresses::LaneAddresses;
use super::{Race, ShadowMemory, actor, operation};
use crate::check::finding::SideAction;
use crate::check::reporter::Reporter;
use crate::check::statement::is_same_line;
use crate::isa::{Ordering, Scope};
use crate::machine::{
    AsyncCopy, Contribution, CopyCompletion, CopyEvent, CopyKind, CopyStage, Destination, LaneMask, MbarrierChange, MbarrierEvent,
    MemoryOwner, Proxy,
};
use crate::order::{Agent, AsyncKind, ObjectKey, ObjectUse, Operation};

/// Bytes of an mbarrier.
const OBJECT_BYTES: u32 = 8;

impl Race {
    /// An operation on an mbarrier.
    pub(super) fn mbarrier(&mut self, event: &MbarrierEvent, to: &mut Reporter<'_>) -> bool {
        let key = ObjectKey { block_slot: event.block_slot, address: event.address };
        if let MbarrierChange::Ended(phase) = event.change {
            self.order.end_phase(key, phase);
            return false;
        }
        self.enter(event.block_id);
        self.record(event.block_id.block_slot);
        let actor = actor(event.block_id, &event.place, event.lanes);
        let how = ObjectUse { ordering: event.semantics.ordering, scope: event.semantics.scope };
        let signal = object_signal(event);
        let action = match event.change {
            MbarrierChange::Made(_) | MbarrierChange::Invalidated => {
                self.order.reset_object(key);
                SideAction::Write
            }
            MbarrierChange::Contributed(Contribution::Arrived(_) | Contribution::Dropped(_)) => {
                self.order.arrive_at_object(actor, key, event.phase, how);
                self.sync_accesses.note_write(signal);
                SideAction::Atomic
            }
            MbarrierChange::Tested { ended: true, .. } if self.result_uses.is_result_used(&self.program, event.place.pc) => {
                self.order.wait_for_object(actor, key, how);
                self.sync_accesses.note_read(signal);
                SideAction::Read
            }
            MbarrierChange::Tested { .. } => SideAction::Read,
            MbarrierChange::Contributed(Contribution::ExpectTx(_) | Contribution::CompleteTx(_)) | MbarrierChange::Ended(_) => {
                SideAction::Atomic
            }
        };
        self.touch_object(event, action, to)
    }

    /// The object's bytes are memory as well: its initialization must be ordered before its uses.
    fn touch_object(&mut self, event: &MbarrierEvent, action: SideAction, to: &mut Reporter<'_>) -> bool {
        let block_slot = event.block_id.block_slot;
        let access = Access {
            op: operation(event.block_id, &event.place, event.lanes, (Agent::Threads, action)),
            pc: event.place.pc,
            action,
            is_mbarrier: true,
            strong: (action != SideAction::Write).then_some(Scope::Sys),
            is_relaxed: false,
            proxy: Proxy::Generic,
            bytes: OBJECT_BYTES,
            element: OBJECT_BYTES,
            lane_addresses: LaneAddresses::All,
            copy: 0,
        };
        let owner = ShadowMemory::Block(event.block_slot);
        self.with_detector(owner, block_slot, access, |detector, shadow| {
            detector.range(shadow, u64::from(event.address), u64::from(OBJECT_BYTES));
        });
        self.report(owner, block_slot, &access, to)
    }

    /// A copy is issued, reads, or ends.
    pub(super) fn copy(&mut self, event: &CopyEvent<'_>, to: &mut Reporter<'_>) -> bool {
        let copy = event.copy;
        match event.stage {
            CopyStage::Issued => {
                self.replaced.extend(event.replaces.map(|digest| (copy.id, digest)));
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
        let agent = match copy.ends {
            CopyCompletion::Group { bulk, .. } => Agent::Async(if bulk { AsyncKind::Bulk } else { AsyncKind::Lane }),
            CopyCompletion::Mbarrier { .. } => self.order.issue_copy(actor(copy.block_id, &copy.issued, copy.lanes), copy.id),
        };
        let access = Access {
            op: operation(copy.block_id, &copy.issued, copy.lanes, (agent, SideAction::Read)),
            pc: copy.issued.pc,
            action: SideAction::Read,
            is_mbarrier: false,
            strong: None,
            is_relaxed: false,
            proxy: if matches!(copy.work, CopyKind::Bulk { .. } | CopyKind::Tensor(_)) { Proxy::Async } else { Proxy::Generic },
            bytes: 0,
            element: 0,
            lane_addresses: LaneAddresses::All,
            copy: copy.id,
        };
        let mut found = self.touch_all(copy, block_slot, access, to);
        let (action, strong) = if is_reduction(copy) { (SideAction::Atomic, Some(Scope::Gpu)) } else { (SideAction::Write, None) };
        let op = Operation { only_reads: false, ..access.op };
        found |= self.touch_all(copy, block_slot, Access { op, action, strong, ..access }, to);
        found
    }

    /// Judges all that a copy reads, or all that it writes.
    fn touch_all(&mut self, copy: &AsyncCopy, block_slot: u32, access: Access, to: &mut Reporter<'_>) -> bool {
        if let CopyKind::CpAsync(copies) = &copy.work {
            let (owner, addresses, bytes) = match access.action {
                SideAction::Read => (ShadowMemory::Global, copies.from, u32::from(*copies.kept.iter().max().unwrap_or(&0))),
                SideAction::Write | SideAction::Atomic | SideAction::Synchronize | SideAction::Use | SideAction::Exit => {
                    (owner_of(copies.owner), copies.to.map(u64::from), copies.bytes)
                }
            };
            let lanes = if access.action == SideAction::Read { copy.lanes.filter(|lane| copies.kept[lane] > 0) } else { copy.lanes };
            if lanes.is_empty() {
                return false;
            }
            let access = Access {
                op: Operation { lanes, ..access.op },
                bytes,
                element: bytes,
                lane_addresses: self.lane_addresses(owner, lanes, &addresses),
                ..access
            };
            self.check(owner, block_slot, access, &addresses);
            return self.report(owner, block_slot, &access, to);
        }
        let mut ranges: Vec<(Destination, u64)> = Vec::new();
        let visit = |at: Destination, bytes: u64| match ranges.last_mut() {
            Some((last, length)) if last.owner == at.owner && last.address + *length == at.address => *length += bytes,
            _ => ranges.push((at, bytes)),
        };
        match access.action {
            SideAction::Read => copy.work.reads(copy.lanes, visit),
            SideAction::Write | SideAction::Atomic | SideAction::Synchronize | SideAction::Use | SideAction::Exit => {
                copy.work.writes(copy.lanes, visit);
            }
        }
        let Some(owner) = ranges.first().map(|(at, _)| owner_of(at.owner)) else { return false };
        let bytes = ranges.iter().map(|(_, bytes)| *bytes as u32).sum();
        let access = Access { bytes, element: bytes, ..access };
        self.with_detector(owner, block_slot, access, |detector, shadow| {
            ranges.iter().for_each(|(at, bytes)| detector.range(shadow, at.address, *bytes));
        });
        self.compare_copies(&access);
        self.report(owner, block_slot, &access, to)
    }

    /// Finds the conflicts of copies of one statement of the source that replace the same bytes of global memory by the same.
    fn compare_copies(&mut self, access: &Access) {
        let Self { program, conflicts, replaced, .. } = self;
        let Some(digest) = replaced.get(&access.copy).filter(|_| access.action == SideAction::Write) else { return };
        let is_same = |first: &Access| {
            let is_write = first.action == SideAction::Write && first.copy != 0;
            is_write && replaced.get(&first.copy) == Some(digest) && is_same_line(program, first.pc, access.pc)
        };
        let unordered = conflicts.iter_mut().filter(|conflict| conflict.kind == ConflictKind::Unordered);
        unordered.filter(|conflict| is_same(&conflict.first)).for_each(|conflict| conflict.kind = ConflictKind::SameValue);
    }

    fn end_copy(&mut self, copy: &AsyncCopy, lanes: LaneMask) {
        if let CopyCompletion::Mbarrier { owner: MemoryOwner::Block { block_slot, .. }, address, .. } = copy.ends {
            let arrival = matches!(copy.work, CopyKind::CpAsyncArrive).then_some(lanes);
            self.order.end_copy(copy.id, ObjectKey { block_slot, address }, arrival);
        }
    }
}

/// An operation on an mbarrier as what may synchronize. One without a scope has the cluster's, and one without semantics releases
/// where it arrives and acquires where it waits (PTX ISA, "mbarrier.arrive", "mbarrier.try_wait").
fn object_signal(event: &MbarrierEvent) -> SyncAccess {
    let at = (event.block_slot + 1, u64::from(event.address));
    let ordering = if event.semantics.ordering == Ordering::Weak { Ordering::AcqRel } else { event.semantics.ordering };
    let how = (ordering, event.semantics.scope);
    SyncAccess { phase: Some(event.phase), ..SyncAccess::new(at, event.block_id, &event.place, event.lanes, how) }
}

fn is_reduction(copy: &AsyncCopy) -> bool {
    match &copy.work {
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
