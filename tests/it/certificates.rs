//! What a certificate says holds: in other orders of warps and copies nothing else is found, and the same is left in memory.

#![expect(clippy::unwrap_used, clippy::print_stderr, reason = "a test that cannot open a fixture fails")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ptxdbg::base::run_jobs;
use ptxdbg::check::Checks;
use ptxdbg::debug::certificate::{Certificate, certificate};
use ptxdbg::debug::open::open;
use ptxdbg::debug::{CaseRun, CompletionPolicyKind, LaunchChoice, Opened, Overrides, Request, RunOptions, Schedule, run_case};
use ptxdbg::launch::Case;
use ptxdbg::launch::block_list::block_list;
use ptxdbg::program::{Op, Program};

/// Seeds that what is certified is tried with.
const SEEDS: u64 = 4;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

fn of_run(opened: &Opened, case: &Case, run: &CaseRun, options: &RunOptions) -> Option<Certificate> {
    certificate((&opened.program, case), &run.executed, (&run.findings, &run.unordered_accesses), options.checks)
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
    RunOptions { checks: Checks::ALL, step_limit: Some(1 << 26), ..RunOptions::unwatched() }
}

/// Orders of warps, each with every way in which copies end if any do.
fn orders(program: &Program, seeds: u64) -> Vec<RunOptions> {
    let is_asynchronous = program.code.iter().any(|inst| matches!(inst.op, Op::Async(_) | Op::Wgmma(_)));
    let random = (1..=seeds).flat_map(|seed| {
        let policies = [CompletionPolicyKind::Random(seed), CompletionPolicyKind::Eager, CompletionPolicyKind::Lazy];
        let policies = policies.into_iter().take(if is_asynchronous { 3 } else { 1 });
        policies.map(move |copies| RunOptions { schedule: Schedule::Random, seed, copies, ..RunOptions::unwatched() })
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

/// Runs what is certified among the launches of a folder under `seeds` seeds: how many cases, how many runs, and which differ.
fn try_certified(folder: &str, seeds: u64) -> (usize, usize, Vec<String>) {
    let (mut certified, mut runs, mut problems) = (0, 0, Vec::new());
    for file in launches(folder) {
        let request = Request { modules: Vec::new(), launch: LaunchChoice::File(file.clone()), overrides: Overrides::default() };
        // Sessions, and launches with mistakes, lie beside the others.
        let Ok(opened) = open(&request) else { continue };
        for case in &opened.plan.cases {
            let run = |options: &RunOptions| run_case(&opened.program, case, options).unwrap();
            let options = checked();
            let Ok(first) = run_case(&opened.program, case, &options) else { continue };
            let Some(Certificate::EveryOrder { may_round_differently, .. }) = of_run(&opened, case, &first, &options) else { continue };
            certified += 1;
            let (findings, buffers) = outcome(case, &first);
            let orders: Vec<RunOptions> =
                orders(&opened.program, seeds).into_iter().map(|order| RunOptions { checks: Checks::ALL, ..order }).collect();
            runs += orders.len();
            let work = |index: u64, _: &dyn Fn() -> bool| {
                let options = &orders[index as usize];
                let (other_findings, other_buffers) = outcome(case, &run(options));
                let differs = findings != other_findings || !may_round_differently && buffers != other_buffers;
                differs.then(|| format!("{} {:?} {} {:?}", case.name, options.schedule, options.seed, options.copies))
            };
            let jobs = std::thread::available_parallelism().map_or(1, usize::from);
            run_jobs(jobs, orders.len() as u64, work, || true, |_, problem| problems.extend(problem));
        }
    }
    (certified, runs, problems)
}

/// A sample here, as many seeds as `PTXDBG_SEEDS` says for all fixtures in `.ci/full`, or for the folders that `PTXDBG_FOLDERS` names.
#[test]
fn what_is_certified_holds_in_other_orders() {
    let seeds = std::env::var("PTXDBG_SEEDS").ok().map(|seeds| seeds.parse().unwrap());
    let mut folders = vec!["gallery".to_string(), "checks".to_string(), "programs".to_string()];
    if seeds.is_some() {
        let entries = std::fs::read_dir(fixtures()).unwrap().map(|entry| entry.unwrap());
        folders = entries.filter(|entry| entry.path().is_dir()).map(|entry| entry.file_name().into_string().unwrap()).collect();
        folders.sort();
    }
    let named = std::env::var("PTXDBG_FOLDERS").ok();
    if let Some(named) = &named {
        folders = named.split(',').map(str::to_string).collect();
    }
    let (mut all, mut differ) = (0, Vec::new());
    for folder in &folders {
        let (certified, runs, problems) = try_certified(folder, seeds.unwrap_or(SEEDS));
        eprintln!("{folder}: {certified} certified, {runs} runs, {} differ", problems.len());
        all += certified;
        differ.extend(problems);
    }
    assert!(named.is_some() || all >= 40, "{all} cases are certified");
    assert!(differ.is_empty(), "{} problem(s):\n{}", differ.len(), differ.join("\n"));
}

/// The verdict on a small kernel, in a word.
fn verdict(module: &str) -> String {
    let overrides = Overrides { grid: Some([2, 1, 1]), block: Some([64, 1, 1]), params: vec!["u32[256]".into()], ..Overrides::default() };
    let request = Request { modules: vec![fixtures().join(format!("orders/{module}.ptx"))], launch: LaunchChoice::MadeUp, overrides };
    verdict_on(&request)
}

/// The verdict on a launch file.
fn verdict_on_file(file: &str) -> String {
    let launch = LaunchChoice::File(fixtures().join(file));
    verdict_on(&Request { modules: Vec::new(), launch, overrides: Overrides::default() })
}

fn verdict_on(request: &Request) -> String {
    let opened = open(request).unwrap();
    let options = checked();
    let run = run_case(&opened.program, &opened.plan.cases[0], &options).unwrap();
    match of_run(&opened, &opened.plan.cases[0], &run, &options) {
        None => format!("none: {:?}", run.findings.iter().map(|finding| finding.id.word()).collect::<Vec<_>>()),
        Some(Certificate::EveryOrder { resident: Some(wait), .. }) => {
            format!("every order while {} blocks are resident: {:?} at {} for {:?}", wait.blocks, wait.block, wait.place, wait.waits_for)
        }
        Some(Certificate::EveryOrder { blocks: Some(blocks), .. }) => format!("every order of {} of {} blocks", blocks.ran, blocks.of),
        Some(Certificate::EveryOrder { has_reserved: true, .. }) => "every order, reserved memory left out".into(),
        Some(Certificate::EveryOrder { may_round_differently: false, .. }) => "every order".into(),
        Some(Certificate::EveryOrder { may_round_differently: true, .. }) => "every order but for rounding".into(),
        Some(Certificate::Depends(dependence)) => format!("{}, {}", dependence.on, dependence.decides.map_or("kept", |(what, _)| what)),
        Some(Certificate::Undecided { .. }) => "undecided".into(),
    }
}

/// Blocks that race with others are not known to, as long as they run alone.
#[test]
fn a_certificate_is_about_the_blocks_that_ran() {
    let overrides = Overrides {
        grid: Some([4, 1, 1]),
        block: Some([1, 1, 1]),
        params: vec!["u32[1]".into()],
        blocks: block_list("0").unwrap(),
        ..Overrides::default()
    };
    let request = |overrides| Request { modules: vec![fixtures().join("orders/last_block.ptx")], launch: LaunchChoice::MadeUp, overrides };
    assert_eq!(verdict_on(&request(overrides.clone())), "every order of 1 of 4 blocks");
    assert_eq!(verdict_on(&request(Overrides { blocks: block_list("0-3").unwrap(), ..overrides.clone() })), "none: [\"race.global\"]");
    assert_eq!(verdict_on(&request(Overrides { blocks: Vec::new(), ..overrides })), "none: [\"race.global\"]");
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
        ("returned_unused", "every order"),
        ("returned", "what atom.global.add.u32 returns, what is stored"),
        ("exchange", "what atom.global.exch.b32 leaves in memory, kept"),
        ("add_and_min", "what red.global.add.u32 leaves in memory, kept"),
        ("poll", "every order"),
        ("wait_next", "every order while 2 blocks are resident: [0, 0, 0] at wait_next.ptx:21 for [1, 0, 0]"),
        ("wait_next_in_cluster", "every order"),
        ("poll_count", "what ld.acquire.gpu.global.u32 returns, a branch"),
        ("poll_backoff", "every order"),
        ("poll_limit", "what ld.acquire.gpu.global.u32 returns, a branch"),
        ("poll_two_writers", "what st.release.gpu.global.u32 leaves in memory, kept"),
        ("clock", "what mov.u32 returns, what is stored"),
        ("ring_short", "what ld.acquire.cta.shared.s32 returns, a branch"),
        ("test_wait", "what mbarrier.test_wait.shared.b64 returns, what is stored"),
    ] {
        assert_eq!(verdict(module), expected, "{module}");
    }
}

/// An access that comes after a write only because an atomic has observed the write races in another order.
#[test]
fn an_observed_write_is_observed_in_this_order() {
    let verdict = |seed: u64| {
        let overrides =
            Overrides { grid: Some([1, 1, 1]), block: Some([64, 1, 1]), params: vec!["u32[256]".into()], ..Overrides::default() };
        let request = Request { modules: vec![fixtures().join("orders/observed_bins.ptx")], launch: LaunchChoice::MadeUp, overrides };
        let opened = open(&request).unwrap();
        let schedule = if seed == 0 { Schedule::InOrder } else { Schedule::Random };
        let options = RunOptions { schedule, seed, ..checked() };
        let run = run_case(&opened.program, &opened.plan.cases[0], &options).unwrap();
        (run.findings.is_empty(), of_run(&opened, &opened.plan.cases[0], &run, &options))
    };
    let verdicts: Vec<_> = (0..=6).map(verdict).collect();
    let is_every_order = |certificate: &Option<Certificate>| matches!(certificate, Some(Certificate::EveryOrder { .. }));
    assert!(verdicts.iter().any(|(is_clean, _)| *is_clean) && verdicts.iter().any(|(is_clean, _)| !is_clean));
    assert!(verdicts.iter().all(|(_, certificate)| !is_every_order(certificate)), "{verdicts:?}");
}

/// A ring with a slot too few races only where the producer gets ahead: the certificate of the order that does not show it is about that
/// order, and other orders find it.
#[test]
fn a_short_ring_is_found_in_other_orders() {
    let overrides = Overrides { grid: Some([2, 1, 1]), block: Some([64, 1, 1]), params: vec!["u32[256]".into()], ..Overrides::default() };
    let request = Request { modules: vec![fixtures().join("orders/ring_short.ptx")], launch: LaunchChoice::MadeUp, overrides };
    let opened = open(&request).unwrap();
    let races = |seed| {
        let options = RunOptions { schedule: Schedule::Random, seed, ..checked() };
        let run = run_case(&opened.program, &opened.plan.cases[0], &options).unwrap();
        run.findings.iter().any(|finding| finding.id.word() == "race.shared.raw")
    };
    assert!((1..=4).any(races));
}

/// What the certificate of a wait for a later block is about: with room for fewer blocks the kernel hangs.
#[test]
fn a_wait_for_a_later_block_needs_all_blocks_resident() {
    let hangs = |module: &str, resident: Option<u32>| {
        let overrides =
            Overrides { grid: Some([2, 1, 1]), block: Some([64, 1, 1]), params: vec!["u32[256]".into()], ..Overrides::default() };
        let request = Request { modules: vec![fixtures().join(format!("orders/{module}.ptx"))], launch: LaunchChoice::MadeUp, overrides };
        let opened = open(&request).unwrap();
        let run = run_case(&opened.program, &opened.plan.cases[0], &RunOptions { resident, ..checked() }).unwrap();
        run.findings.iter().any(|finding| ["livelock", "deadlock"].contains(&finding.id.word()))
    };
    assert!(hangs("wait_next", Some(1)) && !hangs("wait_next", None));
    assert!(!hangs("poll", Some(1)));
}

/// Sums in a buffer decide what is computed from that buffer alone.
#[test]
fn what_depends_on_a_buffer_does_not_depend_on_others() {
    assert_eq!(verdict_on_file("orders/scatter.ron"), "every order but for rounding");
    assert_eq!(verdict_on_file("orders/scatter_over_indices.ron"), "the rounding of what atom.global.add.f32 adds up, an address");
}
