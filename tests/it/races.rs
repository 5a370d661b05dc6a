//! Mistakes between threads that the gallery has no case of: each launch of `fixtures/races` must be found as its launch file says, in
//! every order.

#![expect(clippy::unwrap_used, reason = "a test that cannot read its fixture fails")]

use std::path::Path;

use crate::common::launch_files;
use ptxdbg::debug::findings::Checks;
use ptxdbg::debug::open::open;
use ptxdbg::debug::{CaseReport, DivergencePolicy, LaunchChoice, Overrides, Request, RunOptions, Schedule, run_case, verify_case};
use ptxdbg::machine::{FastPath, FastPaths};

fn reports(options: &RunOptions) -> Vec<CaseReport> {
    let mut reports = Vec::new();
    for file in launch_files("races") {
        let request = Request { modules: Vec::new(), launch: LaunchChoice::File(file), overrides: Overrides::default() };
        let opened = open(&request).unwrap();
        reports.extend(opened.plan.cases.iter().map(|case| verify_case(&opened.program, case, options, false).unwrap()));
    }
    reports
}

/// Judging accesses together changes no finding and no count.
#[test]
fn findings_are_those_of_accesses_judged_one_by_one() {
    let (mut with_findings, mut tried, mut wrong) = (0, 0, Vec::new());
    for file in ["races", "gallery", "cases", "orders", "programs"].into_iter().flat_map(launch_files) {
        let name = file.display().to_string();
        let request = Request { modules: Vec::new(), launch: LaunchChoice::File(file), overrides: Overrides::default() };
        let Ok(opened) = open(&request) else { continue };
        let in_stack = Some(DivergencePolicy::Stack);
        let runs = [(Schedule::InOrder, None), (Schedule::Random, None), (Schedule::InOrder, in_stack)];
        for (case, (schedule, divergence)) in opened.plan.cases.iter().flat_map(|case| runs.iter().map(move |run| (case, run.clone()))) {
            let name = format!("{name}, {schedule:?}, {divergence:?}");
            let options =
                RunOptions { checks: Checks::ALL, step_limit: Some(1 << 20), schedule, divergence, seed: 1, ..RunOptions::unwatched() };
            let run = |fast_paths| run_case(&opened.program, case, &RunOptions { fast_paths, ..options.clone() }).unwrap();
            let text = |run: &ptxdbg::debug::CaseRun| format!("{:#?} {:#?}", run.findings, run.executed);
            let single = run(FastPaths::NONE);
            with_findings += usize::from(!single.findings.is_empty());
            // All of them, and all but one, another one in each run.
            let off = FastPath::ALL[tried % FastPath::ALL.len()];
            tried += 1;
            for (words, fast_paths) in [(String::new(), FastPaths::ALL), (format!(" without {off:?}"), FastPaths::ALL.without(off))] {
                let together = run(fast_paths);
                if text(&together) != text(&single) {
                    wrong.push(format!("{name}{words}:\n{}\nand one by one\n{}", text(&together), text(&single)));
                }
            }
        }
    }
    assert!(with_findings > 100, "{with_findings} runs have findings");
    assert!(wrong.is_empty(), "{} runs differ, the first: {}", wrong.len(), wrong[0]);
}

#[test]
fn every_race_is_found_in_every_order_and_nothing_else() {
    let checks = Checks::ALL;
    for seed in 0..=5 {
        let schedule = if seed == 0 { Schedule::InOrder } else { Schedule::Random };
        let reports = reports(&RunOptions { checks, schedule, seed, ..RunOptions::unwatched() });
        assert!(reports.len() >= 35);
        for report in reports {
            assert!(report.failures.is_empty(), "{} with seed {seed}: {:?}", report.name, report.failures);
        }
    }
}

#[test]
fn lanes_are_ordered_by_lockstep_only_where_warps_have_a_stack() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/races/lockstep.ron");
    let request = Request { modules: Vec::new(), launch: LaunchChoice::File(file), overrides: Overrides::default() };
    let opened = open(&request).unwrap();
    let ids = |case: usize, divergence: Option<DivergencePolicy>| {
        let options = RunOptions { checks: Checks::ALL, divergence, ..RunOptions::unwatched() };
        let report = verify_case(&opened.program, &opened.plan.cases[case], &options, false).unwrap();
        report.findings.iter().map(|finding| finding.id.word()).collect::<Vec<_>>()
    };
    let (volatile, plain, fenced) = (0, 1, 2);
    for case in [volatile, fenced] {
        assert_eq!((ids(case, None), ids(case, Some(DivergencePolicy::Stack))), (vec!["race.lockstep"], vec!["race.lockstep"]));
    }
    assert!(ids(volatile, Some(DivergencePolicy::Independent)).contains(&"race.unordered"));
    assert!(ids(fenced, Some(DivergencePolicy::Independent)).contains(&"race.shared.raw"));
    for divergence in [DivergencePolicy::Stack, DivergencePolicy::Independent] {
        assert!(ids(plain, Some(divergence)).contains(&"race.shared.raw"), "{divergence:?}");
    }
}

