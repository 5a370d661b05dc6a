//! Which registers the test has to compute: those that an access, a branch or a needed computation uses.

use std::collections::{BTreeMap, BTreeSet};

use super::constants::{Condition, Flow, Value, only_computes};
use super::recording::{Register, written};
use crate::program::Pc;
use crate::program::operands::{Use, registers_of};

/// The registers that are needed after each instruction, and before the first one.
pub(super) struct Needed {
    after: BTreeMap<Pc, BTreeSet<Register>>,
    /// Before the entry.
    pub at_first: BTreeSet<Register>,
}

impl Needed {
    pub fn of(flow: &Flow<'_>) -> Self {
        let mut before: BTreeMap<Pc, BTreeSet<Register>> = BTreeMap::new();
        let mut after: BTreeMap<Pc, BTreeSet<Register>> = BTreeMap::new();
        loop {
            let mut is_changed = false;
            for pc in flow.code().rev() {
                let next = flow.successors(pc).unwrap_or_default();
                let live: BTreeSet<Register> = next.iter().filter_map(|next| before.get(next)).flatten().copied().collect();
                let own = before_one(flow, pc, &live);
                is_changed |= before.get(&pc) != Some(&own);
                before.insert(pc, own);
                after.insert(pc, live);
            }
            if !is_changed {
                break;
            }
        }
        let at_first = before.get(&flow.passage.entry).cloned().unwrap_or_default();
        Self { after, at_first }
    }

    /// Of the registers that an instruction writes, those that are needed.
    pub fn results(&self, flow: &Flow<'_>, pc: Pc) -> Vec<Register> {
        let live = self.after.get(&pc);
        written(flow.program, pc).into_iter().filter(|register| live.is_some_and(|live| live.contains(register))).collect()
    }
}

fn before_one(flow: &Flow<'_>, pc: Pc, after: &BTreeSet<Register>) -> BTreeSet<Register> {
    let mut live = after.clone();
    let condition = flow.condition(pc);
    let results = written(flow.program, pc);
    let is_needed = !only_computes(&flow.inst(pc).op, flow.program) || results.iter().any(|register| after.contains(register));
    if !is_needed || condition == Condition::Never {
        return live;
    }
    if condition == Condition::Always {
        results.iter().for_each(|register| _ = live.remove(register));
    }
    if let Condition::If(comparison) = condition {
        live.extend(comparison.registers());
    }
    let is_computed = |register: &Register| after.contains(register) && !matches!(flow.value_after(pc, *register), Value::Constant(_));
    if only_computes(&flow.inst(pc).op, flow.program) && !results.iter().any(is_computed) {
        return live;
    }
    registers_of(flow.inst(pc), flow.program, |used, register| {
        for part in 0..register.width {
            let of = (register.bank, register.slot.offset(part));
            match flow.value(pc, of) {
                _ if used != Use::Read => {}
                Value::Constant(_) => {}
                Value::Compared(comparison) => live.extend(comparison.registers()),
                Value::Computed => _ = live.insert(of),
            }
        }
    });
    live
}
