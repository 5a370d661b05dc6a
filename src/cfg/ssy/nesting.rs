//! The choice of candidates that can be pushed on one reconvergence stack together.
//!
//! ptxas has two instructions that bring a lane to a reconvergence point: SYNC goes to the innermost entry of the stack, BRK to the
//! innermost entry that a PBK has pushed, skipping those inside it. So at most one entry of a stack can be a target of BRK.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::super::blocks::BlockId;
use super::super::order::DEPTH_MAX;
use super::candidates::{Candidate, PushPoint, Reason};
use super::shape::{Ending, Shape};

/// The budget of block visits for one function: once it is spent, no more candidates are chosen. The reconvergence points do not change
/// what lanes compute, and the time must not be quadratic in the size of a file.
const VISITS_MAX: usize = 1 << 20;

/// A stack of pushed targets, interned: the index of its innermost entry in [`Nesting::entries`]; 0 for the empty stack.
type StackId = usize;

/// An entry of a stack: a pushed target and the stack below it.
#[derive(Clone, Copy, Debug)]
struct StackEntry {
    /// The stack it is pushed on.
    outer: StackId,
    candidate: usize,
    depth: u32,
}

/// The stacks of one block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct StackState {
    at_start: StackId,
    /// Before the branch at the end.
    at_end: StackId,
}

/// The blocks whose stacks change, with the new ones.
type Changes = BTreeMap<BlockId, StackState>;

/// The stacks of all blocks, for the candidates chosen so far.
pub(super) struct Nesting<'a> {
    shape: &'a Shape,
    chosen: Vec<Candidate>,
    /// The candidates pushed at each push point, the outermost first.
    pushes: BTreeMap<PushPoint, Vec<usize>>,
    entries: Vec<StackEntry>,
    interned: BTreeMap<(StackId, usize), StackId>,
    blocks: Vec<StackState>,
    /// For each candidate, the number of break edges: edges to it that skip inner entries, which takes a BRK.
    break_edges: Vec<u32>,
    /// For each candidate, the number of edges to outer candidates that skip it.
    skipped: Vec<u32>,
    /// The number of break edges from `brx.idx`.
    indexed_breaks: u32,
    visits_left: usize,
}

impl<'a> Nesting<'a> {
    /// No candidate is chosen: all stacks are empty.
    pub(super) fn new(shape: &'a Shape) -> Self {
        Self {
            shape,
            chosen: Vec::new(),
            pushes: BTreeMap::new(),
            entries: vec![StackEntry { outer: 0, candidate: usize::MAX, depth: 0 }],
            interned: BTreeMap::new(),
            blocks: vec![StackState::default(); shape.graph.len()],
            break_edges: Vec::new(),
            skipped: Vec::new(),
            indexed_breaks: 0,
            visits_left: VISITS_MAX,
        }
    }

    /// For each block, the targets on the stack before the branch at its end that lanes can reach from there, the outermost first.
    pub(super) fn targets(&self) -> Vec<Vec<BlockId>> {
        let live = self.live_targets();
        let target = |(block, candidate): (usize, usize)| live[block].contains(&candidate).then(|| self.chosen[candidate].target);
        let targets = self.blocks.iter().enumerate().map(|(block, pushed)| {
            let mut targets: Vec<BlockId> =
                self.entries_of(pushed.at_end).filter_map(|(_, candidate)| target((block, candidate))).collect();
            targets.reverse();
            targets
        });
        targets.collect()
    }

