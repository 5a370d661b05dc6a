//! Accesses whose lanes have irregular addresses.

use super::access::Access;
use super::detector::Detector;
use super::shadow::{Entry, Shadow};
use crate::check::finding::SideAction;
use crate::machine::{LaneMask, PerLane};
use crate::order::Operation;

impl Detector<'_> {
    /// Compares the bytes of lanes with irregular addresses: adjacent ones as one range, and shared ones once.
    pub(super) fn compare_scattered(&mut self, shadow: &mut Shadow, addresses: &PerLane<u64>) {
        if !self.is_weak_write() && self.compare_lane_by_lane(shadow, addresses) {
            return;
        }
        let Access { op: Operation { lanes, .. }, bytes, .. } = self.access;
        let bytes = u64::from(bytes);
        let mut runs: smallvec::SmallVec<[(u64, u64, usize); 32]> = smallvec::SmallVec::new();
        for lane in lanes.iter() {
            let address = addresses[lane];
            let inside = |(start, end, _): &&(u64, u64, usize)| address >= *start && address + bytes <= *end;
            // Lanes that share bytes mostly share them with the previous lane, or with the first.
            let shared = runs.last().filter(inside).or_else(|| runs.first().filter(inside)).copied();
            match (shared, runs.last_mut()) {
                (Some((.., first)), _) => {
                    if self.is_strong_write() {
                        self.unordered_accesses.add(self.access.pc, self.access.pc);
                    }
                    if self.is_weak_write() {
                        let others = lanes.iter().skip_while(|other| *other < first).find(|other| addresses[*other] == address);
                        self.conflict_with_itself(address, LaneMask::of(others.unwrap_or(first)), LaneMask::of(lane));
                    }
                }
                (None, Some((_, end, _))) if *end == address => *end += bytes,
                _ => runs.push((address, address + bytes, lane)),
            }
        }
        runs.into_iter().for_each(|(start, end, _)| self.compare_range(shadow, start, end - start));
    }

    /// The same lane by lane, if all are in one page of the shadow. Otherwise false, with nothing changed.
    fn compare_lane_by_lane(&mut self, shadow: &mut Shadow, addresses: &PerLane<u64>) -> bool {
        let Access { op: Operation { lanes, .. }, bytes, .. } = self.access;
        let (mut min, mut max, mut bits) = (u64::MAX, 0, 0);
        for lane in lanes.iter() {
            let address = addresses[lane];
            (min, max, bits) = (min.min(address), max.max(address), bits | address);
        }
        let (bytes, span) = (u64::from(bytes), max - min + u64::from(bytes));
        let are_aligned = bytes.is_power_of_two() && bits & (bytes - 1) == 0;
        if !are_aligned || !shadow.is_in_page(min, span) {
            return false;
        }
        self.record_unrecorded_at(shadow, min, span);
        let (entries, unit) = shadow.words(min, span);
        if unit > bytes {
            return false;
        }
        let shift = unit.trailing_zeros();
        for lane in lanes.iter() {
            let first = ((addresses[lane] - min) >> shift) as usize;
            for (index, entry) in entries[first..first + (bytes >> shift) as usize].iter_mut().enumerate() {
                *entry = self.updated_entry(*entry, addresses[lane] + ((index as u64) << shift));
            }
        }
        true
    }

    /// The new entry of the unit at `address`, which another lane of the access may have updated already.
    fn updated_entry(&mut self, before: Entry, address: u64) -> Entry {
        if let Some(after) = self.after_atomics_by_warps(before) {
            return after;
        }
        if let Some(after) = self.transitions.after(before) {
            return after;
        }
        let last_accesses = if self.access.action == SideAction::Read { before.reads } else { before.writes };
        if self.log.members(last_accesses).next() == Some(self.access_ref) {
            if self.is_strong_write() {
                self.unordered_accesses.add(self.access.pc, self.access.pc);
            }
            return before;
        }
        self.transition(before, address).0
    }
}
