//! The diagnostics of one file, limited in number.

use crate::base::{Diagnostic, Severity, Span};

/// Most diagnostics of a file that are shown; the others are only counted.
const MAX_SHOWN: usize = 100;

/// Number of errors after which the rest of a file is not parsed, since it is probably not PTX.
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

    /// True if the rest of the file is not to be parsed.
    pub fn are_too_many(&self) -> bool {
        self.hidden >= MAX_COUNTED - MAX_SHOWN
    }

    /// All diagnostics, ordered by span. If some are not shown, a note is added at `end`, where parsing ended.
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
