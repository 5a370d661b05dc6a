//! Running the launches of a case, one after the other on the same memory.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::fault::{Blame, Fault};
use super::launcher::Job;
use crate::debug::fidelity::executed;
use crate::launch::{Case, DataError, PlannedLaunch};
use crate::machine::{
    Account, CopyPolicy, Device, DivergencePolicy, Machine, NotMapped, Observer, OutOfMemory, Schedule, Step, Tick, Unobserved,
};
use crate::program::{Pc, Program};

/// Warp-instructions run between two looks at the step limit.
const SLICE: u64 = 1 << 24;

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
    /// The instructions that were executed, if the run kept account of them.
    pub executed: BTreeSet<Pc>,
}

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
    let mut runner = Runner::new(Job { program, case, options, account: Account::Runs });
    while runner.run_next(&mut Unobserved)? {}
    Ok(runner.run)
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
    pub run: CaseRun,
}

impl<'a> Runner<'a> {
    pub fn new(job: Job<'a>) -> Self {
        let device = Some(Device::new(Arc::clone(job.program)));
        Self { job, time: 0, run: CaseRun { device, addresses: Vec::new(), launches: Vec::new(), fault: None, executed: BTreeSet::new() } }
    }

    /// Runs the next launch; false if there is none, or a fault has stopped the case.
    pub fn run_next(&mut self, observer: &mut impl Observer) -> Result<bool, RunError> {
        let (Some(blame), None) = (self.job.blame(self.run.launches.len()), &self.run.fault) else { return Ok(false) };
        let Some(device) = self.run.device.take() else { return Ok(false) };
        let PlannedLaunch { grid, block, .. } = *blame.launch;
        let prepared = self.job.prepare(&blame, device, self.time, &mut self.run.addresses)?;
        self.run.launches.push(LaunchRun { kernel: blame.kernel_name(), grid, block, ticks: 0, thread_instructions: 0 });
        match prepared {
            Ok(machine) => self.finish(machine, &blame, observer),
            Err(refused) => (self.run.device, self.run.fault) = (Some(refused.device), Some(*refused.fault)),
        }
        Ok(true)
    }

    fn finish(&mut self, mut machine: Machine, blame: &Blame<'_>, observer: &mut impl Observer) {
        self.run.fault = run_to_end(&mut machine, self.job.options.step_limit, blame, observer);
        if let Some(ran) = self.run.launches.last_mut() {
            ran.ticks = machine.tick() - self.time;
            ran.thread_instructions = machine.thread_instructions();
        }
        self.run.executed.append(&mut executed(&machine));
        self.time = machine.tick();
        self.run.device = Some(machine.into_device());
    }
}

/// Runs until all blocks have finished; what stopped it otherwise.
fn run_to_end(machine: &mut Machine, step_limit: Option<u64>, blame: &Blame<'_>, observer: &mut impl Observer) -> Option<Fault> {
    let start = machine.tick();
    loop {
        let left = step_limit.map_or(SLICE, |limit| limit.saturating_sub(machine.tick() - start).min(SLICE));
        match machine.run(left, observer) {
            Step::Done => return None,
            Step::Trapped(trap) => return Some(blame.trap(&trap)),
            Step::Stuck(stuck) => return Some(blame.deadlock(&stuck)),
            Step::Budget | Step::Paused => {}
        }
        if let Some(limit) = step_limit.filter(|limit| machine.tick() - start >= *limit) {
            return Some(blame.livelock(machine, limit));
        }
    }
}
