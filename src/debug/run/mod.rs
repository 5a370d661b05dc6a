//! Running the launches of a case, one after the other on the same memory.
//!
//! [`run_case`] runs one case; [`summarize`] reports its results. A [`Job`] prepares one launch after the other, for this and for the
//! [timeline](super::timeline); a [`Runner`] runs them.

mod error;
mod host_memory;
mod launcher;
mod options;
mod parts;
mod reversal;
mod runner;
mod summary;
mod swapped_sections;
mod written;

use std::sync::Arc;

use crate::check::{Checkers, Checks, Finding, Findings};
use crate::debug::fault::{Fault, FaultContext};
use crate::debug::findings::{FindingText, describe_case};
use crate::launch::Case;
use crate::machine::{Device, Instrumentation, Machine, Tick};
use crate::program::Program;

pub use error::RunError;
pub use host_memory::{HostMemory, HostRange, HostWrite};
pub(super) use launcher::{Job, RejectedLaunch};
pub use options::{RESIDENT_MAX, RunOptions};
use reversal::describe_new;
pub(super) use reversal::{fault_of, new_in, other_orders};
pub(super) use runner::Runner;
pub use runner::{CaseRun, LaunchRun};
pub use summary::{BufferHead, Summary, summarize};
pub use swapped_sections::SwappedSections;
pub(super) use written::record_of;
pub use written::{Written, is_partial};

/// Runs all launches of `case` on fresh memory.
///
/// # Errors
/// Errors that do not come from the kernel; a fault of the kernel is a result.
pub fn run_case(program: &Arc<Program>, case: &Case, options: &RunOptions) -> Result<CaseRun, RunError> {
    run_case_until(program, case, options, || false)
}

/// Like [`run_case`], until `interrupt`, which is called many times a second, returns true.
///
/// # Errors
/// As of [`run_case`].
pub fn run_case_until(
    program: &Arc<Program>,
    case: &Case,
    options: &RunOptions,
    interrupt: impl Fn() -> bool,
) -> Result<CaseRun, RunError> {
    let (mut run, found) = run_undescribed(program, case, options, &interrupt)?;
    let mut texts = if found.is_empty() { Vec::new() } else { describe_case(program, case, options, &found)? };
    let job = Job { program, case, options, instrumentation: Instrumentation::Nothing };
    let (swapped_sections, others) = other_orders(job, &run, &interrupt)?;
    let numbers = texts.len() + 1..;
    texts.extend(
        describe_new(job, &found, &others, &interrupt)?.into_iter().zip(numbers).map(|(text, number)| FindingText { number, ..text }),
    );
    run.swapped_sections = swapped_sections;
    let found = texts;
    let fault = run.fault.iter().map(|fault| FindingText::of_fault(found.len() + 1, fault));
    run.findings = found.iter().cloned().chain(fault).collect();
    Ok(run)
}

/// Like [`run_case`] without describing findings: they are returned as machine data, and the run has no finding texts.
pub(in crate::debug) fn run_undescribed(
    program: &Arc<Program>,
    case: &Case,
    options: &RunOptions,
    interrupt: &dyn Fn() -> bool,
) -> Result<(CaseRun, Vec<Finding>), RunError> {
    if options.checks == Checks::NONE {
        let mut runner = Runner::new(Job { program, case, options, instrumentation: Instrumentation::Runs });
        runner.interrupt = interrupt;
        let mut written = record_of(case);
        while runner.run_next(|machine, launch| match written.as_mut().filter(|_| launch.is_partial()) {
            Some(written) => launch.run(machine, written),
            None => launch.run_unobserved(machine),
        })? {}
        runner.run.written = written;
        return Ok((runner.run, Vec::new()));
    }
    let (run, checkers) = run_checked(program, case, options, interrupt)?;
    Ok((run, checkers.findings().list().to_vec()))
}

/// Like [`run_undescribed`], but returns the checkers with their findings.
pub(in crate::debug) fn run_checked(
    program: &Arc<Program>,
    case: &Case,
    options: &RunOptions,
    interrupt: &dyn Fn() -> bool,
) -> Result<(CaseRun, Checkers), RunError> {
    run_checked_until((program, case, options), interrupt, &|_| false)
}

/// Like [`run_checked`], until the findings so far are enough.
pub(in crate::debug) fn run_checked_until(
    (program, case, options): (&Arc<Program>, &Case, &RunOptions),
    interrupt: &dyn Fn() -> bool,
    is_enough: &dyn Fn(&Findings) -> bool,
) -> Result<(CaseRun, Checkers), RunError> {
    let mut runner = Runner::new(Job { program, case, options, instrumentation: Instrumentation::Runs });
    (runner.interrupt, runner.is_enough) = (interrupt, is_enough);
    let mut checkers = Checkers::new(program, options.checks);
    let mut written = record_of(case);
    while runner.run_next(|machine, launch| launch.run_checked(machine, &mut checkers, written.as_mut().filter(|_| launch.is_partial())))? {
    }
    let mut run = runner.run;
    run.written = written;
    run.unordered_accesses = checkers.findings().unordered_accesses.clone();
    run.reversible = checkers.findings().reversible.clone();
    Ok((run, checkers))
}

/// The machine before the first launch of `case`, on fresh memory with the buffers of that launch; or the fault if it is refused.
///
/// # Errors
/// Errors that do not come from the kernel.
pub fn start_case(program: &Arc<Program>, case: &Case, options: &RunOptions) -> Result<Result<Machine, Box<Fault>>, RunError> {
    let fault_context = FaultContext::new(program, &case.launches[0], &case.buffers, 0);
    let device = Device::new(Arc::clone(program));
    let machine = Job { program, case, options, instrumentation: Instrumentation::Nothing }.prepare(
        &fault_context,
        device,
        Tick::START,
        &mut Vec::new(),
    )?;
    Ok(machine.map_err(|refused| refused.fault))
}
