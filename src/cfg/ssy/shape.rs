//! The control flow of a function as ptxas analyzes it for warps with a reconvergence stack: loops, exits and dominators.

use std::collections::BTreeSet;

use super::super::blocks::{BlockId, Graph};
use super::super::dominance::{dominators, post_dominators};
use super::super::loops::{Region, header};
use super::super::order::{DEPTH_MAX, by_reachability, topological};
use crate::flow::graph::Graph as _;
use crate::flow::reach::{Reached, closure};
use crate::program::{ControlOp, Op, Program};

/// Loops with more back edges to one header are not split into nested ones: the time must not be quadratic in the size of a file.
const LATCHES_MAX: usize = 64;

/// The way in which control leaves a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// It has one successor, or none.
    Plain,
    /// A branch at which lanes may diverge.
    Conditional,
    /// A branch with a guard, marked `.uni`: lanes do not diverge at it.
    Uniform,
    /// `brx.idx`, a branch by a table.
    Indexed,
}

/// A loop. Nested loops may share a header.
#[derive(Clone, Debug)]
pub(super) struct Loop {
    pub(super) header: BlockId,
    /// The enclosing loop.
    pub(super) parent: Option<usize>,
    /// 1 for an outermost loop.
    pub(super) depth: u32,
    /// The index after the last of the loops inside it, which follow it in the list.
    end: usize,
    /// The blocks with a back edge to the header.
    pub(super) latches: Vec<BlockId>,
    /// The edges that leave it, those of earlier blocks first.
    pub(super) exits: Vec<(BlockId, BlockId)>,
    /// True if they lead to several blocks.
    pub(super) has_several_exits: bool,
}

/// The control-flow properties of a function from which its reconvergence points follow.
pub(super) struct Shape {
    pub(super) graph: Graph,
    /// The reachable blocks in topological order, ignoring back edges.
    pub(super) order: Vec<BlockId>,
    /// The index of each block in `order`; `u32::MAX` for unreachable blocks.
    pub(super) rank: Vec<u32>,
    pub(super) endings: Vec<Ending>,
    /// Outer loops before those inside them.
    pub(super) loops: Vec<Loop>,
    /// The innermost loop of each block.
    pub(super) innermost: Vec<Option<usize>>,
    back_edges: BTreeSet<(BlockId, BlockId)>,
    idoms: Vec<Option<BlockId>>,
    ipdoms: Vec<Option<BlockId>>,
    /// The depth of each block in the dominator tree.
    depths: Vec<u32>,
}

/// A pending step of [`Shape::sort`].
enum Task {
    /// Appends a block to the order.
    Block(BlockId),
    /// Sorts the blocks of a loop, which is inside another if there is one.
    Loop(Vec<BlockId>, Option<usize>),
}

impl Shape {
    pub(super) fn new(program: &Program, graph: &Graph) -> Self {
        let graph = graph.with_threaded_jumps(program);
        let endings = (0..graph.len()).map(|block| ending(program, &graph, BlockId::new(block))).collect();
        let blocks = graph.len();
        let mut shape = Self {
            idoms: dominators(&graph),
            ipdoms: post_dominators(&graph),
            graph,
            order: Vec::with_capacity(blocks),
            rank: vec![u32::MAX; blocks],
            endings,
            loops: Vec::new(),
            innermost: vec![None; blocks],
            back_edges: BTreeSet::new(),
            depths: vec![0; blocks],
        };
        shape.sort();
        shape.complete();
        shape
    }

    /// Finds the loops and the order of the blocks.
    fn sort(&mut self) {
        let (reachable, _) = by_reachability(&self.graph);
        let mut tasks = Vec::new();
        self.push_sorted(reachable, None, &mut tasks);
        while let Some(task) = tasks.pop() {
            match task {
                Task::Block(block) => {
                    self.rank[block.index()] = self.order.len() as u32;
                    self.order.push(block);
                }
                Task::Loop(blocks, parent) => {
                    let inside = self.add_loop(&blocks, parent);
                    match self.loops[inside].depth {
                        DEPTH_MAX.. => tasks.extend(blocks.into_iter().rev().map(Task::Block)),
                        _ => self.push_sorted(blocks, Some(inside), &mut tasks),
                    }
                }
            }
        }
    }

