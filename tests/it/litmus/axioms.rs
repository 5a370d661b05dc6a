//! Every execution of a program that the axioms allow, and the races in it.

use std::collections::BTreeSet;

use super::program::{At, Op, Program, Scope};

/// What the axioms say of a program.
#[derive(Debug, Default)]
pub struct Allowed {
    /// The pairs of operations that race in some execution, the lesser first.
    pub races: BTreeSet<(At, At)>,
    /// Those that race in a sequentially consistent one.
    pub consistent_races: BTreeSet<(At, At)>,
    /// What each read returned, in the order of the operations; nothing for one that was not executed.
    pub outcomes: BTreeSet<Vec<Option<u32>>>,
}

/// A relation between operations, by their numbers: a row of bits each.
#[derive(Clone, PartialEq, Eq)]
struct Relation(Vec<u64>);

impl Relation {
    fn of(size: usize, holds: impl Fn(usize, usize) -> bool) -> Self {
        assert!(size <= 64, "a program has at most 64 operations");
        let row = |one: usize| (0..size).filter(|other| holds(one, *other)).fold(0, |row, other| row | 1 << other);
        Self((0..size).map(row).collect())
    }

    fn has(&self, one: usize, other: usize) -> bool {
        self.0[one] >> other & 1 != 0
    }

    fn add(&mut self, one: usize, other: usize) {
        self.0[one] |= 1 << other;
    }

    fn or(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(one, other)| one | other).collect())
    }

    fn then(&self, next: &Self) -> Self {
        let row = |row: &u64| (0..next.0.len()).filter(|middle| row >> middle & 1 != 0).fold(0, |all, middle| all | next.0[middle]);
        Self(self.0.iter().map(row).collect())
    }

    fn closure(mut self) -> Self {
        for middle in 0..self.0.len() {
            let row = self.0[middle];
            self.0.iter_mut().filter(|of| **of >> middle & 1 != 0).for_each(|of| *of |= row);
        }
        self
    }

    fn is_irreflexive(&self) -> bool {
        (0..self.0.len()).all(|one| !self.has(one, one))
    }

    fn is_acyclic(&self) -> bool {
        self.clone().closure().is_irreflexive()
    }
}

/// One execution: which write each read reads from, and in which order writes and fences come.
struct Execution<'a> {
    program: &'a Program,
    events: &'a [At],
    /// The executed ones.
    executed: Vec<bool>,
    /// The write from which each operation reads; none for the initial value.
    source: Vec<Option<usize>>,
    /// The place of each write among those of its location, and of each `fence.sc` among these.
    place: Vec<usize>,
}

/// Enumerates the executions of a program.
pub fn enumerate(program: &Program) -> Allowed {
    let events: Vec<At> = program.all().collect();
    let mut allowed = Allowed::default();
    let sources: Vec<Vec<Option<usize>>> = events.iter().enumerate().map(|(own, at)| sources(program, &events, own, *at)).collect();
    let mut chosen = vec![0; events.len()];
    loop {
        let source: Vec<Option<usize>> = chosen.iter().zip(&sources).map(|(chosen, of)| of[*chosen]).collect();
        if let Some(values) = values(program, &events, &source) {
            let is_read_once = |own: usize| values[own].is_some() || chosen[own] == 0;
            if (0..events.len()).all(is_read_once) {
                orders(program, &events, &source, &values, &mut allowed);
            }
        }
        let Some(next) = (0..events.len()).find(|own| chosen[*own] + 1 < sources[*own].len()) else { return allowed };
        chosen[..next].fill(0);
        chosen[next] += 1;
    }
}

/// From which writes an operation can read.
fn sources(program: &Program, events: &[At], own: usize, at: At) -> Vec<Option<usize>> {
    let op = program.op(at);
    let Some((location, _)) = op.access().filter(|_| op.reads()) else { return vec![None] };
    let writes = |other: &usize| {
        let op = program.op(events[*other]);
        *other != own && op.writes() && op.access().is_some_and(|(of, _)| of == location)
    };
    std::iter::once(None).chain((0..events.len()).filter(writes).map(Some)).collect()
}

