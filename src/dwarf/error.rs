//! Why debug data cannot be read.

use crate::base::Span;

/// Why the debug data of a module, or a part of it, cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DwarfError {
    /// The text of a section is not understood.
    #[error("{message}")]
    Text {
        /// The place in the module.
        span: Span,
        /// What is wrong there.
        message: String,
    },
    /// The bytes of the sections contradict each other.
    #[error("{0}")]
    Bytes(String),
}

impl From<gimli::Error> for DwarfError {
    fn from(error: gimli::Error) -> Self {
        Self::Bytes(error.to_string())
    }
}
