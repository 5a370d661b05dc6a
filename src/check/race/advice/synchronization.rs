//! Synchronization between the two sides of a race, and the one thing that it lacks.
//!
//! The last strong accesses to one location, operations on mbarriers, and waits for groups of copies are retained. If one side wrote and
//! the other read the same location later, only a release, an acquire, a scope, a fence, or the order of a lane to them is missing.

use std::collections::VecDeque;

use super::fences::{Fence, fence_between};
use super::language::{Construct, Language};
use crate::base::WarpId;
use crate::cfg::is_lock_loop;
use crate::check::advice_text::{AdvicePlace, AdviceText};
use crate::check::finding::SideAction;
use crate::check::race::RaceChecker;
use crate::check::race::access::Access;
use crate::check::race::detector::Conflict;
use crate::check::reachability::BarrierKind;
use crate::check::remedy::{Advice, BarrierLevel, Candidate, Position, Remedy};
use crate::isa::{AtomicFn, Ordering, Scope};
use crate::machine::{BlockId, IssuePoint, LaneMask, Tick};
use crate::order::{Agent, AsyncKind, GroupKind, ScFenceCondition, scope_of};
use crate::program::{AtomicOp, MemoryOp, Op, Pc};

/// The most operations of each kind that are retained: on global memory, where a grid of blocks may lie between the two sides, and on
/// shared memory.
const MAX_OPERATIONS: [usize; 2] = [1024, 64];

/// The most waits for groups of copies that are retained.
const MAX_WAITS: usize = 64;

/// A strong access of lanes to one location, or an operation on an mbarrier.
#[derive(Clone, Copy, Debug)]
pub(in crate::check::race) struct SyncAccess {
    /// The memory (0 for global memory, or the block slot of a block plus one) and the address.
    pub at: (u32, u64),
    /// The block, by number.
    pub block: u32,
    /// The warp.
    pub warp: WarpId,
    /// The lanes.
    pub lanes: LaneMask,
    /// The tick.
    pub tick: Tick,
    /// The instruction.
    pub pc: Pc,
    /// Its semantics.
    pub ordering: Ordering,
    /// Its scope.
    pub scope: Scope,
    /// The phase of the mbarrier at that time, if it is an operation on one.
    pub phase: Option<u64>,
}

impl SyncAccess {
    /// A strong access to the location `at` by lanes of `by`.
    pub fn new(at: (u32, u64), by: BlockId, point: &IssuePoint, lanes: LaneMask, (ordering, scope): (Ordering, Scope)) -> Self {
        let (block, warp) = (by.number as u32, point.warp);
        Self { at, block, warp, lanes, tick: point.tick, pc: point.pc, ordering, scope, phase: None }
    }
}

/// A wait for groups of copies.
#[derive(Clone, Copy, Debug)]
pub(in crate::check::race) struct GroupWait {
    /// The block, by number, and the warp.
    pub by: (u32, WarpId),
    /// The lanes.
    pub lanes: LaneMask,
    /// The tick.
    pub tick: Tick,
    /// The instruction.
    pub pc: Pc,
    /// The groups that it leaves pending.
    pub pending: u32,
}

/// An instruction whose scope does not hold both threads of a race, and the place that advice names for it.
struct Narrow {
    pc: Pc,
    at: AdvicePlace,
}

/// The last operations that may synchronize.
#[derive(Clone, Default)]
pub(in crate::check::race) struct SyncAccesses {
    /// Writes and arrivals: of global memory, and of shared memory, where volatile accesses are many.
    writes: [VecDeque<SyncAccess>; 2],
    /// Reads and waits, in the same way.
    reads: [VecDeque<SyncAccess>; 2],
    waits: VecDeque<GroupWait>,
}

/// The index of the queue for the memory of an access.
fn memory_index(access: &SyncAccess) -> usize {
    usize::from(access.at.0 > 0)
}

fn push<T>(queue: &mut VecDeque<T>, new: T, most: usize) {
    if queue.len() == most {
        queue.pop_front();
    }
    queue.push_back(new);
}

impl SyncAccesses {
    /// Lanes wrote, or arrived at an mbarrier.
    pub fn add_write(&mut self, access: SyncAccess) {
        let memory = memory_index(&access);
        push(&mut self.writes[memory], access, MAX_OPERATIONS[memory]);
    }

