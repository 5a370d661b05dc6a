//! Delayed recording of reads and atomics of shared memory.
//!
//! Most reads are plain, ordered after the writes of their bytes, and followed by a barrier of the whole block before any other access to
//! these bytes: then no later access races with them, and no record is needed. So they are left unrecorded until another access to the same
//! bytes, or a synchronization that may order some threads of the block and not others. So are relaxed atomics after a barrier of the block
//! that need no order among each other, as those of a histogram.

use super::access::AccessRef;
use super::unrecorded::UnrecordedAccess;
use super::{RaceChecker, ShadowMemory, element_bytes, strength};
use crate::base::WarpId;
use crate::isa::{Ordering, Space};
use crate::machine::{AccessEvent, AccessKind, CopyWait, Execution, IssuePoint, Proxy, SyncKind, Tick};

/// The largest range of addresses of a read that is checked as a whole, including bytes that no lane reads.
const MAX_SPAN: u64 = 512;

impl RaceChecker {
    /// Leaves an access unrecorded for now, if it is a plain read of shared memory ordered after the writes of its bytes, or a relaxed
    /// atomic ordered after all that is recorded. True if it does.
    pub(super) fn try_leave_unrecorded(&mut self, event: &AccessEvent<'_>) -> bool {
        if self.execution == Execution::Single
            || event.space != Space::Shared
            || event.proxy != Proxy::Generic
            || self.hb.cluster() > 1
            || !event.lockstep.is_empty()
        {
            return false;
        }
        match (event.kind, event.semantics.ordering) {
            (AccessKind::Read, Ordering::Weak) => self.try_leave_read(event),
            (AccessKind::Atomic, Ordering::Relaxed) => self.try_leave_atomic(event),
            (AccessKind::Read | AccessKind::Write | AccessKind::Atomic, _) => false,
        }
    }

    fn try_leave_atomic(&mut self, event: &AccessEvent<'_>) -> bool {
        let (block_slot, slot) = (event.block_id.block_slot, event.block_id.block_slot as usize);
        let is_ordered = self.is_ordered_after_recorded(block_slot);
        let span = event.max - event.min + u64::from(event.bytes);
        let atomic = strength(&event.semantics);
        if !is_ordered || atomic.is_none() {
            return false;
        }
        let unrecorded = &self.unrecorded[slot];
        if unrecorded.are_full() || !unrecorded.fit_atomic(event.bytes) || unrecorded.may_read(event.min, span) {
            self.record_unrecorded(block_slot);
            return false;
        }
        let access = UnrecordedAccess { atomic, ..self.unrecorded_access(event) };
        for other in self.unrecorded[slot].push(access, event.addresses, (event.min, span)) {
            self.unordered_accesses.add(*other, access.pc);
        }
        true
    }

    /// True if barriers order all threads of the block in `block_slot` after all that the shadow of its shared memory has.
    fn is_ordered_after_recorded(&self, block_slot: u32) -> bool {
        let is_before = |tick: Tick| self.hb.block(block_slot).is_some_and(|block| tick < block.all_before);
        self.newest[block_slot as usize].is_none_or(is_before)
    }

    fn unrecorded_access(&self, event: &AccessEvent<'_>) -> UnrecordedAccess {
        let element = element_bytes(&self.program.code[event.point.pc.index()].op, event.bytes);
        let (IssuePoint { tick, pc, .. }, warp) = (event.point, WarpId::new(event.point.warp.number()));
        UnrecordedAccess { tick, pc, warp, lanes: event.lanes, bytes: (event.bytes, element), atomic: None }
    }

    fn try_leave_read(&mut self, event: &AccessEvent<'_>) -> bool {
        let block_slot = event.block_id.block_slot as usize;
        let span = event.max - event.min + u64::from(event.bytes);
        if self.unrecorded[block_slot].may_change(event.min, span) {
            self.record_unrecorded(event.block_id.block_slot);
        }
        if !self.is_ordered_after_recorded(event.block_id.block_slot) && !self.is_ordered_after_writes(event, span) {
            return false;
        }
        if self.unrecorded[block_slot].are_full() {
            self.record_unrecorded(event.block_id.block_slot);
        }
        let access = self.unrecorded_access(event);
        self.unrecorded[block_slot].push(access, event.addresses, (event.min, span));
        true
    }

    /// True if a read of `span` bytes is ordered after the writes of the bytes that its lanes read.
    fn is_ordered_after_writes(&mut self, event: &AccessEvent<'_>, span: u64) -> bool {
        let (block_slot, bytes) = (event.block_id.block_slot, u64::from(event.bytes));
        let Self { hb, shared, shared_log: log, .. } = self;
        let (Some(shadow), Some(block)) = (&mut shared[block_slot as usize], hb.block(block_slot)) else { return false };
        let warp = WarpId::new(event.point.warp.number());
        let mut ordered = AccessRef::default();
        let mut is_ordered = |writes: AccessRef| {
            let is_before = writes == ordered || writes.is_single() && block.happens_before_all(warp, &log.get(writes).op);
            if is_before {
                ordered = writes;
            }
            is_before
        };
        let mut are_ordered = |address: u64, bytes: u64| {
            let (entries, looked_at) = shadow.around(address, bytes);
            looked_at == bytes && entries.iter().all(|entry| is_ordered(entry.writes))
        };
        // The bytes between the lanes are mostly ordered as those that they read.
        let is_span_ordered = span <= MAX_SPAN && are_ordered(event.min, span);
        is_span_ordered || event.lanes.iter().all(|lane| are_ordered(event.addresses[lane], bytes))
    }

    /// Records the unrecorded accesses of the shared memory of the block in `block_slot`.
    pub(super) fn record_unrecorded(&mut self, block_slot: u32) {
        let Some(unrecorded) = self.unrecorded.get_mut(block_slot as usize).filter(|accesses| !accesses.is_empty()) else { return };
        let accesses = unrecorded.take();
        let Some(number) = self.hb.block(block_slot).map(|block| block.number) else { return };
        for index in 0..accesses.len() {
            let (access, addresses) = accesses.access(index, number, &mut self.shared_log);
            self.check(ShadowMemory::Block(block_slot), block_slot, access, &addresses);
        }
    }

    /// True if a synchronization may order accesses of the block in `block_slot` before some of its threads and not before others.
    pub(super) fn may_order_partially(&self, block_slot: u32, kind: SyncKind) -> bool {
        match kind {
            SyncKind::Arrived { .. } | SyncKind::Committed { .. } | SyncKind::Collective { .. } => false,
            // Copies of single lanes do not read shared memory.
            SyncKind::Awaited(CopyWait { bulk, .. }) => bulk,
            SyncKind::BarrierCompleted { id, .. } => !self.hb.orders_whole_block(block_slot, id),
            SyncKind::Fence { .. }
            | SyncKind::WarpSync { .. }
            | SyncKind::ClusterArrived { .. }
            | SyncKind::ClusterWaits
            | SyncKind::ClusterBarrierCompleted { .. }
            | SyncKind::Exited => true,
        }
    }
}
