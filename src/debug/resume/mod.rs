//! Running, forwards and backwards, until there is a reason to stop.
//!
//! Forwards, a [`watcher`] notes what may be a stop and the machine pauses there; what it notes is judged ([`judge`]) with the whole
//! machine at hand, and most often the run goes on. Backwards, the stretch between two snapshots is run forwards in the same way,
//! the latest stop before the present is remembered, and the session goes there; if there is none, the stretch before it is next.
//! So both directions stop at the same places.

mod backward;
mod cause;
mod flags;
mod forward;
mod found;
mod history;
mod judge;
mod line;
mod seek;
mod steer;
mod swap;
mod told;
mod watched;
mod watcher;

use super::display;
use super::focus::Focus;
use super::session::{Pace, Session};
use super::site::Site;
use super::stop::{Direction, Goal, Others, Reason, Stop, StoppedLaunch};
use crate::machine::Tick;
use cause::Cause;

pub(super) use flags::{Spin, WarpPlace, flag_reads};
pub use history::History;
pub use watched::bytes_of;

/// Ticks between two questions whether to go on: some two milliseconds.
const SLICE: u64 = 1 << 15;

/// Pauses between two questions: judging one takes about a microsecond, and evaluating its condition in 32 lanes several.
const PAUSES: u32 = 1 << 10;

/// When the user is asked next whether to go on.
struct NextQuestion {
    time: Tick,
    pauses: u32,
}

impl NextQuestion {
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

/// What the user looked at when a run began.
struct Departure {
    focus: Focus,
    launch: usize,
}

/// Where a run came to.
struct Halt {
    causes: Vec<Cause>,
    others: Option<Others>,
}

impl Halt {
    fn because(reason: Reason) -> Self {
        Self { causes: vec![reason.into()], others: None }
    }
}

impl Session {
    /// Runs until `goal` is reached or something else stops it. The session then stands where the stop says.
    ///
    /// # Errors
    /// The goal means nothing where the session stands: the focused thread has exited, or there is no frame to finish.
    pub fn resume(&mut self, goal: &Goal, direction: Direction, pace: &mut dyn Pace) -> Result<Stop, ResumeError> {
        let departure = self.departure();
        self.log.clear();
        let halt = match direction {
            _ if !self.catch_up(pace) => Halt::because(Reason::Interrupted),
            Direction::Forward => self.run_forward(goal, pace)?,
            Direction::Backward => self.run_backward(goal, pace)?,
        };
        let left = if matches!(halt.causes.as_slice(), [Cause::Other(Reason::Interrupted)]) { self.focus_on_present() } else { None };
        Ok(self.stop(departure, left, halt))
    }

    /// Remembers the stop that is left.
    fn departure(&mut self) -> Departure {
        self.earlier = Some(self.machine().clone());
        Departure { focus: self.focus, launch: self.launch() }
    }

    /// The stop that ends a run, and why the focus left the thread that it was on, if it did.
    fn stop(&mut self, departure: Departure, left: Option<String>, halt: Halt) -> Stop {
        self.describe_findings();
        let (time, number) = (self.time(), self.launch());
        self.visited.push(time);
        let kernel = self.kernel_name().to_string();
        Stop {
            time,
            focus: self.focus,
            thread: self.focus.in_words(&self.roles),
            here: Site::of(&self.scene()).map(Box::new),
            before: departure.focus,
            left,
            launch: StoppedLaunch { number, count: self.launches(), kernel, is_new: departure.launch != number },
            reasons: halt.causes.into_iter().map(|cause| cause.described(&self.scene())).collect(),
            others: halt.others,
            findings: self.finding_count(),
            log: std::mem::take(&mut self.log),
            displays: display::shown(&self.displays, &self.scene()),
        }
    }
}
