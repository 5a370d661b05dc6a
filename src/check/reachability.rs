//! Reachability of instructions in the control flow of a function.

use std::collections::BTreeMap;
use std::ops::Range;

use smallvec::SmallVec;

use crate::cfg::{BlockId, ControlFlow};
use crate::flow::graph::Graph as _;
use crate::flow::reach::closure;
use crate::program::{Awaited, FuncId, Op, Pc, Program};

/// Ways through the functions of a program, found when they are asked for, and kept.
#[derive(Clone, Default)]
pub(super) struct Reachability {
    flows: BTreeMap<FuncId, ControlFlow>,
    past: BTreeMap<(Pc, Pc), bool>,
    forward: BTreeMap<(Pc, Pc), bool>,
    uncut: BTreeMap<(Pc, Pc, Cut), bool>,
}

/// The instructions that end a path on which two accesses are not ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cut {
    /// Instructions that wait for other threads of the warp, the block or the cluster.
    Any,
    /// Instructions that wait for other warps.
    OfBlock,
}

impl Cut {
    fn includes(self, op: &Op) -> bool {
        match op.awaits() {
            Some(Awaited::OtherWarps) => true,
            Some(Awaited::OwnWarp) => self == Cut::Any,
            None => false,
        }
    }
}

impl Reachability {
    /// Whether threads that exit at `exit` without having reached `barrier` have bypassed it: code before their exit comes after the
    /// barrier as well, and not before it. Threads that only exit, or left a loop whose next iteration has the barrier, have not. Where the
    /// two are in different functions the answer is unknown: no finding.
    pub fn bypasses(&mut self, program: &Program, barrier: Pc, exit: Pc) -> bool {
        let known = self.past.get(&(barrier, exit)).copied();
        known.unwrap_or_else(|| {
            let answer = self.flow(program, barrier, exit).is_some_and(|flow| bypasses(flow, barrier, exit));
            self.past.insert((barrier, exit), answer);
            answer
        })
    }

    /// Whether two instructions lie in one basic block.
    pub fn is_same_block(&mut self, program: &Program, one: Pc, other: Pc) -> bool {
        self.flow(program, one, other).is_some_and(|flow| flow.block_of(one) == flow.block_of(other))
    }

    /// Whether control can flow from `from` to `to` without a back edge of a loop; false where they are in different functions.
    pub fn reaches_without_back_edge(&mut self, program: &Program, from: Pc, to: Pc) -> bool {
        let known = self.forward.get(&(from, to)).copied();
        known.unwrap_or_else(|| {
            let answer =
                self.flow(program, from, to).is_some_and(|flow| leads(flow, from, to, |above, block| !flow.dominates(above, block)));
            self.forward.insert((from, to), answer);
            answer
        })
    }

    /// Whether control can flow from `from` to `to`, round loops as well, without passing a `cut`; false where they are in different
    /// functions.
    pub fn reaches_uncut(&mut self, program: &Program, from: Pc, to: Pc, cut: Cut) -> bool {
        let known = self.uncut.get(&(from, to, cut)).copied();
        known.unwrap_or_else(|| {
            let cuts = |pc: u32| program.code.get(pc as usize).is_some_and(|inst| cut.includes(&inst.op));
            let answer = self.flow(program, from, to).is_some_and(|flow| reaches_uncut(flow, from, to, cuts));
            self.uncut.insert((from, to, cut), answer);
            answer
        })
    }

    /// Whether neither of two instructions can be executed after the other.
    pub fn are_exclusive(&mut self, program: &Program, one: Pc, other: Pc) -> bool {
        let both = self.flow(program, one, other).map(|flow| !reaches(flow, one, other) && !reaches(flow, other, one));
        both.unwrap_or(false)
    }

    /// The control flow of the function of two instructions; none if they are in different ones.
    pub(super) fn flow(&mut self, program: &Program, one: Pc, other: Pc) -> Option<&ControlFlow> {
        let function = program.function_at(one).filter(|function| program.function_at(other) == Some(*function))?;
        Some(self.flows.entry(function).or_insert_with(|| ControlFlow::new(program, function)))
    }
}

fn bypasses(flow: &ControlFlow, barrier: Pc, exit: Pc) -> bool {
    let starts_block = flow.block_of(exit).is_none_or(|block| flow.code(block).start == exit.0);
    !starts_block && reaches(flow, barrier, exit) && !reaches(flow, exit, barrier)
}

/// Whether `to` can be executed after `from`.
fn reaches(flow: &ControlFlow, from: Pc, to: Pc) -> bool {
    leads(flow, from, to, |_, _| true)
}

/// Whether a path leads from after `from` to `to` that passes no instruction of which `cuts` is true.
fn reaches_uncut(flow: &ControlFlow, from: Pc, to: Pc, cuts: impl Fn(u32) -> bool) -> bool {
    let Some(start) = flow.block_of(from) else { return false };
    let first = |code: Range<u32>| code.into_iter().find(|pc| *pc == to.0 || cuts(*pc));
    if let Some(pc) = first(from.0 + 1..flow.code(start).end) {
        return pc == to.0;
    }
    let mut found = false;
    closure(flow.nodes(), flow.successor_nodes(start.index()), |block| {
        let first = first(flow.code(BlockId::new(block)));
        found |= first == Some(to.0);
        flow.successor_nodes(block).filter(move |_| first.is_none())
    });
    found
}

/// Whether a path leads from `from` to `to` along edges that are `open`, a function of the two blocks of an edge.
fn leads(flow: &ControlFlow, from: Pc, to: Pc, open: impl Fn(BlockId, BlockId) -> bool) -> bool {
    let (Some(start), Some(end)) = (flow.block_of(from), flow.block_of(to)) else { return false };
    if start == end && from < to {
        return true;
    }
    let next = |block: BlockId| {
        let reachability = flow.successors(block).iter().filter(|next| open(**next, block));
        reachability.map(|next| next.index()).collect::<SmallVec<[usize; 2]>>()
    };
    closure(flow.nodes(), next(start), |block| next(BlockId::new(block))).contains(end.index())
}
