//! Subcommands: `capture`, `compare`, `litmus` and `shrink`.

mod litmus;

use std::io::Write;

use ptxdbg::api;
use ptxdbg::args::capture::CaptureArgs;
use ptxdbg::args::compare::{CompareArgs, SideRequest};
use ptxdbg::args::litmus::LitmusArgs;
use ptxdbg::args::shrink::ShrinkArgs;
use ptxdbg::args::{self, ArgsMessage, Format};
use ptxdbg::debug::compare::{CompareError, Side, compare_runs};
use ptxdbg::debug::open::{open, open_with_launch};
use ptxdbg::debug::{OpenError, Opened};
use ptxdbg::ui::interrupt;
use ptxdbg::ui::output::{Standard, print_error};
use ptxdbg::ui::refusal::{self, Failure, Status, report_failure};
use ptxdbg::ui::text::{self, Style};
use ptxdbg::ui::visible::visible;

use super::format_style;

/// The arguments of ptxdbg with its subcommands.
pub fn described() -> clap::Command {
    let subcommands = [
        ("capture", CaptureArgs::described()),
        ("compare", CompareArgs::described()),
        ("litmus", LitmusArgs::described()),
        ("shrink", ShrinkArgs::described()),
    ];
    let named = subcommands.map(|(name, command)| command.name(name).bin_name(format!("ptxdbg {name}")));
    args::command().subcommands(named).args_conflicts_with_subcommands(true)
}

/// Executes the arguments of a process whose second word is a subcommand; returns the exit status.
pub fn run(raw_args: &[std::ffi::OsString]) -> Option<u8> {
    if let Some(args) = args::capture::parse(raw_args) {
        return Some(parsed(args).map_or_else(|status| status as u8, capture));
    }
    if let Some(args) = args::litmus::parse(raw_args) {
        let judged = parsed(args)
            .map(|args| litmus::run(&args).unwrap_or_else(|failure| report_failure(&failure, Style::Human { color: false }) as u8));
        return Some(judged.unwrap_or_else(|status| status as u8));
    }
    if let Some(args) = args::shrink::parse(raw_args) {
        return Some(parsed(args).map_or_else(|status| status, |args| shrink(&args)) as u8);
    }
    let args = parsed(args::compare::parse(raw_args)?);
    Some(args.map_or_else(
        |status| status as u8,
        |args| {
            let style = format_style(args.format, Style::Human { color: false });
            // A module with errors is no difference.
            compare(&args, style).unwrap_or_else(|failure| report_failure(&failure, style).max(Status::Unusable)) as u8
        },
    ))
}

/// The arguments; where they are wrong or ask for help, that is answered.
fn parsed<T>(args: Result<T, ArgsMessage>) -> Result<T, Status> {
    args.map_err(|message| {
        let style = format_style(message.format, Style::Human { color: false });
        match message.is_error {
            true => refusal::refuse(message.text.trim_end(), &message.text, style),
            false => refusal::answer(&message.text),
        }
    })
}

/// `ptxdbg capture`: the exit status is that of the program that is run.
fn capture(args: CaptureArgs) -> u8 {
    let request = args.request(std::env::var_os("LD_PRELOAD"), std::env::var_os("CUDA_INJECTION64_PATH"));
    match ptxdbg::capture::run(&request, &|line| print_error(&format!("ptxdbg: {}\n", visible(line)))) {
        Ok(status) => u8::try_from(status).unwrap_or(1),
        Err(why) => report_failure(&Failure::Message(visible(&why).into_owned()), Style::Human { color: false }) as u8,
    }
}

/// `ptxdbg compare`: the first difference of two runs.
fn compare(args: &CompareArgs, style: Style) -> Result<Status, Failure> {
    if matches!(args.format, Format::Sarif | Format::Junit) {
        return Err(Failure::Message("compare reports no findings: --format human or json".to_string()));
    }
    let [a, b] = args.sides().map_err(Failure::Message)?;
    interrupt::listen_once();
    let [opened_a, opened_b] = open_sides(&a, &b)?;
    let side = |opened: &Opened, request: &SideRequest| -> Result<usize, Failure> {
        match opened.plan.cases.len() {
            1 => Ok(0),
            count => Err(Failure::Message(format!("{} has {count} launches: choose one by its kernel (-k)", request.path.display()))),
        }
    };
    let (case_a, case_b) = (side(&opened_a, &a)?, side(&opened_b, &b)?);
    let sides = [
        Side { program: &opened_a.program, case: &opened_a.plan.cases[case_a], options: &a.options, inputs: &[] },
        Side { program: &opened_b.program, case: &opened_b.plan.cases[case_b], options: &b.options, inputs: &[] },
    ];
    let found = compare_runs(sides, args.tolerance(), &interrupt::pressed).map_err(|error| match error {
        CompareError::Unlike(message) => Failure::Message(message),
        CompareError::Run(error) => error.into(),
    })?;
    let names = [&a, &b].map(|side| side.path.display().to_string());
    let mut out = Standard::output();
    let made_up =
        opened_a.made_up.as_ref().map(|_| format!("the launch is made up: ptxdbg --batch {} prints it, and -l gives one", names[0]));
    out.write_all(text::notes(&made_up.into_iter().collect::<Vec<_>>(), style).as_bytes())?;
    out.write_all(text::compared(&found, [&names[0], &names[1]], style).as_bytes())?;
    out.flush()?;
    Ok(match (found.interrupted, found.is_equal()) {
        (true, _) => Status::Interrupted,
        (false, true) => Status::Well,
        (false, false) => Status::Wrong,
    })
}

/// `ptxdbg shrink`: a bundle with only the memory that its run needs.
fn shrink(args: &ShrinkArgs) -> Status {
    let style = Style::Human { color: false };
    interrupt::listen_once();
    match api::shrink(&args.file, &args.output(), &interrupt::pressed) {
        Ok(Some(shrunk)) => refusal::answer(&text::shrunk(&shrunk.path, shrunk.memory_bytes, shrunk.file_bytes)),
        Ok(None) => report_failure(&Failure::Interrupted(args.file.display().to_string()), style),
        Err(error) => report_failure(&Failure::Message(error.to_string()), style),
    }
}

/// Opens both sides, the one without a launch of its own with that of the other; A's is made up where both have none.
fn open_sides(a: &SideRequest, b: &SideRequest) -> Result<[Opened; 2], OpenError> {
    let with_launch_of = |other: &Opened, side: &SideRequest| match other.launch.as_ref().filter(|_| side.has_launch_of_other) {
        Some(launch) => open_with_launch(&side.request, launch),
        None => open(&side.request),
    };
    if a.has_launch_of_other && !b.has_launch_of_other {
        let opened_b = open(&b.request)?;
        return Ok([with_launch_of(&opened_b, a)?, opened_b]);
    }
    let opened_a = open(&a.request)?;
    let opened_b = with_launch_of(&opened_a, b)?;
    Ok([opened_a, opened_b])
}
