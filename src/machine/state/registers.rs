//! The register file of a warp, as a structure of arrays: a register is an array of 32 lane values.
//!
//! Every call has a frame: a base in each bank. Lanes in different calls may use the same slots for different functions' frames, because
//! they use different lanes of them.

use triomphe::Arc;

use crate::machine::state::coverage::WriteTable;
use crate::machine::state::definedness::Definedness;
use crate::machine::state::lanes::{LANES, LaneMask, PerLane, Word, blend};
use crate::program::operands::RegisterOperand;
use crate::program::{Bank, Pc, Slot, Slots};

/// The registers of one warp.
#[derive(Clone, Default, Hash)]
pub struct Registers {
    /// Registers of up to 32 bits, 8- and 16-bit ones zero-extended.
    pub b32: Vec<PerLane<u32>>,
    /// Registers of 64 bits, and halves of 128.
    pub b64: Vec<PerLane<u64>>,
    /// Predicates, one bit a lane.
    pub pred: Vec<LaneMask>,
    /// The condition code's carry flag, one bit a lane.
    pub carry: LaneMask,
    /// The lanes in which each register was ever written; none unless the launch records it.
    pub written: Option<Definedness>,
}

/// The frame of a call: the start of its registers and its local memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct FrameBase {
    /// First slot in the 32-bit bank.
    pub b32: Slot,
    /// First slot in the 64-bit bank.
    pub b64: Slot,
    /// First slot in the predicate bank.
    pub pred: Slot,
    /// Address of the frame's block of local memory.
    pub local: u32,
}

impl FrameBase {
    /// True if no register lies before it: it is the kernel's frame, or the kernel has no registers.
    pub fn is_first(self) -> bool {
        self.b32.0 | self.b64.0 | self.pred.0 == 0
    }

    /// First slot in `bank`.
    pub fn slot(self, bank: Bank) -> Slot {
        match bank {
            Bank::B32 => self.b32,
            Bank::B64 => self.b64,
            Bank::Pred => self.pred,
        }
    }

    /// The base of the frame after this one, which belongs to a function with `slots` and `frame_bytes`.
    pub fn after(self, slots: Slots, frame_bytes: u32) -> Self {
        debug_assert!(
            self.b32.0.checked_add(slots.b32).is_some() && self.b64.0.checked_add(slots.b64).is_some(),
            "banks hold 2^32 registers"
        );
        Self {
            b32: self.b32.offset(slots.b32),
            b64: self.b64.offset(slots.b64),
            pred: self.pred.offset(slots.pred),
            local: self.local.saturating_add(frame_bytes),
        }
    }
}

impl Registers {
    /// Starts over with a first frame of `slots`, all zeros, in the memory that there is. If a launch has `writes`, it records definedness.
    pub fn restart(&mut self, slots: Slots, writes: Option<&Arc<WriteTable>>) {
        let Self { b32, b64, pred, carry, written } = self;
        zero(b32, slots.b32 as usize);
        zero(b64, slots.b64 as usize);
        pred.clear();
        pred.resize(slots.pred as usize, LaneMask::NONE);
        *carry = LaneMask::NONE;
        match (writes, written) {
            (Some(_), Some(written)) => written.restart(),
            (writes, written) => *written = writes.map(|writes| Definedness::new(Arc::clone(writes))),
        }
    }

    /// Allocates a frame of `slots` at `base`, and zeroes it for the lanes of `mask`.
    pub fn enter(&mut self, base: FrameBase, slots: Slots, mask: LaneMask) {
        let (b32, b64, pred) = (base.b32.index(), base.b64.index(), base.pred.index());
        let (end32, end64, end_pred) = (b32 + slots.b32 as usize, b64 + slots.b64 as usize, pred + slots.pred as usize);
        clear(&mut self.b32, b32, end32, mask);
        clear(&mut self.b64, b64, end64, mask);
        if self.pred.len() < end_pred {
            self.pred.resize(end_pred, LaneMask::NONE);
        }
        self.pred[pred..end_pred].iter_mut().for_each(|bits| *bits &= !mask);
        if let Some(written) = &mut self.written {
            written.enter(base, base.after(slots, 0), mask);
        }
        assert!(self.b32.len() >= end32 && self.b64.len() >= end64 && self.pred.len() >= end_pred, "the frame has no room");
    }

    /// Records that `lanes` have written these registers of the frame at `frame`.
    #[inline]
    pub fn mark_written(&mut self, frame: FrameBase, registers: &[RegisterOperand], lanes: LaneMask) {
        if let Some(written) = &mut self.written {
            registers.iter().for_each(|register| written.mark(frame, *register, lanes));
        }
    }

    /// Records that `lanes` have executed the instructions from `start` to before `end` in the frame at `frame`.
    #[inline]
    pub fn mark_range(&mut self, (frame, lanes): (FrameBase, LaneMask), start: Pc, end: Pc) {
        if let Some(written) = &mut self.written {
            written.mark_range((frame, lanes), start, end);
        }
    }

    /// Zeroes a register of the frame at `frame`, in all lanes.
    pub fn clear_slots(&mut self, frame: FrameBase, register: RegisterOperand) {
        let first = register.slot.in_frame(frame.slot(register.bank)).index();
        let slots = first..first + register.width as usize;
        match register.bank {
            Bank::B32 => self.b32.get_mut(slots).into_iter().flatten().for_each(|lanes| *lanes = [0; 32]),
            Bank::B64 => self.b64.get_mut(slots).into_iter().flatten().for_each(|lanes| *lanes = [0; 32]),
            Bank::Pred => self.pred.get_mut(slots).into_iter().flatten().for_each(|lanes| *lanes = LaneMask::NONE),
        }
    }

    /// Their size in bytes, with the recorded definedness.
    pub fn bytes(&self) -> u64 {
        self.state_bytes() + self.written.as_ref().map_or(0, Definedness::bytes) as u64
    }

    /// The size of the registers alone, in bytes.
    pub fn state_bytes(&self) -> u64 {
        (size_of_val(&*self.b32) + size_of_val(&*self.b64) + size_of_val(&*self.pred)) as u64
    }
}

/// Makes a bank `count` registers of zeros.
fn zero<T: Word>(bank: &mut Vec<PerLane<T>>, count: usize) {
    bank.truncate(count);
    bank.as_flattened_mut().fill(T::NONE);
    bank.resize(count, [T::NONE; LANES]);
}

fn clear<T: Word>(bank: &mut Vec<PerLane<T>>, start: usize, end: usize, mask: LaneMask) {
    let present = bank.len().min(end);
    for register in &mut bank[start.min(present)..present] {
        blend(register, &[T::NONE; LANES], mask);
    }
    if bank.len() < end {
        bank.resize(end, [T::NONE; LANES]);
    }
}
