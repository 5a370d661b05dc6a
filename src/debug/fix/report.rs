//! What came of findings, and the PTX with the changes that held.

use std::path::Path;

use serde::Serialize;

use crate::base::save::{cause, save};
use crate::debug::findings::{FindingText, FixOutcome};
use crate::debug::ron_text::read_text;

/// What came of some findings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixReports {
    /// In the order of their numbers.
    pub reports: Vec<FixReport>,
    /// All changes that held, each in words.
    pub changes: Vec<String>,
    /// The user interrupted it.
    pub interrupted: bool,
    /// The PTX text with all changes that held; none where none did.
    pub text: Option<String>,
}

/// What came of a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FixReport {
    /// Its number, from 1.
    pub finding: usize,
    /// Its id.
    pub id: String,
    /// What came of it.
    #[serde(flatten)]
    pub outcome: FixOutcome,
}

impl FixReports {
    /// Says in the findings what came of each.
    pub fn describe_in(&self, findings: &mut [FindingText]) {
        for report in &self.reports {
            let of = findings.iter_mut().filter(|finding| finding.number == report.finding);
            of.for_each(|finding| finding.tried = Some(report.outcome.clone()));
        }
    }

    /// Writes the changed PTX to `path`, which must not be there or be the work of an earlier call; returns a line on it.
    ///
    /// # Errors
    /// No change held, another file is there, or it cannot be written, in one line.
    pub fn save(&self, path: &Path) -> Result<String, String> {
        let Some(text) = &self.text else { return Err(format!("no change held, so {} is not written", path.display())) };
        may_replace(path)?;
        let lines: String = self.changes.iter().map(|change| format!("//   {change}\n")).collect();
        let head = format!("{HEAD}\n{lines}");
        let cannot = |error| format!("cannot write {}: {}", path.display(), cause(&error));
        save(path, &[head.as_bytes(), text.as_bytes()]).map_err(cannot)?;
        Ok(format!("changed PTX written to {}\n", path.display()))
    }
}

/// How a file begins that [`FixReports::save`] wrote.
const HEAD: &str = "// Changed by ptxdbg, after 'fix':";

/// Whether there is no file at `path`, or one that `fix` wrote. The error says that another one is there.
fn may_replace(path: &Path) -> Result<(), String> {
    if !path.is_file() || read_text(path).is_ok_and(|text| text.starts_with(HEAD)) {
        return Ok(());
    }
    Err(format!("{} is there and was not written by fix, so it is left as it is: choose another name", path.display()))
}
