//! Which instructions should order more, so that weak memory gives no other results than sequentially consistent memory.
//!
//! A run that is not sequentially consistent has a cycle of accesses, in which threads access what others access, and each goes on in its
//! program order. A `fence.sc` between the first and the last access of each thread on the cycle ends it (Shasha and Snir, "Efficient and
//! Correct Execution of Parallel Programs that Share Memory", 1988), if the accesses are strong. So the cycles of the runs are fenced until
//! none is left; then each change is left out, or replaced by one that orders less, where the same orders stay right without. What is
//! proposed at the end was tried in all orders of the exploration.

use std::collections::BTreeSet;

use super::consistent::NotedRuns;
use super::order::Orders;
use super::outcome::JudgedOrder;
use super::systematic::Subject;
use crate::debug::run::{RunError, RunOptions};
use crate::debug::stale::StaleAccess;
use crate::isa::{Ordering, Scope};
use crate::program::{Effect, Pc, Program};
use crate::weak::{Event, Segment, Strength, Strengthening};

/// Cycles that are fenced at most.
const CYCLES_MAX: usize = 12;

/// Orders of which the one is chosen that is shown.
const SHOWN_MAX: usize = 4;

/// Warp-instructions of all runs together at most.
const STEPS_MAX: u64 = 1 << 21;

/// A run that takes more warp-instructions than this, and this many times those of the first one, hangs.
const HANG_STEPS: u64 = 1 << 12;
const HANG_FACTOR: u64 = 16;

/// What is tried in orders of a subject.
pub(super) struct Trials<'a> {
    pub(super) subject: &'a Subject,
    pub(super) orders: &'a Orders,
    /// What sequentially consistent runs leave.
    pub(super) consistent: &'a [(JudgedOrder, u64)],
    /// Warp-instructions of a run.
    pub(super) steps: u64,
    pub(super) interrupt: &'a mut dyn FnMut() -> bool,
    /// Those of the runs so far.
    pub(super) taken: u64,
}

/// A change of the program that orders more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Change {
    /// What is tried.
    pub(super) strengthening: Strengthening,
    /// The accesses before it in program order that are to be ordered, by their instructions.
    pub(super) after: BTreeSet<u32>,
    /// For a fence before an access: the same by an instruction that is there, if that is enough, too.
    pub(super) also: Option<Strengthening>,
}

/// Changes that are tried together.
type Plan = Vec<Change>;

/// The changes of a program with which weak memory gives no other results.
pub(super) struct Remedy {
    pub(super) changes: Plan,
    /// Orders in which they were tried.
    pub(super) tried: u64,
}

/// Changes that belong together, by their places in a remedy, and the orders that they fix.
pub(super) struct Cause {
    pub(super) changes: BTreeSet<usize>,
    pub(super) orders: Vec<u64>,
    /// What these leave, by numbers.
    results: BTreeSet<usize>,
}

/// What became of orders in which changes were tried.
struct Tried {
    /// How many were right, from the first one on.
    fixed: usize,
    /// The next one, if it was wrong; none if all were right or the runs were over.
    left: Option<u64>,
}

/// Where a `fence.sc` between two accesses is tried: at either, as what other threads do in between differs. Other fences are right before
/// the last one, where they order what comes before a barrier, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    BeforeLast,
    AfterFirst,
}

fn strengthenings(plan: &[Change], place: Place) -> Vec<Strengthening> {
    plan.iter().flat_map(|change| change.strengthenings(place)).collect()
}

