//! Running the launches of a case, one after the other on the same memory.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::Arc;

use super::fault::{Blame, Fault};
use super::launcher::Job;
use crate::check::faults::TRAP;
use crate::check::{Checkers, Checks};
use crate::debug::fidelity::executed;
use crate::debug::findings::{FindingText, describe_case};
use crate::launch::{Case, DataError, PlannedLaunch};
use crate::machine::{
    Account, CopyPolicy, Device, DivergencePolicy, Machine, MemoryLimit, NotMapped, Observer, OutOfMemory, Schedule, Step, Tick, Unobserved,
};
use crate::program::{Pc, Program};

/// Warp-instructions run between two looks at the step limit and at whether the run is to end: a fraction of a second.
const SLICE: u64 = 1 << 19;

/// What holds for every launch of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunOptions {
    /// The order of warps.
    pub schedule: Schedule,
    /// Seed of everything that is random.
    pub seed: u64,
    /// When asynchronous copies end.
    pub copies: CopyPolicy,
    /// Which lanes of a warp run when they have parted; without it, those that run on the machines that the module is meant for.
    pub divergence: Option<DivergencePolicy>,
    /// Blocks resident at once at most.
    pub resident: Option<u32>,
    /// Warp-instructions of a launch at most.
    pub step_limit: Option<u64>,
    /// Bytes of simulated state at most.
    pub memory_limit: MemoryLimit,
    /// Which checkers watch.
    pub checks: Checks,
}

impl RunOptions {
    /// Which lanes of a warp of `program` run when they have parted.
    pub fn divergence_of(&self, program: &Program) -> DivergencePolicy {
        self.divergence.unwrap_or_else(|| DivergencePolicy::of_target(program.target.0))
    }
}

/// A case that was run to its end or to its first fault.
pub struct CaseRun {
    /// The memory afterwards; none if the machine refused a launch.
    pub device: Option<Device>,
    /// Address of every buffer that was made.
    pub addresses: Vec<u64>,
    /// The launches that were run.
    pub launches: Vec<LaunchRun>,
    /// What stopped it.
    pub fault: Option<Fault>,
    /// All that was found wrong: by the checkers, in the order in which they noticed it, and what stopped it.
    pub findings: Vec<FindingText>,
    /// The instructions that were executed, if the run kept account of them.
    pub executed: BTreeSet<Pc>,
    /// Whether it was interrupted before its end.
    pub interrupted: bool,
}

/// Asked many times a second whether a run is to end where it is.
pub type Interrupt = fn() -> bool;

/// One launch that was run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchRun {
    /// The kernel.
    pub kernel: String,
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z.
    pub block: [u32; 3],
    /// Warp-instructions issued.
    pub ticks: u64,
    /// Instructions executed by single threads.
    pub thread_instructions: u64,
}

/// A run that cannot go on for a reason outside the kernel.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// A data file was changed or removed.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The buffers do not fit the address space.
    #[error(transparent)]
    Memory(#[from] OutOfMemory),
    /// What a buffer holds at the start does not fit the limit.
    #[error("buffer '{name}' is filled with {bytes} of data: more simulated state than {limit}, the limit (--memory-limit)")]
    MemoryLimit {
        /// The buffer.
        name: String,
        /// What it is filled with, in words.
        bytes: String,
        /// The limit, in words.
        limit: String,
    },
    /// A case without launches.
    #[error("the launch file describes no launch")]
    NoLaunch,
    /// A buffer is not where it was made.
    #[error(transparent)]
    NotMapped(#[from] NotMapped),
}

/// Runs all launches of `case` on fresh memory.
///
/// # Errors
/// Reasons outside the kernel; a fault of the kernel is a result.
pub fn run_case(program: &Arc<Program>, case: &Case, options: &RunOptions) -> Result<CaseRun, RunError> {
    run_case_until(program, case, options, || false)
}

/// The same, up to where `interrupt` says so.
///
/// # Errors
/// As of [`run_case`].
pub fn run_case_until(program: &Arc<Program>, case: &Case, options: &RunOptions, interrupt: Interrupt) -> Result<CaseRun, RunError> {
    let mut runner = Runner::new(Job { program, case, options, account: Account::Runs });
    runner.interrupt = interrupt;
    let mut found = Vec::new();
    if options.checks == Checks::NONE {
        while runner.run_next(|machine, course| course.run(machine, &mut Unobserved))? {}
    } else {
        let mut checkers = Checkers::new(program, options.checks);
        while runner.run_next(|machine, course| course.run_checked(machine, &mut checkers))? {}
        found = describe_case(program, case, options, checkers.findings().list())?;
    }
    let mut run = runner.run;
    let fault = run.fault.iter().map(|fault| FindingText::of_fault(found.len() + 1, fault));
    run.findings = found.iter().cloned().chain(fault).collect();
    Ok(run)
}

/// The machine about to execute the first launch of `case`, on fresh memory with the buffers of that launch; or why it is refused.
///
/// # Errors
/// Reasons outside the kernel.
pub fn start_case(program: &Arc<Program>, case: &Case, options: &RunOptions) -> Result<Result<Machine, Box<Fault>>, RunError> {
    let blame = Blame { program, launch: &case.launches[0], index: 0 };
    let device = Device::new(Arc::clone(program));
    let machine = Job { program, case, options, account: Account::Nothing }.prepare(&blame, device, 0, &mut Vec::new())?;
    Ok(machine.map_err(|refused| refused.fault))
}

/// A case in the course of being run.
pub(in crate::debug) struct Runner<'a> {
    job: Job<'a>,
    /// Where the last launch ended.
    time: Tick,
    interrupt: Interrupt,
    pub run: CaseRun,
}

