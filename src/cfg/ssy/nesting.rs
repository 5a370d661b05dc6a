//! Which candidates can be pushed on one stack together.
//!
//! ptxas has two instructions that bring a lane to a reconvergence point: SYNC to the innermost that was pushed, BRK to the
//! innermost of those that were pushed for it. So of the places pushed at one point, a single one can be reached past others.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::super::blocks::BlockId;
use super::super::order::DEPTH_MAX;
use super::candidates::{Candidate, PushPoint, Reason};
use super::shape::{Ending, Shape};

/// The blocks of one function that are looked at for its candidates, all in all; past that no more are chosen. Where lanes reconverge does
/// not change what they compute, and time must not grow with the square of a file.
const VISITS_MAX: usize = 1 << 20;

/// The places pushed at some point, as an index into [`Nesting::entries`]; 0 for none.
type StackId = usize;

/// The place pushed last in a chain.
#[derive(Clone, Copy, Debug)]
struct StackEntry {
    /// What is pushed before it.
    before: StackId,
    candidate: usize,
    depth: u32,
}

/// What is pushed in one block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct StackState {
    at_start: StackId,
    /// Before the branch at the end.
    at_end: StackId,
}

/// Blocks, and what is pushed there otherwise.
type Changes = BTreeMap<BlockId, StackState>;

/// What is pushed where, for the candidates chosen so far.
pub(super) struct Nesting<'a> {
    shape: &'a Shape,
    chosen: Vec<Candidate>,
    /// What is pushed at one place, the outermost first.
    pushes: BTreeMap<PushPoint, Vec<usize>>,
    entries: Vec<StackEntry>,
    known: BTreeMap<(StackId, usize), StackId>,
    blocks: Vec<StackState>,
    /// By candidate: the edges by which lanes arrive there past others.
    breaks: Vec<u32>,
    /// By candidate: the edges by which lanes go past it to where they arrive.
    passed: Vec<u32>,
    /// Edges of a table by which lanes arrive past others.
    breaks_by_table: u32,
    visits_left: usize,
}

impl<'a> Nesting<'a> {
    /// Nothing is pushed.
    pub(super) fn new(shape: &'a Shape) -> Self {
        Self {
            shape,
            chosen: Vec::new(),
            pushes: BTreeMap::new(),
            entries: vec![StackEntry { before: 0, candidate: usize::MAX, depth: 0 }],
            known: BTreeMap::new(),
            blocks: vec![StackState::default(); shape.graph.len()],
            breaks: Vec::new(),
            passed: Vec::new(),
            breaks_by_table: 0,
            visits_left: VISITS_MAX,
        }
    }

    /// By block: the blocks pushed before the branch at its end that lanes can reach from there, the outermost first.
    pub(super) fn targets(&self) -> Vec<Vec<BlockId>> {
        let awaited = self.awaited();
        let target = |(block, candidate): (usize, usize)| awaited[block].contains(&candidate).then(|| self.chosen[candidate].target);
        let targets = self.blocks.iter().enumerate().map(|(block, pushed)| {
            let mut targets: Vec<BlockId> = self.links_of(pushed.at_end).filter_map(|(_, candidate)| target((block, candidate))).collect();
            targets.reverse();
            targets
        });
        targets.collect()
    }

    /// By block: the candidates pushed before the branch at its end that lanes can reach from there while they are pushed.
    fn awaited(&self) -> Vec<Vec<usize>> {
        let shape = self.shape;
        let mut awaited: Vec<Vec<usize>> = vec![Vec::new(); self.blocks.len()];
        let mut open: Vec<(BlockId, usize)> = Vec::new();
        for block in &shape.order {
            let chain = self.blocks[block.index()].at_end;
            let arrivals = shape.graph.successors(*block).iter().filter_map(|to| self.arrival(chain, *to));
            open.extend(arrivals.map(|link| (*block, self.entries[link].candidate)));
        }
        let is_noted = |chain: StackId, candidate: usize| self.links_of(chain).any(|(_, other)| other == candidate);
        while let Some((block, candidate)) = open.pop() {
            if awaited[block.index()].contains(&candidate) {
                continue;
            }
            awaited[block.index()].push(candidate);
            if is_noted(self.blocks[block.index()].at_start, candidate) {
                let before = shape.graph.predecessors(block).iter().filter(|from| is_noted(self.blocks[from.index()].at_end, candidate));
                open.extend(before.map(|from| (*from, candidate)));
            }
        }
        awaited
    }

