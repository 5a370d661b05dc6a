//! What the checkers cost: the time of a run with all of them on against one with none, and the bytes of their shadow for each byte of
//! memory that was touched. The last kernel runs in a grid of 10,000 blocks.
//!
//! `cargo bench --bench checks`, or `cargo bench --bench checks -- histogram` for the kernels whose names hold a word.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a bench that cannot run says so and ends; its table is its result"
)]

mod job;

use std::time::Duration;

use job::Job;
use ptxdbg::check::{Checkers, Checks};

/// The kernels of `benches/kernels`, and the grid instead of their own.
const KERNELS: &[(&str, Option<[u32; 3]>)] = &[
    ("saxpy", None),
    ("sgemm", None),
    ("sgemm_async", None),
    ("reduce", None),
    ("histogram", None),
    ("split_k", None),
    ("nbody", None),
    ("collatz", None),
    ("saxpy", Some([10_000, 1, 1])),
];

/// Times a run is measured; the shortest counts.
const RUNS: u64 = 5;

/// Times the checkers may make a run slower, and bytes of shadow for a byte that was touched.
const LIMITS: (f64, f64) = (2.0, 4.0);

fn main() {
    println!("{:<20}{:>10}{:>10}{:>8}{:>8}{:>14}", "kernel", "ms", "checked", "ratio", "at most", "shadow/byte");
    let word = std::env::args().skip(1).find(|word| !word.starts_with('-')).unwrap_or_default();
    for (kernel, grid) in KERNELS.iter().filter(|(kernel, _)| kernel.contains(&word)) {
        let job = Job::load_with_grid(&format!("benches/kernels/{kernel}.ron"), *grid);
        let (mut plain, mut checked, mut size) = (Duration::MAX, Duration::MAX, (0, 0));
        job::measure(RUNS, &mut plain, || job.start(), job::run);
        let start = || (job.start(), Checkers::new(job.program(), Checks::ALL));
        job::measure(RUNS, &mut checked, start, |(machine, checkers)| {
            job::run_checked(machine, checkers);
            size = checkers.size();
        });
        let ratio = checked.as_secs_f64() / plain.as_secs_f64();
        let shadow = size.0 as f64 / size.1.max(1) as f64;
        let name = grid.map_or((*kernel).to_string(), |[x, ..]| format!("{kernel}, {x} blocks"));
        let (plain, checked) = (plain.as_secs_f64() * 1e3, checked.as_secs_f64() * 1e3);
        println!("{name:<20}{plain:>10.1}{checked:>10.1}{ratio:>8.2}{:>8}{shadow:>14.2}", LIMITS.0);
        if ratio > LIMITS.0 || shadow > LIMITS.1 {
            println!("  over the limit of {} times and {} bytes", LIMITS.0, LIMITS.1);
        }
    }
}
