//! Running backwards: interval by interval between snapshots, the latest first.
//!
//! `reverse-continue` runs every interval with the watcher that a forward run would have and goes to the last stop before the present.
//! A reverse step records the instructions of the stepped threads and chooses the one to go to. Intervals in which the stepped warp
//! did not run are recognized by their snapshots and never run.

use super::cause::{Caught, Cause, is_done};
use super::decision::Decision;
use super::line::LinePlaces;
use super::seek::Interrupted;
use super::watcher::StepFilter;
use super::{InterruptTimer, ResumeError, StopInfo};
use crate::base::WarpId;
use crate::debug::breakpoints::Event;
use crate::debug::focus::Focus;
use crate::debug::session::{InterruptCheck, Session};
use crate::debug::stop::{Goal, Reason};
use crate::debug::timeline::Ran;
use crate::machine::{self, EventKind, EventMask, IssuePoint, Issues, Observer, Tick};
use crate::program::Pc;

/// An instruction that a stepped thread executed before the present.
#[derive(Clone, Copy)]
pub(super) struct EarlierInstruction {
    pub time: Tick,
    pub pc: Pc,
    pub depth: u32,
    pub focus: Focus,
}

/// A stop before the present.
struct EarlierStop {
    time: Tick,
    focus: Focus,
    causes: Vec<Cause>,
}

/// What to do at an instruction when going backwards.
pub(super) enum Choice {
    /// Go to this instruction.
    Stop,
    /// Remember this instruction and continue with the one before it.
    Remember,
    /// Continue with the instruction before it.
    Continue,
    /// Go to the remembered instruction.
    StopAtRemembered,
}

impl Session {
    pub(super) fn run_backward(&mut self, goal: &Goal, interrupt: &mut dyn InterruptCheck) -> Result<StopInfo, ResumeError> {
        match goal {
            Goal::Continue | Goal::Run => Ok(self.continue_back(interrupt)),
            Goal::Instruction { count, over_calls } => Ok(self.instructions_back(*count, *over_calls, interrupt)),
            Goal::Line { count, over_calls } => Ok(self.lines_back(*count, *over_calls, interrupt)),
            Goal::Finish => {
                let leaves = self.leaves_selected("nothing called it; try goto start")?;
                Ok(self.back_to(interrupt, move |past| if leaves(past.pc, past.depth) { Choice::Stop } else { Choice::Continue }))
            }
            Goal::Until => {
                let here = self.origin()?;
                let back = move |past: &EarlierInstruction| {
                    if past.depth == here.depth && past.pc < here.pc { Choice::Stop } else { Choice::Continue }
                };
                Ok(self.back_to(interrupt, back))
            }
            Goal::Advance { pcs, .. } => {
                let pcs = pcs.clone();
                Ok(self.back_to(interrupt, move |past| if pcs.contains(&past.pc) { Choice::Stop } else { Choice::Continue }))
            }
            Goal::Event(event) => self.back_to_event(*event, interrupt),
        }
    }

    fn lines_back(&mut self, count: u64, over_calls: bool, interrupt: &mut dyn InterruptCheck) -> StopInfo {
        let mut stop_info = StopInfo::because(Reason::Done);
        for index in 0..count {
            if index > 0 && !interrupt.should_continue(self) {
                return StopInfo::because(Reason::Interrupted);
            }
            stop_info = self.line_back(over_calls, interrupt);
            if !is_done(&stop_info.causes) {
                break;
            }
        }
        stop_info
    }

    fn instructions_back(&mut self, count: u64, over_calls: bool, interrupt: &mut dyn InterruptCheck) -> StopInfo {
        let depth = self.origin().map_or(u32::MAX, |origin| origin.depth);
        let mut remaining = count;
        self.back_to(interrupt, move |past| {
            if over_calls && past.depth > depth {
                return Choice::Continue;
            }
            remaining = remaining.saturating_sub(1);
            if remaining == 0 { Choice::Stop } else { Choice::Continue }
        })
    }

    /// Goes to the first instruction of the previously executed line, or of the present line if the session is inside it.
    fn line_back(&mut self, over_calls: bool, interrupt: &mut dyn InterruptCheck) -> StopInfo {
        let origin = self.origin().ok();
        let places = LinePlaces::from(self, origin.as_ref().map_or(Pc(0), |origin| origin.pc));
        let here = origin.as_ref().map(|origin| places.in_frame(origin.pc, self.selected_inlined()));
        let kernel = self.machine().config().kernel;
        // A step into a function goes past what fetches its parameters, so one back out of it does too.
        let is_header = |places: &LinePlaces, pc: Pc| places.is_before_body(pc) && places.function_at(pc) != Some(kernel);
        let begins_in_header = origin.as_ref().is_some_and(|origin| is_header(&places, origin.pc));
        let mut found = None;
        self.back_to(interrupt, move |past| {
            if over_calls && origin.as_ref().is_some_and(|origin| past.depth > origin.depth) {
                return Choice::Continue;
            }
            let there = places.at(past.pc);
            // What compilers add between lines is of none.
            let is_between = places.passes(past.pc) || !begins_in_header && is_header(&places, past.pc);
            if there.line.is_none() || is_between {
                return Choice::Continue;
            }
            let is_inside = here.as_ref().is_some_and(|here| there.is_inside(here));
            if over_calls && is_inside || there.skipped && origin.as_ref().is_some_and(|origin| past.depth > origin.depth) {
                return Choice::Continue;
            }
            let key = (there.line, there.calls.clone(), past.depth);
            match found {
                None => found = Some(key),
                Some(ref found) if *found != key => return Choice::StopAtRemembered,
                Some(_) => {}
            }
            Choice::Remember
        })
    }

