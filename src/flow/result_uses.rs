//! The uses of the result of an instruction: a forward slice through the registers of its function that ignores control flow.

use std::collections::BTreeMap;

use crate::program::operands::{RegisterOperand, reads, writes};
use crate::program::{Bank, ControlOp, Inst, Op, Pc, Program};

/// The uses of the results of instructions, by instruction; each is found when it is asked for.
#[derive(Clone, Default)]
pub struct ResultUses(BTreeMap<Pc, ResultUse>);

/// The uses of the result of one instruction, other than to compute values of registers.
#[derive(Clone, Default)]
pub struct ResultUse {
    /// The branches that it controls, and the instructions that it guards.
    pub controls: Vec<Pc>,
    /// The instructions by which it escapes the registers: that store it, use it as an address, or have another effect.
    pub escaping_uses: Vec<Pc>,
    /// Whether the uses are unknown, since the function of the instruction is.
    pub is_unknown: bool,
}

impl ResultUses {
    /// Whether the result of the instruction at `pc` is used for more than values of registers that are never read. Threads that ignore
    /// the result of `mbarrier.test_wait` are not ordered after the phase, even if it has ended in this run.
    pub fn is_result_used(&mut self, program: &Program, pc: Pc) -> bool {
        let uses = self.uses(program, pc);
        uses.is_unknown || !uses.controls.is_empty() || !uses.escaping_uses.is_empty()
    }

    /// The uses of the result of the instruction at `pc`.
    pub fn uses(&mut self, program: &Program, pc: Pc) -> &ResultUse {
        let unknown = || ResultUse { is_unknown: true, ..ResultUse::default() };
        self.0.entry(pc).or_insert_with(|| uses(program, pc).unwrap_or_else(unknown))
    }
}

fn uses(program: &Program, pc: Pc) -> Option<ResultUse> {
    let code = program.functions[program.function_at(pc)?.index()].code.clone();
    let mut found = ResultUse::default();
    let mut followed = writes(&program.code[pc.index()], program).to_vec();
    let mut next = 0;
    while let Some(register) = followed.get(next).copied() {
        for at in code.clone().map(Pc) {
            let inst = &program.code[at.index()];
            if !reads(inst, program).contains(&register) {
                continue;
            }
            if controls(inst, register) {
                found.controls.push(at);
            } else if !inst.op.effects(program).only_computes() {
                found.escaping_uses.push(at);
            }
            for result in writes(inst, program) {
                if !followed.contains(&result) {
                    followed.push(result);
                }
            }
        }
        next += 1;
    }
    Some(found)
}

/// Whether `register` is the guard of the instruction, or it selects the target of a branch.
fn controls(inst: &Inst, register: RegisterOperand) -> bool {
    let guards = inst.guard.is_some_and(|guard| register.bank == Bank::Pred && guard.slot == register.slot);
    guards || matches!(inst.op, Op::Control(ControlOp::Branch { .. } | ControlOp::BranchIndexed { .. }))
}
