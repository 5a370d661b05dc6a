//! The static order of blocks by which the scheduler finds the least advanced lanes of a warp.
//!
//! Of several groups of converged lanes, the one whose instruction has the smallest rank runs next ("thread frontiers"). The others
//! wait, and are at a point that it can still reach, provided that
//!
//! - a block comes before every block it can reach, except through back edges, and
//! - a loop is contiguous: all its blocks come before any of its exits, so that lanes that have left it wait until the last one leaves.
//!
//! A reverse postorder has the first property and not the second. So the strongly connected components of the function are sorted
//! topologically, and the inside of each loop likewise, without the edges to its header. Ties are broken by the order of the text,
//! because compilers put unlikely blocks last.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::blocks::{BlockId, Graph};
use super::loops::{Loop, Region, header};
use crate::flow::reach;
use crate::program::{FuncId, Program};

/// The insides of loops nested deeper than this stay in the order of the text: any order is correct, and the time must not be
/// quadratic in the size of a file.
pub(super) const DEPTH_MAX: u32 = 64;

/// The rank of every instruction of `program`. Only ranks within one function are comparable.
///
/// Unreachable code comes last in its function. Within a block, ranks are consecutive.
pub fn frontier_order(program: &Program) -> Vec<u32> {
    ranks(program, functions(program))
}

/// The rank of every instruction that one kernel may execute, its own and those of all device functions. Other code has rank 0.
pub fn frontier_order_of(program: &Program, kernel: FuncId) -> Vec<u32> {
    ranks(program, executed_by(program, kernel))
}

/// The functions that a kernel may execute: itself and all device functions.
pub(super) fn executed_by(program: &Program, kernel: FuncId) -> impl Iterator<Item = FuncId> {
    functions(program).filter(move |function| *function == kernel || !program.functions[function.index()].is_kernel)
}

fn functions(program: &Program) -> impl Iterator<Item = FuncId> + use<> {
    (0..program.functions.len()).map(FuncId::new)
}

fn ranks(program: &Program, functions: impl Iterator<Item = FuncId>) -> Vec<u32> {
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

/// A pending step of the sort.
enum Task {
    /// Append one block to the order.
    Block(BlockId),
    /// Sort the inside of the loop with this index.
    Loop(usize),
}

/// All blocks in frontier order, unreachable ones last, and the loops, outer ones before those inside them.
pub(super) fn order(graph: &Graph) -> (Vec<BlockId>, Vec<Loop>) {
    let (reachable, unreachable) = by_reachability(graph);
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

/// The reachable blocks, and the unreachable ones.
pub(super) fn by_reachability(graph: &Graph) -> (Vec<BlockId>, Vec<BlockId>) {
    let reached = reach::forward(graph, 0..graph.len().min(1));
    (0..graph.len()).map(BlockId::new).partition(|block| reached.contains(block.index()))
}

/// Sorts the components of `region`, the inside of loop `parent`, topologically, and pushes them on `tasks`, the first on top.
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

/// The components in topological order; ties are broken by the position of the first block in the text.
pub(super) fn topological(region: &Region<'_>, component_of: &[usize], components: &[Vec<usize>]) -> Vec<usize> {
    let mut in_degrees = vec![0_usize; components.len()];
    let mut successors = vec![Vec::new(); components.len()];
    for (from, to) in region.edges.iter().map(|(from, to)| (component_of[*from], component_of[*to])).filter(|(from, to)| from != to) {
        in_degrees[to] += 1;
        successors[from].push(to);
    }
    let key = |component: usize| Reverse((components[component][0], component));
    let mut ready: BinaryHeap<_> = (0..components.len()).filter(|component| in_degrees[*component] == 0).map(key).collect();
    let mut sorted = Vec::with_capacity(components.len());
    while let Some(Reverse((_, component))) = ready.pop() {
        sorted.push(component);
        for next in &successors[component] {
            in_degrees[*next] -= 1;
            if in_degrees[*next] == 0 {
                ready.push(key(*next));
            }
        }
    }
    sorted
}