/// What each operation reads (0 for those that read nothing), and nothing of those that are not executed; none if a value comes out of
/// thin air or an operation reads from one that is not executed.
fn values(program: &Program, events: &[At], source: &[Option<usize>]) -> Option<Vec<Option<u32>>> {
    let mut known: Vec<Option<Option<u32>>> = vec![None; events.len()];
    let mut counts = vec![0_usize; program.threads.len()];
    let mut last = vec![0; program.threads.len()];
    let mut ended = vec![false; program.threads.len()];
    let number = |at: At| events.iter().position(|other| *other == at).unwrap_or(usize::MAX);
    loop {
        let mut moves = false;
        for (thread, ops) in program.threads.iter().enumerate().map(|(number, thread)| (number, &thread.ops)) {
            while counts[thread] < ops.len() {
                let index = counts[thread];
                let own = number((thread, index));
                let value = match (ended[thread], ops[index].reads(), source[own]) {
                    (true, ..) => None,
                    (false, true, Some(of)) => match known[of] {
                        None => break,
                        Some(None) => return None,
                        Some(Some(read)) => Some(written(program.op(events[of]), read)),
                    },
                    (false, _, _) => Some(0),
                };
                if let (Op::Unless(wanted), Some(_)) = (ops[index], value) {
                    ended[thread] |= last[thread] != wanted;
                }
                if ops[index].reads() {
                    last[thread] = value.unwrap_or(0);
                }
                known[own] = Some(value);
                (counts[thread], moves) = (index + 1, true);
            }
        }
        if !moves {
            return known.into_iter().collect();
        }
    }
}

fn written(op: Op, read: u32) -> u32 {
    match op {
        Op::Store(_, _, value) => value,
        Op::Add(_, _, value) | Op::Reduce(_, _, value) => read + value,
        Op::Load(..) | Op::Fence { .. } | Op::Unless(_) | Op::Barrier => 0,
    }
}

/// Tries all orders of the writes of each location, and of the fences.
fn orders(program: &Program, events: &[At], source: &[Option<usize>], values: &[Option<u32>], allowed: &mut Allowed) {
    let executed: Vec<bool> = values.iter().map(Option::is_some).collect();
    let mut sets: Vec<Vec<usize>> = Vec::new();
    let location = |own: &usize| program.op(events[*own]).access().map(|(of, _)| of);
    for of in 0..=events.iter().filter_map(|at| program.op(*at).access()).map(|(of, _)| of).max().unwrap_or(0) {
        sets.push(
            (0..events.len()).filter(|own| executed[*own] && program.op(events[*own]).writes() && location(own) == Some(of)).collect(),
        );
    }
    sets.push((0..events.len()).filter(|own| executed[*own] && matches!(program.op(events[*own]), Op::Fence { sc: true, .. })).collect());
    let outcome: Vec<Option<u32>> = (0..events.len()).filter(|own| program.op(events[*own]).reads()).map(|own| values[own]).collect();
    let mut place = vec![0; events.len()];
    permute(&sets, 0, 0, &mut place, &mut |place| {
        let execution = Execution { program, events, executed: executed.clone(), source: source.to_vec(), place: place.to_vec() };
        if let Some((races, is_consistent)) = execution.judge() {
            allowed.outcomes.insert(outcome.clone());
            if is_consistent {
                allowed.consistent_races.extend(&races);
            }
            allowed.races.extend(races);
        }
    });
}

/// Calls `each` with every choice of an order for each of the sets, from the one with index `set` on, of which `count` have their place.
fn permute(sets: &[Vec<usize>], set: usize, count: usize, place: &mut [usize], each: &mut impl FnMut(&[usize])) {
    let Some(members) = sets.get(set) else { return each(place) };
    if count == members.len() {
        return permute(sets, set + 1, 0, place, each);
    }
    for member in members.iter().filter(|member| place[**member] == 0).copied().collect::<Vec<_>>() {
        place[member] = count + 1;
        permute(sets, set, count + 1, place, each);
        place[member] = 0;
    }
}

