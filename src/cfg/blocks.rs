//! The basic blocks of a function, and the edges between them.

use std::ops::Range;

use crate::base::define_id;
use crate::flow::graph as flow_graph;
use crate::program::{ControlOp, FuncId, Inst, Op, Pc, Program};

define_id!(
    /// A basic block of one function, numbered in the order of the text.
    BlockId, "bb"
);

/// The blocks of a function and their edges.
#[derive(Clone, Debug)]
pub(super) struct Graph {
    /// First instruction of every block, in order, and the end of the code.
    starts: Vec<u32>,
    successors: Edges,
    predecessors: Edges,
}

/// The successors, or the predecessors, of every block: one list after the other.
#[derive(Clone, Debug)]
struct Edges {
    /// The start of the list of each block in `targets`, and the end.
    starts: Vec<usize>,
    targets: Vec<BlockId>,
}

impl Edges {
    /// The edges `pairs`, which must be sorted.
    fn new(blocks: usize, pairs: &[(BlockId, BlockId)]) -> Self {
        let starts = (0..=blocks).map(|block| pairs.partition_point(|(from, _)| from.index() < block)).collect();
        Self { starts, targets: pairs.iter().map(|(_, to)| *to).collect() }
    }

    fn of(&self, block: BlockId) -> &[BlockId] {
        &self.targets[self.starts[block.index()]..self.starts[block.index() + 1]]
    }
}

impl Graph {
    /// The blocks of `function`.
    pub(super) fn new(program: &Program, function: FuncId) -> Self {
        let code = program.functions[function.index()].code.clone();
        let mut starts = leaders(program, &code);
        let blocks = starts.len();
        starts.push(code.end);
        let block_of = |pc: u32| BlockId::new(starts.partition_point(|start| *start <= pc).saturating_sub(1));
        let mut pairs = Vec::with_capacity(2 * blocks);
        for block in 0..blocks {
            each_successor(program, starts[block + 1] - 1, &code, |to| pairs.push((BlockId::new(block), block_of(to))));
        }
        Self::from_edges(starts, pairs)
    }

    /// The blocks with the edges `pairs`. `starts` has the first instruction of each block and, last, the end of the code.
    fn from_edges(starts: Vec<u32>, mut pairs: Vec<(BlockId, BlockId)>) -> Self {
        let blocks = starts.len() - 1;
        pairs.sort_unstable();
        pairs.dedup();
        let successors = Edges::new(blocks, &pairs);
        pairs.iter_mut().for_each(|(from, to)| std::mem::swap(from, to));
        pairs.sort_unstable();
        Self { starts, successors, predecessors: Edges::new(blocks, &pairs) }
    }

    /// The same blocks with the edges that ptxas sees: those after jump threading.
    pub(super) fn with_threaded_jumps(&self, program: &Program) -> Self {
        let blocks = (0..self.len()).map(BlockId::new);
        let pairs = blocks.flat_map(|from| self.threaded_targets(program, from).flatten().map(move |to| (from, to))).collect();
        Self::from_edges(self.starts.clone(), pairs)
    }

    /// The successors of `block` after jump threading: a jump to a block that is only another jump leads to the target of the latter.
    /// `None` for a jump to a block that only ends the thread.
    pub(super) fn threaded_targets<'a>(&'a self, program: &'a Program, block: BlockId) -> impl Iterator<Item = Option<BlockId>> + 'a {
        self.successors(block).iter().map(|next| self.threaded_target(program, *next))
    }

    fn threaded_target(&self, program: &Program, mut block: BlockId) -> Option<BlockId> {
        for _ in 0..self.len() {
            let code = self.code(block);
            let inst = &program.code[code.start as usize];
            match (&inst.op, self.successors(block)) {
                _ if code.len() != 1 || inst.guard.is_some() => break,
                (Op::Control(ControlOp::Return { .. } | ControlOp::Exit), _) => return None,
                (Op::Control(ControlOp::Branch { .. }), [next]) => block = *next,
                _ => break,
            }
        }
        Some(block)
    }

    /// Number of blocks.
    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The instructions of `block`.
    pub(super) fn code(&self, block: BlockId) -> Range<u32> {
        self.starts[block.index()]..self.starts[block.index() + 1]
    }

    /// The block that holds `pc`.
    pub(super) fn block_of(&self, pc: Pc) -> Option<BlockId> {
        let next = self.starts.partition_point(|start| *start <= pc.0);
        (1..self.starts.len()).contains(&next).then(|| BlockId::new(next - 1))
    }

    /// The successors of `block`.
    pub(super) fn successors(&self, block: BlockId) -> &[BlockId] {
        self.successors.of(block)
    }

    /// The predecessors of `block`.
    pub(super) fn predecessors(&self, block: BlockId) -> &[BlockId] {
        self.predecessors.of(block)
    }
}

impl flow_graph::Graph for Graph {
    fn nodes(&self) -> usize {
        self.len()
    }

    fn successor_nodes(&self, block: usize) -> impl Iterator<Item = usize> {
        self.successors.of(BlockId::new(block)).iter().map(|next| next.index())
    }

    fn predecessor_nodes(&self, block: usize) -> impl Iterator<Item = usize> {
        self.predecessors.of(BlockId::new(block)).iter().map(|from| from.index())
    }
}

/// The first instructions of blocks: the entry, the targets of branches, and each instruction after one that ends a block.
fn leaders(program: &Program, code: &Range<u32>) -> Vec<u32> {
    let mut is_leader = vec![false; code.len()];
    let mut mark = |pc: u32| {
        if code.contains(&pc) {
            is_leader[(pc - code.start) as usize] = true;
        }
    };
    mark(code.start);
    for pc in code.clone() {
        if ends_block(&program.code[pc as usize]) {
            mark(pc + 1);
            each_successor(program, pc, code, &mut mark);
        }
    }
    code.clone().zip(is_leader).filter_map(|(pc, is_leader)| is_leader.then_some(pc)).collect()
}

/// True if the instruction is a branch, an exit, a return or a trap.
fn ends_block(inst: &Inst) -> bool {
    matches!(
        inst.op,
        Op::Control(
            ControlOp::Branch { .. } | ControlOp::BranchIndexed { .. } | ControlOp::Return { .. } | ControlOp::Exit | ControlOp::Trap
        )
    )
}

/// Calls `visit` with every instruction that can execute after the one at `pc`.
fn each_successor(program: &Program, pc: u32, code: &Range<u32>, mut visit: impl FnMut(u32)) {
    let inst = &program.code[pc as usize];
    inst.op.targets(program).iter().for_each(|target| visit(target.0));
    if (!ends_block(inst) || inst.guard.is_some()) && pc + 1 < code.end {
        visit(pc + 1);
    }
}
