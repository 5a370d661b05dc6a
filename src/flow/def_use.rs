//! Reaching definitions: the instructions that a value may come from, found for each read on request.
//!
//! A guarded write is one of several definitions: lanes that do not execute it keep what they had.

use std::ops::Range;

use super::graph::Blocks;
use super::reach::closure;
use crate::program::operands::{RegisterOperand, call_results, writes};
use crate::program::{ControlOp, Op, Program};

/// A definition of a register that reaches a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Definition {
    /// The instruction at this index of `Program::code`.
    At(usize),
    /// The entry of the function: the register is a parameter, or no write reaches the read.
    Entry,
}

/// An instruction that writes a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Write {
    register: RegisterOperand,
    at: usize,
    /// True if all lanes that execute the instruction write it.
    is_certain: bool,
}

/// The writes of one function, and the paths from them.
pub struct DefUse<B> {
    blocks: B,
    /// Sorted by register, then by instruction.
    writes: Vec<Write>,
}

impl<B: Blocks> DefUse<B> {
    /// The writes of the function whose instructions are `code` and whose blocks are `blocks`.
    pub fn new(program: &Program, code: Range<usize>, blocks: B) -> Self {
        let mut found = Vec::new();
        for at in code {
            let inst = &program.code[at];
            let is_certain = inst.guard.is_none();
            let mut add = |register| found.push(Write { register, at, is_certain });
            writes(inst, program).into_iter().for_each(&mut add);
            if let Op::Control(ControlOp::Call { call, .. }) = inst.op {
                call_results(program, call).into_iter().for_each(add);
            }
        }
        found.sort_unstable();
        Self { blocks, writes: found }
    }

    /// The blocks of the function.
    pub fn blocks(&self) -> &B {
        &self.blocks
    }

    /// The number of instructions that write `register`.
    pub fn write_count(&self, register: RegisterOperand) -> usize {
        self.writes_in(register, 0..usize::MAX).len()
    }

    /// The writes of `register` in `range`, in order.
    fn writes_in(&self, register: RegisterOperand, range: Range<usize>) -> &[Write] {
        let first = self.writes.partition_point(|write| (write.register, write.at) < (register, range.start));
        let end = self.writes.partition_point(|write| (write.register, write.at) < (register, range.end));
        &self.writes[first..end]
    }

    /// The definitions that reach the read of `register` by the instruction at `at`.
    pub fn definitions(&self, register: RegisterOperand, at: usize) -> Vec<Definition> {
        let mut found = Vec::new();
        let block = self.blocks.block_at(at);
        let before = self.blocks.code(block).start..at;
        let is_live_in = self.definitions_in(register, block, before, &mut found);
        let starts = is_live_in.then(|| self.blocks.predecessor_nodes(block)).into_iter().flatten();
        closure(self.blocks.nodes(), starts, |block| {
            let is_live_in = self.definitions_in(register, block, self.blocks.code(block), &mut found);
            is_live_in.then(|| self.blocks.predecessor_nodes(block)).into_iter().flatten()
        });
        found
    }

    /// Adds the definitions in `range`, a part of `block`; true if the register may come as it was from before the block.
    fn definitions_in(&self, register: RegisterOperand, block: usize, range: Range<usize>, found: &mut Vec<Definition>) -> bool {
        let writes = self.writes_in(register, range);
        let last = writes.iter().rposition(|write| write.is_certain);
        let mut add = |definition| {
            if !found.contains(&definition) {
                found.push(definition);
            }
        };
        writes[last.unwrap_or(0)..].iter().for_each(|write| add(Definition::At(write.at)));
        if block == 0 && last.is_none() {
            add(Definition::Entry);
        }
        last.is_none()
    }

    /// The only instruction that writes `register`, if it has no guard.
    pub fn sole_write(&self, register: RegisterOperand) -> Option<usize> {
        match self.writes_in(register, 0..usize::MAX) {
            [only] if only.is_certain => Some(only.at),
            _ => None,
        }
    }

    /// Reaching definitions as [`Self::definitions`], but a register that a single instruction writes, without a guard, has only that
    /// definition: paths that bypass it are ignored.
    pub fn definitions_past_entry(&self, register: RegisterOperand, at: usize) -> Vec<Definition> {
        match self.sole_write(register) {
            Some(at) => vec![Definition::At(at)],
            None if self.write_count(register) == 0 => vec![Definition::Entry],
            None => self.definitions(register, at),
        }
    }

    /// True if `register` has the same value at `later` as at `at`, which is always executed before.
    pub fn is_unchanged(&self, register: RegisterOperand, at: usize, later: usize) -> bool {
        if self.blocks.block_at(at) == self.blocks.block_at(later) && at < later {
            return self.writes_in(register, at..later).is_empty();
        }
        let definitions = self.definitions(register, at);
        definitions.len() == 1 && definitions == self.definitions(register, later)
    }
}
