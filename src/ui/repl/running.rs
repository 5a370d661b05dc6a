//! While the kernel runs: Ctrl-C is looked for, and a run that takes long says how far it is.

use std::io::Write;
use std::time::{Duration, Instant};

use super::interrupt;
use crate::debug::session::{Pace, Progress};
use crate::ui::text::grouped;

/// A run shorter than this says nothing.
const PATIENCE: Duration = Duration::from_millis(700);
/// Time between two reports.
const INTERVAL: Duration = Duration::from_millis(200);
/// Back to the start of the line, and clear it.
const CLEAR_LINE: &str = "\r\x1b[K";

/// One command's runs.
pub struct Watch {
    begun: Instant,
    reported: Option<Instant>,
    /// Where it was when it was first looked at.
    first: Option<u64>,
}

impl Watch {
    /// One that begins now.
    pub fn new() -> Self {
        interrupt::forget();
        Self { begun: Instant::now(), reported: None, first: None }
    }

    fn report(&mut self, progress: Progress) {
        let now = Instant::now();
        let first = *self.first.get_or_insert(progress.time);
        let elapsed = now - self.begun;
        if elapsed < PATIENCE || self.reported.is_some_and(|reported| now - reported < INTERVAL) {
            return;
        }
        self.reported = Some(now);
        let rate = progress.time.abs_diff(first) as f64 / elapsed.as_secs_f64();
        let text = format!(
            "{CLEAR_LINE}t={}  block {} of {}  {} ticks/s  {:.0} s  Ctrl-C stops",
            grouped(progress.time),
            grouped(progress.blocks_started),
            grouped(progress.blocks),
            grouped(rate as u64),
            elapsed.as_secs_f64(),
        );
        // Who cannot be written to does not need to know.
        let mut out = std::io::stdout();
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    }
}

impl Pace for Watch {
    fn go_on(&mut self, progress: Progress) -> bool {
        self.report(progress);
        !interrupt::pressed()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if self.reported.is_some() {
            let mut out = std::io::stdout();
            let _ = out.write_all(CLEAR_LINE.as_bytes()).and_then(|()| out.flush());
        }
    }
}
