//! Running the launches of a case, one after the other on the same memory.

use std::sync::Arc;

use super::fault::{Blame, Fault};
use crate::launch::{Case, Contents, DataError, PlannedBuffer, PlannedLaunch};
use crate::machine::{Device, LaunchConfig, Machine, NotMapped, Observer, OutOfMemory, Schedule, Step, Unobserved};
use crate::program::Program;

/// Warp-instructions run between two looks at the step limit.
const SLICE: u64 = 1 << 24;

/// What holds for every launch of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunOptions {
    /// The order of warps.
    pub schedule: Schedule,
    /// Seed of everything that is random.
    pub seed: u64,
    /// Blocks resident at once at most.
    pub resident: Option<u32>,
    /// Warp-instructions of a launch at most.
    pub step_limit: Option<u64>,
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
    /// A buffer is not where it was made.
    #[error(transparent)]
    NotMapped(#[from] NotMapped),
}

/// Runs all launches of `case` on fresh memory.
///
/// # Errors
/// Reasons outside the kernel; a fault of the kernel is a result.
pub fn run_case(program: &Arc<Program>, case: &Case, options: &RunOptions) -> Result<CaseRun, RunError> {
    let mut runner = Runner::new(program, case, options);
    while runner.run_next(&mut Unobserved)? {}
    Ok(runner.run)
}

/// The machine about to execute the first launch of `case`, on fresh memory with the buffers of that launch; or why it is refused.
///
/// # Errors
/// Reasons outside the kernel.
pub fn start_case(program: &Arc<Program>, case: &Case, options: &RunOptions) -> Result<Result<Machine, Box<Fault>>, RunError> {
    let blame = Blame { program, launch: &case.launches[0], index: 0 };
    Runner::new(program, case, options).prepare(Device::new(Arc::clone(program)), &blame)
}

/// A case in the course of being run.
pub(super) struct Runner<'a> {
    program: &'a Arc<Program>,
    case: &'a Case,
    options: &'a RunOptions,
    pub run: CaseRun,
}

impl<'a> Runner<'a> {
    pub fn new(program: &'a Arc<Program>, case: &'a Case, options: &'a RunOptions) -> Self {
        let device = Some(Device::new(Arc::clone(program)));
        Self { program, case, options, run: CaseRun { device, addresses: Vec::new(), launches: Vec::new(), fault: None } }
    }

    /// Runs the next launch; false if there is none, or a fault has stopped the case.
    pub fn run_next(&mut self, observer: &mut impl Observer) -> Result<bool, RunError> {
        let index = self.run.launches.len();
        let (Some(launch), None) = (self.case.launches.get(index), &self.run.fault) else { return Ok(false) };
        let Some(device) = self.run.device.take() else { return Ok(false) };
        let blame = Blame { program: self.program, launch, index };
        let ran = LaunchRun { kernel: blame.kernel_name(), grid: launch.grid, block: launch.block, ticks: 0, thread_instructions: 0 };
        let prepared = self.prepare(device, &blame)?;
        self.run.launches.push(ran);
        match prepared {
            Ok(machine) => self.finish(machine, &blame, observer),
            Err(fault) => self.run.fault = Some(*fault),
        }
        Ok(true)
    }

    /// The machine about to execute a launch, whose buffers are made; or why it is refused.
    fn prepare(&mut self, mut device: Device, blame: &Blame<'_>) -> Result<Result<Machine, Box<Fault>>, RunError> {
        for buffer in self.case.buffers.iter().filter(|buffer| buffer.launch == blame.index) {
            self.run.addresses.push(make_buffer(&mut device, buffer)?);
        }
        let refusal = match (&blame.launch.bounds, self.params(blame)) {
            (Some(message), _) => Box::new(blame.refused(message.clone())),
            (None, Err(fault)) => fault,
            (None, Ok(params)) => {
                let machine = Machine::new(device, self.config(blame.launch, params));
                return Ok(machine.map_err(|error| Box::new(blame.refused(error.to_string()))));
            }
        };
        self.run.device = Some(device);
        Ok(Err(refusal))
    }

    fn params(&self, blame: &Blame<'_>) -> Result<Vec<u8>, Box<Fault>> {
        let bytes = blame.launch.param_bytes(&self.run.addresses, |_, _| None);
        bytes.map_err(|index| Box::new(blame.unsupported(format!("params[{index}] is a tensor map, and tensor copies are not modelled"))))
    }

    fn finish(&mut self, mut machine: Machine, blame: &Blame<'_>, observer: &mut impl Observer) {
        self.run.fault = run_to_end(&mut machine, self.options.step_limit, blame, observer);
        if let Some(ran) = self.run.launches.last_mut() {
            ran.ticks = machine.tick();
            ran.thread_instructions = machine.thread_instructions();
        }
        self.run.device = Some(machine.into_device());
    }

    fn config(&self, launch: &PlannedLaunch, params: Vec<u8>) -> LaunchConfig {
        LaunchConfig {
            kernel: launch.kernel,
            grid: launch.grid,
            block: launch.block,
            cluster: launch.cluster,
            dynamic_shared: launch.dynamic_shared,
            params,
            cooperative: launch.cooperative,
            resident: self.options.resident,
            schedule: self.options.schedule,
            seed: self.options.seed,
        }
    }
}

/// Makes a buffer and writes what it holds at the start.
fn make_buffer(device: &mut Device, buffer: &PlannedBuffer) -> Result<u64, RunError> {
    let fill = match buffer.contents {
        Contents::Uninit => None,
        Contents::Byte(byte) => Some(byte),
        Contents::Made(..) | Contents::Bytes(_) | Contents::File(_) => Some(0),
    };
    // Recorded suites store 8-bit results as words, into buffers that are declared by the byte.
    let padding = if buffer.element.bytes() == 1 { buffer.bytes.saturating_mul(3) } else { 0 };
    let address = device.allocate_padded(&buffer.name, buffer.bytes, padding, fill)?;
    buffer.contents.fill(buffer.bytes, &mut |offset, piece| device.write(address + offset, piece).map_err(RunError::from))?;
    Ok(address)
}

/// Runs until all blocks have finished; what stopped it otherwise.
fn run_to_end(machine: &mut Machine, step_limit: Option<u64>, blame: &Blame<'_>, observer: &mut impl Observer) -> Option<Fault> {
    loop {
        let left = step_limit.map_or(SLICE, |limit| limit.saturating_sub(machine.tick()).min(SLICE));
        match machine.run(left, observer) {
            Step::Done => return None,
            Step::Trapped(trap) => return Some(blame.trap(&trap)),
            Step::Stuck(stuck) => return Some(blame.deadlock(&stuck)),
            Step::Budget => {}
        }
        if let Some(limit) = step_limit.filter(|limit| machine.tick() >= *limit) {
            return Some(blame.livelock(machine, limit));
        }
    }
}
