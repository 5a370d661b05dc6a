//! Runs every kernel of `fixtures/faults` and holds the report to what the comment at its top says.
//!
//! `fault:` gives the finding's id and facts; names between backquotes must be in the message. `lanes:` lists the lanes at fault,
//! and `place:` says that the statement marked `// here` must be the one named.

use std::path::{Path, PathBuf};

use ptxdbg::debug::open::open;
use ptxdbg::debug::{Fault, LaunchChoice, Overrides, Request, RunOptions, run_case};
use ptxdbg::machine::LaneMask;

/// Warp-instructions after which a kernel that never ends is stopped.
const STEP_LIMIT: u64 = 100_000;

#[test]
fn every_fault_is_reported_as_its_kernel_says() {
    let modules = faulting_modules();
    assert!(modules.len() >= 25, "fixtures/faults is incomplete");
    let problems: Vec<String> = modules.iter().flat_map(|module| problems_of(module)).collect();
    assert!(problems.is_empty(), "{} problem(s):\n{}", problems.len(), problems.join("\n"));
}

fn faulting_modules() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/faults");
    let paths = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut modules: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|extension| extension == "ptx")).collect();
    modules.sort();
    modules
}

/// Everything in which the report differs from the comment.
fn problems_of(module: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(module).unwrap_or_default();
    let name = module.file_stem().unwrap_or_default().to_string_lossy();
    let Some(fault) = run(module) else { return vec![format!("{name}: nothing was reported")] };
    let mut problems = Vec::new();
    let mut expect = |what: &str, found: &str, expected: &str| {
        if found != expected {
            problems.push(format!("{name}: {what} is '{found}', expected '{expected}'; {}", fault.message));
        }
    };
    let facts = field(&text, "fault").unwrap_or_default();
    expect("the id", fault.id.word(), facts.split([',', ':']).next().unwrap_or_default());
    for quoted in facts.split('`').skip(1).step_by(2) {
        let is_reported = fault.message.contains(&format!("'{quoted}'"));
        expect("what is reported", if is_reported { quoted } else { "another thing" }, quoted);
    }
    if field(&text, "place").is_some() {
        let line = text.lines().position(|line| line.ends_with("// here")).map_or(0, |index| index + 1);
        let found = fault.site.as_ref().map_or("nowhere", |site| &site.place);
        expect("the place", found, &format!("{name}.ptx:{line}"));
        let lanes = fault.site.as_ref().map_or(LaneMask::NONE, |site| site.lanes);
        expect("the set of lanes", &format!("{lanes:08x}"), &format!("{:08x}", mask(field(&text, "lanes").unwrap_or_default())));
    }
    problems
}

fn run(module: &Path) -> Option<Fault> {
    let launch = LaunchChoice::File(module.with_extension("ron"));
    let opened = open(&Request { modules: Vec::new(), launch, overrides: Overrides::default() }).ok()?;
    let options = RunOptions { step_limit: Some(STEP_LIMIT), ..RunOptions::unwatched() };
    run_case(&opened.program, opened.plan.cases.first()?, &options).ok()?.fault
}

/// What follows `// NAME:`.
fn field<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    text.lines().find_map(|line| line.strip_prefix("// ")?.strip_prefix(name)?.strip_prefix(": "))
}

/// The bits of `0, 2, 5-7`.
fn mask(lanes: &str) -> u32 {
    let number = |text: &str| text.trim().parse::<u32>().unwrap_or(0);
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        (number(first)..=number(last)).map(|lane| 1 << lane).sum::<u32>()
    };
    lanes.split(',').map(range).sum()
}
