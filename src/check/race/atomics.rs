//! Atomics of one block on the same words: they need no order among themselves, and only the newest is kept.

use super::access::{Access, AccessSet};
use super::detector::Detector;
use super::shadow::{Entry, Shadow};
use crate::check::finding::SideAction;
use crate::machine::PerLane;
use crate::order::Operation;

impl Detector<'_> {
    /// Joins a scattered atomic to those that touched the same words before, all at once. False, with nothing changed, where a lane finds
    /// anything else.
    pub(super) fn join_all(&mut self, shadow: &mut Shadow, addresses: &PerLane<u64>) -> bool {
        let Access { op: Operation { lanes, .. }, bytes, action, .. } = self.access;
        if action != SideAction::Atomic {
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
        if units == 0 || !lanes.iter().all(|lane| entries[of_lane(lane)].iter().all(|entry| self.joins_atomics(entry))) {
            return false;
        }
        for lane in lanes.iter() {
            for entry in &mut entries[of_lane(lane)] {
                *entry = self.joined(*entry);
            }
        }
        true
    }

    /// The entry of a unit with the atomic among those that touched it.
    pub(super) fn joined(&mut self, entry: Entry) -> Entry {
        self.contention.add(self.log.newest(entry.writes).pc, self.access.pc);
        Entry { writes: self.log.atomics(entry.writes, self.own), ..entry }
    }

    /// Whether the access is an atomic that joins those of an entry, which need no order among themselves.
    pub(super) fn joins_atomics(&self, entry: &Entry) -> bool {
        let older = entry.writes;
        if self.access.action != SideAction::Atomic || older.is_none() || matches!(self.log.what(older), AccessSet::Overflowed(_)) {
            return false;
        }
        let newest = self.log.newest(older);
        let alone = matches!(self.log.what(older), AccessSet::AtomicsByWarps(_)) || self.log.members(older).nth(1).is_none();
        alone
            && entry.reads.is_none()
            && newest.action == SideAction::Atomic
            && newest.op.agent == self.access.op.agent
            && newest.op.block == self.access.op.block
            && newest.op.tick >= self.block.all_before
            && self.is_morally_strong(newest)
    }
}
