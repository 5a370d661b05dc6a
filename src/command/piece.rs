//! Part of a command line.

use super::error::CommandError;
use crate::debug::argument::ArgumentError;

/// Part of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Its text.
    pub text: String,
    /// Where it starts: bytes of the line before it.
    pub start: usize,
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

    /// An error about an argument, as an error about the line that it stands in.
    pub fn wrong(&self, error: ArgumentError) -> CommandError {
        let error = error.shifted(self.start);
        CommandError { message: error.message, span: error.span.or(Some(self.span())), help: error.help }
    }

    /// An error that begins at byte `column` of it.
    pub fn wrong_from(&self, column: usize, message: impl Into<String>) -> CommandError {
        let at = column.min(self.text.len());
        let is_part = |c: char| c.is_ascii_alphanumeric() || "_%$.".contains(c);
        let word = self.text.get(at..).map_or(0, |rest| rest.chars().take_while(|c| is_part(*c)).count().max(1));
        let end = (at + word).min(self.text.len());
        CommandError::at(self.start + at..self.start + end, message)
    }
}
