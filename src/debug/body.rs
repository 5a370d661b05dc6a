//! Where the body of a function begins: after the instructions that fetch its parameters and set up its frame.

use crate::program::{Function, Op, Pc, Program, SourceLine};

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
