//! What is said of the fix of a race.

use crate::check::finding::{Remedy, RemedyKind};
use crate::program::Pc;

/// What would order a race: what is said of it, and the instructions that it changes, if it names some.
pub(super) struct Advice {
    /// In one line.
    pub text: String,
    /// The instructions.
    pub remedy: Option<Remedy>,
}

impl From<String> for Advice {
    fn from(text: String) -> Self {
        Self { text, remedy: None }
    }
}

impl Advice {
    /// One that changes these instructions.
    pub fn of(text: String, kind: RemedyKind, at: [Pc; 2]) -> Self {
        Self { text, remedy: Some(Remedy { kind, at }) }
    }
}
