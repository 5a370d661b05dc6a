//! The visits to source lines are counted while the session runs, and from the beginning where a breakpoint was set later.

use super::decision::Verdict;
use super::seek::Interrupted;
use super::visits::Visits;
use super::watcher::{Candidate, Watcher};
use super::{InterruptTimer, cause::Threads};
use crate::debug::breakpoints::{Breakpoint, Trigger};
use crate::debug::focus::ThreadFilter;
use crate::debug::session::{InterruptCheck, Session};
use crate::debug::timeline::Ran;
use crate::machine::{Issue, Tick};

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
                *visits = Visits::limited_by(breakpoint.limits());
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
            // Those so far are the same: `count_visits` begins anew where they are not.
            let (so_far, known) = (visits.inputs.len(), visits.known);
            visits.inputs.extend(self.timeline.inputs().iter().take_while(|(time, _)| *time < known).skip(so_far).cloned());
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
