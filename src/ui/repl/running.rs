//! The check for Ctrl-C while the kernel runs, and the progress line of a long run.

use std::io::Write;

use crate::debug::session::{InterruptCheck, Session};
use crate::ui::interrupt;
use crate::ui::progress::Reports;
use crate::ui::terminal_kind::supports_cursor_movement;

/// Moves to the start of the line and clears it.
const CLEAR_LINE: &str = "\r\x1b[K";

/// The interrupt check of one command.
pub struct RunMonitor {
    reports: Reports,
}

impl RunMonitor {
    /// A monitor for a command that begins now.
    pub fn new() -> Self {
        interrupt::forget();
        Self { reports: Reports::new() }
    }
}

impl InterruptCheck for RunMonitor {
    fn should_continue(&mut self, session: &Session) -> bool {
        if supports_cursor_movement()
            && let Some(report) = self.reports.next_report(session.progress())
        {
            write(&format!("{CLEAR_LINE}{report}"));
        }
        !interrupt::pressed()
    }
}

impl Drop for RunMonitor {
    fn drop(&mut self) {
        if self.reports.has_reported() {
            write(CLEAR_LINE);
        }
    }
}

/// Writes to the terminal; an error is ignored.
fn write(text: &str) {
    let mut out = std::io::stdout();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
