//! Delayed recording: of reads and atomics of shared memory, and of reads of buffers that are only read ([`read_only`](super::read_only)).
//!
//! Most reads are plain, ordered after the writes of their bytes, and followed by a barrier of the whole block before any other access to
//! these bytes: then no later access races with them, and no record is needed. So they are left unrecorded until another access to the same
//! bytes, or a synchronization that may order some threads of the block and not others. So are relaxed atomics after a barrier of the block
//! that need no order among each other, as those of a histogram.

use std::ops::Range;

use super::access::{Access, AccessRef, Log};
use super::lane_addresses::{LaneAddresses, LaneTile};
use super::ordered_writes::KEPT;
use super::shadow::{Entry, Shadow};
use super::unrecorded::{UnrecordedAccess, span};
use super::{RaceChecker, ShadowMemory, access_of, element_bytes, strength};
use crate::base::WarpId;
use crate::isa::{Ordering, Space};
use crate::machine::{
    AccessEvent, AccessKind, BlockId, CopyWait, FastPath, IssuePoint, LaneMask, PerLane, PlainRead, Proxy, SyncKind, Tick,
};
use crate::order::{Block, Operation};
use crate::program::map;

/// The largest range of addresses of a read that is checked as a whole, including bytes that no lane reads.
const MAX_SPAN: u64 = 512;

/// The writes to the shared memory of a block, as a warp finds them.
struct WritesBefore<'a> {
    shadow: &'a mut Shadow,
    block: &'a Block,
    log: &'a Log,
    warp: WarpId,
    ordered: &'a mut [AccessRef; KEPT],
}

impl WritesBefore<'_> {
    /// True if those of the `bytes` bytes from `address` on are ordered before all lanes of the warp.
    fn are_ordered(&mut self, address: u64, bytes: u64) -> bool {
        let Self { shadow, block, log, warp, ordered } = self;
        let mut is_ordered = |writes: AccessRef| {
            let kept = &mut ordered[writes.0 as usize % KEPT];
            let is_before =
                *kept == writes || writes.is_none() || writes.is_single() && block.happens_before_all(*warp, &log.get(writes).op);
            if is_before {
                *kept = writes;
            }
            is_before
        };
        let (entries, looked_at) = shadow.around(address, bytes);
        looked_at == bytes && entries.iter().all(|entry| is_ordered(entry.writes))
    }
}

/// A read of elements of `element` bytes.
#[inline(always)]
fn unrecorded_access(event: &AccessEvent<'_>, element: u32) -> UnrecordedAccess {
    let (IssuePoint { tick, pc, .. }, warp) = (event.point, event.point.warp);
    UnrecordedAccess { tick, pc, warp, lanes: event.lanes, bytes: (event.bytes, element), atomic: None }
}

impl RaceChecker {
    /// Leaves an access unrecorded for now, if it is a plain read of shared memory ordered after the writes of its bytes, or a relaxed
    /// atomic ordered after all that is recorded. True if it does.
    pub(super) fn try_leave_unrecorded(&mut self, event: &AccessEvent<'_>) -> bool {
        if !self.delays_records() || event.space != Space::Shared || event.proxy != Proxy::Generic {
            return false;
        }
        match (event.kind, event.semantics.ordering) {
            (AccessKind::Read, Ordering::Weak) => self.try_leave_read(event),
            (AccessKind::Atomic, Ordering::Relaxed) => self.try_leave_atomic(event),
            (AccessKind::Read | AccessKind::Write | AccessKind::Atomic, _) => false,
        }
    }

    /// Leaves a read of shared memory unrecorded, if it is ordered after all that is recorded, or all writes of its bytes. True if it does.
    pub(super) fn try_leave_shared_read(&mut self, read: &PlainRead<'_>) -> bool {
        let block_slot = read.block_id.block_slot;
        if !self.delays_records() || read.low + read.span <= map::SHARED_RESERVED {
            return false;
        }
        let is_ordered = self.is_ordered_after_recorded(block_slot) || self.is_span_ordered(read);
        let unrecorded = &mut self.unrecorded[block_slot as usize];
        is_ordered && !unrecorded.may_change(read.low, read.span) && unrecorded.push_shared_read(read)
    }

    /// True if accesses of shared memory can be left unrecorded for now.
    fn delays_records(&self) -> bool {
        self.fast_paths.has(FastPath::DelayedRecords) && self.hb.cluster() == 1
    }

