//! Running forwards: continuing, and stepping a lane, warp, block or the grid while other warps are not scheduled.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::rc::Rc;
use std::sync::Arc;

use super::cause::{Cause, is_done};
use super::line::{LinePlace, LinePlaces, calls_around, calls_to};
use super::scheduler_lock::SchedulerLock;
use super::watcher::{StepDone, StepFilter, StepWatch, Watcher};
use super::{InterruptTimer, ResumeError, StopInfo};
use crate::base::WarpId;
use crate::debug::breakpoints::{Breakpoint, Event};
use crate::debug::eval_context::Frame;
use crate::debug::inlined;
use crate::debug::session::{InterruptCheck, LeftThread, Session};
use crate::debug::stop::{DivergentStep, Goal, Need, Others, Reason, StepUnit};
use crate::debug::timeline::Ran;
use crate::machine::{Issue, LaneMask, NullObserver, Tick};
use crate::program::{Pc, SourceLine};

/// Steps between two checks for an interrupt: a step takes some microseconds.
const STEPS: u64 = 1 << 10;

/// The position of the focused lane when a step begins.
pub(super) struct Origin {
    /// The instruction it executes next.
    pub pc: Pc,
    /// Calls in progress in its innermost frame.
    pub depth: u32,
}

impl Session {
    pub(super) fn run_forward(&mut self, goal: &Goal, interrupt: &mut dyn InterruptCheck) -> Result<StopInfo, ResumeError> {
        match goal {
            Goal::Continue => Ok(self.run_until_stop(None, interrupt)),
            Goal::Run => Ok(self.run_until_stop_after(None, None, interrupt)),
            Goal::Instruction { count, over_calls } => {
                self.repeat(*count, interrupt, |session, interrupt| session.step_instruction(*over_calls, interrupt))
            }
            Goal::Line { count, over_calls } => {
                self.repeat(*count, interrupt, |session, interrupt| session.step_line(*over_calls, interrupt))
            }
            Goal::Finish => {
                let leaves = self.leaves_selected("there is nothing to finish; try continue")?;
                let caller = self.caller_of_inlined();
                let stop_info = self.step_before(move |issue| leaves(issue.point.pc, issue.depth), interrupt);
                if let Some(caller) = caller.filter(|_| is_done(&stop_info.causes)) {
                    self.select_inlined(&caller);
                }
                Ok(stop_info)
            }
            Goal::Until => {
                let origin = self.origin()?;
                let places = LinePlaces::from(self, origin.pc);
                let here = places.in_frame(origin.pc, self.selected_inlined());
                let after_line = move |issue: &Issue| {
                    let there = places.at(issue.point.pc);
                    let is_later = issue.depth == origin.depth && issue.point.pc > origin.pc && !there.is_inside(&here);
                    let is_other = there.line.is_some() && there.line != here.line && !places.passes(issue.point.pc);
                    issue.depth < origin.depth || is_later && is_other
                };
                Ok(self.step_before(after_line, interrupt))
            }
            Goal::Advance { pcs, this_frame } => {
                let depth = self.origin()?.depth;
                let (pcs, this_frame) = (pcs.clone(), *this_frame);
                Ok(self.step_before(move |issue| pcs.contains(&issue.point.pc) || this_frame && issue.depth < depth, interrupt))
            }
            Goal::Event(event) => self.run_to_event(*event, interrupt),
        }
    }

    /// The position of the focused lane.
    pub(super) fn origin(&self) -> Result<Origin, ResumeError> {
        let group = self.eval_context().group().map_err(|error| ResumeError(error.to_string()))?;
        let depth = group.stack.as_ref().map_or(0, |frame| frame.depth);
        Ok(Origin { pc: group.pc, depth })
    }

