//! The findings that a session knows of, and which checkers watch its run.

use std::collections::BTreeMap;

use super::{FindingText, FixOutcome, Suppressions};
use crate::check::Side;
use crate::machine::Tick;

/// The sides of a finding, the second first.
pub(super) type Sides = (Side, Option<Side>);

/// What was found in a session's run so far.
#[derive(Default)]
pub struct Known {
    /// With names, in the order in which they were noticed.
    pub(super) texts: Vec<FindingText>,
    /// For each, the time of the instruction at which it was noticed.
    pub(super) noticed: Vec<Tick>,
    /// For each, the sides that its text describes.
    pub(super) described: Vec<Sides>,
    /// The results of trying their fixes, by number.
    pub(super) tried: BTreeMap<usize, FixOutcome>,
    /// Which of them are suppressed.
    pub suppressions: Suppressions,
}

impl Known {
    /// Forgets what was noticed at `time` or later.
    pub fn forget_from(&mut self, time: Tick) {
        let kept = self.noticed.iter().take_while(|noticed| **noticed < time).count();
        self.texts.truncate(kept);
        self.noticed.truncate(kept);
        self.described.truncate(kept);
        self.tried.clear();
    }
}