    /// True if all plain reads of the shared memory of a block can be left unrecorded until the next event.
    pub(super) fn may_leave_shared_reads(&self, BlockId { number, block_slot }: BlockId) -> bool {
        let is_there = self.hb.block(block_slot).is_some_and(|block| u64::from(block.number) == number);
        let has_atomics = || self.unrecorded[block_slot as usize].has_atomics();
        self.delays_records() && is_there && self.is_ordered_after_recorded(block_slot) && !has_atomics()
    }

    #[inline(never)]
    fn is_span_ordered(&mut self, read: &PlainRead<'_>) -> bool {
        let writes = self.writes_before((read.block_id.block_slot, read.point.warp.number()));
        read.span <= MAX_SPAN && writes.is_some_and(|mut writes| writes.are_ordered(read.low, read.span))
    }

    fn try_leave_atomic(&mut self, event: &AccessEvent<'_>) -> bool {
        let (block_slot, slot) = (event.block_id.block_slot, event.block_id.block_slot as usize);
        let is_ordered = self.is_ordered_after_recorded(block_slot);
        let span = span(event);
        let atomic = strength(&event.semantics);
        if !is_ordered || atomic.is_none() {
            return false;
        }
        let unrecorded = &self.unrecorded[slot];
        if unrecorded.are_full() || !unrecorded.fit_atomic(event.bytes) || unrecorded.may_read(event.min, span) {
            self.record_unrecorded(block_slot);
            return false;
        }
        let element = element_bytes(&self.program.code[event.point.pc.index()].op, event.bytes);
        let access = UnrecordedAccess { atomic, ..unrecorded_access(event, element) };
        for other in self.unrecorded[slot].push_atomic(access, event) {
            self.unordered_accesses.add(*other, access.pc);
        }
        true
    }

    /// True if barriers order all threads of the block in `block_slot` after all that the shadow of its shared memory has.
    fn is_ordered_after_recorded(&self, block_slot: u32) -> bool {
        let is_before = |tick: Tick| self.hb.block(block_slot).is_some_and(|block| tick < block.all_before);
        self.newest[block_slot as usize].is_none_or(is_before)
    }

    fn try_leave_read(&mut self, event: &AccessEvent<'_>) -> bool {
        let block_slot = event.block_id.block_slot as usize;
        let span = span(event);
        if self.unrecorded[block_slot].may_change(event.min, span) {
            self.record_unrecorded(event.block_id.block_slot);
        }
        if !self.is_ordered_after_recorded(event.block_id.block_slot) && !self.is_ordered_after_writes(event, span) {
            return false;
        }
        if self.unrecorded[block_slot].are_full() {
            self.record_unrecorded(event.block_id.block_slot);
        }
        self.unrecorded[block_slot].push_read(unrecorded_access(event, event.bytes), event);
        true
    }

    /// True if a read of `span` bytes is ordered after the writes of the bytes that its lanes read.
    fn is_ordered_after_writes(&mut self, event: &AccessEvent<'_>, span: u64) -> bool {
        let Some(mut writes) = self.writes_before((event.block_id.block_slot, event.point.warp.number())) else { return false };
        // The bytes between the lanes are mostly ordered as those that they read.
        let is_span_ordered = span <= MAX_SPAN && writes.are_ordered(event.min, span);
        is_span_ordered || event.lanes.iter().all(|lane| writes.are_ordered(event.addresses[lane], u64::from(event.bytes)))
    }

