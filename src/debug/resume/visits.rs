//! Breakpoints on lines of the source stop once for each block and visit.
//!
//! The n-th visit of a block to a line begins when the first of its threads comes there for the n-th time; the other threads that come
//! there for the n-th time belong to the same visit. With a condition it begins where that first holds. Passes are counted from the
//! beginning of the launch, so that a visit begins at the same instruction in whichever direction the session runs and whenever the
//! breakpoint was set: what was executed before that is executed again, once.

use std::collections::{BTreeMap, BTreeSet};

use super::decision::Verdict;
use super::seek::Interrupted;
use super::watcher::{Candidate, Watcher};
use super::{InterruptTimer, cause::Threads};
use crate::debug::breakpoints::{Breakpoint, Trigger};
use crate::debug::focus::ThreadFilter;
use crate::debug::session::{InterruptCheck, Session};
use crate::debug::timeline::{Input, Ran};
use crate::machine::{Issue, IssuePoint, LANES, LaneMask, Machine, Tick};

/// The visits to the line of a breakpoint.
#[derive(Default)]
pub(in crate::debug) struct Visits {
    /// The condition and the threads of the breakpoint.
    limits: (Option<String>, ThreadFilter),
    /// The inputs of the run before `known`.
    inputs: Vec<(Tick, Input)>,
    /// All passes before this time are counted.
    known: Tick,
    launch: usize,
    /// How often each lane has passed, by block and warp.
    passes: BTreeMap<([u32; 3], u32), [u32; LANES]>,
    /// The visits that have begun, by block.
    begun: BTreeSet<([u32; 3], u32)>,
    /// The times at which visits begin.
    beginnings: BTreeSet<Tick>,
}

impl Visits {
    /// Counts a pass of `lanes` at `point`; true if a visit begins there. `holds` says whether the condition does.
    fn pass(&mut self, (machine, launch): (&Machine, usize), point: &IssuePoint, lanes: LaneMask, holds: impl FnOnce() -> bool) -> bool {
        if point.tick < self.known {
            return self.beginnings.contains(&point.tick);
        }
        self.known = point.tick + 1;
        if self.launch != launch {
            (self.launch, self.passes, self.begun) = (launch, BTreeMap::new(), BTreeSet::new());
        }
        let warp = (point.block, point.warp.number());
        if !self.passes.contains_key(&warp) {
            self.passes.retain(|(block, _), _| machine.block(*block).is_some());
            self.begun.retain(|(block, _)| machine.block(*block).is_some());
        }
        let passes = self.passes.entry(warp).or_insert([0; LANES]);
        lanes.iter().for_each(|lane| passes[lane] = passes[lane].saturating_add(1));
        let visit = (point.block, lanes.iter().map(|lane| passes[lane]).max().unwrap_or(0));
        let begins = !self.begun.contains(&visit) && holds();
        if begins {
            self.begun.insert(visit);
            self.beginnings.insert(point.tick);
        }
        begins
    }
}

impl Breakpoint {
    fn limits(&self) -> (Option<String>, ThreadFilter) {
        (self.condition.as_ref().map(|condition| condition.text().to_string()), self.filter)
    }

    fn counts_visits(&self) -> bool {
        self.enabled && matches!(self.trigger, Trigger::Line(_))
    }
}

impl Session {
    /// Counts the visits to the lines of breakpoints up to the present.
    pub(super) fn count_visits(&mut self, interrupt: &mut dyn InterruptCheck) -> Result<(), Interrupted> {
        let breakpoints = &self.breakpoints;
        self.visits.retain(|number, _| breakpoints.get(*number).is_ok());
        let (now, count) = (self.time(), self.program().code.len());
        let mut watcher = Watcher::new(now);
        let mut from = now;
        for breakpoint in self.breakpoints.iter().filter(|breakpoint| breakpoint.counts_visits()) {
            let visits = self.visits.entry(breakpoint.number).or_default();
            let inputs = self.timeline.inputs().iter().take_while(|(time, _)| *time < visits.known);
            if visits.limits != breakpoint.limits() || !visits.inputs.iter().eq(inputs) {
                *visits = Visits { limits: breakpoint.limits(), ..Visits::default() };
            }
            from = from.min(visits.known);
            watcher.watch_code(count, breakpoint.number, breakpoint.pcs().to_vec(), false);
        }
        watcher.decided = Tick::MAX;
        let counted = if from < now { self.count_passes(from, &mut watcher, interrupt) } else { Ok(()) };
        if counted.is_ok() {
            self.know_visits();
        }
        counted
    }

    /// Executes from `from` to the present again, and counts what `watcher` collects.
    fn count_passes(&mut self, from: Tick, watcher: &mut Watcher, interrupt: &mut dyn InterruptCheck) -> Result<(), Interrupted> {
        let (now, focus) = (self.time(), self.focus);
        self.return_to(from);
        let mut interrupt_timer = InterruptTimer::after(self.time());
        let mut result = Ok(());
        while self.time() < now {
            let ran = self.timeline.run(now.min(interrupt_timer.time), watcher);
            for candidate in std::mem::take(&mut watcher.candidates) {
                if let Candidate::Code(issue) = candidate {
                    self.pass_lines(watcher, &issue);
                }
            }
            if ran == Ran::Ended {
                break;
            }
            if interrupt_timer.is_due(self.time()) && !interrupt.should_continue(self) {
                result = Err(Interrupted);
                break;
            }
        }
        self.return_to(now);
        self.focus = focus;
        result
    }

    /// Counts a pass for all breakpoints at an instruction.
    pub(super) fn pass_lines(&mut self, watcher: &Watcher, issue: &Issue) {
        for (number, _) in watcher.numbers_at(issue.point.pc).collect::<Vec<_>>() {
            self.begins_visit(number, issue);
        }
    }

    /// All passes up to the present are counted by the breakpoints that watch the run.
    pub(super) fn know_visits(&mut self) {
        let now = self.time();
        for breakpoint in self.breakpoints.iter().filter(|breakpoint| breakpoint.counts_visits()) {
            let Some(visits) = self.visits.get_mut(&breakpoint.number) else { continue };
            visits.known = visits.known.max(now);
            visits.inputs = self.timeline.inputs().iter().take_while(|(time, _)| *time < visits.known).cloned().collect();
        }
    }

    /// Counts a pass of the lanes of `issue`; true if a visit begins there that stops breakpoint `number`.
    pub(super) fn begins_visit(&mut self, number: u32, issue: &Issue) -> bool {
        let Some(mut visits) = self.visits.remove(&number) else { return false };
        let begins = self.breakpoints.get(number).is_ok_and(|breakpoint| {
            let threads = Threads { block: issue.point.block, warp: issue.point.warp.number(), lanes: issue.lanes };
            let lanes = threads.lanes & breakpoint.filter.lanes_of(threads.block, threads.warp);
            let holds = || !matches!(self.check_condition(breakpoint, threads), Verdict::Pass);
            !lanes.is_empty() && visits.pass((self.machine(), self.launch()), &issue.point, lanes, holds)
        });
        self.visits.insert(number, visits);
        begins
    }
}
