//! Running, forwards and backwards, until there is a reason to stop.
//!
//! Forwards, a [`watcher`] notes what may be a stop and the machine pauses there; what it notes is judged ([`judge`]) with the whole
//! machine at hand, and most often the run goes on. Backwards, the stretch between two snapshots is run forwards in the same way,
//! the latest stop before the present is remembered, and the session goes there; if there is none, the stretch before it is next.
//! So both directions stop at the same places.

mod backward;
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

use super::focus::Focus;
use super::session::{Pace, Session};
use super::stop::{Direction, Goal, Others, Reason, Stop};
use crate::machine::Tick;

pub(super) use flags::{Spin, WarpPlace, flag_reads};
pub use history::History;
pub use watched::bytes_of;

/// Ticks between two questions whether to go on: some two milliseconds.
const SLICE: Tick = 1 << 15;

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
    reasons: Vec<Reason>,
    others: Option<Others>,
}

impl Halt {
    fn because(reason: Reason) -> Self {
        Self { reasons: vec![reason], others: None }
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
        let left = if matches!(halt.reasons.as_slice(), [Reason::Interrupted]) { self.focus_on_present() } else { None };
        Ok(Stop { left, ..self.stop(departure, halt) })
    }

    /// Remembers the stop that is left.
    fn departure(&mut self) -> Departure {
        self.earlier = Some(self.machine().clone());
        Departure { focus: self.focus, launch: self.launch() }
    }

    /// The stop that ends a run.
    fn stop(&mut self, departure: Departure, halt: Halt) -> Stop {
        self.describe_findings();
        let (time, focus, launch) = (self.time(), self.focus, self.launch());
        self.visited.push(time);
        let focus_moved = (departure.focus.block, departure.focus.warp) != (focus.block, focus.warp);
        let new_launch = (departure.launch != launch).then_some(launch);
        let log = std::mem::take(&mut self.log);
        Stop { time, focus, focus_moved, left: None, new_launch, reasons: halt.reasons, others: halt.others, log }
    }
}