    /// Chooses `candidate` too if it can be pushed together with the others and ptxas has a reason to.
    pub(super) fn choose(&mut self, candidate: Candidate) {
        if self.chosen.iter().any(|other| (other.target, other.push_point) == (candidate.target, candidate.push_point)) {
            return;
        }
        let index = self.chosen.len();
        self.chosen.push(candidate);
        self.breaks.push(0);
        self.passed.push(0);
        self.open(index);
        let holds = self.changes_by(candidate.push_point).is_some_and(|mut changes| {
            self.exchange(&mut changes);
            let holds = self.has_one_break() && !self.is_bypassed(&candidate, &changes) && self.is_proper(&candidate, &changes);
            if !holds {
                self.exchange(&mut changes);
            }
            holds
        });
        if !holds {
            self.pushes.values_mut().for_each(|pushed| pushed.retain(|other| *other != index));
            self.chosen.pop();
            self.breaks.pop();
            self.passed.pop();
        }
    }

    /// Adds the candidate to what is pushed where it is opened; the place that is reached last is the outermost.
    fn open(&mut self, index: usize) {
        let rank = |index: &usize| match self.chosen[*index].reason {
            Reason::BackEdge => u32::MAX,
            Reason::Join | Reason::LoopExit | Reason::LatchExit => self.shape.rank[self.chosen[*index].target.index()],
        };
        let pushed = self.pushes.entry(self.chosen[index].push_point).or_default();
        pushed.push(index);
        pushed.sort_by_key(|index| Reverse(rank(index)));
    }