    fn back_to_event(&mut self, event: Event, interrupt: &mut dyn InterruptCheck) -> Result<StopInfo, ResumeError> {
        let Some(pcs) = event.instructions(self.program()) else {
            self.run_to_event = Some(event);
            let stop_info = self.continue_back(interrupt);
            self.run_to_event = None;
            return Ok(stop_info);
        };
        Ok(self.back_to(interrupt, move |past| if pcs.binary_search(&past.pc).is_ok() { Choice::Stop } else { Choice::Continue }))
    }

    /// Goes back through the instructions of the stepped threads to the one that `choose` selects, or to a stop after it.
    fn back_to(&mut self, interrupt: &mut dyn InterruptCheck, choose: impl FnMut(&EarlierInstruction) -> Choice) -> StopInfo {
        let (now, focus) = (self.time(), self.focus);
        let Ok(chosen) = self.choose_past(interrupt, choose) else { return self.interrupted(now, focus) };
        let bound = chosen.map(|past| past.time);
        match self.stop_between(bound, now, interrupt) {
            Err(Interrupted) => self.interrupted(now, focus),
            Ok(Some(stop)) => self.halt_at_stop(stop),
            Ok(None) => {
                self.return_to(bound.unwrap_or(Tick::START));
                self.focus = chosen.map_or(Focus { frame: 0, ..focus }, |past| past.focus);
                StopInfo::because(if chosen.is_some() { Reason::Done } else { Reason::Beginning })
            }
        }
    }

    /// The earlier instruction that `choose` selects, if any.
    pub(super) fn choose_past(
        &mut self,
        interrupt: &mut dyn InterruptCheck,
        mut choose: impl FnMut(&EarlierInstruction) -> Choice,
    ) -> Result<Option<EarlierInstruction>, Interrupted> {
        let now = self.time();
        let mut remembered: Option<EarlierInstruction> = None;
        let mut end = now;
        while let Some(begin) = self.interval_before(end) {
            if !self.is_unchanged(begin, end) {
                for past in self.earlier_instructions(begin, end, interrupt)?.iter().rev() {
                    match choose(past) {
                        Choice::Continue => {}
                        Choice::Remember => remembered = Some(*past),
                        Choice::Stop => return Ok(Some(*past)),
                        Choice::StopAtRemembered => return Ok(remembered),
                    }
                }
            }
            end = begin;
        }
        Ok(remembered)
    }

    /// The beginning of the interval that ends at `end`.
    pub(super) fn interval_before(&self, end: Tick) -> Option<Tick> {
        self.timeline.snapshot_times().rev().find(|time| *time < end)
    }

    /// True if the snapshots of an interval show that no stepped thread ran in it.
    fn is_unchanged(&self, begin: Tick, end: Tick) -> bool {
        let StepFilter { block: Some(block), warp: Some(warp), .. } = self.step_filter() else { return false };
        self.timeline.compare(begin, end, |earlier, later| earlier.is_warp_unchanged(later, block, warp.number())).unwrap_or(false)
    }

    /// The instructions that the stepped threads execute in an interval.
    fn earlier_instructions(
        &mut self,
        begin: Tick,
        end: Tick,
        interrupt: &mut dyn InterruptCheck,
    ) -> Result<Vec<EarlierInstruction>, Interrupted> {
        let mut trace = Trace { filter: self.step_filter(), lane: self.focus.lane, earlier_instructions: Vec::new() };
        self.return_to(begin);
        self.replay(end, &mut trace, interrupt, |_, _| false)?;
        Ok(trace.earlier_instructions)
    }

    /// Goes to a stop before the present. The breakpoints that were hit count it; temporary ones are deleted.
    fn halt_at_stop(&mut self, stop: EarlierStop) -> StopInfo {
        self.return_to(stop.time);
        self.focus = stop.focus;
        let mut hit: Vec<u32> = stop.causes.iter().filter_map(Cause::hit).collect();
        hit.sort_unstable();
        hit.dedup();
        hit.into_iter().for_each(|number| self.breakpoints.count_hit(number));
        StopInfo { causes: stop.causes, others: None }
    }

    /// Returns to `now` after the user interrupted a run backwards.
    fn interrupted(&mut self, now: Tick, focus: Focus) -> StopInfo {
        self.return_to(now);
        self.focus = focus;
        StopInfo::because(Reason::Interrupted)
    }

