//! A parsed command line: the command, and its arguments by kind.

use super::argument_text::ArgumentText;
use super::catalogue::Catalogue;
use super::error::CommandError;
use super::spec::{ArgKind, CommandSpec};
use crate::debug::value::Format;

/// A command with its arguments.
#[derive(Clone)]
pub struct Call {
    /// The command table.
    pub table: &'static Catalogue,
    /// Its row of the table.
    pub spec: &'static CommandSpec,
    /// The line as it was typed.
    pub line: String,
    /// The text after a slash that follows the name.
    pub suffix: Option<ArgumentText>,
    /// The given arguments, in the order of the row.
    pub args: Vec<Arg>,
}

/// An argument that was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arg {
    /// Its name in the row.
    pub name: &'static str,
    /// Its kind.
    pub kind: ArgKind,
    /// Its text.
    pub argument: ArgumentText,
    /// The numbers it denotes, if it is of a kind that denotes numbers.
    pub numbers: Vec<u64>,
}

impl Call {
    /// The repeat count: the argument N, or 1.
    pub fn count(&self) -> u64 {
        self.number("N").unwrap_or(1)
    }

    /// The format after the slash.
    pub fn format(&self) -> Result<Option<Format>, CommandError> {
        let Some(argument) = &self.suffix else { return Ok(None) };
        let no_format = || argument.error(format!("there is no format '{}'", argument.text)).with_help(Format::all());
        Format::from_name(&argument.text).ok_or_else(no_format).map(Some)
    }

    /// The argument with the name `name` in the row.
    pub fn arg(&self, name: &str) -> Option<&Arg> {
        self.args.iter().find(|arg| arg.name == name)
    }

    /// The text of an argument.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.argument(name).map(|argument| argument.text.as_str())
    }

    /// The text of an argument, with its offset.
    pub fn argument(&self, name: &str) -> Option<&ArgumentText> {
        self.arg(name).map(|arg| &arg.argument)
    }

    /// The number that an argument denotes.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.arg(name)?.numbers.first().copied()
    }

    /// The text of an argument that a command needs, with its offset.
    ///
    /// # Errors
    /// The argument is missing.
    pub fn required(&self, name: &str) -> Result<&ArgumentText, CommandError> {
        self.argument(name).ok_or_else(|| self.missing(name))
    }

    /// The error of an argument that is missing.
    pub fn missing(&self, name: &str) -> CommandError {
        let end = self.line.trim_end().len();
        let kind = self.spec.args.iter().find(|arg| arg.name == name).map_or(String::new(), |arg| arg.kind.describe());
        CommandError::at(end..end, format!("expected {kind}")).with_help(format!("usage: {}", self.spec.usage()))
    }
}
