//! Modes that run nothing: `--list` and `--check`.

use std::io::{IsTerminal, Write};

use ptxdbg::args::{Args, Format};
use ptxdbg::base::Diagnostic;
use ptxdbg::debug::asm::check_asm;
use ptxdbg::debug::open::modules::{self, Problem};
use ptxdbg::debug::open::{Module, open};
use ptxdbg::ui::output::{Standard, print_error};
use ptxdbg::ui::refusal::{Failure, Status};
use ptxdbg::ui::text::junit::Suite;
use ptxdbg::ui::text::sarif::Log;
use ptxdbg::ui::text::{self, Style};

use super::{launch_requests, style, write_log};

/// `--list`: the kernels of every file.
pub fn list(args: &Args) -> Result<Status, Failure> {
    if matches!(args.format, Format::Sarif | Format::Junit) {
        return Err(Failure::Message("--list prints no findings: --format human or json".to_string()));
    }
    let compiler = args.compiler();
    let files = modules::list(&args.kernels, args.reading(&compiler))?;
    let style = style(args, std::io::stdout().is_terminal());
    let mut out = Standard::output();
    out.write_all(text::listing(&files, style).as_bytes())?;
    out.flush()?;
    Ok(files.iter().map(|file| report_unread(&file.problems, style)).max().unwrap_or(Status::Well))
}

/// Reports unreadable parts; in JSON they are among the records.
fn report_unread(problems: &[Problem], style: Style) -> Status {
    if let Style::Human { .. } = style {
        print_error(&text::unread(problems));
    }
    if problems.is_empty() { Status::Well } else { Status::Unusable }
}

/// `--check`: the diagnostics of every module.
pub fn check(args: &Args) -> Result<Status, Failure> {
    let style = style(args, std::io::stdout().is_terminal());
    let (mut status, mut unread) = (Status::Well, Vec::new());
    let (mut out, mut log, mut suite) = (Standard::output(), Log::default(), Suite::default());
    let mut report = |name: &str, module: &Module| -> Result<(), Failure> {
        log.diagnostics(&module.sources, &module.diagnostics);
        suite.module(name, &module.sources, &module.diagnostics);
        out.styled(&text::diagnostics(&module.sources, &module.diagnostics, style))?;
        if module.diagnostics.iter().any(Diagnostic::is_error) {
            status = Status::Wrong;
        }
        Ok(())
    };
    let compiler = args.compiler();
    for path in &args.kernels {
        let (modules, problems) = modules::read_all(path, args.reading(&compiler))?;
        modules.iter().try_for_each(|module| report(&path.display().to_string(), module))?;
        unread.extend(problems);
    }
    if !args.asm.is_empty() {
        report("asm", &check_asm(&args.asm, &args.arg)?)?;
    }
    out.write_all(text::unread_records(&unread, style).as_bytes())?;
    write_log(&log, &suite, style, &mut out)?;
    out.flush()?;
    status = status.max(report_unread(&unread, style));
    // A launch cannot be checked against a module with errors.
    if status == Status::Well {
        for request in launch_requests(args) {
            open(&request)?;
        }
    }
    Ok(status)
}
