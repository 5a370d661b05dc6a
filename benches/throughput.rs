//! How many instructions of threads one core executes in a second of processor time: the six kernels of `benches/six`, in each of the forms
//! that compilers give them, with all checkers and with none.
//!
//! A warp-instruction counts as many times as it has active lanes. Loading and filling buffers is not part of the time; every
//! kernel's results are checked before it is measured, and the fastest of some runs counts. Where a C compiler is found, loops of one
//! thread that compute the same are the limit: how many times as long as they a kernel takes. A line for each kernel says where its time
//! goes, by instruction, from instructions that are timed one by one.
//!
//! `cargo bench --bench throughput`, or `cargo bench --bench throughput -- sgemm` for the kernels whose names hold a word. A second word,
//! `none` or `all`, measures that alone, in the first form: for a profiler, and for comparing two builds in turns.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a bench that cannot run says so and ends; its table is its result"
)]

mod job;
mod six;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use job::Job;
use ptxdbg::check::Checks;
use ptxdbg::debug::RunOptions;
use ptxdbg::machine::{DivergencePolicy, Event, EventKind, EventMask, Machine, NullObserver, Observer, Step};
use ptxdbg::program::Pc;

/// Runs of each kernel, the fastest of which counts.
const RUNS: usize = 9;

/// The forms of the kernels.
const FORMS: &[(&str, DivergencePolicy)] = &[
    ("k_n11_35.ptx", DivergencePolicy::Independent),
    ("k_n11_35.ptx", DivergencePolicy::Stack),
    ("k_n13_75.ptx", DivergencePolicy::Independent),
    ("k_n13_90.ptx", DivergencePolicy::Independent),
];

/// Millions of thread-instructions in a second that each kernel must reach in the first form, without checkers and with all.
const WANTED: [[f64; 6]; 2] = [[1200.0, 1300.0, 1500.0, 1300.0, 1300.0, 1000.0], [700.0, 650.0, 800.0, 650.0, 900.0, 700.0]];

fn main() {
    let mut words = std::env::args().skip(1).filter(|word| !word.starts_with('-'));
    let word = words.next().unwrap_or_default();
    let chosen: Vec<usize> = (0..six::NAMES.len()).filter(|kernel| six::NAMES[*kernel].contains(&word)).collect();
    let folder = six::write();
    if let Some(checks) = words.next() {
        let checks = if checks == "none" { Checks::NONE } else { Checks::ALL };
        return measure_alone(&folder, &chosen, checks);
    }
    let loops = loops(&folder);
    println!("millions of thread-instructions in a second of processor time; C: times as long as a loop of one thread in C");
    for (place, (module, divergence)) in FORMS.iter().enumerate() {
        println!("\n{module}, {} divergence", divergence.word());
        line("", chosen.iter().map(|kernel| six::NAMES[*kernel].to_string()), "geomean");
        let options = RunOptions { divergence: Some(*divergence), ..RunOptions::unwatched() };
        let jobs: Vec<Job> = chosen.iter().map(|kernel| Job::load_with(&six::launch(&folder, *kernel, module), &options)).collect();
        let mut speeds = Vec::new();
        for (wanted, checks) in WANTED.iter().zip([Checks::NONE, Checks::ALL]) {
            let name = if checks == Checks::NONE { "no checkers" } else { "all checkers" };
            let found: Vec<(u64, Duration)> = jobs.iter().map(|job| job.speed(&options, checks, RUNS)).collect();
            let mega: Vec<f64> = found.iter().map(|(count, took)| *count as f64 / took.as_secs_f64() / 1e6).collect();
            numbers(name, &mega, 0);
            if place == 0 {
                numbers("  wanted", &chosen.iter().map(|kernel| wanted[*kernel]).collect::<Vec<_>>(), 0);
            }
            if let Some(loops) = &loops {
                let times = chosen.iter().zip(&found).map(|(kernel, (_, took))| took.as_secs_f64() / loops[six::NAMES[*kernel]]);
                numbers("  C", &times.collect::<Vec<_>>(), 1);
            }
            speeds.push(mega);
        }
        for (kernel, job) in chosen.iter().zip(&jobs) {
            println!("  {:<12}{}", six::NAMES[*kernel], where_time_goes(job, &options));
        }
    }
    if loops.is_none() {
        println!("\nno C compiler was found (cc, or CC), so nothing is compared with loops in C");
    }
}

