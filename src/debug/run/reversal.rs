//! Critical sections of one lock that a run had in one order only, executed once more in the other order.
//!
//! What a lock orders it orders by which section came first: a missing or too narrow fence after the first acquire of a run, or
//! before its last release, shows only when the sections come in another order. So the run is repeated up to the first try to take the
//! lock; there the warp is held that came first, until the section of the other statement has ended; then it runs on until its own
//! section has. The schedule that was found so is one of its own ([`Schedule::Held`]), which repeats the whole run.

use std::sync::Arc;

use super::launcher::Job;
use super::runner::{CaseRun, Runner};
use super::swapped_sections::SwappedSections;
use super::{HostMemory, RunError, RunOptions, run_undescribed};
use crate::base::Severity;
use crate::check::{Checkers, Finding, Findings, Reversible, SameCause};
use crate::debug::fault::Fault;
use crate::debug::findings::{FindingText, describe_case};
use crate::machine::{Event, EventKind, EventMask, Hold, Instrumentation, Machine, Observer, Schedule, Step, Tick};
use crate::program::{Pc, Program};

/// Warp-instructions between two looks at whether a warp is still held.
const SLICE: u64 = 1 << 12;

/// What was found where two critical sections came the other way round.
pub(in crate::debug) struct OtherOrder {
    hold: Hold,
    /// All that was found in that run.
    pub findings: Findings,
    /// Whether it led to a fault.
    pub is_fault: bool,
}

impl OtherOrder {
    /// The schedule that repeats it.
    pub fn schedule(&self) -> Schedule {
        Schedule::Held(self.hold)
    }
}

/// Whether the critical sections of `run` are run the other way round.
fn is_wanted(options: &RunOptions, run: &CaseRun) -> bool {
    let is_whole = run.fault.is_none() && !run.interrupted;
    options.orders > 0 && options.schedule == Schedule::InOrder && is_whole && !run.reversible.is_empty()
}

/// Runs the pairs of critical sections of `run`, a run of the job's case, the other way round, as far as as many more runs as the
/// options allow suffice.
///
/// # Errors
/// Reasons outside the kernel.
pub(in crate::debug) fn other_orders(
    job: Job<'_>,
    run: &CaseRun,
    interrupt: &dyn Fn() -> bool,
) -> Result<(SwappedSections, Vec<OtherOrder>), RunError> {
    if !is_wanted(job.options, run) {
        return Ok((SwappedSections::default(), Vec::new()));
    }
    let mut pairs: Vec<Reversible> = Vec::new();
    for pair in &run.reversible {
        if !pairs.iter().any(|known| (known.held, known.first) == (pair.held, pair.first)) {
            pairs.push(*pair);
        }
    }
    pairs.sort_by_key(|pair| (pair.launch, pair.from));
    let ticks: u64 = run.launches.iter().map(|launch| launch.ticks).sum();
    let budget = ticks.saturating_mul(u64::from(job.options.orders));
    let mut reversal =
        Reversal { program: job.program, host: job.options.host.as_ref(), budget, counts: SwappedSections::default(), shown: Vec::new() };
    reversal.walk(job, &pairs, interrupt)?;
    Ok((SwappedSections { left: pairs.len() as u64 - reversal.counts.tried, ..reversal.counts }, reversal.shown))
}

/// What was found in other orders and neither in the order of the run, in which `known` was, nor in an earlier one: the number of the
/// order, and that of the finding in it.
pub(in crate::debug) fn new_in(program: &Program, known: &[Finding], others: &[OtherOrder]) -> Vec<(usize, usize)> {
    let (mut known, mut same_cause, mut new) = (known.to_vec(), SameCause::default(), Vec::new());
    for (order, other) in others.iter().enumerate() {
        for (index, finding) in other.findings.list().iter().enumerate().filter(|(_, finding)| finding.severity > Severity::Note) {
            if !known.iter().any(|known| same_cause.holds(program, known, finding)) {
                known.push(finding.clone());
                new.push((order, index));
            }
        }
    }
    new
}

