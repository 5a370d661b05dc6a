//! The fixtures that were recorded on an H200: every suite and every program must leave behind what the hardware left, bit for bit,
//! in any order in which warps may run.

#![allow(clippy::panic, reason = "a test that cannot read its fixture fails")]

use std::path::Path;

use ptxdbg::debug::open::open;
use ptxdbg::debug::{CaseReport, Failure, LaunchChoice, Opened, Overrides, Request, RunOptions, Schedule, verify_case};

/// The suites, how many kernels each has, and how many of them stop as `unsupported`.
const SUITES: &[(&str, usize, usize)] = &[
    ("approx", 30, 0),
    ("atomic", 98, 0),
    ("barrier", 6, 0),
    ("compare", 329, 0),
    ("control", 9, 0),
    ("convert", 784, 0),
    ("extended_precision", 28, 0),
    ("float", 189, 0),
    ("half", 144, 0),
    ("half_compare", 183, 0),
    ("integer", 141, 0),
    ("logic", 72, 0),
    ("memory", 45, 0),
    ("move", 52, 0),
    ("video", 512, 0),
    ("warp", 75, 0),
];

/// Kernels with wrong results, and why. A row goes when its kernel passes.
const WRONG: &[(&str, &str)] =
    &[("atomic_atom_global_add_f64", "in global memory the hardware adds without making a signalling NaN quiet; we make it quiet")];

const PROGRAMS: &[&str] =
    &["axpy_transpose", "bfs_frontier", "bigmul_carry", "edit_wave", "mandel_collatz", "nbody_step", "sgemm_reg", "sha256_crc"];

fn reports(path: &str, options: &RunOptions) -> Vec<CaseReport> {
    let launch = LaunchChoice::File(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(path));
    let opened = open(&Request { modules: Vec::new(), launch, overrides: Overrides::default() });
    let Ok(Opened { program, plan, .. }) = opened else { panic!("{path}: {opened:?}") };
    let verify = |case| verify_case(&program, case, options, false).unwrap_or_else(|error| panic!("{path}: {error}"));
    plan.cases.iter().map(verify).collect()
}

fn is_unsupported(report: &CaseReport) -> bool {
    matches!(report.failures.as_slice(), [Failure::Fault(fault)] if fault.id == "unsupported")
}

#[test]
fn every_instruction_does_what_the_hardware_does() {
    let mut wrong = Vec::new();
    for (suite, kernels, unsupported) in SUITES {
        let reports = reports(&format!("hardware/{suite}.ron"), &RunOptions::default());
        assert_eq!(reports.len(), *kernels, "{suite}");
        assert_eq!(reports.iter().filter(|report| is_unsupported(report)).count(), *unsupported, "{suite}: kernels that are not modelled");
        wrong.extend(reports.into_iter().filter(|report| !report.failures.is_empty() && !is_unsupported(report)));
    }
    let names: Vec<&str> = wrong.iter().map(|report| &*report.name).collect();
    let known: Vec<&str> = WRONG.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, known, "{wrong:#?}");
}

#[test]
fn every_program_does_what_the_hardware_does_in_any_order() {
    let random = |seed| RunOptions { schedule: Schedule::Random, seed, ..RunOptions::default() };
    let orders = [RunOptions::default(), RunOptions { resident: Some(1), ..RunOptions::default() }, random(1), random(2)];
    for program in PROGRAMS {
        for options in &orders {
            let path = format!("programs/{program}.ron");
            for report in reports(&path, options) {
                assert!(report.failures.is_empty(), "{path} with {options:?}: {:#?}", report.failures);
            }
        }
    }
}
