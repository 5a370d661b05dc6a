//! Control flow and data flow of a function: its basic blocks as the assembler forms them, the definition of each value, and its readers.

use std::ops::Range;

use crate::flow::def_use::{DefUse, Definition};
use crate::flow::graph;
use crate::flow::graph::{Blocks as _, Edges, Graph};
use crate::flow::liveness::live;
use crate::isa::{FloatBinary, FloatType, FloatUnary, Space};
use crate::program::operands::{RegisterOperand, RegisterOperands, reads, result_registers, writes};
use crate::program::{ControlOp, FloatOp, MemoryOp, Op, Program, WarpOp};

/// The basic blocks of `start..end`. A branch to the next instruction does not end a block.
fn blocks(program: &Program, start: usize, end: usize) -> Vec<Range<usize>> {
    let mut starts = vec![false; end - start + 1];
    let mut begin = |at: usize| {
        if let Some(first) = at.checked_sub(start).and_then(|at| starts.get_mut(at)) {
            *first = true;
        }
    };
    for at in start..end {
        let inst = &program.code[at];
        if calls_subroutine(&inst.op) || inst.guard.is_some() && is_branched_around(&inst.op) {
            begin(at + 1);
        }
        let Op::Control(op) = &program.code[at].op else { continue };
        match op {
            ControlOp::Branch { target, .. } if target.index() == at + 1 => {}
            ControlOp::Branch { .. } | ControlOp::BranchIndexed { .. } => {
                program.code[at].op.targets(program).iter().for_each(|target| begin(target.index()));
                begin(at + 1);
            }
            ControlOp::Call { .. } | ControlOp::SystemCall { .. } | ControlOp::Return { .. } | ControlOp::Exit => begin(at + 1),
            ControlOp::Trap | ControlOp::Breakpoint => {}
        }
    }
    let mut blocks = Vec::new();
    let mut first = start;
    for at in start + 1..=end {
        if at == end || starts[at - start] {
            blocks.push(first..at);
            first = at;
        }
    }
    blocks
}

/// True if the assembler calls a subroutine for operands out of the range of its approximation: a quotient, reciprocal or root that is
/// rounded, and a reciprocal root of 64 bits.
fn calls_subroutine(op: &Op) -> bool {
    matches!(
        op,
        Op::Float(
            FloatOp::Binary { f: FloatBinary::Div, .. }
                | FloatOp::Unary { f: FloatUnary::Rcp | FloatUnary::Sqrt, .. }
                | FloatOp::Unary { f: FloatUnary::RsqrtApprox, ty: FloatType::F64, .. }
        )
    )
}

/// True if the assembler makes a branch of the guard of `op`, rather than a selection of its result: accesses to memory, what orders
/// threads, and collectives but `shfl`.
fn is_branched_around(op: &Op) -> bool {
    match op {
        Op::Integer(_)
        | Op::Bits(_)
        | Op::Float(_)
        | Op::Video(_)
        | Op::Compare(_)
        | Op::Select(_)
        | Op::Convert(_)
        | Op::Move(_)
        | Op::Cluster(_)
        | Op::Unsupported { .. }
        | Op::Warp(WarpOp::Shuffle { .. }) => false,
        Op::Memory(MemoryOp::Load { access, .. } | MemoryOp::LoadVector { access, .. }) => access.space != Space::Param,
        Op::Control(op) => matches!(op, ControlOp::Trap | ControlOp::Breakpoint),
        Op::Memory(_)
        | Op::Atomic(_)
        | Op::Async(_)
        | Op::TensorMap(_)
        | Op::Wgmma(_)
        | Op::Stack(_)
        | Op::Sync(_)
        | Op::Mbarrier(_)
        | Op::Warp(_)
        | Op::Image { .. }
        | Op::Matrix { .. }
        | Op::Nop => true,
    }
}

/// The successors of the block that ends before `end`.
fn successors(program: &Program, blocks: &[Range<usize>], end: usize) -> Vec<usize> {
    let Some(last) = end.checked_sub(1).and_then(|last| program.code.get(last)) else { return Vec::new() };
    let mut starts: Vec<usize> = last.op.targets(program).iter().map(|target| target.index()).collect();
    let ends = matches!(
        last.op,
        Op::Control(ControlOp::Branch { .. } | ControlOp::BranchIndexed { .. } | ControlOp::Return { .. } | ControlOp::Exit)
    );
    if !ends || last.guard.is_some() {
        starts.push(end);
    }
    starts.iter().filter_map(|start| blocks.binary_search_by_key(start, |block| block.start).ok()).collect()
}

