//! Whether the result of `mbarrier.test_wait` is used. Threads that continue whatever the result is are ordered after nothing, though the
//! phase may have ended in time in this run.

use std::collections::BTreeMap;

use crate::program::operands::{RegisterOperand, reads, writes};
use crate::program::{Bank, Inst, Pc, Program};

/// The tests of a program that were looked at.
#[derive(Clone, Default)]
pub(super) struct ResultUse(BTreeMap<Pc, bool>);

impl ResultUse {
    /// Whether the result of the instruction at `pc` decides anything but the values of registers that are never read.
    pub fn is_result_used(&mut self, program: &Program, pc: Pc) -> bool {
        *self.0.entry(pc).or_insert_with(|| decides(program, pc).unwrap_or(true))
    }
}

fn decides(program: &Program, pc: Pc) -> Option<bool> {
    let function = &program.functions[program.function_at(pc)?.index()];
    let code = program.code.get(function.code.start as usize..function.code.end as usize)?;
    let mut described = writes(&program.code[pc.index()], program).to_vec();
    let mut next = 0;
    while let Some(register) = described.get(next).copied() {
        for inst in code.iter().filter(|inst| reads(inst, program).contains(&register)) {
            if !only_computes(inst, program, register) {
                return Some(true);
            }
            for result in writes(inst, program) {
                if !described.contains(&result) {
                    described.push(result);
                }
            }
        }
        next += 1;
    }
    Some(false)
}

/// Whether an instruction that reads `register` makes nothing of it but the value of another one.
fn only_computes(inst: &Inst, program: &Program, register: RegisterOperand) -> bool {
    let guards = inst.guard.is_some_and(|guard| register.bank == Bank::Pred && guard.slot == register.slot);
    inst.op.effects(program).only_computes() && !guards
}