impl Execution<'_> {
    fn op(&self, own: usize) -> Op {
        self.program.op(self.events[own])
    }

    fn block(&self, own: usize) -> usize {
        self.program.threads[self.events[own].0].block
    }

    fn is_po(&self, one: usize, other: usize) -> bool {
        self.events[one].0 == self.events[other].0 && one < other && self.executed[one] && self.executed[other]
    }

    fn location(&self, own: usize) -> Option<usize> {
        self.op(own).access().map(|(at, _)| at).filter(|_| self.executed[own])
    }

    fn overlap(&self, one: usize, other: usize) -> bool {
        self.location(one).is_some() && self.location(one) == self.location(other)
    }

    /// The scope of a strong operation or a fence.
    fn scope(&self, own: usize) -> Option<Scope> {
        match self.op(own) {
            Op::Fence { scope, .. } => Some(scope),
            op => op.access().and_then(|(_, how)| how.scope()),
        }
    }

    /// "Morally strong operations", but for the overlap.
    fn in_scope(&self, one: usize, other: usize) -> bool {
        if self.events[one].0 == self.events[other].0 {
            return true;
        }
        let (Some(a), Some(b)) = (self.scope(one), self.scope(other)) else { return false };
        self.block(one) == self.block(other) || a == Scope::Gpu && b == Scope::Gpu
    }

    fn morally_strong(&self, one: usize, other: usize) -> bool {
        self.overlap(one, other) && self.in_scope(one, other)
    }

    /// The pairs that race, and whether the execution is sequentially consistent; none if an axiom forbids it.
    fn judge(&self) -> Option<(Vec<(At, At)>, bool)> {
        let size = self.events.len();
        let of = |holds: &dyn Fn(usize, usize) -> bool| Relation::of(size, holds);
        let po = of(&|one, other| self.is_po(one, other));
        let rf = of(&|one, other| self.executed[other] && self.source[other] == Some(one));
        let co = of(&|one, other| {
            self.op(one).writes() && self.op(other).writes() && self.overlap(one, other) && self.place[one] < self.place[other]
        });
        let fr = of(&|one, other| {
            let overwrites = self.op(one).reads() && self.op(other).writes() && self.overlap(one, other) && one != other;
            overwrites && self.source[one].is_none_or(|source| source != other && self.place[source] < self.place[other])
        });
        let strong = |relation: &Relation| of(&|one, other| relation.has(one, other) && self.morally_strong(one, other));
        let sc = of(&|one, other| self.place[one] < self.place[other] && self.are_sc(one, other) && self.in_scope(one, other));
        let base = self.base(&po, &strong(&rf), &sc);
        let cause = base.or(&self.observation(&strong(&rf)).then(&base));
        let barrier = of(&|one, other| self.is_barrier(one, other));
        let po_location = of(&|one, other| self.is_po(one, other) && self.overlap(one, other));
        let all = rf.or(&co).or(&fr);
        let (strong_fr, strong_co) = (strong(&fr), strong(&co));
        let coherence =
            of(&|one, other| cause.has(one, other) && self.op(one).writes() && self.op(other).writes() && self.overlap(one, other));
        let is_allowed = (0..size).all(|one| coherence.0[one] & !co.0[one] == 0)
            && sc.then(&cause).is_irreflexive()
            && (0..size).all(|one| !self.op(one).is_atomic() || !strong_fr.then(&strong_co).has(one, one))
            && strong(&all).or(&po_location).is_acyclic()
            && rf.or(&fr).then(&cause).is_irreflexive();
        if !is_allowed {
            return None;
        }
        let races = (0..size).flat_map(|one| (0..one).map(move |other| (other, one))).filter(|(one, other)| {
            let conflict = self.overlap(*one, *other) && (self.op(*one).writes() || self.op(*other).writes());
            conflict && !self.morally_strong(*one, *other) && !cause.has(*one, *other) && !cause.has(*other, *one)
        });
        let races = races.map(|(one, other)| (self.events[one], self.events[other])).collect();
        let after_barrier = po.then(&barrier).then(&po);
        let fences = of(&|one, other| self.are_sc(one, other) && self.place[one] < self.place[other]);
        Some((races, po.or(&all).or(&after_barrier).or(&fences).is_acyclic()))
    }

    fn are_sc(&self, one: usize, other: usize) -> bool {
        let is_sc = |own: usize| matches!(self.op(own), Op::Fence { sc: true, .. }) && self.executed[own];
        is_sc(one) && is_sc(other)
    }

    /// Whether two are arrivals of two threads at the same phase of the barrier of a block.
    fn is_barrier(&self, one: usize, other: usize) -> bool {
        let phase = |own: usize| {
            let (thread, index) = self.events[own];
            let ops = &self.program.threads[thread].ops[..=index];
            (ops[index] == Op::Barrier).then(|| (self.block(own), ops.iter().filter(|op| **op == Op::Barrier).count()))
        };
        self.events[one].0 != self.events[other].0 && phase(one).is_some() && phase(one) == phase(other)
    }

    /// "Observation order".
    fn observation(&self, strong_rf: &Relation) -> Relation {
        let size = self.events.len();
        let chain = Relation::of(size, |one, other| strong_rf.has(one, other) && self.op(one).is_atomic());
        strong_rf.or(&strong_rf.then(&chain.closure()))
    }

    /// "Base causality order".
    fn base(&self, po: &Relation, strong_rf: &Relation, sc: &Relation) -> Relation {
        let size = self.events.len();
        let observed = self.observation(strong_rf);
        let mut synchronizes = sc.clone();
        for (first, write) in self.release_patterns() {
            for (read, last) in self.acquire_patterns().into_iter().filter(|(read, _)| observed.has(write, *read)) {
                if self.in_scope(first, last) && self.events[first].0 != self.events[last].0 {
                    assert!(self.executed[first] && self.executed[read], "patterns are of what was executed");
                    synchronizes.add(first, last);
                }
            }
        }
        let barrier = Relation::of(size, |one, other| self.is_barrier(one, other));
        let through_barrier = barrier.or(&po.then(&barrier)).then(po).or(&po.then(&barrier));
        po.or(&synchronizes).or(&through_barrier).closure()
    }

    /// The first operation and the write of each release pattern.
    fn release_patterns(&self) -> Vec<(usize, usize)> {
        self.patterns(|first, write| {
            let is_strong_write = self.op(write).writes() && self.scope(write).is_some();
            let releases = self.op(first).access().is_some_and(|(_, how)| how.releases());
            let is_fence = matches!(self.op(first), Op::Fence { .. });
            is_strong_write
                && (first == write && releases || self.is_po(first, write) && (is_fence || releases && self.overlap(first, write)))
        })
    }

    /// The read and the last operation of each acquire pattern.
    fn acquire_patterns(&self) -> Vec<(usize, usize)> {
        self.patterns(|read, last| {
            let is_strong_read = self.op(read).reads() && self.scope(read).is_some() && !matches!(self.op(read), Op::Reduce(..));
            let acquires = self.op(last).access().is_some_and(|(_, how)| how.acquires());
            let is_fence = matches!(self.op(last), Op::Fence { .. });
            is_strong_read && (read == last && acquires || self.is_po(read, last) && (is_fence || acquires && self.overlap(read, last)))
        })
    }

    fn patterns(&self, is_one: impl Fn(usize, usize) -> bool) -> Vec<(usize, usize)> {
        let executed = || (0..self.events.len()).filter(|own| self.executed[*own]);
        executed().flat_map(|one| executed().map(move |other| (one, other))).filter(|(one, other)| is_one(*one, *other)).collect()
    }
}
