//! The uses of the result of an instruction: a forward slice through the registers of its function that ignores control flow.

use std::collections::BTreeMap;

use crate::program::operands::{RegisterOperand, reads, writes};
use crate::program::{Bank, ControlOp, Inst, Op, Pc, Program};

/// A cache of the uses of results, by instruction.
#[derive(Clone, Default)]
pub struct ResultUses(BTreeMap<Pc, ResultUse>);

/// The uses of the result of one instruction, other than in computations of registers.
#[derive(Clone, Default)]
pub struct ResultUse {
    /// The branches and guarded instructions that it controls.
    pub controls: Vec<Pc>,
    /// The instructions through which it escapes from registers: they store it, use it as an address, or have another effect.
    pub escaping_uses: Vec<Pc>,
    /// True if the uses are unknown, because the instruction is in no known function.
    pub is_unknown: bool,
}

impl ResultUses {
    /// True if the result of the instruction at `pc` controls an instruction or escapes from registers. Threads that ignore the result of
    /// `mbarrier.test_wait` are not ordered after the phase, even if it has ended in this run.
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
    let mut derived = writes(&program.code[pc.index()], program).to_vec();
    let mut next = 0;
    while let Some(register) = derived.get(next).copied() {
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
                if !derived.contains(&result) {
                    derived.push(result);
                }
            }
        }
        next += 1;
    }
    Some(found)
}

/// True if `register` is the guard of the instruction, or if the instruction is a branch.
fn controls(inst: &Inst, register: RegisterOperand) -> bool {
    let guards = inst.guard.is_some_and(|guard| register.bank == Bank::Pred && guard.slot == register.slot);
    guards || matches!(inst.op, Op::Control(ControlOp::Branch { .. } | ControlOp::BranchIndexed { .. }))
}
