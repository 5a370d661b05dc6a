//! Where control and values go inside a function: its basic blocks, which instruction a value comes from, and which ones read it.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::program::operands::{RegisterOperand, RegisterOperands, call_results, computes, reads, result_registers, writes};
use crate::program::{ControlOp, Op, Program};

/// The basic blocks of `start..end`. A branch to the next instruction ends none.
fn blocks(program: &Program, start: usize, end: usize) -> Vec<Range<usize>> {
    let mut starts = vec![false; end - start + 1];
    let mut begin = |at: usize| {
        if let Some(first) = at.checked_sub(start).and_then(|at| starts.get_mut(at)) {
            *first = true;
        }
    };
    for at in start..end {
        match &program.code[at].op {
            Op::Control(ControlOp::Branch { target, .. }) if target.index() == at + 1 => {}
            Op::Control(ControlOp::Branch { target, .. }) => {
                begin(target.index());
                begin(at + 1);
            }
            Op::Control(ControlOp::BranchIndexed { table, .. }) => {
                program.tables[table.index()].iter().for_each(|target| begin(target.index()));
                begin(at + 1);
            }
            Op::Control(ControlOp::Call { .. } | ControlOp::SystemCall { .. } | ControlOp::Return { .. } | ControlOp::Exit) => {
                begin(at + 1);
            }
            _ => {}
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

/// The blocks that may be executed after the one that ends before `end`.
fn followers(program: &Program, blocks: &[Range<usize>], end: usize) -> Vec<usize> {
    let Some(last) = end.checked_sub(1).and_then(|last| program.code.get(last)) else { return Vec::new() };
    let mut starts: Vec<usize> = match &last.op {
        Op::Control(ControlOp::Branch { target, .. }) => vec![target.index()],
        Op::Control(ControlOp::BranchIndexed { table, .. }) => program.tables[table.index()].iter().map(|target| target.index()).collect(),
        _ => Vec::new(),
    };
    let ends = matches!(
        last.op,
        Op::Control(ControlOp::Branch { .. } | ControlOp::BranchIndexed { .. } | ControlOp::Return { .. } | ControlOp::Exit)
    );
    if !ends || last.guard.is_some() {
        starts.push(end);
    }
    starts.iter().filter_map(|start| blocks.binary_search_by_key(start, |block| block.start).ok()).collect()
}

/// Where a register got the value that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Definition {
    /// At the instruction with this number.
    At(usize),
    /// Nowhere in the function: it is a parameter, or never written.
    Entry,
}

/// A function: its blocks, and what its instructions read and write.
pub(super) struct Function {
    /// Its basic blocks, in order.
    blocks: Vec<Range<usize>>,
    /// The blocks from which each may be entered, by number.
    leaders: Vec<Vec<usize>>,
    /// Every register with the instructions that write it, in order.
    writers: Vec<(RegisterOperand, usize)>,
    /// The same of those that read it and whose results are needed.
    readers: Vec<(RegisterOperand, usize)>,
    /// What it hands back.
    results: RegisterOperands,
    /// Whether it is a kernel, whose parameters lie in the constant bank.
    pub(super) is_kernel: bool,
}

impl Function {
    /// Function number `index` of `program`.
    pub(super) fn new(program: &Program, index: usize) -> Self {
        let function = &program.functions[index];
        let (start, end) = (function.code.start as usize, function.code.end as usize);
        let blocks = blocks(program, start, end);
        let mut leaders = vec![Vec::new(); blocks.len()];
        for (index, block) in blocks.iter().enumerate() {
            followers(program, &blocks, block.end).into_iter().for_each(|follower| leaders[follower].push(index));
        }
        let mut writers = Vec::new();
        for at in start..end {
            let inst = &program.code[at];
            writers.extend(writes(inst, program).into_iter().map(|register| (register, at)));
            if let Op::Control(ControlOp::Call { call, .. }) = inst.op {
                writers.extend(call_results(program, call).into_iter().map(|register| (register, at)));
            }
        }
        writers.sort_unstable();
        let (results, is_kernel) = (result_registers(function), function.is_kernel);
        let mut flow = Self { blocks, leaders, writers, readers: Vec::new(), results, is_kernel };
        flow.readers = flow.live_readers(program, start..end);
        flow
    }

    /// Every register with the instructions that read it, but for those whose results nothing needs: the assembler removes these first.
    fn live_readers(&self, program: &Program, code: Range<usize>) -> Vec<(RegisterOperand, usize)> {
        let is_removable = |at: &usize| computes(&program.code[*at].op) && !self.writes_result(program, *at);
        let mut live = vec![false; code.len()];
        let mut open: Vec<usize> = code.clone().filter(|at| !is_removable(at)).collect();
        let mut readers = Vec::new();
        while let Some(at) = open.pop() {
            if std::mem::replace(&mut live[at - code.start], true) {
                continue;
            }
            for register in reads(&program.code[at], program) {
                readers.push((register, at));
                for definition in self.origins(program, register, at) {
                    match definition {
                        Definition::At(from) => open.push(from),
                        Definition::Entry => {}
                    }
                }
            }
        }
        readers.sort_unstable();
        readers
    }

    /// Whether the instruction at `at` writes what the function hands back.
    fn writes_result(&self, program: &Program, at: usize) -> bool {
        writes(&program.code[at], program).iter().any(|register| self.results.contains(register))
    }

    /// The instructions that read the value which the one at `at` writes to `register`, in order; nothing if one of them may read
    /// another value there as well, or the function hands it back. With `inside` all of them have to be in its basic block.
    pub(super) fn readers(&self, program: &Program, register: RegisterOperand, at: usize, inside: bool) -> Option<Vec<usize>> {
        if self.results.contains(&register) {
            return None;
        }
        let block = &self.blocks[self.block_of(at)];
        let is_only = among(&self.writers, register, 0..usize::MAX).len() == 1;
        let mut found = Vec::new();
        for (_, reader) in among(&self.readers, register, 0..usize::MAX) {
            let is_inside = block.contains(reader) && *reader > at;
            if inside && is_only && !is_inside && *reader != at {
                return None;
            }
            let definitions = self.definitions(program, register, *reader);
            match (definitions.contains(&Definition::At(at)), definitions.len()) {
                (false, _) => {}
                (true, 1) if is_inside || !inside => found.push(*reader),
                (true, _) => return None,
            }
        }
        Some(found)
    }

    /// Whether `register` holds at `later` what it held at `at`, which is always executed before.
    pub(super) fn stands(&self, program: &Program, register: RegisterOperand, at: usize, later: usize) -> bool {
        if self.block_of(at) == self.block_of(later) && at < later {
            return among(&self.writers, register, at..later).is_empty();
        }
        let definitions = self.definitions(program, register, at);
        definitions.len() == 1 && definitions == self.definitions(program, register, later)
    }

    /// Where the value may come from that the instruction at `at` reads in `register`; a guarded write is one of several.
    pub(super) fn definitions(&self, program: &Program, register: RegisterOperand, at: usize) -> Vec<Definition> {
        let mut found = Vec::new();
        let mut seen = BTreeSet::new();
        let block = self.block_of(at);
        let mut open = vec![(block, at)];
        while let Some((block, end)) = open.pop() {
            let range = self.blocks[block].start..end;
            let writers = among(&self.writers, register, range);
            let last = writers.iter().rposition(|(_, pc)| program.code[*pc].guard.is_none());
            for (_, pc) in &writers[last.unwrap_or(0)..] {
                if !found.contains(&Definition::At(*pc)) {
                    found.push(Definition::At(*pc));
                }
            }
            if last.is_some() {
                continue;
            }
            if block == 0 && !found.contains(&Definition::Entry) {
                found.push(Definition::Entry);
            }
            let leaders = self.leaders[block].iter().filter(|leader| seen.insert(**leader));
            open.extend(leaders.map(|leader| (*leader, self.blocks[*leader].end)));
        }
        found
    }

    /// The same as [`Self::definitions`], where a register that one instruction writes has no other value than that.
    pub(super) fn origins(&self, program: &Program, register: RegisterOperand, at: usize) -> Vec<Definition> {
        match among(&self.writers, register, 0..usize::MAX) {
            [] => vec![Definition::Entry],
            [(_, only)] if program.code[*only].guard.is_none() => vec![Definition::At(*only)],
            _ => self.definitions(program, register, at),
        }
    }

    fn block_of(&self, at: usize) -> usize {
        self.blocks.partition_point(|block| block.end <= at)
    }
}

/// The instructions of `range` among `accesses` of `register`, in order.
fn among(accesses: &[(RegisterOperand, usize)], register: RegisterOperand, range: Range<usize>) -> &[(RegisterOperand, usize)] {
    let first = accesses.partition_point(|access| *access < (register, range.start));
    let end = accesses.partition_point(|access| *access < (register, range.end));
    &accesses[first..end]
}
