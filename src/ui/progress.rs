//! The progress of a long run, as one line of text.

use std::time::{Duration, Instant};

use super::text::grouped;
use crate::base::Tick;
use crate::debug::session::Progress;

/// Shorter runs are not reported.
const DELAY: Duration = Duration::from_millis(700);
/// Time between two reports.
const INTERVAL: Duration = Duration::from_millis(200);

/// Progress is checked many times a second; if this much time has passed since the last check, the process was stopped (Ctrl-Z).
const STOPPED: Duration = Duration::from_secs(1);

/// The progress reports of one command's runs.
pub struct Reports {
    begun: Instant,
    last_check: Instant,
    last_report: Option<Instant>,
    /// The time of the run at the first check.
    first: Option<Tick>,
}

impl Reports {
    /// The reports of a command that begins now.
    pub fn new() -> Self {
        let now = Instant::now();
        Self { begun: now, last_check: now, last_report: None, first: None }
    }

    /// True if anything was reported.
    pub fn has_reported(&self) -> bool {
        self.last_report.is_some()
    }

    /// Excludes the time for which the process was stopped.
    fn exclude_stopped_time(&mut self, now: Instant) {
        let passed = now - self.last_check;
        if passed > STOPPED {
            self.begun += passed;
        }
        self.last_check = now;
    }

    /// The next report, if it is due.
    pub fn next_report(&mut self, progress: Progress) -> Option<String> {
        let now = Instant::now();
        self.exclude_stopped_time(now);
        let first = *self.first.get_or_insert(progress.time);
        let elapsed = now - self.begun;
        if elapsed < DELAY || self.last_report.is_some_and(|last_report| now - last_report < INTERVAL) {
            return None;
        }
        self.last_report = Some(now);
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
        reports.exclude_stopped_time(after(500));
        assert_eq!(reports.begun, begun);
        reports.exclude_stopped_time(after(60_500));
        assert_eq!(reports.begun, after(60_000));
        reports.exclude_stopped_time(after(60_900));
        assert_eq!(after(60_900) - reports.begun, Duration::from_millis(900));
    }
}