    /// What is pushed, the innermost first: each with the chain that ends with it.
    fn links_of(&self, chain: StackId) -> impl Iterator<Item = (StackId, usize)> + '_ {
        let chains = std::iter::successors(Some(chain), |chain| Some(self.entries[*chain].before));
        chains.take_while(|chain| *chain != 0).map(|chain| (chain, self.entries[chain].candidate))
    }

    /// What is pushed otherwise since something has been added at `push_point`; none if it depends on the path there, or is too much.
    fn changes_by(&mut self, push_point: PushPoint) -> Option<Changes> {
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
                    Some(from) => self.over_edge(from, first, self.blocks[from.index()].at_end)?,
                    None => self.enter(0, first, |_| true)?,
                }
            }
        };
        let mut changes = Changes::from([(first, self.noted_from(first, at_start)?)]);
        let mut open = vec![first];
        while let Some(block) = open.pop() {
            self.visits_left = self.visits_left.checked_sub(1)?;
            for next in shape.graph.successors(block) {
                let at_start = self.over_edge(block, *next, changes[&block].at_end)?;
                let changed = changes.get(next);
                if changed.unwrap_or(&self.blocks[next.index()]).at_start == at_start {
                    continue;
                }
                if changed.is_some() {
                    return None;
                }
                changes.insert(*next, self.noted_from(*next, at_start)?);
                open.push(*next);
            }
        }
        self.agree(&changes).then_some(changes)
    }

    /// Whether all paths to the changed blocks come with the same places pushed.
    fn agree(&mut self, changes: &Changes) -> bool {
        let shape = self.shape;
        changes.iter().all(|(block, pushed)| {
            if block.index() == 0 && self.enter(0, *block, |_| true) != Some(pushed.at_start) {
                return false;
            }
            let reached = |from: &&BlockId| shape.rank[from.index()] != u32::MAX;
            shape.graph.predecessors(*block).iter().filter(reached).all(|from| {
                let before = changes.get(from).unwrap_or(&self.blocks[from.index()]).at_end;
                self.over_edge(*from, *block, before) == Some(pushed.at_start)
            })
        })
    }

    /// What is pushed in `block` if that is pushed at its start.
    fn noted_from(&mut self, block: BlockId, at_start: StackId) -> Option<StackState> {
        Some(StackState { at_start, at_end: self.push(at_start, PushPoint::At(block))? })
    }

    /// What is pushed at the start of `to` if lanes come from there with `chain`.
    fn over_edge(&mut self, from: BlockId, to: BlockId, chain: StackId) -> Option<StackId> {
        let left = self.arrival(chain, to).map_or(chain, |link| self.entries[link].before);
        let shape = self.shape;
        self.enter(left, to, |around| !shape.is_in(around, from))
    }

    /// The part of `chain` up to where lanes arrive that go to `to`.
    fn arrival(&self, chain: StackId, to: BlockId) -> Option<StackId> {
        self.links_of(chain).find(|(_, candidate)| self.chosen[*candidate].target == to).map(|(link, _)| link)
    }

    /// Pushes what is pushed where the loops around `block` are entered for which `is_entered` holds.
    fn enter(&mut self, chain: StackId, block: BlockId, is_entered: impl Fn(usize) -> bool) -> Option<StackId> {
        let mut entered: Vec<usize> = self.shape.loops_of(block).filter(|around| is_entered(*around)).collect();
        entered.reverse();
        entered.into_iter().try_fold(chain, |chain, around| self.push(chain, PushPoint::Before(around)))
    }

    /// Pushes what is pushed there; none if it nests too deeply.
    fn push(&mut self, chain: StackId, push_point: PushPoint) -> Option<StackId> {
        let (entries, known) = (&mut self.entries, &mut self.known);
        self.pushes.get(&push_point).into_iter().flatten().try_fold(chain, |before, candidate| {
            let depth = entries[before].depth + 1;
            let link = *known.entry((before, *candidate)).or_insert_with(|| {
                entries.push(StackEntry { before, candidate: *candidate, depth });
                entries.len() - 1
            });
            (depth <= DEPTH_MAX).then_some(link)
        })
    }

    /// Exchanges what is pushed in these blocks.
    fn exchange(&mut self, changes: &mut Changes) {
        for (block, pushed) in changes {
            self.count(*block, u32::wrapping_sub);
            std::mem::swap(&mut self.blocks[block.index()], pushed);
            self.count(*block, u32::wrapping_add);
        }
    }

    /// Adds how lanes arrive from `block` to the counts, or takes it off.
    fn count(&mut self, block: BlockId, change: fn(u32, u32) -> u32) {
        let (shape, chain) = (self.shape, self.blocks[block.index()].at_end);
        for to in shape.graph.successors(block) {
            let Some(link) = self.arrival(chain, *to).filter(|link| *link != chain) else { continue };
            let by_table = shape.endings[block.index()] == Ending::Indexed && !shape.is_dead_end(*to);
            self.breaks_by_table = change(self.breaks_by_table, u32::from(by_table));
            let candidate = self.entries[link].candidate;
            self.breaks[candidate] = change(self.breaks[candidate], 1);
            let mut above = chain;
            while above != link {
                let StackEntry { before, candidate, .. } = self.entries[above];
                self.passed[candidate] = change(self.passed[candidate], 1);
                above = before;
            }
        }
    }

    /// Whether no place that is reached past others hides another one of that kind.
    fn has_one_break(&self) -> bool {
        let mut counts = self.breaks.iter().zip(&self.passed);
        self.breaks_by_table == 0 && counts.all(|(breaks, passed)| *breaks == 0 || *passed == 0)
    }

    /// Whether lanes that leave a loop inside bypass the reconvergence point of all others.
    fn is_bypassed(&self, last: &Candidate, changes: &Changes) -> bool {
        if last.reason != Reason::Join {
            return false;
        }
        let shape = self.shape;
        let (avoided, around) = match last.push_point {
            PushPoint::At(block) => (Some(block), shape.innermost[block.index()]),
            PushPoint::Before(found) => (None, shape.loops[found].parent),
        };
        let holds_opening = |found: usize| matches!(last.push_point, PushPoint::At(block) if shape.is_in(found, block));
        let leaves = |from: BlockId, to: BlockId| {
            let mut left = shape.loops_of(from).filter(|found| !shape.is_in(*found, to) && shape.loops[*found].has_several_exits);
            around.is_none_or(|around| shape.is_in(around, to)) && left.any(|found| !holds_opening(found))
        };
        let mut past: Vec<BlockId> = Vec::new();
        for block in changes.keys() {
            let chain = self.blocks[block.index()].at_end;
            if self.links_of(chain).any(|(_, candidate)| candidate + 1 == self.chosen.len()) {
                let goes_past =
                    |to: &&BlockId| !shape.is_dead_end(**to) && !shape.is_back(*block, **to) && self.arrival(chain, **to).is_none();
                past.extend(shape.graph.successors(*block).iter().filter(goes_past).filter(|to| leaves(*block, **to)).copied());
            }
        }
        if past.is_empty() {
            return false;
        }
        let comes = shape.coming_to(last.target, avoided);
        past.into_iter().any(|to| !comes.contains(to.index()))
    }

    /// Whether lanes that reconverge at the exit after a latch continue to where they reconverge with the others.
    fn is_proper(&self, last: &Candidate, changes: &Changes) -> bool {
        if last.reason != Reason::LatchExit {
            return true;
        }
        let index = self.chosen.len() - 1;
        let mut pairs: Vec<(usize, usize)> = Vec::new();
        for block in changes.keys() {
            let chain: Vec<usize> = self.links_of(self.blocks[block.index()].at_end).map(|(_, candidate)| candidate).collect();
            let next_to = chain.iter().copied().zip(chain.iter().copied().skip(1));
            pairs.extend(next_to.filter(|(inner, outer)| *inner == index || *outer == index));
        }
        pairs.sort_unstable();
        pairs.dedup();
        pairs.into_iter().all(|(inner, outer)| {
            let avoided = match self.chosen[outer].push_point {
                PushPoint::At(block) => Some(block),
                PushPoint::Before(_) => None,
            };
            self.shape.coming_to(self.chosen[outer].target, avoided).contains(self.chosen[inner].target.index())
        })
    }
}
