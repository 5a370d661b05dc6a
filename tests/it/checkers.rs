//! The kernels of `fixtures/checks`, one with a mistake and one without in every module, watched by the checkers; and right programs,
//! of which they must find nothing.
//!
//! `finds:` at the top of a module names the findings that are right, the wanted one first; the statement marked `// here` must be one
//! of its sides. Whatever order warps run in and copies end in, the findings are as many.

#![expect(clippy::unwrap_used, reason = "a test that cannot open a fixture fails")]

use std::path::Path;

use crate::common::launch_files;
use ptxdbg::check::{Checkers, Checks, Finding};
use ptxdbg::debug::open::open;
use ptxdbg::debug::{CompletionPolicyKind, LaunchChoice, Opened, Overrides, Request, RunOptions, Schedule, start_case};
use ptxdbg::machine::Step;

/// Ticks after which a kernel that does not end is stopped.
const STEP_LIMIT: u64 = 1 << 22;

/// The orders of warps and copies that every kernel is run in.
fn orders() -> Vec<RunOptions> {
    let random = (1..=5).map(|seed| RunOptions {
        schedule: Schedule::Random,
        seed,
        copies: CompletionPolicyKind::Random(seed),
        ..RunOptions::unwatched()
    });
    let eager = RunOptions { copies: CompletionPolicyKind::Eager, ..RunOptions::unwatched() };
    [RunOptions::unwatched(), eager].into_iter().chain(random).collect()
}

fn opened(path: &Path) -> Opened {
    open(&Request { modules: Vec::new(), launch: LaunchChoice::File(path.to_path_buf()), overrides: Overrides::default() }).unwrap()
}

/// What the checkers of initialization and synchronization find in the first launch of a case.
fn findings(opened: &Opened, case: usize, options: &RunOptions) -> Vec<Finding> {
    let Ok(mut machine) = start_case(&opened.program, &opened.plan.cases[case], options).unwrap() else { return Vec::new() };
    let mut checkers = Checkers::new(&opened.program, Checks::ALL);
    checkers.begin(0, &machine.launch_start());
    while machine.tick().0 < STEP_LIMIT {
        let left = STEP_LIMIT - machine.tick().0;
        if !matches!(machine.run(left, &mut checkers), Step::Paused) {
            break;
        }
    }
    checkers.end(&machine.launch_end(), None);
    checkers.findings().list().to_vec()
}

#[test]
fn every_mistake_is_found_where_it_is_and_nothing_else() {
    let files = launch_files("checks");
    assert!(files.len() >= 25, "fixtures/checks is incomplete");
    let problems: Vec<String> = files.iter().flat_map(|file| problems_of(file)).collect();
    assert!(problems.is_empty(), "{} problem(s):\n{}", problems.len(), problems.join("\n"));
}

/// Everything in which the findings differ from what the module says.
fn problems_of(file: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(file.with_extension("ptx")).unwrap();
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    let wanted = text.lines().find_map(|line| line.strip_prefix("// finds: ")).unwrap_or_default().split(", ").next().unwrap_or_default();
    let here = text.lines().position(|line| line.ends_with("// here")).map_or(0, |index| index as u32 + 1);
    let opened = opened(file);
    let line =
        |finding: &Finding| [Some(finding.second), finding.first].map(|side| side.map_or(0, |side| opened.program.line(side.point.pc)));
    let mut problems = Vec::new();
    for options in orders() {
        let how = format!("{name}, {:?} {:?}", options.schedule, options.copies);
        let (bug, ok) = (findings(&opened, 0, &options), findings(&opened, 1, &options));
        if bug.len() != 1 || bug[0].id.word() != wanted || !line(&bug[0]).contains(&here) {
            problems.push(format!("{how}: {:?}, expected {wanted} on line {here}", described(&bug)));
        }
        if !ok.is_empty() {
            problems.push(format!("{how}: the right kernel: {:?}", described(&ok)));
        }
    }
    problems
}

fn described(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(|finding| format!("{}: {}", finding.id.word(), finding.why)).collect()
}

#[test]
fn right_programs_are_found_right() {
    let mut wrong = Vec::new();
    for file in ["programs", "hardware"].into_iter().flat_map(launch_files) {
        let opened = opened(&file);
        // What a launch file says of findings is judged where the recordings are.
        let is_right = |case: &usize| opened.plan.cases[*case].launches.iter().all(|launch| launch.findings.is_none());
        for case in (0..opened.plan.cases.len()).filter(is_right) {
            let found = findings(&opened, case, &RunOptions::unwatched());
            wrong.extend(
                described(&found).into_iter().map(|described| format!("{} {}: {described}", file.display(), opened.plan.cases[case].name)),
            );
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
