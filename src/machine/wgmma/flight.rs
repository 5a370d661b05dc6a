//! What one warp has in flight, its groups, and the accumulators meanwhile.

use std::collections::{BTreeMap, VecDeque};

use triomphe::Arc;

use super::Wgmma;
use crate::machine::async_copy::POISON;
use crate::machine::digest::Digest;
use crate::machine::lanes::PerLane;
use crate::machine::registers::Registers;

/// The multiplications of one warp that it has not waited for, in order of issue, and its groups. Cheap to clone, and nothing for a warp
/// that never had one.
#[derive(Clone, Default)]
pub struct Flight(Option<Arc<State>>);

#[derive(Clone, Default)]
struct State {
    /// The warp has executed `wgmma.fence`.
    fenced: bool,
    /// Groups committed.
    committed: u32,
    /// Those that the warp has not waited for. Those that have ended come first.
    unwaited: VecDeque<Arc<Wgmma>>,
    /// How many of them have ended.
    ended: usize,
    /// What the accumulators of those in flight will hold or add to, by slot of the warp's 32-bit registers.
    held: BTreeMap<u32, Held>,
}

/// An accumulator while it is in flight.
#[derive(Clone, Copy)]
struct Held {
    /// What it holds by the results so far.
    values: PerLane<u32>,
    /// How often those in flight will write it.
    writers: u32,
}

impl Flight {
    /// Whether there is nothing that has not been waited for.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.0.as_ref().is_none_or(|state| state.unwaited.is_empty())
    }

    /// Those that have not ended, in order of issue.
    pub fn in_flight(&self) -> impl DoubleEndedIterator<Item = &Arc<Wgmma>> {
        self.0.iter().flat_map(|state| state.unwaited.range(state.ended..))
    }

    /// Those that the warp has not waited for, ended or not, in order of issue.
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

    /// Puts `wgmma` in flight: its accumulators, poisoned from now on, are kept aside.
    pub fn issue(&mut self, wgmma: Wgmma, registers: &mut Registers) {
        let state = self.state();
        for slot in &wgmma.accumulators {
            let Some(register) = registers.b32.get_mut(*slot as usize) else { continue };
            let held = state.held.entry(*slot).or_insert(Held { values: *register, writers: 0 });
            held.writers += 1;
            *register = [u32::from_ne_bytes([POISON; 4]); 32];
        }
        state.unwaited.push_back(Arc::new(wgmma));
    }

    /// The first in flight, which is the next to end, and what its accumulators held.
    pub fn next(&self) -> Option<(Arc<Wgmma>, Vec<PerLane<u32>>)> {
        let wgmma = self.in_flight().next()?;
        let held = |slot: &u32| self.0.as_ref().and_then(|state| state.held.get(slot)).map_or([0; 32], |held| held.values);
        Some((wgmma.clone(), wgmma.accumulators.iter().map(held).collect()))
    }

    /// The first in flight ends with these results. An accumulator that another one will write stays aside.
    pub fn end_next(&mut self, results: &[PerLane<u32>], registers: &mut Registers) {
        let Some(wgmma) = self.in_flight().next().cloned() else { return };
        let state = self.state();
        state.ended += 1;
        for (slot, values) in wgmma.accumulators.iter().zip(results) {
            let Some(held) = state.held.get_mut(slot) else { continue };
            held.values = *values;
            held.writers -= 1;
            if held.writers == 0 {
                state.held.remove(slot);
                if let Some(register) = registers.b32.get_mut(*slot as usize) {
                    *register = *values;
                }
            }
        }
    }

    /// The warp has waited for all groups below `done`, which have ended.
    pub fn waited(&mut self, done: u32) {
        let count = self.unwaited().take_while(|wgmma| wgmma.group < done).count();
        if count > 0 {
            let state = self.state();
            state.unwaited.drain(..count);
            state.ended = state.ended.saturating_sub(count);
        }
    }

    /// The warp has exited: what is in flight never ends.
    pub fn abandon(&mut self) -> Vec<Arc<Wgmma>> {
        let abandoned = self.unwaited().cloned().collect();
        self.0 = None;
        abandoned
    }

    /// Bytes it takes.
    pub fn bytes(&self) -> u64 {
        self.0.as_ref().map_or(0, |state| (state.held.len() * size_of::<(u32, Held)>()) as u64)
    }

    /// Adds everything to `digest`.
    pub fn digest(&self, digest: &mut Digest) {
        let Some(state) = &self.0 else { return };
        digest.word(u64::from(state.committed) << 1 | u64::from(state.fenced));
        digest.word(state.ended as u64);
        state.unwaited.iter().for_each(|wgmma| digest.word(wgmma.id));
        for (slot, held) in &state.held {
            digest.word(u64::from(*slot) << 32 | u64::from(held.writers));
            held.values.iter().for_each(|value| digest.word(u64::from(*value)));
        }
    }
}
