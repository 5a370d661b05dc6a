//! `ptxdbg litmus`: what the memory model allows, and runs that show it.

use std::ffi::OsString;
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use ptxdbg::api::{Launch, Module, Planned};
use ptxdbg::args::Format;
use ptxdbg::args::litmus::LitmusArgs;
use ptxdbg::base::read_bounded;
use ptxdbg::base::save::{cause, save};
use ptxdbg::debug::excerpt::{ExcerptError, ExcerptRequest, excerpt};
use ptxdbg::debug::open::open as open_files;
use ptxdbg::debug::{MemoryModel, Opened, RunOptions, Schedule};
use ptxdbg::litmus::{self, Judgement, Kernel, Limits, Outcome, Test};
use ptxdbg::ui::interrupt;
use ptxdbg::ui::output::{Standard, print_error};
use ptxdbg::ui::refusal::{Failure, Status, report_failure};
use ptxdbg::ui::text::{self, Style};

use super::visible;

/// The most bytes of a litmus test.
const LITMUS_BYTES_MAX: u64 = 1 << 20;

/// Runs that look for an outcome.
const RUNS_MAX: u64 = 20_000;

/// A test that was judged, with its file and the name of that.
struct Judged<'a> {
    path: &'a Path,
    name: String,
    test: Test,
    judged: Judgement,
}

/// Executes the command line; returns the exit status.
pub fn run(args: &LitmusArgs) -> Result<u8, Failure> {
    if let Some((request, options, lines)) = args.excerpt.request().map_err(Failure::Message)? {
        interrupt::listen_once();
        return from_kernel(&open_files(&request)?, &options, &lines);
    }
    for (option, folder) in [("--dot", &args.dot), ("--kernels", &args.kernels)] {
        if let Some(folder) = folder.as_ref().filter(|folder| !folder.is_dir()) {
            return Err(Failure::Message(format!("{}: {option} wants a folder that is there", visible(&folder.display().to_string()))));
        }
    }
    if matches!(args.format, Format::Sarif | Format::Junit) {
        return Err(Failure::Message("litmus reports no findings: --format human or json".to_string()));
    }
    let paths = args.tests().map_err(Failure::Message)?;
    if let Some(number) = args.open {
        let [path] = &paths[..] else { return Err(Failure::Message("--open wants one test".to_string())) };
        return open(&judge(path, args.rounds)?, number, args);
    }
    let mut status = Status::Well;
    let mut out = Standard::output();
    for path in &paths {
        let judged = judge(path, args.rounds);
        if let Ok(judged) = &judged {
            status = status.max(if judged.judged.answer { Status::Well } else { Status::Wrong });
            answer(judged, args, &mut out)?;
        }
        let saved = judged.and_then(|judged| args.kernels.as_ref().map_or(Ok(()), |folder| save_kernel(&judged, folder).map(drop)));
        // The other tests can be answered all the same.
        if let Err(failure) = saved {
            out.flush()?;
            status = status.max(report_failure(&failure, Style::Human { color: false }));
        }
    }
    out.flush()?;
    Ok(status as u8)
}

/// `--from`: prints a piece of a kernel as a test.
fn from_kernel(opened: &Opened, options: &RunOptions, request: &ExcerptRequest) -> Result<u8, Failure> {
    let [case] = &opened.plan.cases[..] else {
        let why = format!("there are {} launches: choose one by its kernel (-k)", opened.plan.cases.len());
        return Err(Failure::Message(why));
    };
    let found = excerpt(&opened.program, case, options, request, &interrupt::pressed).map_err(|error| match error {
        ExcerptError::Refused(message) => Failure::Message(visible(&message).into_owned()),
        ExcerptError::Run(error) => error.into(),
        ExcerptError::Interrupted => Failure::Interrupted("the run".to_string()),
    })?;
    let made_up = opened.made_up.as_ref().map(|_| "the launch is made up: -l, -a, --grid and --block give one".to_string());
    made_up.iter().chain(&found.notes).for_each(|note| print_error(&format!("ptxdbg: {}\n", visible(note))));
    let mut out = Standard::output();
    out.write_all(found.test.as_bytes())?;
    out.flush()?;
    Ok(Status::Well as u8)
}

/// Reads a test and lists its outcomes.
fn judge(path: &Path, rounds: u32) -> Result<Judged<'_>, Failure> {
    let name = visible(&path.display().to_string()).into_owned();
    let bytes = read_bounded(path, LITMUS_BYTES_MAX).map_err(|error| Failure::Message(format!("{name}: {}", cause(&error))))?;
    let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    let text = text.ok_or_else(|| Failure::Message(format!("{name}: this is no text of at most 1 MiB in UTF-8")))?;
    let test = litmus::parse(&text)
        .map_err(|error| Failure::Message(format!("{name}:{}:{}: {}", error.line, error.column, visible(&error.message))))?;
    let judged = litmus::judge(&test, Limits { rounds }).map_err(|too_large| Failure::Message(format!("{name}: {too_large}")))?;
    Ok(Judged { path, name, test, judged })
}