    /// For each block, the candidates on the stack before the branch at its end that lanes can reach from there before they are popped.
    fn live_targets(&self) -> Vec<Vec<usize>> {
        let shape = self.shape;
        let mut live: Vec<Vec<usize>> = vec![Vec::new(); self.blocks.len()];
        let mut worklist: Vec<(BlockId, usize)> = Vec::new();
        for block in &shape.order {
            let stack = self.blocks[block.index()].at_end;
            let arrivals = shape.graph.successors(*block).iter().filter_map(|to| self.entry_of(stack, *to));
            worklist.extend(arrivals.map(|entry| (*block, self.entries[entry].candidate)));
        }
        let is_on_stack = |stack: StackId, candidate: usize| self.entries_of(stack).any(|(_, other)| other == candidate);
        while let Some((block, candidate)) = worklist.pop() {
            if live[block.index()].contains(&candidate) {
                continue;
            }
            live[block.index()].push(candidate);
            if is_on_stack(self.blocks[block.index()].at_start, candidate) {
                let before = shape.graph.predecessors(block).iter().filter(|from| is_on_stack(self.blocks[from.index()].at_end, candidate));
                worklist.extend(before.map(|from| (*from, candidate)));
            }
        }
        live
    }

    /// Chooses `candidate` if it can be pushed together with those chosen before and ptxas would push it.
    pub(super) fn choose(&mut self, candidate: Candidate) {
        if self.chosen.iter().any(|other| (other.target, other.push_point) == (candidate.target, candidate.push_point)) {
            return;
        }
        let index = self.chosen.len();
        self.chosen.push(candidate);
        self.break_edges.push(0);
        self.skipped.push(0);
        self.add_to_pushes(index);
        let is_chosen = self.changes_after(candidate.push_point).is_some_and(|mut changes| {
            self.swap_stacks(&mut changes);
            let is_valid = self.has_valid_breaks() && !self.is_bypassed(&candidate, &changes) && self.nests(&candidate, &changes);
            if !is_valid {
                self.swap_stacks(&mut changes);
            }
            is_valid
        });
        if !is_chosen {
            self.pushes.values_mut().for_each(|pushed| pushed.retain(|other| *other != index));
            self.chosen.pop();
            self.break_edges.pop();
            self.skipped.pop();
        }
    }

    /// Adds the candidate to those of its push point; the target that is reached last is the outermost.
    fn add_to_pushes(&mut self, index: usize) {
        let rank = |index: &usize| match self.chosen[*index].reason {
            Reason::BackEdge => u32::MAX,
            Reason::Join | Reason::LoopExit | Reason::LatchExit => self.shape.rank[self.chosen[*index].target.index()],
        };
        let pushed = self.pushes.entry(self.chosen[index].push_point).or_default();
        pushed.push(index);
        pushed.sort_by_key(|index| Reverse(rank(index)));
    }

