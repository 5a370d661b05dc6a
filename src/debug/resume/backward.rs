//! Running backwards: stretch by stretch between snapshots, the latest first.
//!
//! `reverse-continue` runs every stretch with the watcher that a forward run would have and goes to the last stop that lies before the
//! present. Stepping back notes the instructions of what is stepped and picks the one to go to. Stretches in which the stepped warp
//! stood still are told by their snapshots and never run.

use super::judge::Judged;
use super::line::lines_from;
use super::{Halt, NextQuestion, ResumeError, SLICE};
use crate::debug::breakpoints::Event;
use crate::debug::focus::Focus;
use crate::debug::session::{Pace, Session};
use crate::debug::stop::{Goal, Reason, StepUnit};
use crate::debug::timeline::Ran;
use crate::machine::{AccessEvent, Issue, LaneMask, Observer, Place, Tick, Warp};
use crate::program::Pc;

/// An instruction of what is stepped, in the past.
#[derive(Clone, Copy)]
struct Past {
    time: Tick,
    pc: Pc,
    depth: u32,
    focus: Focus,
}

/// What to do with an instruction, seen from the present backwards.
enum Choice {
    /// Go there.
    Stop,
    /// Go on to what came before it, and remember it as the place to go to if nothing better comes.
    Better,
    /// Go on to what came before it.
    On,
    /// Go to the one remembered.
    Enough,
}

impl Session {
    pub(super) fn run_backward(&mut self, goal: &Goal, pace: &mut dyn Pace) -> Result<Halt, ResumeError> {
        match goal {
            Goal::Continue => Ok(self.continue_back(pace)),
            Goal::Instruction { count, over_calls } => {
                self.repeat_back(*count, pace, |session, pace| session.instruction_back(*over_calls, pace))
            }
            Goal::Line { count, over_calls } => self.repeat_back(*count, pace, |session, pace| session.line_back(*over_calls, pace)),
            Goal::Finish => {
                let origin = self.origin()?;
                let depth = origin.selected_depth;
                if depth == 0 {
                    return Err(ResumeError("the kernel itself is the outermost frame: nothing called it; try goto start".to_string()));
                }
                Ok(self.back_to(pace, move |past| if past.depth < depth { Choice::Stop } else { Choice::On }))
            }
            Goal::Until => {
                let here = self.origin()?;
                let back = move |past: &Past| if past.depth == here.depth && past.pc < here.pc { Choice::Stop } else { Choice::On };
                Ok(self.back_to(pace, back))
            }
            Goal::Advance { pcs, .. } => {
                let pcs = pcs.clone();
                Ok(self.back_to(pace, move |past| if pcs.contains(&past.pc) { Choice::Stop } else { Choice::On }))
            }
            Goal::Event(event) => self.back_to_event(*event, pace),
        }
    }

    fn repeat_back(
        &mut self,
        count: u64,
        pace: &mut dyn Pace,
        mut step: impl FnMut(&mut Self, &mut dyn Pace) -> Halt,
    ) -> Result<Halt, ResumeError> {
        let mut halt = Halt::because(Reason::Done);
        for _ in 0..count {
            halt = step(self, pace);
            if !matches!(halt.reasons.as_slice(), [Reason::Done]) {
                break;
            }
        }
        Ok(halt)
    }

    fn instruction_back(&mut self, over_calls: bool, pace: &mut dyn Pace) -> Halt {
        let depth = self.origin().map_or(u32::MAX, |origin| origin.depth);
        self.back_to(pace, move |past| if over_calls && past.depth > depth { Choice::On } else { Choice::Stop })
    }

    /// To the first instruction of the line that was executed before; of the present line, if the session stands inside it.
    fn line_back(&mut self, over_calls: bool, pace: &mut dyn Pace) -> Halt {
        let program = std::sync::Arc::clone(self.program());
        let origin = self.origin().ok();
        let step_by = self.settings.step_by;
        let mut found = None;
        self.back_to(pace, move |past| {
            if over_calls && origin.as_ref().is_some_and(|origin| past.depth > origin.depth) {
                return Choice::On;
            }
            let line = lines_from(&program, past.pc, step_by)(&program, past.pc);
            let key = (line, past.depth);
            match found {
                None => found = Some(key),
                Some(found) if found != key => return Choice::Enough,
                Some(_) => {}
            }
            Choice::Better
        })
    }

    fn back_to_event(&mut self, event: Event, pace: &mut dyn Pace) -> Result<Halt, ResumeError> {
        let Some(pcs) = event.instructions(self.program()) else {
            self.wanted_event = Some(event);
            let halt = self.continue_back(pace);
            self.wanted_event = None;
            return Ok(halt);
        };
        Ok(self.back_to(pace, move |past| if pcs.binary_search(&past.pc).is_ok() { Choice::Stop } else { Choice::On }))
    }

    /// Goes back through the instructions of what is stepped until `choose` is content.
    fn back_to(&mut self, pace: &mut dyn Pace, mut choose: impl FnMut(&Past) -> Choice) -> Halt {
        let now = self.time();
        let mut better: Option<Past> = None;
        let mut end = now;
        while let Some(begin) = self.stretch_before(end) {
            if !self.stood_still(begin, end) {
                let Some(pasts) = self.pasts(begin, end, pace) else { return self.interrupted(now) };
                for past in pasts.iter().rev() {
                    match choose(past) {
                        Choice::On => {}
                        Choice::Better => better = Some(*past),
                        Choice::Stop => return self.halt_at(past),
                        Choice::Enough => return self.halt_at(better.as_ref().unwrap_or(past)),
                    }
                }
            }
            end = begin;
        }
        match better {
            Some(past) => self.halt_at(&past),
            None => self.halt_at_beginning(),
        }
    }

