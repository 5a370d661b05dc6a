//! Answers in words, as the command line prints them: lines that end with a line feed, without colours.

use crate::command::Outcome;
use crate::debug::certificate::Certificate;
use crate::debug::fidelity::Fidelity;
use crate::debug::fix::FixReports;
use crate::ui::text::{self, Style};

pub use crate::ui::text::{finding, outcome, stop};

/// Whether what was found holds for every order, or what depends on it.
pub fn certificate(certificate: &Certificate) -> String {
    text::certificate("", certificate, Style::Human { color: false })
}

/// How far a run equals that of the hardware.
pub fn fidelity(fidelity: &Fidelity) -> String {
    text::fidelity(fidelity, Style::Human { color: false })
}

/// What came of trying the advice of findings.
pub fn fixes(reports: &FixReports) -> String {
    outcome(&Outcome::Fixed(reports.clone(), String::new()))
}