    /// The writes to the shared memory of the block in a block slot, as a warp of it finds them; none before the first access.
    fn writes_before(&mut self, (block_slot, warp): (u32, u32)) -> Option<WritesBefore<'_>> {
        let Self { hb, shared, shared_log: log, ordered_writes, .. } = self;
        let (shadow, block) = (shared[block_slot as usize].as_mut()?, hb.block(block_slot)?);
        let ordered = ordered_writes.of(block_slot as usize, warp as usize);
        Some(WritesBefore { shadow, block, log, warp: WarpId::new(warp), ordered })
    }

    /// Records the unrecorded accesses of the shared memory of the block in `block_slot`.
    pub(super) fn record_unrecorded(&mut self, block_slot: u32) {
        let Some(unrecorded) = self.unrecorded.get_mut(block_slot as usize).filter(|accesses| !accesses.is_empty()) else { return };
        let accesses = unrecorded.take();
        let Some(number) = self.hb.block(block_slot).map(|block| block.number) else { return };
        // They are ordered after what is recorded without lockstep.
        let lockstep = std::mem::take(&mut self.lockstep);
        for index in 0..accesses.len() {
            let (access, addresses) = accesses.access(index, number, &mut self.shared_log);
            self.check(ShadowMemory::Block(block_slot), block_slot, access, &addresses);
        }
        self.lockstep = lockstep;
        self.unrecorded[block_slot as usize].reuse(accesses);
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

impl RaceChecker {
    /// Leaves an access to global memory to the buffers that are only read, if it is a plain read of one; a write to one ends that.
    #[inline(always)]
    pub(super) fn is_left_to_read_only(&mut self, event: &AccessEvent<'_>) -> bool {
        let range = event.min..event.max.saturating_add(u64::from(event.bytes));
        match event.kind {
            AccessKind::Write | AccessKind::Atomic => {
                self.end_read_only(&range);
                false
            }
            AccessKind::Read if event.semantics.ordering != Ordering::Weak => false,
            AccessKind::Read => {
                let Self { read_only, program, .. } = self;
                read_only.retain(&range, || match LaneTile::of_event(event) {
                    Some(tile) => access_of(program, event, event.lanes, LaneAddresses::Tile(tile)),
                    None => access_of(
                        program,
                        event,
                        lane_at(event.min, event.lanes, event.addresses),
                        LaneAddresses::Tile(LaneTile::at(event.min)),
                    ),
                })
            }
        }
    }

    /// The same for a plain read by all lanes.
    #[inline(always)]
    pub(super) fn is_read_left_to_read_only(&mut self, read: &PlainRead<'_>) -> bool {
        let Some(tile) = LaneTile::of_shape(read.shape, |lane| read.low + u64::from(read.deltas[lane])) else { return false };
        let access = || UnrecordedAccess::of(read).access(read.block_id.number as u32, LaneAddresses::Tile(tile));
        self.read_only.retain(&(read.low..read.low.saturating_add(read.span)), || Access { proxy: read.proxy, ..access() })
    }

    /// The same for the reads of `cp.async` from these addresses.
    pub(super) fn is_copy_left_to_read_only(&mut self, read: &Access, addresses: &PerLane<u64>) -> bool {
        let (lanes, bytes) = (read.op.lanes, u64::from(read.bytes));
        let (min, max) = lanes.iter().fold((u64::MAX, 0), |(min, max), lane| (min.min(addresses[lane]), max.max(addresses[lane])));
        self.read_only.retain(&(min..max.saturating_add(bytes)), || {
            let tile = LaneTile::of(lanes, addresses);
            let lanes = if tile.is_some() { lanes } else { lane_at(min, lanes, addresses) };
            let lane_addresses = LaneAddresses::Tile(tile.unwrap_or(LaneTile::at(min)));
            Access { op: Operation { lanes, ..read.op }, lane_addresses, ..*read }
        })
    }

    /// The bytes `range` of global memory are about to be written: if they belong to a buffer that was only read, its reads count.
    #[inline(always)]
    pub(super) fn end_read_only(&mut self, range: &Range<u64>) {
        let reads = self.read_only.take(range);
        if !reads.is_empty() {
            self.record_retained(&reads);
        }
    }

    #[cold]
    fn record_retained(&mut self, reads: &[Access]) {
        let Self { global, log, fast_paths, .. } = self;
        let shadow = global.get_or_insert_with(|| Box::new(Shadow::new(*fast_paths)));
        for read in reads {
            let access = log.push(*read);
            for lane in read.op.lanes.iter() {
                let address = read.lane_addresses.address(lane, log).unwrap_or_default();
                add_read(shadow, log, access, (address, u64::from(read.bytes)));
            }
        }
    }
}

/// The first lane whose address this is: it stands for lanes whose addresses make no tile.
fn lane_at(address: u64, lanes: LaneMask, addresses: &PerLane<u64>) -> LaneMask {
    lanes.iter().find(|lane| addresses[*lane] == address).map_or(lanes, LaneMask::of)
}

/// Adds a read of the `bytes` bytes from `address` on to those of their entries.
fn add_read(shadow: &mut Shadow, log: &mut Log, read: AccessRef, (mut address, mut bytes): (u64, u64)) {
    while bytes > 0 {
        let (entries, unit) = shadow.words(address, bytes);
        for Entry { reads, .. } in entries.iter_mut() {
            if log.members(*reads).all(|other| other != read) {
                *reads = log.add(*reads, read);
            }
        }
        let done = entries.len() as u64 * unit;
        (address, bytes) = (address + done, bytes - done);
    }
}
