//! Answers as text, as the command line prints them: lines that end with a line feed, without colors.

use crate::command::Outcome;
use crate::debug::certificate::Certificate;
use crate::debug::fidelity::Fidelity;
use crate::debug::fix::FixReports;
use crate::ui::text::{self, Style};

pub use crate::ui::text::{finding, outcome, stop};

/// The statement that the findings are the same in every order, or what depends on the order.
pub fn certificate(certificate: &Certificate) -> String {
    text::certificate("", certificate, Style::Human { color: false })
}

/// How far the results of a run are those of the hardware.
pub fn fidelity(fidelity: &Fidelity) -> String {
    text::fidelity(fidelity, Style::Human { color: false })
}

/// The results of trying the remedies of findings.
pub fn fixes(reports: &FixReports) -> String {
    outcome(&Outcome::Fixed(reports.clone(), String::new()))
}
