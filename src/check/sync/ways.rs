//! Whether threads that left before a barrier went past it: then they did what the others do behind it, and were not done before.

use std::collections::BTreeMap;

use crate::cfg::ControlFlow;
use crate::program::{FuncId, Pc, Program};

/// Ways through the functions of a program, found when they are asked for.
#[derive(Clone, Default)]
pub(super) struct Ways {
    flows: BTreeMap<FuncId, ControlFlow>,
    known: BTreeMap<(Pc, Pc), bool>,
}

impl Ways {
    /// Whether threads that exit at `exit` without having come to `barrier` have gone past it: code before their exit lies behind the
    /// barrier as well, and not before it. Threads that only exit, or left a loop whose next turn has the barrier, have not. Where the
    /// two stand in different functions nothing is known, and nobody is accused.
    pub fn went_past(&mut self, program: &Program, barrier: Pc, exit: Pc) -> bool {
        if let Some(known) = self.known.get(&(barrier, exit)) {
            return *known;
        }
        let answer = self.find(program, barrier, exit).unwrap_or(false);
        self.known.insert((barrier, exit), answer);
        answer
    }

    /// Whether neither of two instructions can be executed after the other.
    pub fn exclude(&mut self, program: &Program, one: Pc, other: Pc) -> bool {
        let both = self.flow(program, one, other).map(|flow| !reaches(flow, one, other) && !reaches(flow, other, one));
        both.unwrap_or(false)
    }

    fn find(&mut self, program: &Program, barrier: Pc, exit: Pc) -> Option<bool> {
        let flow = self.flow(program, barrier, exit)?;
        let starts_block = flow.code(flow.block_of(exit)?).start == exit.0;
        Some(!starts_block && reaches(flow, barrier, exit) && !reaches(flow, exit, barrier))
    }

    fn flow(&mut self, program: &Program, one: Pc, other: Pc) -> Option<&ControlFlow> {
        let function = program.function_at(one).filter(|function| program.function_at(other) == Some(*function))?;
        Some(self.flows.entry(function).or_insert_with(|| ControlFlow::new(program, function)))
    }
}

/// Whether `to` can be executed after `from`.
fn reaches(flow: &ControlFlow, from: Pc, to: Pc) -> bool {
    let (Some(start), Some(end)) = (flow.block_of(from), flow.block_of(to)) else { return false };
    if start == end && from < to {
        return true;
    }
    let mut open = flow.successors(start).to_vec();
    let mut seen = vec![false; flow.blocks().count()];
    while let Some(block) = open.pop() {
        if block == end {
            return true;
        }
        if !std::mem::replace(&mut seen[block.index()], true) {
            open.extend(flow.successors(block));
        }
    }
    false
}
