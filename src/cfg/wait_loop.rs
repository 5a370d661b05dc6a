//! Loops that only wait until something changes.

use std::collections::BTreeSet;

use super::{ControlFlow, Loop};
use crate::flow::result_uses::ResultUses;
use crate::program::operands::{RegisterOperand, reads, writes};
use crate::program::{Effect, Pc, Program};

/// Whether all that the result of the instruction at `pc` decides is whether a loop around it goes on, which changes no memory and leaves
/// nothing that counts its iterations.
pub fn is_wait_loop(program: &Program, flow: &ControlFlow, result_uses: &mut ResultUses, pc: Pc) -> bool {
    waits_alone(program, flow, result_uses, pc, None)
}

/// The same of an atomic that tries to take a lock: the loop changes no memory but by it, and there is such a loop.
pub fn is_lock_loop(program: &Program, flow: &ControlFlow, result_uses: &mut ResultUses, pc: Pc) -> bool {
    !result_uses.uses(program, pc).controls.is_empty() && waits_alone(program, flow, result_uses, pc, Some(pc))
}

/// Whether the result of the instruction at `pc` decides nothing else, where the loop may change memory by the instruction at `own`.
fn waits_alone(program: &Program, flow: &ControlFlow, result_uses: &mut ResultUses, pc: Pc, own: Option<Pc>) -> bool {
    let uses = result_uses.uses(program, pc);
    let Some(block) = flow.block_of(pc) else { return false };
    let writes = |at: Pc| own != Some(at) && program.code[at.index()].op.effects(program).has(Effect::WritesMemory);
    let is_quiet = |around: &Loop| !code(flow, around).any(writes);
    let waits = |around: &Loop| {
        around.blocks.contains(&block)
            && uses.controls.iter().all(|at| is_inside(flow, around, *at))
            && is_quiet(around)
            && leaves_no_count(program, flow, around)
    };
    !uses.is_unknown && uses.escaping_uses.is_empty() && (uses.controls.is_empty() || flow.loops().iter().any(waits))
}

fn code<'a>(flow: &'a ControlFlow, around: &'a Loop) -> impl Iterator<Item = Pc> + 'a {
    around.blocks.iter().flat_map(|block| flow.code(*block)).map(Pc)
}

fn is_inside(flow: &ControlFlow, around: &Loop, at: Pc) -> bool {
    flow.block_of(at).is_some_and(|block| around.blocks.contains(&block))
}

/// Whether no register that an iteration of the loop computes from what an earlier one left is read after the loop, or ends it.
fn leaves_no_count(program: &Program, flow: &ControlFlow, around: &Loop) -> bool {
    let counts = counts(program, flow, around);
    if counts.is_empty() {
        return true;
    }
    let is_read = |at: Pc| reads(&program.code[at.index()], program).iter().any(|register| counts.contains(register));
    let ends = |at: Pc| {
        let leaves = |block| flow.successors(block).iter().any(|next| !around.blocks.contains(next));
        flow.block_of(at).is_some_and(|block| flow.code(block).end == at.0 + 1 && leaves(block))
    };
    flow.blocks().flat_map(|(_, code)| code.map(Pc)).filter(|at| is_read(*at)).all(|at| is_inside(flow, around, at) && !ends(at))
}

/// The registers that the loop computes from themselves, and what it computes from those.
fn counts(program: &Program, flow: &ControlFlow, around: &Loop) -> BTreeSet<RegisterOperand> {
    let steps: Vec<(Vec<RegisterOperand>, Vec<RegisterOperand>)> = code(flow, around)
        .map(|at| {
            let inst = &program.code[at.index()];
            (reads(inst, program).to_vec(), writes(inst, program).to_vec())
        })
        .collect();
    let made_of = |start: &[RegisterOperand]| {
        let mut made: BTreeSet<RegisterOperand> = BTreeSet::new();
        let mut open = start.to_vec();
        while let Some(register) = open.pop() {
            let next = steps.iter().filter(|(read, _)| read.contains(&register)).flat_map(|(_, written)| written.iter().copied());
            open.extend(next.filter(|written| made.insert(*written)).collect::<Vec<_>>());
        }
        made
    };
    let written: BTreeSet<RegisterOperand> = steps.iter().flat_map(|(_, written)| written.iter().copied()).collect();
    let of_themselves: Vec<RegisterOperand> = written.into_iter().filter(|register| made_of(&[*register]).contains(register)).collect();
    let mut counts = made_of(&of_themselves);
    counts.extend(of_themselves);
    counts
}
