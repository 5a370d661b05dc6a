//! Executes critical sections of one lock, which a run had in one order only, once more in the opposite order.
//!
//! A missing or too narrow fence after the first acquire of a run, or before its last release, has no effect in the order of that run and
//! shows only in the opposite order. So the run is repeated up to the first attempt to take the lock; there the warp that came first is
//! delayed until the other critical section has ended, and then runs until its own section has. The resulting schedule
//! ([`Schedule::Delayed`]) can replay the whole run.

use std::sync::Arc;

use super::launcher::Job;
use super::runner::{CaseRun, Runner};
use super::swapped_sections::SwappedSections;
use super::{HostMemory, RunError, RunOptions, run_undescribed};
use crate::base::Severity;
use crate::check::{CauseComparison, Checkers, Finding, Findings, ReversibleSections};
use crate::debug::fault::Fault;
use crate::debug::findings::{FindingText, describe_case};
use crate::machine::{Delay, Event, EventKind, EventMask, Instrumentation, Machine, Observer, Schedule, Step, Tick};
use crate::program::{Pc, Program};

/// Warp-instructions between two checks whether a warp is still delayed.
const SLICE: u64 = 1 << 12;

/// A run with two critical sections in the opposite order.
pub(in crate::debug) struct OtherOrder {
    delay: Delay,
    /// The findings of that run.
    pub findings: Findings,
    /// True if it led to a fault.
    pub is_fault: bool,
}

impl OtherOrder {
    /// The schedule that replays it.
    pub fn schedule(&self) -> Schedule {
        Schedule::Delayed(self.delay)
    }
}

/// True if the critical sections of `run` are to be executed in the opposite order.
fn should_reverse(options: &RunOptions, run: &CaseRun) -> bool {
    let is_complete = run.fault.is_none() && !run.interrupted;
    options.orders > 0 && options.schedule == Schedule::InOrder && is_complete && !run.reversible.is_empty()
}

/// Executes the pairs of critical sections of `run`, a run of the job's case, in the opposite order, within the budget of the options.
///
/// # Errors
/// Errors that do not come from the kernel.
pub(in crate::debug) fn other_orders(
    job: Job<'_>,
    run: &CaseRun,
    interrupt: &dyn Fn() -> bool,
) -> Result<(SwappedSections, Vec<OtherOrder>), RunError> {
    if !should_reverse(job.options, run) {
        return Ok((SwappedSections::default(), Vec::new()));
    }
    let mut pairs: Vec<ReversibleSections> = Vec::new();
    for pair in &run.reversible {
        if !pairs.iter().any(|known| (known.delayed, known.first) == (pair.delayed, pair.first)) {
            pairs.push(*pair);
        }
    }
    pairs.sort_by_key(|pair| (pair.launch, pair.from));
    let ticks: u64 = run.launches.iter().map(|launch| launch.ticks).sum();
    let budget = ticks.saturating_mul(u64::from(job.options.orders));
    let mut reversal = Reversal {
        program: job.program,
        host: job.options.host.as_ref(),
        budget,
        counts: SwappedSections::default(),
        other_orders: Vec::new(),
    };
    reversal.run_pairs(job, &pairs, interrupt)?;
    Ok((SwappedSections { untried: pairs.len() as u64 - reversal.counts.tried, ..reversal.counts }, reversal.other_orders))
}

/// The findings of other orders that are neither in `known`, the findings of the run, nor in an earlier order: index of the order, and
/// index of the finding in it.
pub(in crate::debug) fn new_in(program: &Program, known: &[Finding], others: &[OtherOrder]) -> Vec<(usize, usize)> {
    let (mut known, mut causes, mut new) = (known.to_vec(), CauseComparison::default(), Vec::new());
    for (order, other) in others.iter().enumerate() {
        for (index, finding) in other.findings.list().iter().enumerate().filter(|(_, finding)| finding.severity > Severity::Note) {
            if !known.iter().any(|known| causes.are_same(program, known, finding)) {
                known.push(finding.clone());
                new.push((order, index));
            }
        }
    }
    new
}

