//! Fences on the way from one instruction to another, also in functions that are called on the way.

use crate::check::call_sites::common_places;
use crate::check::reachability::Reachability;
use crate::flow::reach::closure;
use crate::isa::Scope;
use crate::program::{FuncId, Pc, Program};

/// A fence on a path from one instruction to another.
pub(super) fn fence_between(program: &Program, reachability: &mut Reachability, from: Pc, to: Pc) -> Option<(Pc, Scope)> {
    common_places(program, [from, to]).into_iter().find_map(|common| {
        let [starts, ends] = common.places;
        fences(program, common.function).into_iter().find_map(|(at, fence)| {
            let mut reaches = |one: Pc, other: Pc| reachability.reaches_without_back_edge(program, one, other);
            let is_after = starts.iter().any(|start| reaches(*start, at));
            (is_after && ends.iter().any(|end| reaches(at, *end))).then_some(fence)
        })
    })
}

/// The fences of a function, each at itself or at the call that leads to it.
fn fences(program: &Program, function: FuncId) -> Vec<(Pc, (Pc, Scope))> {
    let own = |function: FuncId| {
        let code = program.functions[function.index()].code.clone().map(Pc);
        code.filter_map(|at| Some((at, program.code[at.index()].op.memory_fence()?.1))).collect::<Vec<_>>()
    };
    let mut found: Vec<(Pc, (Pc, Scope))> = own(function).into_iter().map(|fence| (fence.0, fence)).collect();
    for (call, callee) in program.direct_calls(function) {
        let reached = closure(program.functions.len(), [callee.index()], |function| program.callees(function));
        found.extend(reached.order().iter().flat_map(|function| own(FuncId::new(*function))).map(|fence| (call, fence)));
    }
    found.sort_by_key(|(at, _)| *at);
    found
}