    /// Lanes read, or observed the completion of a phase. Repeated reads of a poll are retained once.
    pub fn add_read(&mut self, access: SyncAccess) {
        let key = |access: &SyncAccess| (access.at, access.block, access.warp, access.pc, access.lanes);
        let memory = memory_index(&access);
        let reads = &mut self.reads[memory];
        match reads.iter_mut().rev().take(8).find(|earlier| key(earlier) == key(&access)) {
            Some(earlier) => *earlier = access,
            None => push(reads, access, MAX_OPERATIONS[memory]),
        }
    }

    /// Lanes waited for groups of `cp.async`.
    pub fn add_wait(&mut self, wait: GroupWait) {
        push(&mut self.waits, wait, MAX_WAITS);
    }

    /// The write after the first side of a race that was read before the second one, and the read: preferably by the threads of the two
    /// sides rather than by others of their blocks. If one side is weak, accesses to the bytes of the conflict are left out.
    fn synchronizing_pair(&self, conflict: &Conflict, second: &Access) -> Option<(SyncAccess, SyncAccess)> {
        let (first, across_blocks) = (&conflict.first, conflict.first.op.block != second.op.block);
        let is_weak = first.strong.is_none() || second.strong.is_none();
        let is_near = |access: &SyncAccess, of: &Access| access.block == of.op.block && (across_blocks || access.warp == of.op.warp);
        let reads = self.reads.iter().flatten().filter(|read| is_near(read, second) && read.tick <= second.op.tick);
        let reads = reads.filter(|read| !is_weak || read.at.1 != conflict.address);
        let is_later = |write: &&SyncAccess| is_near(write, first) && write.tick >= first.op.tick;
        let near = self.writes.each_ref().map(|writes| writes.iter().filter(is_later).collect::<Vec<&SyncAccess>>());
        let pairs = reads.flat_map(|read| {
            let writes = near[memory_index(read)].iter().copied().filter(move |write| write.at == read.at && write.tick < read.tick);
            let by_others = move |write: &&SyncAccess| (write.block, write.warp, write.lanes) != (read.block, read.warp, read.lanes);
            writes.filter(by_others).map(move |write| (*write, *read))
        });
        pairs.max_by_key(|(write, read)| {
            let closeness = |access: &SyncAccess, of: &Access, lanes: LaneMask| {
                u8::from(access.warp == of.op.warp) + u8::from(access.warp == of.op.warp && access.lanes.contains_all(lanes))
            };
            (closeness(write, first, conflict.first_lanes) + closeness(read, second, conflict.second_lanes), read.tick, write.tick)
        })
    }
}

impl RaceChecker {
    /// True if the first side of a conflict released a lock or set a flag that the second one acquired: by an exchange, or by polling.
    pub(super) fn is_under_lock(&mut self, conflict: &Conflict, second: &Access) -> bool {
        let Some((_, read)) = self.sync_accesses.synchronizing_pair(conflict, second).filter(|(write, _)| write.at.1 != conflict.address)
        else {
            return false;
        };
        let op = &self.program.code[read.pc.index()].op;
        if matches!(op, Op::Atomic(AtomicOp::Single { f: AtomicFn::Cas | AtomicFn::Exch, .. }) | Op::Memory(MemoryOp::Load { .. })) {
            return self.is_repeated(read.pc) && !self.result_uses.uses(&self.program, read.pc).controls.is_empty();
        }
        // `while (atomicAdd(&flag, 0) == 0);`
        matches!(op, Op::Atomic(AtomicOp::Single { .. })) && self.is_polled(read.pc)
    }

    /// True if a loop does nothing but repeat the atomic at `pc` until its result is as wanted.
    fn is_polled(&mut self, pc: Pc) -> bool {
        let Self { program, reachability, result_uses, updates, .. } = self;
        let analysis = updates.analysis(program, reachability, pc);
        analysis.is_some_and(|analysis| is_lock_loop(program, analysis.flow(), result_uses, pc))
    }

