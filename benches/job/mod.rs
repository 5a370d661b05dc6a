//! A launch file as a machine that is about to run, and the table that the benches print.

#![allow(dead_code, reason = "each bench uses a part of this")]

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::Criterion;
use ptxdbg::base::Sources;
use ptxdbg::launch::{self, Case, Contents, DataError, LaunchFile, Overrides};
use ptxdbg::machine::{Device, LaunchConfig, Machine, NotMapped, Schedule, Step, Unobserved};
use ptxdbg::program::Program;
use ptxdbg::sema;

/// A kernel and everything it is started with.
pub struct Job {
    program: Arc<Program>,
    case: Case,
}

/// A machine that has not run yet, and the address of each buffer.
pub struct Started {
    /// The machine.
    pub machine: Machine,
    addresses: Vec<u64>,
}

/// Why a buffer could not be filled or compared.
#[derive(Debug)]
enum CopyError {
    Data(DataError),
    Memory(NotMapped),
}

impl From<DataError> for CopyError {
    fn from(error: DataError) -> Self {
        CopyError::Data(error)
    }
}

impl Job {
    /// Reads `path`, a launch file with one launch, from the top of the project.
    pub fn load(path: &str) -> Job {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        let folder = path.parent().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let file = LaunchFile::parse(&path.to_string_lossy(), folder, text).unwrap();
        let module = path.with_extension("ptx");
        let (program, diagnostics) = sema::load_file(&mut Sources::default(), &module).unwrap();
        let program = program.unwrap_or_else(|| panic!("{}: {diagnostics:?}", module.display()));
        let plan = launch::plan(&file, &program, &module.to_string_lossy(), &Overrides::default()).unwrap();
        let [case] = <[Case; 1]>::try_from(plan.cases).unwrap();
        Job { program, case }
    }

    /// Fresh memory, buffers filled, nothing executed.
    pub fn start(&self) -> Started {
        let [launch] = &*self.case.launches else { panic!("{} has several launches", self.case.name) };
        let mut device = Device::new(Arc::clone(&self.program));
        let mut addresses = Vec::new();
        for buffer in &self.case.buffers {
            let fill = if let Contents::Byte(byte) = buffer.contents { Some(byte) } else { None };
            let address = device.allocate(&buffer.name, buffer.bytes, fill).unwrap();
            let mut sink = |offset, piece: &[u8]| device.write(address + offset, piece).map_err(CopyError::Memory);
            buffer.contents.fill(buffer.bytes, &mut sink).unwrap();
            addresses.push(address);
        }
        let config = LaunchConfig {
            kernel: launch.kernel,
            grid: launch.grid,
            block: launch.block,
            cluster: launch.cluster,
            dynamic_shared: launch.dynamic_shared,
            params: launch.param_bytes(&addresses, |_, _| None).unwrap(),
            cooperative: launch.cooperative,
            resident: None,
            schedule: Schedule::InOrder,
            seed: 0,
        };
        Started { machine: Machine::new(device, config).unwrap(), addresses }
    }

    /// Panics if a buffer does not hold what the launch file expects.
    pub fn check(&self, done: &Started) {
        for (buffer, address) in self.case.buffers.iter().zip(&done.addresses) {
            let Some(expect) = &buffer.expect else { continue };
            let read = |offset, out: &mut [u8]| done.machine.device().read(address + offset, out).map_err(CopyError::Memory);
            let comparison = expect.compare(buffer.element, buffer.bytes, 1, read).unwrap();
            assert!(comparison.wrong == 0, "{}: buffer '{}': {comparison:?}", self.case.name, buffer.name);
        }
    }
}

/// Runs `machine` to its end in slices of `budget` ticks, and calls `between` after each.
pub fn run(machine: &mut Machine, budget: u64, mut between: impl FnMut(&Machine)) {
    loop {
        match machine.run(budget, &mut Unobserved) {
            Step::Budget => between(machine),
            Step::Done => return,
            stopped => panic!("{stopped:?}"),
        }
    }
}

/// The settings of all benches: short, because what is measured takes long.
pub fn criterion() -> Criterion {
    let short = Criterion::default().sample_size(10).warm_up_time(Duration::from_millis(300));
    short.measurement_time(Duration::from_secs(2)).without_plots().configure_from_args()
}

/// The time `work` takes on what `setup` makes, `count` times, and the shortest of them all so far in `shortest`.
pub fn measure<T>(count: u64, shortest: &mut Duration, mut setup: impl FnMut() -> T, mut work: impl FnMut(&mut T)) -> Duration {
    let mut total = Duration::ZERO;
    for _ in 0..count {
        let mut subject = setup();
        let begun = Instant::now();
        work(&mut subject);
        let elapsed = begun.elapsed();
        *shortest = elapsed.min(*shortest);
        total += elapsed;
    }
    total
}