/// Prints the speed of the chosen kernels in the first form.
fn measure_alone(folder: &Path, chosen: &[usize], checks: Checks) {
    let (module, divergence) = FORMS[0];
    let options = RunOptions { divergence: Some(divergence), ..RunOptions::unwatched() };
    for kernel in chosen {
        let job = Job::load_with(&six::launch(folder, *kernel, module), &options);
        let (count, took) = job.speed(&options, checks, RUNS);
        println!("{:<12}{:>8.0} M/s {:>9.2} ms", six::NAMES[*kernel], count as f64 / took.as_secs_f64() / 1e6, took.as_secs_f64() * 1e3);
    }
}

fn line(name: &str, cells: impl Iterator<Item = String>, last: &str) {
    let cells: String = cells.map(|cell| format!("{cell:>11}")).collect();
    println!("{name:<14}{cells}{last:>11}");
}

/// A line of numbers, and their geometric mean.
fn numbers(name: &str, values: &[f64], digits: usize) {
    let mean = (values.iter().map(|value| value.ln()).sum::<f64>() / values.len().max(1) as f64).exp();
    line(name, values.iter().map(|value| format!("{value:.digits$}")), &format!("{mean:.digits$}"));
}

/// Ticks without and with a clock, in turns.
const SLICES: [u64; 2] = [1500, 100];

/// Times instructions one by one: from where one is issued to where the next one is.
#[derive(Default)]
struct Clock {
    /// The instruction that was issued last, and when.
    last: Option<(Pc, Instant)>,
    spent: BTreeMap<Pc, Duration>,
    /// The shortest time, which is that of the clock itself.
    least: Duration,
    timed: BTreeMap<Pc, u32>,
}

impl Observer for Clock {
    fn mask(&self) -> EventMask {
        EventMask::of(&[EventKind::Before])
    }

    fn event(&mut self, event: &Event<'_>) -> bool {
        if let Event::Before(issue, ..) = event {
            if let Some((pc, at)) = self.last {
                let took = at.elapsed();
                self.least = if self.least.is_zero() { took } else { self.least.min(took) };
                *self.spent.entry(pc).or_default() += took;
                *self.timed.entry(pc).or_default() += 1;
            }
            self.last = Some((issue.point.pc, Instant::now()));
        }
        false
    }
}

/// `ld.global 61 %, fma 20 %`: instructions by their first word, and the space of those that access memory.
fn where_time_goes(job: &Job, options: &RunOptions) -> String {
    let mut clock = Clock::default();
    let mut machine: Machine = job.start_with(options);
    let mut is_over = false;
    while !is_over {
        for (place, ticks) in SLICES.into_iter().enumerate() {
            let step = if place == 0 { machine.run(ticks, &mut NullObserver) } else { machine.run(ticks, &mut clock) };
            clock.last = None;
            match step {
                Step::Budget => {}
                Step::Done => is_over = true,
                stopped => panic!("{stopped:?}"),
            }
            if is_over {
                break;
            }
        }
    }
    let mut by_word: BTreeMap<String, f64> = BTreeMap::new();
    for (pc, spent) in &clock.spent {
        let own = spent.saturating_sub(clock.least * clock.timed[pc]);
        let opcode = job.program().opcode(*pc).map_or(String::new(), |opcode| opcode.text.to_string());
        let words: Vec<&str> = opcode.split('.').collect();
        let spaces = ["global", "shared", "param", "const", "local"];
        let space = words.iter().find(|word| spaces.contains(word)).filter(|_| words[0] != "cvta");
        *by_word.entry(words[0].to_string() + &space.map_or(String::new(), |space| format!(".{space}"))).or_default() += own.as_secs_f64();
    }
    let all: f64 = by_word.values().sum();
    let mut shares: Vec<(String, f64)> = by_word.into_iter().map(|(word, spent)| (word, 100.0 * spent / all)).collect();
    shares.sort_by(|one, other| other.1.total_cmp(&one.1));
    shares.iter().take(7).map(|(word, share)| format!("{word} {share:.0} %")).collect::<Vec<_>>().join(", ")
}

/// The seconds of each loop in C; none without a C compiler.
fn loops(folder: &Path) -> Option<BTreeMap<String, f64>> {
    let program = folder.join("loops");
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_string());
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/six/loops.c");
    let compiled = Command::new(compiler).args(["-O3", "-march=native", "-o"]).arg(&program).args([source, "-lm"]).status();
    if !compiled.is_ok_and(|status| status.success()) {
        return None;
    }
    let printed = String::from_utf8(Command::new(&program).output().ok()?.stdout).ok()?;
    printed.lines().map(|line| line.split_once(' ').and_then(|(name, took)| Some((name.to_string(), took.parse().ok()?)))).collect()
}