    /// The advice on what the synchronization between the two sides of a conflict lacks, if there was one.
    pub(super) fn fix_of_synchronization(
        &mut self,
        language: Language,
        block_slot: u32,
        conflict: &Conflict,
        second: &Access,
    ) -> Option<Advice> {
        let first = &conflict.first;
        let needed = scope_of(first.op.block, second.op.block, self.hb.cluster());
        // Two strong accesses need no order if the scope of each holds both threads.
        if let (Some(one), Some(other)) = (first.strong, second.strong) {
            let sides = [(first, conflict.first_lanes, one), (second, conflict.second_lanes, other)];
            let narrow = sides.into_iter().filter(|(.., scope)| *scope < needed);
            let narrow = narrow.map(|(access, lanes, _)| Narrow { pc: access.pc, at: (&self.side(access, lanes)).into() });
            let narrow: Vec<Narrow> = narrow.collect();
            if !narrow.is_empty() {
                return Some(self.widened(language, narrow, needed));
            }
        }
        let (write, read) = self.sync_accesses.synchronizing_pair(conflict, second)?;
        let released = write.ordering.releases() || self.fence_between(first.pc, write.pc).is_some();
        let acquired = read.ordering.acquires() || self.fence_between(read.pc, second.pc).is_some();
        let narrow = self.too_narrow(needed, [(first.pc, write), (read.pc, read)], second.pc);
        if !narrow.is_empty() {
            return Some(self.widened(language, narrow, needed));
        }
        if let (Some(arrived), Some(seen)) = (write.phase, read.phase)
            && arrived >= seen
        {
            return Some(Advice::new(self.other_phase(language, &write, &read), vec![vec![Remedy::OtherParity(read.pc)]]));
        }
        let is_observed = self.is_observed(block_slot, conflict, second);
        if is_observed && !read.ordering.acquires() || released && !acquired {
            return Some(Advice::new(self.missing_acquire(language, &read), acquiring(&read, needed)));
        }
        if !released {
            let release = self.missing_release(language, &write);
            if acquired {
                return Some(Advice::new(release, releasing(&write, needed)));
            }
            let text = release.words("; and ").text(self.missing_acquire(language, &read));
            let acquiring = acquiring(&read, needed);
            let both = releasing(&write, needed).into_iter().zip(acquiring).map(|(release, acquire)| [release, acquire].concat());
            return Some(Advice::new(text, both.collect()));
        }
        self.missing_lane_order(language, conflict, second, (&write, &read))
    }

    /// The advice to widen the scopes of these instructions.
    fn widened(&self, language: Language, narrow: Vec<Narrow>, needed: Scope) -> Advice {
        let remedies = narrow.iter().map(|narrow| Remedy::Scope(narrow.pc, needed)).collect();
        let wide = AdviceText::from(format!("consider {} scope at ", language.name(Construct::GridScope)));
        let text = narrow.iter().enumerate().fold(wide, |text, (index, narrow)| {
            let text = if index == 0 { text } else { text.words(" and ") };
            text.line(narrow.at)
        });
        let text = text.words(", or that of the cluster within a cluster: the scope there does not hold both threads");
        Advice::new(text, vec![remedies])
    }

    /// True if a relaxed read of the second side has observed a release after the first.
    fn is_observed(&self, block_slot: u32, conflict: &Conflict, second: &Access) -> bool {
        let Some(block) = self.hb.block(block_slot) else { return false };
        let op = &conflict.first.op;
        block.warps[second.op.warp]
            .deferred
            .iter()
            .filter(|acquire| acquire.sc != ScFenceCondition::Required && acquire.lanes.intersects(conflict.second_lanes))
            .any(|acquire| {
                acquire
                    .clock
                    .get(op.block)
                    .is_some_and(|block_clock| block_clock.synchronous.tick_of(op.warp, conflict.first_lanes) > op.tick)
            })
    }

    fn fence_between(&mut self, from: Pc, to: Pc) -> Option<Fence> {
        fence_between(&self.program, &mut self.reachability, from, to)
    }

    /// The instructions whose scope does not include both threads: of each side the access or the fence.
    fn too_narrow(&mut self, needed: Scope, [write, read]: [(Pc, SyncAccess); 2], second: Pc) -> Vec<Narrow> {
        let mut found = Vec::new();
        for (access, (from, to)) in [(write.1, (write.0, write.1.pc)), (read.1, (read.0, second))] {
            let fence = self.fence_between(from, to).filter(|fence| fence.scope < needed);
            let is_narrow = access.scope != Scope::None && access.scope < needed;
            let own = is_narrow.then(|| Narrow { pc: access.pc, at: self.place(&access) });
            found.extend(own.or(fence.map(|fence| Narrow { pc: fence.pc, at: fence.at.into() })));
        }
        found
    }

    /// The advice if the wait of one side observed a phase that the arrival of the other one is not part of.
    fn other_phase(&self, language: Language, write: &SyncAccess, read: &SyncAccess) -> AdviceText {
        let what = format!("consider a larger count in {}, or the other parity at ", language.name(Construct::PhaseInit));
        let text = AdviceText::from(what).line(self.place(read));
        text.words(": the phase whose end it sees ends without the arrival at ").line(self.place(write))
    }

