//! Definedness: for each register of a warp the lanes that have written it since its frame was entered.
//!
//! Registers start as zero here, but with any value on hardware; a debugger marks those that were never written. It asks seldom, so code
//! of the kernel that was executed is only noted as a range; its registers are marked when the note makes room for another.

use std::hash::{Hash, Hasher};

use smallvec::SmallVec;
use triomphe::Arc;

use crate::machine::state::coverage::WriteTable;
use crate::machine::state::lanes::LaneMask;
use crate::machine::state::registers::FrameBase;
use crate::program::operands::RegisterOperand;
use crate::program::{Bank, Pc, Slot};

/// The lanes that have written the registers of each bank, by slot; none for slots past the end. A few registers are stored inline, since
/// a grid may start very many warps.
type Banks = [SmallVec<[LaneMask; 16]>; 3];

/// For each register of a warp the lanes that have written it.
#[derive(Clone)]
pub struct Definedness {
    writes: Arc<WriteTable>,
    /// What is marked.
    banks: Banks,
    /// The code of the kernel that was executed and whose registers may not be marked, in a table by its start.
    executed: [CodeRange; RANGES],
}

/// Entries of the table of ranges.
const RANGES: usize = 16;

/// Code from `start` to before `end` that `lanes` have executed.
#[derive(Clone, Copy)]
struct CodeRange {
    start: Pc,
    end: Pc,
    lanes: LaneMask,
}

impl CodeRange {
    /// Code that no lane has executed.
    const NONE: Self = Self { start: Pc(0), end: Pc(0), lanes: LaneMask::NONE };
}

impl Definedness {
    /// Nothing is written, by a program with these writes.
    pub(in crate::machine) fn new(writes: Arc<WriteTable>) -> Self {
        Self { writes, banks: Banks::default(), executed: [CodeRange::NONE; RANGES] }
    }

    /// The lanes that have written the register in slot `slot` of `bank`, counted over the whole bank.
    pub fn lanes(&self, bank: Bank, slot: Slot) -> LaneMask {
        let marked = self.banks[bank as usize].get(slot.index()).copied().unwrap_or(LaneMask::NONE);
        let has_slot = |register: &RegisterOperand| register.bank == bank && register.slot.run(register.width).any(|own| own == slot);
        let writes = |range: &&CodeRange| self.writes.in_range(range.start, range.end).iter().any(has_slot);
        let executed = self.executed.iter().filter(|range| !range.lanes.is_empty());
        executed.filter(writes).fold(marked, |lanes, range| lanes | range.lanes)
    }

    /// Records that `lanes` have written `register` in the frame at `frame`.
    #[inline]
    pub(in crate::machine) fn mark(&mut self, frame: FrameBase, register: RegisterOperand, lanes: LaneMask) {
        mark(&mut self.banks, frame, &register, lanes);
    }

    /// Records that `lanes` have executed the instructions from `start` to before `end` in the frame at `frame`. Not inlined: runs that
    /// do not record that are faster.
    #[inline(never)]
    pub(in crate::machine) fn mark_range(&mut self, (frame, lanes): (FrameBase, LaneMask), start: Pc, end: Pc) {
        debug_assert!(start <= end, "a range ends before it starts");
        let mut range = CodeRange { start, end, lanes };
        // Registers of the kernel stay written; those of another function only until it is called again.
        if frame.is_first() {
            let noted = &mut self.executed[start.index() % RANGES];
            if noted.start == start && noted.end >= end && noted.lanes.contains_all(lanes) {
                return;
            }
            // Other lanes execute the same range, as in a loop that lanes leave one after the other.
            if noted.start == start && noted.end == end {
                noted.lanes |= lanes;
                return;
            }
            range = std::mem::replace(noted, range);
        }
        if !range.lanes.is_empty() {
            mark_all(&mut self.banks, &self.writes, frame, range);
        }
    }

    /// Makes room for a frame from `base` to `end`, in which `lanes` have written nothing.
    pub(in crate::machine) fn enter(&mut self, base: FrameBase, end: FrameBase, lanes: LaneMask) {
        if base.is_first() {
            self.executed.iter_mut().for_each(|range| range.lanes &= !lanes);
        }
        for bank in [Bank::B32, Bank::B64, Bank::Pred] {
            let masks = &mut self.banks[bank as usize];
            let end = end.slot(bank).index().min(masks.len());
            let start = base.slot(bank).index().min(end);
            masks[start..end].iter_mut().for_each(|mask| *mask &= !lanes);
        }
    }

    /// Starts over: nothing is written.
    pub(in crate::machine) fn restart(&mut self) {
        self.banks.iter_mut().for_each(SmallVec::clear);
        self.executed = [CodeRange::NONE; RANGES];
    }

    /// Its size in bytes.
    pub(in crate::machine) fn bytes(&self) -> usize {
        self.banks.iter().map(|masks| size_of_val(&**masks)).sum()
    }
}

/// Records that lanes have executed code in the frame at `frame`.
#[inline(never)]
fn mark_all(banks: &mut Banks, writes: &WriteTable, frame: FrameBase, range: CodeRange) {
    for register in writes.in_range(range.start, range.end) {
        mark(banks, frame, register, range.lanes);
    }
}

/// Records that `lanes` have written `register` in the frame at `frame`.
#[inline(always)]
fn mark(banks: &mut Banks, frame: FrameBase, register: &RegisterOperand, lanes: LaneMask) {
    let masks = &mut banks[register.bank as usize];
    let first = register.slot.in_frame(frame.slot(register.bank)).index();
    let end = first + register.width as usize;
    if masks.len() < end {
        masks.resize(end, LaneMask::NONE);
    }
    masks[first..end].iter_mut().for_each(|mask| *mask |= lanes);
}

impl Hash for Definedness {
    /// Whether something is marked or noted makes no difference.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let mut banks = self.banks.clone();
        for range in &self.executed {
            mark_all(&mut banks, &self.writes, FrameBase::default(), *range);
        }
        for mut masks in banks {
            masks.truncate(masks.iter().rposition(|mask| !mask.is_empty()).map_or(0, |last| last + 1));
            masks.hash(state);
        }
    }
}
