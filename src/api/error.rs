//! Errors of the library, as data with a message.

use std::fmt;

use crate::base::{Diagnostic, Severity, Sources};
use crate::debug::timeline::StartError;
use crate::debug::{OpenError, RunError};

/// The reason why nothing can run, or why a run cannot continue for a reason outside the kernel. A mistake of the kernel is not an error:
/// it is among the findings of a [`Run`](super::Run).
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be used at all, in one line.
    #[error("{0}")]
    File(String),
    /// Mistakes in a module, in a launch file or in an argument, in order of the text; at least one is an error.
    #[error("{}", first_error(.0))]
    Rejected(Vec<Problem>),
    /// There is no case with this number. A case is one or more launches in order on the same memory; a launch file may have several.
    #[error("there is no case {case}: the launch has {cases}")]
    NoCase {
        /// The number asked for, from 0.
        case: usize,
        /// The number of cases.
        cases: usize,
    },
    /// A reason outside the kernel: data that cannot be read, memory that does not suffice.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A session cannot begin.
    #[error(transparent)]
    Start(#[from] StartError),
}

/// A mistake in a text, with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Error, warning or note.
    pub severity: Severity,
    /// Its stable kind, one lower-case word.
    pub code: &'static str,
    /// The message, in one line.
    pub message: String,
    /// How to fix it, if that is known.
    pub help: Option<String>,
    /// The name of the text.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { severity, code, message, file, line, column, .. } = self;
        write!(f, "{file}:{line}:{column}: {}[{code}]: {message}", severity.word())
    }
}

/// The text of the first error, for a message of one line.
fn first_error(problems: &[Problem]) -> String {
    let error = problems.iter().find(|problem| problem.severity == Severity::Error);
    error.or(problems.first()).map_or_else(String::new, ToString::to_string)
}

/// The problems that `diagnostics` report in the texts of `sources`.
pub(super) fn problems(sources: &Sources, diagnostics: &[Diagnostic]) -> Vec<Problem> {
    let problem = |diagnostic: &Diagnostic| {
        let position = sources.position(diagnostic.span);
        Problem {
            severity: diagnostic.severity,
            code: diagnostic.code,
            message: diagnostic.message.clone(),
            help: diagnostic.help.clone(),
            file: sources.file(diagnostic.span.source).name().to_string(),
            line: position.line,
            column: position.column,
        }
    };
    diagnostics.iter().map(problem).collect()
}

impl From<OpenError> for Error {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::File(message) => Error::File(message),
            OpenError::Module(module) => Error::Rejected(problems(&module.sources, &module.diagnostics)),
            OpenError::Launch(sources, diagnostics) => Error::Rejected(problems(&sources, &diagnostics)),
        }
    }
}
