//! Atomics of one block on the same words: they need no order among themselves, and only the newest is kept.

use super::access::{Access, AccessSet, Ref};
use super::detector::Detector;
use super::shadow::{Entry, Shadow};
use crate::check::finding::SideAction;
use crate::machine::PerLane;
use crate::order::Operation;

impl Detector<'_> {
    /// Joins an atomic to those of the same instruction that touched the same words before: none of them needs an order. False, with
    /// nothing changed, where a lane finds anything else.
    pub(super) fn joins_same_atomics(&mut self, shadow: &mut Shadow, addresses: &PerLane<u64>) -> bool {
        let Access { op: Operation { lanes, .. }, bytes, action, strong, pc, .. } = self.access;
        if action != SideAction::Atomic || strong.is_none() {
            return false;
        }
        let (min, max) = lanes.iter().fold((u64::MAX, 0), |(min, max), lane| (addresses[lane].min(min), addresses[lane].max(max)));
        let span = max - min + u64::from(bytes);
        if !shadow.is_in_page(min, span) || self.unrecorded.as_ref().is_some_and(|reads| reads.touches(min, span)) {
            return false;
        }
        let (entries, unit) = shadow.units(min, span);
        let units = (u64::from(bytes) / unit) as usize;
        let of_lane = |lane: usize| {
            let first = ((addresses[lane] - min) / unit) as usize;
            first..first + units
        };
        let joins = |entry: &Entry| entry.reads.is_none() && !entry.writes.is_none() && self.is_same_atomic(entry.writes);
        if units == 0 || !lanes.iter().all(|lane| entries[of_lane(lane)].iter().all(joins)) {
            return false;
        }
        self.contention.add(pc, pc);
        for lane in lanes.iter() {
            for entry in &mut entries[of_lane(lane)] {
                entry.writes = self.log.atomics(entry.writes, self.own);
            }
        }
        true
    }

    /// Whether the accesses of a reference are atomics of the block by the instruction that is compared, since the last barrier of all.
    fn is_same_atomic(&self, older: Ref) -> bool {
        let is_known = older.is_one() || matches!(self.log.what(older), AccessSet::AtomicsByWarps(_));
        let newest = self.log.newest(older);
        is_known
            && newest.pc == self.access.pc
            && (newest.op.block, newest.op.agent) == (self.access.op.block, self.access.op.agent)
            && newest.op.tick >= self.block.all_before
    }

    /// Whether the access is an atomic that joins those of `older`, which need no order among themselves.
    pub(super) fn joins_atomics(&self, older: Ref) -> bool {
        if self.access.action != SideAction::Atomic || older.is_none() || matches!(self.log.what(older), AccessSet::Overflowed(_)) {
            return false;
        }
        let newest = self.log.newest(older);
        let alone = matches!(self.log.what(older), AccessSet::AtomicsByWarps(_)) || self.log.members(older).nth(1).is_none();
        alone
            && newest.action == SideAction::Atomic
            && newest.op.agent == self.access.op.agent
            && newest.op.block == self.access.op.block
            && newest.op.tick >= self.block.all_before
            && self.is_morally_strong(newest)
    }
}