    /// The entries of `stack`, the innermost first, each with its candidate.
    fn entries_of(&self, stack: StackId) -> impl Iterator<Item = (StackId, usize)> + '_ {
        let stacks = std::iter::successors(Some(stack), |stack| Some(self.entries[*stack].outer));
        stacks.take_while(|stack| *stack != 0).map(|stack| (stack, self.entries[stack].candidate))
    }

    /// Recomputes the stacks after a candidate was added at `push_point`; `None` if two paths lead to a block with different stacks,
    /// the nesting is too deep or the budget of visits is spent.
    fn changes_after(&mut self, push_point: PushPoint) -> Option<Changes> {
        let shape = self.shape;
        let first = match push_point {
            PushPoint::At(block) => block,
            PushPoint::Before(around) => shape.loops[around].header,
        };
        let at_start = match push_point {
            PushPoint::At(block) => self.blocks[block.index()].at_start,
            PushPoint::Before(around) => {
                let from = shape.entries(first).find(|from| !shape.is_in(around, *from));
                match from {
                    Some(from) => self.across_edge(from, first, self.blocks[from.index()].at_end)?,
                    None => self.enter(0, first, |_| true)?,
                }
            }
        };
        let mut changes = Changes::from([(first, self.state_of(first, at_start)?)]);
        let mut worklist = vec![first];
        while let Some(block) = worklist.pop() {
            self.visits_left = self.visits_left.checked_sub(1)?;
            for next in shape.graph.successors(block) {
                let at_start = self.across_edge(block, *next, changes[&block].at_end)?;
                let changed = changes.get(next);
                if changed.unwrap_or(&self.blocks[next.index()]).at_start == at_start {
                    continue;
                }
                if changed.is_some() {
                    return None;
                }
                changes.insert(*next, self.state_of(*next, at_start)?);
                worklist.push(*next);
            }
        }
        self.paths_agree(&changes).then_some(changes)
    }

    /// True if all paths to each changed block lead there with the same stack.
    fn paths_agree(&mut self, changes: &Changes) -> bool {
        let shape = self.shape;
        changes.iter().all(|(block, pushed)| {
            if block.index() == 0 && self.enter(0, *block, |_| true) != Some(pushed.at_start) {
                return false;
            }
            let is_reachable = |from: &&BlockId| shape.rank[from.index()] != u32::MAX;
            shape.graph.predecessors(*block).iter().filter(is_reachable).all(|from| {
                let before = changes.get(from).unwrap_or(&self.blocks[from.index()]).at_end;
                self.across_edge(*from, *block, before) == Some(pushed.at_start)
            })
        })
    }

    /// The stacks of `block` if it starts with `at_start`.
    fn state_of(&mut self, block: BlockId, at_start: StackId) -> Option<StackState> {
        Some(StackState { at_start, at_end: self.push(at_start, PushPoint::At(block))? })
    }

    /// The stack at the start of `to` if lanes come from `from` with `stack`.
    fn across_edge(&mut self, from: BlockId, to: BlockId, stack: StackId) -> Option<StackId> {
        let popped = self.entry_of(stack, to).map_or(stack, |entry| self.entries[entry].outer);
        let shape = self.shape;
        self.enter(popped, to, |around| !shape.is_in(around, from))
    }

    /// The innermost entry of `stack` whose target is `to`.
    fn entry_of(&self, stack: StackId, to: BlockId) -> Option<StackId> {
        self.entries_of(stack).find(|(_, candidate)| self.chosen[*candidate].target == to).map(|(entry, _)| entry)
    }

    /// Pushes the candidates pushed before each loop around `block` for which `is_entered` holds, those of the outermost loop first.
    fn enter(&mut self, stack: StackId, block: BlockId, is_entered: impl Fn(usize) -> bool) -> Option<StackId> {
        let mut entered: Vec<usize> = self.shape.loops_of(block).filter(|around| is_entered(*around)).collect();
        entered.reverse();
        entered.into_iter().try_fold(stack, |stack, around| self.push(stack, PushPoint::Before(around)))
    }

    /// Pushes the candidates of `push_point` on `stack`; `None` if it nests too deeply.
    fn push(&mut self, stack: StackId, push_point: PushPoint) -> Option<StackId> {
        let (entries, interned) = (&mut self.entries, &mut self.interned);
        self.pushes.get(&push_point).into_iter().flatten().try_fold(stack, |outer, candidate| {
            let depth = entries[outer].depth + 1;
            let entry = *interned.entry((outer, *candidate)).or_insert_with(|| {
                entries.push(StackEntry { outer, candidate: *candidate, depth });
                entries.len() - 1
            });
            (depth <= DEPTH_MAX).then_some(entry)
        })
    }

    /// Swaps the stacks of these blocks with those in `changes`.
    fn swap_stacks(&mut self, changes: &mut Changes) {
        for (block, pushed) in changes {
            self.count_breaks(*block, u32::wrapping_sub);
            std::mem::swap(&mut self.blocks[block.index()], pushed);
            self.count_breaks(*block, u32::wrapping_add);
        }
    }

    /// Adds the break edges from `block` to the counts, or subtracts them: `change` is the operation.
    fn count_breaks(&mut self, block: BlockId, change: fn(u32, u32) -> u32) {
        let (shape, stack) = (self.shape, self.blocks[block.index()].at_end);
        for to in shape.graph.successors(block) {
            let Some(entry) = self.entry_of(stack, *to).filter(|entry| *entry != stack) else { continue };
            let is_indexed = shape.endings[block.index()] == Ending::Indexed && !shape.is_dead_end(*to);
            self.indexed_breaks = change(self.indexed_breaks, u32::from(is_indexed));
            let candidate = self.entries[entry].candidate;
            self.break_edges[candidate] = change(self.break_edges[candidate], 1);
            let mut inner = stack;
            while inner != entry {
                let StackEntry { outer, candidate, .. } = self.entries[inner];
                self.skipped[candidate] = change(self.skipped[candidate], 1);
                inner = outer;
            }
        }
    }

    /// True if no `brx.idx` breaks, and no target of break edges is skipped by others: BRK would stop at the inner one.
    fn has_valid_breaks(&self) -> bool {
        let mut counts = self.break_edges.iter().zip(&self.skipped);
        self.indexed_breaks == 0 && counts.all(|(break_edges, skipped)| *break_edges == 0 || *skipped == 0)
    }

    /// True if lanes that leave an inner loop early bypass the target of `last`, where all other lanes reconverge.
    fn is_bypassed(&self, last: &Candidate, changes: &Changes) -> bool {
        if last.reason != Reason::Join {
            return false;
        }
        let shape = self.shape;
        let (avoided, around) = match last.push_point {
            PushPoint::At(block) => (Some(block), shape.innermost[block.index()]),
            PushPoint::Before(found) => (None, shape.loops[found].parent),
        };
        let holds_push_point = |found: usize| matches!(last.push_point, PushPoint::At(block) if shape.is_in(found, block));
        let leaves = |from: BlockId, to: BlockId| {
            let mut exited = shape.loops_of(from).filter(|found| !shape.is_in(*found, to) && shape.loops[*found].has_several_exits);
            around.is_none_or(|around| shape.is_in(around, to)) && exited.any(|found| !holds_push_point(found))
        };
        let mut bypassing: Vec<BlockId> = Vec::new();
        for block in changes.keys() {
            let stack = self.blocks[block.index()].at_end;
            if self.entries_of(stack).any(|(_, candidate)| candidate + 1 == self.chosen.len()) {
                let bypasses =
                    |to: &&BlockId| !shape.is_dead_end(**to) && !shape.is_back(*block, **to) && self.entry_of(stack, **to).is_none();
                bypassing.extend(shape.graph.successors(*block).iter().filter(bypasses).filter(|to| leaves(*block, **to)).copied());
            }
        }
        if bypassing.is_empty() {
            return false;
        }
        let reaching = shape.blocks_reaching(last.target, avoided);
        bypassing.into_iter().any(|to| !reaching.contains(to.index()))
    }

    /// True if a chosen exit at a latch nests properly: the target of each next outer entry is reachable from that of the inner one.
    fn nests(&self, last: &Candidate, changes: &Changes) -> bool {
        if last.reason != Reason::LatchExit {
            return true;
        }
        let index = self.chosen.len() - 1;
        let mut pairs: Vec<(usize, usize)> = Vec::new();
        for block in changes.keys() {
            let stack: Vec<usize> = self.entries_of(self.blocks[block.index()].at_end).map(|(_, candidate)| candidate).collect();
            let adjacent = stack.iter().copied().zip(stack.iter().copied().skip(1));
            pairs.extend(adjacent.filter(|(inner, outer)| *inner == index || *outer == index));
        }
        pairs.sort_unstable();
        pairs.dedup();
        pairs.into_iter().all(|(inner, outer)| {
            let avoided = match self.chosen[outer].push_point {
                PushPoint::At(block) => Some(block),
                PushPoint::Before(_) => None,
            };
            self.shape.blocks_reaching(self.chosen[outer].target, avoided).contains(self.chosen[inner].target.index())
        })
    }
}