impl<'a> Runner<'a> {
    pub fn new(job: Job<'a>) -> Self {
        let run = CaseRun {
            device: Some(Device::new(Arc::clone(job.program))),
            addresses: Vec::new(),
            launches: Vec::new(),
            fault: None,
            findings: Vec::new(),
            executed: BTreeSet::new(),
            interrupted: false,
        };
        Self { job, time: 0, interrupt: || false, run }
    }

    /// Runs the next launch as `run` says, which answers what stopped it; false if there is none, or a fault or the user has stopped the
    /// case.
    pub fn run_next(&mut self, run: impl FnOnce(&mut Machine, &Course<'_>) -> Option<Fault>) -> Result<bool, RunError> {
        let (Some(blame), None) = (self.job.blame(self.run.launches.len()), &self.run.fault) else { return Ok(false) };
        if self.run.interrupted {
            return Ok(false);
        }
        let Some(device) = self.run.device.take() else { return Ok(false) };
        let PlannedLaunch { grid, block, .. } = *blame.launch;
        let prepared = self.job.prepare(&blame, device, self.time, &mut self.run.addresses)?;
        self.run.launches.push(LaunchRun { kernel: blame.kernel_name(), grid, block, ticks: 0, thread_instructions: 0 });
        match prepared {
            Ok(mut machine) => {
                let course = Course { blame: &blame, options: self.job.options, interrupt: self.interrupt, interrupted: Cell::new(false) };
                self.run.fault = run(&mut machine, &course);
                self.run.interrupted = course.interrupted.get();
                self.finish(machine);
            }
            Err(refused) => (self.run.device, self.run.fault) = (Some(refused.device), Some(*refused.fault)),
        }
        Ok(true)
    }

    fn finish(&mut self, machine: Machine) {
        if let Some(ran) = self.run.launches.last_mut() {
            ran.ticks = machine.tick() - self.time;
            ran.thread_instructions = machine.thread_instructions();
        }
        self.run.executed.append(&mut executed(&machine));
        self.time = machine.tick();
        self.run.device = Some(machine.into_device());
    }
}

/// A launch on its way to its end.
pub(in crate::debug) struct Course<'a> {
    blame: &'a Blame<'a>,
    options: &'a RunOptions,
    interrupt: Interrupt,
    interrupted: Cell<bool>,
}

impl Course<'_> {
    /// Which launch of the case.
    pub fn launch(&self) -> usize {
        self.blame.index
    }

    /// Runs until all blocks have finished or the run is interrupted; the fault that stopped it otherwise.
    pub fn run(&self, machine: &mut Machine, observer: &mut dyn Observer) -> Option<Fault> {
        let (start, blame) = (machine.start(), self.blame);
        let RunOptions { step_limit, memory_limit, .. } = *self.options;
        loop {
            let left = step_limit.map_or(SLICE, |limit| limit.saturating_sub(machine.tick() - start).min(SLICE));
            match machine.run(left, observer) {
                Step::Done => return None,
                Step::Trapped(trap) => return Some(blame.trap(&trap)),
                Step::Stuck(stuck) => return Some(blame.deadlock(&stuck)),
                Step::Livelocked(stuck) => return Some(blame.livelock(&stuck)),
                Step::OverLimit(footprint) => return Some(blame.over_limit(footprint, memory_limit)),
                Step::Budget | Step::Paused => {}
            }
            if let Some(limit) = step_limit.filter(|limit| machine.tick() - start >= *limit) {
                return Some(blame.unfinished(machine, limit));
            }
            if (self.interrupt)() {
                self.interrupted.set(true);
                return None;
            }
        }
    }

    /// The same, watched by `checkers`.
    fn run_checked(&self, machine: &mut Machine, checkers: &mut Checkers) -> Option<Fault> {
        checkers.begin(self.launch(), &machine.launch_start());
        let fault = self.run(machine, checkers);
        // For the checkers an interrupted launch is cut off as by a trap: what would have come to an end later is not blamed.
        let cut = self.interrupted.get().then_some(TRAP);
        checkers.end(&machine.launch_end(), fault.as_ref().map(|fault| fault.id).or(cut));
        fault
    }
}