impl Trials<'_> {
    fn runs<'a>(&'a self, strengthenings: &'a [Strengthening]) -> NotedRuns<'a> {
        NotedRuns { subject: self.subject, strengthenings }
    }

    /// The options of an order, whose runs hang if they take much longer than others.
    fn options(&self, index: u64) -> RunOptions {
        let options = self.orders.options(index);
        let limit = options.step_limit.unwrap_or(u64::MAX).min(HANG_STEPS.max(HANG_FACTOR * self.steps));
        RunOptions { step_limit: Some(limit), ..options }
    }

    fn is_over(&mut self) -> bool {
        self.taken >= STEPS_MAX || (self.interrupt)()
    }

    /// True if an order gives with these changes what sequentially consistent memory gives, too, wherever fences are.
    fn is_fixed(&mut self, index: u64, plan: &[Change]) -> Result<bool, RunError> {
        let (before, after) = (strengthenings(plan, Place::BeforeLast), strengthenings(plan, Place::AfterFirst));
        Ok(self.gives_consistent(index, &before)? && (before == after || self.gives_consistent(index, &after)?))
    }

    fn gives_consistent(&mut self, index: u64, plan: &[Strengthening]) -> Result<bool, RunError> {
        let options = self.options(index);
        let first = self.runs(plan).run(&options)?;
        self.taken += 2 * first.steps;
        if first.stale.is_empty() || self.consistent.iter().any(|(other, _)| other.is_same(&first.judged)) {
            return Ok(true);
        }
        Ok(!self.runs(plan).has_cycle(&options, &first)?)
    }

    /// Tries changes in orders, until one still gives something else or the runs are over.
    fn try_in(&mut self, orders: &[u64], plan: &[Change]) -> Result<Tried, RunError> {
        for (place, index) in orders.iter().enumerate() {
            if self.is_over() {
                return Ok(Tried { fixed: place, left: None });
            }
            if !self.is_fixed(*index, plan)? {
                return Ok(Tried { fixed: place, left: Some(*index) });
            }
        }
        Ok(Tried { fixed: orders.len(), left: None })
    }

    fn are_fixed(&mut self, orders: &[u64], plan: &[Change]) -> Result<bool, RunError> {
        Ok(self.try_in(orders, plan)?.fixed == orders.len())
    }

    /// The cycle of an order with these changes, and what was stale in it.
    fn cycle(&mut self, index: u64, plan: &[Strengthening]) -> Result<(Vec<Segment>, Vec<StaleAccess>), RunError> {
        let options = self.options(index);
        let runs = self.runs(plan);
        let first = runs.run(&options)?;
        let cycle = runs.cycle(&options, &first)?.unwrap_or_default();
        self.taken += 4 * first.steps;
        Ok((cycle, first.stale))
    }

    /// The changes with which none of these orders gives anything else, nor any of the `all` first ones; none if none is known.
    ///
    /// # Errors
    /// Reasons outside the kernel.
    pub(super) fn remedy(&mut self, orders: &[u64], all: u64) -> Result<Option<Remedy>, RunError> {
        // Where no cycle is known, it cannot be known when it has gone.
        let (mut failing, mut plan) = (Vec::new(), Plan::new());
        for index in orders {
            if !self.is_fixed(*index, &plan)? {
                failing.push(*index);
            }
        }
        if failing.is_empty() {
            return Ok(None);
        }
        // Where wider scopes are enough, no fence is missing.
        if widen(&mut plan, &self.subject.program) && !self.are_fixed(&failing, &plan)? {
            plan.clear();
        }
        for _ in 0..CYCLES_MAX {
            while let Some(index) = self.try_in(&failing, &plan)?.left {
                let mut is_new = false;
                for place in [Place::BeforeLast, Place::AfterFirst] {
                    let (cycle, _) = self.cycle(index, &strengthenings(&plan, place))?;
                    is_new = is_new || fence(&mut plan, &cycle);
                }
                if self.is_over() || !is_new && !widen(&mut plan, &self.subject.program) {
                    return Ok(None);
                }
            }
            let least = self.reduced(plan.clone(), &failing)?;
            let others: Vec<u64> = (1..=self.orders.validated(all)).filter(|index| !failing.contains(index)).collect();
            let Tried { fixed, left } = self.try_in(&others, &least)?;
            match left {
                None => return self.validated(least, (failing.len() + fixed) as u64).map(Some),
                Some(index) => failing.insert(0, index),
            }
        }
        Ok(None)
    }

    /// A remedy with those alternatives only that were tried in as many orders.
    fn validated(&mut self, mut changes: Plan, tried: u64) -> Result<Remedy, RunError> {
        let orders: Vec<u64> = (1..=tried).collect();
        for place in 0..changes.len() {
            if let Some(also) = changes[place].also {
                let with = with(&changes, place, also);
                if !self.are_fixed(&orders, &with)? {
                    changes[place].also = None;
                }
            }
        }
        Ok(Remedy { changes, tried })
    }

    /// The same changes, those that order less where that is enough, without those that are not needed. Fences come to order less first:
    /// a `fence.sc` orders so much that it hides what else is missing.
    fn reduced(&mut self, mut plan: Plan, failing: &[u64]) -> Result<Plan, RunError> {
        let weaker = |change: &Change| Change { strengthening: change.strengthening.with_ordering(Ordering::AcqRel), ..change.clone() };
        let all: Plan = plan.iter().map(weaker).collect();
        if self.are_fixed(failing, &all)? {
            plan = all;
        }
        for place in 0..plan.len() {
            let mut with = plan.clone();
            with[place] = weaker(&plan[place]);
            if with != plan && self.are_fixed(failing, &with)? {
                plan = with;
            }
        }
        for place in (0..plan.len()).rev() {
            let mut without = plan.clone();
            without.remove(place);
            if self.are_fixed(failing, &without)? {
                plan = without;
            }
        }
        for place in 0..plan.len() {
            self.replace(&mut plan, place, failing)?;
        }
        Ok(plan)
    }

    /// Has an instruction that is there do what a fence does, if that is enough.
    fn replace(&mut self, plan: &mut Plan, place: usize, failing: &[u64]) -> Result<(), RunError> {
        let existing = existing(&self.subject.program, &plan[place]);
        for change in existing.fences {
            let with = with(plan, place, change);
            if self.are_fixed(failing, &with)? {
                *plan = with;
                return Ok(());
            }
        }
        for also in existing.accesses {
            let with = with(plan, place, also);
            if self.are_fixed(failing, &with)? {
                plan[place].also = Some(also);
                return Ok(());
            }
        }
        Ok(())
    }

    /// The changes of a remedy by what they fix, each with its orders: apart where each order takes changes of one group only. Each order
    /// has the number of its result, and orders with one result have one cause.
    ///
    /// # Errors
    /// Reasons outside the kernel.
    pub(super) fn causes(&mut self, failing: &[(u64, usize)], changes: &[Change]) -> Result<Vec<Cause>, RunError> {
        let mut causes: Vec<Cause> = Vec::new();
        for (index, result) in failing {
            let mut cause = Cause { changes: self.needed(*index, changes)?, orders: vec![*index], results: BTreeSet::from([*result]) };
            let is_same = |other: &Cause| !other.changes.is_disjoint(&cause.changes) || other.results.contains(result);
            let (same, others) = causes.into_iter().partition(is_same);
            causes = others;
            let same: Vec<Cause> = same;
            for mut other in same {
                cause.changes.append(&mut other.changes);
                cause.orders.append(&mut other.orders);
                cause.results.append(&mut other.results);
            }
            causes.push(cause);
        }
        let named: usize = causes.iter().map(|cause| cause.changes.len()).sum();
        if named < changes.len() {
            // Orders that do not fail without it need the rest.
            let orders = causes.into_iter().flat_map(|cause| cause.orders).collect();
            causes = vec![Cause { changes: (0..changes.len()).collect(), orders, results: BTreeSet::new() }];
        }
        causes.iter_mut().for_each(|cause| cause.orders.sort_unstable());
        causes.sort_by_key(|cause| cause.changes.first().copied());
        Ok(causes)
    }

    /// The change that alone fixes an order; all if it takes several.
    fn needed(&mut self, index: u64, changes: &[Change]) -> Result<BTreeSet<usize>, RunError> {
        for place in 0..changes.len() {
            if changes.len() > 1 && !self.is_over() && self.is_fixed(index, &changes[place..=place])? {
                return Ok(BTreeSet::from([place]));
            }
        }
        Ok((0..changes.len()).collect())
    }

    /// The order of several that shows best what changes fix, and the stale access in it.
    ///
    /// # Errors
    /// Reasons outside the kernel.
    pub(super) fn shown(&mut self, of: &[u64], changes: &[&Change]) -> Result<Option<(u64, StaleAccess)>, RunError> {
        let mut shortest = of.to_vec();
        shortest.sort_by_key(|index| self.orders.length(*index));
        let is_changed = |event: &Event| {
            let has = |change: &&Change| change.strengthening.code == event.code || change.after.contains(&event.code);
            changes.iter().any(has)
        };
        let mut best: Option<(bool, u64, StaleAccess)> = None;
        for index in shortest.into_iter().take(SHOWN_MAX) {
            let (cycle, stale) = self.cycle(index, &[])?;
            let is_on_cycle = |stale: &&StaleAccess| cycle.iter().any(|segment| segment.exit == Some(stale.event));
            let Some(stale) = stale.iter().find(is_on_cycle).or(stale.first()) else { continue };
            let is_best = is_on_cycle(&stale) && is_changed(&stale.event);
            if best.as_ref().is_none_or(|(is_changed, ..)| is_best && !is_changed) {
                best = Some((is_best, index, stale.clone()));
            }
        }
        Ok(best.map(|(_, index, stale)| (index, stale)))
    }
}