/// The texts of the findings of [`new_in`], with the schedules that replay them, and of the first fault in another order.
///
/// # Errors
/// Errors that do not come from the kernel.
pub(super) fn describe_new(
    job: Job<'_>,
    known: &[Finding],
    others: &[OtherOrder],
    interrupt: &dyn Fn() -> bool,
) -> Result<Vec<FindingText>, RunError> {
    let (new, mut texts) = (new_in(job.program, known, others), Vec::new());
    for (order, other) in others.iter().enumerate() {
        let found = new.iter().filter(|(of, _)| *of == order).map(|(_, index)| other.findings.list()[*index].clone());
        let found: Vec<Finding> = found.collect();
        if !found.is_empty() {
            let options = RunOptions { schedule: other.schedule(), ..job.options.clone() };
            let described = describe_case(job.program, job.case, &options, &found)?;
            texts.extend(described.into_iter().map(|text| with_replay(text, &other.schedule())));
        }
    }
    if let Some(other) = others.iter().find(|other| other.is_fault) {
        let fault = fault_of(job, other, interrupt)?;
        texts.extend(fault.map(|fault| with_replay(FindingText::of_fault(0, &fault), &other.schedule())));
    }
    Ok(texts)
}

/// The fault of another order.
///
/// # Errors
/// Errors that do not come from the kernel.
pub(in crate::debug) fn fault_of(job: Job<'_>, other: &OtherOrder, interrupt: &dyn Fn() -> bool) -> Result<Option<Fault>, RunError> {
    let options = RunOptions { schedule: other.schedule(), ..job.options.clone() };
    let (run, _) = run_undescribed(job.program, job.case, &options, interrupt)?;
    Ok(run.fault)
}

/// The execution of pairs in the opposite order.
struct Reversal<'a> {
    program: &'a Arc<Program>,
    host: Option<&'a HostMemory>,
    /// Warp-instructions that may still be executed.
    budget: u64,
    counts: SwappedSections,
    /// The completed runs in the opposite order.
    other_orders: Vec<OtherOrder>,
}

