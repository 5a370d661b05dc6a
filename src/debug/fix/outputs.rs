//! Compares the buffers after a changed program with those of the original or the expected ones.

use std::sync::Arc;

use super::trial::Trial;
use crate::debug::explore::difference;
use crate::debug::findings::Outputs;
use crate::debug::run::{RunError, RunOptions};
use crate::debug::verify::{Comparison, Failure, compare_expected};
use crate::launch::Case;
use crate::program::Program;

/// The buffer contents of `changed`, a run of `program`; `before` is the run without the change, and `differs` the seed of an order with
/// other values.
pub(super) fn outputs(
    program: &Arc<Program>,
    case: &Case,
    options: &RunOptions,
    (before, changed): (&Trial, &Trial),
    differs: Option<u64>,
) -> Result<Outputs, RunError> {
    if let Some(seed) = differs {
        return Ok(Outputs::Vary(seed));
    }
    Ok(match compare_expected(program, case, options, &changed.run)? {
        Comparison::NotCompared => Outputs::NotCompared,
        Comparison::NothingExpected => match difference(&before.buffers, &changed.buffers) {
            None => Outputs::Unchanged,
            Some(first) => Outputs::Changed(first),
        },
        Comparison::Compared(failures) | Comparison::Part(failures, _) => match failures.first() {
            None => Outputs::AsExpected,
            Some(Failure::Mismatch { element, value, expected, .. }) => {
                Outputs::NotAsExpected(format!("{element} is {value}, expected {expected}"))
            }
            Some(
                Failure::Mismatches { .. }
                | Failure::Finding { .. }
                | Failure::NoFinding { .. }
                | Failure::WrongLine { .. }
                | Failure::Printed { .. },
            ) => Outputs::NotAsExpected("what printf writes".into()),
        },
    })
}
