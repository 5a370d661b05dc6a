//! How the program ends: its exit status, and what keeps it from doing what was asked for, in words.
//!
//! People read that on standard error. Programs, which asked for JSON or SARIF, get it on standard output as well.

use std::io::{ErrorKind, Write};

use super::output::{Standard, say_error};
use super::text::sarif::Log;
use super::text::{self, Style};
use crate::base::save::cause;
#[cfg(feature = "tui")]
use crate::base::{Diagnostic, Sources};
use crate::command::help;
use crate::command::table::TABLE;
use crate::debug::{OpenError, RunError};

/// How the program ends.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// All is well.
    Well = 0,
    /// Something is wrong with the kernel.
    Wrong = 1,
    /// The command line or a file cannot be used.
    Unusable = 2,
    /// Ctrl-C came before the end: 128 and the number of SIGINT, as shells count.
    Interrupted = 130,
}

/// Why the program ends before it has done what was asked for.
pub enum Failure {
    /// In one line.
    Message(String),
    /// Nothing could be run.
    Open(OpenError),
    /// A file of the user's own is not what such a file holds.
    #[cfg(feature = "tui")]
    File(Box<(Sources, Diagnostic)>),
    /// Ctrl-C came before everything was verified: in this case.
    Interrupted(String),
    /// The reader of standard output has gone, which needs no words.
    Silent,
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            ErrorKind::BrokenPipe => Failure::Silent,
            _ => Failure::Message(format!("cannot write standard output: {}", cause(&error))),
        }
    }
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        Failure::Open(error)
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        Failure::Message(error.to_string())
    }
}

/// What `ptxdbg help WORDS` prints: the help of the prompt, without one.
///
/// # Errors
/// There is nothing of that name.
pub fn help_of_commands(words: &str) -> Result<String, Failure> {
    if words.trim().is_empty() {
        return Ok(help::topics(&TABLE) + "\nThe commands are typed at the prompt; ptxdbg --help explains the command line.\n");
    }
    help::about(&TABLE, words).map_err(|error| {
        let hint = error.help.map_or(String::new(), |help| format!("; {help}"));
        Failure::Message(format!("help: {}{hint}; ptxdbg --help explains the command line", error.message))
    })
}

/// Writes text that was asked for to standard output.
pub fn answer(text: &str) -> Status {
    let mut out = Standard::output();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Failure::from) {
        Ok(()) => Status::Well,
        Err(failure) => complain(&failure, Style::Human { color: false }),
    }
}

/// Says why nothing was done.
pub fn complain(failure: &Failure, style: Style) -> Status {
    let (sources, diagnostics, status) = match failure {
        Failure::Silent => return Status::Unusable,
        Failure::Interrupted(case) => return say(&format!("interrupted in {case}"), style, Status::Interrupted),
        Failure::Message(message) | Failure::Open(OpenError::File(message)) => return say(message, style, Status::Unusable),
        Failure::Open(OpenError::Module(module)) => (&module.sources, &module.diagnostics[..], Status::Wrong),
        #[cfg(feature = "tui")]
        Failure::File(wrong) => (&wrong.0, std::slice::from_ref(&wrong.1), Status::Unusable),
        Failure::Open(OpenError::Launch(sources, errors)) => (sources, &errors[..], Status::Unusable),
    };
    let text = match style {
        Style::Human { .. } => {
            say_error(&text::diagnostics(sources, diagnostics, style));
            return status;
        }
        Style::Json => text::diagnostics(sources, diagnostics, style),
        Style::Sarif => {
            let mut log = Log::default();
            log.diagnostics(sources, diagnostics);
            log.to_text()
        }
    };
    if write(&text).is_err() { Status::Unusable } else { status }
}

/// Says why the command line cannot be used: `message`, in `lines` to people.
pub fn refuse(message: &str, lines: &str, style: Style) -> Status {
    say_error(lines);
    report_to_programs(message, style);
    Status::Unusable
}

/// Says a line on standard error.
fn say(message: &str, style: Style, status: Status) -> Status {
    say_error(&format!("ptxdbg: {message}\n"));
    report_to_programs(message, style);
    status
}

/// Says what went wrong on standard output to programs. If it cannot be written, the exit status still shows it.
fn report_to_programs(message: &str, style: Style) {
    let text = match style {
        Style::Human { .. } => return,
        Style::Json => text::error(message),
        Style::Sarif => {
            let mut log = Log::default();
            log.error(message);
            log.to_text()
        }
    };
    let _ = write(&text);
}

fn write(text: &str) -> std::io::Result<()> {
    let mut out = Standard::output();
    out.write_all(text.as_bytes())?;
    out.flush()
}
