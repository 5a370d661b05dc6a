//! When reads of shared memory are recorded.
//!
//! Most of them are plain, ordered after what they read, and followed by a barrier of the whole block before anything else touches the
//! place: then no later access races with them, and a record of them is of no use. So they are kept aside, and recorded only where
//! something else comes first: another access to the same place, or anything that may order some threads and not others.

use super::access::Ref;
use super::unrecorded::UnrecordedRead;
use super::{Race, ShadowMemory, element_bytes};
use crate::base::WarpId;
use crate::isa::{Ordering, Space};
use crate::machine::{AccessEvent, AccessKind, CopyWait, IssuePoint, Order, Proxy};

/// Bytes between the first and the last byte of a read up to which all of them are looked at, whether a lane reads them or not.
const SPAN: u64 = 512;

impl Race {
    /// Whether an access is a read of shared memory that is ordered after what it reads, and is recorded only if that matters later.
    pub(super) fn sets_aside(&mut self, event: &AccessEvent<'_>) -> bool {
        let is_plain = event.kind == AccessKind::Read && event.semantics.ordering == Ordering::Weak && event.proxy == Proxy::Generic;
        if !is_plain || event.space != Space::Shared || self.order.cluster() > 1 || !event.lockstep.is_empty() {
            return false;
        }
        let block_slot = event.block_id.block_slot as usize;
        let Self { order, shared, shared_log: log, .. } = self;
        let (Some(shadow), Some(block)) = (&mut shared[block_slot], order.block(event.block_id.block_slot)) else { return false };
        let warp = WarpId::new(event.place.warp.number());
        let mut known = Ref::default();
        let mut is_ordered = |writes: Ref| {
            let is_it = writes == known || writes.is_one() && block.happens_before_all(warp, &log.get(writes).op);
            if is_it {
                known = writes;
            }
            is_it
        };
        let mut are_ordered = |address: u64, bytes: u64| {
            let (entries, unit) = shadow.units(address, bytes);
            entries.len() as u64 * unit == bytes && entries.iter().all(|entry| is_ordered(entry.writes))
        };
        let (bytes, span) = (u64::from(event.bytes), event.max - event.min + u64::from(event.bytes));
        // What lies between the lanes is mostly as ordered as what they read.
        let is_known = span <= SPAN && are_ordered(event.min, span);
        if !is_known && !event.lanes.iter().all(|lane| are_ordered(event.addresses[lane], bytes)) {
            return false;
        }
        if self.unrecorded[block_slot].are_full() {
            self.record(event.block_id.block_slot);
        }
        let element = element_bytes(&self.program.code[event.place.pc.index()].op, event.bytes);
        let (IssuePoint { tick, pc, .. }, lanes, bytes) = (event.place, event.lanes, (event.bytes, element));
        self.unrecorded[block_slot].push(UnrecordedRead { tick, pc, warp, lanes, bytes }, event.addresses, (event.min, span));
        true
    }

    /// Records the reads of the shared memory of the block in `block_slot` that were set aside.
    pub(super) fn record(&mut self, block_slot: u32) {
        let Some(unrecorded) = self.unrecorded.get_mut(block_slot as usize).filter(|reads| !reads.is_empty()) else { return };
        let reads = unrecorded.take();
        let Some(number) = self.order.block(block_slot).map(|block| block.number) else { return };
        for index in 0..reads.len() {
            let (access, addresses) = reads.access(index, number, &mut self.shared_log);
            self.check(ShadowMemory::Block(block_slot), block_slot, access, &addresses);
        }
    }

    /// Whether something may order some accesses of the block in `block_slot` before some of its threads and not before others.
    pub(super) fn may_order_some(&self, block_slot: u32, order: Order) -> bool {
        match order {
            Order::Arrived { .. } | Order::Committed { .. } | Order::Collective { .. } => false,
            // Copies of single lanes do not read shared memory.
            Order::Awaited(CopyWait { bulk, .. }) => bulk,
            Order::BarrierCompleted { id, .. } => !self.order.is_barrier_of_all(block_slot, id),
            Order::Fence { .. }
            | Order::WarpSync { .. }
            | Order::ClusterArrived { .. }
            | Order::ClusterWaits
            | Order::ClusterBarrierCompleted { .. }
            | Order::Exited => true,
        }
    }
}
