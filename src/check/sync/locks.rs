//! Locks: the instructions that acquire them, the critical sections of a run, and the order in which locks are acquired.
//!
//! An instruction acquires a lock if it is `atom.cas` or `atom.exch` and its result only controls a loop that writes nothing. The last
//! attempt of a thread acquires the lock; a later strong write of the same thread to the same location releases it.
//!
//! If two critical sections of a lock occurred in one order only, the other order is unexplored ([`ReversibleSections`]). Locks that are
//! held while another one is acquired form a lock graph (Havelund, "Using Runtime Analysis to Guide Model Checking of Java Programs",
//! 2000): a cycle of two locks acquired by two threads in opposite orders, with no third lock (a gate lock) around both and no barrier
//! between them, is a potential deadlock.

use std::collections::{BTreeMap, BTreeSet};

use crate::cfg::{ControlFlow, is_lock_loop};
use crate::check::finding::{Finding, PathStep, Side, SideAction};
use crate::check::reporter::Reporter;
use crate::check::reversible_sections::ReversibleSections;
use crate::check::sync::catalogue::DEADLOCK_LOCK_ORDER;
use crate::flow::result_uses::ResultUses;
use crate::isa::{AtomicFn, Ordering, Space};
use crate::machine::{AccessEvent, AccessKind, IssuePoint, LaneMask};
use crate::program::{AtomicOp, Op, Pc, Program};

/// The location of a lock: the memory (0 for global memory, or the number of the block of shared memory plus one) and the address.
type LockLocation = (u64, u64);

/// A thread: the number of its block, its warp, and its lane.
type Thread = (u64, u32, usize);

/// The instructions of a critical section: the one that acquires the lock, and the one that releases it.
type CriticalSection = (Pc, Pc);

/// The most threads that are retained for an order of two locks.
const MAX_THREADS: usize = 4;

/// The locks of a launch.
#[derive(Clone, Default)]
pub(super) struct Locks {
    /// The instructions that acquire locks.
    acquires: BTreeSet<Pc>,
    held: BTreeMap<Thread, Vec<HeldLock>>,
    /// The critical sections of each lock.
    sections: BTreeMap<LockLocation, Sections>,
    /// The threads that acquired the second lock while they held the first.
    nested: BTreeMap<(LockLocation, LockLocation), Vec<NestedAcquire>>,
    /// The number of completed barrier phases of each block.
    barriers: BTreeMap<u64, u64>,
}

/// A lock that a thread holds, or tries to acquire.
#[derive(Clone)]
struct HeldLock {
    lock: LockLocation,
    /// The first attempt to acquire it.
    point: IssuePoint,
}

/// The critical sections of a lock.
#[derive(Clone, Default)]
struct Sections {
    /// The first occurrence of each critical section.
    first: BTreeMap<CriticalSection, FirstSection>,
    /// Pairs of sections where the first one preceded the second one, in another warp.
    before: BTreeSet<(CriticalSection, CriticalSection)>,
}

/// The first occurrence of a critical section.
#[derive(Clone, Copy)]
struct FirstSection {
    block: u64,
    /// The first attempt to acquire it.
    point: IssuePoint,
    is_only: bool,
}

/// A thread that acquired the second of two locks while it held the first.
#[derive(Clone)]
struct NestedAcquire {
    thread: Thread,
    outer: IssuePoint,
    inner: IssuePoint,
    /// All locks that it held.
    held: BTreeSet<LockLocation>,
    /// The number of completed barrier phases of its block.
    phase: u64,
}

impl Locks {
    /// The locks of launches of `program`.
    pub fn new(program: &Program) -> Self {
        let is_candidate = |pc: &Pc| {
            let Op::Atomic(AtomicOp::Single { f, b, c, .. }) = program.code[pc.index()].op else { return false };
            // A comparison that changes nothing is a load.
            f == AtomicFn::Exch || f == AtomicFn::Cas && b != c
        };
        let candidates: Vec<Pc> = (0..program.code.len() as u32).map(Pc).filter(is_candidate).collect();
        let (mut flows, mut result_uses) = (BTreeMap::new(), ResultUses::default());
        let acquires = candidates.into_iter().filter(|pc| {
            program.function_at(*pc).is_some_and(|function| {
                let flow = flows.entry(function).or_insert_with(|| ControlFlow::new(program, function));
                is_lock_loop(program, flow, &mut result_uses, *pc)
            })
        });
        Self { acquires: acquires.collect(), ..Self::default() }
    }

    /// True if the program acquires locks.
    pub fn has_any(&self) -> bool {
        !self.acquires.is_empty()
    }

    /// A launch begins.
    pub fn begin(&mut self) {
        *self = Self { acquires: std::mem::take(&mut self.acquires), ..Self::default() };
    }

    /// Memory is about to be accessed.
    #[inline]
    pub fn access(&mut self, event: &AccessEvent<'_>) {
        if !self.acquires.is_empty() && event.kind != AccessKind::Read && event.semantics.ordering != Ordering::Weak {
            self.strong_write(event);
        }
    }

    fn strong_write(&mut self, event: &AccessEvent<'_>) {
        let memory = match event.space {
            Space::Global | Space::Generic => 0,
            Space::Shared => event.block_id.number + 1,
            Space::SharedCluster | Space::Local | Space::ParamFunc | Space::Param | Space::Const => return,
        };
        let acquires = self.acquires.contains(&event.point.pc);
        for lane in event.lanes.iter() {
            let (thread, lock) = ((event.block_id.number, event.point.warp.number(), lane), (memory, event.addresses[lane]));
            if acquires {
                self.acquire(thread, lock, event.point);
            } else {
                self.release(thread, lock, event.point);
            }
        }
    }

