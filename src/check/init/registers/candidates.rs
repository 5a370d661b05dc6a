//! Registers that may be read before they are written: a forward analysis over the control flow of each function.
//!
//! A register is surely written at an instruction if every way there from the entry writes it; a guarded instruction may not. Reads of
//! registers that are not surely written are candidates, which the run then decides. Nearly all kernels have none.

use crate::cfg::{BlockId, ControlFlow};
use crate::program::operands::{RegisterOperand, Use, call_results, parameter_registers, registers_of};
use crate::program::{Bank, ControlOp, FuncId, Function, Inst, IntegerOp, Op, Program};

/// A set of registers of a function, one bit each.
type Set = Vec<u64>;

/// The registers of `function` that some way reads before it writes them, each once.
pub(super) fn candidates(program: &Program, function: FuncId) -> Vec<RegisterOperand> {
    let known = &program.functions[function.index()];
    if known.code.is_empty() {
        return Vec::new();
    }
    let flow = ControlFlow::new(program, function);
    let before = surely_written(program, known, &flow);
    let mut found = Vec::new();
    for (block, code) in flow.blocks() {
        let mut written = before[block.index()].clone();
        for inst in &program.code[code.start as usize..code.end as usize] {
            registers_of(inst, program, |used, register| {
                if used != Use::Write && !holds(known, &written, register) && !found.contains(&register) && !cancels(inst) {
                    found.push(register);
                }
            });
            write(program, known, inst, &mut written);
        }
    }
    found
}

/// What is surely written where each block begins; all of it where nothing leads.
fn surely_written(program: &Program, function: &Function, flow: &ControlFlow) -> Vec<Set> {
    let slots = function.slots;
    let words = (slots.b32 + slots.b64 + slots.pred).div_ceil(64) as usize;
    let blocks = flow.blocks().count();
    let mut before = vec![vec![u64::MAX; words]; blocks];
    before[0] = vec![0; words];
    parameter_registers(function).iter().for_each(|register| add(function, &mut before[0], *register));
    let mut open: Vec<BlockId> = vec![BlockId::new(0)];
    let mut is_open = vec![false; blocks];
    let mut is_seen = vec![false; blocks];
    while let Some(block) = open.pop() {
        is_open[block.index()] = false;
        is_seen[block.index()] = true;
        let mut after = before[block.index()].clone();
        let code = flow.code(block);
        program.code[code.start as usize..code.end as usize].iter().for_each(|inst| write(program, function, inst, &mut after));
        for next in flow.successors(block) {
            let set = &mut before[next.index()];
            let changed = set.iter_mut().zip(&after).fold(false, |changed, (word, after)| {
                let less = *word & after;
                std::mem::replace(word, less) != less || changed
            });
            if (changed || !is_seen[next.index()]) && !std::mem::replace(&mut is_open[next.index()], true) {
                open.push(*next);
            }
        }
    }
    before
}

/// Adds what an instruction surely writes.
fn write(program: &Program, function: &Function, inst: &Inst, written: &mut Set) {
    if inst.guard.is_some() {
        return;
    }
    registers_of(inst, program, |used, register| {
        if used == Use::Write {
            add(function, written, register);
        }
    });
    if let Op::Control(ControlOp::Call { call, .. }) = inst.op {
        call_results(program, call).iter().for_each(|register| add(function, written, *register));
    }
}

/// Whether the result does not depend on what is read, as that of `xor d, a, a`.
fn cancels(inst: &Inst) -> bool {
    use crate::isa::IntBinary::{Sub, SubSat, Xor};
    matches!(inst.op, Op::Integer(IntegerOp::Binary { f: Xor | Sub | SubSat, a, b, .. }) if a == b)
}

fn add(function: &Function, set: &mut Set, register: RegisterOperand) {
    bits(function, register).for_each(|bit| set[bit / 64] |= 1 << (bit % 64));
}

fn holds(function: &Function, set: &Set, register: RegisterOperand) -> bool {
    bits(function, register).all(|bit| set[bit / 64] >> (bit % 64) & 1 != 0)
}

fn bits(function: &Function, register: RegisterOperand) -> impl Iterator<Item = usize> {
    let slots = function.slots;
    let first = match register.bank {
        Bank::B32 => 0,
        Bank::B64 => slots.b32,
        Bank::Pred => slots.b32 + slots.b64,
    };
    (first + register.slot..first + register.slot + register.width).map(|bit| bit as usize)
}
