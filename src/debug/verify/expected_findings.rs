//! Comparison of the findings of a launch with those that its launch file expects.

use super::Failure;
use crate::base::Severity;
use crate::check::{CheckerId, Checks, FindingId};
use crate::debug::findings::FindingText;
use crate::debug::run::CaseRun;
use crate::launch::{Case, ExpectedFindings};
use crate::program::Program;

/// The failures due to the findings of the executed launches.
///
/// A launch without expected findings fails by findings of severity `failing` or worse. A launch is `Clean` even with notes, which do not
/// report errors.
pub fn compare_findings(program: &Program, case: &Case, run: &CaseRun, checks: Checks, failing: Severity) -> Vec<Failure> {
    let launches = case.launches.iter().take(run.launches.len()).enumerate();
    let failures = launches.flat_map(|(index, launch)| {
        let found: Vec<&FindingText> = run.findings.iter().filter(|finding| finding.launch == index).collect();
        let kernel = &program.functions[launch.kernel.index()].name;
        match &launch.findings {
            None => unexpected(found.into_iter().filter(|finding| finding.severity >= failing)),
            Some(ExpectedFindings::Clean) => unexpected(found.into_iter().filter(|finding| finding.severity > Severity::Note)),
            Some(ExpectedFindings::AnyOf { ids, line }) => compare_any_of(kernel, ids, *line, &found, checks),
        }
    });
    failures.collect()
}

fn unexpected<'a>(found: impl Iterator<Item = &'a FindingText>) -> Vec<Failure> {
    found.map(|finding| Failure::Finding { finding: Box::new(finding.clone()) }).collect()
}

/// At least one of `ids` must be found, on `line` if it is given, and no_finding else.
fn compare_any_of(kernel: &str, ids: &[String], line: Option<u32>, found: &[&FindingText], checks: Checks) -> Vec<Failure> {
    let (expected_findings, others): (Vec<_>, Vec<_>) =
        found.iter().copied().partition(|finding| ids.iter().any(|id| id == finding.id.word()));
    let mut failures = unexpected(others.into_iter().filter(|finding| finding.severity > Severity::Note));
    match (expected_findings.first(), line) {
        (None, _) if failures.is_empty() => failures.push(no_finding(kernel, ids, checks)),
        (Some(first), Some(expected)) if !expected_findings.iter().any(|finding| finding.is_on_source_line(expected)) => {
            failures.push(Failure::WrongLine { finding: Box::new((*first).clone()), expected });
        }
        _ => {}
    }
    failures
}

fn no_finding(kernel: &str, ids: &[String], checks: Checks) -> Failure {
    let finders = ids.iter().filter_map(|id| FindingId::of_word(id)?.checker());
    let mut off: Vec<&'static str> = finders.filter(|checker| !checks.has(*checker)).map(CheckerId::word).collect();
    off.sort_unstable();
    off.dedup();
    Failure::NoFinding { kernel: kernel.to_string(), expected: ids.to_vec(), off }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::faults::DEADLOCK;
    use crate::check::race::catalogue::{RACE_SHARED_RAW, RACE_SHARED_WAR};
    use crate::debug::fault::Fault;

    fn finding(id: FindingId, line: u32) -> FindingText {
        let fault = Fault {
            id,
            kernel: "k".to_string(),
            launch: 0,
            message: String::new(),
            why: String::new(),
            site: None,
            source_lines: vec![line],
            waiting: Vec::new(),
            waiting_more: 0,
            made_up: String::new(),
        };
        FindingText::of_fault(1, &fault)
    }

    /// The failures of a launch that expects a race on line 7, as words.
    fn compared(found: &[FindingText]) -> Vec<&'static str> {
        let ids = ["race.shared.raw".to_string(), "race.shared.war".to_string()];
        let failures = compare_any_of("k", &ids, Some(7), &found.iter().collect::<Vec<_>>(), Checks::ALL);
        let word = |failure: &Failure| match failure {
            Failure::Finding { finding } => finding.id.word(),
            Failure::NoFinding { .. } => "nothing",
            Failure::WrongLine { .. } => "wrong line",
            _ => "another",
        };
        failures.iter().map(word).collect()
    }

    #[test]
    fn one_of_several_findings_must_be_on_the_line_and_none_outside_the_list() {
        let (raw, war) = (RACE_SHARED_RAW, RACE_SHARED_WAR);
        assert_eq!(compared(&[finding(raw, 7)]), [""; 0]);
        assert_eq!(compared(&[finding(raw, 9), finding(war, 7)]), [""; 0]);
        assert_eq!(compared(&[finding(raw, 9), finding(war, 8)]), ["wrong line"]);
        assert_eq!(compared(&[finding(raw, 7), finding(DEADLOCK, 7)]), ["deadlock"]);
        assert_eq!(compared(&[finding(DEADLOCK, 7)]), ["deadlock"]);
        assert_eq!(compared(&[]), ["nothing"]);
    }

    #[test]
    fn a_checker_that_is_off_is_named() {
        let ids = ["race.global".to_string(), "trap".to_string(), "race.scope".to_string()];
        assert!(matches!(no_finding("k", &ids, Checks::NONE), Failure::NoFinding { off, .. } if off == ["race"]));
        assert!(matches!(no_finding("k", &ids, Checks::ALL), Failure::NoFinding { off, .. } if off.is_empty()));
    }
}
