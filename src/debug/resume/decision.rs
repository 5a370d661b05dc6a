//! Decides, while the run pauses, whether the candidates of a watcher are stops.

use super::cause::{Cause, Threads, is_done};
use super::swap::swapped_lanes;
use super::watcher::{AccessCandidate, Candidate, Watcher};
use super::watchpoint::{Watchpoint, bytes_of};
use crate::debug::breakpoints::{Breakpoint, Event, LogMessage, Occurrence, Trigger, WatchMode, barrier_number, frame_of};
use crate::debug::focus::{Extents, Focus, ThreadFilter};
use crate::debug::session::Session;
use crate::debug::shown_name;
use crate::debug::stop::{DivergentStep, Reason, StepUnit};
use crate::debug::target::Target;
use crate::debug::watched_access::{Unwritten, WatchedAccess};
use crate::machine::{AccessKind, Issue, LaneMask};
use crate::program::{ControlOp, Op, SrcKind, SyncOp};

/// The decision at a pause.
#[derive(Default)]
pub struct Decision {
    /// The causes for which the run stops; empty if it continues.
    pub causes: Vec<Cause>,
    /// Another warp is about to run, or the flag that the stepped warp waits for has changed: the stepped warp is scheduled again.
    pub resumes_stepped_warp: bool,
    /// Lanes of the stepped warp that are about to read the flag that the warp waits for.
    pub spinning: Option<Issue>,
}

/// The result of checking a breakpoint's threads and condition.
pub(super) enum Verdict {
    /// The breakpoint is not for these threads, or its condition does not hold.
    Pass,
    /// This thread hits the breakpoint.
    Hit(Focus),
    /// The condition cannot be evaluated for this thread.
    Bad(Focus, String),
}

impl Session {
    /// Registers all enabled breakpoints with a watcher.
    pub(super) fn watch_breakpoints(&self, watcher: &mut Watcher) {
        let count = self.program().code.len();
        for breakpoint in self.breakpoints.iter().filter(|breakpoint| breakpoint.enabled) {
            match &breakpoint.trigger {
                Trigger::Code(pcs) => watcher.watch_code(count, breakpoint.number, pcs.clone(), false),
                Trigger::Line(pcs) => watcher.watch_line(count, breakpoint.number, pcs.clone()),
                Trigger::Watch(target, mode) => {
                    let mut watchpoint = Watchpoint::new(Some(breakpoint.number), target.clone(), *mode, self.machine());
                    watchpoint.know(&self.watched_values, self.machine());
                    watcher.watchpoints.push(watchpoint);
                }
                Trigger::Event(Event::Divergence) => watcher.divergences = true,
                Trigger::Event(Event::Reconvergence) => watcher.reconvergences = true,
                Trigger::Event(Event::Mbarrier(..)) => watcher.mbarriers = true,
                Trigger::Event(Event::Async(_)) => watcher.copies = true,
                Trigger::Event(event) => {
                    if let Some(pcs) = event.instructions(self.program()) {
                        watcher.watch_code(count, breakpoint.number, pcs, true);
                    }
                }
            }
        }
    }

    /// Decides which of the candidates of `watcher` stop the run. With `counting`, hits are counted, log messages are printed and
    /// temporary breakpoints deleted.
    pub(super) fn decide(&mut self, watcher: &mut Watcher, counting: bool) -> Decision {
        let mut decision = Decision::default();
        for candidate in std::mem::take(&mut watcher.candidates) {
            let causes = &mut decision.causes;
            match candidate {
                Candidate::OtherWarp => decision.resumes_stepped_warp = true,
                Candidate::Spinning(issue) => decision.spinning = Some(issue),
                Candidate::Step(issue) => {
                    if causes.is_empty() {
                        self.follow(&issue);
                    }
                    let reason = if self.eval_context().group().is_ok() { Reason::Done } else { Reason::ThreadExited };
                    causes.push(reason.into());
                }
                Candidate::Code(issue) => self.decide_code(watcher, &issue, counting, causes),
                Candidate::Passing(issue) => self.pass_lines(watcher, &issue),
                Candidate::Accessed(index, candidate) => {
                    if let Some(watched) = watcher.watchpoints.get_mut(index) {
                        decision.resumes_stepped_warp |= self.decide_access(watched, candidate, counting, causes);
                    }
                }
                Candidate::Left(index, issue) => {
                    let number = watcher.watchpoints.get(index).and_then(|watched| watched.number);
                    if let Some(number) = number.filter(|_| counting) {
                        self.leave_variable(number, &issue, causes);
                    }
                }
                Candidate::Diverged(issue) => {
                    if matches!(
                        self.op_at(&issue),
                        Some(Op::Control(
                            ControlOp::Branch { .. } | ControlOp::BranchIndexed { .. } | ControlOp::Call { .. } | ControlOp::Return { .. }
                        ))
                    ) {
                        let threads = Threads { block: issue.point.block, warp: issue.point.warp.number(), lanes: issue.lanes };
                        self.decide_event(Event::Divergence, threads, counting, causes);
                    }
                }
                Candidate::Mbarrier(event) => {
                    let (act, described) = self.describe_mbarrier(&event);
                    let threads = Threads { block: event.point.block, warp: event.point.warp.number(), lanes: event.lanes };
                    self.decide_occurrence(Occurrence::Mbarrier(event.address, act), &described, threads, counting, causes);
                }
                Candidate::Copy(copy) => {
                    let (act, described) = self.describe_copy(&copy);
                    let threads = Threads { block: copy.issued.block, warp: copy.issued.warp.number(), lanes: copy.lanes };
                    self.decide_occurrence(Occurrence::Async(act), &described, threads, counting, causes);
                }
                Candidate::Reconverged(place, lanes) => {
                    let threads = Threads { block: place.block, warp: place.warp.number(), lanes };
                    self.decide_event(Event::Reconvergence, threads, counting, causes);
                }
            }
        }
        decision
    }

