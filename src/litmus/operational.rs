//! Runs of a test on weak memory by views, in an order that is drawn from a seed.

use std::collections::{BTreeMap, BTreeSet};

use smallvec::SmallVec;

use super::condition::{Comparison, Variable};
use super::judgement::Judgement;
use super::test::{Access, AccessKind, Arithmetic, Op, Operand, Proxy, Test};
use crate::base::lanes::LANES;
use crate::isa::{Ordering, Scope};
use crate::weak::{self, Place, WeakMemory};

/// The most instructions of a run: a loop may wait for what never comes.
const STEPS_MAX: usize = 400;

/// Whether it can be run: accesses by other proxies and through aliases cannot.
pub fn can_run(test: &Test) -> bool {
    let has_aliases = test.locations.iter().enumerate().any(|(own, location)| location.physical != own);
    let is_generic = |op: &Op| match op {
        Op::ProxyFence(_) | Op::AliasFence => false,
        Op::Access(access) => access.proxy == Proxy::Generic,
        Op::Fence { .. } | Op::Barrier { .. } | Op::Compute { .. } | Op::Branch { .. } => true,
    };
    !has_aliases && test.threads.iter().all(|thread| thread.code.iter().all(|instruction| is_generic(&instruction.op)))
}

/// How many of `runs` runs have each outcome of a judgement.
pub fn count_outcomes(test: &Test, judged: &Judgement, runs: u64) -> Vec<u64> {
    let mut counts = vec![0; judged.outcomes.len()];
    for seed in 0..runs {
        let values = run(test, &judged.variables, seed);
        if let Some(found) = values.and_then(|values| judged.outcomes.iter().position(|outcome| outcome.values == values)) {
            counts[found] += 1;
        }
    }
    counts
}

/// The values that a run leaves in these variables; none if it does not end.
pub fn run(test: &Test, variables: &[Variable], seed: u64) -> Option<Vec<i64>> {
    let mut run = Run {
        test,
        memory: test.locations.iter().map(|location| location.initial).collect(),
        weak: WeakMemory::new(seed),
        threads: test.threads.iter().map(|thread| (0, thread.initial.clone())).collect(),
        waiting: BTreeMap::new(),
        arrived: BTreeMap::new(),
        written: BTreeSet::new(),
        state: seed | 1,
        time: 0,
    };
    for _ in 0..STEPS_MAX {
        let is_ready = |thread: &usize| run.threads[*thread].0 < test.threads[*thread].code.len() && !run.waiting.contains_key(thread);
        let ready: Vec<usize> = (0..test.threads.len()).filter(is_ready).collect();
        if ready.is_empty() {
            let is_over = run.waiting.iter().all(|(thread, (_, count))| count.is_some() && !run.is_asked_for_more(*thread));
            return is_over.then(|| variables.iter().map(|variable| run.value(*variable)).collect());
        }
        let thread = ready[run.random(ready.len())];
        run.step(thread);
    }
    None
}

/// What makes barriers one: the GPU, the block and both numbers.
type BarrierKey = (u32, u32, i64, Option<i64>);

struct Run<'a> {
    test: &'a Test,
    memory: Vec<i64>,
    weak: WeakMemory,
    /// The next instruction and the registers.
    threads: Vec<(usize, Vec<i64>)>,
    /// The barrier at which a thread waits, with its count.
    waiting: BTreeMap<usize, (BarrierKey, Option<i64>)>,
    /// Threads that have arrived at a barrier, waiting or not.
    arrived: BTreeMap<BarrierKey, Vec<usize>>,
    /// The registers that threads have written.
    written: BTreeSet<(usize, usize)>,
    state: u64,
    time: u64,
}

