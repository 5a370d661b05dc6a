//! What snapshots cost: a run of `sgemm_reg` alone, and the same run with 1,000 snapshots spread over it and kept.
//!
//! The snapshots must cost less than the run: the second time must be less than twice the first.
//!
//! `cargo bench --bench snapshots`

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a bench that cannot run says so and ends; its table is its result"
)]

mod job;

use std::time::Duration;

use criterion::SamplingMode;
use job::Job;
use ptxdbg::machine::Machine;

const SNAPSHOTS: u64 = 1_000;

fn main() {
    let job = Job::load("fixtures/programs/sgemm_reg.ron");
    let mut done = job.start();
    job::run(&mut done);
    let slice = done.tick().0 / SNAPSHOTS;
    let run_with_snapshots = |(machine, kept): &mut (Machine, Vec<Machine>)| {
        job::run_sliced(machine, slice, |machine| kept.push(machine.clone()));
    };
    let start = || (job.start(), Vec::with_capacity(SNAPSHOTS as usize + 1));
    let mut again = start();
    run_with_snapshots(&mut again);
    assert_eq!(again.0.digest(), done.digest(), "snapshots must leave no trace");
    drop(again);

    let mut criterion = job::criterion();
    let mut group = criterion.benchmark_group("snapshots");
    group.sampling_mode(SamplingMode::Flat);
    let mut plain = Duration::MAX;
    group.bench_function("none", |bencher| {
        bencher.iter_custom(|count| job::measure(count, &mut plain, || job.start(), job::run));
    });
    let mut snapshotted = Duration::MAX;
    group.bench_function("1000", |bencher| {
        bencher.iter_custom(|count| job::measure(count, &mut snapshotted, start, run_with_snapshots));
    });
    group.finish();
    criterion.final_summary();
    println!("the run alone {plain:?}, with {SNAPSHOTS} snapshots {snapshotted:?}");
}
