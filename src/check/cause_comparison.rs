//! Grouping of findings of several runs of one case by their cause.

use super::finding::Finding;
use super::race;
use super::reachability::Reachability;
use super::reporter;
use crate::program::Program;

/// Compares the causes of findings of several runs of a program.
#[derive(Clone, Default)]
pub struct CauseComparison {
    reachability: Reachability,
}

impl CauseComparison {
    /// True if two findings have one cause: the same instructions, or the checker of a single run would have counted them as one.
    pub fn are_same(&mut self, program: &Program, earlier: &Finding, new: &Finding) -> bool {
        earlier.pair() == new.pair()
            || if new.id.is_race() {
                race::is_same_cause(program, &mut self.reachability, earlier, new)
            } else {
                reporter::is_same_cause(program, earlier, new)
            }
    }
}
