//! Running, forwards and backwards, until there is a reason to stop.
//!
//! Forwards, a [`watcher`] collects candidates for a stop and the machine pauses there; [`decision`] checks each of them with access to
//! the whole machine, and usually the run continues. Backwards, the interval between two snapshots is run forwards in the same way,
//! and the session goes to the latest stop before the present; if there is none, the interval before it is next. So both directions
//! stop at the same instructions.

mod backward;
mod cause;
mod count_visits;
mod decision;
mod describe;
mod flags;
mod forward;
mod found;
mod history;
mod last_known;
mod line;
mod scheduler_lock;
mod seek;
mod swap;
mod tensor_given;
mod unwritten;
mod variable;
mod visits;
mod watched;
mod watcher;
mod watchpoint;

use super::focus::Focus;
use super::session::{InterruptCheck, NeverInterrupt, Session};
use super::site::Site;
use super::stale;
use super::stop::{Direction, Goal, Others, Reason, Stop, StoppedLaunch};
use crate::launch::PlannedLaunch;
use crate::machine::Tick;
use cause::Cause;

pub(super) use flags::{Spin, WarpKey, flag_reads};
pub use history::{History, LastWriter, UserChange};
pub use last_known::LastKnown;
pub use tensor_given::Execution;
pub(super) use variable::WatchedValues;
pub(super) use visits::Visits;
pub(super) use watchpoint::Watchpoint;
pub use watchpoint::bytes_of;

/// Ticks between two checks for an interrupt: about two milliseconds.
pub(super) const SLICE: u64 = 1 << 15;

/// Pauses between two checks: a decision takes about a microsecond, the evaluation of a condition for 32 lanes several.
const PAUSES: u32 = 1 << 10;

/// The time of the next check for an interrupt.
struct InterruptTimer {
    time: Tick,
    pauses: u32,
}

impl InterruptTimer {
    /// The timer of a run that begins at `now`.
    fn after(now: Tick) -> Self {
        Self { time: now.saturating_add(SLICE), pauses: 0 }
    }

    /// Counts a pause at `now`; true if it is time for a check.
    fn is_due(&mut self, now: Tick) -> bool {
        self.pauses += 1;
        let due = now >= self.time || self.pauses >= PAUSES;
        if due {
            *self = Self::after(now);
        }
        due
    }
}

/// The error for a run that cannot begin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ResumeError(pub String);

/// The focus and the launch when a run began.
struct RunStart {
    focus: Focus,
    launch: usize,
}

/// The causes for which a run stopped, and what other warps executed during a step.
struct StopInfo {
    causes: Vec<Cause>,
    others: Option<Others>,
}

impl StopInfo {
    fn because(reason: Reason) -> Self {
        Self { causes: vec![reason.into()], others: None }
    }
}

impl Session {
    /// Runs until `goal` is reached or something else stops it. The session is then at the time of the stop.
    ///
    /// # Errors
    /// The goal does not apply to the present state: the focused thread has exited, or there is no frame to finish.
    pub fn resume(&mut self, goal: &Goal, direction: Direction, interrupt: &mut dyn InterruptCheck) -> Result<Stop, ResumeError> {
        let run_start = self.run_start();
        self.log.clear();
        if let Some(left) = self.left_thread.take().filter(|left| (left.at, left.to) == (self.time(), self.focus))
            && direction == Direction::Backward
        {
            self.focus = left.from;
        }
        let mut stop_info = match direction {
            _ if !self.catch_up(interrupt) || self.count_visits(interrupt).is_err() => StopInfo::because(Reason::Interrupted),
            Direction::Forward => self.run_forward(goal, interrupt)?,
            Direction::Backward => self.run_backward(goal, interrupt)?,
        };
        self.note_unwritten_of_causes(&mut stop_info.causes, interrupt);
        let left = match (stop_info.causes.as_slice(), direction) {
            ([Cause::Other(Reason::Interrupted)], _) => self.focus_on_present(),
            ([Cause::Other(Reason::ThreadExited)], Direction::Forward) => self.leave_exited_thread(&mut stop_info, interrupt),
            _ => None,
        };
        Ok(self.stop(run_start, left, stop_info))
    }

    /// Stores the machine for comparison with the next stop.
    fn run_start(&mut self) -> RunStart {
        self.earlier = Some(self.machine().clone());
        RunStart { focus: self.focus, launch: self.launch() }
    }

    /// What loads of the focused thread have returned since the last stop that was not the newest write, or those of all threads if the run
    /// is over.
    fn stale_texts(&self, is_over: bool) -> Vec<String> {
        match &self.earlier {
            _ if is_over => stale::texts_at_end(&self.eval_context()),
            Some(earlier) => stale::texts_since(&self.eval_context(), earlier.tick()),
            None => Vec::new(),
        }
    }

    /// The stop that ends a run; `left` is the reason that the focus moved to another thread, if it did.
    fn stop(&mut self, run_start: RunStart, left: Option<String>, stop_info: StopInfo) -> Stop {
        self.describe_findings();
        let (time, number) = (self.time(), self.launch());
        self.navigation.push(time);
        let kernel = self.kernel_name().to_string();
        let reasons: Vec<Reason> = stop_info.causes.into_iter().map(|cause| cause.described(&self.eval_context())).collect();
        let is_over = reasons.iter().any(|reason| matches!(reason, Reason::Ended | Reason::Fault(_)));
        let made_up = self.case().launches.get(number).filter(|_| is_over).and_then(PlannedLaunch::guesses);
        Stop {
            time,
            focus: self.focus,
            thread: self.focus.describe(&self.roles),
            here: Site::of(&self.eval_context()).map(Box::new),
            before: run_start.focus,
            left,
            launch: StoppedLaunch { number, count: self.launches(), kernel, is_new: run_start.launch != number, made_up },
            reasons,
            others: stop_info.others,
            findings: self.finding_count(),
            wrong_elements: self.wrong_elements(),
            stale: self.stale_texts(is_over),
            log: std::mem::take(&mut self.log),
            displays: self.shown_displays(&mut NeverInterrupt),
        }
    }
}