    /// The causes for the stop at the end of the run.
    pub(super) fn decide_end(&mut self) -> Vec<Cause> {
        let reason = self.end_reason();
        let mut causes = Vec::new();
        if let Reason::Fault(_) = &reason {
            let Focus { block, warp, lane, .. } = self.focus;
            self.decide_event(Event::Fault, Threads { block, warp, lanes: LaneMask::of((lane % 32) as usize) }, true, &mut causes);
        }
        causes.push(reason.into());
        causes
    }

    /// Decides on the beginning of the present launch.
    pub(super) fn decide_launch(&mut self, counting: bool, causes: &mut Vec<Cause>) {
        let Focus { block, .. } = Focus::first(self.machine());
        let threads = Threads { block, warp: 0, lanes: LaneMask::ALL };
        let described = format!("launch {} of {} begins: {}", self.launch() + 1, self.launches(), shown_name(self.kernel_name()));
        let catches = |breakpoint: &&Breakpoint| breakpoint.enabled && breakpoint.trigger == Trigger::Event(Event::Launch);
        let numbers: Vec<u32> = self.breakpoints.iter().filter(catches).map(|breakpoint| breakpoint.number).collect();
        for number in numbers {
            let caught = |number, _| threads.caught(Some(number), Event::Launch, Some(described.as_str().into()));
            self.decide_breakpoint(number, threads, counting, causes, caught);
        }
    }

    fn op_at(&self, issue: &Issue) -> Option<&Op> {
        self.program().code.get(issue.point.pc.index()).map(|inst| &inst.op)
    }

    fn decide_code(&mut self, watcher: &Watcher, issue: &Issue, counting: bool, causes: &mut Vec<Cause>) {
        let numbers: Vec<(u32, bool)> = watcher.numbers_at(issue.point.pc).collect();
        for (number, active_only) in numbers {
            let lanes = if active_only { issue.active } else { issue.lanes };
            let trigger = self.breakpoints.get(number).ok().map(|breakpoint| &breakpoint.trigger);
            let event = if let Some(Trigger::Event(event)) = trigger { Some(*event) } else { None };
            let is_line = matches!(trigger, Some(Trigger::Line(_)));
            if is_line && !self.begins_visit(number, issue) {
                continue;
            }
            if let Some(Event::Barrier(Some(wanted))) = event
                && self.barrier_at(issue) != Some(wanted)
            {
                continue;
            }
            if event.is_none() && watcher.ignores(number, &issue.point) {
                continue;
            }
            let threads = Threads { block: issue.point.block, warp: issue.point.warp.number(), lanes };
            let once_a_visit = self.breakpoints.get(number).is_ok_and(|breakpoint| self.stops_first_warp(breakpoint));
            let hit = |number, temporary| match event {
                Some(event) => threads.caught(Some(number), event, None),
                None => Reason::Breakpoint { number, temporary, once_a_visit }.into(),
            };
            let (before, is_first) = (causes.len(), causes.is_empty() || is_done(causes));
            let place = self.breakpoints.get(number).map_or(String::new(), |breakpoint| breakpoint.text.clone());
            self.decide_breakpoint(number, threads, counting, causes, hit);
            if event.is_none() && is_first && causes.len() > before {
                self.focus.frame = frame_of(&place, self.program(), &self.debug_data, issue.point.pc);
            }
        }
    }

    /// True if a breakpoint that has not stopped yet stops the first of several warps of a block in a visit.
    fn stops_first_warp(&self, breakpoint: &Breakpoint) -> bool {
        let is_once_a_visit = matches!(breakpoint.trigger, Trigger::Line(_)) && breakpoint.condition.is_none();
        is_once_a_visit && breakpoint.hits == 0 && breakpoint.filter == ThreadFilter::default() && Extents::of(self.machine()).warps() > 1
    }