    /// The beginning of the stretch that ends at `end`.
    pub(super) fn stretch_before(&self, end: Tick) -> Option<Tick> {
        self.timeline.snapshot_times().rev().find(|time| *time < end)
    }

    /// Whether nothing that is stepped ran in a stretch, as far as its snapshots tell.
    fn stood_still(&self, begin: Tick, end: Tick) -> bool {
        let (block, warp) = (self.focus.block, self.focus.warp);
        let own = matches!(self.settings.step_unit, StepUnit::Lane | StepUnit::Warp);
        own && self.timeline.compare(begin, end, |earlier, later| earlier.warp_stood_still(later, block, warp)).unwrap_or(false)
    }

    /// The instructions of what is stepped in a stretch; none if the user interrupts.
    fn pasts(&mut self, begin: Tick, end: Tick, pace: &mut dyn Pace) -> Option<Vec<Past>> {
        let own = self.settings.step_unit;
        let mut trace = Trace {
            block: (own != StepUnit::Grid).then_some(self.focus.block),
            warp: matches!(own, StepUnit::Lane | StepUnit::Warp).then_some(self.focus.warp),
            lanes: self.stepped_lanes(),
            lane: self.focus.lane,
            pasts: Vec::new(),
        };
        self.return_to(begin);
        while self.time() < end {
            let slice = end.min(self.time().saturating_add(SLICE));
            if self.timeline.run(slice, &mut trace) == Ran::Ended {
                break;
            }
            if self.time() < end && !pace.go_on(self.progress()) {
                return None;
            }
        }
        Some(trace.pasts)
    }

    fn halt_at(&mut self, past: &Past) -> Halt {
        self.return_to(past.time);
        self.focus = past.focus;
        Halt::because(Reason::Done)
    }

    fn halt_at_beginning(&mut self) -> Halt {
        self.return_to(0);
        Halt::because(Reason::Beginning)
    }

    /// The user interrupted a way back: the session stays where it was.
    fn interrupted(&mut self, now: Tick) -> Halt {
        self.return_to(now);
        Halt::because(Reason::Interrupted)
    }

    fn continue_back(&mut self, pace: &mut dyn Pace) -> Halt {
        let (now, focus) = (self.time(), self.focus);
        if self.watcher(None).is_idle() {
            return self.halt_at_beginning();
        }
        let mut end = now;
        while let Some(begin) = self.stretch_before(end) {
            self.return_to(begin);
            self.focus = focus;
            match self.last_stop(end, now, pace) {
                Err(()) => {
                    self.focus = focus;
                    return self.interrupted(now);
                }
                Ok(Some((time, focus, reasons))) => {
                    self.return_to(time);
                    self.focus = focus;
                    return Halt { reasons, others: None };
                }
                Ok(None) => end = begin,
            }
        }
        self.focus = focus;
        self.halt_at_beginning()
    }

    /// Runs to `end` and finds the last stop before `now`.
    fn last_stop(&mut self, end: Tick, now: Tick, pace: &mut dyn Pace) -> Result<Option<(Tick, Focus, Vec<Reason>)>, ()> {
        let focus = self.focus;
        let mut watcher = self.watcher(None);
        // What stands before the first instruction of the stretch is a stop of this one.
        watcher.passed = Tick::MAX;
        let mut last = None;
        let mut question = NextQuestion::after(self.time());
        while self.time() < end {
            let ran = self.run_watched(end.min(question.time), &mut watcher);
            let Judged { reasons, .. } = self.judge(&mut watcher, false);
            let time = reasons.iter().map(|reason| self.stop_time(reason)).max();
            if let Some(time) = time.filter(|time| *time < now) {
                last = Some((time, self.focus, reasons));
            }
            self.focus = focus;
            match ran {
                Ran::Ended => break,
                Ran::Reached | Ran::Paused if question.is_due(self.time()) && !pace.go_on(self.progress()) => return Err(()),
                Ran::Reached | Ran::Paused => {}
            }
        }
        Ok(last)
    }

    /// Where a run back stops for `reason`: before the instruction that touches a watched place.
    fn stop_time(&self, reason: &Reason) -> Tick {
        match reason {
            Reason::Watchpoint(touch) => touch.time,
            Reason::Caught { event: Event::Divergence, .. } => self.time().saturating_sub(1),
            _ => self.time(),
        }
    }
}

/// Notes the instructions of what is stepped.
struct Trace {
    block: Option<[u32; 3]>,
    warp: Option<u32>,
    lanes: LaneMask,
    /// The focused lane, kept where it takes part.
    lane: u32,
    pasts: Vec<Past>,
}

impl Observer for Trace {
    const ACCESSES: bool = false;
    const INSTRUCTIONS: bool = true;

    fn access(&mut self, _event: &AccessEvent<'_>) {}

    fn before(&mut self, issue: &Issue, _warp: &Warp) -> bool {
        let Place { pc, tick, block, warp } = issue.place;
        let counts = self.block.is_none_or(|own| own == block) && self.warp.is_none_or(|own| own == warp);
        if counts && issue.lanes & self.lanes != 0 {
            let keeps = issue.lanes & 1 << (self.lane % 32) != 0;
            let lane = if keeps { self.lane } else { issue.lanes.trailing_zeros() % 32 };
            self.pasts.push(Past { time: tick, pc, depth: issue.depth, focus: Focus { block, warp, lane, frame: 0 } });
        }
        false
    }
}
