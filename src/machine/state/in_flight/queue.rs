//! The matrix multiplications of one warp in flight, their groups, and their accumulators meanwhile.

use crate::program::Slot;
use std::collections::VecDeque;

use triomphe::Arc;

use super::wgmma::Wgmma;
use crate::machine::state::in_flight::copy::POISON;
use crate::machine::state::lanes::PerLane;
use crate::machine::state::registers::Registers;

/// The wait that completes a multiplication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitOf {
    /// A wait of its own warp, or none.
    Own,
    /// The wait of another warp of its warpgroup.
    Another,
}

/// The multiplications of one warp that it has not waited for, in order of issue, and its groups. Cheap to clone, and nothing for a warp
/// that never had one.
#[derive(Clone, Default, Hash)]
pub struct WgmmaQueue(Option<Arc<State>>);

#[derive(Clone, Default, Hash)]
struct State {
    /// The warp has executed `wgmma.fence`.
    fenced: bool,
    /// Groups committed.
    committed: u32,
    /// The multiplications that the warp has not waited for, in flight or completed.
    unwaited: VecDeque<Arc<Wgmma>>,
    /// The values of the accumulators of those in flight, by slot.
    pending: Vec<PendingAccumulator>,
}

/// An accumulator while it is in flight.
#[derive(Clone, Copy, Hash)]
struct PendingAccumulator {
    /// Its slot in the warp's 32-bit registers.
    slot: Slot,
    /// Its value by the results so far.
    values: PerLane<u32>,
    /// The number of multiplications in flight that will write it.
    writers: u32,
    /// The wait of another warp has ended the last of them, and the own warp has not waited: the register stays poison.
    is_landed: bool,
}

