//! Atomics of one block on the same location: they need no order among themselves, and only the newest is retained.

use super::access::{Access, AccessSet};
use super::detector::Detector;
use super::shadow::Entry;
use crate::check::finding::SideAction;

impl Detector<'_> {
    /// The entry of a unit after the atomic, if it names nothing but atomics by several warps that need no order with it. Most entries that
    /// irregular atomics reach are such: they are found without the cache of transitions, in which units of different history seldom are.
    pub(super) fn after_atomics_by_warps(&mut self, entry: Entry) -> Option<Entry> {
        if self.access.action != SideAction::Atomic || !entry.reads.is_none() {
            return None;
        }
        let (newest, newest_ref) = self.log.newest_of_warps(entry.writes)?;
        if newest_ref == self.access_ref {
            // Another lane of this instruction has accessed the unit already.
            self.unordered_accesses.add(self.access.pc, self.access.pc);
            return Some(entry);
        }
        self.needs_no_order_with(&newest).then(|| self.with_atomic(entry))
    }

    /// The entry of a unit with the atomic added to its atomics.
    pub(super) fn with_atomic(&mut self, entry: Entry) -> Entry {
        self.unordered_accesses.add(self.log.newest(entry.writes).pc, self.access.pc);
        Entry { writes: self.log.atomics(entry.writes, self.access_ref), ..entry }
    }

    /// True if an entry has only atomics that need no order with the access, which is an atomic as well.
    pub(super) fn extends_atomics(&self, entry: &Entry) -> bool {
        let older = entry.writes;
        if self.access.action != SideAction::Atomic || older.is_none() || !entry.reads.is_none() {
            return false;
        }
        let is_alone = match self.log.access_set(older) {
            AccessSet::AtomicsByWarps(_) => true,
            AccessSet::Exact | AccessSet::Overwritten => older.is_single() || self.log.members(older).nth(1).is_none(),
            AccessSet::Overflowed(_) => false,
        };
        is_alone && self.needs_no_order_with(&self.log.newest(older))
    }

    /// Whether an earlier access is an atomic of this block that needs no order with the access, an atomic as well.
    fn needs_no_order_with(&self, newest: &Access) -> bool {
        newest.action == SideAction::Atomic
            && newest.op.agent == self.access.op.agent
            && newest.op.block == self.access.op.block
            && newest.op.tick >= self.block.all_before
            && self.is_morally_strong(newest)
            && !self.is_outlived_by(newest)
    }
}
