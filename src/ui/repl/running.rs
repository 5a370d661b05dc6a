//! While the kernel runs: Ctrl-C is looked for, and a run that takes long says how far it is.

use std::io::Write;

use crate::debug::session::{InterruptCheck, Session};
use crate::ui::interrupt;
use crate::ui::progress::Reports;
use crate::ui::terminal_kind::moves_the_cursor;

/// Back to the start of the line, and clear it.
const CLEAR_LINE: &str = "\r\x1b[K";

/// One command's runs.
pub struct Watch {
    reports: Reports,
}

impl Watch {
    /// One that begins now.
    pub fn new() -> Self {
        interrupt::forget();
        Self { reports: Reports::new() }
    }
}

impl InterruptCheck for Watch {
    fn should_continue(&mut self, session: &Session) -> bool {
        if moves_the_cursor()
            && let Some(report) = self.reports.due(session.progress())
        {
            write(&format!("{CLEAR_LINE}{report}"));
        }
        !interrupt::pressed()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if self.reports.has_said() {
            write(CLEAR_LINE);
        }
    }
}

/// Writes to the terminal; an error is ignored, as the reader is gone then.
fn write(text: &str) {
    let mut out = std::io::stdout();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