    /// A thread tries to acquire a lock.
    fn acquire(&mut self, thread: Thread, lock: LockLocation, point: IssuePoint) {
        let held = self.held.entry(thread).or_default();
        if held.iter().any(|held| held.lock == lock) {
            return;
        }
        let phase = self.barriers.get(&thread.0).copied().unwrap_or(0);
        let all: BTreeSet<LockLocation> = held.iter().map(|held| held.lock).collect();
        for outer in held.iter() {
            let nested = self.nested.entry((outer.lock, lock)).or_default();
            if nested.len() < MAX_THREADS {
                nested.push(NestedAcquire { thread, outer: outer.point, inner: point, held: all.clone(), phase });
            }
        }
        held.push(HeldLock { lock, point });
    }

    /// A thread writes to a location, which may be a lock that it holds.
    fn release(&mut self, thread: Thread, lock: LockLocation, point: IssuePoint) {
        let Some(held) = self.held.get_mut(&thread) else { return };
        let Some(index) = held.iter().position(|held| held.lock == lock) else { return };
        let acquired = held.remove(index);
        let statement = (acquired.point.pc, point.pc);
        let sections = self.sections.entry(lock).or_default();
        let is_own = |first: &FirstSection| first.is_only && (first.block, first.point.warp.number()) == (thread.0, thread.1);
        let earlier = sections.first.iter().filter(|(other, first)| **other != statement && !is_own(first));
        sections.before.extend(earlier.map(|(other, _)| (*other, statement)));
        let first = sections.first.entry(statement).or_insert(FirstSection { block: thread.0, point: acquired.point, is_only: true });
        first.is_only &= (first.block, first.point.warp.number()) == (thread.0, thread.1);
    }

    /// A barrier of a block completes a phase.
    pub fn barrier_completed(&mut self, block: u64) {
        if !self.acquires.is_empty() {
            *self.barriers.entry(block).or_default() += 1;
        }
    }

    /// The launch has ended; if without a deadlock, potential ones are reported.
    pub fn end(&mut self, is_deadlocked: bool, to: &mut Reporter<'_>) {
        let pairs: Vec<ReversibleSections> =
            self.sections.iter().flat_map(|(lock, sections)| sections.reversible(*lock, to.launch)).collect();
        to.findings.reversible.extend(pairs);
        if is_deadlocked {
            return;
        }
        for ((outer, inner), forward) in &self.nested {
            let are_locks = [outer, inner].iter().all(|lock| self.sections.contains_key(*lock));
            let others = self.nested.get(&(*inner, *outer)).filter(|_| outer < inner && are_locks);
            let pairs = others.into_iter().flatten().flat_map(|other| forward.iter().map(move |one| (one, other)));
            if let Some((one, other)) = pairs.into_iter().find(|(one, other)| may_wait_for_each_other(one, other)) {
                to.report(finding(one, other, (*outer, *inner)));
            }
        }
    }
}

impl Sections {
    /// The pairs of sections that occurred in one order only.
    fn reversible(&self, lock: LockLocation, launch: usize) -> impl Iterator<Item = ReversibleSections> + '_ {
        let pairs = self.before.iter().filter(|(one, other)| !self.before.contains(&(*other, *one)));
        pairs.filter_map(move |(one, other)| {
            let first = self.first.get(one)?;
            let (block, warp, from) = (first.block, first.point.warp.number(), first.point.tick);
            Some(ReversibleSections { launch, address: lock.1, block, warp, from, delayed: *one, first: *other })
        })
    }
}

/// True if two threads that acquire two locks in opposite orders can each hold one and wait for the other.
fn may_wait_for_each_other(one: &NestedAcquire, other: &NestedAcquire) -> bool {
    let in_other_warps = (one.thread.0, one.thread.1) != (other.thread.0, other.thread.1);
    let is_in_one_phase = one.thread.0 != other.thread.0 || one.phase == other.phase;
    in_other_warps && is_in_one_phase && one.held.is_disjoint(&other.held)
}

fn finding(one: &NestedAcquire, other: &NestedAcquire, (first, second): (LockLocation, LockLocation)) -> Finding {
    let name = |(memory, address): LockLocation| format!("{} {address:#x}", if memory == 0 { "global" } else { "shared" });
    let (first, second) = (name(first), name(second));
    let side = |nested: &NestedAcquire| Side::new(nested.inner, LaneMask::of(nested.thread.2), SideAction::Synchronize);
    let (earlier, later) = if one.inner.tick < other.inner.tick { (one, other) } else { (other, one) };
    let step = |point: IssuePoint, text: String| PathStep { point: Some(point), text };
    let why = format!(
        "one thread takes the lock at {first} and then that at {second}, the other takes them the other way round: where each takes its \
         first one before the other's second, both wait forever"
    );
    let fix = "take the two locks in one order in all threads, such as by their addresses".to_string();
    let mut found = Finding::new(DEADLOCK_LOCK_ORDER, side(later), why, fix);
    found.first = Some(side(earlier));
    found.path = vec![
        step(one.outer, format!("takes the lock at {first}")),
        step(one.inner, format!("takes that at {second} while it holds the one at {first}")),
        step(other.outer, format!("takes the lock at {second}")),
        step(other.inner, format!("takes that at {first} while it holds the one at {second}")),
    ];
    found
}
