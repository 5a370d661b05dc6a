//! The diagnostics of one file, of which there are not too many.

use crate::base::{Diagnostic, Severity, Span};

/// How many diagnostics of a file are shown; of the others only their number.
const MAX_SHOWN: usize = 100;

/// After this many errors a file is no PTX, and reading on would only cost time.
const MAX_COUNTED: usize = 1000;

/// Collects diagnostics.
#[derive(Default)]
pub(super) struct Problems {
    shown: Vec<Diagnostic>,
    hidden: usize,
}

impl Problems {
    pub fn add(&mut self, diagnostic: Diagnostic) {
        if self.shown.len() < MAX_SHOWN {
            self.shown.push(diagnostic);
        } else {
            self.hidden += 1;
        }
    }

    /// Whether the rest of the file is not worth reading.
    pub fn are_too_many(&self) -> bool {
        self.hidden >= MAX_COUNTED - MAX_SHOWN
    }

    /// All of them by place. If there were more than are shown, a note at `end`, where reading ended.
    pub fn finish(mut self, end: Span) -> Vec<Diagnostic> {
        let note = match self.hidden {
            0 => None,
            _ if self.are_too_many() => Some(format!("too many errors: the first {MAX_SHOWN} are shown, and the file is not read further")),
            1 => Some("1 more error is not shown".to_owned()),
            hidden => Some(format!("{hidden} more errors are not shown")),
        };
        self.shown.sort_by_key(|diagnostic| diagnostic.span);
        self.shown.extend(note.map(|text| Diagnostic { severity: Severity::Note, ..Diagnostic::error("syntax", end, text) }));
        self.shown
    }
}