impl Reversal<'_> {
    /// Repeats the run up to each pair and swaps it there.
    fn run_pairs(&mut self, job: Job<'_>, pairs: &[ReversibleSections], interrupt: &dyn Fn() -> bool) -> Result<(), RunError> {
        let Some(last) = pairs.last().map(|pair| pair.launch) else { return Ok(()) };
        let mut runner = Runner::new(Job { instrumentation: Instrumentation::Nothing, ..job });
        runner.interrupt = interrupt;
        let mut checkers = Checkers::new(self.program, job.options.checks);
        let mut continues = true;
        while continues {
            continues = runner.run_next(|machine, launch| {
                let index = launch.index();
                checkers.begin(index, &machine.launch_start());
                for pair in pairs.iter().filter(|pair| pair.launch == index) {
                    if interrupt() || !self.advance(machine, pair.from, &mut checkers) {
                        break;
                    }
                    self.swap_pair(machine.clone(), checkers.clone(), pair);
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
            continues &= runner.run.launches.len() <= last && self.budget > 0;
        }
        Ok(())
    }

    /// Runs to a time; false if the run ends or the budget is used up before it.
    fn advance(&mut self, machine: &mut Machine, until: Tick, observer: &mut dyn Observer) -> bool {
        while machine.tick() < until {
            let (before, ticks) = (machine.tick(), until.saturating_since(machine.tick()).min(self.budget));
            let step = machine.run(ticks, observer);
            self.budget -= machine.tick() - before;
            if !matches!(step, Step::Budget | Step::Paused) || self.budget == 0 {
                return false;
            }
        }
        true
    }

    /// Executes a pair in the opposite order, on a machine at which the first warp is about to take the lock.
    fn swap_pair(&mut self, mut machine: Machine, mut checkers: Checkers, pair: &ReversibleSections) {
        let from = machine.tick();
        if !machine.delay_warp(pair.block, pair.warp) {
            self.counts.tried += 1;
            return;
        }
        let warp = (pair.block, pair.warp);
        let other_release = Goal { pc: pair.first.1, address: pair.address, warp, by_warp: false };
        let ended = self.run_to_goal(&mut machine, &mut checkers, other_release, true);
        if self.budget == 0 && !matches!(ended, Reached::Goal) {
            return;
        }
        self.counts.tried += 1;
        if !matches!(ended, Reached::Goal) {
            return;
        }
        let until = machine.tick();
        machine.end_delay();
        let release = Goal { pc: pair.delayed.1, address: pair.address, warp, by_warp: true };
        let ended = self.run_to_goal(&mut machine, &mut checkers, release, false);
        let delay = Delay { block: pair.block, warp: pair.warp, from, until };
        self.other_orders.push(OtherOrder { delay, findings: checkers.findings().clone(), is_fault: matches!(ended, Reached::Fault) });
    }

    /// Runs until the goal is reached; with `while_delayed`, only as long as a warp is delayed.
    fn run_to_goal(&mut self, machine: &mut Machine, checkers: &mut Checkers, goal: Goal, while_delayed: bool) -> Reached {
        let mut goal_observer = GoalObserver { checkers, goal, is_reached: false };
        while self.budget > 0 {
            let before = machine.tick();
            let step = machine.run(SLICE.min(self.budget), &mut goal_observer);
            self.budget = self.budget.saturating_sub((machine.tick() - before).max(1));
            match step {
                _ if goal_observer.is_reached => return Reached::Goal,
                _ if while_delayed && !machine.is_delaying() => return Reached::Nothing,
                Step::Budget | Step::Paused => {}
                Step::Done | Step::OverLimit(_) => return Reached::Nothing,
                // Another order may access memory that the run has not accessed.
                Step::Trapped(trap) if self.host.is_some_and(|host| host.fetch_page(machine, &trap)) => {}
                Step::Trapped(_) | Step::Deadlock(_) | Step::Livelocked(_) => return Reached::Fault,
            }
        }
        Reached::Nothing
    }
}

/// The end of a run towards a goal.
enum Reached {
    Goal,
    Fault,
    Nothing,
}

/// The release of a lock by a warp, or by any other warp.
#[derive(Clone, Copy)]
struct Goal {
    pc: Pc,
    address: u64,
    warp: (u64, u32),
    by_warp: bool,
}

/// Observes a run with checkers and pauses it at the goal.
struct GoalObserver<'a> {
    checkers: &'a mut Checkers,
    goal: Goal,
    is_reached: bool,
}

impl Observer for GoalObserver<'_> {
    fn mask(&self) -> EventMask {
        self.checkers.mask().with(EventMask::of(&[EventKind::Access]))
    }

    fn event(&mut self, event: &Event<'_>) -> bool {
        if self.checkers.mask().has(event.kind()) {
            self.checkers.event(event);
        }
        let Event::Access(access) = event else { return false };
        let Goal { pc, address, warp, by_warp } = self.goal;
        let is_warp = (access.block_id.number, access.point.warp.number()) == warp;
        let is_at_address = || access.lanes.iter().any(|lane| access.addresses[lane] == address);
        let reached = access.point.pc == pc && is_warp == by_warp && is_at_address();
        self.is_reached |= reached;
        reached
    }
}

/// The finding with the schedule that replays it.
fn with_replay(mut text: FindingText, schedule: &Schedule) -> FindingText {
    let replay = format!("in the other order of two critical sections: --schedule {schedule}");
    text.why = if text.why.is_empty() { replay } else { format!("{}; {replay}", text.why) };
    text
}
