//! The paths of a thread through its branches, each with its events.

use std::collections::BTreeSet;

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

/// The paths of a thread, with each branch back taken less than `rounds` times; and whether that leaves any out. None if one has too many
/// events.
pub fn paths(test: &Test, thread: usize, rounds: u32) -> Option<(Vec<Path>, bool)> {
    let registers: Vec<Value> = test.threads[thread].initial.iter().map(|value| Value::Constant(*value)).collect();
    let backward = vec![0; test.threads[thread].code.len()];
    let mut walker = Walker { test, thread, rounds, found: Vec::new(), is_cut: false, is_too_long: false };
    walker.walk(0, Walk { events: Vec::new(), decisions: Vec::new(), registers, written: BTreeSet::new(), control: 0, backward });
    (!walker.is_too_long).then_some((walker.found, walker.is_cut))
}

struct Walker<'a> {
    test: &'a Test,
    thread: usize,
    rounds: u32,
    found: Vec<Path>,
    is_cut: bool,
    is_too_long: bool,
}

/// A path as far as it goes.
#[derive(Clone)]
struct Walk {
    events: Vec<Event>,
    decisions: Vec<Decision>,
    registers: Vec<Value>,
    written: BTreeSet<usize>,
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
                self.is_too_long = true;
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
            Op::Fence { sc, scope } => {
                let proxy = Some(super::test::Proxy::Generic);
                walk.push(Event { scope, proxy, ..other(EventKind::Fence { sc }) });
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
                walk.write(result, Value::apply(function, walk.value(first), walk.value(second)));
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
