//! Findings that wait for the end of the launch: what looks like a mistake of its own may turn out to be one side of a race, which names
//! the cause and is schedule-independent.

use super::finding::{Finding, Findings, Pair, SideAction};
use super::reporter::Reporter;

/// Findings that wait.
#[derive(Clone, Default)]
pub(super) struct DeferredFindings {
    findings: Findings,
}

impl DeferredFindings {
    /// Holds a finding.
    pub fn defer(&mut self, finding: Finding) {
        assert!(!finding.id.is_race(), "a race gives way to none");
        self.findings.report(finding);
    }

    /// Counts a mistake if it is held already, and says whether it is.
    pub fn repeats(&mut self, pair: Pair) -> bool {
        self.findings.repeats(pair)
    }

    /// Reports those that no race explains.
    pub fn release(&mut self, to: &mut Reporter<'_>) {
        for finding in std::mem::take(&mut self.findings).list() {
            let sides = [Some(finding.second), finding.first].into_iter().flatten();
            // A race of an instruction that uses a value explains no lack of it.
            if !sides.filter(|side| side.action != SideAction::Use).any(|side| to.knows_race(side.place.pc)) {
                to.report(finding.clone());
            }
        }
        assert!(self.findings.list().is_empty(), "what was held is released once");
    }
}