    /// The test whether a lane has left the selected frame, which may be that of an inlined function, by its instruction and its depth.
    /// `nothing` says what is not possible for the kernel itself.
    pub(super) fn leaves_selected(&self, nothing: &str) -> Result<impl Fn(Pc, u32) -> bool + use<>, ResumeError> {
        let frame = self.eval_context().frame().map_err(|error| ResumeError(error.to_string()))?;
        let mut calls = calls_to(self, frame.position());
        calls.truncate(calls.len().saturating_sub(frame.inlined as usize));
        if frame.depth == 0 && calls.is_empty() {
            return Err(ResumeError(format!("the kernel itself is the outermost frame: {nothing}")));
        }
        let (program, data, depth, is_inlined) = (Arc::clone(self.program()), Arc::clone(&self.debug_data), frame.depth, !calls.is_empty());
        let is_outside = move |pc| inlined::has_line(&program, pc) && !calls_around(&program, &data, pc).starts_with(&calls);
        Ok(move |pc, at_depth| at_depth < depth || at_depth == depth && is_inlined && is_outside(pc))
    }

    /// The depth of the selected frame and the calls around its caller, outermost first; none if it is not the frame of an inlined
    /// function.
    fn caller_of_inlined(&self) -> Option<(u32, Vec<SourceLine>)> {
        let frame = self.eval_context().frame().ok()?;
        let mut calls = calls_to(self, frame.position());
        calls.truncate(calls.len().saturating_sub(frame.inlined as usize));
        calls.pop().map(|_| (frame.depth, calls))
    }

    /// Selects the frame with these calls around it, if the thread is in it: another inlined function may begin where one ends.
    fn select_inlined(&mut self, (depth, calls): &(u32, Vec<SourceLine>)) {
        let Ok(origin) = self.origin() else { return };
        let around = calls_to(self, origin.pc);
        if origin.depth == *depth && around.starts_with(calls) {
            self.focus.frame = (around.len() - calls.len()) as u32;
        }
    }

    fn repeat(
        &mut self,
        count: u64,
        interrupt: &mut dyn InterruptCheck,
        mut step: impl FnMut(&mut Self, &mut dyn InterruptCheck) -> Result<StopInfo, ResumeError>,
    ) -> Result<StopInfo, ResumeError> {
        let mut others: Option<Others> = None;
        let mut stop_info = StopInfo::because(Reason::Done);
        for index in 0..count {
            if index % STEPS == STEPS - 1 && !interrupt.should_continue(self) {
                return Ok(StopInfo { others, ..StopInfo::because(Reason::Interrupted) });
            }
            stop_info = match step(self, interrupt) {
                Err(_) if index > 0 => StopInfo::because(Reason::ThreadExited),
                stop_info => stop_info?,
            };
            others = add_others(others, stop_info.others);
            if !is_done(&stop_info.causes) {
                break;
            }
        }
        Ok(StopInfo { others, ..stop_info })
    }

    /// Focuses another thread where the focused one has exited, as cuda-gdb does: what is typed next is about one that is there. Where no
    /// thread is on the machine, the run goes on until a block starts, or to its end. Returns why the focus has moved.
    pub(super) fn leave_exited_thread(&mut self, stop_info: &mut StopInfo, interrupt: &mut dyn InterruptCheck) -> Option<String> {
        let (left, from) = (self.eval_context().group().err()?.to_string(), self.focus);
        if self.focus_on_present().is_none() {
            let any = StepFilter { block: None, warp: None, lanes: LaneMask::ALL };
            let started = self.run_until_stop(Some(StepWatch { filter: any, done: StepDone::Before(Box::new(|_| true)) }), interrupt);
            if !is_done(&started.causes) {
                *stop_info = started;
                return None;
            }
        }
        self.left_thread = Some(LeftThread { at: self.time(), from, to: self.focus });
        Some(left)
    }

    fn step_instruction(&mut self, over_calls: bool, interrupt: &mut dyn InterruptCheck) -> Result<StopInfo, ResumeError> {
        let depth = self.origin_of_step()?.depth;
        let stop_info = self.step_until(StepDone::After, interrupt);
        let entered = self.origin().is_ok_and(|origin| origin.depth > depth);
        if over_calls && entered && is_done(&stop_info.causes) {
            let rest = self.step_before(move |issue| issue.depth <= depth, interrupt);
            return Ok(StopInfo { others: add_others(stop_info.others, rest.others), ..rest });
        }
        Ok(stop_info)
    }

