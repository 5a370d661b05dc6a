//! Where a barrier between two instructions can stand.
//!
//! For a barrier of the block only places that all threads reach together are taken. The shallowest loop comes first; where no single
//! place orders the two, two places may: the way there, and the way back round the loop.

use crate::cfg::BlockId;
use crate::check::{BarrierLevel, Body, Position};
use crate::program::{Op, Pc, Program};

/// Places of one barrier that are combined to two.
const COMBINED: usize = 5;

/// The instructions on both sides of a race, of one function.
pub(super) struct Sides<'a> {
    /// Copies of the one.
    pub one: &'a [Pc],
    /// Copies of the other.
    pub other: &'a [Pc],
}

/// Sets of places, each of which may order the two sides, the likeliest first.
pub(super) fn barrier_places(
    (program, body): (&Program, &Body),
    reach: BarrierLevel,
    (one, other): (Pc, Pc),
    sides: &Sides<'_>,
) -> Vec<Vec<Position>> {
    let search = Search { program, body, reach };
    let mut singles: Vec<Position> = Vec::new();
    let (early, late) = if search.leads(one, other) || !search.leads(other, one) { (one, other) } else { (other, one) };
    let found = [Position::Before(late), Position::After(early)].into_iter().chain(search.common(early, late));
    let back = search.turns(early, late).into_iter().chain([Position::After(late), Position::Before(early)]);
    let mut ways: Vec<Position> = found.filter(|at| search.is_common(*at)).collect();
    ways.sort_by_key(|at| search.depth(*at));
    for at in ways.into_iter().chain(back.filter(|at| search.is_common(*at))) {
        if !singles.contains(&at) {
            singles.push(at);
        }
    }
    let all = |copies: &[Pc], at: fn(Pc) -> Position| copies.iter().map(|pc| at(*pc)).collect::<Vec<_>>();
    let copies = [all(sides.other, Position::Before), all(sides.one, Position::After), all(sides.one, Position::Before)];
    let near = |places: &Vec<Position>| places.iter().filter_map(|at| search.near(*at)).collect::<Vec<_>>();
    let near: Vec<Vec<Position>> = copies.iter().take(2).map(near).map(distinct).collect();
    let copies = copies.into_iter().filter(|places| places.iter().all(|at| search.is_common(*at))).chain(near);
    let copies = copies.filter(|places| places.len() > 1);
    let few = &singles[..singles.len().min(COMBINED)];
    let pairs = few.iter().enumerate().flat_map(|(index, one)| few[index + 1..].iter().map(move |other| vec![*one, *other]));
    singles.iter().map(|at| vec![*at]).chain(copies).chain(pairs).collect()
}

/// Each once, in order.
fn distinct(mut places: Vec<Position>) -> Vec<Position> {
    places.sort_unstable();
    places.dedup();
    places
}

struct Search<'a> {
    program: &'a Program,
    body: &'a Body,
    reach: BarrierLevel,
}

