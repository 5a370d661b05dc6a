//! Why a text is no expression.

/// Why a text is no expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}; expected {expected}")]
pub struct ExpressionError {
    /// Byte of the text where it is wrong, from 0.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub expected: String,
}
