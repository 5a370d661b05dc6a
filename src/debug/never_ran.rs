//! Memory accesses that a run of a made-up launch never executed: its findings do not cover them.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::flow::reach::closure;
use crate::isa::Space;
use crate::launch::{Basis, Case};
use crate::program::{Effect, Inst, Op, Pc, Program};

/// The number of accesses to shared or global memory that a run did not execute, if some of them write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct NeverRan {
    /// Those that were not executed.
    pub instructions: usize,
    /// All of them in the functions that the kernels reach.
    pub of: usize,
}

impl NeverRan {
    /// The accesses that a run of `case`, which `executed` these instructions, left out; none if it executed every write, or no value of
    /// the launch is made up.
    pub fn of_run(program: &Program, case: &Case, executed: &BTreeSet<Pc>) -> Option<Self> {
        let is_made_up = case.launches.iter().flat_map(|launch| &launch.reasons).any(|reason| reason.basis == Basis::Guessed);
        if !is_made_up {
            return None;
        }
        let kernels = case.launches.iter().map(|launch| launch.kernel.index());
        let functions = closure(program.functions.len(), kernels, |function| program.callees(function));
        let code = functions.order().iter().flat_map(|function| program.functions[*function].code.clone()).map(Pc);
        let all: Vec<Pc> = code.filter(|pc| is_shared_access(program, &program.code[pc.index()])).collect();
        let missing: Vec<&Pc> = all.iter().filter(|pc| !executed.contains(pc)).collect();
        let writes = |pc: &&Pc| program.code[pc.index()].op.effects(program).has(Effect::WritesMemory);
        missing.iter().any(writes).then_some(Self { instructions: missing.len(), of: all.len() })
    }
}

/// True if an instruction accesses memory that other threads can access.
fn is_shared_access(program: &Program, inst: &Inst) -> bool {
    let is_private = match &inst.op {
        Op::Memory(op) => matches!(op.access().space, Space::Local | Space::Param | Space::ParamFunc | Space::Const),
        // An access of the runtime is no access of the kernel.
        Op::Control(_) => true,
        _ => false,
    };
    let effects = inst.op.effects(program);
    !is_private && (effects.has(Effect::ReadsMemory) || effects.has(Effect::WritesMemory))
}
