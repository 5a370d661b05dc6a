//! The paths of a thread through its branches, each with its events.

use std::collections::BTreeSet;

use super::effort::TooLarge;
use super::event::{Event, EventKind};
use super::relation::EVENTS_MAX;
use super::test::{Access, AccessKind, Op, Operand, Test};
use super::values::{Decision, Value};
use crate::isa::{Ordering, Scope};

/// A path of a thread from its first instruction to its end.
#[derive(Clone, Debug)]
pub struct Path {
    /// Its events in program order.
    pub events: Vec<Event>,
    /// What must hold of values for this path.
    pub decisions: Vec<Decision>,
    /// The registers at the end.
    pub registers: Vec<Value>,
    /// The registers that it writes.
    pub written: BTreeSet<usize>,
    /// True if it ends at a barrier at which it waits forever: one with a count, at which others have met.
    pub waits_forever: bool,
}

/// The most paths of a thread, and the most branches of one.
const PATHS_MAX: usize = 1 << 12;
const BRANCHES_MAX: usize = 256;

/// Of how many others a value may be made.
const WEIGHT_MAX: usize = 1 << 12;

/// The paths of a thread, with each branch back taken less than `rounds` times; and whether that leaves any out.
///
/// # Errors
/// They are too many or too long.
pub fn paths(test: &Test, thread: usize, rounds: u32) -> Result<(Vec<Path>, bool), TooLarge> {
    let registers: Vec<Value> = test.threads[thread].initial.iter().map(|value| Value::Constant(*value)).collect();
    let backward = vec![0; test.threads[thread].code.len()];
    let weights = vec![1; registers.len()];
    let mut walker = Walker { test, thread, rounds, found: Vec::new(), is_cut: false, problem: None };
    walker.walk(0, Walk { events: Vec::new(), decisions: Vec::new(), registers, written: BTreeSet::new(), weights, control: 0, backward });
    walker.problem.map_or(Ok((walker.found, walker.is_cut)), Err)
}

struct Walker<'a> {
    test: &'a Test,
    thread: usize,
    rounds: u32,
    found: Vec<Path>,
    is_cut: bool,
    problem: Option<TooLarge>,
}

/// A path as far as it goes.
#[derive(Clone)]
struct Walk {
    events: Vec<Event>,
    decisions: Vec<Decision>,
    registers: Vec<Value>,
    written: BTreeSet<usize>,
    /// Of how many others the value of each register is made.
    weights: Vec<usize>,
    /// The reads on which what follows depends.
    control: u64,
    /// How often each branch back was taken.
    backward: Vec<u32>,
}

impl Walk {
    fn value(&self, operand: Operand) -> Value {
        match operand {
            Operand::Constant(value) => Value::Constant(value),
            Operand::Register(register) => self.registers[register].clone(),
        }
    }

    fn write(&mut self, register: usize, value: Value) {
        self.registers[register] = value;
        self.written.insert(register);
        self.weights[register] = 1;
    }

    fn weight(&self, operand: Operand) -> usize {
        match operand {
            Operand::Constant(_) => 1,
            Operand::Register(register) => self.weights[register],
        }
    }

    fn push(&mut self, mut event: Event) -> usize {
        let data = event.written.as_ref().map_or(0, Value::reads);
        event.depends_on = data | self.control;
        self.events.push(event);
        self.events.len() - 1
    }
}

