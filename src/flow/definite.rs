//! Definite assignment: the registers that every path from the entry writes.
//!
//! A guarded instruction does not write on every path. A call writes its results when it returns.

use fixedbitset::FixedBitSet;

use super::cells::FrameCells;
use super::graph::Blocks;
use super::solver::{Analysis, Direction, OnEveryPath, solve};
use crate::program::operands::{Use, call_results, parameter_registers, registers_of};
use crate::program::{ControlOp, Function, Inst, Op, Program};

/// The analysis of definite assignment in one function.
pub struct DefiniteAssignment<'a, B> {
    program: &'a Program,
    function: &'a Function,
    blocks: &'a B,
    /// The cells of the function's registers, from 0.
    pub cells: FrameCells,
}

impl<'a, B: Blocks> DefiniteAssignment<'a, B> {
    /// The analysis of `function`, whose control-flow graph is `blocks`.
    pub fn new(program: &'a Program, function: &'a Function, blocks: &'a B) -> Self {
        Self { program, function, blocks, cells: FrameCells::new(function.slots, 0) }
    }

    /// The registers that are definitely assigned at the start of each block; all of them in unreachable blocks.
    pub fn before_blocks(&self) -> Vec<OnEveryPath> {
        solve(self.blocks, self)
    }

    /// Adds the registers that `inst` writes unconditionally.
    pub fn execute(&self, inst: &Inst, assigned: &mut OnEveryPath) {
        if inst.guard.is_some() {
            return;
        }
        registers_of(inst, self.program, |used, register| {
            if used == Use::Write {
                assigned.0.insert_range(self.cells.of(register));
            }
        });
        if let Op::Control(ControlOp::Call { call, .. }) = inst.op {
            call_results(self.program, call).iter().for_each(|register| assigned.0.insert_range(self.cells.of(*register)));
        }
    }
}

impl<B: Blocks> Analysis for DefiniteAssignment<'_, B> {
    type Fact = OnEveryPath;
    const DIRECTION: Direction = Direction::Forward;

    fn bottom(&self) -> OnEveryPath {
        OnEveryPath::all(self.cells.end())
    }

    fn start(&self, block: usize) -> Option<OnEveryPath> {
        let mut parameters = FixedBitSet::with_capacity(self.cells.end());
        parameter_registers(self.function).iter().for_each(|register| parameters.insert_range(self.cells.of(*register)));
        (block == 0).then_some(OnEveryPath(parameters))
    }

    fn transfer(&self, block: usize, assigned: &mut OnEveryPath) {
        self.program.code[self.blocks.code(block)].iter().for_each(|inst| self.execute(inst, assigned));
    }
}