/// The texts of what [`new_in`] counts, with how each is replayed, and of the first fault of an other order.
///
/// # Errors
/// Reasons outside the kernel.
pub(super) fn describe_new(
    job: Job<'_>,
    known: &[Finding],
    others: &[OtherOrder],
    interrupt: &dyn Fn() -> bool,
) -> Result<Vec<FindingText>, RunError> {
    let (new, mut texts) = (new_in(job.program, known, others), Vec::new());
    for (order, other) in others.iter().enumerate() {
        let own = new.iter().filter(|(of, _)| *of == order).map(|(_, index)| other.findings.list()[*index].clone());
        let own: Vec<Finding> = own.collect();
        if !own.is_empty() {
            let options = RunOptions { schedule: other.schedule(), ..job.options.clone() };
            let described = describe_case(job.program, job.case, &options, &own)?;
            texts.extend(described.into_iter().map(|text| with_replay(text, &other.schedule())));
        }
    }
    if let Some(other) = others.iter().find(|other| other.is_fault) {
        let fault = fault_of(job, other, interrupt)?;
        texts.extend(fault.map(|fault| with_replay(FindingText::of_fault(0, &fault), &other.schedule())));
    }
    Ok(texts)
}

/// The fault that an other order led to.
///
/// # Errors
/// Reasons outside the kernel.
pub(in crate::debug) fn fault_of(job: Job<'_>, other: &OtherOrder, interrupt: &dyn Fn() -> bool) -> Result<Option<Fault>, RunError> {
    let options = RunOptions { schedule: other.schedule(), ..job.options.clone() };
    let (run, _) = run_undescribed(job.program, job.case, &options, interrupt)?;
    Ok(run.fault)
}

/// Pairs that are executed in the other order.
struct Reversal<'a> {
    program: &'a Arc<Program>,
    host: Option<&'a HostMemory>,
    /// Warp-instructions that may be executed.
    budget: u64,
    counts: SwappedSections,
    /// What each hold showed.
    shown: Vec<OtherOrder>,
}

