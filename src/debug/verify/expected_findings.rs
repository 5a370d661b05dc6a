//! Whether what was found in a launch is what its launch file says.

use super::Failure;
use crate::base::Severity;
use crate::check::{CheckerId, Checks, FindingId};
use crate::debug::findings::FindingText;
use crate::debug::run::CaseRun;
use crate::launch::{Case, ExpectedFindings};
use crate::program::Program;

/// What is wrong with what was found in the launches that were run.
///
/// A launch without a word on findings fails by those of severity `failing` or worse. A note says nothing against a kernel, so it is
/// `Clean` with notes.
pub fn compare_findings(program: &Program, case: &Case, run: &CaseRun, checks: Checks, failing: Severity) -> Vec<Failure> {
    let launches = case.launches.iter().take(run.launches.len()).enumerate();
    let failures = launches.flat_map(|(index, launch)| {
        let found: Vec<&FindingText> = run.findings.iter().filter(|finding| finding.launch == index).collect();
        let kernel = &program.functions[launch.kernel.index()].name;
        match &launch.findings {
            None => unwanted(found.into_iter().filter(|finding| finding.severity >= failing)),
            Some(ExpectedFindings::Clean) => unwanted(found.into_iter().filter(|finding| finding.severity > Severity::Note)),
            Some(ExpectedFindings::AnyOf { ids, line }) => compare_any_of(kernel, ids, *line, &found, checks),
        }
    });
    failures.collect()
}

fn unwanted<'a>(found: impl Iterator<Item = &'a FindingText>) -> Vec<Failure> {
    found.map(|finding| Failure::Finding { finding: Box::new(finding.clone()) }).collect()
}

/// At least one of `ids` must be found, on `line` if it is given, and nothing else.
fn compare_any_of(kernel: &str, ids: &[String], line: Option<u32>, found: &[&FindingText], checks: Checks) -> Vec<Failure> {
    let (right, others): (Vec<_>, Vec<_>) = found.iter().copied().partition(|finding| ids.iter().any(|id| id == finding.id.word()));
    let mut failures = unwanted(others.into_iter().filter(|finding| finding.severity > Severity::Note));
    match (right.first(), line) {
        (None, _) if failures.is_empty() => failures.push(nothing(kernel, ids, checks)),
        (Some(first), Some(expected)) if !right.iter().any(|finding| finding.is_on_source_line(expected)) => {
            failures.push(Failure::WrongLine { finding: Box::new((*first).clone()), expected });
        }
        _ => {}
    }
    failures
}

fn nothing(kernel: &str, ids: &[String], checks: Checks) -> Failure {
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

    /// The failures of a launch that wants a race on line 7, as words.
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
        assert!(matches!(nothing("k", &ids, Checks::NONE), Failure::NoFinding { off, .. } if off == ["race"]));
        assert!(matches!(nothing("k", &ids, Checks::ALL), Failure::NoFinding { off, .. } if off.is_empty()));
    }
}