/// A plan with another change at a place.
fn with(plan: &[Change], place: usize, strengthening: Strengthening) -> Plan {
    let mut with = plan.to_vec();
    with[place].strengthening = strengthening;
    with
}

impl Change {
    /// What is tried of it.
    fn strengthenings(&self, place: Place) -> Vec<Strengthening> {
        let at = |code: &u32, strength: Strength| Strengthening { code: *code, strength, ..self.strengthening };
        match self.strengthening.strength {
            Strength::FenceBefore(Ordering::SeqCst) if place == Place::AfterFirst && !self.after.is_empty() => {
                self.after.iter().map(|first| at(first, Strength::FenceAfter(Ordering::SeqCst))).collect()
            }
            _ => vec![self.strengthening],
        }
    }
}

/// Adds what ends a cycle to a plan: fences, or if it has them, these as `fence.sc`, or if it has these, strong accesses. False if it has
/// all of that.
fn fence(plan: &mut Plan, cycle: &[Segment]) -> bool {
    let scope = scope(cycle);
    for ordering in [Ordering::AcqRel, Ordering::SeqCst] {
        let mut is_new = false;
        for segment in cycle.iter().filter(|segment| segment.entry != segment.exit) {
            let (code, strength, after) = match (segment.entry, segment.exit) {
                (entry, Some(exit)) => (exit.code, Strength::FenceBefore(ordering), entry.map(|entry| entry.code)),
                (Some(entry), None) => (entry.code, Strength::FenceAfter(ordering), None),
                (None, None) => continue,
            };
            is_new |= add(plan, Strengthening { code, strength, scope }, after);
        }
        if is_new {
            return true;
        }
    }
    let ends = cycle.iter().flat_map(|segment| [segment.entry, segment.exit]).flatten();
    ends.fold(false, |is_new, event| is_new | add(plan, Strengthening { code: event.code, strength: Strength::Relaxed, scope }, None))
}

