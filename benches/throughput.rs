//! How many instructions of threads one core executes in a second, kernel by kernel, with fault checks on.
//!
//! A warp-instruction counts as many times as it has active lanes. Loading and filling buffers is not part of the time; every
//! kernel's results are checked before it is measured. The table at the end shows the fastest run of each.
//!
//! `cargo bench --bench throughput`

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a bench that cannot run says so and ends; its table is its result"
)]

mod job;

use std::time::Duration;

use criterion::{SamplingMode, Throughput};
use job::Job;

/// The kernels of `benches/kernels`, and the millions of thread-instructions in a second that each must reach.
const KERNELS: &[(&str, u32)] =
    &[("saxpy", 400), ("sgemm", 300), ("sgemm_async", 150), ("reduce", 350), ("histogram", 350), ("nbody", 270), ("collatz", 160)];

/// One line of the table.
struct Row {
    kernel: &'static str,
    thread_instructions: u64,
    shortest: Duration,
    target: u32,
}

fn main() {
    let mut criterion = job::criterion();
    let mut group = criterion.benchmark_group("throughput");
    group.sampling_mode(SamplingMode::Flat);
    let mut rows = Vec::new();
    for (kernel, target) in KERNELS {
        let job = Job::load(&format!("benches/kernels/{kernel}.ron"));
        let mut done = job.start();
        job::run(&mut done);
        let thread_instructions = done.thread_instructions();
        let mut shortest = Duration::MAX;
        group.throughput(Throughput::Elements(thread_instructions));
        group.bench_function(*kernel, |bencher| {
            bencher.iter_custom(|count| job::measure(count, &mut shortest, || job.start(), job::run));
        });
        rows.push(Row { kernel, thread_instructions, shortest, target: *target });
    }
    group.finish();
    criterion.final_summary();
    print_table(&rows);
}

fn print_table(rows: &[Row]) {
    println!("{:<12}{:>22}{:>10}{:>10}", "kernel", "thread-instructions", "Mti/s", "target");
    for row in rows.iter().filter(|row| row.shortest < Duration::MAX) {
        let speed = row.thread_instructions as f64 / row.shortest.as_secs_f64() / 1e6;
        println!("{:<12}{:>22}{speed:>10.0}{:>10}", row.kernel, row.thread_instructions, row.target);
    }
}
