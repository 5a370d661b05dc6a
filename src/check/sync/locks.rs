//! Locks: which instructions take one, the critical sections of a run, and the order in which locks are taken.
//!
//! An instruction takes a lock if it is `atom.cas` or `atom.exch` and its result only decides whether a loop that writes nothing tries
//! again. The last try of a thread is the one that took the lock; a later strong write of the same thread to the same place releases it.
//!
//! Sections of one lock come one after the other. Where two statements had their sections in one order only, what a run the other way
//! round would show is not known ([`Reversible`]). Locks that are held while another one is taken make a graph (Havelund, "Using Runtime
//! Analysis to Guide Model Checking of Java Programs", 2000): a cycle of two locks taken by two threads in opposite orders, with no third
//! lock around both and no barrier between them, is a deadlock that the run survived.

use std::collections::{BTreeMap, BTreeSet};

use crate::cfg::{ControlFlow, is_lock_loop};
use crate::check::finding::{Finding, Link, Side, SideAction};
use crate::check::reporter::Reporter;
use crate::check::sections::Reversible;
use crate::check::sync::catalogue::DEADLOCK_LOCK_ORDER;
use crate::flow::result_uses::ResultUses;
use crate::isa::{AtomicFn, Ordering, Space};
use crate::machine::{AccessEvent, AccessKind, IssuePoint, LaneMask};
use crate::program::{AtomicOp, Op, Pc, Program};

/// A place in memory: 0 for global memory, else one more than the number of the block whose shared memory it is; and the address.
type LockPlace = (u64, u64);

/// A thread: the number of its block, its warp, and its lane.
type Thread = (u64, u32, usize);

/// The instructions of a critical section: what takes the lock, and what releases it.
type Statement = (Pc, Pc);

/// Threads of which the order of two locks is kept.
const THREADS_KEPT: usize = 4;

/// The locks of a launch.
#[derive(Clone, Default)]
pub(super) struct Locks {
    /// The instructions that take locks.
    takes: BTreeSet<Pc>,
    held: BTreeMap<Thread, Vec<Held>>,
    /// The critical sections of each lock.
    sections: BTreeMap<LockPlace, Sections>,
    /// Locks that are taken while another is held.
    nested: BTreeMap<(LockPlace, LockPlace), Vec<Nested>>,
    /// The number of completed barrier phases of each block.
    barriers: BTreeMap<u64, u64>,
}

/// A lock that a thread holds, or tries to take.
#[derive(Clone)]
struct Held {
    lock: LockPlace,
    /// Of the first try.
    place: IssuePoint,
}

/// The critical sections of a lock.
#[derive(Clone, Default)]
struct Sections {
    /// The first section of each statement, and whether other warps had one.
    first: BTreeMap<Statement, First>,
    /// Statements of which the first had a section before the second, in another warp.
    before: BTreeSet<(Statement, Statement)>,
}

#[derive(Clone, Copy)]
struct First {
    block: u64,
    /// Of the first try.
    place: IssuePoint,
    is_only: bool,
}