/// The answer to a test, and the executions that are asked for.
fn answer(Judged { path, name, test, judged }: &Judged<'_>, args: &LitmusArgs, out: &mut Standard) -> Result<(), Failure> {
    let is_json = args.format == Format::Json;
    let can_run = args.runs > 0 && (is_json || !args.quiet) && litmus::can_run(test);
    let runs = can_run.then(|| litmus::count_outcomes(test, judged, args.runs));
    if is_json {
        out.write_all(text::litmus::json(name, test, judged, runs.as_deref()).as_bytes())?;
    } else {
        out.write_all(text::litmus::answer(name, test, judged).as_bytes())?;
    }
    let is_text = !is_json && !args.quiet;
    if is_text {
        out.write_all(text::litmus::outcomes(test, judged, runs.as_deref()).as_bytes())?;
    }
    let asked = judged.outcomes.iter().position(|outcome| outcome.matches);
    for (number, outcome) in judged.outcomes.iter().enumerate().filter(|(number, _)| args.witnesses || asked == Some(*number)) {
        if is_text {
            out.write_all(text::litmus::witness(test, number + 1, outcome).as_bytes())?;
        }
        if let Some(folder) = &args.dot {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            let file = folder.join(format!("{stem}.{}.dot", number + 1));
            save(&file, &[text::litmus::dot(test, outcome).as_bytes()])
                .map_err(|error| Failure::Message(format!("{}: {}", file.display(), cause(&error))))?;
        }
    }
    Ok(())
}

/// The test as a kernel.
fn kernel(Judged { name, test, judged, .. }: &Judged<'_>) -> Result<Kernel, Failure> {
    litmus::kernel(test, &judged.variables).map_err(|why| Failure::Message(format!("{name}: it cannot run as a kernel: {why}")))
}

/// Writes the test as a kernel, with its launch, to a folder; returns the launch file as well.
fn save_kernel(judged: &Judged<'_>, folder: &Path) -> Result<(Kernel, Planned, PathBuf), Failure> {
    let kernel = kernel(judged)?;
    let file = |ending: &str| folder.join(format!("{}.{ending}", kernel.name));
    let launch = Launch::new().grid([kernel.blocks, 1, 1]).block([kernel.threads, 1, 1]);
    let launch = kernel.arguments().fold(launch, Launch::arg);
    let planned = Module::from_text(file("ptx"), kernel.text.as_str()).and_then(|module| launch.plan(&module));
    let planned = planned.map_err(|error| Failure::Message(format!("{}: {error}", kernel.name)))?;
    let text = planned.launch_file().ok_or_else(|| Failure::Message(format!("{}: it has no launch", kernel.name)))?;
    for (ending, text) in [("ptx", &kernel.text), ("ron", &text)] {
        save(&file(ending), &[text.as_bytes()])
            .map_err(|error| Failure::Message(format!("{}: {}", file(ending).display(), cause(&error))))?;
    }
    let launch_file = file("ron");
    Ok((kernel, planned, launch_file))
}

/// `--open`: looks for a run that leaves an outcome, and debugs it.
fn open(judged: &Judged<'_>, number: Option<NonZeroUsize>, args: &LitmusArgs) -> Result<u8, Failure> {
    let outcomes = &judged.judged.outcomes;
    let asked = || outcomes.iter().position(|outcome| outcome.matches).unwrap_or(0);
    let index = number.map_or_else(asked, |number| number.get() - 1);
    let name = &judged.name;
    let Some(outcome) = outcomes.get(index) else {
        let why = match outcomes.len() {
            0 => "no execution ends, so there is no outcome to open".to_string(),
            count => format!("it has {count} outcomes, so --open=1 to --open={count}"),
        };
        return Err(Failure::Message(format!("{name}: {why}")));
    };
    let number = index + 1;
    if outcome.needs_load_buffering {
        let why = "a read returns there what a later write of its thread leads to, which no run shows (help memory-model)";
        return Err(Failure::Message(format!("{name}: outcome {number} needs load buffering: {why}")));
    }
    let unwritable = |error: std::io::Error| Failure::Message(format!("the kernel cannot be written: {error}"));
    let temporary = tempfile::TempDir::new().map_err(unwritable)?;
    let folder = args.kernels.as_deref().unwrap_or(temporary.path());
    let (kernel, planned, launch) = save_kernel(judged, folder)?;
    interrupt::listen_once();
    let Some(seed) = find(&planned, &kernel, outcome)? else {
        let why = format!("no run of {RUNS_MAX} leaves outcome {number}: ptxdbg litmus {name} has an execution that does");
        return Err(Failure::Message(format!("{name}: {why}")));
    };
    interrupt::forget();
    let memory = if outcome.is_sequential { "sc".to_string() } else { format!("weak:{seed}") };
    let values = text::litmus::values(&judged.test, &judged.judged, outcome);
    let said = format!("ptxdbg: {name}: this run leaves outcome {number}, {values}: --schedule random --seed {seed} --memory {memory}\n");
    print_error(&said);
    let options = ["--schedule", "random", "--seed", &seed.to_string(), "--memory", &memory].map(OsString::from);
    let session = [OsString::from("ptxdbg"), OsString::from("-l"), launch.into_os_string()].into_iter().chain(options);
    let status = super::super::command_line(&session.chain(args.session.iter().cloned()).collect::<Vec<_>>());
    drop(temporary);
    Ok(status)
}

/// The seed of a run that leaves an outcome.
fn find(planned: &Planned, kernel: &Kernel, outcome: &Outcome) -> Result<Option<u64>, Failure> {
    let leaves = |seed: u64| -> Result<bool, Failure> {
        let memory = if outcome.is_sequential { MemoryModel::SequentiallyConsistent } else { MemoryModel::Weak(seed) };
        let options = RunOptions { schedule: Schedule::Random, seed, memory, ..RunOptions::unwatched() };
        let run = planned.run_until(0, &options, interrupt::pressed).map_err(|error| Failure::Message(error.to_string()))?;
        let value = |parameter: usize| run.buffer(&kernel.parameters[parameter].0).and_then(|buffer| buffer.bits().next());
        let is_left = |(result, wanted): (&Option<usize>, &i64)| result.is_none_or(|result| value(result) == Some(wanted.cast_unsigned()));
        Ok(kernel.results.iter().zip(&outcome.values).all(is_left))
    };
    for seed in 0..RUNS_MAX {
        if leaves(seed)? {
            return Ok(Some(seed));
        }
    }
    Ok(None)
}
