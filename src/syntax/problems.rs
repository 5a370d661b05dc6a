//! The diagnostics of one file, of which there are not too many.

use crate::base::{Diagnostic, Severity, Span};

/// How many diagnostics of a file are shown; of the others only their number.
const MAX_SHOWN: usize = 100;

/// Collects diagnostics.
#[derive(Default)]
pub(super) struct Problems {
    shown: Vec<Diagnostic>,
    more: usize,
}

impl Problems {
    pub fn add(&mut self, diagnostic: Diagnostic) {
        if self.shown.len() < MAX_SHOWN {
            self.shown.push(diagnostic);
        } else {
            self.more += 1;
        }
    }

    /// All of them by place, and a note at `end` if there were more.
    pub fn finish(mut self, end: Span) -> Vec<Diagnostic> {
        self.shown.sort_by_key(|diagnostic| diagnostic.span);
        if self.more > 0 {
            let text = format!("{} more errors are not shown", self.more);
            self.shown.push(Diagnostic { severity: Severity::Note, ..Diagnostic::error("syntax", end, text) });
        }
        self.shown
    }
}
