//! Output as plain text, JSON, SARIF and JUnit's XML.

pub mod asynchronous;
mod branches;
mod certificate;
mod compared;
mod diagnostic;
mod explored;
mod fidelity;
mod finding;
mod fix;
mod fragment;
pub mod frames;
pub mod in_flight;
mod json;
mod json_command;
pub mod junit;
pub mod launch;
mod listing;
pub mod litmus;
mod module;
mod outcome;
mod report;
pub mod sarif;
mod stop;
pub mod symbols;
pub mod table;
mod tensor;
pub mod threads;
pub mod value;
pub mod view;
mod welcome;

use super::console::Failed;
use crate::base::{Diagnostic, Sources};
use std::path::Path;

use crate::debug::certificate::Certificate;
use crate::debug::compare::RunComparison;
use crate::debug::fidelity::Fidelity;
use crate::debug::view::printed as complete_lines;
use crate::debug::{CaseReport, Comparison, NOT_FIRST, Omitted, PlannedLaunch, RUNS_LONG, Reason, Summary, SwappedSections, WITH_BLOCK};
use crate::ui::visible::visible;

pub use explored::explored;
pub use finding::{chain, fault, finding, list as findings};
pub use json_command::{Answer, command as json_command};
pub use listing::{listing, unread, unread_records};
pub use outcome::{displays, outcome};
pub use report::grouped;
pub use stop::stop;
pub use welcome::welcome;

/// The format of the output.
#[derive(Clone, Copy, Debug)]
pub enum Style {
    /// Plain text.
    Human {
        /// True if escape sequences for colours may be written.
        color: bool,
    },
    /// One JSON object a line.
    Json,
    /// A single document of findings at the end: see [`sarif::Log`].
    Sarif,
    /// A single document of test cases at the end: see [`junit::Suite`].
    Junit,
}

/// The error that ended the program, in JSON.
pub fn error(message: &str) -> String {
    json::error(message)
}

/// The diagnostics of one file; in plain text each with its line underlined, and a last line that counts them.
pub fn diagnostics(sources: &Sources, diagnostics: &[Diagnostic], style: Style) -> String {
    match style {
        Style::Human { color } => diagnostic::render_all(sources, diagnostics, color),
        Style::Json => diagnostics.iter().map(|diagnostic| json::diagnostic(sources, diagnostic)).collect(),
        Style::Sarif | Style::Junit => String::new(),
    }
}

/// The result of a case; in plain text only the failures.
pub fn case_report(report: &CaseReport, style: Style) -> String {
    match style {
        Style::Human { .. } => report::case(report),
        Style::Json => json::case(report),
        Style::Sarif | Style::Junit => String::new(),
    }
}

/// The number of findings that were not printed, by id; empty if all were printed.
pub fn omitted(omitted: &Omitted, style: Style) -> String {
    if omitted.is_empty() {
        return String::new();
    }
    match style {
        Style::Human { .. } => report::omitted(omitted),
        Style::Json => json::omitted(omitted),
        Style::Sarif | Style::Junit => String::new(),
    }
}

/// The last line of a verification.
pub fn verdict(passed: usize, failed: usize, style: Style) -> String {
    match style {
        Style::Human { .. } => format!("{passed} passed, {failed} failed\n"),
        Style::Json => json::verdict(passed, failed),
        Style::Sarif | Style::Junit => String::new(),
    }
}

/// The fidelity of a run.
pub fn fidelity(fidelity: &Fidelity, style: Style) -> String {
    match style {
        Style::Human { .. } => fidelity::fidelity(fidelity),
        Style::Json => json::fidelity(fidelity),
        Style::Sarif | Style::Junit => String::new(),
    }
}

/// The certificate of the case called `name`.
pub fn certificate(name: &str, certificate: &Certificate, style: Style) -> String {
    match style {
        Style::Human { .. } => certificate::certificate(certificate),
        Style::Json => json::certificate(name, certificate),
        Style::Sarif | Style::Junit => String::new(),
    }
}

/// The number of cases whose findings are the same in every order, in plain text.
pub fn certified(certified: usize, cases: usize, style: Style) -> String {
    match style {
        Style::Human { .. } => certificate::certified(certified, cases),
        Style::Json | Style::Sarif | Style::Junit => String::new(),
    }
}

/// The number of pairs of critical sections that were tried in the other order, in plain text.
pub fn swapped_sections(swapped_sections: SwappedSections, style: Style) -> String {
    match style {
        Style::Human { .. } => report::swapped_sections(swapped_sections),
        Style::Json | Style::Sarif | Style::Junit => String::new(),
    }
}

/// The summary of a run.
pub fn summary(summary: &Summary, style: Style) -> String {
    match style {
        Style::Human { .. } => report::summary(summary),
        Style::Json => json::summary(summary),
        Style::Sarif | Style::Junit => String::new(),
    }
}

/// The comparison of the memory at the end of the case called `name` with the values that its launch file expects.
pub fn comparison(name: &str, comparison: &Comparison, reasons: &[Reason], style: Style) -> String {
    match style {
        Style::Human { .. } => report::comparison(name, comparison, reasons),
        Style::Json => json::comparison(name, comparison),
        Style::Sarif | Style::Junit => String::new(),
    }
}

