//! Computes the special functions for all 2^32 arguments and compares the checksums with those recorded on an NVIDIA H200.
//!
//! `cargo bench --bench sweep -- ex2 rcp.approx.f32` sweeps every form whose opcode begins with one of the words, without a word
//! all of them; a form takes about half a minute on two cores. A line says what came of each, and the exit status is 1 if any differs.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "the lines are the result, and how far it is goes beside them")]

#[path = "../tests/it/num/special/forms.rs"]
mod forms;

use std::io::{IsTerminal, stderr};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use forms::{FORMS, Function, crc32};
use serde::Deserialize;

/// The chunks of a sweep.
const CHUNKS: u32 = 1 << 16;

/// Checksums over the sums of all chunks, in hexadecimal.
#[derive(Deserialize)]
struct Recorded {
    sum: String,
    crc32: String,
}

#[derive(Deserialize)]
struct Fixture {
    sweeps: std::collections::BTreeMap<String, Recorded>,
}

fn main() -> ExitCode {
    // Cargo adds a word of its own.
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let fixture: Fixture = match serde_json::from_str(include_str!("../fixtures/special_functions/sweeps.json")) {
        Ok(fixture) => fixture,
        Err(error) => {
            eprintln!("fixtures/special_functions/sweeps.json: {error}");
            return ExitCode::from(2);
        }
    };
    let wanted = |opcode: &str| words.is_empty() || words.iter().any(|word| opcode.starts_with(word.as_str()));
    let mut all_well = true;
    for (opcode, function) in FORMS.iter().filter(|(opcode, _)| wanted(opcode)) {
        if let Some(recorded) = fixture.sweeps.get(*opcode) {
            all_well &= compare(opcode, *function, recorded);
        }
    }
    if all_well { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Sweeps a form and says what came of it; false if it differs.
fn compare(opcode: &str, function: Function, recorded: &Recorded) -> bool {
    let begun = Instant::now();
    let sums = sweep(opcode, function);
    let sum = sums.iter().fold(0u32, |sum, chunk| sum.wrapping_add(*chunk));
    let crc = crc32(sums.iter().flat_map(|chunk| chunk.to_le_bytes()));
    let same = format!("{sum:08x}") == recorded.sum && format!("{crc:08x}") == recorded.crc32;
    let verdict = if same { "as recorded" } else { "DIFFERS from the recording" };
    println!("{opcode:<22} 2^32 arguments in {:>3} s: sum {sum:08x}, crc32 {crc:08x}, {verdict}", begun.elapsed().as_secs());
    same
}

/// The sums of all chunks, in order.
fn sweep(opcode: &str, function: Function) -> Vec<u32> {
    let next = AtomicU32::new(0);
    let mut sums: Vec<(u32, u32)> = thread::scope(|scope| {
        let workers = thread::available_parallelism().map_or(1, usize::from);
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(|| work(function, &next))).collect();
        show_progress(opcode, &next);
        workers.into_iter().flat_map(|worker| worker.join().unwrap_or_default()).collect()
    });
    sums.sort_unstable();
    sums.into_iter().map(|(_, sum)| sum).collect()
}

/// Takes one chunk after the other until none is left: their numbers and sums.
fn work(function: Function, next: &AtomicU32) -> Vec<(u32, u32)> {
    let chunks = std::iter::from_fn(|| Some(next.fetch_add(1, Ordering::Relaxed)).filter(|chunk| *chunk < CHUNKS));
    chunks.map(|chunk| (chunk, function.chunk_sum(chunk))).collect()
}

/// Draws a bar until the last chunk was taken, on a terminal.
fn show_progress(opcode: &str, next: &AtomicU32) {
    const WIDTH: usize = 40;
    if !stderr().is_terminal() {
        return;
    }
    loop {
        let done = next.load(Ordering::Relaxed).min(CHUNKS);
        if done == CHUNKS {
            eprint!("\r{:80}\r", "");
            return;
        }
        let bar = "#".repeat(done as usize * WIDTH / CHUNKS as usize);
        eprint!("\r{opcode:<22} [{bar:<WIDTH$}] {:>3}%", u64::from(done) * 100 / u64::from(CHUNKS));
        thread::sleep(Duration::from_millis(200));
    }
}
