//! The calls in functions of the user that lead to an instruction of a toolkit, whose compiler for debuggers calls functions for atomics,
//! fences and waits; and places with the line that the user wrote.

use std::collections::BTreeSet;

use super::site::{is_users, users_line};
use crate::flow::reach::closure;
use crate::program::{FuncId, Pc, Program};

/// The calls in functions of the user that lead to an instruction; none if it is the user's.
pub fn users_calls(program: &Program, pc: Pc) -> Vec<Pc> {
    let Some(function) = program.function_at(pc).filter(|_| !is_users(program, pc)) else { return Vec::new() };
    let count = program.functions.len();
    // Calls of the user's code end the search.
    let calls = |callee: usize| {
        let all = (0..count).flat_map(|caller| program.direct_calls(FuncId::new(caller)).map(move |(call, called)| (caller, call, called)));
        all.filter(move |(.., called)| called.index() == callee).map(|(caller, call, _)| (caller, call))
    };
    let by_toolkit = |callee: usize| calls(callee).filter(|(_, call)| !is_users(program, *call)).map(|(caller, _)| caller);
    let reached = closure(count, [function.index()], by_toolkit);
    let found = reached.order().iter().flat_map(|callee| calls(*callee)).map(|(_, call)| call);
    found.filter(|call| is_users(program, *call)).collect()
}

/// `k.ptx:12 (k.cu:7)`: the place of an instruction with its line of the source. Of an instruction of a toolkit that is the line of the
/// call, if `kernel` has calls of it on one line alone.
pub fn place_with_line(program: &Program, kernel: Option<FuncId>, pc: Pc) -> String {
    let reached = |kernel: FuncId| closure(program.functions.len(), [kernel.index()], |function| program.callees(function));
    let reached = kernel.map(reached);
    let is_reached = |pc: &Pc| {
        let function = program.function_at(*pc);
        reached.as_ref().is_none_or(|reached| function.is_some_and(|function| reached.contains(function.index())))
    };
    let of_calls = users_calls(program, pc).into_iter().filter(is_reached).filter_map(|call| users_line(program, call));
    let of_calls: BTreeSet<String> = of_calls.map(|line| line.short()).collect();
    let line = match of_calls.first().filter(|_| of_calls.len() == 1) {
        Some(line) => Some(line.clone()),
        None => users_line(program, pc).map(|line| line.short()),
    };
    let line = line.map_or_else(String::new, |line| format!(" ({line})"));
    format!("{}{line}", program.place(pc))
}
