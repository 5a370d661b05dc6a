//! The axioms (PTX ISA, "Axioms"): of a candidate whose reads have their writes, the orders of writes and of `fence.sc` that they allow.
//!
//! Coherence order is partial: it has what is morally strong or related in causality order, and nothing else is added, since more order
//! forbids more. So every execution that the axioms allow has the values of one that is found.
//!
//! What a part of the choices rules out is not followed: axioms forbid cycles, and more choices never take one away.

use super::candidates::Candidate;
use super::effort::{Effort, TooLarge};
use super::relation::{Relation, bits};
use super::test::Proxy;

/// What does not depend on the writes that reads read from.
pub struct Model<'a> {
    pub candidate: &'a Candidate<'a>,
    /// From the first operation of a release pattern to its write.
    releases: Relation,
    /// From the read of an acquire pattern to its last operation.
    acquires: Relation,
    /// Pairs of `fence.sc` that are morally strong, the lesser first.
    fences: Vec<(usize, usize)>,
    /// Fences, and the accesses of their proxy in their block.
    fenced: Relation,
    generic: u64,
    accesses: u64,
    alias_fences: u64,
    same_block: Relation,
    strong_po: Relation,
    /// Pairs of writes that coherence order must relate.
    strong_writes: Relation,
    /// The writes of first values, and which of their locations the test asks of.
    pub first: Vec<usize>,
    pub asked: Vec<bool>,
    pub effort: &'a Effort,
}

/// Receives the relations of an execution, and the last write of each location.
pub type Each<'a> = dyn FnMut(Relations, &[usize]) -> Result<(), TooLarge> + 'a;

/// The relations of an execution that the axioms allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relations {
    /// Reads-from.
    pub rf: Relation,
    /// Coherence order.
    pub co: Relation,
    /// From-reads.
    pub fr: Relation,
    /// Synchronizes: release and acquire patterns, barriers, and `fence.sc` in their order.
    pub sw: Relation,
    /// Causality order.
    pub cause: Relation,
}

/// What reads read, and which arrivals at barriers meet.
pub struct Choice {
    pub rf: Relation,
    pub barrier: Relation,
}

/// What is known before the orders are chosen.
struct Basis<'a> {
    choice: &'a Choice,
    /// From a read to the write that it returns.
    readers: Relation,
    strong_rf: Relation,
    observation: Relation,
    synchronizes: Relation,
}

impl<'a> Model<'a> {
    /// That of a candidate, in which the memory of locations may be `asked` of, in the order of their first values.
    pub fn new(candidate: &'a Candidate<'a>, asked: Vec<bool>, effort: &'a Effort) -> Self {
        let Candidate { test, events, po, overlap, morally_strong, same_memory, writes, .. } = candidate;
        let size = events.len();
        let of = |holds: &dyn Fn(usize, usize) -> bool| Relation::of(size, holds);
        let mask = |holds: &dyn Fn(usize) -> bool| (0..size).filter(|own| holds(*own)).fold(0, |mask, own| mask | 1 << own);
        let at_once_or_later = |one: usize, other: usize| one == other || po.has(one, other) && overlap.has(one, other);
        let releases = of(&|first, write| {
            let (a, b) = (&events[first], &events[write]);
            let is_release = a.is_write() && a.ordering.releases() && at_once_or_later(first, write);
            b.is_write() && b.is_strong() && (is_release || a.is_fence() && a.ordering.releases() && po.has(first, write))
        });
        let acquires = of(&|read, last| {
            let (a, b) = (&events[read], &events[last]);
            let is_acquire = b.is_read() && b.ordering.acquires() && at_once_or_later(read, last);
            let is_dropped = matches!(a.kind, super::event::EventKind::Read { is_dropped: true, .. });
            a.is_read() && a.is_strong() && !is_dropped && (is_acquire || b.is_fence() && b.ordering.acquires() && po.has(read, last))
        });
        let block = |own: usize| events[own].thread.map(|thread| (test.threads[thread].gpu, test.threads[thread].block));
        let same_block = of(&|one, other| block(one).is_some() && block(one) == block(other));
        let is_any_fence = |own: usize| events[own].location.is_none() && events[own].proxy.is_some();
        let accesses = candidate.reads | candidate.writes;
        let fenced = of(&|fence, access| {
            is_any_fence(fence)
                && events[access].location.is_some()
                && events[fence].proxy == events[access].proxy
                && same_block.has(fence, access)
        });
        let sc = mask(&|own| events[own].is_sc_fence());
        let fences = morally_strong.between(sc, sc).pairs().filter(|(one, other)| one < other).collect();
        Self {
            candidate,
            releases,
            acquires,
            fences,
            fenced,
            generic: mask(&|own| events[own].location.is_some() && events[own].proxy == Some(Proxy::Generic)),
            accesses,
            alias_fences: mask(&|own| events[own].kind == super::event::EventKind::AliasFence),
            same_block,
            strong_po: po.and(overlap).and(morally_strong),
            strong_writes: morally_strong.between(*writes, *writes).and(same_memory),
            first: candidate.first_values(),
            asked,
            effort,
        }
    }