impl Reversal<'_> {
    /// Repeats the run up to each pair in turn.
    fn walk(&mut self, job: Job<'_>, pairs: &[Reversible], interrupt: &dyn Fn() -> bool) -> Result<(), RunError> {
        let Some(last) = pairs.last().map(|pair| pair.launch) else { return Ok(()) };
        let mut runner = Runner::new(Job { instrumentation: Instrumentation::Nothing, ..job });
        runner.interrupt = interrupt;
        let mut checkers = Checkers::new(self.program, job.options.checks);
        let mut goes_on = true;
        while goes_on {
            goes_on = runner.run_next(|machine, launch| {
                let index = launch.index();
                checkers.begin(index, &machine.launch_start());
                for pair in pairs.iter().filter(|pair| pair.launch == index) {
                    if interrupt() || !self.advance(machine, pair.from, &mut checkers) {
                        break;
                    }
                    self.branch(machine.clone(), checkers.clone(), pair);
                }
                if index == last {
                    return None;
                }
                let before = machine.tick();
                let fault = launch.run(machine, &mut checkers);
                self.budget = self.budget.saturating_sub(machine.tick() - before);
                checkers.end(&machine.launch_end(), fault.as_ref().map(|fault| fault.id));
                fault
            })?;
            goes_on &= runner.run.launches.len() <= last && self.budget > 0;
        }
        Ok(())
    }

    /// Runs to a time; false if that cannot be.
    fn advance(&mut self, machine: &mut Machine, until: Tick, observer: &mut dyn Observer) -> bool {
        while machine.tick() < until {
            let (before, left) = (machine.tick(), until.saturating_since(machine.tick()).min(self.budget));
            let step = machine.run(left, observer);
            self.budget -= machine.tick() - before;
            if !matches!(step, Step::Budget | Step::Paused) || self.budget == 0 {
                return false;
            }
        }
        true
    }

    /// Holds the warp of a pair that stands before its lock.
    fn branch(&mut self, mut machine: Machine, mut checkers: Checkers, pair: &Reversible) {
        let from = machine.tick();
        if !machine.hold(pair.block, pair.warp) {
            self.counts.tried += 1;
            return;
        }
        let warp = (pair.block, pair.warp);
        let others = Goal { pc: pair.first.1, address: pair.address, warp, is_of_warp: false };
        let ended = self.reach(&mut machine, &mut checkers, others, true);
        if self.budget == 0 && !matches!(ended, Reached::Goal) {
            return;
        }
        self.counts.tried += 1;
        if !matches!(ended, Reached::Goal) {
            return;
        }
        let until = machine.tick();
        machine.end_hold();
        let own = Goal { pc: pair.held.1, address: pair.address, warp, is_of_warp: true };
        let ended = self.reach(&mut machine, &mut checkers, own, false);
        let hold = Hold { block: pair.block, warp: pair.warp, from, until };
        self.shown.push(OtherOrder { hold, findings: checkers.findings().clone(), is_fault: matches!(ended, Reached::Fault) });
    }

    /// Runs until the goal is reached; with `holds` for as long as a warp is held.
    fn reach(&mut self, machine: &mut Machine, checkers: &mut Checkers, goal: Goal, holds: bool) -> Reached {
        let mut director = Director { checkers, goal, is_reached: false };
        while self.budget > 0 {
            let before = machine.tick();
            let step = machine.run(SLICE.min(self.budget), &mut director);
            self.budget = self.budget.saturating_sub((machine.tick() - before).max(1));
            match step {
                _ if director.is_reached => return Reached::Goal,
                _ if holds && !machine.is_holding() => return Reached::Nothing,
                Step::Budget | Step::Paused => {}
                Step::Done | Step::OverLimit(_) => return Reached::Nothing,
                // Another order may come to memory that the run has not touched.
                Step::Trapped(trap) if self.host.is_some_and(|host| host.take(machine, &trap)) => {}
                Step::Trapped(_) | Step::Deadlock(_) | Step::Livelocked(_) => return Reached::Fault,
            }
        }
        Reached::Nothing
    }
}

/// How a part of a run ended.
enum Reached {
    Goal,
    Fault,
    Nothing,
}

/// The release of a lock by a warp, or by any other.
#[derive(Clone, Copy)]
struct Goal {
    pc: Pc,
    address: u64,
    warp: (u64, u32),
    is_of_warp: bool,
}

/// The checkers, and a pause where the goal is reached.
struct Director<'a> {
    checkers: &'a mut Checkers,
    goal: Goal,
    is_reached: bool,
}

impl Observer for Director<'_> {
    fn mask(&self) -> EventMask {
        self.checkers.mask().with(EventMask::of(&[EventKind::Access]))
    }

    fn event(&mut self, event: &Event<'_>) -> bool {
        if self.checkers.mask().has(event.kind()) {
            self.checkers.event(event);
        }
        let Event::Access(access) = event else { return false };
        let Goal { pc, address, warp, is_of_warp } = self.goal;
        let is_warp = (access.block_id.number, access.place.warp.number()) == warp;
        let is_there = || access.lanes.iter().any(|lane| access.addresses[lane] == address);
        let reached = access.place.pc == pc && is_warp == is_of_warp && is_there();
        self.is_reached |= reached;
        reached
    }
}

/// The finding with the schedule that shows it.
fn with_replay(mut text: FindingText, schedule: &Schedule) -> FindingText {
    let replay = format!("in the other order of two critical sections: --schedule {schedule}");
    text.why = if text.why.is_empty() { replay } else { format!("{}; {replay}", text.why) };
    text
}
