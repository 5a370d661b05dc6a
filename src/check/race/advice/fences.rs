//! Fences on the way from one instruction to another, also in functions that are called on the way.

use crate::check::call_sites::common_places;
use crate::check::reachability::Reachability;
use crate::flow::reach::closure;
use crate::isa::Scope;
use crate::program::{FuncId, Pc, Program};

/// A fence that a function executes.
#[derive(Clone, Copy)]
pub(super) struct Fence {
    /// The instruction.
    pub pc: Pc,
    /// Its scope.
    pub scope: Scope,
    /// Its place in the function: itself, or the call that leads to it.
    pub at: Pc,
}

/// A fence on a path from one instruction to another.
pub(super) fn fence_between(program: &Program, reachability: &mut Reachability, from: Pc, to: Pc) -> Option<Fence> {
    common_places(program, [from, to]).into_iter().find_map(|common| {
        let [starts, ends] = common.places;
        fences(program, common.function).into_iter().find(|fence| {
            let mut reaches = |one: Pc, other: Pc| reachability.reaches_without_back_edge(program, one, other);
            let is_after = starts.iter().any(|start| reaches(*start, fence.at));
            is_after && ends.iter().any(|end| reaches(fence.at, *end))
        })
    })
}

/// The fences of a function, in the order of their places.
fn fences(program: &Program, function: FuncId) -> Vec<Fence> {
    let own = |function: FuncId| {
        let code = program.functions[function.index()].code.clone().map(Pc);
        code.filter_map(|pc| Some(Fence { pc, scope: program.code[pc.index()].op.memory_fence()?.1, at: pc })).collect::<Vec<_>>()
    };
    let mut found = own(function);
    for (at, callee) in program.direct_calls(function) {
        let reached = closure(program.functions.len(), [callee.index()], |function| program.callees(function));
        let called = reached.order().iter().flat_map(|function| own(FuncId::new(*function)));
        found.extend(called.map(|fence| Fence { at, ..fence }));
    }
    found.sort_by_key(|fence| fence.at);
    found
}