    /// Pushes the strongly connected components of `blocks`, the body of a loop, on `tasks`, the first on top.
    fn push_sorted(&self, blocks: Vec<BlockId>, inside: Option<usize>, tasks: &mut Vec<Task>) {
        let region = Region::without_cut_edges(&self.graph, blocks, |from, to| self.back_edges.contains(&(from, to)));
        let (component_of, components) = region.components();
        let sorted = topological(&region, &component_of, &components);
        for component in sorted.into_iter().rev() {
            let blocks: Vec<BlockId> = components[component].iter().map(|position| region.blocks[*position]).collect();
            if region.is_loop(&components[component]) {
                tasks.push(Task::Loop(blocks, inside));
            } else {
                tasks.extend(blocks.into_iter().rev().map(Task::Block));
            }
        }
    }

    /// Adds the loop that consists of `blocks`.
    fn add_loop(&mut self, blocks: &[BlockId], parent: Option<usize>) -> usize {
        let inside = self.loops.len();
        let header = header(&self.graph, blocks).unwrap_or(BlockId(0));
        let is_inside = |block: &BlockId| blocks.binary_search(block).is_ok();
        let is_latch = |block: &BlockId| self.graph.successors(*block).contains(&header) && !self.is_back(*block, header);
        let latches: Vec<BlockId> = blocks.iter().copied().filter(is_latch).collect();
        let latches = if latches.len() > LATCHES_MAX { latches } else { self.outer_latches(header, latches, &is_inside) };
        let exits = blocks.iter().flat_map(|from| self.graph.successors(*from).iter().map(move |to| (*from, *to)));
        let exits: Vec<(BlockId, BlockId)> = exits.filter(|(_, to)| !is_inside(to)).collect();
        let has_several_exits = exits.iter().any(|(_, to)| *to != exits[0].1);
        self.back_edges.extend(latches.iter().map(|latch| (*latch, header)));
        blocks.iter().for_each(|block| self.innermost[block.index()] = Some(inside));
        let depth = parent.map_or(0, |parent| self.loops[parent].depth) + 1;
        self.loops.push(Loop { header, parent, depth, end: inside + 1, latches, exits, has_several_exits });
        inside
    }

    /// The latches of the outermost of the loops with this `header`. A back edge whose natural loop has one exit target, inside the outer
    /// loop, forms an inner loop.
    fn outer_latches(&self, header: BlockId, mut latches: Vec<BlockId>, is_inside: &impl Fn(&BlockId) -> bool) -> Vec<BlockId> {
        let mut inner = BTreeSet::from([header]);
        while latches.len() > 1 {
            let is_inner_loop = |natural: &BTreeSet<BlockId>| {
                let others = latches.iter().filter(|latch| natural.contains(latch)).count();
                others == 1 && self.only_exit(natural).is_some_and(|to| is_inside(&to))
            };
            let naturals = latches.iter().map(|latch| self.with_back_edge(&inner, *latch, is_inside)).enumerate();
            let Some((index, natural)) = naturals.into_iter().find(|(_, natural)| is_inner_loop(natural)) else { break };
            inner = natural;
            latches.remove(index);
        }
        latches
    }

    /// The blocks of `inner`, and the blocks of the loop from which control can reach `latch` without passing those.
    fn with_back_edge(&self, inner: &BTreeSet<BlockId>, latch: BlockId, is_inside: &impl Fn(&BlockId) -> bool) -> BTreeSet<BlockId> {
        let is_new = |block: &BlockId| is_inside(block) && !inner.contains(block);
        let before = |block: usize| self.graph.predecessor_nodes(block).filter(|from| is_new(&BlockId::new(*from)));
        let path = closure(self.graph.len(), Some(latch.index()).filter(|_| !inner.contains(&latch)), before);
        inner.iter().copied().chain(path.order().iter().map(|block| BlockId::new(*block))).collect()
    }

    /// The target of the edges that leave `blocks`, if they have a single one.
    fn only_exit(&self, blocks: &BTreeSet<BlockId>) -> Option<BlockId> {
        let mut exits = blocks.iter().flat_map(|from| self.graph.successors(*from)).filter(|to| !blocks.contains(to));
        let first = exits.next()?;
        exits.all(|other| other == first).then_some(*first)
    }

    /// The last block of the chain of blocks with one successor and one predecessor that begins with `block`.
    pub(super) fn end_of_chain(&self, block: BlockId) -> BlockId {
        let mut block = block;
        for _ in 0..self.graph.len() {
            match self.graph.successors(block) {
                [next] if self.graph.predecessors(*next).len() == 1 => block = *next,
                _ => break,
            }
        }
        block
    }

