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
use job::{Job, Started};
use ptxdbg::machine::Machine;

const SNAPSHOTS: u64 = 1_000;

fn main() {
    let mut criterion = job::criterion();
    let job = Job::load("fixtures/programs/sgemm_reg.ron");
    let mut done = job.start();
    job::run(&mut done.machine, u64::MAX, |_| {});
    job.check(&done);
    let slice = done.machine.tick() / SNAPSHOTS;
    let mut again = job.start();
    let mut kept = Vec::new();
    job::run(&mut again.machine, slice, |machine| kept.push(machine.clone()));
    assert_eq!(again.machine.digest(), done.machine.digest(), "snapshots must leave no trace");

    let mut plain = Duration::MAX;
    let run = |started: &mut Started| job::run(&mut started.machine, u64::MAX, |_| {});
    let mut group = criterion.benchmark_group("snapshots");
    group.sampling_mode(SamplingMode::Flat);
    group.bench_function("none", |bencher| bencher.iter_custom(|count| job::measure(count, &mut plain, || job.start(), run)));

    let mut snapshotted = Duration::MAX;
    let run = |(started, snapshots): &mut (Started, Vec<Machine>)| {
        job::run(&mut started.machine, slice, |machine| snapshots.push(machine.clone()));
    };
    let setup = || (job.start(), Vec::with_capacity(SNAPSHOTS as usize + 1));
    group.bench_function("1000", |bencher| bencher.iter_custom(|count| job::measure(count, &mut snapshotted, setup, run)));
    group.finish();
    criterion.final_summary();
    println!("run {plain:?}, with {SNAPSHOTS} snapshots {snapshotted:?}");
}
