//! The registers that are tracked in a run: those that the value of a candidate, or the result of `shfl`, can flow into, and the
//! instructions that use them. Loaded values can flow into every register.

use std::ops::Range;

use super::candidates::candidates;
use super::kinds::{computes_from_registers, is_collective, only_computes};
use crate::flow::cells::FrameCells;
use crate::flow::taint::Taint;
use crate::program::operands::{RegisterOperand, RegisterOperands, Use, registers_of, writes};
use crate::program::{Bank, ControlOp, FuncId, Inst, Op, Program, WarpOp};

/// The tracked registers of one function, numbered by their cells.
#[derive(Debug, Default)]
pub(super) struct TrackedRegisters {
    cells: FrameCells,
    /// The registers that may be read before they are written.
    pub unwritten: Vec<usize>,
}

impl TrackedRegisters {
    /// The number of tracked registers.
    pub fn len(&self) -> usize {
        self.cells.end()
    }

    /// The numbers of the cells of `register`.
    pub fn numbers(&self, register: RegisterOperand) -> Range<usize> {
        self.cells.of(register)
    }
}

/// The tracked registers and instructions of a program.
#[derive(Debug, Default)]
pub(super) struct Tracking {
    /// The functions.
    functions: Vec<TrackedRegisters>,
    /// By pc, whether an instruction uses a register that may be undefined even if no undefined value is loaded, is a warp collective, or
    /// calls a function.
    pub code: Vec<bool>,
    /// True if some function has candidates.
    pub has_unwritten: bool,
}

impl Tracking {
    /// Analyzes a program.
    pub fn new(program: &Program) -> Self {
        let mut functions = Vec::with_capacity(program.functions.len());
        let mut code = vec![false; program.code.len()];
        for id in (0..program.functions.len()).map(FuncId::new) {
            let tracked = tracked(program, id);
            flag(program, id, &tracked, &mut code);
            functions.push(tracked);
        }
        if code.contains(&true) {
            let calls = program.code.iter().zip(&mut code).filter(|(inst, _)| matches!(inst.op, Op::Control(ControlOp::Call { .. })));
            calls.for_each(|(_, flag)| *flag = true);
        }
        let has_unwritten = functions.iter().any(|tracked| !tracked.unwritten.is_empty());
        Self { functions, code, has_unwritten }
    }

    /// The registers of a function.
    pub fn function(&self, id: FuncId) -> &TrackedRegisters {
        &self.functions[id.index()]
    }

    /// All functions.
    pub fn functions(&self) -> impl Iterator<Item = (FuncId, &TrackedRegisters)> {
        (0..self.functions.len()).map(FuncId::new).zip(&self.functions)
    }
}

/// The registers of a function.
fn tracked(program: &Program, id: FuncId) -> TrackedRegisters {
    let cells = FrameCells::new(program.functions[id.index()].slots, 0);
    let mut unwritten: Vec<usize> = candidates(program, id).into_iter().flat_map(|register| cells.of(register)).collect();
    unwritten.sort_unstable();
    unwritten.dedup();
    TrackedRegisters { cells, unwritten }
}

/// Flags the instructions that use a register into which the value of a candidate, or a result of `shfl`, can flow.
fn flag(program: &Program, id: FuncId, tracked: &TrackedRegisters, flags: &mut [bool]) {
    let range = program.functions[id.index()].code.start as usize..program.functions[id.index()].code.end as usize;
    let code = &program.code[range.clone()];
    let mut sources = tracked.unwritten.clone();
    for inst in code.iter().filter(|inst| matches!(inst.op, Op::Warp(WarpOp::Shuffle { .. }))) {
        let values = writes(inst, program).into_iter().filter(|register| register.bank != Bank::Pred);
        sources.extend(values.flat_map(|register| tracked.numbers(register)));
    }
    if sources.is_empty() {
        return;
    }
    let mut tainted = taint(program, code, &tracked.cells).spread(sources.iter().copied());
    sources.into_iter().for_each(|number| tainted.insert(number));
    for (inst, flag) in code.iter().zip(&mut flags[range]) {
        let mut touches = is_collective(&inst.op, program);
        registers_of(inst, program, |_, register| touches |= tracked.numbers(register).any(|number| tainted.contains(number)));
        *flag |= touches;
    }
}

/// The flow of values through registers by instructions that copy or compute.
fn taint(program: &Program, code: &[Inst], cells: &FrameCells) -> Taint {
    let mut taint = Taint::new(cells.end());
    for inst in code.iter().filter(|inst| computes_from_registers(&inst.op, program)) {
        let (mut read, mut written) = (RegisterOperands::new(), RegisterOperands::new());
        registers_of(inst, program, |used, register| match used {
            Use::Write => written.push(register),
            Use::Read => read.push(register),
            Use::Guard if only_computes(inst, program) => read.push(register),
            Use::Guard | Use::Address => {}
        });
        taint.add_rule(
            read.into_iter().flat_map(|register| cells.of(register)),
            written.into_iter().flat_map(|register| cells.of(register)),
        );
    }
    taint
}