/// The comparison of the runs of two files.
pub fn compared(found: &RunComparison, files: [&str; 2], style: Style) -> String {
    match style {
        Style::Human { .. } => compared::compared(found, files),
        Style::Json => json::compared(found, files),
        Style::Sarif | Style::Junit => String::new(),
    }
}

/// What a bundle has after `ptxdbg shrink`: bytes of memory and of the file, before and after.
pub fn shrunk(path: &Path, [memory_before, memory_after]: [u64; 2], [file_before, file_after]: [u64; 2]) -> String {
    let name = path.display();
    let gain = match (file_after < file_before, memory_after < memory_before) {
        (true, _) => "",
        (false, true) => ": what it leaves out takes no space when it is compressed",
        (false, false) => ": its run needs all of its memory",
    };
    format!("{name}: {memory_before} bytes of memory to {memory_after}, a file of {file_before} bytes to {file_after}{gain}\n")
}

/// The output of the kernel's `printf`, as complete lines; empty with JSON and SARIF, which have it in the summary.
pub fn printed(summary: &Summary, style: Style) -> Vec<u8> {
    match style {
        Style::Human { .. } => complete_lines(summary.printed.clone(), summary.printed_lost),
        Style::Json | Style::Sarif | Style::Junit => Vec::new(),
    }
}

/// A made-up launch file; `is_whole` is false if the command line specifies a part of it.
pub fn made_up(text: &str, is_whole: bool, reasons: &[Reason], style: Style) -> String {
    let what = if is_whole { "the values of this launch are made up" } else { "what is not given of this launch is made up" };
    let why: String = reasons.iter().map(|reason| visible(&format!("//   {}: {}", reason.what, reason.why)).into_owned() + "\n").collect();
    match style {
        Style::Human { .. } => format!(
            "// There is no launch file: {what}.\n\
             // Save it beside the kernel with the extension .ron to use and edit it.\n{why}{text}\n\n"
        ),
        Style::Json => json::made_up(text, reasons),
        Style::Sarif | Style::Junit => String::new(),
    }
}

/// What of a launch is made up, in one line.
pub fn guessed_launch(launch: Option<&PlannedLaunch>, style: Style) -> String {
    match (style, launch.and_then(PlannedLaunch::guesses)) {
        (Style::Human { .. }, Some(guesses)) => format!("made up      {}\n", visible(&guesses)),
        // JSON has the reasons of the launch.
        (Style::Human { .. } | Style::Json | Style::Sarif | Style::Junit, _) => String::new(),
    }
}

/// The reason why the launch that was tried first was rejected, in one line: the run of the made-up launch does not show it.
pub fn failed_first_launch(reasons: &[Reason], style: Style) -> String {
    // With smaller numbers a kernel that runs long does the same.
    let does_other = |reason: &Reason| reason.why.starts_with(WITH_BLOCK) || !reason.why.ends_with(RUNS_LONG);
    let avoided = reasons.iter().find(|reason| reason.what == NOT_FIRST && does_other(reason));
    match (style, avoided) {
        (Style::Human { .. }, Some(Reason { why, .. })) => {
            format!("first guess  {}; another one ran: --grid, --block and -a say which launch is meant\n", visible(why))
        }
        // JSON has the reasons of the launch.
        (Style::Human { .. } | Style::Json | Style::Sarif | Style::Junit, _) => String::new(),
    }
}

/// The notes on choices that no argument specified, a line each.
pub fn notes(notes: &[String], style: Style) -> String {
    match style {
        Style::Human { .. } => notes.iter().map(|note| format!("{}\n", visible(note))).collect(),
        Style::Json => notes.iter().map(|note| json::note(note)).collect(),
        Style::Sarif | Style::Junit => String::new(),
    }
}

/// A note that the launch file of the same name as the kernel is empty, so that a launch is made up.
pub fn empty_sibling(file: &Path) -> String {
    let name = file.display();
    let advice = "'ptxdbg --batch KERNEL.ptx' prints it: save the lines up to the first empty one";
    format!("ptxdbg: {name} is empty and is ignored: a launch is made up; {advice}\n")
}

/// How many commands of scripts are left after one that failed; nothing if none is.
pub fn not_executed(commands: usize) -> String {
    match commands {
        0 => String::new(),
        1 => "1 command after it is not executed\n".to_string(),
        commands => format!("{commands} commands after it are not executed\n"),
    }
}

/// The error of a command: file and line if it is in a script, the column, the message, the line with the error underlined, and help.
pub fn failed(failed: &Failed, color: bool) -> String {
    let (red, plain) = if color { ("\x1b[1;31m", "\x1b[0m") } else { ("", "") };
    let place = failed.place.as_ref().map_or(String::new(), |place| format!("{}: ", visible(place)));
    let error = &failed.error;
    let column = error.column(&failed.line).map_or(String::new(), |column| format!(" at column {column}"));
    let mut text = format!("{place}{red}error{plain}{column}: {}\n", visible(&error.message));
    if let Some(span) = error.span.as_ref().filter(|_| !failed.line.is_empty()) {
        let count = |text: Option<&str>| text.map_or(0, |text| visible(text).chars().count());
        let blanks = " ".repeat(count(failed.line.get(..span.start)));
        let carets = "^".repeat(count(failed.line.get(span.clone())).max(1));
        text += &format!("  {}\n  {blanks}{red}{carets}{plain}\n", visible(failed.line.trim_end()));
    }
    text + &error.help.as_ref().map_or(String::new(), |help| format!("  {}\n", visible(help)))
}
