//! How far a long run has come, in a line.

use std::time::{Duration, Instant};

use super::text::grouped;
use crate::base::Tick;
use crate::debug::session::Progress;

/// A run shorter than this says nothing.
const DELAY: Duration = Duration::from_millis(700);
/// Time between two reports.
const INTERVAL: Duration = Duration::from_millis(200);

/// A run is looked at many times a second; where this much time has passed between two looks, the process was stopped (Ctrl-Z).
const STOPPED: Duration = Duration::from_secs(1);

/// The reports of one command's runs.
pub struct Reports {
    begun: Instant,
    looked: Instant,
    said: Option<Instant>,
    /// Where the run was when it was first looked at.
    first: Option<Tick>,
}

impl Reports {
    /// Of a command that begins now.
    pub fn new() -> Self {
        let now = Instant::now();
        Self { begun: now, looked: now, said: None, first: None }
    }

    /// Whether anything was reported.
    pub fn has_said(&self) -> bool {
        self.said.is_some()
    }

    /// Time that passed while the process was stopped does not count.
    fn context(&mut self, now: Instant) {
        let passed = now - self.looked;
        if passed > STOPPED {
            self.begun += passed;
        }
        self.looked = now;
    }

    /// What there is to say now, if it is time to.
    pub fn due(&mut self, progress: Progress) -> Option<String> {
        let now = Instant::now();
        self.context(now);
        let first = *self.first.get_or_insert(progress.time);
        let elapsed = now - self.begun;
        if elapsed < DELAY || self.said.is_some_and(|said| now - said < INTERVAL) {
            return None;
        }
        self.said = Some(now);
        if let Some(orders) = progress.orders {
            return Some(format!("{} orders  {:.0} s  Ctrl-C stops", grouped(orders), elapsed.as_secs_f64()));
        }
        let rate = progress.time.abs_diff(first) as f64 / elapsed.as_secs_f64();
        Some(format!(
            "t={}  block {} of {}  {} ticks/s  {:.0} s  Ctrl-C stops",
            grouped(progress.time),
            grouped(progress.blocks_started),
            grouped(progress.blocks),
            grouped(rate as u64),
            elapsed.as_secs_f64(),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_in_which_the_process_was_stopped_does_not_count() {
        let mut reports = Reports::new();
        let begun = reports.begun;
        let after = |millis| begun + Duration::from_millis(millis);
        reports.context(after(500));
        assert_eq!(reports.begun, begun);
        reports.context(after(60_500));
        assert_eq!(reports.begun, after(60_000));
        reports.context(after(60_900));
        assert_eq!(after(60_900) - reports.begun, Duration::from_millis(900));
    }
}
