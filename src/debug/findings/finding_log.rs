//! The findings of a session's run so far.

use std::collections::BTreeMap;

use super::{FindingText, FixOutcome, Suppressions};
use crate::check::Side;
use crate::machine::Tick;

/// The sides of a finding, the second first.
pub(super) type Sides = (Side, Option<Side>);

/// The findings of a session's run so far.
#[derive(Default)]
pub struct FindingLog {
    /// With names, in the order of detection.
    pub(super) texts: Vec<FindingText>,
    /// For each, the time of the instruction at which it was detected.
    pub(super) detected: Vec<Tick>,
    /// For each, the sides that its text describes.
    pub(super) described: Vec<Sides>,
    /// The results of trying their fixes, by number.
    pub(super) fix_outcomes: BTreeMap<usize, FixOutcome>,
    /// The suppressed findings.
    pub suppressions: Suppressions,
}

impl FindingLog {
    /// Removes the findings that were detected at `time` or later.
    pub fn forget_from(&mut self, time: Tick) {
        let remaining = self.detected.iter().take_while(|detected| **detected < time).count();
        self.texts.truncate(remaining);
        self.detected.truncate(remaining);
        self.described.truncate(remaining);
        self.fix_outcomes.clear();
    }
}
