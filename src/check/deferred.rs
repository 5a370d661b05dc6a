//! Findings that are deferred to the end of the launch: a race found later at the same instruction may be their cause.

use super::finding::{Finding, Findings, Pair, SideAction};
use super::reporter::Reporter;

/// Findings that are not reported yet.
#[derive(Clone, Default)]
pub(super) struct DeferredFindings {
    findings: Findings,
}

impl DeferredFindings {
    /// Defers a finding.
    pub fn defer(&mut self, finding: Finding) {
        assert!(!finding.id.is_race(), "a race gives way to none");
        self.findings.report(finding);
    }

    /// Counts a finding again, if it is deferred already. True if it is.
    pub fn count_again(&mut self, pair: Pair) -> bool {
        self.findings.count_again(pair)
    }

    /// Reports the findings that no race explains.
    pub fn release(&mut self, to: &mut Reporter<'_>) {
        for finding in std::mem::take(&mut self.findings).list() {
            let sides = [Some(finding.second), finding.first].into_iter().flatten();
            // A race at the use of a value does not explain that the value is undefined.
            if !sides.filter(|side| side.action != SideAction::Use).any(|side| to.has_race(side.point.pc)) {
                to.report(finding.clone());
            }
        }
        assert!(self.findings.list().is_empty(), "what was held is released once");
    }
}
