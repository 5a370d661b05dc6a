//! How many results of single lanes one core computes in a second, special function by special function.
//!
//! A kernel of little but the instruction is run by the interpreter, with arguments from -10 to 10 that differ in every lane. The table at
//! the end shows the fastest run of each.
//!
//! `cargo bench --bench special_functions`

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a bench that cannot run says so and ends; its table is its result"
)]

mod job;

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use criterion::{SamplingMode, Throughput};
use job::Job;

/// The forms, and the millions of results in a second that each must reach.
const FORMS: &[(&str, u32)] = &[
    ("ex2.approx.f32", 150),
    ("lg2.approx.f32", 150),
    ("sin.approx.f32", 100),
    ("cos.approx.f32", 100),
    ("tanh.approx.f32", 100),
    ("rcp.approx.f32", 150),
    ("rsqrt.approx.f32", 150),
    ("sqrt.approx.f32", 150),
    ("div.approx.f32", 150),
    ("div.full.f32", 150),
];

/// Instructions in a row, each with arguments and a result of its own.
const UNROLLED: u32 = 16;
const ROUNDS: u32 = 256;
const BLOCKS: u32 = 16;
const THREADS: u32 = 128;

fn main() {
    let mut criterion = job::criterion();
    let mut group = criterion.benchmark_group("special_functions");
    group.sampling_mode(SamplingMode::Flat);
    let results = u64::from(UNROLLED * ROUNDS * BLOCKS * THREADS);
    let mut rows = Vec::new();
    for (opcode, target) in FORMS {
        let job = Job::load(&launch_file(opcode));
        let mut shortest = Duration::MAX;
        group.throughput(Throughput::Elements(results));
        group.bench_function(*opcode, |bencher| {
            bencher.iter_custom(|count| job::measure(count, &mut shortest, || job.start(), job::run));
        });
        rows.push((opcode, shortest, target));
    }
    group.finish();
    criterion.final_summary();
    println!("{:<18}{:>12}{:>10}", "form", "Mresults/s", "target");
    for (opcode, shortest, target) in rows.iter().filter(|row| row.1 < Duration::MAX) {
        println!("{opcode:<18}{:>12.0}{target:>10}", results as f64 / shortest.as_secs_f64() / 1e6);
    }
}

/// Writes a kernel that executes little but `opcode`, and its launch file, whose path it gives.
fn launch_file(opcode: &str) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let launch =
        format!("Launch(module: \"{opcode}.ptx\", kernel: \"special\", grid: ({BLOCKS}, 1, 1), block: ({THREADS}, 1, 1), params: [])");
    let path = folder.join(format!("{opcode}.ron"));
    std::fs::write(folder.join(format!("{opcode}.ptx")), module(opcode)).unwrap();
    std::fs::write(&path, launch).unwrap();
    path.to_str().unwrap().to_string()
}

fn module(opcode: &str) -> String {
    let mut text = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry special()\n{{\n\
         .reg .f32 %x<{UNROLLED}>, %y<{UNROLLED}>;\n.reg .u32 %i, %t;\n.reg .pred %again;\nmov.u32 %t, %tid.x;\n"
    );
    let second = if opcode.starts_with("div") { ", 0f3fc00000" } else { "" };
    for index in 0..UNROLLED {
        // (16 t + index) / 100 - 10
        writeln!(text, "mad.lo.u32 %i, %t, {UNROLLED}, {index};\ncvt.rn.f32.u32 %x{index}, %i;").unwrap();
        writeln!(text, "fma.rn.f32 %x{index}, %x{index}, 0f3c23d70a, 0fc1200000;").unwrap();
    }
    text += "mov.u32 %i, 0;\nAGAIN:\n";
    for index in 0..UNROLLED {
        writeln!(text, "{opcode} %y{index}, %x{index}{second};").unwrap();
    }
    text + &format!("add.u32 %i, %i, 1;\nsetp.lt.u32 %again, %i, {ROUNDS};\n@%again bra AGAIN;\nret;\n}}\n")
}
