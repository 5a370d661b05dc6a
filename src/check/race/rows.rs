//! Rows: plain accesses by all lanes of a warp to adjacent elements that come after all that is recorded of them. They are most of the
//! accesses that need a record, so they are recorded without a [`Detector`](super::detector::Detector), which would do the same.

use super::access::{Access, AccessRef, Log};
use super::lane_addresses::{LaneAddresses, LaneTile};
use super::shadow::{Entry, Shadow, WORD_BYTES};
use super::{RaceChecker, ShadowMemory, operation};
use crate::check::finding::SideAction;
use crate::isa::Ordering;
use crate::machine::{AccessEvent, AccessKind, BlockId, FastPath, IssuePoint, LANES, LaneMask, PlainRead, Proxy};
use crate::order::{Agent, Block};

/// A row that is about to be accessed.
struct Row<'a> {
    point: &'a IssuePoint,
    block_id: BlockId,
    is_write: bool,
    /// The lowest address.
    low: u64,
    /// Bytes of a lane.
    bytes: u32,
    lane_addresses: LaneAddresses,
}

impl<'a> Row<'a> {
    /// The row of an access; none if it is no plain access of one by all lanes.
    #[inline(always)]
    fn of_event(event: &'a AccessEvent<'_>) -> Option<Self> {
        let AccessEvent { point, block_id, kind, min: low, max, bytes, .. } = event;
        let is_plain = event.semantics.ordering == Ordering::Weak && *kind != AccessKind::Atomic && event.proxy == Proxy::Generic;
        if !is_plain || event.lanes != LaneMask::ALL || !event.lockstep.is_empty() || max - low != last_of_row(*bytes) {
            return None;
        }
        let tile = LaneTile::of_shape(event.shape?, |lane| event.addresses[lane]).filter(|tile| tile.is_row(*bytes))?;
        let (is_write, lane_addresses) = (*kind == AccessKind::Write, LaneAddresses::Tile(tile));
        Some(Self { point, block_id: *block_id, is_write, low: *low, bytes: *bytes, lane_addresses })
    }

    /// The same of a read by all lanes.
    #[inline(always)]
    fn of_read(read: &'a PlainRead<'_>) -> Option<Self> {
        let PlainRead { point, block_id, lockstep, proxy, low, span, bytes, deltas, shape, .. } = *read;
        if proxy != Proxy::Generic || !lockstep.is_empty() || span != last_of_row(bytes) + u64::from(bytes) {
            return None;
        }
        let tile = LaneTile::of_shape(shape, |lane| low + u64::from(deltas[lane])).filter(|tile| tile.is_row(bytes))?;
        Some(Self { point, block_id, is_write: false, low, bytes, lane_addresses: LaneAddresses::Tile(tile) })
    }

    fn span(&self) -> u64 {
        last_of_row(self.bytes) + u64::from(self.bytes)
    }

    /// True if the row comes after all accesses of `older`, wherever they overlap, and stands for them; `block` is the block that
    /// accesses it.
    #[inline(always)]
    fn is_after(&self, older: AccessRef, block: &Block, log: &Log) -> bool {
        older.is_none() || older.is_single() && self.is_after_single(&log.get(older), block)
    }

    fn is_after_single(&self, other: &Access, block: &Block) -> bool {
        let is_of_block = other.op.block == block.number && other.op.agent == Agent::Threads && other.strong.is_none();
        let is_by_same_lanes = || {
            other.op.warp == self.point.warp
                && (other.bytes, other.lane_addresses) == (self.bytes, self.lane_addresses)
                && other.op.lanes == LaneMask::ALL
        };
        is_of_block && (other.op.tick < block.all_before || is_by_same_lanes())
    }

    fn access(&self) -> Access {
        let action = if self.is_write { SideAction::Write } else { SideAction::Read };
        let op = operation(self.block_id, self.point, LaneMask::ALL, (Agent::Threads, action));
        Access::plain(op, (self.point.pc, action), self.bytes, self.lane_addresses)
    }
}

/// The distance of the address of the last lane of a row from that of the first.
fn last_of_row(bytes: u32) -> u64 {
    (LANES as u64 - 1) * u64::from(bytes)
}

impl RaceChecker {
    /// Records the access of a row after all that is recorded of it. False, with nothing recorded, if it is none or may race.
    #[inline(always)]
    pub(super) fn try_record_row(&mut self, memory: ShadowMemory, event: &AccessEvent<'_>) -> bool {
        Row::of_event(event).is_some_and(|row| self.record_row(memory, &row))
    }

    /// The same for a read of global memory by all lanes.
    #[inline(always)]
    pub(super) fn try_record_row_read(&mut self, read: &PlainRead<'_>) -> bool {
        Row::of_read(read).is_some_and(|row| self.record_row(ShadowMemory::Global, &row))
    }

    #[inline(never)]
    fn record_row(&mut self, memory: ShadowMemory, row: &Row<'_>) -> bool {
        let Self { hb, global, shared, unrecorded, newest, log, shared_log, fast_paths, .. } = self;
        let (block_slot, span) = (row.block_id.block_slot, row.span());
        let slot = block_slot as usize;
        let Some(block) = hb.block(block_slot).filter(|_| fast_paths.has(FastPath::Rows)) else { return false };
        let (shadow, log) = match memory {
            ShadowMemory::Global => (global, log),
            ShadowMemory::Block(owner) if owner == block_slot && !unrecorded[slot].may_access(row.low, span) => {
                (&mut shared[slot], shared_log)
            }
            ShadowMemory::Block(_) => return false,
        };
        let shadow = shadow.get_or_insert_with(|| Box::new(Shadow::new(*fast_paths)));
        if !shadow.is_in_page(row.low, span) {
            return false;
        }
        let (entries, unit) = shadow.units(row.low, span);
        let is_after = |entry: &Entry| row.is_after(entry.writes, block, log) && row.is_after(entry.reads, block, log);
        if unit <= WORD_BYTES || !entries.iter().all(is_after) {
            return false;
        }
        let access = log.push(row.access());
        for entry in entries {
            *entry = if row.is_write { Entry { writes: access, reads: AccessRef::default() } } else { Entry { reads: access, ..*entry } };
        }
        if memory != ShadowMemory::Global {
            newest[slot] = newest[slot].max(Some(row.point.tick));
        }
        if self.conflicts.is_empty() && self.log_of(memory).is_full() {
            self.sweep(memory);
        }
        true
    }
}