/// What the last finding of each rule says.
const REASONS: &[(&str, usize, &str)] = &[
    ("fence_order_bug", 1, "blocks of a grid run in any order"),
    ("weak_fence_bug", 2, "blocks of a grid run in any order"),
    ("sizes_bug", 1, "no axiom of the memory model holds"),
    ("read_only_path_bug", 1, "the read-only path"),
    ("surface_bug", 1, "outside the memory model"),
];

#[test]
fn a_finding_says_which_rule_does_not_order_it() {
    let reports = reports(&RunOptions { checks: Checks::ALL, ..RunOptions::unwatched() });
    for (name, count, why) in REASONS {
        let report = reports.iter().find(|report| report.name == *name).unwrap();
        assert_eq!(report.findings.len(), *count, "{name}");
        assert!(report.findings.iter().all(|finding| finding.why.contains(why)), "{name}: {:?}", report.findings);
    }
}

/// What is said of the mistakes with `shfl`, launch by launch.
const SHFL: &[(&str, &str)] = &[
    (
        "shfl_left_out_bug",
        "lanes 0-15 store %r7, and it was made from %r6, which shfl.sync took from lanes 16-31 though those did not take part: \
         the mask 0x0000ffff leaves them out",
    ),
    (
        "shfl_exited_bug",
        "lane 10 stores %r11, and it was made from %r10, which shfl.sync took from lane 11 though that did not take part: it had exited",
    ),
    (
        "shfl_tree_bug",
        "lane 0 stores %r2, and it was made from %r8, which shfl.sync took from lane 8 though that did not take part: \
         the mask 0x000000ff leaves it out",
    ),
    ("sent_bug", "lanes 0-15 store %w, and it was made from %v of lanes 16-31, which nothing on their way has written"),
    ("no_thread_bug", "lane 15 stores %w, and shfl.sync took it from lane 16 though that did not take part: the block has fewer threads"),
    (
        "decides_bug",
        "%q decides which way lanes 0-15 go, and it was made from %w, which shfl.sync took from lane 16 though that did not take part: \
         the mask 0x0000ffff leaves it out",
    ),
    ("shfl_old_bug", "lanes 0-15 store %w, and shfl took it from lanes 16-31 though those did not take part: they had exited"),
];

#[test]
fn what_shfl_took_from_absent_lanes_is_reported() {
    let reports = reports(&RunOptions { checks: Checks::ALL, ..RunOptions::unwatched() });
    for (name, why) in SHFL {
        let report = reports.iter().find(|report| report.name == *name).unwrap();
        let described: Vec<&str> = report.findings.iter().map(|finding| finding.why.as_str()).collect();
        assert_eq!(described, [*why], "{name}");
    }
}

/// The mistakes in a loop, and what fixes each of them.
const LOOPS: &[(&str, &str)] =
    &[("tile_loop_bug", "__syncthreads()"), ("tile_loop_warp_bug", "__syncthreads()"), ("warp_loop_bug", "__syncwarp()")];

#[test]
fn the_pair_that_decides_the_remedy_is_shown_in_the_type_of_the_access() {
    for (seed, schedule) in [(0, Schedule::InOrder), (3, Schedule::Random)] {
        let reports = reports(&RunOptions { checks: Checks::ALL, schedule, seed, ..RunOptions::unwatched() });
        for (name, remedy) in LOOPS {
            let report = reports.iter().find(|report| report.name == *name).unwrap();
            for finding in &report.findings {
                assert_eq!(finding.id.word(), "race.shared.war", "{name}");
                assert!(finding.why.contains("the read in one turn of the loop and the write in the next"), "{name}: {}", finding.why);
                let (first, second) = (finding.first.as_ref().unwrap(), finding.second.as_ref().unwrap());
                let own = if first.site.warp == second.site.warp { "__syncwarp()" } else { "__syncthreads()" };
                assert!(finding.fix.starts_with(&format!("consider {own}")), "{name}: {}", finding.fix);
                // The matrices hold small numbers, whose bits are large ones.
                let small = |value: &Option<String>| value.as_ref().unwrap().parse::<f32>().unwrap() < 2048.0;
                assert!(small(&first.value) && small(&second.value), "{name}: {:?} {:?}", first.value, second.value);
            }
            assert!(report.findings.iter().any(|finding| finding.fix.starts_with(&format!("consider {remedy}"))), "{name}");
        }
    }
}

/// Where warps have roles, no advice is a barrier of the block, even if a loop around them brings all threads together.
#[test]
fn roles_in_a_loop_get_a_named_barrier() {
    let module = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/cases/roles_in_loop.ptx");
    let overrides = Overrides { grid: Some([1, 1, 1]), block: Some([64, 1, 1]), params: vec!["n=1".into()], ..Overrides::default() };
    let opened = open(&Request { modules: vec![module], launch: LaunchChoice::MadeUp, overrides }).unwrap();
    let options = RunOptions { checks: Checks::ALL, ..RunOptions::unwatched() };
    let report = verify_case(&opened.program, &opened.plan.cases[0], &options, false).unwrap();
    let fixes: Vec<&str> = report.findings.iter().map(|finding| finding.fix.as_str()).collect();
    assert!(!fixes.is_empty() && fixes.iter().all(|fix| fix.starts_with("consider a named barrier")), "{fixes:#?}");
}
