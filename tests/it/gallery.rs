//! The gallery of planted bugs: every `_bug` must be found as its launch file says, every `_ok` must be clean, in every order. What is
//! found stands in `docs/gallery.md` beside what NVIDIA's compute-sanitizer found: `PTXDBG_BLESS=1 cargo test --test it gallery::` writes it.

#![expect(clippy::unwrap_used, reason = "a test that cannot read its fixture fails")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use ptxdbg::debug::findings::Checks;
use ptxdbg::debug::open::open;
use ptxdbg::debug::{CaseReport, CompletionPolicyKind, LaunchChoice, Opened, Overrides, Request, RunOptions, Schedule, verify_case};

/// Warp-instructions after which threads that spin are said to do so.
const STEP_LIMIT: u64 = 1 << 17;

/// Seeds that are tried.
const SEEDS: std::ops::RangeInclusive<u64> = 1..=5;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/gallery")
}

fn gallery() -> Vec<Opened> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "ron"));
    files.sort();
    let request = |file: PathBuf| Request { modules: Vec::new(), launch: LaunchChoice::File(file), overrides: Overrides::default() };
    files.into_iter().map(|file| open(&request(file)).unwrap()).collect()
}

fn options() -> RunOptions {
    RunOptions { checks: Checks::ALL, step_limit: Some(STEP_LIMIT), ..RunOptions::unwatched() }
}

/// What becomes of every case of the gallery.
fn reports(gallery: &[Opened], options: &RunOptions) -> Vec<CaseReport> {
    let cases = gallery.iter().flat_map(|opened| opened.plan.cases.iter().map(move |case| (&opened.program, case)));
    cases.map(|(program, case)| verify_case(program, case, options, false).unwrap()).collect()
}

#[test]
fn every_bug_is_found_and_every_twin_is_clean() {
    let reports = reports(&gallery(), &options());
    assert!(reports.len() >= 116, "{}", reports.len());
    let wrong: BTreeSet<&str> = reports.iter().filter(|report| !report.failures.is_empty()).map(|report| report.name.as_str()).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    let (path, table) = (Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/gallery.md"), table(&reports));
    if std::env::var_os("PTXDBG_BLESS").is_some() {
        fs::write(&path, &table).unwrap();
    }
    assert_eq!(
        fs::read_to_string(path).unwrap_or_default(),
        table,
        "run PTXDBG_BLESS=1 cargo test --test it gallery:: and read the difference"
    );
}

#[test]
fn findings_do_not_depend_on_the_order() {
    let gallery = gallery();
    let found = |options: &RunOptions| reports(&gallery, options).into_iter().map(|report| (report.name, report.findings.len())).collect();
    let first: Vec<(String, usize)> = found(&options());
    let mut differing = BTreeSet::new();
    for seed in SEEDS {
        for copies in [CompletionPolicyKind::Eager, CompletionPolicyKind::Lazy, CompletionPolicyKind::Random(seed)] {
            let order = RunOptions { schedule: Schedule::Random, seed, copies, ..options() };
            let other: Vec<(String, usize)> = found(&order);
            differing.extend(first.iter().zip(other).filter(|(first, other)| *first != other).map(|((name, _), _)| name.clone()));
        }
    }
    assert!(differing.is_empty(), "{differing:?}");
}

/// A row of the gallery's own table: what is wrong there, and what compute-sanitizer reported.
struct Row<'a> {
    name: &'a str,
    why: &'a str,
    sanitizer: &'a str,
}

fn rows(readme: &str) -> Vec<Row<'_>> {
    let cells = |line| str::split(line, '|').map(str::trim).collect::<Vec<_>>();
    let row = |cells: Vec<_>| match cells.as_slice() {
        ["", name, _, why, sanitizer, ..] if name.ends_with("_bug") || name.ends_with("_ok") => Some(Row { name, why, sanitizer }),
        _ => None,
    };
    readme.lines().map(cells).filter_map(row).collect()
}

fn table(reports: &[CaseReport]) -> String {
    let readme = fs::read_to_string(folder().join("README.md")).unwrap();
    let (mut lines, mut ours, mut theirs, mut bugs) = (Vec::new(), 0, 0, 0);
    for Row { name, why, sanitizer } in rows(&readme) {
        let Some(report) = reports.iter().find(|report| report.name == name) else { continue };
        let ids: BTreeSet<&str> = report.findings.iter().map(|finding| finding.id.word()).collect();
        let ids = if ids.is_empty() { "nothing".to_string() } else { ids.into_iter().collect::<Vec<_>>().join(", ") };
        if name.ends_with("_bug") {
            bugs += 1;
            ours += usize::from(report.failures.is_empty());
            theirs += usize::from(!matches!(sanitizer, "nothing" | ""));
        }
        lines.push(format!("| {name} | {ids} | {sanitizer} | {why} |\n"));
    }
    format!(
        "# The gallery of planted bugs\n\n\
         Each kernel of `fixtures/gallery` has a bug, and a twin without it. The table is made by `tests/it/gallery.rs`: what ptxdbg finds, and what\n\
         NVIDIA compute-sanitizer 2025.3.1 (memcheck, racecheck, initcheck, synccheck) reported on an H200. \"hangs\" says that the kernel hung and\n\
         nothing was reported. Of {bugs} bugs, ptxdbg names {ours} as their launch files say; compute-sanitizer reported something for {theirs}, hangs included.\n\n\
         | kernel | ptxdbg | compute-sanitizer | why |\n| --- | --- | --- | --- |\n{}",
        lines.concat()
    )
}
