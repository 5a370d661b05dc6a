//! The advice of findings, tried: for each planted race of the gallery, each row of `fixtures/cases/advice.txt`, and each lock of
//! `fixtures/orders/locks.ron`, whose races only the other order of its critical sections shows, the changes that hold are those of `fixtures/cases/fixes.txt`. `PTXDBG_BLESS=1 cargo test --test it fixes::` writes that table: each change in it must be one
//! that a reader of the kernel would make.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a test that cannot open a fixture fails, and one that is skipped says so")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use ptxdbg::debug::findings::{Checks, FixOutcome, Outputs};
use ptxdbg::debug::fix::{ChangedModule, FixReport, FixReports, fix_case};
use ptxdbg::debug::open::open;
use ptxdbg::debug::{LaunchChoice, Opened, Overrides, Request, RunOptions};

/// Ticks after which threads that spin are stopped.
const STEP_LIMIT: u64 = 1 << 20;

const HEAD: &str = "\
# What holds for each finding of the planted races: the changes, and what the changed program leaves in the buffers. Made by
# PTXDBG_BLESS=1 cargo test --test it fixes::
#
# kernel | finding | changes | outputs
";

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

fn launch_file(path: PathBuf) -> Opened {
    open(&Request { modules: Vec::new(), launch: LaunchChoice::File(path), overrides: Overrides::default() }).unwrap()
}

/// The launch files of a folder, in order.
fn launches(folder: &str) -> Vec<Opened> {
    let mut files: Vec<PathBuf> = fs::read_dir(fixtures().join(folder)).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "ron"));
    files.sort();
    files.into_iter().map(launch_file).collect()
}

/// The rows of `advice.txt`: kernels by their words.
fn rows() -> Vec<Opened> {
    let text = fs::read_to_string(fixtures().join("cases/advice.txt")).unwrap();
    let cells = |line: &str| line.split('|').map(|cell| cell.trim().to_string()).collect::<Vec<String>>();
    let rows: BTreeSet<Vec<String>> = text.lines().filter(|line| !line.starts_with('#')).map(|line| cells(line)[..5].to_vec()).collect();
    let extent = |text: &str| Some([text.parse().unwrap(), 1, 1]);
    let request = |row: Vec<String>| Request {
        modules: vec![fixtures().join("cases").join(format!("{}.ptx", row[0]))],
        launch: LaunchChoice::MadeUp,
        overrides: Overrides {
            kernel: Some(row[1].clone()),
            grid: extent(&row[2]),
            block: extent(&row[3]),
            params: row[4].split_whitespace().map(str::to_string).collect(),
            ..Overrides::default()
        },
    };
    rows.into_iter().map(|row| open(&request(row)).unwrap()).collect()
}

/// What came of the findings of each case that has a race.
fn fixed() -> Vec<(String, FixReports)> {
    let options = RunOptions { checks: Checks::ALL, step_limit: Some(STEP_LIMIT), orders: 1, ..RunOptions::unwatched() };
    let mut all = Vec::new();
    let locks = launch_file(fixtures().join("orders/locks.ron"));
    for opened in launches("gallery").into_iter().chain(rows()).chain([locks]) {
        for case in &opened.plan.cases {
            let kernel = &opened.program.functions[case.launches[0].kernel.index()].name;
            let reports = fix_case(&opened.program, case, &options, (None, 2), &mut || true).unwrap().unwrap();
            all.push((kernel.to_string(), reports));
        }
    }
    all
}

fn outputs(outputs: &Outputs) -> &'static str {
    match outputs {
        Outputs::AsExpected => "as expected",
        Outputs::NotAsExpected(_) => "not as expected",
        Outputs::Unchanged => "unchanged",
        Outputs::Changed(_) => "others",
        Outputs::Vary(_) => "vary",
        Outputs::NotCompared => "not compared",
    }
}

