//! Positions for a barrier between two instructions.
//!
//! A barrier of the block is only put at positions that all threads reach together. The outermost loop comes first; if no single position
//! orders the two, a pair may: one on the path from the first to the second, and one on the back edge of the loop.

use crate::cfg::BlockId;
use crate::check::{BarrierLevel, FunctionAnalysis, Position};
use crate::flow::graph::Graph as _;
use crate::flow::reach::closure;
use crate::program::{Op, Pc, Program};

/// Number of single positions that are combined to pairs.
const PAIRED_MAX: usize = 5;

/// The unrolled copies of the two instructions of a race, in one function.
pub(super) struct UnrolledCopies<'a> {
    /// Those of the one instruction.
    pub one: &'a [Pc],
    /// Those of the other instruction.
    pub other: &'a [Pc],
}

/// The threads that a barrier waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Participants {
    /// All threads of a block.
    Block,
    /// Some warps, or the lanes of a warp: they may meet in a branch that other threads do not take.
    Some,
}

impl Participants {
    /// The participants of a barrier of this level.
    pub fn of(level: BarrierLevel) -> Self {
        match level {
            BarrierLevel::Warp => Self::Some,
            BarrierLevel::Block | BarrierLevel::Cluster => Self::Block,
        }
    }
}

/// Sets of positions, each of which may order the two sides, the likeliest first.
pub(super) fn barrier_positions(
    (program, analysis): (&Program, &FunctionAnalysis),
    participants: Participants,
    (one, other): (Pc, Pc),
    copies: &UnrolledCopies<'_>,
) -> Vec<Vec<Position>> {
    let search = Search { program, analysis, participants };
    let mut singles: Vec<Position> = Vec::new();
    // What comes first in the text comes second where a loop carries the one to the other.
    let is_carried = search.precedes(other, one) && !search.precedes(one, other);
    let (early, late) = if is_carried { (other, one) } else { (one, other) };
    let found = [Position::Before(late), Position::After(early)].into_iter().chain(search.common(early, late));
    let back = search.loop_ends(early, late).into_iter().chain([Position::After(late), Position::Before(early)]);
    let mut between: Vec<Position> = found.filter(|at| search.is_convergent(*at)).collect();
    between.sort_by_key(|at| search.depth(*at));
    let back: Vec<Position> = back.filter(|at| search.is_convergent(*at)).collect();
    let (likelier, others) = if is_carried { (back, between) } else { (between, back) };
    for at in likelier.into_iter().chain(others) {
        if !singles.contains(&at) {
            singles.push(at);
        }
    }
    let all = |copies: &[Pc], at: fn(Pc) -> Position| copies.iter().map(|pc| at(*pc)).collect::<Vec<_>>();
    let sets = [all(copies.other, Position::Before), all(copies.one, Position::After), all(copies.one, Position::Before)];
    let convergent = |positions: &Vec<Position>| positions.iter().filter_map(|at| search.convergent_position(*at)).collect::<Vec<_>>();
    let convergent: Vec<Vec<Position>> = sets.iter().take(2).map(convergent).map(distinct).collect();
    let sets = sets.into_iter().filter(|positions| positions.iter().all(|at| search.is_convergent(*at))).chain(convergent);
    let sets = sets.filter(|positions| positions.len() > 1);
    let few = &singles[..singles.len().min(PAIRED_MAX)];
    let pairs = few.iter().enumerate().flat_map(|(index, one)| few[index + 1..].iter().map(move |other| vec![*one, *other]));
    singles.iter().map(|at| vec![*at]).chain(sets).chain(pairs).collect()
}

/// The positions sorted, without duplicates.
fn distinct(mut positions: Vec<Position>) -> Vec<Position> {
    positions.sort_unstable();
    positions.dedup();
    positions
}

struct Search<'a> {
    program: &'a Program,
    analysis: &'a FunctionAnalysis,
    participants: Participants,
}

