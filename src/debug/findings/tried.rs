//! The results of trying the fixes of a finding, as data.

use serde::Serialize;

/// The results of the changes that were tried for a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum FixOutcome {
    /// One held: the finding is gone, and no new one has come.
    Held {
        /// The changes.
        changes: Vec<String>,
        /// The contents of the buffers after the changed program.
        outputs: Outputs,
        /// Other orders in which the original shows the finding, and the changed program was run.
        orders: u64,
        /// Changes that were tried before and did not hold.
        failed: usize,
    },
    /// The changes for these other findings remove it as well.
    GoneAlready {
        /// Their numbers.
        with: Vec<usize>,
    },
    /// None of them held.
    NoneHeld {
        /// Each, and why not.
        tried: Vec<FailedFix>,
    },
    /// No change of the program is known for it.
    NothingToTry,
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
    /// Not what it expects; the first wrong element.
    NotAsExpected(String),
    /// The launch expects nothing; what the run left.
    Unchanged,
    /// The launch expects nothing; not what the run left, which is the first element.
    Changed(String),
    /// Not the same in every order; the seed of one that differs.
    Vary(u64),
    /// The run stopped before its end, as it did before.
    NotCompared,
}

impl Outputs {
    /// Whether the values still depend on the order, or are wrong.
    pub(in crate::debug) fn is_open(&self) -> bool {
        matches!(self, Outputs::Vary(_) | Outputs::NotAsExpected(_))
    }
}