    /// The place of an access as it was executed.
    fn place(&self, access: &SyncAccess) -> AdvicePlace {
        let SyncAccess { pc, tick, block, warp, lanes, .. } = *access;
        AdvicePlace { pc, execution: Some((IssuePoint { pc, tick, block: self.block_index(block), warp }, lanes)) }
    }

    fn missing_acquire(&mut self, language: Language, read: &SyncAccess) -> AdviceText {
        let place = self.place(read);
        let around = if self.is_repeated(read.pc) { "the loop around " } else { "" };
        if read.phase.is_some() {
            let text = AdviceText::from(format!("consider {} at ", language.name(Construct::PhaseAcquire)));
            return text.line(place).words(": the relaxed wait there acquires nothing");
        }
        let (fence, load) = (language.name(Construct::Fence), language.name(Construct::Acquire));
        let text = AdviceText::from(format!("consider {fence} after {around}")).line(place);
        text.words(format!(", or {load} there: the value that it reads orders nothing without an acquire"))
    }

    fn missing_release(&self, language: Language, write: &SyncAccess) -> AdviceText {
        let place = self.place(write);
        if write.phase.is_some() {
            let text = AdviceText::from(format!("consider {} at ", language.name(Construct::PhaseRelease)));
            return text.line(place).words(": the relaxed arrival there releases nothing");
        }
        let (fence, store) = (language.name(Construct::Fence), language.name(Construct::Release));
        let text = AdviceText::from(format!("consider {fence} before ")).line(place);
        text.words(format!(", or {store} there: what it writes orders nothing without a release"))
    }

    /// The advice if the lane of one side is not ordered with the lane that synchronized for it.
    fn missing_lane_order(
        &self,
        language: Language,
        conflict: &Conflict,
        second: &Access,
        (write, read): (&SyncAccess, &SyncAccess),
    ) -> Option<Advice> {
        let word = |is_near: bool| language.name(if is_near { Construct::WarpBarrier } else { Construct::BlockBarrier });
        let own_warp = write.warp == conflict.first.op.warp;
        if !own_warp || !write.lanes.contains_all(conflict.first_lanes) {
            let (lane, barrier) = (write.lanes.first(), word(own_warp));
            let text = AdviceText::from(format!("consider {barrier} before ")).line(self.place(write)).words(format!(
                ": lane {lane} of warp {} releases there, and the lane of the first access is not ordered before it",
                write.warp.number()
            ));
            let barrier = barrier_at(own_warp, Position::Before(write.pc));
            return Some(Advice::new(text, barrier));
        }
        let own_warp = read.warp == second.op.warp;
        let is_ordered = own_warp && read.lanes.contains_all(conflict.second_lanes);
        (!is_ordered).then(|| {
            let (lane, barrier) = (read.lanes.first(), word(own_warp));
            let text = AdviceText::from(format!("consider {barrier} after ")).line(self.place(read)).words(format!(
                ": lane {lane} of warp {} acquires there, and the lane of the second access is not ordered after it",
                read.warp.number()
            ));
            Advice::new(text, barrier_at(own_warp, Position::After(read.pc)))
        })
    }

    /// The advice if the copies of the next iteration do not wait for the read: every path from the copies to a read by another thread has
    /// a barrier, and one from the read to the copies has none.
    fn fix_of_next_copies(&mut self, language: Language, conflict: &Conflict, second: &Access) -> Option<Advice> {
        let (copy, read) = (conflict.first.pc, second.pc);
        let is_read = second.action == SideAction::Read && second.op.agent == Agent::Threads && second.op.warp != conflict.first.op.warp;
        let Self { program, reachability, .. } = self;
        let mut reaches = |from: Pc, to: Pc| reachability.reaches_without_barrier(program, from, to, BarrierKind::BlockWide);
        if !is_read || reaches(copy, read) || !reaches(read, copy) {
            return None;
        }
        let candidates = vec![
            vec![Remedy::BarrierAt(BarrierLevel::Block, Position::After(read))],
            vec![Remedy::Barrier(BarrierLevel::Block, read, copy)],
        ];
        let sides = [(&conflict.first, conflict.first_lanes), (second, conflict.second_lanes)];
        let [issued, read] = sides.map(|(access, lanes)| self.side(access, lanes));
        let text = AdviceText::from(format!("consider {} after the read at ", language.name(Construct::BlockBarrier))).line(&read);
        let text = text.words(", before the copies of the next iteration at ").line(&issued).words(" write these bytes");
        Some(Advice::new(text, candidates))
    }