impl Search<'_> {
    fn block(&self, pc: Pc) -> Option<BlockId> {
        self.body.flow().block_of(pc)
    }

    /// Whether all threads of the block come there together, and a statement can stand there.
    fn is_common(&self, at: Position) -> bool {
        let has_statement = self.program.statement(at.pc()).is_some();
        let inst = &self.program.code[at.pc().index()];
        let stays = matches!(at, Position::Before(_)) || !matches!(inst.op, Op::Control(_));
        // Whether the lanes of a warp diverge at a branch that only separates the warps, the run says.
        let meets = |block| self.reach == BarrierLevel::Warp || !self.body.is_divergent(block);
        has_statement && stays && self.block(at.pc()).is_some_and(meets)
    }

    /// This place, or else the next one before or after it that all threads of the block reach together.
    fn near(&self, at: Position) -> Option<Position> {
        if self.is_common(at) {
            return Some(at);
        }
        let flow = self.body.flow();
        let next = |block: &BlockId| match at {
            Position::Before(_) => flow.idom(*block),
            Position::After(_) => flow.ipdom(*block),
        };
        let block = std::iter::successors(self.block(at.pc()), next).skip(1).find(|block| !self.body.is_divergent(*block))?;
        let place = match at {
            Position::Before(_) => self.end(block),
            Position::After(_) => Position::Before(Pc(flow.code(block).start)),
        };
        Some(place).filter(|at| self.is_common(*at))
    }

    /// How many loops are around it.
    fn depth(&self, at: Position) -> u32 {
        let Some(block) = self.block(at.pc()) else { return 0 };
        let around = self.body.flow().loops().iter().filter(|looped| looped.blocks.contains(&block));
        around.map(|looped| looped.depth).max().unwrap_or(0)
    }

    /// Whether `late` comes after `early` in one turn of the loops around them: blocks are numbered in the order of the text, and what
    /// is dominated comes later.
    fn leads(&self, early: Pc, late: Pc) -> bool {
        match (self.block(early), self.block(late)) {
            (Some(a), Some(b)) if a != b && self.body.flow().dominates(a, b) => true,
            (Some(a), Some(b)) if a != b && self.body.flow().dominates(b, a) => false,
            _ => early < late,
        }
    }

    /// Places on the way that neither of the two instructions stands at: where the ways after the first meet, and where those to the
    /// second part.
    fn common(&self, early: Pc, late: Pc) -> Vec<Position> {
        let flow = self.body.flow();
        let chain = |from: Option<BlockId>, next: &dyn Fn(BlockId) -> Option<BlockId>| {
            let end = from.map_or(0, |_| 16);
            std::iter::successors(from, |block| next(*block)).skip(1).take(end).collect::<Vec<_>>()
        };
        let meets = chain(self.block(early), &|block| flow.ipdom(block)).into_iter().filter(|block| !self.is_past(*block, late));
        let parts = chain(self.block(late), &|block| flow.idom(block)).into_iter().filter(|block| !self.is_before(*block, early));
        let starts = meets.map(|block| Position::Before(Pc(flow.code(block).start)));
        starts.chain(parts.map(|block| self.end(block))).collect()
    }

    /// Whether a block can only come after an instruction.
    fn is_past(&self, block: BlockId, pc: Pc) -> bool {
        self.block(pc).is_some_and(|own| own != block && self.body.flow().dominates(own, block))
    }

    /// Whether it can only come before it.
    fn is_before(&self, block: BlockId, pc: Pc) -> bool {
        self.block(pc).is_some_and(|own| own != block && self.body.flow().dominates(block, own) && !self.shares_loop(block, own))
    }

    fn shares_loop(&self, one: BlockId, other: BlockId) -> bool {
        self.body.flow().loops().iter().any(|looped| looped.blocks.contains(&one) && looped.blocks.contains(&other))
    }

    /// The last place of a block, before a branch.
    fn end(&self, block: BlockId) -> Position {
        let last = Pc(self.body.flow().code(block).end - 1);
        let is_branch = matches!(self.program.code[last.index()].op, Op::Control(_)) || self.program.statement(last).is_none();
        if is_branch { Position::Before(last) } else { Position::After(last) }
    }

    /// Places that each turn of a loop around both instructions passes: its ends, innermost loop first.
    fn turns(&self, one: Pc, other: Pc) -> Vec<Position> {
        let (Some(a), Some(b)) = (self.block(one), self.block(other)) else { return Vec::new() };
        let flow = self.body.flow();
        let mut around: Vec<_> = flow.loops().iter().filter(|looped| looped.blocks.contains(&a) && looped.blocks.contains(&b)).collect();
        around.sort_by_key(|looped| std::cmp::Reverse(looped.depth));
        let ends = |header: BlockId, blocks: &[BlockId]| {
            let back = flow.predecessors(header).iter().filter(|from| blocks.contains(from));
            back.map(|from| self.end(*from)).chain([Position::Before(Pc(flow.code(header).start))]).collect::<Vec<_>>()
        };
        around.into_iter().flat_map(|looped| ends(looped.header, &looped.blocks)).collect()
    }
}
