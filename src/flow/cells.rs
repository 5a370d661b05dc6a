//! Cells: dense numbers for the registers of a program, as indices into vectors of facts.

use std::ops::Range;

use crate::program::operands::RegisterOperand;
use crate::program::{Bank, FuncId, Program, Slot, Slots};

/// The cells of one function's frame: its 32-bit slots, then its 64-bit slots, then its predicates.
#[derive(Clone, Copy, Debug, Default)]
pub struct FrameCells {
    /// The first cell of each bank.
    starts: [u32; 3],
    end: u32,
}

impl FrameCells {
    /// The cells of `slots`, numbered from `first`.
    pub fn new(slots: Slots, first: u32) -> Self {
        let wide = first + slots.b32;
        let pred = wide + slots.b64;
        Self { starts: [first, wide, pred], end: pred + slots.pred }
    }

    /// The number after the last cell.
    pub fn end(&self) -> usize {
        self.end as usize
    }

    /// The cell of a slot.
    #[inline]
    pub fn cell(&self, bank: Bank, slot: Slot) -> u32 {
        self.starts[bank as usize] + slot.0
    }

    /// The cells of the slots that a register operand consists of.
    pub fn of(&self, register: RegisterOperand) -> Range<usize> {
        let first = self.cell(register.bank, register.slot) as usize;
        first..first + register.width as usize
    }
}

/// The cells of several functions of a program.
#[derive(Clone, Debug)]
pub struct Cells {
    frames: Vec<FrameCells>,
    count: u32,
}

impl Cells {
    /// Numbers the registers of `functions`, in that order.
    pub fn new(program: &Program, functions: impl IntoIterator<Item = FuncId>) -> Self {
        let mut frames = vec![FrameCells::default(); program.functions.len()];
        let mut count = 0;
        for id in functions {
            frames[id.index()] = FrameCells::new(program.functions[id.index()].slots, count);
            count = frames[id.index()].end;
        }
        Self { frames, count }
    }

    /// Numbers the registers of all functions.
    pub fn of_program(program: &Program) -> Self {
        Self::new(program, (0..program.functions.len()).map(FuncId::new))
    }

    /// The number of cells.
    pub fn count(&self) -> usize {
        self.count as usize
    }

    /// The cells of one function, which must be among the numbered ones.
    #[inline]
    pub fn frame(&self, function: FuncId) -> &FrameCells {
        &self.frames[function.index()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn banks_follow_each_other() {
        let frame = FrameCells::new(Slots { b32: 3, b64: 2, pred: 1 }, 10);
        assert_eq!([frame.cell(Bank::B32, Slot(2)), frame.cell(Bank::B64, Slot(0)), frame.cell(Bank::Pred, Slot(0))], [12, 13, 15]);
        assert_eq!(frame.end(), 16);
        assert_eq!(frame.of(RegisterOperand { bank: Bank::B64, slot: Slot(0), width: 2 }), 13..15);
    }
}