/// A thread that took the second of two locks while it held the first.
#[derive(Clone)]
struct Nested {
    thread: Thread,
    outer: IssuePoint,
    inner: IssuePoint,
    /// All locks that it held.
    held: BTreeSet<LockPlace>,
    /// The phases that barriers of its block had ended.
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
        let takes = candidates.into_iter().filter(|pc| {
            program.function_at(*pc).is_some_and(|function| {
                let flow = flows.entry(function).or_insert_with(|| ControlFlow::new(program, function));
                is_lock_loop(program, flow, &mut result_uses, *pc)
            })
        });
        Self { takes: takes.collect(), ..Self::default() }
    }

    /// A launch begins.
    pub fn begin(&mut self) {
        *self = Self { takes: std::mem::take(&mut self.takes), ..Self::default() };
    }

    /// Memory is about to be accessed.
    #[inline]
    pub fn access(&mut self, event: &AccessEvent<'_>) {
        if !self.takes.is_empty() && event.kind != AccessKind::Read && event.semantics.ordering != Ordering::Weak {
            self.strong_write(event);
        }
    }

    fn strong_write(&mut self, event: &AccessEvent<'_>) {
        let memory = match event.space {
            Space::Global | Space::Generic => 0,
            Space::Shared => event.block_id.number + 1,
            Space::SharedCluster | Space::Local | Space::ParamFunc | Space::Param | Space::Const => return,
        };
        let takes = self.takes.contains(&event.place.pc);
        for lane in event.lanes.iter() {
            let (thread, lock) = ((event.block_id.number, event.place.warp.number(), lane), (memory, event.addresses[lane]));
            if takes {
                self.take(thread, lock, event.place);
            } else {
                self.release(thread, lock, event.place);
            }
        }
    }

    /// A thread tries to take a lock.
    fn take(&mut self, thread: Thread, lock: LockPlace, place: IssuePoint) {
        let held = self.held.entry(thread).or_default();
        if held.iter().any(|held| held.lock == lock) {
            return;
        }
        let phase = self.barriers.get(&thread.0).copied().unwrap_or(0);
        let all: BTreeSet<LockPlace> = held.iter().map(|held| held.lock).collect();
        for outer in held.iter() {
            let nested = self.nested.entry((outer.lock, lock)).or_default();
            if nested.len() < THREADS_KEPT {
                nested.push(Nested { thread, outer: outer.place, inner: place, held: all.clone(), phase });
            }
        }
        held.push(Held { lock, place });
    }

    /// A thread writes to a place, which may be a lock that it holds.
    fn release(&mut self, thread: Thread, lock: LockPlace, place: IssuePoint) {
        let Some(held) = self.held.get_mut(&thread) else { return };
        let Some(index) = held.iter().position(|held| held.lock == lock) else { return };
        let taken = held.remove(index);
        let statement = (taken.place.pc, place.pc);
        let sections = self.sections.entry(lock).or_default();
        let is_own = |first: &First| first.is_only && (first.block, first.place.warp.number()) == (thread.0, thread.1);
        let earlier = sections.first.iter().filter(|(other, first)| **other != statement && !is_own(first));
        sections.before.extend(earlier.map(|(other, _)| (*other, statement)));
        let first = sections.first.entry(statement).or_insert(First { block: thread.0, place: taken.place, is_only: true });
        first.is_only &= (first.block, first.place.warp.number()) == (thread.0, thread.1);
    }

    /// A barrier of a block ends a phase.
    pub fn barrier_completed(&mut self, block: u64) {
        if !self.takes.is_empty() {
            *self.barriers.entry(block).or_default() += 1;
        }
    }

    /// The launch has ended; without a deadlock, what could have been one is reported.
    pub fn end(&mut self, is_deadlocked: bool, to: &mut Reporter<'_>) {
        let pairs: Vec<Reversible> = self.sections.iter().flat_map(|(lock, sections)| sections.reversible(*lock, to.launch)).collect();
        to.findings.reversible.extend(pairs);
        if is_deadlocked {
            return;
        }
        for ((outer, inner), ones) in &self.nested {
            let are_locks = [outer, inner].iter().all(|lock| self.sections.contains_key(*lock));
            let others = self.nested.get(&(*inner, *outer)).filter(|_| outer < inner && are_locks);
            let pairs = others.into_iter().flatten().flat_map(|other| ones.iter().map(move |one| (one, other)));
            if let Some((one, other)) = pairs.into_iter().find(|(one, other)| may_wait_for_each_other(one, other)) {
                to.report(finding(one, other, (*outer, *inner)));
            }
        }
    }
}

impl Sections {
    /// The pairs of statements that had their sections in one order only.
    fn reversible(&self, lock: LockPlace, launch: usize) -> impl Iterator<Item = Reversible> + '_ {
        let pairs = self.before.iter().filter(|(one, other)| !self.before.contains(&(*other, *one)));
        pairs.filter_map(move |(one, other)| {
            let first = self.first.get(one)?;
            let (block, warp, from) = (first.block, first.place.warp.number(), first.place.tick);
            Some(Reversible { launch, address: lock.1, block, warp, from, held: *one, first: *other })
        })
    }
}

/// Whether two threads that take two locks in opposite orders can each hold one and wait for the other.
fn may_wait_for_each_other(one: &Nested, other: &Nested) -> bool {
    let is_apart = (one.thread.0, one.thread.1) != (other.thread.0, other.thread.1);
    let is_in_one_phase = one.thread.0 != other.thread.0 || one.phase == other.phase;
    is_apart && is_in_one_phase && one.held.is_disjoint(&other.held)
}

fn finding(one: &Nested, other: &Nested, (first, second): (LockPlace, LockPlace)) -> Finding {
    let name = |(memory, address): LockPlace| format!("{} {address:#x}", if memory == 0 { "global" } else { "shared" });
    let (first, second) = (name(first), name(second));
    let side = |nested: &Nested| Side::new(nested.inner, LaneMask::of(nested.thread.2), SideAction::Synchronize);
    let (earlier, later) = if one.inner.tick < other.inner.tick { (one, other) } else { (other, one) };
    let link = |place: IssuePoint, text: String| Link { place: Some(place), text };
    let why = format!(
        "one thread takes the lock at {first} and then that at {second}, the other takes them the other way round: where each takes its \
         first one before the other's second, both wait forever"
    );
    let fix = "take the two locks in one order in all threads, such as by their addresses".to_string();
    let mut found = Finding::new(DEADLOCK_LOCK_ORDER, side(later), why, fix);
    found.first = Some(side(earlier));
    found.chain = vec![
        link(one.outer, format!("takes the lock at {first}")),
        link(one.inner, format!("takes that at {second} while it holds the one at {first}")),
        link(other.outer, format!("takes the lock at {second}")),
        link(other.inner, format!("takes that at {first} while it holds the one at {second}")),
    ];
    found
}
