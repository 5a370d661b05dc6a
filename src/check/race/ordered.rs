//! Accesses that come after all earlier accesses to the same bytes: the most common case, judged for large units of memory at once.

use super::access::{AccessRef, AccessSet};
use super::detector::Detector;
use super::shadow::Entry;
use crate::check::finding::SideAction;

impl Detector<'_> {
    /// Updates entries, the first ones as long as the access comes after their accesses in the same way for every byte; returns the number
    /// of those.
    pub(super) fn update_ordered(&mut self, entries: &mut [Entry]) -> usize {
        let mut last: Option<(Entry, Entry)> = None;
        for (index, entry) in entries.iter_mut().enumerate() {
            let after = match last {
                Some((before, after)) if before == *entry => after,
                _ => match self.after_ordered(*entry) {
                    Some(after) => after,
                    None => return index,
                },
            };
            last = Some((*entry, after));
            *entry = after;
        }
        entries.len()
    }

    /// The entry of a unit of any size after the access, if that comes after the accesses of the entry, or only reads what others read.
    fn after_ordered(&mut self, before: Entry) -> Option<Entry> {
        match self.access.action {
            SideAction::Read => {
                self.is_after_all(before.writes).then_some(())?;
                Some(Entry { reads: self.add_read(before.reads), ..before })
            }
            // Atomics count those that they need no order with.
            SideAction::Atomic if !before.writes.is_none() => None,
            SideAction::Write | SideAction::Atomic | SideAction::Synchronize | SideAction::Use | SideAction::Exit => {
                let is_ordered = self.is_after_all(before.writes) && self.is_after_all(before.reads);
                is_ordered.then_some(Entry { writes: self.access_ref, reads: AccessRef::default() })
            }
        }
    }

    /// True if the access comes after all of `older` at every byte, and stands for them.
    fn is_after_all(&self, older: AccessRef) -> bool {
        // What lockstep alone orders is reported, byte by byte.
        if self.reports_lockstep && !self.lockstep.is_empty() && !older.is_none() {
            return false;
        }
        let is_listed = matches!(self.log.access_set(older), AccessSet::Exact | AccessSet::Overwritten);
        is_listed
            && self.log.members(older).all(|member| {
                let other = self.log.get(member);
                !self.is_same_access(member) && !self.is_outlived_by(&other) && self.is_before_everywhere(&other)
            })
    }
}
