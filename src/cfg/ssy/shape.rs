//! The blocks of a function as ptxas sees them for warps with a reconvergence stack: loops with one back edge each, and dominators.

use std::collections::BTreeSet;

use super::super::blocks::{BlockId, Graph};
use super::super::dominance::{dominators, post_dominators};
use super::super::loops::{Region, header};
use super::super::order::{DEPTH_MAX, reach, topological};
use crate::flow::graph::Graph as _;
use crate::flow::reach::{Reached, closure};
use crate::program::{ControlOp, Op, Program};

/// Of loops with more back edges to one header, none is looked for inside another: time must not grow with the square of a file.
const LATCHES_MAX: usize = 64;

/// How control leaves a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// It has one successor, or ends.
    Plain,
    /// A branch at which lanes may diverge.
    Conditional,
    /// A branch with a guard, marked `.uni`: lanes do not diverge at it.
    Uniform,
    /// A branch by a table.
    Indexed,
}

/// A loop. A header may be that of several loops, one inside the other.
#[derive(Clone, Debug)]
pub(super) struct Loop {
    /// Where it is entered.
    pub(super) header: BlockId,
    /// The loop around it.
    pub(super) parent: Option<usize>,
    /// 1 for an outermost loop.
    pub(super) depth: u32,
    /// The loops inside are those that come next, up to this one.
    end: usize,
    /// The blocks that jump back.
    pub(super) latches: Vec<BlockId>,
    /// Edges that leave it, those of earlier blocks first.
    pub(super) exits: Vec<(BlockId, BlockId)>,
    /// Whether they lead to several blocks.
    pub(super) has_several_exits: bool,
}

/// What of a function bears on its reconvergence points.
pub(super) struct Shape {
    pub(super) graph: Graph,
    /// The blocks that can be reached, each before those that it leads to, back edges aside.
    pub(super) order: Vec<BlockId>,
    /// The position of each block in `order`; `u32::MAX` for blocks that cannot be reached.
    pub(super) rank: Vec<u32>,
    pub(super) endings: Vec<Ending>,
    /// Outer loops before those inside them.
    pub(super) loops: Vec<Loop>,
    /// The innermost loop of each block.
    pub(super) innermost: Vec<Option<usize>>,
    back: BTreeSet<(BlockId, BlockId)>,
    idoms: Vec<Option<BlockId>>,
    ipdoms: Vec<Option<BlockId>>,
    /// How many blocks dominate each.
    heights: Vec<u32>,
}

/// A step of [`Shape::sort`] that is still to be done.
enum Task {
    /// Appends a block to the order.
    Block(BlockId),
    /// Sorts the blocks of a loop, which is inside another if there is one.
    Loop(Vec<BlockId>, Option<usize>),
}

