//! Wait loops: loops that only repeat a test until it succeeds (spin loops), without other effects.

use std::collections::BTreeSet;

use super::{ControlFlow, Loop};
use crate::flow::result_uses::ResultUses;
use crate::program::operands::{RegisterOperand, reads, writes};
use crate::program::{Effect, Pc, Program};

/// True if the result of the instruction at `pc` only controls when a loop around it ends, and the loop writes no memory and leaves no
/// iteration count in a register that is read later.
pub fn is_wait_loop(program: &Program, flow: &ControlFlow, result_uses: &mut ResultUses, pc: Pc) -> bool {
    only_waits(program, flow, result_uses, pc, None)
}

/// True if the instruction at `pc` is an atomic that tries to acquire a lock in a wait loop: the loop writes no memory except by it.
pub fn is_lock_loop(program: &Program, flow: &ControlFlow, result_uses: &mut ResultUses, pc: Pc) -> bool {
    !result_uses.uses(program, pc).controls.is_empty() && only_waits(program, flow, result_uses, pc, Some(pc))
}

/// True if the result of the instruction at `pc` controls nothing but a loop around it, which writes no memory except by `lock`.
fn only_waits(program: &Program, flow: &ControlFlow, result_uses: &mut ResultUses, pc: Pc, lock: Option<Pc>) -> bool {
    let uses = result_uses.uses(program, pc);
    let Some(block) = flow.block_of(pc) else { return false };
    let writes = |at: Pc| lock != Some(at) && program.code[at.index()].op.effects(program).has(Effect::WritesMemory);
    let writes_memory = |around: &Loop| code(flow, around).any(writes);
    let waits = |around: &Loop| {
        around.blocks.contains(&block)
            && uses.controls.iter().all(|at| is_inside(flow, around, *at))
            && !writes_memory(around)
            && !leaves_count(program, flow, around)
    };
    !uses.is_unknown && uses.escaping_uses.is_empty() && (uses.controls.is_empty() || flow.loops().iter().any(waits))
}

fn code<'a>(flow: &'a ControlFlow, around: &'a Loop) -> impl Iterator<Item = Pc> + 'a {
    around.blocks.iter().flat_map(|block| flow.code(*block)).map(Pc)
}

fn is_inside(flow: &ControlFlow, around: &Loop, at: Pc) -> bool {
    flow.block_of(at).is_some_and(|block| around.blocks.contains(&block))
}

/// True if a loop-carried register is read after the loop, or by a branch that leaves it.
fn leaves_count(program: &Program, flow: &ControlFlow, around: &Loop) -> bool {
    let carried = loop_carried(program, flow, around);
    if carried.is_empty() {
        return false;
    }
    let is_read = |at: Pc| reads(&program.code[at.index()], program).iter().any(|register| carried.contains(register));
    let ends = |at: Pc| {
        let leaves = |block| flow.successors(block).iter().any(|next| !around.blocks.contains(next));
        flow.block_of(at).is_some_and(|block| flow.code(block).end == at.0 + 1 && leaves(block))
    };
    flow.blocks().flat_map(|(_, code)| code.map(Pc)).filter(|at| is_read(*at)).any(|at| !is_inside(flow, around, at) || ends(at))
}

/// The registers that an iteration of the loop computes from their values in an earlier one, and those that it computes from them.
fn loop_carried(program: &Program, flow: &ControlFlow, around: &Loop) -> BTreeSet<RegisterOperand> {
    let operands: Vec<(Vec<RegisterOperand>, Vec<RegisterOperand>)> = code(flow, around)
        .map(|at| {
            let inst = &program.code[at.index()];
            (reads(inst, program).to_vec(), writes(inst, program).to_vec())
        })
        .collect();
    let computed_from = |start: &[RegisterOperand]| {
        let mut computed: BTreeSet<RegisterOperand> = BTreeSet::new();
        let mut worklist = start.to_vec();
        while let Some(register) = worklist.pop() {
            let next = operands.iter().filter(|(read, _)| read.contains(&register)).flat_map(|(_, written)| written.iter().copied());
            worklist.extend(next.filter(|written| computed.insert(*written)).collect::<Vec<_>>());
        }
        computed
    };
    let written: BTreeSet<RegisterOperand> = operands.iter().flat_map(|(_, written)| written.iter().copied()).collect();
    let depends_on_itself = |register: &RegisterOperand| computed_from(&[*register]).contains(register);
    let recurrences: Vec<RegisterOperand> = written.into_iter().filter(depends_on_itself).collect();
    let mut carried = computed_from(&recurrences);
    carried.extend(recurrences);
    carried
}
