//! One launch on several cores: the time of its run in order, and with its blocks side by side.
//!
//! `cargo bench --bench side_by_side`, or `cargo bench --bench side_by_side -- sgemm` for the kernels whose names hold a word.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a bench that cannot run ends; its table is its result")]

use std::path::Path;
use std::time::{Duration, Instant};

use ptxdbg::base::cores;
use ptxdbg::check::Checks;
use ptxdbg::debug::open::open;
use ptxdbg::debug::{LaunchChoice, Overrides, Request, RunOptions, run_case, start_case};

/// The launch files of `benches/kernels`.
const KERNELS: &[&str] = &["saxpy", "sgemm_large", "sgemm_async", "nbody", "collatz"];

/// Times a run is measured; the shortest counts.
const RUNS: u32 = 7;

/// How many times as fast a launch on two cores must be.
const WANTED: f64 = 1.8;

fn shortest(mut run: impl FnMut()) -> Duration {
    let timed = |_| {
        let begun = Instant::now();
        run();
        begun.elapsed()
    };
    (0..RUNS).map(timed).min().unwrap()
}

fn main() {
    println!("{:<14}{:<8}{:>10}{:>14}{:>8}   (wanted on two cores: {WANTED})", "kernel", "checks", "ms", "side by side", "times");
    let word = std::env::args().skip(1).find(|word| !word.starts_with('-')).unwrap_or_default();
    for kernel in KERNELS.iter().filter(|kernel| kernel.contains(&word)) {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("benches/kernels/{kernel}.ron"));
        let request = Request { modules: Vec::new(), launch: LaunchChoice::File(file), overrides: Overrides::default() };
        let opened = open(&request).unwrap();
        let (program, case) = (&opened.program, &opened.plan.cases[0]);
        for (word, checks) in [("none", Checks::NONE), ("all", Checks::ALL)] {
            let options = |jobs| RunOptions { checks, jobs, ..RunOptions::unwatched() };
            // Buffers are filled in order.
            let start = shortest(|| drop(start_case(program, case, &options(1)).unwrap()));
            let run = |jobs| shortest(|| drop(run_case(program, case, &options(jobs)).unwrap())).saturating_sub(start).as_secs_f64() * 1e3;
            let (one, all) = (run(1), run(cores()));
            println!("{kernel:<14}{word:<8}{one:>10.1}{all:>14.1}{:>8.2}", one / all);
        }
    }
}