/// The basic blocks of a function, in order.
pub(super) struct Blocks {
    code: Vec<Range<usize>>,
    edges: Edges,
}

impl Blocks {
    fn new(program: &Program, start: usize, end: usize) -> Self {
        let code = blocks(program, start, end);
        let of = |(index, block): (usize, &Range<usize>)| {
            successors(program, &code, block.end).into_iter().map(move |next| (index as u32, next as u32))
        };
        let edges: Vec<(u32, u32)> = code.iter().enumerate().flat_map(of).collect();
        Self { edges: Edges::new(code.len(), &edges), code }
    }
}

impl Graph for Blocks {
    fn nodes(&self) -> usize {
        self.code.len()
    }

    fn successor_nodes(&self, block: usize) -> impl Iterator<Item = usize> {
        self.edges.successor_nodes(block)
    }

    fn predecessor_nodes(&self, block: usize) -> impl Iterator<Item = usize> {
        self.edges.predecessor_nodes(block)
    }
}

impl graph::Blocks for Blocks {
    fn code(&self, block: usize) -> Range<usize> {
        self.code[block].clone()
    }
}

/// A function: its definitions and uses of registers.
pub(super) struct Function {
    /// The definitions that reach each use.
    pub(super) def_use: DefUse<Blocks>,
    /// Every register with the instructions that read it, in order, without dead code, which the assembler eliminates first.
    readers: Vec<(RegisterOperand, usize)>,
    /// The registers that it returns.
    results: RegisterOperands,
    /// True if it is a kernel, whose parameters are in the constant bank.
    pub(super) is_kernel: bool,
}

impl Function {
    /// Function number `index` of `program`.
    pub(super) fn new(program: &Program, index: usize) -> Self {
        let function = &program.functions[index];
        let (start, end) = (function.code.start as usize, function.code.end as usize);
        let def_use = DefUse::new(program, start..end, Blocks::new(program, start, end));
        let (results, is_kernel) = (result_registers(function), function.is_kernel);
        let writes_result = |at: usize| writes(&program.code[at], program).iter().any(|register| results.contains(register));
        let is_needed = |at: usize| !program.code[at].op.effects(program).only_computes() || writes_result(at);
        let live = live(program, start..end, &def_use, is_needed);
        let read = live
            .ones()
            .map(|index| start + index)
            .flat_map(|at| reads(&program.code[at], program).into_iter().map(move |register| (register, at)));
        let mut readers: Vec<(RegisterOperand, usize)> = read.collect();
        readers.sort_unstable();
        Self { def_use, readers, results, is_kernel }
    }

    /// The instructions that read `register`, in order, with it.
    fn readers_of(&self, register: RegisterOperand) -> &[(RegisterOperand, usize)] {
        let first = self.readers.partition_point(|(other, _)| *other < register);
        let end = self.readers.partition_point(|(other, _)| *other <= register);
        &self.readers[first..end]
    }

    /// The instructions that read the value which the one at `at` writes to `register`, in order; `None` if another definition may reach
    /// one of them too, or the function returns the value. With `in_block` also if one of them is in another basic block.
    pub(super) fn readers(&self, register: RegisterOperand, at: usize, in_block: bool) -> Option<Vec<usize>> {
        if self.results.contains(&register) {
            return None;
        }
        let blocks = self.def_use.blocks();
        let block = blocks.code(blocks.block_at(at));
        let is_only = self.def_use.write_count(register) == 1;
        let mut found = Vec::new();
        for (_, reader) in self.readers_of(register) {
            let is_inside = block.contains(reader) && *reader > at;
            if in_block && is_only && !is_inside && *reader != at {
                return None;
            }
            let definitions = self.def_use.definitions(register, *reader);
            match (definitions.contains(&Definition::At(at)), definitions.len()) {
                (false, _) => {}
                (true, 1) if is_inside || !in_block => found.push(*reader),
                (true, _) => return None,
            }
        }
        Some(found)
    }
}
