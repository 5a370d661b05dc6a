//! Definedness: for each register of a warp the lanes that have written it since its frame was entered.
//!
//! Registers start as zero here, but with any value on hardware; a debugger marks those that were never written.

use std::hash::{Hash, Hasher};

use smallvec::SmallVec;

use crate::machine::state::coverage::WriteTable;
use crate::machine::state::lanes::LaneMask;
use crate::machine::state::registers::FrameBase;
use crate::program::operands::RegisterOperand;
use crate::program::{Bank, Pc, Slot};

/// For each register of a warp the lanes that have written it.
#[derive(Clone, Debug, Default)]
pub struct Definedness {
    /// By bank and slot. A few registers are stored inline, since a grid may start very many warps.
    banks: [SmallVec<[LaneMask; 16]>; 3],
    /// A direct-mapped cache of ranges of the kernel's code that need no marking again, indexed by their start.
    cache: [Option<CodeRange>; CACHE_ENTRIES],
}

/// Entries of the cache of ranges.
const CACHE_ENTRIES: usize = 16;

/// Code from `start` to before `end` whose written registers are marked for `lanes`.
#[derive(Clone, Copy, Debug)]
struct CodeRange {
    start: Pc,
    end: Pc,
    lanes: LaneMask,
}

impl Definedness {
    /// The lanes that have written the register in slot `slot` of `bank`, counted over the whole bank.
    pub fn lanes(&self, bank: Bank, slot: Slot) -> LaneMask {
        self.banks[bank as usize].get(slot.index()).copied().unwrap_or(LaneMask::NONE)
    }

    /// Records that `lanes` have written `register` in the frame at `frame`.
    #[inline]
    pub(in crate::machine) fn mark(&mut self, frame: FrameBase, register: RegisterOperand, lanes: LaneMask) {
        mark(&mut self.banks[register.bank as usize], frame, &register, lanes);
    }

    /// Records that `lanes` have executed the instructions from `start` to before `end` in the frame at `frame`.
    #[inline]
    pub(in crate::machine) fn mark_range(&mut self, writes: &WriteTable, (frame, lanes): (FrameBase, LaneMask), start: Pc, end: Pc) {
        debug_assert!(start <= end, "a range ends before it starts");
        // Registers of the kernel stay written; those of another function only until it is called again.
        if frame.is_first() {
            match &mut self.cache[start.index() % CACHE_ENTRIES] {
                Some(cached) if cached.start == start && cached.end >= end && cached.lanes.contains_all(lanes) => return,
                // Other lanes execute the same range, as in a loop that lanes leave one after the other.
                Some(cached) if cached.start == start && cached.end == end => cached.lanes |= lanes,
                cached => *cached = Some(CodeRange { start, end, lanes }),
            }
        }
        let banks = self.banks.each_mut().map(SmallVec::as_mut_slice);
        for register in writes.in_range(start, end) {
            mark(banks[register.bank as usize], frame, register, lanes);
        }
    }

    /// Makes room for a frame from `base` to `end`, in which `lanes` have written nothing.
    pub(in crate::machine) fn enter(&mut self, base: FrameBase, end: FrameBase, lanes: LaneMask) {
        if base.is_first() {
            self.cache = [None; CACHE_ENTRIES];
        }
        for bank in [Bank::B32, Bank::B64, Bank::Pred] {
            let masks = &mut self.banks[bank as usize];
            let (start, end) = (base.slot(bank).index(), end.slot(bank).index());
            masks.resize(masks.len().max(end), LaneMask::NONE);
            masks[start..end].iter_mut().for_each(|mask| *mask &= !lanes);
        }
    }

    /// Starts over with a kernel's frame up to `end`, in which nothing is written.
    pub(in crate::machine) fn restart(&mut self, end: FrameBase) {
        let Self { banks, cache } = self;
        for bank in [Bank::B32, Bank::B64, Bank::Pred] {
            let (masks, end) = (&mut banks[bank as usize], end.slot(bank).index());
            masks.truncate(end);
            masks.fill(LaneMask::NONE);
            masks.resize(end, LaneMask::NONE);
        }
        *cache = [None; CACHE_ENTRIES];
    }

    /// Its size in bytes.
    pub(in crate::machine) fn bytes(&self) -> usize {
        self.banks.iter().map(|masks| size_of_val(&**masks)).sum()
    }
}

/// Records in the masks of its bank that `lanes` have written `register`.
#[inline(always)]
fn mark(masks: &mut [LaneMask], frame: FrameBase, register: &RegisterOperand, lanes: LaneMask) {
    let first = register.slot.in_frame(frame.slot(register.bank)).index();
    let masks = masks.get_mut(first..first + register.width as usize);
    masks.into_iter().flatten().for_each(|mask| *mask |= lanes);
}

impl Hash for Definedness {
    /// Without the cache of registers that are fully marked.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Self { banks, cache: _ } = self;
        banks.hash(state);
    }
}
