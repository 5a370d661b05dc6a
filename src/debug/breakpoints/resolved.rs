//! The instructions of a location.

use crate::program::Pc;

/// The instructions of a location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The instructions, in order; not empty.
    pub pcs: Vec<Pc>,
    /// The line used instead, if the named line has no instruction.
    pub note: Option<String>,
}
