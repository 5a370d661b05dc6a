//! Reachability of instructions in the control flow of a function.

use std::collections::BTreeMap;
use std::ops::Range;

use smallvec::SmallVec;

use super::call_sites::common_places;
use crate::cfg::{BlockId, ControlFlow};
use crate::flow::graph::Graph as _;
use crate::flow::reach::closure;
use crate::program::{FuncId, Op, Pc, Program, WaitsFor};

/// Paths through the functions of a program: computed on demand and cached.
#[derive(Clone, Default)]
pub(super) struct Reachability {
    flows: BTreeMap<FuncId, ControlFlow>,
    bypassed: BTreeMap<(Pc, Pc), bool>,
    forward: BTreeMap<(Pc, Pc), bool>,
    without_barrier: BTreeMap<(Pc, Pc, BarrierKind), bool>,
}

/// Instructions at which a path without synchronization between two accesses ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum BarrierKind {
    /// Instructions that wait for other threads of the warp, the block or the cluster.
    Any,
    /// Instructions that wait for other warps.
    BlockWide,
}

impl BarrierKind {
    fn includes(self, op: &Op) -> bool {
        match op.waits_for() {
            Some(WaitsFor::OtherWarps) => true,
            Some(WaitsFor::SameWarp) => self == BarrierKind::Any,
            None => false,
        }
    }
}

impl Reachability {
    /// True if threads that exit at `exit` without having reached `barrier` have bypassed it: code before their exit is reachable from the
    /// barrier, and the barrier not from the exit. Threads that only exit, or have left a loop whose next iteration has the barrier, have
    /// not bypassed it. False if the two are in different functions.
    pub fn bypasses(&mut self, program: &Program, barrier: Pc, exit: Pc) -> bool {
        let cached = self.bypassed.get(&(barrier, exit)).copied();
        cached.unwrap_or_else(|| {
            let answer = self.flow(program, barrier, exit).is_some_and(|flow| bypasses(flow, barrier, exit));
            self.bypassed.insert((barrier, exit), answer);
            answer
        })
    }

    /// True if two instructions are in one basic block.
    pub fn is_same_block(&mut self, program: &Program, one: Pc, other: Pc) -> bool {
        self.flow(program, one, other).is_some_and(|flow| flow.block_of(one) == flow.block_of(other))
    }

    /// True if control can flow from `from` to `to` without a back edge of a loop; false if they are in different functions.
    pub fn reaches_without_back_edge(&mut self, program: &Program, from: Pc, to: Pc) -> bool {
        let cached = self.forward.get(&(from, to)).copied();
        cached.unwrap_or_else(|| {
            let answer =
                self.flow(program, from, to).is_some_and(|flow| has_path(flow, from, to, |above, block| !flow.dominates(above, block)));
            self.forward.insert((from, to), answer);
            answer
        })
    }

    /// True if a function executes `to` after `from`, without a back edge of a loop: it holds them, or calls functions that lead to them.
    pub fn comes_after(&mut self, program: &Program, from: Pc, to: Pc) -> bool {
        let mut reaches = |starts: &[Pc], end: Pc| starts.iter().any(|start| self.reaches_without_back_edge(program, *start, end));
        let common = common_places(program, [from, to]);
        common.iter().any(|common| common.places[1].iter().any(|end| reaches(&common.places[0], *end)))
    }

    /// True if control can flow from `from` to `to`, also through back edges, without passing a barrier of this kind; false if they are in
    /// different functions.
    pub fn reaches_without_barrier(&mut self, program: &Program, from: Pc, to: Pc, kind: BarrierKind) -> bool {
        let cached = self.without_barrier.get(&(from, to, kind)).copied();
        cached.unwrap_or_else(|| {
            let is_barrier = |pc: u32| program.code.get(pc as usize).is_some_and(|inst| kind.includes(&inst.op));
            let answer = self.flow(program, from, to).is_some_and(|flow| reaches_without_barrier(flow, from, to, is_barrier));
            self.without_barrier.insert((from, to, kind), answer);
            answer
        })
    }

    /// True if neither of two instructions can be executed after the other.
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

/// True if `to` can be executed after `from`.
fn reaches(flow: &ControlFlow, from: Pc, to: Pc) -> bool {
    has_path(flow, from, to, |_, _| true)
}

/// True if there is a path from after `from` to `to` without an instruction that `is_barrier`.
fn reaches_without_barrier(flow: &ControlFlow, from: Pc, to: Pc, is_barrier: impl Fn(u32) -> bool) -> bool {
    let Some(start) = flow.block_of(from) else { return false };
    let first = |code: Range<u32>| code.into_iter().find(|pc| *pc == to.0 || is_barrier(*pc));
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

/// True if there is a path from `from` to `to` along edges that `follows` accepts, by the target and source blocks of the edge.
fn has_path(flow: &ControlFlow, from: Pc, to: Pc, follows: impl Fn(BlockId, BlockId) -> bool) -> bool {
    let (Some(start), Some(end)) = (flow.block_of(from), flow.block_of(to)) else { return false };
    if start == end && from < to {
        return true;
    }
    let next = |block: BlockId| {
        let successors = flow.successors(block).iter().filter(|next| follows(**next, block));
        successors.map(|next| next.index()).collect::<SmallVec<[usize; 2]>>()
    };
    closure(flow.nodes(), next(start), |block| next(BlockId::new(block))).contains(end.index())
}
