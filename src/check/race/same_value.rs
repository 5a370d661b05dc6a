//! Stores of equal values: what threads write to one location without order is a note where all write the same.

use super::RaceChecker;
use super::access::Access;
use super::detector::{Conflict, ConflictKind};
use crate::check::finding::SideAction;
use crate::check::statement::is_same_line;
use crate::machine::AccessEvent;

impl RaceChecker {
    /// Marks the conflicts of plain stores of one statement that write equal values: of one instruction, or of copies that a loop was
    /// unrolled to. There is a conflict for each address: one for each pair of accesses is retained.
    pub(super) fn compare_values(&mut self, event: &AccessEvent<'_>, access: &Access) {
        let Some(store) = event.store.filter(|_| access.strong.is_none()) else { return };
        let is_plain = |first: &Access| first.action == SideAction::Write && first.strong.is_none() && first.copy == 0;
        let (conflicts, differing_stores) = (&mut self.conflicts, &mut self.differing_stores);
        for conflict in conflicts.iter_mut().filter(|conflict| is_plain(&conflict.first) && conflict.kind == ConflictKind::Unordered) {
            let writer = conflict.first_lanes.first();
            let other = if (conflict.first.op.tick, conflict.first.op.warp) == (access.op.tick, access.op.warp) {
                conflict.second_lanes.filter(|lane| !store.are_equal(writer, lane))
            } else {
                // Accesses of one size are disjoint or to the same bytes, and memory holds the value of the earlier store.
                conflict.second_lanes.filter(|lane| !store.already_holds(lane, event.addresses[lane]))
            };
            // The first of several earlier stores has been overwritten: its value was the same if no two of them have differed.
            if !other.is_empty() {
                conflict.second_lanes = other;
                differing_stores.extend([conflict.first.pc, access.pc]);
            } else if is_same_line(&self.program, conflict.first.pc, access.pc)
                && ![conflict.first.pc, access.pc].iter().any(|pc| differing_stores.contains(pc))
            {
                conflict.kind = ConflictKind::SameValue;
            }
        }
        let key = |conflict: &Conflict| (conflict.first.op.tick, conflict.first.op.block, conflict.first.op.warp, conflict.kind);
        let mut retained = Vec::new();
        self.conflicts.retain(|conflict| {
            let is_new = !retained.contains(&key(conflict));
            if is_new {
                retained.push(key(conflict));
            }
            is_new || conflict.first.pc != access.pc
        });
    }
}