/// Adds a change; false if the plan has it, or one that orders more.
fn add(plan: &mut Plan, new: Strengthening, after: Option<u32>) -> bool {
    let is_same = |change: &&mut Change| {
        let own = change.strengthening;
        own.code == new.code && own.with_ordering(Ordering::AcqRel).strength == new.with_ordering(Ordering::AcqRel).strength
    };
    let Some(change) = plan.iter_mut().find(is_same) else {
        plan.push(Change { strengthening: new, after: after.into_iter().collect(), also: None });
        return true;
    };
    let before = change.clone();
    change.after.extend(after);
    change.strengthening.scope = before.strengthening.scope.max(new.scope);
    if new == new.with_ordering(Ordering::SeqCst) {
        change.strengthening = change.strengthening.with_ordering(Ordering::SeqCst);
    }
    *change != before
}

/// Gives all accesses and fences a scope that includes the whole GPU. Accesses of narrower scopes may be on no cycle that is known:
/// coherence order does not relate them. False if nothing is narrower.
fn widen(plan: &mut Plan, program: &Program) -> bool {
    let mut is_new = false;
    for (code, inst) in (0..).zip(&program.code) {
        let narrow = |scope: Scope| matches!(scope, Scope::Cta | Scope::Cluster);
        let strength = match (inst.op.memory_fence(), inst.op.access()) {
            (Some((ordering, scope)), _) if narrow(scope) => Strength::Fence(ordering),
            (None, Some(access)) if access.ordering != Ordering::Weak && narrow(access.scope) => Strength::Relaxed,
            _ => continue,
        };
        is_new |= add(plan, Strengthening { code, strength, scope: Scope::Gpu }, None);
    }
    is_new
}

