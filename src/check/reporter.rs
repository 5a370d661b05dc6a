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
    /// Set by a checker that wants other kinds of events after an access.
    pub asks: bool,
}

impl Reporter<'_> {
    /// Adds a finding of this launch, or counts it where it has the cause of another one: the same statements do the same. True if it
    /// is new.
    pub fn report(&mut self, finding: Finding) -> bool {
        let program = self.program;
        self.findings.report_unless(Finding { launch: self.launch, ..finding }, |known, new| is_same_cause(program, known, new))
    }

    /// Counts a mistake without a first side at `place` if it is known, and says whether it is: cheaper than to make the finding first.
    pub fn repeats(&mut self, id: FindingId, second: (Pc, SideAction)) -> bool {
        self.findings.repeats(Pair::lone(id, self.launch, second))
    }

    /// Whether a race was found of an instruction, on either side.
    pub fn knows_race(&self, pc: Pc) -> bool {
        self.findings.knows_race(self.launch, pc)
    }
}

/// Whether two findings are one mistake of the same statements. Their fixes may differ by the names of registers.
pub(super) fn is_same_cause(program: &Program, known: &Finding, new: &Finding) -> bool {
    let first = match (&known.first, &new.first) {
        (None, None) => true,
        (Some(known), Some(new)) => is_same_statement(program, known, new),
        (None, Some(_)) | (Some(_), None) => false,
    };
    (known.id, known.launch, known.severity) == (new.id, new.launch, new.severity)
        && first
        && is_same_statement(program, &known.second, &new.second)
}