impl Search<'_> {
    fn block(&self, pc: Pc) -> Option<BlockId> {
        self.analysis.flow().block_of(pc)
    }

    /// True if all threads of the block reach the position together, and a statement can be inserted there.
    fn is_convergent(&self, at: Position) -> bool {
        let has_statement = self.program.statement(at.pc()).is_some();
        let inst = &self.program.code[at.pc().index()];
        let is_reached = matches!(at, Position::Before(_)) || !matches!(inst.op, Op::Control(_));
        // Lanes of a warp need not diverge at a branch that separates warps: the trial run shows it.
        let converges = |block| self.participants == Participants::Some || !self.analysis.is_divergent(block);
        has_statement && is_reached && self.block(at.pc()).is_some_and(converges)
    }

    /// The position itself if all threads of the block reach it together, otherwise the nearest such position before or after it.
    fn convergent_position(&self, at: Position) -> Option<Position> {
        if self.is_convergent(at) {
            return Some(at);
        }
        let flow = self.analysis.flow();
        let next = |block: &BlockId| match at {
            Position::Before(_) => flow.idom(*block),
            Position::After(_) => flow.ipdom(*block),
        };
        let block = std::iter::successors(self.block(at.pc()), next).skip(1).find(|block| !self.analysis.is_divergent(*block))?;
        let position = match at {
            Position::Before(_) => self.end(block),
            Position::After(_) => Position::Before(Pc(flow.code(block).start)),
        };
        Some(position).filter(|at| self.is_convergent(*at))
    }

    /// The loop depth of a position.
    fn depth(&self, at: Position) -> u32 {
        let Some(block) = self.block(at.pc()) else { return 0 };
        let around = self.analysis.flow().loops().iter().filter(|natural_loop| natural_loop.blocks.contains(&block));
        around.map(|natural_loop| natural_loop.depth).max().unwrap_or(0)
    }

    /// True if `late` comes after `early` in one iteration of the loops around them: it is reached without a back edge, wherever
    /// compilers put its block in the text.
    fn precedes(&self, early: Pc, late: Pc) -> bool {
        match (self.block(early), self.block(late)) {
            (Some(a), Some(b)) if a != b => match (self.reaches_forward(a, b), self.reaches_forward(b, a)) {
                (true, false) => true,
                (false, true) => false,
                (true, true) | (false, false) => early < late,
            },
            _ => early < late,
        }
    }

    /// True if a path without back edges leads from one block to another.
    fn reaches_forward(&self, from: BlockId, to: BlockId) -> bool {
        let flow = self.analysis.flow();
        let next = |block: BlockId| {
            let nexts = flow.successors(block).iter().copied().filter(move |next| !flow.dominates(*next, block));
            nexts.map(BlockId::index).collect::<Vec<_>>()
        };
        closure(flow.nodes(), next(from), |block| next(BlockId::new(block))).contains(to.index())
    }

    /// Positions between the two instructions: where the paths after the first join, and where the paths to the second branch.
    fn common(&self, early: Pc, late: Pc) -> Vec<Position> {
        let flow = self.analysis.flow();
        let walk = |from: Option<BlockId>, next: &dyn Fn(BlockId) -> Option<BlockId>| {
            let end = from.map_or(0, |_| 16);
            std::iter::successors(from, |block| next(*block)).skip(1).take(end).collect::<Vec<_>>()
        };
        let joins = walk(self.block(early), &|block| flow.ipdom(block)).into_iter().filter(|block| !self.is_past(*block, late));
        let branches = walk(self.block(late), &|block| flow.idom(block)).into_iter().filter(|block| !self.is_before(*block, early));
        let starts = joins.map(|block| Position::Before(Pc(flow.code(block).start)));
        starts.chain(branches.map(|block| self.end(block))).collect()
    }

    /// True if a block can only come after an instruction.
    fn is_past(&self, block: BlockId, pc: Pc) -> bool {
        self.block(pc)
            .is_some_and(|instruction_block| instruction_block != block && self.analysis.flow().dominates(instruction_block, block))
    }

    /// True if a block can only come before an instruction.
    fn is_before(&self, block: BlockId, pc: Pc) -> bool {
        self.block(pc).is_some_and(|instruction_block| {
            instruction_block != block
                && self.analysis.flow().dominates(block, instruction_block)
                && !self.shares_loop(block, instruction_block)
        })
    }

    fn shares_loop(&self, one: BlockId, other: BlockId) -> bool {
        self.analysis.flow().loops().iter().any(|natural_loop| natural_loop.blocks.contains(&one) && natural_loop.blocks.contains(&other))
    }

    /// The last position of a block, before its branch.
    fn end(&self, block: BlockId) -> Position {
        let last = Pc(self.analysis.flow().code(block).end - 1);
        let is_branch = matches!(self.program.code[last.index()].op, Op::Control(_)) || self.program.statement(last).is_none();
        if is_branch { Position::Before(last) } else { Position::After(last) }
    }

    /// Positions in every iteration of the loops around both instructions: their ends, innermost loop first.
    fn loop_ends(&self, one: Pc, other: Pc) -> Vec<Position> {
        let (Some(a), Some(b)) = (self.block(one), self.block(other)) else { return Vec::new() };
        let flow = self.analysis.flow();
        let mut around: Vec<_> =
            flow.loops().iter().filter(|natural_loop| natural_loop.blocks.contains(&a) && natural_loop.blocks.contains(&b)).collect();
        around.sort_by_key(|natural_loop| std::cmp::Reverse(natural_loop.depth));
        let ends = |header: BlockId, blocks: &[BlockId]| {
            let back = flow.predecessors(header).iter().filter(|from| blocks.contains(from));
            back.map(|from| self.end(*from)).chain([Position::Before(Pc(flow.code(header).start))]).collect::<Vec<_>>()
        };
        around.into_iter().flat_map(|natural_loop| ends(natural_loop.header, &natural_loop.blocks)).collect()
    }
}
