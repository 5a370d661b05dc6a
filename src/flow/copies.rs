//! Available copies: the registers that hold the value of one register because a `mov` has copied it, on every path.
//!
//! A guarded instruction does not copy on every path, but may write on some. A call writes its results when it returns.

use fixedbitset::FixedBitSet;

use super::cells::FrameCells;
use super::graph::Blocks;
use super::solver::{Analysis, Direction, OnEveryPath, solve};
use crate::program::operands::{call_results, writes};
use crate::program::{ControlOp, Function, Inst, MoveOp, Op, Program, SrcKind};

struct AvailableCopies<'a, B> {
    program: &'a Program,
    blocks: &'a B,
    cells: FrameCells,
    /// The register, as a cell.
    of: usize,
}

/// The registers that hold the value of the register `of` before the instruction at index `pc` of the program's code, as cells of
/// [`FrameCells`] from 0, without itself.
///
/// # Panics
/// The instruction is not one of `function`, whose control-flow graph is `blocks`.
pub fn copies_before<B: Blocks>(program: &Program, function: &Function, blocks: &B, of: usize, pc: usize) -> FixedBitSet {
    assert!(function.code.contains(&(pc as u32)), "the instruction is one of the function");
    let analysis = AvailableCopies { program, blocks, cells: FrameCells::new(function.slots, 0), of };
    let block = blocks.block_at(pc);
    let mut copies = solve(blocks, &analysis).swap_remove(block);
    program.code[blocks.code(block).start..pc].iter().for_each(|inst| analysis.execute(inst, &mut copies.0));
    copies.0
}

impl<B> AvailableCopies<'_, B> {
    fn execute(&self, inst: &Inst, copies: &mut FixedBitSet) {
        if let Some((to, from)) = self.copied(inst) {
            let is_copy = from == self.of || copies.contains(from);
            match to == self.of {
                true if is_copy => {}
                true => {
                    copies.clear();
                    copies.insert(from);
                }
                false => copies.set(to, is_copy),
            }
            return;
        }
        let mut write = |cells: std::ops::Range<usize>| match cells.contains(&self.of) {
            true => copies.clear(),
            false => copies.remove_range(cells),
        };
        writes(inst, self.program).iter().for_each(|register| write(self.cells.of(*register)));
        if let Op::Control(ControlOp::Call { call, .. }) = inst.op {
            call_results(self.program, call).iter().for_each(|register| write(self.cells.of(*register)));
        }
    }

    /// The registers to and from which an instruction copies on every path.
    fn copied(&self, inst: &Inst) -> Option<(usize, usize)> {
        let Op::Move(MoveOp::Move { width, d, a }) = inst.op else { return None };
        let SrcKind::Reg(from) = a.kind() else { return None };
        let cell = |slot| self.cells.cell(width.bank(), slot) as usize;
        inst.guard.is_none().then(|| (cell(d.0), cell(from)))
    }
}

impl<B: Blocks> Analysis for AvailableCopies<'_, B> {
    type Fact = OnEveryPath;
    const DIRECTION: Direction = Direction::Forward;

    fn bottom(&self) -> OnEveryPath {
        OnEveryPath::all(self.cells.end())
    }

    fn start(&self, block: usize) -> Option<OnEveryPath> {
        (block == 0).then(|| OnEveryPath(FixedBitSet::with_capacity(self.cells.end())))
    }

    fn transfer(&self, block: usize, copies: &mut OnEveryPath) {
        self.program.code[self.blocks.code(block)].iter().for_each(|inst| self.execute(inst, &mut copies.0));
    }
}