impl Shape {
    pub(super) fn new(program: &Program, graph: &Graph) -> Self {
        let graph = graph.as_assembled(program);
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
            back: BTreeSet::new(),
            heights: vec![0; blocks],
        };
        shape.sort();
        shape.measure();
        shape
    }

    /// Finds loops and the order of the blocks.
    fn sort(&mut self) {
        let (reachable, _) = reach(&self.graph);
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

    /// Pushes the strongly connected components of `blocks`, the body of a loop, on `tasks` with the first on top.
    fn push_sorted(&self, blocks: Vec<BlockId>, inside: Option<usize>, tasks: &mut Vec<Task>) {
        let region = Region::without(&self.graph, blocks, |from, to| self.back.contains(&(from, to)));
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

    /// Adds the loop that `blocks` form to the loops.
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
        self.back.extend(latches.iter().map(|latch| (*latch, header)));
        blocks.iter().for_each(|block| self.innermost[block.index()] = Some(inside));
        let depth = parent.map_or(0, |parent| self.loops[parent].depth) + 1;
        self.loops.push(Loop { header, parent, depth, end: inside + 1, latches, exits, has_several_exits });
        inside
    }

    /// Of the blocks that jump back to `header`, the latches of the outermost loop. A back edge whose natural loop has one exit target,
    /// inside the outer loop, makes an inner loop of its own.
    fn outer_latches(&self, header: BlockId, mut latches: Vec<BlockId>, is_inside: &impl Fn(&BlockId) -> bool) -> Vec<BlockId> {
        let mut inner = BTreeSet::from([header]);
        while latches.len() > 1 {
            let is_own = |natural: &BTreeSet<BlockId>| {
                let others = latches.iter().filter(|latch| natural.contains(latch)).count();
                others == 1 && self.only_exit(natural).is_some_and(|to| is_inside(&to))
            };
            let naturals = latches.iter().map(|latch| self.with_back_edge(&inner, *latch, is_inside)).enumerate();
            let Some((index, natural)) = naturals.into_iter().find(|(_, natural)| is_own(natural)) else { break };
            inner = natural;
            latches.remove(index);
        }
        latches
    }

    /// The blocks of `inner` and those inside from which control can reach `latch` without passing them.
    fn with_back_edge(&self, inner: &BTreeSet<BlockId>, latch: BlockId, is_inside: &impl Fn(&BlockId) -> bool) -> BTreeSet<BlockId> {
        let is_free = |block: &BlockId| is_inside(block) && !inner.contains(block);
        let before = |block: usize| self.graph.predecessor_nodes(block).filter(|from| is_free(&BlockId::new(*from)));
        let path = closure(self.graph.len(), Some(latch.index()).filter(|_| !inner.contains(&latch)), before);
        inner.iter().copied().chain(path.order().iter().map(|block| BlockId::new(*block))).collect()
    }

    /// The block that control leaves `blocks` for, if it is a single one.
    fn only_exit(&self, blocks: &BTreeSet<BlockId>) -> Option<BlockId> {
        let mut exits = blocks.iter().flat_map(|from| self.graph.successors(*from)).filter(|to| !blocks.contains(to));
        let first = exits.next()?;
        exits.all(|other| other == first).then_some(*first)
    }

    /// The last block of the straight line of blocks that begins with `block`.
    pub(super) fn end_of_line(&self, block: BlockId) -> BlockId {
        let mut block = block;
        for _ in 0..self.graph.len() {
            match self.graph.successors(block) {
                [next] if self.graph.predecessors(*next).len() == 1 => block = *next,
                _ => break,
            }
        }
        block
    }

    /// Whether `block` has one predecessor and only leads to an end.
    pub(super) fn is_dead_end(&self, block: BlockId) -> bool {
        self.graph.predecessors(block).len() == 1 && self.graph.successors(self.end_of_line(block)).is_empty()
    }

    /// Completes the loops with what is inside them, sorts their exits, and counts the dominators of each block.
    fn measure(&mut self) {
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
            self.heights[block.index()] = self.idom(*block).map_or(0, |above| self.heights[above.index()] + 1);
        }
    }

    fn idom(&self, block: BlockId) -> Option<BlockId> {
        self.idoms[block.index()]
    }

    /// Whether the edge leads back to the header of a loop.
    pub(super) fn is_back(&self, from: BlockId, to: BlockId) -> bool {
        self.back.contains(&(from, to))
    }

    /// The blocks from which control can reach `block`, back edges aside.
    pub(super) fn entries(&self, block: BlockId) -> impl Iterator<Item = BlockId> + '_ {
        let reached = |from: &BlockId| self.rank[from.index()] != u32::MAX;
        self.graph.predecessors(block).iter().copied().filter(reached).filter(move |from| !self.is_back(*from, block))
    }

    /// The lowest block that dominates all of these, as a block does itself.
    pub(super) fn common_dominator(&self, mut blocks: impl Iterator<Item = BlockId>) -> Option<BlockId> {
        let first = blocks.next()?;
        blocks.try_fold(first, |mut a, mut b| {
            while a != b {
                if self.heights[a.index()] >= self.heights[b.index()] { a = self.idom(a)? } else { b = self.idom(b)? }
            }
            Some(a)
        })
    }

    /// Whether there is a block that all paths from these on lead to.
    pub(super) fn come_together(&self, blocks: &[BlockId]) -> bool {
        let path = |block: BlockId| std::iter::successors(Some(block), |block| self.ipdoms[block.index()]);
        let mut paths = blocks.iter().map(|block| path(*block).collect::<BTreeSet<_>>());
        let Some(first) = paths.next() else { return true };
        !paths.fold(first, |common, path| &common & &path).is_empty()
    }

    /// The loops around `block`, the innermost first.
    pub(super) fn loops_of(&self, block: BlockId) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(self.innermost[block.index()], |inner| self.loops[*inner].parent)
    }

    /// Whether `block` is in the loop.
    pub(super) fn is_in(&self, found: usize, block: BlockId) -> bool {
        self.innermost[block.index()].is_some_and(|inner| (found..self.loops[found].end).contains(&inner))
    }

    /// The blocks from which control can reach `target` without passing `avoided`.
    pub(super) fn coming_to(&self, target: BlockId, avoided: Option<BlockId>) -> Reached {
        let is_open = |block: usize| block == target.index() || Some(BlockId::new(block)) != avoided;
        closure(self.graph.len(), [target.index()], |block| self.graph.predecessor_nodes(block).filter(move |_| is_open(block)))
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
