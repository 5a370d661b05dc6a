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
        if let Some(runs) = disjoint_runs(lanes, addresses, bytes) {
            return runs.into_iter().for_each(|(start, bytes)| self.compare_range(shadow, start, bytes));
        }
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

/// Units of the bytes of a lane within which [`disjoint_runs`] looks.
const UNITS: usize = 512;

/// The bytes that lanes access, `bytes` bytes each, as ranges of start and length, if no two lanes share some and all are close together:
/// the lanes of a swizzled tile mostly access adjacent bytes, in another order.
fn disjoint_runs(lanes: LaneMask, addresses: &PerLane<u64>, bytes: u32) -> Option<smallvec::SmallVec<[(u64, u64); 8]>> {
    let bytes = u64::from(bytes);
    let min = lanes.iter().map(|lane| addresses[lane]).min()?;
    let mut touched = [0_u64; UNITS / 64];
    for lane in lanes.iter() {
        let distance = addresses[lane] - min;
        let unit = (distance / bytes) as usize;
        let word = touched.get_mut(unit / 64).filter(|_| distance.is_multiple_of(bytes))?;
        let bit = 1 << (unit % 64);
        if *word & bit != 0 {
            return None;
        }
        *word |= bit;
    }
    let mut runs = smallvec::SmallVec::<[(u64, u64); 8]>::new();
    for (index, word) in touched.iter().enumerate() {
        let (mut rest, mut unit) = (*word, index as u64 * 64);
        while rest != 0 {
            let gap = u64::from(rest.trailing_zeros());
            let count = u64::from((rest >> gap).trailing_ones());
            let start = min + (unit + gap) * bytes;
            match runs.last_mut().filter(|(first, length)| first + *length == start) {
                Some((_, length)) => *length += count * bytes,
                None => runs.push((start, count * bytes)),
            }
            unit += gap + count;
            rest = rest.checked_shr((gap + count) as u32).unwrap_or(0);
        }
    }
    Some(runs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_in_another_order_touch_one_run() {
        let runs = |lanes: u32, address: &dyn Fn(u64) -> u64, bytes: u32| {
            let addresses: PerLane<u64> = std::array::from_fn(|lane| address(lane as u64));
            disjoint_runs(LaneMask::from_bits(lanes), &addresses, bytes).map(|runs| runs.to_vec())
        };
        assert_eq!(runs(u32::MAX, &|lane| 0x400 + (lane ^ 5) * 16, 16), Some(vec![(0x400, 512)]));
        assert_eq!(
            runs(u32::MAX, &|lane| 0x400 + lane % 8 * 16 + lane / 8 * 1024, 16),
            Some((0..4).map(|row| (0x400 + row * 1024, 128)).collect())
        );
        assert_eq!(runs(0b101, &|lane| 0x3f8 + lane * 4, 4), Some(vec![(0x3f8, 4), (0x400, 4)]));
        // All 64 units of a word, and the first of the next.
        assert_eq!(runs(u32::MAX, &|lane| 0x100 + (31 - lane) * 4, 4), Some(vec![(0x100, 128)]));
        // Shared bytes, part of a unit apart, too far apart.
        assert_eq!(runs(u32::MAX, &|lane| 0x400 + lane / 2 * 16, 16), None);
        assert_eq!(runs(0b11, &|lane| 0x400 + lane * 6, 4), None);
        assert_eq!(runs(0b11, &|lane| 0x400 + lane * 4 * UNITS as u64, 4), None);
    }
}
