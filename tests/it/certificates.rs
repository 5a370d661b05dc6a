//! What a certificate says holds: in other orders of warps and copies nothing else is found, and the same is left in memory.

#![expect(clippy::unwrap_used, reason = "a test that cannot open a fixture fails")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ptxdbg::check::Checks;
use ptxdbg::debug::certificate::{Certificate, certificate};
use ptxdbg::debug::open::open;
use ptxdbg::debug::{CaseRun, CompletionPolicyKind, LaunchChoice, Opened, Overrides, Request, RunOptions, Schedule, run_case};
use ptxdbg::launch::Case;

/// Seeds of each way in which copies end.
const SEEDS: u64 = 4;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

fn of_run(opened: &Opened, run: &CaseRun, options: &RunOptions) -> Option<Certificate> {
    certificate(&opened.program, &run.executed, (&run.findings, &run.contention), options.checks)
}

/// What is found, and every buffer, of which the first bytes differ where results may round differently.
fn outcome(case: &Case, run: &CaseRun) -> (BTreeSet<String>, Vec<Vec<u8>>) {
    let lines = |finding: &ptxdbg::debug::findings::FindingText| format!("{} {:?}", finding.id.word(), finding.source_lines);
    let device = run.device.as_ref().unwrap();
    let read = |(buffer, address): (&ptxdbg::launch::PlannedBuffer, &u64)| {
        let mut bytes = vec![0; buffer.bytes as usize];
        device.read(*address, &mut bytes).unwrap();
        bytes
    };
    (run.findings.iter().map(lines).collect(), case.buffers.iter().zip(&run.addresses).map(read).collect())
}

/// A run in order, with all checkers.
fn checked() -> RunOptions {
    RunOptions { checks: Checks::ALL, ..RunOptions::default() }
}

fn orders() -> Vec<RunOptions> {
    let random = (1..=SEEDS).flat_map(|seed| {
        [CompletionPolicyKind::Eager, CompletionPolicyKind::Lazy, CompletionPolicyKind::Random(seed)].map(|copies| RunOptions {
            schedule: Schedule::Random,
            seed,
            copies,
            ..RunOptions::default()
        })
    });
    random.collect()
}

/// The launch files of a folder of fixtures.
fn launches(folder: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(fixtures().join(folder)).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|extension| extension == "ron")).collect();
    files.sort();
    files
}

#[test]
fn what_is_certified_holds_in_other_orders() {
    let (mut certified, mut problems) = (0, Vec::new());
    for file in ["gallery", "checks", "programs"].into_iter().flat_map(launches) {
        let request = Request { modules: Vec::new(), launch: LaunchChoice::File(file.clone()), overrides: Overrides::default() };
        let opened = open(&request).unwrap();
        for case in &opened.plan.cases {
            let run = |options: &RunOptions| run_case(&opened.program, case, options).unwrap();
            let options = checked();
            let first = run(&options);
            let Some(Certificate::EveryOrder { may_round_differently }) = of_run(&opened, &first, &options) else { continue };
            certified += 1;
            let (findings, buffers) = outcome(case, &first);
            for options in orders() {
                let (other_findings, other_buffers) = outcome(case, &run(&options));
                if findings != other_findings || !may_round_differently && buffers != other_buffers {
                    problems.push(format!("{} {:?} {} {:?}", case.name, options.schedule, options.seed, options.copies));
                }
            }
        }
    }
    assert!(certified >= 40, "{certified} cases are certified");
    assert!(problems.is_empty(), "{} problem(s):\n{}", problems.len(), problems.join("\n"));
}

/// The verdict on a small kernel, in a word.
fn verdict(module: &str) -> String {
    let overrides = Overrides { grid: Some([2, 1, 1]), block: Some([64, 1, 1]), params: vec!["u32[256]".into()], ..Overrides::default() };
    let request = Request { modules: vec![fixtures().join(format!("orders/{module}.ptx"))], launch: LaunchChoice::MadeUp, overrides };
    let opened = open(&request).unwrap();
    let options = checked();
    let run = run_case(&opened.program, &opened.plan.cases[0], &options).unwrap();
    match of_run(&opened, &run, &options) {
        None => format!("none: {:?}", run.findings.iter().map(|finding| finding.id.word()).collect::<Vec<_>>()),
        Some(Certificate::EveryOrder { may_round_differently: false }) => "every order".into(),
        Some(Certificate::EveryOrder { may_round_differently: true }) => "every order but for rounding".into(),
        Some(Certificate::Depends(dependence)) => format!("{}, {}", dependence.on, dependence.decides.map_or("kept", |(what, _)| what)),
        Some(Certificate::Undecided { .. }) => "undecided".into(),
    }
}

#[test]
fn verdicts_name_what_depends_on_the_order() {
    for (module, expected) in [
        ("count", "every order"),
        ("sum_float", "every order but for rounding"),
        ("sum_float_branch", "the rounding of what red.global.add.f32 adds up, a branch"),
        ("sum_float_select", "the rounding of what red.shared.add.f32 adds up, what is stored"),
        ("allocation", "the address that malloc returns, kept"),
        ("ticket", "what atom.global.add.u32 returns, what is stored"),
        ("ticket_acq_rel", "what atom.acq_rel.gpu.global.add.u32 returns, what is stored"),
        ("acquired_once", "what ld.acquire.gpu.global.u32 returns, a branch"),
        ("exchange", "what atom.global.exch.b32 leaves in memory, kept"),
        ("add_and_min", "what red.global.add.u32 leaves in memory, kept"),
        ("poll", "every order"),
        ("poll_count", "what ld.acquire.gpu.global.u32 returns, a branch"),
        ("poll_backoff", "every order"),
        ("poll_limit", "what ld.acquire.gpu.global.u32 returns, a branch"),
        ("poll_two_writers", "what st.release.gpu.global.u32 leaves in memory, kept"),
        ("clock", "what mov.u32 returns, what is stored"),
        ("test_wait", "what mbarrier.test_wait.shared.b64 returns, what is stored"),
    ] {
        assert_eq!(verdict(module), expected, "{module}");
    }
}
