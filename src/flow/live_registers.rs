//! Live registers: those that some path reads before it writes them.
//!
//! A guarded instruction does not write on every path, so that what it writes stays live before it.

use fixedbitset::FixedBitSet;

use super::cells::FrameCells;
use super::graph::Blocks;
use super::solver::{Analysis, Direction, Lattice, solve};
use crate::program::operands::{Use, call_results, registers_of};
use crate::program::{ControlOp, Function, Inst, Op, Program};

/// Live registers, as cells of [`FrameCells`].
#[derive(Clone, Debug, PartialEq, Eq)]
struct Live(FixedBitSet);

impl Lattice for Live {
    fn join(&mut self, other: &Self) -> bool {
        let grows = !other.0.is_subset(&self.0);
        if grows {
            self.0.union_with(&other.0);
        }
        grows
    }
}

/// The live registers of one function.
#[derive(Clone, Debug)]
pub struct LiveRegisters {
    /// The cells of the function's registers, from 0.
    pub cells: FrameCells,
    /// The instructions of each block, and the registers that are live after it.
    after_blocks: Vec<(std::ops::Range<usize>, Live)>,
}

impl LiveRegisters {
    /// The live registers of `function`, whose control-flow graph is `blocks`.
    pub fn new<B: Blocks>(program: &Program, function: &Function, blocks: &B) -> Self {
        let cells = FrameCells::new(function.slots, 0);
        let after = solve(blocks, &Liveness { program, blocks, cells });
        Self { cells, after_blocks: after.into_iter().enumerate().map(|(block, live)| (blocks.code(block), live)).collect() }
    }

    /// The registers that are live before the instruction at index `pc` of the program's code; empty outside of the function.
    pub fn before(&self, program: &Program, pc: usize) -> FixedBitSet {
        let Some((code, after)) = self.after_blocks.iter().find(|(code, _)| code.contains(&pc)) else {
            return FixedBitSet::with_capacity(self.cells.end());
        };
        let mut live = after.clone();
        program.code[pc..code.end].iter().rev().for_each(|inst| before(program, self.cells, inst, &mut live));
        live.0
    }
}

struct Liveness<'a, B> {
    program: &'a Program,
    blocks: &'a B,
    cells: FrameCells,
}

impl<B: Blocks> Analysis for Liveness<'_, B> {
    type Fact = Live;
    const DIRECTION: Direction = Direction::Backward;

    fn bottom(&self) -> Live {
        Live(FixedBitSet::with_capacity(self.cells.end()))
    }

    /// Every block: one that leads to no end, such as an endless loop, is reached from none.
    fn start(&self, _: usize) -> Option<Live> {
        Some(self.bottom())
    }

    fn transfer(&self, block: usize, live: &mut Live) {
        self.program.code[self.blocks.code(block)].iter().rev().for_each(|inst| before(self.program, self.cells, inst, live));
    }
}

/// Turns the registers that are live after `inst` into those that are live before it.
fn before(program: &Program, cells: FrameCells, inst: &Inst, live: &mut Live) {
    if inst.guard.is_none() {
        registers_of(inst, program, |used, register| {
            if used == Use::Write {
                live.0.remove_range(cells.of(register));
            }
        });
        if let Op::Control(ControlOp::Call { call, .. }) = inst.op {
            call_results(program, call).iter().for_each(|register| live.0.remove_range(cells.of(*register)));
        }
    }
    registers_of(inst, program, |used, register| {
        if used != Use::Write {
            live.0.insert_range(cells.of(register));
        }
    });
}
