//! The exit status of the program, and the errors that end it.
//!
//! The errors are written to standard error; with JSON or SARIF also, as records, to standard output.

use std::io::{ErrorKind, Write};

use super::output::{Standard, print_error};
use super::text::junit::Suite;
use super::text::sarif::Log;
use super::text::{self, Style};
use crate::base::save::cause;
#[cfg(feature = "tui")]
use crate::base::{Diagnostic, Sources};
use crate::command::help;
use crate::command::table::TABLE;
use crate::debug::{OpenError, RunError};

/// The exit status.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// Nothing is wrong.
    Well = 0,
    /// Something is wrong with the kernel.
    Wrong = 1,
    /// The command line or a file cannot be used.
    Unusable = 2,
    /// Ctrl-C was pressed before the end: 128 plus the number of SIGINT, as in shells.
    Interrupted = 130,
}

/// The error that ends the program.
pub enum Failure {
    /// A message of one line.
    Message(String),
    /// No file could be opened to run.
    Open(OpenError),
    /// An error in a layout file or a key map of the user.
    #[cfg(feature = "tui")]
    File(Box<(Sources, Diagnostic)>),
    /// Ctrl-C was pressed while the case of this name was verified.
    Interrupted(String),
    /// The reader of standard output has closed it; no message is written.
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

/// The output of `ptxdbg help WORDS`: the help on commands.
///
/// # Errors
/// There is no command or topic of that name.
pub fn help_of_commands(topic: &str) -> Result<String, Failure> {
    if topic.trim().is_empty() {
        return Ok(help::topics(&TABLE) + "\nThe commands are typed at the prompt; ptxdbg --help explains the command line.\n");
    }
    help::about(&TABLE, topic).map_err(|error| {
        let hint = error.help.map_or(String::new(), |help| format!("; {help}"));
        Failure::Message(format!("help: {}{hint}; ptxdbg --help explains the command line", error.message))
    })
}

/// Writes `text` to standard output.
pub fn answer(text: &str) -> Status {
    let mut out = Standard::output();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Failure::from) {
        Ok(()) => Status::Well,
        Err(failure) => report_failure(&failure, Style::Human { color: false }),
    }
}

/// Writes the error that ends the program.
pub fn report_failure(failure: &Failure, style: Style) -> Status {
    let (sources, diagnostics, status) = match failure {
        Failure::Silent => return Status::Unusable,
        Failure::Interrupted(case) => return write_message(&format!("interrupted in {case}"), style, Status::Interrupted),
        Failure::Message(message) | Failure::Open(OpenError::File(message)) => return write_message(message, style, Status::Unusable),
        Failure::Open(OpenError::Module(module)) => (&module.sources, &module.diagnostics[..], Status::Wrong),
        #[cfg(feature = "tui")]
        Failure::File(wrong) => (&wrong.0, std::slice::from_ref(&wrong.1), Status::Unusable),
        Failure::Open(OpenError::Launch(sources, errors)) => (sources, &errors[..], Status::Unusable),
    };
    let text = match style {
        Style::Human { .. } => {
            print_error(&text::diagnostics(sources, diagnostics, style));
            return status;
        }
        Style::Json => text::diagnostics(sources, diagnostics, style),
        Style::Sarif => {
            let mut log = Log::default();
            log.diagnostics(sources, diagnostics);
            log.to_text()
        }
        Style::Junit => {
            let mut suite = Suite::default();
            suite.diagnostics(sources, diagnostics);
            suite.to_text()
        }
    };
    if write(&text).is_err() { Status::Unusable } else { status }
}

/// Writes why the command line cannot be used: `lines` to standard error, `message` in records.
pub fn refuse(message: &str, lines: &str, style: Style) -> Status {
    print_error(lines);
    write_record(message, style);
    Status::Unusable
}

/// Writes a message of one line.
fn write_message(message: &str, style: Style, status: Status) -> Status {
    print_error(&format!("ptxdbg: {message}\n"));
    write_record(message, style);
    status
}

/// Writes the error as a record to standard output, with JSON or SARIF. A write error is ignored: the exit status shows the failure.
fn write_record(message: &str, style: Style) {
    let text = match style {
        Style::Human { .. } => return,
        Style::Json => text::error(message),
        Style::Sarif => {
            let mut log = Log::default();
            log.error(message);
            log.to_text()
        }
        Style::Junit => {
            let mut suite = Suite::default();
            suite.error(message);
            suite.to_text()
        }
    };
    let _ = write(&text);
}

fn write(text: &str) -> std::io::Result<()> {
    let mut out = Standard::output();
    out.write_all(text.as_bytes())?;
    out.flush()
}
