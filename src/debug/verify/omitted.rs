//! The limit on printed findings: those beyond it are counted by id.

use std::collections::BTreeMap;

use super::{CaseReport, Failure};
use crate::debug::findings::{FindingId, FindingText};
use crate::debug::run::Summary;

/// Findings that are not printed, counted by id.
pub type Omitted = BTreeMap<FindingId, u64>;

/// The number of findings that may still be printed, over all cases of a call.
#[derive(Debug)]
pub struct FindingBudget {
    remaining: usize,
    omitted: Omitted,
}

impl FindingBudget {
    /// A budget of `max` findings.
    pub fn new(max: usize) -> Self {
        Self { remaining: max, omitted: Omitted::new() }
    }

    /// Removes the findings beyond the budget from `summary`.
    pub fn limit_summary(&mut self, summary: &mut Summary) {
        self.limit(&mut summary.findings, |finding| Some(finding.id));
    }

    /// Removes the findings beyond the budget from `report`, among the failures and in the list of all findings. The list counts if
    /// `prints_all` is set (it is printed), the failures otherwise.
    pub fn limit_report(&mut self, report: &mut CaseReport, prints_all: bool) {
        let mut uncounted = Self::new(self.remaining);
        let (of_failures, of_list) = if prints_all { (&mut uncounted, self) } else { (self, &mut uncounted) };
        of_failures.limit(&mut report.failures, |failure| match failure {
            Failure::Finding { finding } | Failure::WrongLine { finding, .. } => Some(finding.id),
            Failure::Mismatch { .. } | Failure::Mismatches { .. } | Failure::NoFinding { .. } | Failure::Printed { .. } => None,
        });
        of_list.limit(&mut report.findings, |finding: &FindingText| Some(finding.id));
    }

    /// Adds findings that were omitted before.
    pub fn omit(&mut self, id: FindingId, count: u64) {
        *self.omitted.entry(id).or_default() += count;
    }

    /// The findings that may still be printed.
    pub fn remaining(&self) -> usize {
        self.remaining
    }

    /// The findings that were omitted so far.
    pub fn omitted(&self) -> &Omitted {
        &self.omitted
    }

    /// Removes the findings beyond the budget from `list`; entries without a finding stay. The last finding, the fault that ended the
    /// run, takes precedence over the others.
    pub fn limit<T>(&mut self, list: &mut Vec<T>, id_of: impl Fn(&T) -> Option<FindingId>) {
        let count = list.iter().filter(|entry| id_of(entry).is_some()).count();
        let kept = count.min(self.remaining);
        let mut position = 0;
        list.retain(|entry| {
            let Some(id) = id_of(entry) else { return true };
            position += 1;
            let keeps = position < kept || kept > 0 && (position == count || count == kept);
            if !keeps {
                *self.omitted.entry(id).or_default() += 1;
            }
            keeps
        });
        self.remaining -= kept;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::faults::DEADLOCK;
    use crate::check::race::catalogue::RACE_GLOBAL;

    const A: FindingId = RACE_GLOBAL;
    const B: FindingId = DEADLOCK;

    fn limited(max: usize, lists: &[&[FindingId]]) -> (Vec<Vec<FindingId>>, Vec<(FindingId, u64)>) {
        let mut budget = FindingBudget::new(max);
        let limit = |list: &&[FindingId]| {
            let mut list = list.to_vec();
            budget.limit(&mut list, |id| Some(*id));
            list
        };
        let lists = lists.iter().map(limit).collect();
        (lists, budget.omitted.into_iter().collect())
    }

    #[test]
    fn what_is_within_the_bound_stays() {
        assert_eq!(limited(3, &[&[A, A, B]]), (vec![vec![A, A, B]], vec![]));
    }

    #[test]
    fn the_last_finding_is_kept_and_the_others_are_counted() {
        assert_eq!(limited(2, &[&[A, A, A, B]]), (vec![vec![A, B]], vec![(A, 2)]));
        assert_eq!(limited(1, &[&[A, A, B]]), (vec![vec![B]], vec![(A, 2)]));
        assert_eq!(limited(0, &[&[A, B]]), (vec![vec![]], vec![(A, 1), (B, 1)]));
    }

    #[test]
    fn the_bound_is_over_all_cases() {
        assert_eq!(limited(3, &[&[A, A], &[A, A, B], &[A]]), (vec![vec![A, A], vec![B], vec![]], vec![(A, 3)]));
    }
}
