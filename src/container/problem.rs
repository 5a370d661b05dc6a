//! What is wrong with a file or a part of it.

use std::fmt;

/// A part of a file that cannot be read: where it is, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file, and within it the member, the section and the offset in bytes, as far as they are known.
    pub place: String,
    /// What is wrong there.
    pub what: String,
}

impl Problem {
    /// `what` is wrong at `place`.
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
