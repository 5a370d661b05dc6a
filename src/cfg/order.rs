//! The static order of blocks by which the scheduler finds the least advanced lanes.
//!
//! Of several groups of lanes, the one whose instruction has the smallest rank runs next ("thread frontiers"). The others then
//! wait where they can be caught up with, provided that
//!
//! - a block comes before every block it can reach, back edges aside, and
//! - a loop is contiguous: all its blocks come before any of its exits, so that lanes which left it wait until the last one leaves.
//!
//! A reverse postorder has the first property and not the second. So the strongly connected components of the function are sorted
//! topologically, and each loop is sorted in the same manner by itself, with the edges into its header cut. Where both properties leave a
//! choice, the order of the text decides, because compilers put unlikely blocks last.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::blocks::{BlockId, Graph};
use super::loops::{Loop, Region, header};
use crate::flow::reach;
use crate::program::{FuncId, Program};

/// Loops nested deeper are left in the order of the text: any order is right, and time must not grow with the square of a file.
pub(super) const DEPTH_MAX: u32 = 64;

/// The rank of every instruction of `program`; ranks of one function can be compared.
///
/// Unreachable code comes last in its function. Along a block ranks grow by one.
pub fn frontier_order(program: &Program) -> Vec<u32> {
    order_of(program, functions(program))
}

/// The same for what one kernel may execute: its own code and that of all device functions. Other code has rank 0.
pub fn frontier_order_of(program: &Program, kernel: FuncId) -> Vec<u32> {
    order_of(program, executed_by(program, kernel))
}

/// The functions that a kernel may execute: itself and all device functions.
pub(super) fn executed_by(program: &Program, kernel: FuncId) -> impl Iterator<Item = FuncId> {
    functions(program).filter(move |function| *function == kernel || !program.functions[function.index()].is_kernel)
}

fn functions(program: &Program) -> impl Iterator<Item = FuncId> + use<> {
    (0..program.functions.len()).map(FuncId::new)
}

fn order_of(program: &Program, functions: impl Iterator<Item = FuncId>) -> Vec<u32> {
    let mut ranks = vec![0; program.code.len()];
    for function in functions {
        let graph = Graph::new(program, function);
        let (order, _) = order(&graph);
        let code = order.into_iter().flat_map(|block| graph.code(block));
        for (pc, rank) in code.zip(program.functions[function.index()].code.start..) {
            ranks[pc as usize] = rank;
        }
    }
    ranks
}

/// A step of the sorting that is still to be done.
enum Task {
    /// One block, next in the order.
    Block(BlockId),
    /// A loop with number in the list of loops.
    Loop(usize),
}

/// All blocks in their order, unreachable ones last, and the loops, outer ones before those inside them.
pub(super) fn order(graph: &Graph) -> (Vec<BlockId>, Vec<Loop>) {
    let (reachable, unreachable) = reach(graph);
    let mut order = Vec::with_capacity(graph.len());
    let mut loops: Vec<Loop> = Vec::new();
    let mut tasks = Vec::new();
    sort(&Region::new(graph, reachable, None), None, &mut loops, &mut tasks);
    while let Some(task) = tasks.pop() {
        match task {
            Task::Block(block) => order.push(block),
            Task::Loop(index) if loops[index].depth > DEPTH_MAX => order.extend(&loops[index].blocks),
            Task::Loop(index) => {
                let region = Region::new(graph, loops[index].blocks.clone(), Some(loops[index].header));
                sort(&region, Some(index), &mut loops, &mut tasks);
            }
        }
    }
    order.extend(unreachable);
    (order, loops)
}

/// The blocks that the entry reaches, and the others.
pub(super) fn reach(graph: &Graph) -> (Vec<BlockId>, Vec<BlockId>) {
    let reached = reach::forward(graph, 0..graph.len().min(1));
    (0..graph.len()).map(BlockId::new).partition(|block| reached.contains(block.index()))
}

/// Sorts the components of `region`, the inside of loop `parent`, topologically, and pushes them onto `tasks` with the first on top.
fn sort(region: &Region<'_>, parent: Option<usize>, loops: &mut Vec<Loop>, tasks: &mut Vec<Task>) {
    let (component_of, components) = region.components();
    let depth = parent.map_or(0, |parent| loops[parent].depth) + 1;
    let mut sorted = Vec::with_capacity(components.len());
    for component in topological(region, &component_of, &components) {
        let blocks: Vec<BlockId> = components[component].iter().map(|position| region.blocks[*position]).collect();
        match header(region.graph, &blocks).filter(|_| region.is_loop(&components[component])) {
            Some(header) => {
                sorted.push(Task::Loop(loops.len()));
                loops.push(Loop { header, blocks, parent, depth });
            }
            None => sorted.extend(blocks.into_iter().map(Task::Block)),
        }
    }
    tasks.extend(sorted.into_iter().rev());
}

/// The components in topological order; of several that could be next, the one whose first block comes first in the text.
pub(super) fn topological(region: &Region<'_>, component_of: &[usize], components: &[Vec<usize>]) -> Vec<usize> {
    let mut waiting = vec![0_usize; components.len()];
    let mut following = vec![Vec::new(); components.len()];
    for (from, to) in region.edges.iter().map(|(from, to)| (component_of[*from], component_of[*to])).filter(|(from, to)| from != to) {
        waiting[to] += 1;
        following[from].push(to);
    }
    let key = |component: usize| Reverse((components[component][0], component));
    let mut ready: BinaryHeap<_> = (0..components.len()).filter(|component| waiting[*component] == 0).map(key).collect();
    let mut sorted = Vec::with_capacity(components.len());
    while let Some(Reverse((_, component))) = ready.pop() {
        sorted.push(component);
        for next in &following[component] {
            waiting[*next] -= 1;
            if waiting[*next] == 0 {
                ready.push(key(*next));
            }
        }
    }
    sorted
}
