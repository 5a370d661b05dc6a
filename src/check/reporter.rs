//! The interface by which checkers report findings.

use super::catalogue::FindingId;
use super::finding::{Finding, Findings, Pair, SideAction};
use super::statement::is_same_statement;
use crate::program::{Pc, Program};

/// Takes findings of one launch.
pub struct Reporter<'a> {
    /// The program that runs.
    pub program: &'a Program,
    /// The findings so far.
    pub findings: &'a mut Findings,
    /// The number of the running launch in the case.
    pub launch: usize,
    /// Set by a checker whose event mask an access has changed.
    pub mask_changed: bool,
}

impl Reporter<'_> {
    /// Adds a finding of this launch, or counts it if it has the cause of another one: the same source statements. True if it is new.
    pub fn report(&mut self, finding: Finding) -> bool {
        let program = self.program;
        self.findings.report_unless(Finding { launch: self.launch, ..finding }, |earlier, new| is_same_cause(program, earlier, new))
    }

    /// Counts a finding without a first side again, if it was reported. True if it was: cheaper than making the finding first.
    pub fn count_again(&mut self, id: FindingId, second: (Pc, SideAction)) -> bool {
        self.findings.count_again(Pair::single(id, self.launch, second))
    }

    /// True if an instruction is a side of a race that was found.
    pub fn has_race(&self, pc: Pc) -> bool {
        self.findings.has_race(self.launch, pc)
    }
}

/// True if two findings are the same mistake of the same source statements. Their fixes may differ by the names of registers.
pub(super) fn is_same_cause(program: &Program, earlier: &Finding, new: &Finding) -> bool {
    let first = match (&earlier.first, &new.first) {
        (None, None) => true,
        (Some(earlier), Some(new)) => is_same_statement(program, earlier, new),
        (None, Some(_)) | (Some(_), None) => false,
    };
    (earlier.id, earlier.launch, earlier.severity) == (new.id, new.launch, new.severity)
        && first
        && is_same_statement(program, &earlier.second, &new.second)
}