/// The narrowest scope that includes all threads of a cycle.
fn scope(cycle: &[Segment]) -> Scope {
    let Some(first) = cycle.first() else { return Scope::Gpu };
    let includes = |scope: &Scope| cycle.iter().all(|segment| first.by.includes(*scope, segment.by));
    [Scope::Cta, Scope::Cluster, Scope::Gpu].into_iter().find(includes).unwrap_or(Scope::Sys)
}

/// What is there and can order as much as a fence.
#[derive(Default)]
struct Existing {
    fences: Vec<Strengthening>,
    accesses: Vec<Strengthening>,
}

fn existing(program: &Program, change: &Change) -> Existing {
    let Strengthening { code, strength, scope } = change.strengthening;
    let at = |code: u32, strength: Strength| Strengthening { code, strength, scope };
    let (ordering, accesses) = match (strength, change.after.first()) {
        (Strength::FenceAfter(ordering), _) => (ordering, vec![(code, Strength::Acquire)]),
        (Strength::FenceBefore(ordering), Some(first)) if change.after.len() == 1 => {
            (ordering, vec![(code, Strength::Release), (*first, Strength::Acquire)])
        }
        (Strength::FenceBefore(ordering), _) => (ordering, vec![(code, Strength::Release)]),
        (Strength::Relaxed | Strength::Acquire | Strength::Release | Strength::Fence(_), _) => return Existing::default(),
    };
    let accesses = accesses.into_iter().filter(|(code, strength)| ordering == Ordering::AcqRel && can_be(program, *code, *strength));
    Existing {
        fences: fences_between(program, &change.after, code).into_iter().map(|code| at(code, Strength::Fence(ordering))).collect(),
        accesses: accesses.map(|(code, strength)| at(code, strength)).collect(),
    }
}

/// The fences of a kernel between some accesses and one after them in program order, which comes before them in the text of a loop.
fn fences_between(program: &Program, after: &BTreeSet<u32>, code: u32) -> Vec<u32> {
    let Some(function) = program.function_at(Pc(code)) else { return Vec::new() };
    let is_fence = |pc: &u32| program.code[*pc as usize].op.memory_fence().is_some();
    let is_after = |pc: u32, first: u32| if first < code { first < pc && pc < code } else { first < pc || pc < code };
    let is_between = |pc: &u32| after.iter().any(|first| is_after(*pc, *first));
    program.functions[function.index()].code.clone().filter(is_fence).filter(is_between).collect()
}

/// True if an access can say that it acquires, or releases.
fn can_be(program: &Program, code: u32, strength: Strength) -> bool {
    let effects = program.code[code as usize].op.effects(program);
    match strength {
        Strength::Acquire => effects.has(Effect::ReadsMemory),
        Strength::Release => effects.has(Effect::WritesMemory),
        Strength::Relaxed | Strength::FenceBefore(_) | Strength::FenceAfter(_) | Strength::Fence(_) => false,
    }
}
