//! The branches of a session: the runs that changes have left, by name.

use super::timeline::Timeline;
use crate::base::Tick;

/// The name of the run without changes.
pub(super) const MAIN: &str = "main";

/// Where a branch comes from.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Origin {
    /// The branch that was changed.
    pub from: String,
    /// The time of the change.
    pub time: Tick,
    /// The change, as it was typed.
    pub change: String,
}

/// A branch without its run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub name: String,
    pub origin: Option<Origin>,
}

/// The present branch, and the others with their runs.
pub(super) struct Branches {
    pub present: Head,
    pub others: Vec<(Head, Timeline)>,
    /// Branches that were made so far.
    pub made: u32,
}

impl Default for Branches {
    fn default() -> Self {
        Self { present: Head { name: MAIN.to_string(), origin: None }, others: Vec::new(), made: 0 }
    }
}

/// A run that was kept when a change began a new branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptRun {
    /// The branch with the run as it was.
    pub branch: String,
    /// The time up to which it was executed.
    pub recorded: Tick,
    /// The branch that begins.
    pub present: String,
}
