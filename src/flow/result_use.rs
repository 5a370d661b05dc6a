//! What becomes of the result of an instruction, followed through the registers of its function without regard to order.

use std::collections::BTreeMap;

use crate::program::operands::{RegisterOperand, reads, writes};
use crate::program::{Bank, ControlOp, Inst, Op, Pc, Program};

/// What the results of instructions are used for, by instruction.
#[derive(Clone, Default)]
pub struct ResultUse(BTreeMap<Pc, ResultUses>);

/// What the result of an instruction is used for, beside the values of other registers.
#[derive(Clone, Default)]
pub struct ResultUses {
    /// The branches that it decides, and the instructions whose guard it is.
    pub decides: Vec<Pc>,
    /// The instructions that store it, take it for an address, or do something else with it.
    pub kept_by: Vec<Pc>,
    /// Whether it cannot be followed, since the function of the instruction is not known.
    pub is_unknown: bool,
}

impl ResultUse {
    /// Whether the result of the instruction at `pc` decides anything but the values of registers that are never read. Threads that
    /// continue whatever the result of `mbarrier.test_wait` is are ordered after nothing, though the phase may have ended in time in
    /// this run.
    pub fn is_result_used(&mut self, program: &Program, pc: Pc) -> bool {
        let uses = self.uses(program, pc);
        uses.is_unknown || !uses.decides.is_empty() || !uses.kept_by.is_empty()
    }

    /// What the result of the instruction at `pc` is used for.
    pub fn uses(&mut self, program: &Program, pc: Pc) -> &ResultUses {
        let unknown = || ResultUses { is_unknown: true, ..ResultUses::default() };
        self.0.entry(pc).or_insert_with(|| uses(program, pc).unwrap_or_else(unknown))
    }
}

fn uses(program: &Program, pc: Pc) -> Option<ResultUses> {
    let code = program.functions[program.function_at(pc)?.index()].code.clone();
    let mut found = ResultUses::default();
    let mut followed = writes(&program.code[pc.index()], program).to_vec();
    let mut next = 0;
    while let Some(register) = followed.get(next).copied() {
        for at in code.clone().map(Pc) {
            let inst = &program.code[at.index()];
            if !reads(inst, program).contains(&register) {
                continue;
            }
            if decides(inst, register) {
                found.decides.push(at);
            } else if !inst.op.effects(program).only_computes() {
                found.kept_by.push(at);
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

/// Whether `register` decides whether the instruction is executed, or where control goes from it.
fn decides(inst: &Inst, register: RegisterOperand) -> bool {
    let guards = inst.guard.is_some_and(|guard| register.bank == Bank::Pred && guard.slot == register.slot);
    guards || matches!(inst.op, Op::Control(ControlOp::Branch { .. } | ControlOp::BranchIndexed { .. }))
}
