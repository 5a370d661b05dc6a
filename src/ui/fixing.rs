//! `--fix`: the advice of the findings of whole runs, tried, and what holds written as PTX.

use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use super::interrupt;
use super::output::Standard;
use crate::base::save::cause;
use crate::debug::findings::FindingText;
use crate::debug::fix::{Case, FixReports, Program, fix_case};
use crate::debug::{CaseReport, Failure, RunError, RunOptions};

/// Tries what findings advise, and keeps the changes that hold.
pub struct Fixer {
    options: RunOptions,
    is_wanted: bool,
    /// Those of each case that has some.
    held: Mutex<Vec<FixReports>>,
}

impl Fixer {
    /// One that does nothing unless it `is_wanted`.
    pub fn new(options: RunOptions, is_wanted: bool) -> Self {
        Self { options, is_wanted, held: Mutex::new(Vec::new()) }
    }

    /// Adds the results to the findings of a report.
    ///
    /// # Errors
    /// Reasons outside the kernel.
    pub fn report(&self, program: &Arc<Program>, case: &Case, report: &mut CaseReport) -> Result<(), RunError> {
        let Some(fixed) = self.findings(program, case, &mut report.findings)? else { return Ok(()) };
        for failure in &mut report.failures {
            if let Failure::Finding { finding } | Failure::WrongLine { finding, .. } = failure {
                fixed.describe_in(std::slice::from_mut(finding));
            }
        }
        self.keep(fixed);
        Ok(())
    }

    /// The same in the findings of a run.
    ///
    /// # Errors
    /// Reasons outside the kernel.
    pub fn run(&self, program: &Arc<Program>, case: &Case, findings: &mut [FindingText]) -> Result<(), RunError> {
        self.findings(program, case, findings)?.into_iter().for_each(|fixed| self.keep(fixed));
        Ok(())
    }

    fn findings(&self, program: &Arc<Program>, case: &Case, findings: &mut [FindingText]) -> Result<Option<FixReports>, RunError> {
        if !self.is_wanted || findings.is_empty() {
            return Ok(None);
        }
        let fixed = fix_case(program, case, &self.options, None, &mut || !interrupt::pressed())?;
        fixed.iter().for_each(|fixed| fixed.describe_in(findings));
        Ok(fixed)
    }

    fn keep(&self, fixed: FixReports) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.extend(Some(fixed).filter(|fixed| !fixed.texts.is_empty()));
    }

    /// Writes the changed PTX to `path`, if there is one, and where `is_said` a line on it to standard output.
    ///
    /// # Errors
    /// No change held, changes held for several launches, or it cannot be written, in one line.
    pub fn save(self, path: Option<&Path>, is_said: bool) -> Result<(), String> {
        let Some(path) = path else { return Ok(()) };
        let held = self.held.into_inner().unwrap_or_else(PoisonError::into_inner);
        let line = match held.as_slice() {
            [] => return Err(format!("no change held, so {} is not written", path.display())),
            [one] => one.save(path)?,
            [_, _, ..] => return Err("changes held for several launches, and --ptx writes one: name its kernel with -k".into()),
        };
        let mut out = Standard::output();
        let line = if is_said { line.as_bytes() } else { &[] };
        out.write_all(line).and_then(|()| out.flush()).map_err(|error| format!("cannot write standard output: {}", cause(&error)))
    }
}