    /// True if `block` has one predecessor and only leads to an exit.
    pub(super) fn is_dead_end(&self, block: BlockId) -> bool {
        self.graph.predecessors(block).len() == 1 && self.graph.successors(self.end_of_chain(block)).is_empty()
    }

    /// Sets the `end` of each loop, sorts its exits, and computes the depth of each block in the dominator tree.
    fn complete(&mut self) {
        for inner in (0..self.loops.len()).rev() {
            if let Some(parent) = self.loops[inner].parent {
                debug_assert!(parent < inner, "outer loops come first");
                self.loops[parent].end = self.loops[parent].end.max(self.loops[inner].end);
            }
        }
        for found in &mut self.loops {
            found.exits.sort_by_key(|(from, _)| self.rank[from.index()]);
        }
        for block in &self.order {
            self.depths[block.index()] = self.idom(*block).map_or(0, |above| self.depths[above.index()] + 1);
        }
    }

    fn idom(&self, block: BlockId) -> Option<BlockId> {
        self.idoms[block.index()]
    }

    /// True for the back edges of loops.
    pub(super) fn is_back(&self, from: BlockId, to: BlockId) -> bool {
        self.back_edges.contains(&(from, to))
    }

    /// The reachable predecessors of `block`, except those with a back edge to it.
    pub(super) fn entries(&self, block: BlockId) -> impl Iterator<Item = BlockId> + '_ {
        let is_reachable = |from: &BlockId| self.rank[from.index()] != u32::MAX;
        self.graph.predecessors(block).iter().copied().filter(is_reachable).filter(move |from| !self.is_back(*from, block))
    }

    /// The nearest common dominator of the blocks; a block dominates itself.
    pub(super) fn common_dominator(&self, mut blocks: impl Iterator<Item = BlockId>) -> Option<BlockId> {
        let first = blocks.next()?;
        blocks.try_fold(first, |mut a, mut b| {
            while a != b {
                if self.depths[a.index()] >= self.depths[b.index()] { a = self.idom(a)? } else { b = self.idom(b)? }
            }
            Some(a)
        })
    }

    /// True if the blocks have a common post-dominator.
    pub(super) fn have_common_post_dominator(&self, blocks: &[BlockId]) -> bool {
        let path = |block: BlockId| std::iter::successors(Some(block), |block| self.ipdoms[block.index()]);
        let mut paths = blocks.iter().map(|block| path(*block).collect::<BTreeSet<_>>());
        let Some(first) = paths.next() else { return true };
        !paths.fold(first, |common, path| &common & &path).is_empty()
    }

    /// The loops around `block`, the innermost first.
    pub(super) fn loops_of(&self, block: BlockId) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(self.innermost[block.index()], |inner| self.loops[*inner].parent)
    }

    /// True if `block` is in the loop with the index `found`.
    pub(super) fn is_in(&self, found: usize, block: BlockId) -> bool {
        self.innermost[block.index()].is_some_and(|inner| (found..self.loops[found].end).contains(&inner))
    }

    /// The blocks from which control can reach `target` without passing `avoided`.
    pub(super) fn blocks_reaching(&self, target: BlockId, avoided: Option<BlockId>) -> Reached {
        let is_entered = |block: usize| block == target.index() || Some(BlockId::new(block)) != avoided;
        closure(self.graph.len(), [target.index()], |block| self.graph.predecessor_nodes(block).filter(move |_| is_entered(block)))
    }
}

fn ending(program: &Program, graph: &Graph, block: BlockId) -> Ending {
    let inst = &program.code[graph.code(block).end as usize - 1];
    let Op::Control(op) = inst.op else { return Ending::Plain };
    match op {
        ControlOp::BranchIndexed { .. } => Ending::Indexed,
        ControlOp::Branch { .. } if inst.guard.is_none() => Ending::Plain,
        ControlOp::Branch { uniform: true, .. } => Ending::Uniform,
        ControlOp::Branch { uniform: false, .. } => Ending::Conditional,
        ControlOp::Call { .. }
        | ControlOp::SystemCall { .. }
        | ControlOp::Return { .. }
        | ControlOp::Exit
        | ControlOp::Trap
        | ControlOp::Breakpoint => Ending::Plain,
    }
}