    /// The number of the barrier that the lanes of `issue` are about to arrive at.
    fn barrier_at(&self, issue: &Issue) -> Option<u32> {
        let Some(Op::Sync(SyncOp::Barrier { id, .. })) = self.op_at(issue) else { return None };
        let SrcKind::Reg(slot) = id.kind() else { return barrier_number(self.program(), *id) };
        let warp = self.machine().block(issue.point.block)?.warps.get(issue.point.warp.index())?;
        warp.registers.b32.get(slot.in_frame(issue.frame.b32).index()).map(|register| register[issue.active.first()])
    }

    /// Decides on an operation on an mbarrier or a copy; `described` is its description.
    fn decide_occurrence(&mut self, occurrence: Occurrence, described: &str, threads: Threads, counting: bool, causes: &mut Vec<Cause>) {
        let caught = |number, event| threads.caught(number, event, Some(described.into()));
        let is_focused = (threads.block, threads.warp) == (self.focus.block, self.focus.warp);
        if let Some(event) = self.run_to_event.filter(|event| is_focused && event.matches(occurrence)) {
            self.focus = self.focus.among(threads.block, threads.warp, threads.lanes);
            causes.push(caught(None, event));
        }
        let named = |breakpoint: &Breakpoint| match breakpoint.trigger {
            Trigger::Event(event) if breakpoint.enabled && event.matches(occurrence) => Some((breakpoint.number, event)),
            _ => None,
        };
        let numbers: Vec<(u32, Event)> = self.breakpoints.iter().filter_map(named).collect();
        for (number, event) in numbers {
            self.decide_breakpoint(number, threads, counting, causes, |number, _| caught(Some(number), event));
        }
    }

    pub(super) fn decide_event(&mut self, event: Event, threads: Threads, counting: bool, causes: &mut Vec<Cause>) {
        let is_focused = (threads.block, threads.warp) == (self.focus.block, self.focus.warp);
        if self.run_to_event == Some(event) && is_focused {
            self.focus = self.focus.among(threads.block, threads.warp, threads.lanes);
            causes.push(threads.caught(None, event, None));
        }
        let catches = |breakpoint: &&Breakpoint| breakpoint.enabled && breakpoint.trigger == Trigger::Event(event);
        let numbers: Vec<u32> = self.breakpoints.iter().filter(catches).map(|breakpoint| breakpoint.number).collect();
        for number in numbers {
            let caught = |number, _| threads.caught(Some(number), event, None);
            self.decide_breakpoint(number, threads, counting, causes, caught);
        }
    }

    /// Decides on an access to the object of a watchpoint. True if the flag that the stepped warp waits for has changed.
    fn decide_access(&mut self, watched: &mut Watchpoint, candidate: AccessCandidate, counting: bool, causes: &mut Vec<Cause>) -> bool {
        if let Some((access, lanes)) = self.variable_access(watched, candidate) {
            let number = watched.number.filter(|_| !lanes.is_empty());
            if let Some(number) = number {
                let threads = Threads { block: access.by.block, warp: access.by.warp, lanes };
                self.decide_breakpoint(number, threads, counting, causes, |_, _| Cause::Accessed(access));
            }
            return false;
        }
        let Some(new) = bytes_of(&watched.target, self.machine()) else { return false };
        let before = watched.replace(new.clone());
        if watched.mode == WatchMode::Change && before == new {
            return false;
        }
        // The bytes that are read may have been written since the watchpoint read them last.
        let old = if candidate.kind == AccessKind::Read { new.clone() } else { before };
        let Some(number) = watched.number else { return true };
        let watched_access = self.watched_access(watched, candidate, old, new);
        let threads = Threads { block: watched_access.by.block, warp: watched_access.by.warp, lanes: watched_access.lanes };
        self.decide_breakpoint(number, threads, counting, causes, |_, _| Cause::Accessed(watched_access));
        false
    }

    /// An access as it is reported: for a register of several lanes, the values of the lowest lane that changed; for a compare-and-swap,
    /// the lanes that swapped.
    pub(super) fn watched_access(&self, watched: &Watchpoint, candidate: AccessCandidate, old: Vec<u8>, new: Vec<u8>) -> WatchedAccess {
        let AccessCandidate { place, kind, copy, .. } = candidate;
        let swapped = swapped_lanes(self.machine(), &candidate).filter(|_| watched.is_memory());
        let (lanes, tried) = (swapped.unwrap_or(candidate.lanes), swapped.map(|_| candidate.lanes));
        let by = Focus { block: place.block, warp: place.warp.number(), lane: lanes.first() as u32, frame: 0 };
        let (old, new) = watched.lane_bytes(lanes.first(), old, new);
        let address = match &watched.target {
            Target::Memory(target) => candidate.address.map(|accessed| (target.address, accessed)),
            Target::Register(_) | Target::Variable(_) => None,
        };
        WatchedAccess {
            number: watched.number,
            name: watched.target.name().to_string(),
            source_type: None,
            tensor: None,
            time: place.tick,
            pc: place.pc,
            by,
            lanes,
            write: kind != AccessKind::Read,
            copy,
            tried,
            address,
            old,
            new,
            unwritten: Unwritten::default(),
            written_at: None,
        }
    }

