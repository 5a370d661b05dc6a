//! Mistakes between threads that the gallery has no case of: each launch of `fixtures/races` must be found as its launch file says, in
//! every order.

#![expect(clippy::unwrap_used, reason = "a test that cannot read its fixture fails")]

use std::fs;
use std::path::{Path, PathBuf};

use ptxdbg::debug::findings::Checks;
use ptxdbg::debug::open::open;
use ptxdbg::debug::{CaseReport, LaunchChoice, Overrides, Request, RunOptions, Schedule, verify_case};

fn reports(options: &RunOptions) -> Vec<CaseReport> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/races");
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "ron"));
    files.sort();
    let mut reports = Vec::new();
    for file in files {
        let request = Request { modules: Vec::new(), launch: LaunchChoice::File(file), overrides: Overrides::default() };
        let opened = open(&request).unwrap();
        reports.extend(opened.plan.cases.iter().map(|case| verify_case(&opened.program, case, options, false).unwrap()));
    }
    reports
}

#[test]
fn every_race_is_found_in_every_order_and_nothing_else() {
    let checks = Checks::ALL;
    for seed in 0..=5 {
        let schedule = if seed == 0 { Schedule::InOrder } else { Schedule::Random };
        let reports = reports(&RunOptions { checks, schedule, seed, ..RunOptions::default() });
        assert!(reports.len() >= 35);
        for report in reports {
            assert!(report.failures.is_empty(), "{} with seed {seed}: {:?}", report.name, report.failures);
        }
    }
}