#[test]
fn what_held_holds() {
    let mut table = HEAD.to_string();
    for (kernel, reports) in fixed() {
        for report in reports.reports.iter().filter(|report| report.id.starts_with("race.")) {
            let (changes, outputs) = match &report.outcome {
                FixOutcome::Held { changes, outputs: left, .. } => (changes.join(" + "), outputs(left)),
                FixOutcome::GoneAlready { with } => (format!("gone with finding {with:?}"), ""),
                FixOutcome::NoneHeld { .. } => ("none".to_string(), ""),
                FixOutcome::NothingToTry => ("nothing".to_string(), ""),
            };
            table += &format!("{kernel} | {} | {changes} | {outputs}\n", report.id);
        }
    }
    let path = fixtures().join("cases/fixes.txt");
    if std::env::var_os("PTXDBG_BLESS").is_some() {
        fs::write(&path, &table).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(expected, table, "run PTXDBG_BLESS=1 cargo test --test it fixes:: and read the difference");
}

/// A statement of a kernel that is right, and the change that gives it back: file, kernel, statement, how often it stands in the kernel
/// before that one, and what one of the changes that hold says.
const TAKEN_AWAY: &[(&str, &str, &str, usize, &str)] = &[
    ("gallery/wgmma_acc_early", "wgmma_acc_early_ok", "wgmma.fence.sync.aligned;", 0, "wgmma.fence.sync.aligned; before"),
    ("gallery/bulk_store_nofence", "bulk_store_nofence_ok", "cp.async.bulk.wait_group 0;", 0, "cp.async.bulk.wait_group 0;"),
    ("gallery/cluster_nobar", "cluster_nobar_ok", CLUSTER_BARRIER, 1, "barrier.cluster.wait; before"),
    ("gallery/named_swap", "named_swap_ok", "barrier.cta.arrive 1, 64;", 0, "barrier.arrive 1, 64; after"),
    ("gallery/named_swap", "named_swap_ok", "barrier.cta.arrive 2, 64;", 0, "barrier.arrive 2, 64; after"),
    ("gallery/grid_barrier", "grid_barrier_ok", "bar.sync \t0;", 0, "bar.sync 0; before"),
    ("gallery/mbar_use_after_inval", "mbar_use_after_inval_ok", "bar.sync \t0;", 2, "bar.sync 0; before"),
    ("gallery/pipe_no_empty", "pipe_no_empty_ok", "bar.sync \t0;", 0, "__syncthreads() before pipe_no_empty.cu:40"),
    ("programs/mbar_pipeline", "ring_mbarrier", "bar.sync 1, 96;", 0, "barrier.sync 15, 96;"),
    // The barrier after the wait is there.
    ("programs/mbar_pipeline", "smooth_async", "cp.async.wait_group 1;", 0, "cp.async.wait_all; before"),
    // One thread takes the ticket, and all have the fence after it: only fence.sc orders those.
    ("programs/reduce_ticket", "reduce_ticket", "membar.gl;", 0, "fence.sc.gpu; before"),
    ("programs/reduce_ticket", "reduce_ticket", "membar.gl;", 1, "fence.acq_rel.gpu; after"),
];

/// The barrier of a cluster, as nvcc writes it.
const CLUSTER_BARRIER: &str = "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;";

#[test]
fn what_was_taken_away_is_given_back() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fixes_taken_away");
    fs::create_dir_all(&folder).unwrap();
    let options = RunOptions { checks: Checks::ALL, step_limit: Some(STEP_LIMIT), orders: 1, ..RunOptions::unwatched() };
    let mut wrong = Vec::new();
    for (file, kernel, statement, before, says) in TAKEN_AWAY {
        let text = fs::read_to_string(fixtures().join(format!("{file}.ptx"))).unwrap();
        let entry = text.find(&format!(".entry {kernel}")).unwrap();
        let (at, _) = text[entry..].match_indices(statement).nth(*before).unwrap();
        let changed = folder.join(format!("{}.ptx", file.rsplit('/').next().unwrap()));
        fs::write(&changed, format!("{}{}", &text[..entry + at], &text[entry + at + statement.len()..])).unwrap();
        let launch = LaunchChoice::File(fixtures().join(format!("{file}.ron")));
        let opened = open(&Request { modules: vec![changed], launch, overrides: Overrides::default() }).unwrap();
        let of_kernel = |case: &&ptxdbg::launch::Case| {
            case.launches.iter().any(|launch| &*opened.program.functions[launch.kernel.index()].name == *kernel)
        };
        let case = opened.plan.cases.iter().find(of_kernel).unwrap();
        let fixed = fix_case(&opened.program, case, &options, (None, 2), &mut || true).unwrap().unwrap();
        let is_open = |outcome: &FixOutcome| matches!(outcome, FixOutcome::NoneHeld { .. } | FixOutcome::NothingToTry);
        let open: Vec<_> = fixed.reports.iter().filter(|report| is_open(&report.outcome)).collect();
        if !open.is_empty() || !fixed.changes.iter().any(|change| change.contains(says)) {
            wrong.push(format!("{file} without its {statement}: {:?}, open {open:#?}", fixed.changes));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Each change is made in the module that its instruction is of, and the modules that are written are clean where they are linked.
#[test]
fn modules_that_are_linked_are_changed_each() {
    let race = launch_file(fixtures().join("launches/linked_race.ron"));
    let options = RunOptions { checks: Checks::ALL, ..RunOptions::unwatched() };
    let fixed = fix_case(&race.program, &race.plan.cases[0], &options, (None, 2), &mut || true).unwrap().unwrap();
    let names: Vec<&str> = fixed.texts.iter().map(|module| module.name.as_str()).collect();
    assert_eq!(names, ["linked_race_a.ptx", "linked_race_b.ptx"], "{:?}", fixed.reports);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fixes_linked");
    let _ = fs::remove_dir_all(&folder);
    let refused = fixed.save(&folder.join("both.ptx")).unwrap_err();
    assert!(refused.ends_with("linked_race_a.ptx and linked_race_b.ptx changed: FILE is to be a folder that is there"), "{refused}");
    fs::create_dir_all(&folder).unwrap();
    let written = fixed.save(&folder).unwrap();
    assert_eq!(written.lines().count(), 2, "{written}");
    assert_eq!(fixed.save(&folder).unwrap(), written, "what an earlier call wrote is replaced");
    let launch = fs::read_to_string(fixtures().join("launches/linked_race.ron")).unwrap();
    let (head, _) = launch.split_once("findings:").unwrap();
    fs::write(folder.join("linked_race.ron"), format!("{head}findings: Clean)")).unwrap();
    let clean = launch_file(folder.join("linked_race.ron"));
    let again = fix_case(&clean.program, &clean.plan.cases[0], &options, (None, 2), &mut || true).unwrap().unwrap();
    assert!(again.reports.is_empty(), "{:?}", again.reports);
}

/// A launch of a kernel of `cases/copies.ptx`: rows of `row` elements, and as many elements for what it writes as it can need.
fn rows_of(row: u32, module: &str, kernel: &str) -> String {
    let buffer = |name: &str, len: u32, init: &str| format!("Buffer(name: \"{name}\", elem: S32, len: {len}, init: {init}), ");
    let buffers = [
        buffer("begins", 65, &format!("Iota(start: 0, step: {row})")),
        buffer("columns", 64 * row, "Random(seed: 2, low: 0, high: 63)"),
        buffer("values", 64 * row, "Iota(start: 0, step: 1)"),
        buffer("results", 64, if kernel == "relaxed" { "Iota(start: 100, step: 1)" } else { "Zero" }),
    ];
    format!("Launch(module: {module:?}, kernel: {kernel:?}, grid: (2, 1, 1), block: (32, 1, 1), params: [{}S32(64)])", buffers.concat())
}

/// A change of a statement is one of all its unrolled copies, also of those that the launch does not execute.
#[test]
fn copies_that_did_not_run_are_changed_too() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fixes_copies");
    fs::create_dir_all(&folder).unwrap();
    fs::copy(fixtures().join("cases/copies.ptx"), folder.join("copies.ptx")).unwrap();
    let options = RunOptions { checks: Checks::ALL, ..RunOptions::unwatched() };
    let of = |row: u32, module: &str, kernel: &str| {
        let file = folder.join(format!("{module}_{kernel}_{row}.ron"));
        fs::write(&file, rows_of(row, module, kernel)).unwrap();
        let opened = launch_file(file);
        fix_case(&opened.program, &opened.plan.cases[0], &options, (None, 2), &mut || true).unwrap().unwrap()
    };
    for kernel in ["highest", "relaxed", "tested", "listed", "farthest"] {
        for (ran, other) in [(40, 3), (3, 40)] {
            assert!(!of(other, "copies.ptx", kernel).reports.is_empty(), "{kernel} races in rows of {other}");
            let fixed = of(ran, "copies.ptx", kernel);
            let is_fixed = |report: &FixReport| matches!(report.outcome, FixOutcome::Held { .. } | FixOutcome::GoneAlready { .. });
            assert!(fixed.reports.iter().all(is_fixed), "{kernel} in rows of {ran}: {:#?}", fixed.reports);
            let name = format!("{kernel}_{ran}.ptx");
            fs::write(folder.join(&name), &fixed.texts[0].text).unwrap();
            let again = of(other, &name, kernel);
            assert!(again.reports.is_empty(), "{kernel}, fixed in rows of {ran}, in rows of {other}: {:#?}", again.reports);
        }
    }
}

#[test]
fn the_changed_ptx_is_what_ptxas_takes() {
    let ptxas = std::env::var_os("PTXAS").map(PathBuf::from);
    let Some(ptxas) = ptxas else {
        println!("skipped: PTXAS names no assembler");
        return;
    };
    let folder = std::env::temp_dir().join(format!("ptxdbg-fixes-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let mut refused = Vec::new();
    for (kernel, reports) in fixed() {
        let [ChangedModule { text, .. }] = &reports.texts[..] else { continue };
        let target = text.lines().find_map(|line| line.trim().strip_prefix(".target ")).unwrap().split([',', ' ']).next().unwrap();
        let path = folder.join(format!("{kernel}.ptx"));
        fs::write(&path, text).unwrap();
        let run = Command::new(&ptxas).arg(format!("-arch={target}")).arg("-o").arg(folder.join("k.cubin")).arg(&path).output().unwrap();
        if !run.status.success() {
            refused.push(format!("{kernel}: {}", String::from_utf8_lossy(&run.stderr)));
        }
    }
    fs::remove_dir_all(&folder).unwrap();
    assert!(refused.is_empty(), "{refused:#?}");
}