    /// Adds the cause that `make` gives for breakpoint `number` if it stops `threads`.
    fn decide_breakpoint(
        &mut self,
        number: u32,
        threads: Threads,
        counting: bool,
        causes: &mut Vec<Cause>,
        make: impl FnOnce(u32, bool) -> Cause,
    ) {
        let Ok(breakpoint) = self.breakpoints.get(number) else { return };
        let (focus, cause) = match self.check_condition(breakpoint, threads) {
            Verdict::Pass => return,
            Verdict::Bad(focus, message) => {
                // As in gdb, a condition without a value is one that holds.
                if counting && !self.count_hit(number, true) {
                    return;
                }
                (focus, Reason::BadCondition { number, message }.into())
            }
            Verdict::Hit(focus) => {
                let messages = breakpoint.message.as_ref().map(|message| self.messages(breakpoint, message, threads, focus));
                let temporary = breakpoint.temporary;
                if counting && !self.count_hit(number, messages.is_none()) {
                    return;
                }
                match messages {
                    Some(messages) => {
                        if counting {
                            self.log.extend(messages);
                        }
                        return;
                    }
                    None => (focus, make(number, temporary)),
                }
            }
        };
        if causes.is_empty() || is_done(causes) {
            self.focus = focus;
        }
        causes.push(cause);
    }

    /// The lines that a logpoint writes: one for the lanes that pass together, from `focus`; where its threads name lanes, one for each.
    fn messages(&self, breakpoint: &Breakpoint, message: &LogMessage, threads: Threads, focus: Focus) -> Vec<String> {
        let text = |focus: Focus| message.text(&self.eval_context().refocused(focus));
        let Some(lanes) = breakpoint.filter.lanes else { return vec![text(focus)] };
        let focuses = (threads.lanes & lanes).iter().map(|lane| Focus { lane: lane as u32, ..focus });
        let holds = |focus: &Focus| {
            let condition = breakpoint.condition.as_ref();
            condition.is_none_or(|condition| condition.holds(&self.eval_context().refocused(*focus)) == Ok(true))
        };
        focuses.filter(holds).map(text).collect()
    }

    pub(super) fn check_condition(&self, breakpoint: &Breakpoint, threads: Threads) -> Verdict {
        let lanes = threads.lanes & breakpoint.filter.lanes_of(threads.block, threads.warp);
        let first = self.focus.among(threads.block, threads.warp, lanes);
        let Some(condition) = breakpoint.condition.as_ref().filter(|_| !lanes.is_empty()) else {
            return if lanes.is_empty() { Verdict::Pass } else { Verdict::Hit(first) };
        };
        let others = lanes.iter().map(|lane| Focus { lane: lane as u32, ..first }).filter(|focus| *focus != first);
        for focus in std::iter::once(first).chain(others) {
            match condition.holds(&self.eval_context().refocused(focus)) {
                Ok(true) => return Verdict::Hit(focus),
                Ok(false) => {}
                Err(message) => return Verdict::Bad(focus, message),
            }
        }
        Verdict::Pass
    }

    /// Counts a hit; false if it is to be ignored. A temporary breakpoint that stops is deleted.
    fn count_hit(&mut self, number: u32, stops: bool) -> bool {
        let Ok(breakpoint) = self.breakpoints.get_mut(number) else { return false };
        breakpoint.hits += 1;
        if breakpoint.ignore > 0 {
            breakpoint.ignore -= 1;
            return false;
        }
        if breakpoint.temporary && stops {
            let _ = self.breakpoints.delete(number);
        }
        true
    }

    /// Moves the focus to the threads that were stepped, if the settings say so.
    fn follow(&mut self, issue: &Issue) {
        let (block, warp) = (issue.point.block, issue.point.warp);
        let follows = match (self.settings.step_unit, self.settings.divergent_step) {
            (StepUnit::Lane, _) | (StepUnit::Warp, DivergentStep::Wait) => {
                self.focus.frame = 0;
                return;
            }
            (StepUnit::Warp, DivergentStep::Follow) | (StepUnit::Block | StepUnit::Grid, _) => {
                self.machine().next_lanes(block, warp.number())
            }
        };
        if let Some(lanes) = follows {
            self.focus = self.focus.among(block, warp.number(), lanes);
        }
    }
}
