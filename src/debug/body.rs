//! Where the body of a function begins, after the instructions that fetch its parameters and set up its frame, and where it has code that
//! belongs to no line.

use crate::isa::Space;
use crate::program::{ControlOp, Function, Inst, MemoryOp, MoveOp, Op, Pc, Program, SelectOp, SourceLine, SrcKind};

/// The first instruction of the body of a function, as debuggers of C++ take it: where the second entry of its line table is, of a module
/// that a compiler has made for debuggers. Of other functions the first instruction.
pub fn begin_of_body(program: &Program, function: &Function) -> Pc {
    let start = Pc(function.code.start);
    let line = |pc: u32| program.source_line(Pc(pc)).filter(|line: &SourceLine| line.line > 0);
    let Some(first) = line(start.0).filter(|_| program.is_debug) else { return start };
    let is_control = |pc: &u32| program.code.get(*pc as usize).is_some_and(|inst| matches!(inst.op, Op::Control(_)));
    // What is after a branch is not where every thread comes first.
    let straight = function.code.clone().take_while(|pc| *pc == start.0 || !is_control(&(pc - 1)));
    let second = straight.skip(1).find(|pc| line(*pc).is_some_and(|line| line != first));
    second.map_or(start, Pc)
}

/// True if a thread that comes to the instruction is before the body of its function.
pub fn is_before_body(program: &Program, pc: Pc) -> bool {
    let function = program.function_at(pc).map(|id| &program.functions[id.index()]);
    function.is_some_and(|function| pc < begin_of_body(program, function))
}

/// True if a thread that comes to the instruction from another line does nothing that the line says: a compiler for debuggers gives the
/// blocks that it adds no line, so that they have that of the block before them in the text. They copy registers, hand over a result, and
/// go on, where paths meet or a case without statements goes on; or the statement before them in the text has been executed, or left out.
pub fn is_passed(program: &Program, pc: Pc) -> bool {
    let line = |pc: u32| program.source_line(Pc(pc));
    let is_same = |other: u32| line(other) == line(pc.0) && program.function_at(Pc(other)) == program.function_at(pc);
    let inst = |at: u32| program.code.get(at as usize);
    let has_no_line = || pc.0.checked_sub(1).is_some_and(is_same);
    let work = || (pc.0..).take_while(|at| is_same(*at)).map_while(inst).find(|inst| !copies(inst));
    let before = |at: u32| (0..at).rev().take_while(|at| is_same(*at)).filter_map(|at| Some((at, inst(at)?)));
    // The rest of a line after a call is no block of its own.
    let block = || before(pc.0).find(|(_, inst)| matches!(inst.op, Op::Control(_)));
    let is_after_statement = || {
        let start = block().filter(|(_, inst)| matches!(inst.op, Op::Control(ControlOp::Branch { .. }))).map(|(at, _)| at + 1);
        start.is_some_and(|start| before(start).any(|(_, inst)| computes(inst)) && !is_loop_header(program, Pc(start)))
    };
    program.is_debug && (has_no_line() && (work().is_none_or(goes_on) || is_after_statement()) || is_copy_at_head(program, pc))
}

/// True if an instruction is one of the copies of registers at the head of a loop to which a compiler for debuggers gives the line of a
/// statement further on in the loop, which computes something.
pub fn is_copy_at_head(program: &Program, pc: Pc) -> bool {
    let Some(function) = program.function_at(pc).map(|id| &program.functions[id.index()]).filter(|_| program.is_debug) else {
        return false;
    };
    let own = program.source_line(pc);
    let is_same = |at: &u32| function.code.contains(at) && program.source_line(Pc(*at)) == own;
    let is_copy = |at: &u32| copies(&program.code[*at as usize]);
    let start = (0..pc.0).rev().take_while(|at| is_same(at) && is_copy(at)).last().unwrap_or(pc.0);
    let end = (pc.0..).find(|at| !(is_same(at) && is_copy(at))).unwrap_or(pc.0);
    if end == pc.0 || is_same(&end) || !is_loop_header(program, Pc(start)) {
        return false;
    }
    let is_on_line = |line: &SourceLine| own.is_some_and(|own| (own.file, own.line) == (line.file, line.line));
    let computes = |at: u32| computes(&program.code[at as usize]);
    (end..function.code.end).any(|at| program.source_line(Pc(at)).is_some_and(|line| is_on_line(&line)) && computes(at))
}

/// True if an instruction after it in the text branches to the instruction, as at the head of a loop.
fn is_loop_header(program: &Program, pc: Pc) -> bool {
    let end = program.function_at(pc).map_or(pc.0, |id| program.functions[id.index()].code.end);
    let code = program.code.get(pc.index()..end as usize).unwrap_or_default();
    code.iter().any(|inst| matches!(inst.op, Op::Control(ControlOp::Branch { target, .. }) if target == pc))
}

/// True if an instruction copies a register, or what a register has to where results are handed over.
fn copies(inst: &Inst) -> bool {
    match inst.op {
        Op::Move(MoveOp::Move { a, .. }) => matches!(a.kind(), SrcKind::Reg(_)),
        Op::Select(SelectOp::PredMove { .. }) => true,
        Op::Memory(MemoryOp::Store { access, .. } | MemoryOp::StoreVector { access, .. }) => access.space == Space::ParamFunc,
        _ => false,
    }
}

/// True if an instruction does something that is neither a copy nor a branch.
fn computes(inst: &Inst) -> bool {
    !copies(inst) && !matches!(inst.op, Op::Control(_))
}

fn goes_on(inst: &Inst) -> bool {
    matches!(inst.op, Op::Control(ControlOp::Branch { .. } | ControlOp::Return { .. })) && inst.guard.is_none()
}