impl Walker<'_> {
    fn walk(&mut self, mut at: usize, mut walk: Walk) {
        let code = &self.test.threads[self.thread].code;
        while let Some(instruction) = code.get(at) {
            if walk.events.len() + 2 > EVENTS_MAX {
                self.problem = Some(TooLarge::Events);
            }
            if self.found.len() >= PATHS_MAX || walk.decisions.len() >= BRANCHES_MAX {
                self.problem = Some(TooLarge::Paths);
            }
            if walk.weights.iter().any(|weight| *weight > WEIGHT_MAX) {
                self.problem = Some(TooLarge::Values);
            }
            if self.problem.is_some() {
                return;
            }
            match instruction.op {
                Op::Branch { condition: None, target } => match self.jump(&mut walk, at, target) {
                    true => at = target,
                    false => return,
                },
                Op::Branch { condition: Some((comparison, first, second)), target } => {
                    let operands = [walk.value(first), walk.value(second)];
                    let reads = operands[0].reads() | operands[1].reads();
                    let known = Decision { comparison, operands, is_taken: true };
                    let fixed = known.holds(&|_| None);
                    if fixed != Some(true) {
                        let mut other = walk.clone();
                        other.control |= reads;
                        other.decisions.push(Decision { is_taken: false, ..known.clone() });
                        self.walk(at + 1, other);
                    }
                    walk.control |= reads;
                    walk.decisions.push(known);
                    if fixed == Some(false) || !self.jump(&mut walk, at, target) {
                        return;
                    }
                    at = target;
                }
                op => {
                    self.execute(&mut walk, at, op);
                    if matches!(op, Op::Barrier { only_arrives: false, count: Some(_), .. }) {
                        self.end(walk.clone(), true);
                    }
                    at += 1;
                }
            }
        }
        self.end(walk, false);
    }

    fn end(&mut self, Walk { events, decisions, registers, written, .. }: Walk, waits_forever: bool) {
        self.found.push(Path { events, decisions, registers, written, waits_forever });
    }

    /// Whether a branch may be taken once more.
    fn jump(&mut self, walk: &mut Walk, at: usize, target: usize) -> bool {
        if target <= at {
            walk.backward[at] += 1;
        }
        let may = walk.backward[at] < self.rounds.max(1);
        self.is_cut |= !may;
        may
    }

    fn execute(&self, walk: &mut Walk, at: usize, op: Op) {
        let other = |kind| Event::other(self.thread, at, kind);
        match op {
            Op::Access(access) => self.access(walk, at, access),
            Op::Fence { ordering, scope } => {
                let proxy = Some(super::test::Proxy::Generic);
                walk.push(Event { ordering, scope, proxy, ..other(EventKind::Fence) });
            }
            Op::ProxyFence(proxy) => {
                walk.push(Event { proxy: Some(proxy), ..other(EventKind::ProxyFence) });
            }
            Op::AliasFence => {
                walk.push(other(EventKind::AliasFence));
            }
            Op::Barrier { only_arrives, instance, id, count } => {
                let (id, count) = (id.map(|id| walk.value(id)), count.map(|count| walk.value(count)));
                walk.push(other(EventKind::Barrier { only_arrives, instance, id, count }));
            }
            Op::Compute { result, function, operands: [first, second] } => {
                let weight = walk.weight(first) + walk.weight(second);
                walk.write(result, Value::apply(function, walk.value(first), walk.value(second)));
                walk.weights[result] = weight;
            }
            Op::Branch { .. } => unreachable!("branches are followed"),
        }
    }

    fn access(&self, walk: &mut Walk, at: usize, access: Access) {
        let Access { location, proxy, ordering, scope, kind } = access;
        let (reading, writing) = halves(ordering);
        let event = |kind, ordering, written| Event {
            location: Some(location),
            proxy: Some(proxy),
            ordering,
            scope: if ordering == Ordering::Weak { Scope::None } else { scope },
            written,
            ..Event::other(self.thread, at, kind)
        };
        let read = |walk: &mut Walk, is_dropped, is_atomic| walk.push(event(EventKind::Read { is_dropped, is_atomic }, reading, None));
        match kind {
            AccessKind::Load(result) => {
                let own = read(walk, false, false);
                walk.write(result, Value::Read(own));
            }
            AccessKind::Store(value) => {
                let value = walk.value(value);
                walk.push(event(EventKind::Write, writing, Some(value)));
            }
            AccessKind::Atomic(result, function, operand) => {
                let operand = walk.value(operand);
                let own = read(walk, result.is_none(), true);
                walk.push(event(EventKind::Write, writing, Some(Value::apply(function, Value::Read(own), operand))));
                if let Some(result) = result {
                    walk.write(result, Value::Read(own));
                }
            }
            AccessKind::CompareAndSwap(result, expected, new) => {
                let (expected, new) = (walk.value(expected), walk.value(new));
                let own = read(walk, false, true);
                let written = Value::Swap(Value::Read(own).into(), expected.into(), new.into());
                walk.push(event(EventKind::Write, writing, Some(written)));
                walk.write(result, Value::Read(own));
            }
        }
    }
}

/// The semantics of the read and of the write of an access.
fn halves(ordering: Ordering) -> (Ordering, Ordering) {
    match ordering {
        Ordering::Acquire => (Ordering::Acquire, Ordering::Relaxed),
        Ordering::Release => (Ordering::Relaxed, Ordering::Release),
        Ordering::AcqRel | Ordering::SeqCst => (Ordering::Acquire, Ordering::Release),
        Ordering::Weak | Ordering::Volatile | Ordering::Relaxed | Ordering::Mmio => (ordering, ordering),
    }
}