    /// Steps to another line. As in gdb, a function in the place of its call begins on the line of the call, in the frame of its caller: a
    /// step from there enters it, and `next` passes it.
    fn step_line(&mut self, over_calls: bool, interrupt: &mut dyn InterruptCheck) -> Result<StopInfo, ResumeError> {
        let origin = self.origin_of_step()?;
        let places = Rc::new(LinePlaces::from(self, origin.pc));
        let inlined = self.selected_inlined();
        let (start, here) = (self.time(), places.in_frame(origin.pc, inlined));
        if !over_calls && inlined > 0 && places.in_frame(origin.pc, inlined - 1).is_inside(&here) {
            self.focus.frame -= 1;
            return Ok(StopInfo::because(Reason::Done));
        }
        let watched = Rc::clone(&places);
        // As in gdb, a step that comes back into the middle of a line goes on to the next.
        let goes_on = matches!(self.settings.step_unit, StepUnit::Lane | StepUnit::Warp);
        let from = RefCell::new((origin.depth, Rc::clone(&here)));
        let elsewhere = move |issue: &Issue| {
            let places = &watched;
            let (depth, here) = from.borrow().clone();
            if issue.point.tick == start || over_calls && issue.depth > depth {
                return false;
            }
            let there = places.at(issue.point.pc);
            match issue.depth.cmp(&depth) {
                Ordering::Less if goes_on && places.is_within_line(issue.point.pc) => {
                    *from.borrow_mut() = (issue.depth, there);
                    false
                }
                Ordering::Less => true,
                Ordering::Greater => there.line.is_some() && !there.skipped && !places.is_before_body(issue.point.pc),
                Ordering::Equal if there.is_inside(&here) => {
                    let called = here.calls.len();
                    let is_new_line = there.call_line(called).is_some_and(|line| Some(line) != here.line);
                    is_new_line && places.begins_call(issue.point.pc, called) || !over_calls && there.line.is_some()
                }
                Ordering::Equal => {
                    let is_elsewhere = there.line != here.line || there.calls != here.calls;
                    there.line.is_some() && is_elsewhere && !places.only_passes(issue.point.pc)
                }
            }
        };
        let stop_info = self.step_before(elsewhere, interrupt);
        if is_done(&stop_info.causes)
            && let Ok(now) = self.origin()
            && now.depth == origin.depth
        {
            self.focus.frame = frame_of_call(&places, &here, now.pc);
        }
        Ok(stop_info)
    }

    /// The inlined functions that lie in the selected frame, if no function is called from it.
    pub(super) fn selected_inlined(&self) -> u32 {
        self.eval_context().frame().ok().filter(Frame::is_innermost_call).map_or(0, |frame| frame.inlined)
    }

    /// Like [`Self::origin`], but a step of a block or the grid needs no live focused lane.
    fn origin_of_step(&self) -> Result<Origin, ResumeError> {
        match (self.origin(), self.settings.step_unit) {
            (Err(_), StepUnit::Block | StepUnit::Grid) => Ok(Origin { pc: Pc(0), depth: 0 }),
            (origin, _) => origin,
        }
    }

    fn step_before(&mut self, test: impl Fn(&Issue) -> bool + 'static, interrupt: &mut dyn InterruptCheck) -> StopInfo {
        self.step_until(StepDone::Before(Box::new(test)), interrupt)
    }

    /// Steps the threads that the settings select until `done` is met.
    fn step_until(&mut self, done: StepDone, interrupt: &mut dyn InterruptCheck) -> StopInfo {
        self.run_until_stop(Some(StepWatch { filter: self.step_filter(), done }), interrupt)
    }

    /// The threads that the settings select for stepping.
    pub(super) fn step_filter(&self) -> StepFilter {
        let (block, warp) = match self.settings.step_unit {
            StepUnit::Lane | StepUnit::Warp => (Some(self.focus.block), Some(self.focus.warp)),
            StepUnit::Block => (Some(self.focus.block), None),
            StepUnit::Grid => (None, None),
        };
        StepFilter { block, warp: warp.map(WarpId::new), lanes: self.stepped_lanes() }
    }

