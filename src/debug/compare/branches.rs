//! Comparison of two runs of one launch that differ by the user's changes.

use std::sync::Arc;

use serde::Serialize;

use super::comparer::Comparer;
use super::regions::RegionNames;
use super::rounds::{Bound, first_difference};
use super::side::{Pairing, Side};
use super::{CompareError, Difference, SideReport, final_memory, report};
use crate::base::Tick;
use crate::debug::run::RunOptions;
use crate::debug::timeline::Input;
use crate::launch::{Case, Tolerance};
use crate::program::Program;

/// How the runs of two branches compare, each run to its end.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BranchRuns {
    /// What each run did.
    pub sides: [SideReport; 2],
    /// The first store that differs, if one does.
    pub difference: Option<Difference>,
    /// Threads whose stores differ.
    pub threads: u64,
    /// The buffers at the end.
    pub outputs: Vec<OutputDiff>,
}

/// A buffer at the end of two runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OutputDiff {
    /// Its name.
    pub buffer: String,
    /// Its elements.
    pub elements: u64,
    /// Elements with other bits.
    pub different: u64,
    /// The first of them with its values.
    pub first: Option<(String, [String; 2])>,
}

/// Compares the runs with the changes `inputs`, A and B: their stores, thread by thread in program order, and the buffers at the end.
///
/// # Errors
/// The user interrupted, or errors that do not come from the kernel.
pub fn compare_branches(
    (program, case, options): (&Arc<Program>, &Case, &RunOptions),
    inputs: [&[(Tick, Input)]; 2],
    interrupt: &dyn Fn() -> bool,
) -> Result<BranchRuns, CompareError> {
    let sides = inputs.map(|inputs| Side { program, case, options, inputs });
    let comparer = Comparer {
        sides,
        region_names: RegionNames::of(sides),
        pairing: Pairing::InProgramOrder,
        has_same_addresses: true,
        // Of one launch, the runs differ where bits do, as the buffers at the end.
        tolerance: Some(Tolerance::Bits),
        interrupt,
    };
    let interrupted = || CompareError::Unlike("interrupted: not compared".to_string());
    let (run_a, tallies_a) = comparer.tally(0)?;
    let (run_b, tallies_b) = comparer.tally(1)?;
    if run_a.interrupted || run_b.interrupted {
        return Err(interrupted());
    }
    let unequal = tallies_a.unequal(&tallies_b);
    let stopped = [run_a.fault.is_some(), run_b.fault.is_some()];
    let (difference, is_interrupted) = first_difference(&comparer, &unequal, Bound::default(), stopped)?;
    if is_interrupted {
        return Err(interrupted());
    }
    Ok(BranchRuns {
        sides: [report(&run_a, &tallies_a), report(&run_b, &tallies_b)],
        // Of a run that stopped, threads have not come to all their stores.
        threads: if difference.is_some() && stopped == [false; 2] { unequal.len() as u64 } else { 0 },
        difference,
        outputs: final_memory::outputs(&comparer, [&run_a, &run_b])?,
    })
}
