//! `fix` in a session.

use std::sync::Arc;

use super::{FixReports, fix_case};
use crate::debug::run::RunOptions;
use crate::debug::session::{InterruptCheck, Session};

/// Warp-instructions that the run from the beginning may take, in multiples of what was recorded so far, before it counts as one that
/// hangs, and at least.
const HANG_FACTOR: u64 = 64;
const STEPS: u64 = 1 << 24;

impl Session {
    /// Tries the advice of the finding of this number, or of all findings of the whole run, and keeps what came of it.
    ///
    /// # Errors
    /// The run was changed by hand, so that its launch from the beginning is another one; or reasons outside the kernel.
    pub fn fix(&mut self, number: Option<usize>, interrupt: &mut dyn InterruptCheck) -> Result<Option<FixReports>, String> {
        if !self.inputs().is_empty() {
            return Err("the run was changed by hand, and changes of the program are tried from its beginning: 'restart' it first".into());
        }
        let (program, case) = (Arc::clone(self.program()), Arc::clone(self.timeline.case()));
        let options = self.timeline.options().clone();
        let limit = self.recorded().0.saturating_mul(HANG_FACTOR).max(STEPS);
        // A session numbers what its own order shows.
        let options = RunOptions { checks: self.checks(), step_limit: options.step_limit.or(Some(limit)), orders: 0, ..options };
        let fixed = fix_case(&program, &case, &options, number, &mut || interrupt.should_continue(self));
        let fixed = fixed.map_err(|error| error.to_string())?;
        let tried = fixed.iter().flat_map(|fixed| &fixed.reports).map(|report| (report.finding, report.outcome.clone()));
        self.note_tried(tried.collect::<Vec<_>>());
        Ok(fixed)
    }
}
