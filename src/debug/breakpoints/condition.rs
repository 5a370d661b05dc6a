//! The `if` of a breakpoint: an expression that must be true for it to stop.

use crate::debug::argument::ArgumentError;
use crate::debug::eval_context::EvalContext;
use crate::debug::expression::{Expression, Reason};
use crate::debug::source_names::ObjectError;

/// A condition, read once when it is set.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition(Expression);

impl Condition {
    /// Reads a condition.
    ///
    /// # Errors
    /// It is no expression.
    pub fn parse(text: &str) -> Result<Self, ArgumentError> {
        expression(text).map(Self)
    }

    /// As the user wrote it.
    pub fn text(&self) -> &str {
        self.0.text()
    }

    /// The names in it.
    pub fn names(&self) -> Vec<&str> {
        self.0.names()
    }

    /// True if it holds for the focused thread of `context`: not zero, or for one value per lane, not zero in any lane.
    ///
    /// # Errors
    /// It has no value there: the reason, in one line.
    pub fn holds(&self, context: &EvalContext<'_>) -> Result<bool, String> {
        self.0.evaluate(context).map(|value| value.is_true()).map_err(|error| {
            // A condition is about what is current: an older value decides nothing.
            let Reason::Object(ObjectError::OutOfRange { name, .. }) = &error.reason else { return error.to_string() };
            format!("{error}; 'print {name}' shows the last value, if it had one")
        })
    }
}

/// Reads an expression of an argument.
pub(super) fn expression(text: &str) -> Result<Expression, ArgumentError> {
    Expression::parse(text).map_err(|error| {
        let at = error.column.min(text.len());
        let end = text.get(at..).and_then(|rest| rest.chars().next()).map_or(at, |letter| at + letter.len_utf8());
        ArgumentError::new(error.message).at(at..end).with_help(format!("expected {}", error.expected))
    })
}
