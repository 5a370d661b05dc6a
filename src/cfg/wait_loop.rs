//! Loops that only wait until something changes.

use super::{ControlFlow, Loop};
use crate::flow::result_use::ResultUse;
use crate::program::{Effect, Pc, Program};

/// Whether all that the result of the instruction at `pc` decides is whether a loop around it goes on, which changes no memory.
pub fn is_wait_loop(program: &Program, flow: &ControlFlow, result_use: &mut ResultUse, pc: Pc) -> bool {
    let uses = result_use.uses(program, pc);
    let Some(block) = flow.block_of(pc) else { return false };
    let inside = |around: &Loop, at: Pc| flow.block_of(at).is_some_and(|block| around.blocks.contains(&block));
    let is_quiet = |around: &Loop| {
        let mut code = around.blocks.iter().flat_map(|block| flow.code(*block));
        code.all(|at| !program.code[at as usize].op.effects(program).has(Effect::WritesMemory))
    };
    let waits = |around: &Loop| around.blocks.contains(&block) && uses.decides.iter().all(|at| inside(around, *at)) && is_quiet(around);
    !uses.is_unknown && uses.kept_by.is_empty() && (uses.decides.is_empty() || flow.loops().iter().any(waits))
}
