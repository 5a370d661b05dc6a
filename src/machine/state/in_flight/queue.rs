//! The matrix multiplications of one warp in flight, their wgmma-groups and their accumulators.

use crate::program::Slot;
use std::collections::VecDeque;

use triomphe::Arc;

use super::wgmma::Wgmma;
use crate::machine::state::in_flight::copy::POISON;
use crate::machine::state::lanes::PerLane;
use crate::machine::state::registers::Registers;

/// The warp whose wait completes a multiplication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitingWarp {
    /// The warp that issued it; also if it completes without a wait.
    Own,
    /// Another warp of its warpgroup.
    Other,
}

/// The multiplications of one warp that it has not waited for, in order of issue, and its wgmma-groups. Cheap to clone; none for a warp
/// without `wgmma`.
#[derive(Clone, Default, Hash)]
pub struct WgmmaQueue(Option<Arc<State>>);

#[derive(Clone, Default, Hash)]
struct State {
    /// True if the warp has executed `wgmma.fence`.
    fenced: bool,
    /// The number of committed wgmma-groups.
    committed: u32,
    /// The multiplications that the warp has not waited for, in flight or completed, in order of issue.
    unwaited: VecDeque<Arc<Wgmma>>,
    /// The accumulators of multiplications in flight, sorted by slot.
    pending: Vec<PendingAccumulator>,
}

/// An accumulator while it is in flight.
#[derive(Clone, Copy, Hash)]
struct PendingAccumulator {
    /// Its slot in the warp's 32-bit registers.
    slot: Slot,
    /// Its value after the multiplications that have completed.
    values: PerLane<u32>,
    /// The number of multiplications in flight that will write it.
    writers: u32,
    /// True if a wait of another warp has completed the last of them, and the warp itself has not waited: the register stays poison.
    awaits_own_wait: bool,
}

