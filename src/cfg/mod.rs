//! Control flow of a function: blocks, dominators, loops, and reconvergence points.
//!
//! A [`ControlFlow`] is immutable: dense vectors indexed by [`BlockId`]; blocks are numbered in the order of the text. A call returns to
//! the next instruction and is no edge. A guarded `exit` or `ret` is no edge either: the graph shows where the remaining lanes
//! reconverge. The scheduler reads [`frontier_order`] and, for warps with a reconvergence stack, [`pushed_targets_of`]; checkers and
//! register analyses use the blocks and their edges; the rest is for display and diagnostics.

#![warn(clippy::wildcard_enum_match_arm)]

mod blocks;
mod dominance;
mod loops;
mod order;
mod ssy;
mod wait_loop;

use crate::flow::graph::{self as flow_graph, Blocks};
use crate::program::{FuncId, Pc, Program};

pub use blocks::BlockId;
use blocks::Graph;
pub use loops::Loop;
pub use order::{frontier_order, frontier_order_of};
pub use wait_loop::{is_lock_loop, is_wait_loop};

/// The control flow of one function.
#[derive(Clone, Debug)]
pub struct ControlFlow {
    graph: Graph,
    idoms: Vec<Option<BlockId>>,
    ipdoms: Vec<Option<BlockId>>,
    loops: Vec<Loop>,
}

impl ControlFlow {
    /// Analyzes `function` of `program`. A function without a body has no blocks.
    pub fn new(program: &Program, function: FuncId) -> Self {
        let graph = Graph::new(program, function);
        let idoms = dominance::dominators(&graph);
        let ipdoms = dominance::post_dominators(&graph);
        let (_, loops) = order::order(&graph);
        Self { graph, idoms, ipdoms, loops }
    }

    /// All blocks with the instructions they hold, in the order of the text; the first is the entry.
    pub fn blocks(&self) -> impl Iterator<Item = (BlockId, std::ops::Range<u32>)> + '_ {
        (0..self.graph.len()).map(|index| (BlockId::new(index), self.graph.code(BlockId::new(index))))
    }

    /// The instructions of a block of this function.
    pub fn code(&self, block: BlockId) -> std::ops::Range<u32> {
        self.graph.code(block)
    }

    /// The block that holds the instruction at `pc`; `None` outside the function.
    pub fn block_of(&self, pc: Pc) -> Option<BlockId> {
        self.graph.block_of(pc)
    }

    /// The successors of `block`, without repetition, in the order of the text.
    pub fn successors(&self, block: BlockId) -> &[BlockId] {
        self.graph.successors(block)
    }

    /// The predecessors of `block`, in the order of the text.
    pub fn predecessors(&self, block: BlockId) -> &[BlockId] {
        self.graph.predecessors(block)
    }

    /// The immediate dominator of `block`; `None` for the entry and for unreachable blocks.
    pub fn idom(&self, block: BlockId) -> Option<BlockId> {
        self.idoms[block.index()]
    }

    /// True if every path from the entry to `block` passes `dominator`. A block dominates itself.
    pub fn dominates(&self, dominator: BlockId, block: BlockId) -> bool {
        std::iter::successors(Some(block), |block| self.idom(*block)).any(|above| above == dominator)
    }

    /// The immediate post-dominator of `block`; `None` if there is none, or if no path leads to an exit of the function.
    pub fn ipdom(&self, block: BlockId) -> Option<BlockId> {
        self.ipdoms[block.index()]
    }

    /// The loops, outer ones before those inside them.
    pub fn loops(&self) -> &[Loop] {
        &self.loops
    }

    /// The instruction where lanes that diverge at `pc`, the last of a block, reconverge: the first of its immediate post-dominator.
    pub fn ipdom_pc(&self, pc: Pc) -> Option<Pc> {
        let reconvergence = self.ipdom(self.block_of(pc)?)?;
        Some(Pc(self.graph.code(reconvergence).start))
    }
}

impl flow_graph::Graph for ControlFlow {
    fn nodes(&self) -> usize {
        self.graph.len()
    }

    fn successor_nodes(&self, block: usize) -> impl Iterator<Item = usize> {
        self.graph.successor_nodes(block)
    }

    fn predecessor_nodes(&self, block: usize) -> impl Iterator<Item = usize> {
        self.graph.predecessor_nodes(block)
    }
}

impl Blocks for ControlFlow {
    fn code(&self, block: usize) -> std::ops::Range<usize> {
        let code = self.graph.code(BlockId::new(block));
        code.start as usize..code.end as usize
    }
}

/// [`pushed_targets`] for the code that one kernel may execute: its own and that of all device functions. They are indexed by the pc of
/// the branch, the last instruction of its block; other entries are empty.
pub fn pushed_targets_of(program: &Program, kernel: FuncId) -> Vec<Box<[Pc]>> {
    let mut pushed_targets = vec![Box::default(); program.code.len()];
    for function in order::executed_by(program, kernel) {
        let graph = Graph::new(program, function);
        for (block, pushed) in ssy::pushed(program, &graph).into_iter().enumerate() {
            let last = graph.code(BlockId::new(block)).end - 1;
            pushed_targets[last as usize] = pushed.into_iter().map(|reconvergence| Pc(graph.code(reconvergence).start)).collect();
        }
    }
    pushed_targets
}

/// The reconvergence points of warps with a reconvergence stack, in one function: for each block, the targets that ptxas for sm_6x and
/// earlier pushes with SSY and PBK before the branch at its end, the outermost first.
pub fn pushed_targets(program: &Program, function: FuncId) -> Vec<Vec<BlockId>> {
    ssy::pushed(program, &Graph::new(program, function))
}
