//! `fix` in a session.

use std::sync::Arc;

use super::{FixReports, fix_case};
use crate::base::Tick;
use crate::debug::run::RunOptions;
use crate::debug::session::{InterruptCheck, Session};
use crate::debug::timeline::Input;

/// Step limit of the run from the beginning, in multiples of the recorded warp-instructions, and its minimum; a run that reaches it hangs.
const HANG_FACTOR: u64 = 64;
const STEPS: u64 = 1 << 24;

/// Why changes of the program, which are tried in a run from the beginning, cannot be tried for this one.
fn why_not(time: Tick, input: &Input, seed: u64) -> String {
    let what = match input {
        Input::Edits(_) => "registers or memory were changed by hand",
        Input::Complete(_) => "a copy was completed by hand",
        Input::Turn { .. } | Input::EndTurn => "a step gave a warp its turn",
    };
    format!("{what} at t={time}, and changes of the program are tried in a run without that: 'set seed {seed}' begins one")
}

impl Session {
    /// Tries the remedies of finding number `number`, or of all findings of the whole run, and stores the results.
    ///
    /// # Errors
    /// The user has changed the run, so that a run from the beginning differs; or reasons outside the kernel.
    pub fn fix(&mut self, number: Option<usize>, interrupt: &mut dyn InterruptCheck) -> Result<Option<FixReports>, String> {
        if let Some((time, input)) = self.inputs().first() {
            return Err(why_not(*time, input, self.options().seed));
        }
        let (program, case) = (Arc::clone(self.program()), Arc::clone(self.timeline.case()));
        let options = self.timeline.options().clone();
        let limit = self.recorded().0.saturating_mul(HANG_FACTOR).max(STEPS);
        // The findings of a session are numbered as in the session's order.
        let options = RunOptions { checks: self.checks(), step_limit: options.step_limit.or(Some(limit)), orders: 0, ..options };
        let fixed = fix_case(&program, &case, &options, (number, self.settings.jobs()), &mut || interrupt.should_continue(self));
        let fixed = fixed.map_err(|error| error.to_string())?;
        let tried = fixed.iter().flat_map(|fixed| &fixed.reports).map(|report| (report.finding, report.outcome.clone()));
        self.add_tried(tried.collect::<Vec<_>>());
        Ok(fixed)
    }
}