    /// The place of a wait as it was executed.
    fn place_of_wait(&self, wait: &GroupWait) -> AdvicePlace {
        let GroupWait { by: (block, warp), lanes, tick, pc, .. } = *wait;
        AdvicePlace { pc, execution: Some((IssuePoint { pc, tick, block: self.block_index(block), warp }, lanes)) }
    }

    /// The advice on what the waits for a `cp.async` in flight lack, whose bytes `second` accesses.
    pub(super) fn fix_of_group(&mut self, language: Language, block_slot: u32, conflict: &Conflict, second: &Access) -> Option<Advice> {
        let op = &conflict.first.op;
        if op.agent != Agent::Async(AsyncKind::CpAsync) {
            return None;
        }
        let issued = self.side(&conflict.first, conflict.first_lanes);
        if second.op.agent == op.agent && second.action == conflict.first.action {
            let text = AdviceText::from("consider one more slot in the ring, or one copy fewer ahead: the copy of ").line(&issued);
            return Some(Advice::text_only(text.words(" is in flight while another one writes the same bytes")));
        }
        if let Some(fixed) = self.fix_of_next_copies(language, conflict, second) {
            return Some(fixed);
        }
        let block = self.hb.block(block_slot).filter(|block| block.number == op.block)?;
        let is_of = |tick: Tick, lanes: LaneMask| tick > op.tick && lanes.intersects(conflict.first_lanes);
        let commits: Vec<Tick> = block.warps[op.warp].commits[GroupKind::CpAsync as usize]
            .iter()
            .filter(|(tick, lanes)| is_of(*tick, *lanes))
            .map(|(tick, _)| *tick)
            .collect();
        let wait = self.sync_accesses.waits.iter().rev().find(|wait| wait.by == (op.block, op.warp) && wait.tick > op.tick)?;
        let at = self.place_of_wait(wait);
        let Some(later) = commits.iter().filter(|tick| **tick < wait.tick).count().checked_sub(1) else {
            let commit = language.name(Construct::CommitGroup);
            let text = AdviceText::from(format!("consider {commit} between the copy of ")).line(&issued);
            let text = text.words(" and the wait at ").line(at).words(", which waits for closed groups");
            return Some(Advice::new(text, vec![vec![Remedy::Commit(wait.pc)]]));
        };
        if u64::from(wait.pending) > later as u64 {
            let text = AdviceText::from(format!("consider {} at ", language.waiting_for(later))).line(at);
            let text = text.words(format!(": {} there leaves the group of this copy pending", wait.pending));
            return Some(Advice::new(text, vec![vec![Remedy::WaitGroup(wait.pc, later as u32)]]));
        }
        let text = AdviceText::from(format!("consider {} after the wait at ", language.name(Construct::BlockBarrier))).line(at);
        let text = text.words(", which covers the copies of its own thread");
        Some(Advice::new(text, vec![vec![Remedy::BarrierAt(BarrierLevel::Block, Position::After(wait.pc))]]))
    }
}

/// The changes that make a read acquire in a scope: its own semantics, or a fence after it.
fn acquiring(read: &SyncAccess, scope: Scope) -> Vec<Candidate> {
    let semantics = vec![Remedy::Order(read.pc, Ordering::Acquire), Remedy::Scope(read.pc, scope.max(read.scope))];
    if read.phase.is_some() {
        return vec![vec![Remedy::Order(read.pc, Ordering::Acquire)]];
    }
    vec![vec![Remedy::Fence(scope, Position::After(read.pc))], semantics]
}

/// The changes that make a write release in a scope: a fence before it, or its own semantics.
fn releasing(write: &SyncAccess, scope: Scope) -> Vec<Candidate> {
    let semantics = vec![Remedy::Order(write.pc, Ordering::Release), Remedy::Scope(write.pc, scope.max(write.scope))];
    if write.phase.is_some() {
        return vec![vec![Remedy::Order(write.pc, Ordering::Release)]];
    }
    vec![vec![Remedy::Fence(scope, Position::Before(write.pc))], semantics]
}

/// A barrier of the warp, or of the block: other pairs of the finding may need that, even where lanes of the warp are near.
fn barrier_at(is_near: bool, at: Position) -> Vec<Candidate> {
    let levels = if is_near { [BarrierLevel::Warp, BarrierLevel::Block].as_slice() } else { &[BarrierLevel::Block] };
    levels.iter().map(|level| vec![Remedy::BarrierAt(*level, at)]).collect()
}
