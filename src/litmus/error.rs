//! Errors of a text that is no litmus test.

/// Why a text is no litmus test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// What is wrong, and what is expected.
    pub message: String,
}

impl ParseError {
    /// An error at a byte of the text.
    pub fn at(text: &str, byte: usize, message: String) -> Self {
        let before = &text[..byte.min(text.len())];
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Self { line: before.matches('\n').count() + 1, column, message }
    }
}
