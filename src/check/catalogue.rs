//! The ids of mistakes of a kernel. The mistakes are listed with the checkers that find them.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::base::Severity;

/// A mistake: its stable id, its severity and its message.
#[derive(Clone, Copy)]
pub struct FindingId {
    word: &'static str,
    severity: Severity,
    meaning: &'static str,
    is_race: bool,
}

impl FindingId {
    /// A mistake.
    pub(super) const fn error(word: &'static str, meaning: &'static str) -> Self {
        Self { word, severity: Severity::Error, meaning, is_race: false }
    }

    /// A warning: something that may be a mistake.
    pub(super) const fn warning(word: &'static str, meaning: &'static str) -> Self {
        Self { severity: Severity::Warning, ..Self::error(word, meaning) }
    }

    /// A note: something that need not be a mistake.
    pub(super) const fn note(word: &'static str, meaning: &'static str) -> Self {
        Self { severity: Severity::Note, ..Self::error(word, meaning) }
    }

    /// A race: two accesses that nothing orders, or not across their proxies.
    pub(super) const fn race(word: &'static str, meaning: &'static str) -> Self {
        Self { is_race: true, ..Self::error(word, meaning) }
    }

    /// A warning about a race: the result may depend on the order without a data race.
    pub(super) const fn race_warning(word: &'static str, meaning: &'static str) -> Self {
        Self { severity: Severity::Warning, ..Self::race(word, meaning) }
    }

    /// A note about a race that is harmless.
    pub(super) const fn race_note(word: &'static str, meaning: &'static str) -> Self {
        Self { severity: Severity::Note, ..Self::race(word, meaning) }
    }

    /// The stable id users see.
    pub fn word(self) -> &'static str {
        self.word
    }

    /// Its severity, which a single finding may lower.
    pub fn severity(self) -> Severity {
        self.severity
    }

    /// The message, in one line.
    pub fn meaning(self) -> &'static str {
        self.meaning
    }

    /// True if it is about two accesses that nothing orders. Such a finding names the cause of others at the same instructions.
    pub fn is_race(self) -> bool {
        self.is_race
    }
}

// No two mistakes have the same word, which a test holds.
impl PartialEq for FindingId {
    fn eq(&self, other: &Self) -> bool {
        self.word == other.word
    }
}

impl Eq for FindingId {}

impl Serialize for FindingId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word)
    }
}

impl fmt::Debug for FindingId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word)
    }
}
