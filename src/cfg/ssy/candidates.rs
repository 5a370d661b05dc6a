//! The possible reconvergence points, in the order in which ptxas considers them.

use std::cmp::Reverse;

use super::super::blocks::BlockId;
use super::shape::{Ending, Shape};
use crate::flow::reach::closure;

/// The point where a target is pushed on the reconvergence stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PushPoint {
    /// Before the branch that ends this block.
    At(BlockId),
    /// Before the loop with this index.
    Before(usize),
}

/// The reason why lanes reconverge at a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// Several paths lead there.
    Join,
    /// Several back edges lead to the header of a loop.
    BackEdge,
    /// It is the exit of a loop, which lanes leave in different iterations.
    LoopExit,
    /// It is the exit at a latch, a branch whose other successor is the loop header, in a loop with other exits too.
    LatchExit,
}

/// A block where lanes may reconverge.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    /// The block.
    pub(super) target: BlockId,
    pub(super) push_point: PushPoint,
    pub(super) reason: Reason,
    /// The innermost loop inside which the lanes reconverge.
    innermost_loop: Option<usize>,
    /// [`CERTAIN`], [`LATCH`] or [`PARTIAL`]: within one loop, lower classes come first.
    class: u8,
}

/// Every path from the branch at which the lanes diverge leads to the candidate, or to an exit of the function.
const CERTAIN: u8 = 0;
/// The exit at the latch of a loop with other exits.
const LATCH: u8 = 1;
/// Some paths bypass it.
const PARTIAL: u8 = 2;

/// All candidates, outer loops before inner ones; in one class the last block first.
pub(super) fn candidates(shape: &Shape) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = shape.order.iter().filter_map(|block| join(shape, *block)).collect();
    for index in 0..shape.loops.len() {
        found.extend(back_edge_target(shape, index));
        add_exits(shape, index, &mut found);
    }
    let depth = |innermost_loop: Option<usize>| innermost_loop.map_or(0, |found| shape.loops[found].depth);
    found.sort_by_key(|one| (depth(one.innermost_loop), one.innermost_loop, one.class, Reverse(shape.rank[one.target.index()])));
    found
}

/// The push point for a branch at `block`: before the outermost loop around it that does not contain `target`.
fn push_point(shape: &Shape, block: BlockId, target: BlockId) -> PushPoint {
    let outermost = shape.loops_of(block).filter(|around| !shape.is_in(*around, target)).last();
    outermost.map_or(PushPoint::At(block), PushPoint::Before)
}

/// A block that several paths lead to.
fn join(shape: &Shape, target: BlockId) -> Option<Candidate> {
    let from: Vec<BlockId> = shape.entries(target).collect();
    if from.len() < 2 {
        return None;
    }
    let branching = shape.common_dominator(from.iter().copied())?;
    let outermost = shape.loops_of(target).filter(|around| shape.loops[*around].header == target).last();
    let innermost_loop = outermost.map_or(shape.innermost[target.index()], |header_of| shape.loops[header_of].parent);
    let class = class(shape, branching, target, innermost_loop);
    let ends = |ending: Ending| from.iter().any(|block| shape.endings[block.index()] == ending);
    let never_diverges = shape.endings[branching.index()] == Ending::Uniform || class == PARTIAL && ends(Ending::Uniform);
    let only_by_table = class == PARTIAL && shape.endings[branching.index()] == Ending::Indexed && !ends(Ending::Conditional);
    let candidate = Candidate { target, push_point: push_point(shape, branching, target), reason: Reason::Join, innermost_loop, class };
    (!never_diverges && !only_by_table).then_some(candidate)
}