impl Run<'_> {
    fn random(&mut self, count: usize) -> usize {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.state >> 33) % count as u64) as usize
    }

    fn place(&self, thread: usize) -> Place {
        let of = &self.test.threads[thread];
        // Each is of a warp of its own: the lanes of one keep more order than the model says.
        Place { gpu: of.gpu, cluster: of.block, block: of.block, thread: (thread * LANES) as u32 }
    }

    /// True if the test asks of a register that a thread which waits forever has not written.
    fn is_asked_for_more(&self, thread: usize) -> bool {
        let mut asked = self.test.shown.clone();
        self.test.condition.formula.variables(&mut asked);
        let is_open = |register: usize| !self.written.contains(&(thread, register));
        asked.iter().any(|variable| matches!(variable, Variable::Register(of, register) if *of == thread && is_open(*register)))
    }

    fn set(&mut self, thread: usize, register: usize, value: i64) {
        self.threads[thread].1[register] = value;
        self.written.insert((thread, register));
    }

    fn operand(&self, thread: usize, operand: Operand) -> i64 {
        match operand {
            Operand::Constant(value) => value,
            Operand::Register(register) => self.threads[thread].1[register],
        }
    }

    fn value(&self, variable: Variable) -> i64 {
        match variable {
            Variable::Constant(value) => value,
            Variable::Register(thread, register) => self.threads[thread].1[register],
            Variable::Memory(location) => self.memory[location],
        }
    }

    fn step(&mut self, thread: usize) {
        let at = self.threads[thread].0;
        self.threads[thread].0 += 1;
        self.time += 1;
        match self.test.threads[thread].code[at].op {
            Op::Access(access) => self.access(thread, at, access),
            Op::Fence { ordering, scope } => self.weak.fence(self.place(thread), ordering, scope, self.time),
            Op::ProxyFence(_) | Op::AliasFence => {}
            Op::Barrier { only_arrives, instance, id, count } => {
                let of = &self.test.threads[thread];
                let key = (of.gpu, of.block, instance, id.map(|id| self.operand(thread, id)));
                let count = count.map(|count| self.operand(thread, count));
                self.arrived.entry(key).or_default().push(thread);
                if !only_arrives {
                    self.waiting.insert(thread, (key, count));
                }
            }
            Op::Compute { result, function, operands: [first, second] } => {
                self.set(thread, result, function.of(self.operand(thread, first), self.operand(thread, second)));
            }
            Op::Branch { condition, target } => {
                let holds = |(comparison, first, second): (Comparison, _, _)| {
                    comparison.of(self.operand(thread, first), self.operand(thread, second))
                };
                if condition.is_none_or(holds) {
                    self.threads[thread].0 = target;
                }
            }
        }
        self.barriers();
    }

    /// Completes the barriers at which enough threads have arrived.
    fn barriers(&mut self) {
        let keys: Vec<(BarrierKey, Option<i64>)> = self.waiting.values().copied().collect();
        for (key, count) in keys {
            let arrived = self.arrived.get(&key).cloned().unwrap_or_default();
            let is_complete = match count {
                Some(count) => arrived.len() as i64 >= count,
                None => (0..self.threads.len()).all(|thread| arrived.contains(&thread) || !self.comes_to(thread, key)),
            };
            if is_complete && !arrived.is_empty() {
                let places: Vec<Place> = arrived.iter().map(|thread| self.place(*thread)).collect();
                let waits = |thread: &usize| self.waiting.get(thread).is_some_and(|(of, _)| *of == key);
                let waiting: Vec<usize> = arrived.iter().copied().filter(waits).collect();
                let resumed: Vec<Place> = waiting.iter().map(|thread| self.place(*thread)).collect();
                self.weak.barrier(&places, &resumed, self.time);
                self.waiting.retain(|thread, _| !waiting.contains(thread));
                self.arrived.remove(&key);
            }
        }
    }

    /// True if a thread may yet arrive at a barrier: one of its number is before it, and it does not wait at another one of it.
    fn comes_to(&self, thread: usize, (gpu, block, instance, id): BarrierKey) -> bool {
        let of = &self.test.threads[thread];
        if (of.gpu, of.block) != (gpu, block) || self.waiting.get(&thread).is_some_and(|(key, _)| key.2 == instance && key.3 != id) {
            return false;
        }
        of.code[self.threads[thread].0..].iter().any(|instruction| match instruction.op {
            Op::Barrier { instance: other, id: of, .. } => {
                other == instance && (of.is_none() == id.is_none()) && !matches!(of, Some(Operand::Constant(of)) if Some(of) != id)
            }
            _ => false,
        })
    }

    fn access(&mut self, thread: usize, code: usize, Access { location, ordering, scope, kind, .. }: Access) {
        let scope = if ordering == Ordering::Weak { Scope::None } else { scope };
        let access =
            weak::Access { by: self.place(thread), at: (0, location as u64 * 8, 8), ordering, scope, time: self.time, code: code as u32 };
        let held = self.memory[location];
        match kind {
            AccessKind::Load(result) => {
                let read = self.weak.load(&access, &held.to_le_bytes(), &mut weak::Learned::default());
                self.set(thread, result, read.map_or(held, |read| integer(&read.write.bytes)));
            }
            AccessKind::Store(value) => {
                let value = self.operand(thread, value);
                if self.weak.store(&access, &held.to_le_bytes(), &value.to_le_bytes()) {
                    self.memory[location] = value;
                }
            }
            AccessKind::Atomic(result, function, operand) => {
                let operand = self.operand(thread, operand);
                let old = self.atomic(&access, location, result.is_none(), |old| function.of(old, operand));
                if let Some(result) = result {
                    self.set(thread, result, old);
                }
            }
            AccessKind::CompareAndSwap(result, expected, new) => {
                let (expected, new) = (self.operand(thread, expected), self.operand(thread, new));
                let change = |old| if old == expected { Arithmetic::Second.of(0, new) } else { old };
                let old = self.atomic(&access, location, false, change);
                self.set(thread, result, old);
            }
        }
    }

    fn atomic(&mut self, access: &weak::Access, location: usize, is_reduction: bool, change: impl Fn(i64) -> i64) -> i64 {
        let held = self.memory[location].to_le_bytes();
        let change_bytes = |old: &[u8]| SmallVec::from_slice(&change(integer(old)).to_le_bytes());
        let (read, holds) = self.weak.atomic(access, is_reduction, &held, change_bytes);
        let old = integer(&read.write.bytes);
        if holds {
            self.memory[location] = change(old);
        }
        old
    }
}

fn integer(bytes: &[u8]) -> i64 {
    bytes.first_chunk().map_or(0, |bytes| i64::from_le_bytes(*bytes))
}
