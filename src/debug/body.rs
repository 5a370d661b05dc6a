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

/// True if a thread that comes to the instruction from another line only passes: a compiler for debuggers gives the blocks that it adds, in
/// which paths meet or a case without statements goes on, no line, so that they have that of the block before them in the text. They
/// copy registers, hand over a result, and go on.
pub fn is_passed(program: &Program, pc: Pc) -> bool {
    let line = |pc: u32| program.source_line(Pc(pc));
    let is_same = |other: u32| line(other) == line(pc.0) && program.function_at(Pc(other)) == program.function_at(pc);
    let has_no_line = || pc.0.checked_sub(1).is_some_and(is_same);
    let work = || (pc.0..).take_while(|at| is_same(*at)).map_while(|at| program.code.get(at as usize)).find(|inst| !copies(inst));
    program.is_debug && has_no_line() && work().is_none_or(goes_on)
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

fn goes_on(inst: &Inst) -> bool {
    matches!(inst.op, Op::Control(ControlOp::Branch { .. } | ControlOp::Return { .. })) && inst.guard.is_none()
}
