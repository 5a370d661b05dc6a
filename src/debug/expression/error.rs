//! Syntax errors of expressions.

/// Why a text is no expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}; expected {expected}")]
pub struct ExpressionError {
    /// Byte of the error in the text, from 0.
    pub column: usize,
    /// The error.
    pub message: String,
    /// What is expected.
    pub expected: String,
}
