//! Plain text and JSON: every answer as lines, for people, for pipes and for tests.

mod diagnostic;
mod json;
mod report;

use crate::base::{Diagnostic, Sources};
use crate::debug::{CaseReport, Summary};

/// How answers are written.
#[derive(Clone, Copy, Debug)]
pub enum Style {
    /// For people.
    Human {
        /// Whether escape sequences for colour may be written.
        color: bool,
    },
    /// One JSON object a line.
    Json,
}

/// The diagnostics of one file, each with its line underlined; for people also a last line that counts them.
pub fn diagnostics(sources: &Sources, diagnostics: &[Diagnostic], style: Style) -> String {
    match style {
        Style::Human { color } => diagnostic::render_all(sources, diagnostics, color),
        Style::Json => diagnostics.iter().map(|diagnostic| json::diagnostic(sources, diagnostic)).collect(),
    }
}

/// What is wrong with a case; nothing if it passed.
pub fn case_report(report: &CaseReport, style: Style) -> String {
    match style {
        Style::Human { .. } => report::case(report),
        Style::Json => json::case(report),
    }
}

/// The last line of a verification.
pub fn verdict(passed: usize, failed: usize, style: Style) -> String {
    match style {
        Style::Human { .. } => format!("{passed} passed, {failed} failed\n"),
        Style::Json => json::verdict(passed, failed),
    }
}

/// What a run came to.
pub fn summary(summary: &Summary, style: Style) -> String {
    match style {
        Style::Human { .. } => report::summary(summary),
        Style::Json => json::summary(summary),
    }
}

/// A launch file that was made up because there was none.
pub fn made_up(text: &str, style: Style) -> String {
    match style {
        Style::Human { .. } => format!(
            "// There is no launch file: the values of this launch are made up.\n\
             // Saved beside the kernel with the extension .ron it is used, and can be edited.\n{text}\n\n"
        ),
        Style::Json => json::made_up(text),
    }
}