impl WgmmaQueue {
    /// Whether there is nothing that has not been waited for.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.0.as_ref().is_none_or(|state| state.unwaited.is_empty())
    }

    /// The multiplications that the warp has not waited for, completed or not, in order of issue.
    pub fn unwaited(&self) -> impl DoubleEndedIterator<Item = &Arc<Wgmma>> {
        self.0.iter().flat_map(|state| &state.unwaited)
    }

    /// Groups committed so far: the number of the open group.
    pub fn committed(&self) -> u32 {
        self.0.as_ref().map_or(0, |state| state.committed)
    }

    /// Whether the warp has executed `wgmma.fence`.
    pub fn is_fenced(&self) -> bool {
        self.0.as_ref().is_some_and(|state| state.fenced)
    }

    fn state(&mut self) -> &mut State {
        Arc::make_mut(self.0.get_or_insert_default())
    }

    /// The warp executes `wgmma.fence`.
    pub fn fence(&mut self) {
        self.state().fenced = true;
    }

    /// Closes the open group, and gives back its number.
    pub fn commit(&mut self) -> u32 {
        let state = self.state();
        state.committed += 1;
        state.committed - 1
    }

    /// Puts `wgmma` in flight: its accumulators are copied, and poisoned in the registers.
    pub fn issue(&mut self, wgmma: Arc<Wgmma>, registers: &mut Registers) {
        let state = self.state();
        assert_eq!(wgmma.group, state.committed, "a multiplication of a group that is not open");
        assert!(state.unwaited.back().is_none_or(|last| last.id < wgmma.id), "multiplications are issued in the order of their numbers");
        let mut next = 0;
        for slot in &wgmma.accumulators {
            assert!((slot.index()) < registers.b32.len(), "an accumulator that is no register");
            let Some(register) = registers.b32.get_mut(slot.index()) else { continue };
            let place = place_of(*slot, &state.pending, next);
            let index = place.unwrap_or_else(|index| {
                state.pending.insert(index, PendingAccumulator { slot: *slot, values: *register, writers: 0, is_landed: false });
                index
            });
            state.pending[index].writers += 1;
            state.pending[index].is_landed = false;
            next = index + 1;
            *register = [u32::from_ne_bytes([POISON; 4]); 32];
        }
        state.unwaited.push_back(wgmma);
    }

    /// The values of the accumulators of `wgmma`, which is in flight, by the results so far.
    pub fn held_by(&self, wgmma: &Wgmma) -> Vec<&PerLane<u32>> {
        let pending = self.0.as_ref().map_or(&[][..], |state| &state.pending);
        let mut next = 0;
        let of_slot = |slot: &Slot| match place_of(*slot, pending, next) {
            Ok(index) => {
                next = index + 1;
                &pending[index].values
            }
            Err(_) => &[0; 32],
        };
        wgmma.accumulators.iter().map(of_slot).collect()
    }

    /// `wgmma`, the first of the warp in flight, ends with these results. An accumulator that another one will write stays aside; all of
    /// them do if the `wait` of another warp ends it, until the own warp has waited.
    pub fn end(&mut self, wgmma: &Wgmma, results: &[PerLane<u32>], registers: &mut Registers, wait: WaitOf) {
        let state = self.state();
        assert!(state.unwaited.iter().any(|unwaited| unwaited.id == wgmma.id), "a multiplication ends that its warp has waited for");
        assert_eq!(results.len(), wgmma.accumulators.len(), "a multiplication has other results than accumulators");
        let mut next = 0;
        for (slot, values) in wgmma.accumulators.iter().zip(results) {
            let Ok(index) = place_of(*slot, &state.pending, next) else { continue };
            next = index + 1;
            let pending = &mut state.pending[index];
            assert!(pending.writers > 0, "an accumulator is written once too often");
            pending.writers -= 1;
            pending.is_landed = pending.writers == 0 && wait == WaitOf::Another;
            match registers.b32.get_mut(slot.index()).filter(|_| pending.writers == 0 && !pending.is_landed) {
                Some(register) => *register = *values,
                None => pending.values = *values,
            }
        }
        state.pending.retain(|pending| pending.writers > 0 || pending.is_landed);
        debug_assert!(state.pending.is_sorted_by(|one, next| one.slot < next.slot), "accumulators are in order");
    }

    /// The warp has waited for all groups below `done`, which have ended.
    pub fn waited(&mut self, done: u32, registers: &mut Registers) {
        let count = self.unwaited().take_while(|wgmma| wgmma.group < done).count();
        if count > 0 {
            let state = self.state();
            assert!(done <= state.committed, "a group is waited for that is not committed");
            state.unwaited.drain(..count);
            state.deliver(registers);
        }
    }

    /// Whether a register holds poison in place of what a multiplication writes or has written.
    pub fn holds_back(&self, slot: Slot) -> bool {
        self.0.as_ref().is_some_and(|state| place_of(slot, &state.pending, 0).is_ok())
    }

    /// The warp has exited: what is in flight never ends.
    pub fn abandon(&mut self) -> Vec<Arc<Wgmma>> {
        let abandoned = self.unwaited().cloned().collect();
        self.0 = None;
        abandoned
    }

    /// Bytes it takes.
    pub fn bytes(&self) -> u64 {
        self.0.as_ref().map_or(0, |state| (state.pending.len() * size_of::<PendingAccumulator>()) as u64)
    }
}

impl State {
    /// Writes what has landed in registers that nothing writes for which the warp has not waited.
    fn deliver(&mut self, registers: &mut Registers) {
        let Self { unwaited, pending, .. } = self;
        pending.retain(|pending| {
            let is_due = pending.is_landed && !unwaited.iter().any(|wgmma| wgmma.accumulators.contains(&pending.slot));
            if is_due && let Some(register) = registers.b32.get_mut(pending.slot.index()) {
                *register = pending.values;
            }
            !is_due
        });
    }
}

/// The position of a slot among the pending accumulators, or where it would be inserted; mostly it is the `next` one.
fn place_of(slot: Slot, pending: &[PendingAccumulator], next: usize) -> Result<usize, usize> {
    match pending.get(next) {
        Some(pending) if pending.slot == slot => Ok(next),
        None if pending.last().is_none_or(|last| last.slot < slot) => Err(next),
        _ => pending.binary_search_by_key(&slot, |pending| pending.slot),
    }
}
