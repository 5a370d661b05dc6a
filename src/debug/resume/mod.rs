//! Running, forwards and backwards, until there is a reason to stop.
//!
//! Forwards, a [`watcher`] collects candidates for a stop and the machine pauses there; each is decided on ([`decision`]) with the whole
//! machine at hand, and most often the run goes on. Backwards, the interval between two snapshots is run forwards in the same way,
//! the latest stop before the present is remembered, and the session goes there; if there is none, the interval before it is next.
//! So both directions stop at the same places.

mod backward;
mod cause;
mod decision;
mod describe;
mod flags;
mod forward;
mod found;
mod history;
mod line;
mod scheduler_lock;
mod seek;
mod swap;
mod watcher;
mod watchpoint;

use super::display;
use super::focus::Focus;
use super::session::{InterruptCheck, Session};
use super::site::Site;
use super::stop::{Direction, Goal, Others, Reason, Stop, StoppedLaunch};
use crate::machine::Tick;
use cause::Cause;

pub(super) use flags::{Spin, WarpPlace, flag_reads};
pub use history::History;
pub use watchpoint::bytes_of;

/// Ticks between two questions whether to go on: some two milliseconds.
const SLICE: u64 = 1 << 15;

/// Pauses between two questions: deciding one takes about a microsecond, and evaluating its condition in 32 lanes several.
const PAUSES: u32 = 1 << 10;

/// When the user is asked next whether to go on.
struct InterruptTimer {
    time: Tick,
    pauses: u32,
}

impl InterruptTimer {
    /// A run that begins at `now`.
    fn after(now: Tick) -> Self {
        Self { time: now.saturating_add(SLICE), pauses: 0 }
    }

    /// Counts a pause at `now`; true if it is time to ask.
    fn is_due(&mut self, now: Tick) -> bool {
        self.pauses += 1;
        let due = now >= self.time || self.pauses >= PAUSES;
        if due {
            *self = Self::after(now);
        }
        due
    }
}

/// A run that cannot begin, in the user's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ResumeError(pub String);

/// The focus and the launch when a run began.
struct RunStart {
    focus: Focus,
    launch: usize,
}

/// Why a run ended, and what other warps did meanwhile.
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
    /// Runs until `goal` is reached or something else stops it. The session then stands where the stop says.
    ///
    /// # Errors
    /// The goal means nothing where the session stands: the focused thread has exited, or there is no frame to finish.
    pub fn resume(&mut self, goal: &Goal, direction: Direction, interrupt: &mut dyn InterruptCheck) -> Result<Stop, ResumeError> {
        let run_start = self.run_start();
        self.log.clear();
        let stop_info = match direction {
            _ if !self.catch_up(interrupt) => StopInfo::because(Reason::Interrupted),
            Direction::Forward => self.run_forward(goal, interrupt)?,
            Direction::Backward => self.run_backward(goal, interrupt)?,
        };
        let left = if matches!(stop_info.causes.as_slice(), [Cause::Other(Reason::Interrupted)]) { self.focus_on_present() } else { None };
        Ok(self.stop(run_start, left, stop_info))
    }

    /// Remembers the stop that is left.
    fn run_start(&mut self) -> RunStart {
        self.earlier = Some(self.machine().clone());
        RunStart { focus: self.focus, launch: self.launch() }
    }

    /// The stop that ends a run, and why the focus left the thread that it was on, if it did.
    fn stop(&mut self, run_start: RunStart, left: Option<String>, stop_info: StopInfo) -> Stop {
        self.describe_findings();
        let (time, number) = (self.time(), self.launch());
        self.navigation.push(time);
        let kernel = self.kernel_name().to_string();
        Stop {
            time,
            focus: self.focus,
            thread: self.focus.describe(&self.roles),
            here: Site::of(&self.scene()).map(Box::new),
            before: run_start.focus,
            left,
            launch: StoppedLaunch { number, count: self.launches(), kernel, is_new: run_start.launch != number },
            reasons: stop_info.causes.into_iter().map(|cause| cause.described(&self.scene())).collect(),
            others: stop_info.others,
            findings: self.finding_count(),
            log: std::mem::take(&mut self.log),
            displays: display::shown(&self.displays, &self.scene()),
        }
    }
}
