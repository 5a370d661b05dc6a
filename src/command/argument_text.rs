//! The text of an argument, with its offset in the command line.

use super::error::CommandError;
use crate::debug::argument::ArgumentError;

/// Words that a thread filter starts with.
pub(super) const FILTER_WORDS: &[&str] = &["block", "warp", "lane", "lanes", "thread", "cluster"];

/// The text of an argument of a command, or of another part of the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentText {
    /// The text.
    pub text: String,
    /// Its offset in the line, in bytes.
    pub start: usize,
}

impl ArgumentText {
    /// Its range of bytes in the line.
    pub fn span(&self) -> std::ops::Range<usize> {
        self.start..self.start + self.text.len()
    }

    /// An error about it.
    pub fn error(&self, message: impl Into<String>) -> CommandError {
        CommandError::at(self.span(), message)
    }

    /// The error `error`, whose columns count from the argument's start, with columns of the line.
    pub fn shifted_error(&self, error: ArgumentError) -> CommandError {
        let error = error.shifted(self.start);
        CommandError { message: error.message, span: error.span.or(Some(self.span())), help: error.help }
    }

    /// An error at the word that begins at byte `column` of it.
    pub fn error_at(&self, column: usize, message: impl Into<String>) -> CommandError {
        let at = column.min(self.text.len());
        let is_word = |c: char| c.is_ascii_alphanumeric() || "_%$.".contains(c);
        let word = self.text.get(at..).map_or(0, |rest| rest.chars().take_while(|c| is_word(*c)).count().max(1));
        let end = (at + word).min(self.text.len());
        CommandError::at(self.start + at..self.start + end, message)
    }
}

/// The word of a command name that starts at or after `from`; it may be empty.
pub fn word_at(line: &str, from: usize) -> ArgumentText {
    let rest = line.get(from..).unwrap_or_default();
    let start = from + rest.len() - rest.trim_start().len();
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let text = rest.trim_start().chars().take_while(|c| is_name(*c)).collect();
    ArgumentText { text, start }
}
