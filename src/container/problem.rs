//! Defects of a file or a part of it.

use std::fmt;

/// A part of a file that cannot be read: its location, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file, and in it the member, the section and the byte offset, if known.
    pub place: String,
    /// The defect.
    pub what: String,
}

impl Problem {
    /// The defect `what` at `place`.
    pub fn new(place: impl Into<String>, what: impl Into<String>) -> Self {
        let (place, what) = (place.into(), what.into());
        debug_assert!(!place.is_empty() && !what.is_empty());
        Self { place, what }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}