    /// The stepped lanes: an instruction belongs to the step if one of these lanes executes it.
    fn stepped_lanes(&self) -> LaneMask {
        match (self.settings.step_unit, self.settings.divergent_step) {
            (StepUnit::Lane, _) | (StepUnit::Warp, DivergentStep::Wait) => LaneMask::of((self.focus.lane % 32) as usize),
            (StepUnit::Warp, DivergentStep::Follow) | (StepUnit::Block | StepUnit::Grid, _) => LaneMask::ALL,
        }
    }

    fn run_to_event(&mut self, event: Event, interrupt: &mut dyn InterruptCheck) -> Result<StopInfo, ResumeError> {
        self.origin()?;
        let wanted = event.instructions(self.program());
        let filter = StepFilter { block: Some(self.focus.block), warp: Some(WarpId::new(self.focus.warp)), lanes: self.stepped_lanes() };
        let done = match wanted {
            Some(pcs) => {
                StepDone::Before(Box::new(move |issue: &Issue| !issue.active.is_empty() && pcs.binary_search(&issue.point.pc).is_ok()))
            }
            None => StepDone::Never,
        };
        self.run_to_event = Some(event);
        let stop_info = self.run_until_stop(Some(StepWatch { filter, done }), interrupt);
        self.run_to_event = None;
        Ok(stop_info)
    }

    /// Runs until something stops it. If one warp is stepped, the others run only while that warp waits for them.
    pub(super) fn run_until_stop(&mut self, step: Option<StepWatch>, interrupt: &mut dyn InterruptCheck) -> StopInfo {
        self.run_until_stop_after(step, Some(self.time()), interrupt)
    }

    /// Like [`Self::run_until_stop`]; the instruction at tick `decided` is not a stop.
    fn run_until_stop_after(&mut self, step: Option<StepWatch>, decided: Option<Tick>, interrupt: &mut dyn InterruptCheck) -> StopInfo {
        let (begin, known) = (self.time(), self.known_findings());
        let stepped = step.as_ref().and_then(|step| Some((step.filter.block?, step.filter.warp?))).filter(|_| self.is_at_front());
        let need = if begin < self.recorded() { Need::Recorded } else { Need::Turn };
        let mut scheduler_lock = SchedulerLock { stepped, need };
        let mut watcher = self.watcher(step);
        watcher.line_breakpoints = if watcher.step.is_some() { self.breakpoints_here() } else { Vec::new() };
        if stepped.is_some() {
            watcher.flag_reads = Some(Arc::clone(&self.flag_reads));
            watcher.spin = self.spin;
        }
        self.lock_scheduler(&mut scheduler_lock, &mut watcher);
        watcher.decided = decided.unwrap_or(Tick::MAX);
        let mut interrupt_timer = InterruptTimer::after(begin);
        let mut ran_to;
        let causes = loop {
            let until = self.next_finding(self.time()).map_or(interrupt_timer.time, |time| time.min(interrupt_timer.time));
            let ran = self.run_watched(until, &mut watcher);
            let decision = self.decide(&mut watcher, true);
            ran_to = self.time();
            let found = self.found_since(begin, known);
            let mut caught = decision.causes;
            if ran == Ran::Launched {
                self.decide_launch(true, &mut caught);
            }
            let causes = self.stop_at_finding(found, caught, watcher.step.is_some() || ran == Ran::Ended);
            if !causes.is_empty() && ran != Ran::Ended {
                break causes;
            }
            match ran {
                Ran::Ended => break causes.into_iter().chain(self.decide_end()).collect(),
                Ran::Reached | Ran::Paused | Ran::Launched if interrupt_timer.is_due(self.time()) && !interrupt.should_continue(self) => {
                    break vec![Reason::Interrupted.into()];
                }
                Ran::Reached | Ran::Paused | Ran::Launched => {}
            }
            if let Some(issue) = decision.spinning {
                self.schedule_other(&mut scheduler_lock, &mut watcher, &issue);
            } else if decision.resumes_stepped_warp || watcher.blocked_warp.is_some() {
                self.lock_scheduler(&mut scheduler_lock, &mut watcher);
            }
        };
        self.spin = watcher.spin;
        self.watched_values = watcher.watchpoints.iter().filter_map(|watchpoint| watchpoint.known(ran_to)).collect();
        self.know_visits();
        let instructions = (self.time() - begin).saturating_sub(watcher.step_instructions);
        let others = (stepped.is_some() || scheduler_lock.need == Need::Recorded) && watcher.step.is_some() && instructions > 0;
        StopInfo { causes, others: others.then_some(Others { instructions, need: scheduler_lock.need }) }
    }