    fn continue_back(&mut self, interrupt: &mut dyn InterruptCheck) -> StopInfo {
        let (now, focus) = (self.time(), self.focus);
        match self.stop_between(None, now, interrupt) {
            Err(Interrupted) => self.interrupted(now, focus),
            Ok(Some(stop)) => self.halt_at_stop(stop),
            Ok(None) => {
                self.return_to(Tick::START);
                StopInfo::because(Reason::Beginning)
            }
        }
    }

    /// The last stop before `now` and after `bound`. Keeps the focused thread; the time of the session is unspecified afterwards.
    fn stop_between(
        &mut self,
        bound: Option<Tick>,
        now: Tick,
        interrupt: &mut dyn InterruptCheck,
    ) -> Result<Option<EarlierStop>, Interrupted> {
        // A frame that is selected need not be there any more.
        self.focus.frame = 0;
        let finding = self.last_finding(bound, now);
        let found = self.last_breakpoint(finding.or(bound), now, interrupt)?;
        if found.is_some() {
            return Ok(found);
        }
        let focus = self.focus;
        let stop = finding.map(|time| EarlierStop {
            time,
            causes: self.decide_findings(time, false),
            focus: std::mem::replace(&mut self.focus, focus),
        });
        Ok(stop.filter(|stop| !stop.causes.is_empty()))
    }

    /// Like [`Self::stop_between`], without stops at findings.
    fn last_breakpoint(
        &mut self,
        bound: Option<Tick>,
        now: Tick,
        interrupt: &mut dyn InterruptCheck,
    ) -> Result<Option<EarlierStop>, Interrupted> {
        if self.watcher(None).is_idle() {
            return Ok(None);
        }
        let mut end = now;
        while let Some(begin) = self.interval_before(end).filter(|_| bound.is_none_or(|bound| end > bound + 1)) {
            self.return_to(begin);
            let stop = self.last_stop(end, now, interrupt)?;
            if let Some(stop) = stop.filter(|stop| bound.is_none_or(|bound| stop.time > bound)) {
                return Ok(Some(stop));
            }
            end = begin;
        }
        Ok(None)
    }

    /// Runs to `end` and finds the last stop before `now`.
    fn last_stop(&mut self, end: Tick, now: Tick, interrupt: &mut dyn InterruptCheck) -> Result<Option<EarlierStop>, Interrupted> {
        let focus = self.focus;
        let mut watcher = self.watcher(None);
        // A breakpoint at the first instruction of the interval is a stop of this interval.
        watcher.decided = Tick::MAX;
        let mut last: Option<EarlierStop> = None;
        let mut interrupt_timer = InterruptTimer::after(self.time());
        while self.time() < end {
            let ran = self.run_watched(end.min(interrupt_timer.time), &mut watcher);
            let Decision { mut causes, .. } = self.decide(&mut watcher, false);
            if ran == Ran::Launched {
                self.decide_launch(false, &mut causes);
            }
            let found = std::mem::replace(&mut self.focus, focus);
            let time = causes.iter().map(|cause| self.stop_time(cause)).max();
            if let Some(time) = time.filter(|time| *time < now) {
                match &mut last {
                    Some(last) if last.time == time => last.causes.extend(causes),
                    _ => last = Some(EarlierStop { time, focus: found, causes }),
                }
            }
            match ran {
                Ran::Ended => break,
                Ran::Reached | Ran::Paused | Ran::Launched if interrupt_timer.is_due(self.time()) && !interrupt.should_continue(self) => {
                    return Err(Interrupted);
                }
                Ran::Reached | Ran::Paused | Ran::Launched => {}
            }
        }
        Ok(last)
    }

    /// The time at which a run backwards stops for `cause`: before the instruction that accesses a watched object.
    fn stop_time(&self, cause: &Cause) -> Tick {
        match cause {
            Cause::Accessed(watched_access) => watched_access.copy.map_or(watched_access.time, |(_, time)| time),
            Cause::Caught(Caught { event: Event::Divergence, .. }) => self.time().saturating_sub(1),
            Cause::Caught(_) | Cause::Other(_) => self.time(),
        }
    }
}

/// Collects the instructions of the stepped threads.
struct Trace {
    filter: StepFilter,
    /// The focused lane: the recorded thread, if that lane executes the instruction.
    lane: u32,
    earlier_instructions: Vec<EarlierInstruction>,
}

impl Observer for Trace {
    fn mask(&self) -> EventMask {
        EventMask::of(&[EventKind::Before])
    }

    fn issues(&mut self, block: [u32; 3], warp: WarpId) -> Issues {
        if self.filter.includes(block, warp) { Issues::All } else { Issues::None }
    }

    fn event(&mut self, event: &machine::Event<'_>) -> bool {
        let machine::Event::Before(issue, ..) = event else { return false };
        let IssuePoint { pc, tick, block, warp } = issue.point;
        if self.filter.matches(&issue.point, issue.lanes) {
            let executes = issue.lanes.contains(self.lane as usize % 32);
            let lane = if executes { self.lane } else { issue.lanes.first() as u32 };
            self.earlier_instructions.push(EarlierInstruction {
                time: tick,
                pc,
                depth: issue.depth,
                focus: Focus { block, warp: warp.number(), lane, frame: 0 },
            });
        }
        false
    }
}
