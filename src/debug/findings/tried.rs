//! The results of trying the fixes of a finding, as data.

use std::fmt;

use serde::Serialize;

/// The result of trying changes for a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum FixOutcome {
    /// A change held: the finding is gone, and there is no new one.
    Held {
        /// The changes.
        changes: Vec<String>,
        /// The contents of the buffers after the changed program.
        outputs: Outputs,
        /// The number of other orders with the finding in which the changed program was run.
        orders: u64,
        /// Changes that were tried before and did not hold.
        failed: usize,
        /// What the program with the changes for all findings shows, if it is not clean; with the last of these findings.
        #[serde(skip_serializing_if = "Option::is_none")]
        remains: Option<Remainder>,
    },
    /// The changes for these other findings remove it as well.
    GoneAlready {
        /// Their numbers.
        with: Vec<usize>,
    },
    /// No change held.
    NoneHeld {
        /// Each change, with the reason.
        tried: Vec<FailedFix>,
    },
    /// No change of the program is known for it.
    NothingToTry,
}

impl FixOutcome {
    /// What the program with the changes for all findings shows, if it is known here.
    pub fn remainder(&self) -> Option<&Remainder> {
        match self {
            FixOutcome::Held { remains, .. } => remains.as_ref(),
            FixOutcome::GoneAlready { .. } | FixOutcome::NoneHeld { .. } | FixOutcome::NothingToTry => None,
        }
    }
}

/// What a program with all changes that held shows: a finding that was fixed, a new one, or a fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Remainder {
    /// Its id, and its place.
    pub what: String,
    /// The seed of the order that shows it; none for that of the session.
    pub seed: Option<u64>,
}

impl fmt::Display for Remainder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is still {}", self.what)?;
        self.seed.map_or(Ok(()), |seed| write!(f, " under --schedule random --seed {seed} --async random:{seed}"))
    }
}

/// A change that did not hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FailedFix {
    /// The changes.
    pub changes: Vec<String>,
    /// Why it did not hold.
    pub why: String,
}

/// The contents of the buffers after the changed program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "outputs", content = "at", rename_all = "snake_case")]
pub enum Outputs {
    /// As the launch expects.
    AsExpected,
    /// Not as the launch expects; the first wrong element.
    NotAsExpected(String),
    /// The launch expects nothing; equal to those of the original.
    Unchanged,
    /// The launch expects nothing; different from the original: the first such element.
    Changed(String),
    /// Different in some order: its seed.
    Vary(u64),
    /// The run stopped before its end, as the original did.
    NotCompared,
}

impl Outputs {
    /// True if the values still depend on the order, or are wrong.
    pub(in crate::debug) fn is_wrong(&self) -> bool {
        matches!(self, Outputs::Vary(_) | Outputs::NotAsExpected(_))
    }
}
