//! Where checkers hand in what they find.

use super::catalogue::FindingId;
use super::finding::{Finding, Findings, Side, SideAction};
use crate::program::{Pc, Program};

/// Takes findings of one launch.
pub struct Reporter<'a> {
    /// The program that runs.
    pub program: &'a Program,
    /// What was found so far.
    pub findings: &'a mut Findings,
    /// Which launch of the case runs.
    pub launch: usize,
}

impl Reporter<'_> {
    /// Adds a finding of this launch. True if it is new.
    pub fn report(&mut self, finding: Finding) -> bool {
        self.findings.report(Finding { launch: self.launch, ..finding })
    }

    /// Counts a mistake without a first side at `place` if it is known, and says whether it is: cheaper than to make the finding first.
    pub fn repeats(&mut self, id: FindingId, second: (Pc, SideAction)) -> bool {
        self.findings.repeats((id, self.launch, None, second))
    }

    /// Whether a race was found of an instruction, on either side.
    pub fn knows_race(&self, pc: Pc) -> bool {
        let at = |side: &Side| side.place.pc == pc;
        let mut races = self.findings.list().iter().filter(|other| other.id.is_race() && other.launch == self.launch);
        races.any(|race| at(&race.second) || race.first.as_ref().is_some_and(at))
    }
}
