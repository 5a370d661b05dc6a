//! Candidates: a path of each thread, and the write that each read reads from.

use super::event::{Event, EventKind};
use super::path::Path;
use super::relation::{EVENTS_MAX, Relation, bits};
use super::test::{Proxy, Test};
use super::values::Value;
use crate::isa::{Ordering, Scope};

/// A path of each thread, with the relations that do not depend on what reads read.
pub struct Candidate<'a> {
    /// The test.
    pub test: &'a Test,
    /// The paths.
    pub paths: Vec<&'a Path>,
    /// Writes of first values, then the events of each thread.
    pub events: Vec<Event>,
    /// The first event of each thread.
    pub first: Vec<usize>,
    /// Program order.
    pub po: Relation,
    /// The read and the write of each atomic operation.
    pub rmw: Relation,
    /// What depends on each read.
    pub dependency: Relation,
    /// Accesses of the same memory.
    pub same_memory: Relation,
    /// Accesses that overlap: of the same virtual address.
    pub overlap: Relation,
    /// "Morally Strong Operations".
    pub morally_strong: Relation,
    /// Reads, and writes.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
}

impl<'a> Candidate<'a> {
    /// The events of a path of each thread; none if they are too many.
    pub fn new(test: &'a Test, paths: Vec<&'a Path>) -> Option<Self> {
        let mut events: Vec<Event> = Vec::new();
        for (own, location) in test.locations.iter().enumerate().filter(|(own, location)| location.physical == *own) {
            events.push(Event {
                thread: None,
                instruction: 0,
                kind: EventKind::Write,
                location: Some(own),
                proxy: Some(Proxy::Generic),
                ordering: Ordering::Weak,
                scope: Scope::None,
                written: Some(Value::Constant(location.initial)),
                depends_on: 0,
            });
        }
        let mut first = Vec::new();
        for path in &paths {
            first.push(events.len());
            events.extend(path.events.iter().cloned());
        }
        let size = events.len();
        if size > EVENTS_MAX {
            return None;
        }
        let of = |holds: &dyn Fn(usize, usize) -> bool| Relation::of(size, holds);
        let po = of(&|one, other| one < other && events[one].thread.is_some() && events[one].thread == events[other].thread);
        let rmw = of(&|one, other| other == one + 1 && matches!(events[one].kind, EventKind::Read { is_atomic: true, .. }));
        let dependency = of(&|one, other| {
            let start = events[other].thread.map(|thread| first[thread]);
            start.is_some_and(|start| one >= start && one - start < EVENTS_MAX && events[other].depends_on >> (one - start) & 1 != 0)
        });
        let place = |own: usize| events[own].location.map(|location| &test.locations[location]);
        let same_memory = of(&|one, other| place(one).zip(place(other)).is_some_and(|(one, other)| one.physical == other.physical));
        let overlap = of(&|one, other| place(one).zip(place(other)).is_some_and(|(one, other)| one.generic == other.generic));
        let morally_strong = of(&|one, other| {
            let (a, b) = (&events[one], &events[other]);
            let in_scope = || a.is_strong() && b.is_strong() && a.includes(test, b) && b.includes(test, a);
            let is_access = a.location.is_some() && b.location.is_some();
            one != other
                && (po.has(one, other) || po.has(other, one) || in_scope())
                && a.proxy.is_some()
                && a.proxy == b.proxy
                && (!is_access || overlap.has(one, other))
        });
        let mask = |holds: fn(&Event) -> bool| (0..size).filter(|own| holds(&events[*own])).fold(0, |mask, own| mask | 1 << own);
        let (reads, writes) = (mask(Event::is_read), mask(Event::is_write));
        Some(Self { test, paths, po, rmw, dependency, same_memory, overlap, morally_strong, reads, writes, first, events })
    }

    /// The writes of first values.
    pub fn first_values(&self) -> Vec<usize> {
        bits(self.writes).filter(|write| self.events[*write].thread.is_none()).collect()
    }

    /// A value of a thread, where `values` has what each read returns.
    pub fn evaluate(&self, thread: usize, value: &Value, values: &[Option<i64>]) -> Option<i64> {
        value.evaluate(&|read| values[self.first[thread] + read])
    }

    /// The writes that a read can read from: not one that it or its thread precedes at the same address and by the same proxy, nor one that
    /// its thread has overwritten before it.
    pub fn sources(&self, read: usize) -> Vec<usize> {
        let event = &self.events[read];
        let same = |other: usize| self.overlap.has(read, other) && self.events[other].proxy == event.proxy;
        let is_own = |write: usize| self.events[write].thread == event.thread;
        let hides = |write: usize, later: usize| {
            same(later) && self.po.has(later, read) && (self.po.has(write, later) || self.events[write].thread.is_none())
        };
        let writes: Vec<usize> = bits(self.writes).filter(|write| self.same_memory.has(read, *write)).collect();
        let can = |write: &usize| {
            let is_later = is_own(*write) && self.po.has(read, *write) && same(*write);
            let is_hidden = (is_own(*write) && same(*write) || self.events[*write].thread.is_none())
                && writes.iter().any(|later| later != write && hides(*write, *later));
            !self.rmw.has(read, *write) && !is_later && !is_hidden
        };
        writes.iter().copied().filter(can).collect()
    }

    /// True if no value comes out of thin air, where `source` has the write that each read reads from (PTX ISA, "No-Thin-Air").
    pub fn is_caused(&self, source: &[Option<usize>]) -> bool {
        self.reads_from(source).or(&self.dependency).is_acyclic()
    }

    /// The writes and the reads that read from them.
    pub fn reads_from(&self, source: &[Option<usize>]) -> Relation {
        let mut rf = Relation::empty(self.events.len());
        source.iter().enumerate().for_each(|(read, write)| write.iter().for_each(|write| rf.add(*write, read)));
        rf
    }

    /// What each event reads or writes, as far as `source` has the write that each read reads from; none if that contradicts the paths.
    pub fn values(&self, source: &[Option<usize>]) -> Option<Vec<Option<i64>>> {
        let mut values = vec![None; self.events.len()];
        let mut open: Vec<usize> = bits(self.reads | self.writes).collect();
        let mut before = usize::MAX;
        while open.len() < before {
            before = open.len();
            open.retain(|own| {
                let event = &self.events[*own];
                let value = match (&event.written, source[*own]) {
                    (None, Some(write)) => values[write],
                    (None, None) => None,
                    (Some(written), _) => match event.thread {
                        None => written.evaluate(&|_| None),
                        Some(thread) => self.evaluate(thread, written, &values),
                    },
                };
                values[*own] = value;
                value.is_none()
            });
        }
        let follows = |(thread, path): (usize, &&Path)| {
            path.decisions.iter().all(|decision| decision.holds(&|read| values[self.first[thread] + read]) != Some(false))
        };
        self.paths.iter().enumerate().all(follows).then_some(values)
    }
}
