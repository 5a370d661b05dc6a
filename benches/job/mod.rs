//! A launch file as a machine that is about to run, and how long it takes.

#![allow(dead_code, reason = "each bench uses a part of this")]

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cpu_time::ThreadTime;
use criterion::Criterion;
use ptxdbg::check::{Checkers, Checks};
use ptxdbg::debug::open::open;
use ptxdbg::debug::{LaunchChoice, Opened, Overrides, Request, RunOptions, start_case, verify_case};
use ptxdbg::launch::Case;
use ptxdbg::machine::{Machine, NullObserver, Step};
use ptxdbg::program::Program;

/// A kernel and everything it is started with.
pub struct Job {
    program: Arc<Program>,
    case: Case,
}

impl Job {
    /// Reads `path`, a launch file with one launch, from the top of the project, and asserts that the launch leaves what it must in memory.
    pub fn load(path: &str) -> Job {
        Self::load_with_grid(path, None)
    }

    /// The same with another grid than the file says.
    pub fn load_with_grid(path: &str, grid: Option<[u32; 3]>) -> Job {
        Self::load_as(path, grid, &RunOptions::unwatched(), true)
    }

    /// The launch of `path`, run with `options`, which leaves what it must within the tolerances of the file.
    pub fn load_with(path: &str, options: &RunOptions) -> Job {
        Self::load_as(path, None, options, false)
    }

    fn load_as(path: &str, grid: Option<[u32; 3]>, options: &RunOptions, exact: bool) -> Job {
        let launch = LaunchChoice::File(Path::new(env!("CARGO_MANIFEST_DIR")).join(path));
        let overrides = Overrides { grid, ..Overrides::default() };
        let Opened { program, plan, .. } = open(&Request { modules: Vec::new(), launch, overrides }).unwrap();
        let [case] = <[Case; 1]>::try_from(plan.cases).unwrap();
        let report = verify_case(&program, &case, options, exact).unwrap();
        assert!(report.failures.is_empty(), "{path}: {:?}", report.failures);
        Job { program, case }
    }

    /// The program.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// Fresh memory, buffers filled, nothing executed.
    pub fn start(&self) -> Machine {
        self.start_with(&RunOptions::unwatched())
    }

    /// The same with options.
    pub fn start_with(&self, options: &RunOptions) -> Machine {
        assert_eq!(self.case.launches.len(), 1, "{} has several launches", self.case.name);
        start_case(&self.program, &self.case, options).unwrap().unwrap()
    }
}

impl Job {
    /// The thread-instructions of the launch, and the shortest processor time of `runs` runs with these checkers.
    pub fn speed(&self, options: &RunOptions, checks: Checks, runs: usize) -> (u64, Duration) {
        let (mut count, mut shortest) = (0, Duration::MAX);
        for _ in 0..runs {
            let mut machine = self.start_with(options);
            let mut checkers = (checks != Checks::NONE).then(|| Checkers::new(self.program(), checks));
            let begun = ThreadTime::now();
            match &mut checkers {
                Some(checkers) => run_checked(&mut machine, checkers),
                None => run(&mut machine),
            }
            shortest = shortest.min(begun.elapsed());
            count = machine.thread_instructions();
        }
        (count, shortest)
    }
}

/// Runs `machine` to its end.
pub fn run(machine: &mut Machine) {
    run_sliced(machine, u64::MAX, |_| {});
}

/// Runs `machine` to its end in slices of `ticks`, and calls `between` after each but the last.
pub fn run_sliced(machine: &mut Machine, ticks: u64, mut between: impl FnMut(&Machine)) {
    loop {
        match machine.run(ticks, &mut NullObserver) {
            Step::Budget => between(machine),
            Step::Done => return,
            stopped => panic!("{stopped:?}"),
        }
    }
}

/// Runs `machine` to its end with `checkers` watching, which must find nothing.
pub fn run_checked(machine: &mut Machine, checkers: &mut Checkers) {
    checkers.begin(0, &machine.launch_start());
    loop {
        match machine.run(u64::MAX, checkers) {
            Step::Budget | Step::Paused => {}
            Step::Done => break,
            stopped => panic!("{stopped:?}"),
        }
    }
    checkers.end(&machine.launch_end(), None);
    assert!(checkers.findings().list().is_empty(), "{:?}", checkers.findings().list());
}

/// The settings of all benches: short, because what is measured takes long.
pub fn criterion() -> Criterion {
    let short = Criterion::default().sample_size(10).warm_up_time(Duration::from_millis(300));
    short.measurement_time(Duration::from_secs(2)).without_plots().configure_from_args()
}

/// The time `work` takes on what `setup` makes, `count` times; `shortest` keeps the shortest of them all.
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