/// The header of a loop that several back edges lead to.
fn back_edge_target(shape: &Shape, index: usize) -> Option<Candidate> {
    let found = &shape.loops[index];
    if found.latches.len() < 2 {
        return None;
    }
    let branching = shape.common_dominator(found.latches.iter().copied())?;
    let is_conditional = |block: &BlockId| shape.endings[block.index()] == Ending::Conditional;
    if shape.endings[branching.index()] == Ending::Indexed && !found.latches.iter().any(is_conditional) {
        return None;
    }
    let inner = shape.loops_of(branching).take_while(|around| *around != index).last();
    let push_point = inner.map_or(PushPoint::At(branching), PushPoint::Before);
    Some(Candidate { target: found.header, push_point, reason: Reason::BackEdge, innermost_loop: Some(index), class: CERTAIN })
}

/// Adds the candidates at the exits of the loop `index`.
fn add_exits(shape: &Shape, index: usize, candidates: &mut Vec<Candidate>) {
    let found = &shape.loops[index];
    let is_latch = |block: BlockId| found.latches.contains(&block);
    let candidate = |(from, target): (BlockId, BlockId), reason, class| {
        let innermost_loop = shape.innermost[target.index()];
        Candidate { target, push_point: push_point(shape, from, target), reason, innermost_loop, class }
    };
    let Some(first) = found.exits.first().copied() else { return };
    let is_entered_once = |target: BlockId| shape.entries(target).count() < 2;
    if !found.has_several_exits {
        candidates.extend(is_entered_once(first.1).then(|| candidate(first, Reason::LoopExit, CERTAIN)));
        return;
    }
    let top = shape.end_of_chain(found.header);
    let tested_at_top = !is_latch(top) && !found.exits.iter().any(|(from, _)| is_latch(*from));
    for exit in found.exits.iter().filter(|(from, target)| tested_at_top && *from == top && is_entered_once(*target)) {
        let innermost_loop = shape.innermost[exit.1.index()];
        candidates.push(candidate(*exit, Reason::Join, class(shape, top, exit.1, innermost_loop)));
    }
    let mut targets: Vec<BlockId> = found.exits.iter().map(|(_, target)| *target).collect();
    targets.dedup();
    if targets.iter().all(|target| shape.graph.predecessors(*target).len() == 1) && !shape.have_common_post_dominator(&targets) {
        let inside = found.exits.iter().find(|(from, _)| !is_latch(*from));
        candidates.extend(inside.or(found.exits.last()).map(|exit| candidate(*exit, Reason::LoopExit, CERTAIN)));
    }
    // An inner loop with the same header is the next in the list.
    let shares_header = shape.loops.get(index + 1).is_some_and(|next| next.header == found.header);
    if let ([latch], false) = (found.latches.as_slice(), shares_header) {
        let at_latch = found.exits.iter().filter(|(from, target)| from == latch && is_entered_once(*target));
        candidates.extend(at_latch.map(|exit| candidate(*exit, Reason::LatchExit, LATCH)));
    }
}

/// [`CERTAIN`] if all paths from `branching` inside the loop lead to `target`, except those that exit the function or leave the loop;
/// else [`PARTIAL`].
fn class(shape: &Shape, branching: BlockId, target: BlockId, innermost_loop: Option<usize>) -> u8 {
    let header = innermost_loop.map(|around| shape.loops[around].header);
    // True for edges that neither lead to the target nor leave the innermost loop, and are no back edges of inner loops.
    let is_followed = |block: BlockId, next: BlockId| {
        let is_next_iteration = Some(next) == header;
        let is_outside = innermost_loop.is_some_and(|around| !shape.is_in(around, next));
        !(next == target || shape.is_back(block, next) && !is_next_iteration || is_outside || shape.is_dead_end(next))
    };
    let mut is_partial = false;
    closure(shape.graph.len(), [branching.index()], |block| {
        let block = BlockId::new(block);
        let successors = shape.graph.successors(block);
        let reaches_header = || successors.iter().any(|next| Some(*next) == header && is_followed(block, *next));
        is_partial = is_partial || successors.is_empty() || reaches_header();
        let is_certain = !is_partial;
        successors.iter().filter(move |next| is_certain && is_followed(block, **next)).map(|next| next.index())
    });
    if is_partial { PARTIAL } else { CERTAIN }
}
