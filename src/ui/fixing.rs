//! `--fix`: tries the fixes that findings propose, and writes those that hold as PTX.

use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::interrupt;
use super::output::Standard;
use crate::base::save::cause;
use crate::debug::findings::FindingText;
use crate::debug::fix::{Case, FixReports, Program, fix_case};
use crate::debug::{CaseReport, Failure, RunError, RunOptions};

/// Tries the fixes that findings propose, and retains the changes that hold.
pub struct Fixer {
    options: RunOptions,
    is_enabled: bool,
    /// Runs of a case at the same time.
    jobs: usize,
    /// True if something was found wrong in some case.
    has_findings: AtomicBool,
    /// The reports of each case with changes that hold.
    successful: Mutex<Vec<FixReports>>,
}

impl Fixer {
    /// A fixer, which runs up to `jobs` changed programs of a case at the same time; it does nothing unless `is_enabled`.
    pub fn new(options: RunOptions, is_enabled: bool, jobs: usize) -> Self {
        Self { options, is_enabled, jobs, has_findings: AtomicBool::new(false), successful: Mutex::new(Vec::new()) }
    }

    /// Tries the fixes of the findings of a case report, and adds the results to these.
    ///
    /// # Errors
    /// A run failed for a reason outside the kernel.
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

    /// Tries the fixes of the findings of a run, and adds the results to these.
    ///
    /// # Errors
    /// A run failed for a reason outside the kernel.
    pub fn run(&self, program: &Arc<Program>, case: &Case, findings: &mut [FindingText]) -> Result<(), RunError> {
        self.findings(program, case, findings)?.into_iter().for_each(|fixed| self.keep(fixed));
        Ok(())
    }

    fn findings(&self, program: &Arc<Program>, case: &Case, findings: &mut [FindingText]) -> Result<Option<FixReports>, RunError> {
        if !self.is_enabled || findings.is_empty() {
            return Ok(None);
        }
        self.has_findings.store(true, Ordering::Relaxed);
        let fixed = fix_case(program, case, &self.options, (None, self.jobs), &mut || !interrupt::pressed())?;
        fixed.iter().for_each(|fixed| fixed.describe_in(findings));
        Ok(fixed)
    }

    fn keep(&self, fixed: FixReports) {
        let mut successful = self.successful.lock().unwrap_or_else(PoisonError::into_inner);
        successful.extend(Some(fixed).filter(|fixed| !fixed.texts.is_empty()));
    }

    /// Writes the changed PTX to `path`, if there is one, and, if `is_reported`, a line about it to standard output. Where nothing was
    /// found wrong, nothing is written.
    ///
    /// # Errors
    /// No change holds, changes hold for several launches, or it cannot be written: a message of one line.
    pub fn save(self, path: Option<&Path>, is_reported: bool) -> Result<(), String> {
        let Some(path) = path else { return Ok(()) };
        let successful = self.successful.into_inner().unwrap_or_else(PoisonError::into_inner);
        let line = match successful.as_slice() {
            [] if !self.has_findings.into_inner() => format!("nothing was found wrong, so {} is not written\n", path.display()),
            [] => return Err(format!("no change held, so {} is not written", path.display())),
            [one] => one.save(path)?,
            [_, _, ..] => return Err("changes held for several launches, and --ptx writes one: name its kernel with -k".into()),
        };
        let mut out = Standard::output();
        let line = if is_reported { line.as_bytes() } else { &[] };
        out.write_all(line).and_then(|()| out.flush()).map_err(|error| format!("cannot write standard output: {}", cause(&error)))
    }
}