    /// The breakpoints on the line of the focused lane.
    fn breakpoints_here(&self) -> Vec<u32> {
        let Ok(origin) = self.origin() else { return Vec::new() };
        if self.breakpoints.iter().next().is_none() {
            return Vec::new();
        }
        let places = LinePlaces::from(self, origin.pc);
        let here = places.at(origin.pc).line;
        let is_here = |breakpoint: &&Breakpoint| breakpoint.pcs().iter().any(|pc| places.at(*pc).line == here);
        self.breakpoints.iter().filter(is_here).map(|breakpoint| breakpoint.number).collect()
    }

    /// Adds to `causes` the findings that were noticed at `found`. If the run has no other cause to stop, the session goes back to before
    /// that instruction, unless `stays` is set.
    fn stop_at_finding(&mut self, found: Option<Tick>, causes: Vec<Cause>, stays: bool) -> Vec<Cause> {
        let Some(time) = found else { return causes };
        if causes.is_empty() && !stays {
            self.return_to(time);
        }
        let focus = self.focus;
        let mut all = self.decide_findings(time, true);
        if !causes.is_empty() {
            self.focus = focus;
        }
        all.extend(causes);
        all
    }

    /// Runs to `until` at most; the watcher observes the run only if it has something to collect.
    pub(super) fn run_watched(&mut self, until: Tick, watcher: &mut Watcher) -> Ran {
        let pauses = self.stops_at_findings();
        let ran = if watcher.is_idle() {
            self.timeline.run_checked(until, &mut NullObserver, pauses)
        } else {
            self.timeline.run_checked(until, watcher, pauses)
        };
        if ran == Ran::Launched {
            watcher.watchpoints.iter_mut().for_each(|watchpoint| watchpoint.reread(self.machine()));
        }
        ran
    }

    /// A watcher for all breakpoints, watchpoints and catchpoints, and for a step.
    pub(super) fn watcher(&self, step: Option<StepWatch>) -> Watcher {
        let mut watcher = Watcher::new(self.time());
        self.watch_breakpoints(&mut watcher);
        watcher.divergences |= self.run_to_event == Some(Event::Divergence);
        watcher.reconvergences |= self.run_to_event == Some(Event::Reconvergence);
        watcher.mbarriers |= matches!(self.run_to_event, Some(Event::Mbarrier(..)));
        watcher.copies |= matches!(self.run_to_event, Some(Event::Async(_)));
        watcher.step = step;
        watcher
    }
}

/// The frame that a step from `here` selects at `pc`: that of the caller, where a function in the place of its call begins.
fn frame_of_call(places: &LinePlaces, here: &LinePlace, pc: Pc) -> u32 {
    let there = places.at(pc);
    let shared = there.shared_calls(here);
    if there.calls.len() == shared || !places.begins_call(pc, shared) {
        return there.hidden;
    }
    let enters = there.is_inside(here) && there.call_line(shared) == here.line;
    let shown = shared + usize::from(enters);
    places.inlined_at(pc).saturating_sub(shown) as u32
}

fn add_others(a: Option<Others>, b: Option<Others>) -> Option<Others> {
    match (a, b) {
        (Some(a), Some(b)) => Some(Others { instructions: a.instructions + b.instructions, need: b.need }),
        (a, b) => a.or(b),
    }
}
