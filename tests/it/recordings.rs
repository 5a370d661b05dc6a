//! The fixtures that were recorded on an H200: every suite and every program must leave in memory what the hardware left, bit for bit,
//! in any order in which warps may run.

#![allow(clippy::panic, reason = "a test that cannot read its fixture fails")]

use std::path::Path;

use ptxdbg::check::faults::LIVELOCK;
use ptxdbg::debug::open::open;
use ptxdbg::debug::{
    CaseReport, CompletionPolicyKind, DivergencePolicy, Failure, LaunchChoice, Opened, Overrides, Request, RunOptions, Schedule,
    verify_case,
};

/// The suites, and how many kernels each has.
const SUITES: &[(&str, usize)] = &[
    ("approx", 30),
    ("async", 49),
    ("atomic", 98),
    ("atomic_float", 274),
    ("barrier", 6),
    ("compare", 329),
    ("control", 9),
    ("convert", 784),
    ("extended_precision", 28),
    ("float", 189),
    ("half", 144),
    ("half_compare", 183),
    ("integer", 141),
    ("joined", 259),
    ("logic", 72),
    ("matrix", 158),
    ("matrix_more", 351),
    ("memory", 45),
    ("move", 52),
    ("shared_size", 56),
    ("shared_size_aligned", 18),
    ("shared_size_dynamic", 109),
    ("tensor_copy", 153),
    ("texture", 464),
    ("video", 512),
    ("warp", 75),
    ("wgmma", 128),
];

#[rustfmt::skip]
const PROGRAMS: &[&str] = &[
    "aes_ttab", "axpy_transpose", "bfs_frontier", "bigmul_carry", "bitonic_pairs", "counting_sort", "edit_wave", "fft_shared",
    "half_video", "life_coop", "lu_pivot", "mandel_collatz", "mbar_pipeline", "mma_frag", "nbody_step", "printf_forms", "reduce_ticket", "sgemm_reg", "sha256_crc",
    "softmax_gelu", "spinlock_cg", "tile_reduce", "tma_cluster", "trig_slow", "vm_calls", "wgmma_tile",
];
/// The suite some of whose results are only within the tolerance that its launch file gives.
const WITHIN_TOLERANCE: &str = "hardware/texture.ron";

fn reports(path: &str, options: &RunOptions) -> Vec<CaseReport> {
    let launch = LaunchChoice::File(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(path));
    let opened = open(&Request { modules: Vec::new(), launch, overrides: Overrides::default() });
    let Ok(Opened { program, plan, .. }) = opened else { panic!("{path}: {opened:?}") };
    let verify = |case| verify_case(&program, case, options, path != WITHIN_TOLERANCE).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut reports: Vec<CaseReport> = plan.cases.iter().map(verify).collect();
    // What a checker would find that is off is not missed.
    let is_missed = |failure: &Failure| !matches!(failure, Failure::NoFinding { off, .. } if !off.is_empty());
    reports.iter_mut().for_each(|report| report.failures.retain(is_missed));
    reports
}

#[test]
fn every_instruction_does_what_the_hardware_does() {
    for (suite, kernels) in SUITES {
        let reports = reports(&format!("hardware/{suite}.ron"), &RunOptions::unwatched());
        assert_eq!(reports.len(), *kernels, "{suite}");
        let wrong: Vec<&CaseReport> = reports.iter().filter(|report| !report.failures.is_empty()).collect();
        assert!(wrong.is_empty(), "{suite}: {wrong:#?}");
    }
}

/// Not recorded: the values follow from the manual. A grid of 4 by 2 blocks in clusters of 2 by 2.
#[test]
fn blocks_know_their_place_in_the_cluster() {
    for report in reports("async/cluster_registers.ron", &RunOptions::unwatched()) {
        assert!(report.failures.is_empty(), "{:#?}", report.failures);
    }
}

/// What a warp with a stack cannot run: lanes of one warp take a lock from each other.
const NEED_INDEPENDENCE: &[(&str, &str)] = &[("programs/spinlock_cg.ron", "spinlock_cg")];

/// What depends on independent scheduling does not end where the warps have stacks: all else does, with the same results.
#[test]
fn every_recording_that_does_not_need_independent_lanes_comes_out_the_same_with_stacks() {
    let options = RunOptions { divergence: Some(DivergencePolicy::Stack), step_limit: Some(1 << 25), ..RunOptions::unwatched() };
    let suites = SUITES.iter().map(|(suite, _)| format!("hardware/{suite}.ron"));
    let programs = PROGRAMS.iter().map(|program| format!("programs/{program}.ron"));
    for path in suites.chain(programs) {
        for report in reports(&path, &options) {
            let hangs = matches!(report.failures.first(), Some(Failure::Finding { finding: found }) if found.id == LIVELOCK);
            let needs_independence = NEED_INDEPENDENCE.contains(&(path.as_str(), report.name.as_str()));
            let as_it_should = if needs_independence { hangs } else { report.failures.is_empty() };
            assert!(as_it_should, "{path}: {:#?}", report.failures);
        }
    }
}

/// They have no races, so when copies end must not show.
#[test]
fn asynchronous_copies_may_end_at_any_time() {
    let random =
        |seed| RunOptions { copies: CompletionPolicyKind::Random(seed), schedule: Schedule::Random, seed, ..RunOptions::unwatched() };
    let eager = RunOptions { copies: CompletionPolicyKind::Eager, ..RunOptions::unwatched() };
    for options in [eager, random(1), random(2), random(3)] {
        for path in [
            "hardware/async.ron",
            "hardware/tensor_copy.ron",
            "hardware/wgmma.ron",
            "tensor/replace.ron",
            "tensor/stride_units.ron",
            "tensor/stride_bytes.ron",
            "tensor/multicast.ron",
            "programs/mbar_pipeline.ron",
            "programs/tma_cluster.ron",
            "programs/wgmma_tile.ron",
        ] {
            for report in reports(path, &options) {
                assert!(report.failures.is_empty(), "{path} with {options:?}: {:#?}", report.failures);
            }
        }
    }
}

/// Not recorded: the values follow from the file. Handles are variables, parameters and registers, and PTX 1.x has a space for them.
#[test]
fn textures_samplers_and_surfaces_can_be_variables() {
    for report in reports("texture/variables.ron", &RunOptions::unwatched()) {
        assert!(report.failures.is_empty(), "{:#?}", report.failures);
    }
}

#[test]
fn every_program_does_what_the_hardware_does_in_any_order() {
    let random = |seed| RunOptions { schedule: Schedule::Random, seed, ..RunOptions::unwatched() };
    let orders = [RunOptions::unwatched(), RunOptions { resident: Some(1), ..RunOptions::unwatched() }, random(1), random(2)];
    for program in PROGRAMS {
        for options in &orders {
            let path = format!("programs/{program}.ron");
            for report in reports(&path, options) {
                assert!(report.failures.is_empty(), "{path} with {options:?}: {:#?}", report.failures);
            }
        }
    }
}