impl WgmmaQueue {
    /// True if the warp has waited for all its multiplications.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.0.as_ref().is_none_or(|state| state.unwaited.is_empty())
    }

    /// The multiplications that the warp has not waited for, completed or not, in order of issue.
    pub fn unwaited(&self) -> impl DoubleEndedIterator<Item = &Arc<Wgmma>> {
        self.0.iter().flat_map(|state| &state.unwaited)
    }

    /// The number of committed wgmma-groups, which is the number of the uncommitted one.
    pub fn committed(&self) -> u32 {
        self.0.as_ref().map_or(0, |state| state.committed)
    }

    /// True if the warp has executed `wgmma.fence`.
    pub fn is_fenced(&self) -> bool {
        self.0.as_ref().is_some_and(|state| state.fenced)
    }

    fn state(&mut self) -> &mut State {
        Arc::make_mut(self.0.get_or_insert_default())
    }

    /// Executes `wgmma.fence`.
    pub fn fence(&mut self) {
        self.state().fenced = true;
    }

    /// Commits the uncommitted wgmma-group, and returns its number.
    pub fn commit(&mut self) -> u32 {
        let state = self.state();
        state.committed += 1;
        state.committed - 1
    }

    /// Adds `wgmma`: saves the values of its accumulators, and poisons the registers.
    pub fn issue(&mut self, wgmma: Arc<Wgmma>, registers: &mut Registers) {
        let state = self.state();
        assert_eq!(wgmma.group, state.committed, "a multiplication of a group that is not open");
        assert!(state.unwaited.back().is_none_or(|last| last.id < wgmma.id), "multiplications are issued in the order of their numbers");
        let mut next = 0;
        for slot in &wgmma.accumulators {
            assert!((slot.index()) < registers.b32.len(), "an accumulator that is no register");
            let Some(register) = registers.b32.get_mut(slot.index()) else { continue };
            let position = position_of(*slot, &state.pending, next);
            let index = position.unwrap_or_else(|index| {
                state.pending.insert(index, PendingAccumulator { slot: *slot, values: *register, writers: 0, awaits_own_wait: false });
                index
            });
            state.pending[index].writers += 1;
            state.pending[index].awaits_own_wait = false;
            next = index + 1;
            *register = [u32::from_ne_bytes([POISON; 4]); 32];
        }
        state.unwaited.push_back(wgmma);
    }

    /// The values of the accumulators of `wgmma`, which is in flight, after the multiplications that have completed.
    pub fn accumulators_of(&self, wgmma: &Wgmma) -> Vec<&PerLane<u32>> {
        let pending = self.0.as_ref().map_or(&[][..], |state| &state.pending);
        let mut next = 0;
        let of_slot = |slot: &Slot| match position_of(*slot, pending, next) {
            Ok(index) => {
                next = index + 1;
                &pending[index].values
            }
            Err(_) => &[0; 32],
        };
        wgmma.accumulators.iter().map(of_slot).collect()
    }

    /// Ends `wgmma`, the first of the warp in flight, with these results. An accumulator that a later `wgmma` writes stays pending. If the
    /// wait of another warp completes it, all accumulators stay pending until the warp itself has waited.
    pub fn end(&mut self, wgmma: &Wgmma, results: &[PerLane<u32>], registers: &mut Registers, wait: WaitingWarp) {
        let state = self.state();
        assert!(state.unwaited.iter().any(|unwaited| unwaited.id == wgmma.id), "a multiplication ends that its warp has waited for");
        assert_eq!(results.len(), wgmma.accumulators.len(), "a multiplication has other results than accumulators");
        let mut next = 0;
        for (slot, values) in wgmma.accumulators.iter().zip(results) {
            let Ok(index) = position_of(*slot, &state.pending, next) else { continue };
            next = index + 1;
            let pending = &mut state.pending[index];
            assert!(pending.writers > 0, "an accumulator is written once too often");
            pending.writers -= 1;
            pending.awaits_own_wait = pending.writers == 0 && wait == WaitingWarp::Other;
            match registers.b32.get_mut(slot.index()).filter(|_| pending.writers == 0 && !pending.awaits_own_wait) {
                Some(register) => *register = *values,
                None => pending.values = *values,
            }
        }
        state.pending.retain(|pending| pending.writers > 0 || pending.awaits_own_wait);
        debug_assert!(state.pending.is_sorted_by(|one, next| one.slot < next.slot), "accumulators are in order");
    }

    /// Records that the warp has waited for all wgmma-groups below `done`, which have completed.
    pub fn waited(&mut self, done: u32, registers: &mut Registers) {
        let count = self.unwaited().take_while(|wgmma| wgmma.group < done).count();
        if count > 0 {
            let state = self.state();
            assert!(done <= state.committed, "a group is waited for that is not committed");
            state.unwaited.drain(..count);
            state.write_completed(registers);
        }
    }

    /// True if a register holds poison in place of the result of a multiplication.
    pub fn is_pending(&self, slot: Slot) -> bool {
        self.0.as_ref().is_some_and(|state| position_of(slot, &state.pending, 0).is_ok())
    }

    /// Removes and returns all multiplications: the warp has exited.
    pub fn abandon(&mut self) -> Vec<Arc<Wgmma>> {
        let abandoned = self.unwaited().cloned().collect();
        self.0 = None;
        abandoned
    }

    /// Its size in bytes.
    pub fn bytes(&self) -> u64 {
        self.0.as_ref().map_or(0, |state| (state.pending.len() * size_of::<PendingAccumulator>()) as u64)
    }
}

impl State {
    /// Writes the completed accumulators that no multiplication writes for which the warp has not waited.
    fn write_completed(&mut self, registers: &mut Registers) {
        let Self { unwaited, pending, .. } = self;
        pending.retain(|pending| {
            let is_due = pending.awaits_own_wait && !unwaited.iter().any(|wgmma| wgmma.accumulators.contains(&pending.slot));
            if is_due && let Some(register) = registers.b32.get_mut(pending.slot.index()) {
                *register = pending.values;
            }
            !is_due
        });
    }
}

/// The position of a slot among the pending accumulators, or its insertion position. `next` is tried first.
fn position_of(slot: Slot, pending: &[PendingAccumulator], next: usize) -> Result<usize, usize> {
    match pending.get(next) {
        Some(pending) if pending.slot == slot => Ok(next),
        None if pending.last().is_none_or(|last| last.slot < slot) => Err(next),
        _ => pending.binary_search_by_key(&slot, |pending| pending.slot),
    }
}
