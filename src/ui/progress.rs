//! How far a run has come, in a line for somebody who waits.

use std::time::{Duration, Instant};

use super::text::grouped;
use crate::debug::session::Progress;

/// A run shorter than this says nothing.
const PATIENCE: Duration = Duration::from_millis(700);
/// Time between two reports.
const INTERVAL: Duration = Duration::from_millis(200);

/// The reports of one command's runs.
pub struct Reports {
    begun: Instant,
    said: Option<Instant>,
    /// Where the run was when it was first looked at.
    first: Option<u64>,
}

impl Reports {
    /// Of a command that begins now.
    pub fn new() -> Self {
        Self { begun: Instant::now(), said: None, first: None }
    }

    /// Whether anything was reported.
    pub fn has_said(&self) -> bool {
        self.said.is_some()
    }

    /// What there is to say now, if it is time to.
    pub fn due(&mut self, progress: Progress) -> Option<String> {
        let now = Instant::now();
        let first = *self.first.get_or_insert(progress.time);
        let elapsed = now - self.begun;
        if elapsed < PATIENCE || self.said.is_some_and(|said| now - said < INTERVAL) {
            return None;
        }
        self.said = Some(now);
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
