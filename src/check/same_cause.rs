//! Findings of several runs of one case: which of them have one cause.

use super::finding::Finding;
use super::race;
use super::reachability::Reachability;
use super::reporter;
use crate::program::Program;

/// Decides which findings of several runs of a program have one cause.
#[derive(Clone, Default)]
pub struct SameCause {
    reachability: Reachability,
}

impl SameCause {
    /// Whether two findings have one cause: the same instructions, or such as the checker of one run would have counted as one.
    pub fn holds(&mut self, program: &Program, known: &Finding, new: &Finding) -> bool {
        known.pair() == new.pair()
            || if new.id.is_race() {
                race::is_same_cause(program, &mut self.reachability, known, new)
            } else {
                reporter::is_same_cause(program, known, new)
            }
    }
}
