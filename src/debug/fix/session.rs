//! `fix` in a session.

use std::sync::Arc;

use super::{FixReports, fix_case};
use crate::debug::run::RunOptions;
use crate::debug::session::{InterruptCheck, Session};

/// Step limit of the run from the beginning, in multiples of the recorded warp-instructions, and its minimum; a run that reaches it hangs.
const HANG_FACTOR: u64 = 64;
const STEPS: u64 = 1 << 24;

impl Session {
    /// Tries the remedies of finding number `number`, or of all findings of the whole run, and stores the results.
    ///
    /// # Errors
    /// The user has changed the run, so that a run from the beginning differs; or reasons outside the kernel.
    pub fn fix(&mut self, number: Option<usize>, interrupt: &mut dyn InterruptCheck) -> Result<Option<FixReports>, String> {
        if !self.inputs().is_empty() {
            return Err("the run was changed by hand, and changes of the program are tried from its beginning: 'restart' it first".into());
        }
        let (program, case) = (Arc::clone(self.program()), Arc::clone(self.timeline.case()));
        let options = self.timeline.options().clone();
        let limit = self.recorded().0.saturating_mul(HANG_FACTOR).max(STEPS);
        // The findings of a session are numbered as in the session's order.
        let options = RunOptions { checks: self.checks(), step_limit: options.step_limit.or(Some(limit)), orders: 0, ..options };
        let fixed = fix_case(&program, &case, &options, number, &mut || interrupt.should_continue(self));
        let fixed = fixed.map_err(|error| error.to_string())?;
        let tried = fixed.iter().flat_map(|fixed| &fixed.reports).map(|report| (report.finding, report.outcome.clone()));
        self.add_tried(tried.collect::<Vec<_>>());
        Ok(fixed)
    }
}