    fn basis<'b>(&self, choice: &'b Choice) -> Basis<'b> {
        let Candidate { morally_strong, rmw, .. } = self.candidate;
        let strong_rf = choice.rf.and(morally_strong);
        // Observation order: a write, then atomic operations that each read from the one before.
        let observation = strong_rf.or(&strong_rf.then(&rmw.then(&strong_rf).closure()));
        let synchronizes = self.releases.then(&observation).then(&self.acquires).and(morally_strong);
        let synchronizes = synchronizes.or(&choice.barrier);
        Basis { choice, readers: choice.rf.inverse(), strong_rf, observation, synchronizes }
    }

    /// Calls `each` with the relations of executions, and the last write of each location: one for every order of `fence.sc` and every
    /// choice of last writes that is possible.
    ///
    /// # Errors
    /// There are too many.
    pub fn executions(&self, choice: &Choice, each: &mut Each<'_>) -> Result<(), TooLarge> {
        self.order_fences(&self.basis(choice), 0, Relation::empty(self.candidate.events.len()), each)
    }

    /// Chooses the order of each pair of `fence.sc` from number `next` on.
    fn order_fences(&self, basis: &Basis<'_>, next: usize, order: Relation, each: &mut Each<'_>) -> Result<(), TooLarge> {
        self.effort.spend()?;
        let synchronizes = basis.synchronizes.or(&order);
        let base = self.candidate.po.or(&synchronizes).closure();
        // "Fence-SC". Causality order relates accesses alone where proxies differ; of fences the base has what is meant.
        if order.pairs().any(|(first, second)| base.has(second, first)) {
            return Ok(());
        }
        let cause = self.cause(basis, &base);
        let Some(&(one, other)) = self.fences.get(next) else {
            return self.order_writes(basis, &synchronizes, &cause, each);
        };
        if next == 0 && !basis.choice.rf.then(&cause).is_irreflexive() {
            return Ok(());
        }
        for (first, second) in [(one, other), (other, one)] {
            if base.has(second, first) {
                continue;
            }
            let mut order = order.clone();
            order.add(first, second);
            self.order_fences(basis, next + 1, order, each)?;
        }
        Ok(())
    }

    /// Causality order.
    fn cause(&self, basis: &Basis<'_>, base: &Relation) -> Relation {
        let preserved = self.preserved(base);
        preserved.or(&basis.observation.then(&preserved))
    }

    /// Proxy-preserved base causality order.
    fn preserved(&self, base: &Relation) -> Relation {
        let Candidate { overlap, same_memory, events, .. } = self.candidate;
        let all = u64::MAX >> (64 - events.len().max(1));
        let same_proxy = Relation::of(events.len(), |one, other| {
            self.same_block.has(one, other) && events[one].proxy.is_some() && events[one].proxy == events[other].proxy
        });
        // From an access to what a fence of its proxy comes before, and the other way.
        let left = base.and(&self.fenced.inverse()).then(base);
        let right = base.then(&base.and(&self.fenced));
        let both = base.and(&self.fenced.inverse()).then(&right);
        let through_proxies = (left.between(all, self.generic))
            .or(&right.between(self.generic, all))
            .or(&both)
            .or(&base.between(self.generic, self.generic))
            .or(&base.and(&same_proxy).between(self.accesses, self.accesses));
        let preserved = through_proxies.and(overlap);
        if self.alias_fences == 0 {
            return preserved;
        }
        let after_alias = base.between(self.alias_fences, all);
        let left = base.and(&self.fenced.inverse()).then(base).or(&base.between(self.generic, all)).between(all, self.alias_fences);
        let right = after_alias.between(all, self.generic).or(&after_alias.then(&base.and(&self.fenced)));
        preserved.or(&left.then(&right).and(same_memory))
    }

    /// Coherence order: what causality order says of writes, and an order of each pair that is morally strong. Of all that leave the same
    /// last writes one is enough: nothing else that is asked depends on it.
    fn order_writes(&self, basis: &Basis<'_>, sw: &Relation, cause: &Relation, each: &mut Each<'_>) -> Result<(), TooLarge> {
        let Some(co) = self.extend(basis, cause, self.least_order(cause)) else { return Ok(()) };
        for ends in self.ends(&co)? {
            let mut co = co.clone();
            for end in &ends {
                bits(self.open(&co).inverse().row(*end)).for_each(|other| co.add(other, *end));
            }
            let Some(co) = self.complete(basis, cause, co.closure())? else { continue };
            let fr = basis.readers.then(&co);
            let relations = Relations { rf: basis.choice.rf.clone(), co, fr, sw: sw.clone(), cause: cause.clone() };
            each(relations, &ends)?;
        }
        Ok(())
    }

    /// The order that writes have in any case: first values come first, and causality order holds.
    fn least_order(&self, cause: &Relation) -> Relation {
        let Candidate { writes, same_memory, .. } = self.candidate;
        let mut co = cause.between(*writes, *writes).and(same_memory);
        for first in &self.first {
            bits(same_memory.row(*first) & writes).filter(|other| other != first).for_each(|other| co.add(*first, other));
        }
        co.closure()
    }

    /// The choices of the last write of each location, in the order of their first values: one that no other follows. Where nothing is
    /// asked of a location, its first value stands for all.
    fn ends(&self, co: &Relation) -> Result<Vec<Vec<usize>>, TooLarge> {
        let Candidate { writes, same_memory, .. } = self.candidate;
        let mut ends: Vec<Vec<usize>> = vec![Vec::new()];
        for (write, is_asked) in self.first.iter().zip(&self.asked) {
            let last: Vec<usize> = match is_asked {
                false => vec![*write],
                true => bits(same_memory.row(*write) & writes).filter(|last| co.row(*last) == 0).collect(),
            };
            let mut longer = Vec::new();
            for (end, last) in ends.iter().flat_map(|end| last.iter().map(move |last| (end, last))) {
                self.effort.spend()?;
                longer.push([&end[..], &[*last]].concat());
            }
            ends = longer;
        }
        Ok(ends)
    }

    /// Pairs of writes that must be in an order and are not.
    fn open(&self, co: &Relation) -> Relation {
        self.strong_writes.without(co).without(&co.inverse())
    }

    /// A coherence order that has all of this one, and an order of each pair that is morally strong; none if the axioms allow none.
    fn complete(&self, basis: &Basis<'_>, cause: &Relation, co: Relation) -> Result<Option<Relation>, TooLarge> {
        self.effort.spend()?;
        let Some(co) = self.extend(basis, cause, co) else { return Ok(None) };
        let Some((one, other)) = self.open(&co).pairs().next() else { return Ok(Some(co)) };
        for (first, second) in [(one, other), (other, one)] {
            let mut co = co.clone();
            co.add(first, second);
            if let Some(found) = self.complete(basis, cause, co.closure())? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// What follows from a part of coherence order, by "SC-per-location"; none if an axiom forbids it. More order never makes it allowed.
    fn extend(&self, basis: &Basis<'_>, cause: &Relation, mut co: Relation) -> Option<Relation> {
        let Candidate { rmw, morally_strong, .. } = self.candidate;
        loop {
            let fr = basis.readers.then(&co);
            let (strong_co, strong_fr) = (co.and(morally_strong), fr.and(morally_strong));
            let per_location = basis.strong_rf.or(&strong_co).or(&strong_fr).or(&self.strong_po).closure();
            let is_allowed = co.is_irreflexive()
                && per_location.is_irreflexive()
                && basis.choice.rf.or(&fr).then(cause).is_irreflexive()
                && strong_fr.then(&strong_co).and(rmw).is_empty();
            if !is_allowed {
                return None;
            }
            let forced = self.open(&co).and(&per_location);
            if forced.is_empty() {
                return Some(co);
            }
            co = co.or(&forced).closure();
        }
    }

    /// False if no execution has what this choice, which may lack reads, has.
    pub fn is_possible(&self, rf: Relation) -> bool {
        let choice = Choice { barrier: Relation::empty(self.candidate.events.len()), rf };
        let basis = self.basis(&choice);
        let base = self.candidate.po.or(&basis.synchronizes).closure();
        let cause = self.cause(&basis, &base);
        self.extend(&basis, &cause, self.least_order(&cause)).is_some()
    }

    /// Conflicting accesses that are neither morally strong nor related in causality order (PTX ISA, "Conflict and Data-races"), by their
    /// events, the lesser first.
    pub fn races(&self, relations: &Relations) -> Vec<(usize, usize)> {
        let Candidate { events, same_memory, morally_strong, .. } = self.candidate;
        let conflicts = |(one, other): &(usize, usize)| {
            let (a, b) = (&events[*one], &events[*other]);
            one < other && a.thread.is_some() && b.thread.is_some() && a.thread != b.thread && (a.is_write() || b.is_write())
        };
        // An atomic operation is one operation: what orders its read or its write orders it.
        let whole = |own: usize| 1 << own | self.candidate.rmw.row(own) | self.candidate.rmw.inverse().row(own);
        let precedes = |one: usize, other: usize| bits(whole(one)).any(|half| relations.cause.row(half) & whole(other) != 0);
        let ordered = |one: usize, other: usize| precedes(one, other) || precedes(other, one);
        same_memory.pairs().filter(conflicts).filter(|(one, other)| !morally_strong.has(*one, *other) && !ordered(*one, *other)).collect()
    }
}
