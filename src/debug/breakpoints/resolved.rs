//! The instructions that a location stands for.

use crate::program::Pc;

/// The instructions that a location stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The instructions, in order; not empty.
    pub pcs: Vec<Pc>,
    /// Where they are instead, if the line that was named has no instruction.
    pub note: Option<String>,
}
