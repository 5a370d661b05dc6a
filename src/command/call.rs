//! A command line, taken apart: the command, and its arguments by kind.

use super::error::CommandError;
use super::spec::{ArgKind, CommandSpec};

/// A command with its arguments.
#[derive(Clone)]
pub struct Call {
    /// Its row of the table.
    pub spec: &'static CommandSpec,
    /// The line as it was typed.
    pub line: String,
    /// What stands behind the slash after the name.
    pub suffix: Option<Piece>,
    /// The arguments that were given, in the order of the row.
    pub args: Vec<Arg>,
}

/// Part of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Its text.
    pub text: String,
    /// Where it starts: bytes of the line before it.
    pub start: usize,
}

/// An argument that was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arg {
    /// Which of the row.
    pub name: &'static str,
    /// Of which kind.
    pub kind: ArgKind,
    /// Its text.
    pub piece: Piece,
    /// The numbers it stands for, if it is of a kind that is made of numbers.
    pub numbers: Vec<u64>,
}

impl Piece {
    /// The bytes of the line it takes.
    pub fn span(&self) -> std::ops::Range<usize> {
        self.start..self.start + self.text.len()
    }

    /// An error about it.
    pub fn error(&self, message: impl Into<String>) -> CommandError {
        CommandError::at(self.span(), message)
    }
}

impl Call {
    /// The argument that the row calls `name`.
    pub fn arg(&self, name: &str) -> Option<&Arg> {
        self.args.iter().find(|arg| arg.name == name)
    }

    /// The text of an argument.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.piece(name).map(|piece| piece.text.as_str())
    }

    /// The text of an argument, and where it stands.
    pub fn piece(&self, name: &str) -> Option<&Piece> {
        self.arg(name).map(|arg| &arg.piece)
    }

    /// The number that an argument stands for.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.arg(name)?.numbers.first().copied()
    }

    /// The text of an argument, and where it stands.
    ///
    /// # Errors
    /// It was not given, though it must be here.
    pub fn required(&self, name: &str) -> Result<&Piece, CommandError> {
        self.piece(name).ok_or_else(|| self.missing(name))
    }

    /// The error of an argument that is missing.
    pub fn missing(&self, name: &str) -> CommandError {
        let end = self.line.trim_end().len();
        let kind = self.spec.args.iter().find(|arg| arg.name == name).map_or(String::new(), |arg| arg.kind.in_words());
        CommandError::at(end..end, format!("expected {kind}")).with_help(format!("usage: {}", self.spec.usage()))
    }
}
