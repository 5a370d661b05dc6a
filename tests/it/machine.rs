//! The machine's promises: the same run however it is sliced, snapshots that are worth the original, any schedule a right one.

#![allow(clippy::unwrap_used, reason = "a test that cannot run its kernel fails")]

use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use ptxdbg::debug::open::read_module;
use ptxdbg::debug::{RunOptions, start_case};
use ptxdbg::launch::{LaunchFile, Overrides, Plan, plan};

use crate::look::one_warp::one_warp;
use ptxdbg::machine::{Delay, Device, LaunchConfig, Machine, NullObserver, Schedule, Step, Tick};
use ptxdbg::program::Program;

/// A launch file with its program, ready to run.
struct Job {
    program: Arc<Program>,
    plan: Plan,
}

fn job(path: &str) -> Job {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(path);
    let folder = path.parent().unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let file = LaunchFile::parse("test.ron", folder, text).unwrap();
    let module = read_module(&folder.join(file.module().unwrap())).unwrap();
    let program = module.program.unwrap();
    let plan = plan(&file, &program, "test", &Overrides::default()).unwrap();
    Job { program, plan }
}

/// The machine about to run the first launch of case number `index`.
fn machine(job: &Job, index: usize, schedule: Schedule, seed: u64, resident: Option<u32>) -> Machine {
    let options = RunOptions { schedule, seed, resident, ..RunOptions::unwatched() };
    start_case(&job.program, &job.plan.cases[index], &options).unwrap().unwrap()
}

fn run_to_end(machine: &mut Machine) {
    assert_eq!(machine.run(u64::MAX, &mut NullObserver), Step::Done);
}

/// The fingerprint of global memory alone, which any schedule must leave the same.
fn memory_digest(machine: &Machine) -> u64 {
    let mut digest = ptxdbg::machine::Digest::default();
    std::hash::Hash::hash(machine.device(), &mut digest);
    digest.value()
}

/// Launch files whose first launches divide work in many ways: divergence, barriers, calls, atomics, early exits.
const JOBS: &[&str] = &[
    "programs/edit_wave.ron",
    "programs/bfs_frontier.ron",
    "programs/bigmul_carry.ron",
    "programs/axpy_transpose.ron",
    "hardware/control.ron",
    "hardware/barrier.ron",
    "hardware/async.ron",
    "programs/mbar_pipeline.ron",
    "programs/tma_cluster.ron",
    "hardware/memory.ron",
];

#[test]
fn equal_runs_have_equal_digests() {
    for path in JOBS {
        let job = job(path);
        let (mut a, mut b) = (machine(&job, 0, Schedule::InOrder, 1, None), machine(&job, 0, Schedule::InOrder, 1, None));
        assert_eq!(a.digest(), b.digest(), "{path} before");
        let before = a.digest();
        run_to_end(&mut a);
        run_to_end(&mut b);
        assert_eq!(a.digest(), b.digest(), "{path} after");
        assert_ne!(a.digest(), before, "{path} changed nothing");
    }
}

#[test]
fn a_snapshot_is_worth_the_original() {
    for path in JOBS {
        let job = job(path);
        let mut original = machine(&job, 0, Schedule::InOrder, 1, None);
        let _ = original.run(300, &mut NullObserver);
        let snapshot = original.clone();
        let at_snapshot = original.digest();
        run_to_end(&mut original);
        assert_eq!(snapshot.digest(), at_snapshot, "{path}: running the original changed the snapshot");
        let mut replay = snapshot;
        run_to_end(&mut replay);
        assert_eq!(replay.digest(), original.digest(), "{path}: the snapshot ran differently");
    }
}

/// Schedules other than in order.
const SCHEDULES: [Schedule; 4] = [
    Schedule::Random,
    Schedule::Priority { depth: 1, steps: 1 },
    Schedule::Priority { depth: 5, steps: 3000 },
    Schedule::Delayed(Delay { block: 1, warp: 0, from: Tick(7), until: Tick(20_000) }),
];

#[test]
fn a_schedule_is_typed_as_it_is_printed() {
    for schedule in SCHEDULES.into_iter().chain([Schedule::InOrder]) {
        assert_eq!(Schedule::parse(&schedule.to_string()), Ok(schedule));
    }
    assert_eq!(Schedule::parse("pct:2"), Ok(Schedule::Priority { depth: 2, steps: 1 << 14 }));
    for wrong in ["", "pct", "pct:0", "pct:17", "pct:3:0", "pct:3:", "hold:1:2", "hold:1:2:9-9", "hold:1:2:3-4:5", "random:3", "ordered"] {
        assert!(Schedule::parse(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn every_schedule_gives_the_recorded_results() {
    // bfs_frontier is left out: which of several parents a node gets may depend on the order, so only its own expectation can judge.
    for path in ["programs/edit_wave.ron", "programs/bigmul_carry.ron", "programs/axpy_transpose.ron", "hardware/barrier.ron"] {
        let job = job(path);
        let mut in_order = machine(&job, 0, Schedule::InOrder, 0, None);
        run_to_end(&mut in_order);
        for (seed, schedule) in (0..4).flat_map(|seed| SCHEDULES.map(|schedule| (seed, schedule))) {
            let mut other = machine(&job, 0, schedule.clone(), seed, Some(1 + seed as u32 * 3));
            run_to_end(&mut other);
            assert_eq!(memory_digest(&other), memory_digest(&in_order), "{path} with {schedule} and seed {seed}");
        }
    }
}

#[test]
fn a_large_grid_of_nothing_is_quick() {
    let job = job("small/empty.ron");
    let mut machine = machine(&job, 0, Schedule::InOrder, 0, None);
    let blocks: u64 = machine.config().grid.iter().map(|extent| u64::from(*extent)).product();
    assert_eq!(blocks, 65_535);
    run_to_end(&mut machine);
    let threads = blocks * machine.config().block.iter().map(|extent| u64::from(*extent)).product::<u64>();
    assert_eq!(machine.thread_instructions() % threads, 0, "every thread executes the same instructions");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// The state at a tick does not depend on how the run was sliced to get there.
    #[test]
    fn slicing_leaves_no_trace(
        file in 0..JOBS.len(),
        schedule in 0..=SCHEDULES.len(),
        seed in 0..8_u64,
        target in 1..40_000_u64,
        slices in prop::collection::vec(1..5_000_u64, 1..12),
    ) {
        let job = job(JOBS[file]);
        let schedule = SCHEDULES.get(schedule).cloned().unwrap_or_default();
        let case = seed as usize % job.plan.cases.len();
        let mut whole = machine(&job, case, schedule.clone(), seed, None);
        let _ = whole.run(target, &mut NullObserver);
        let mut sliced = machine(&job, case, schedule, seed, None);
        for slice in slices.iter().cycle() {
            let left = target - sliced.tick().0;
            if left == 0 || sliced.run((*slice).min(left), &mut NullObserver) != Step::Budget {
                break;
            }
        }
        prop_assert_eq!(sliced.tick(), whole.tick());
        prop_assert_eq!(sliced.digest(), whole.digest());
    }
}

/// Lanes that their own `bar.warp.sync` sets going meet those that had nothing to wait for before the next instruction is issued, whether
/// or not a run ends there. So each of the six instructions is issued once, the two barriers for half of the lanes each.
#[test]
fn a_cut_after_a_barrier_of_some_lanes_leaves_no_trace() {
    let text = ".version 9.0 .target sm_90a .address_size 64
        .visible .entry k(.param .u64 out) {
            .reg .b32 %t; .reg .pred %low;
            mov.u32 %t, %tid.x;
            setp.lt.u32 %low, %t, 16;
            @%low bar.warp.sync 0x0000ffff;
            @!%low bar.warp.sync 0xffff0000;
            add.u32 %t, %t, 1;
            ret;
        }";
    let (program, diagnostics) = ptxdbg::sema::load(&mut ptxdbg::base::Sources::default(), "sync.ptx", text.to_string());
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    let program = program.unwrap();
    let start = || Machine::new(Device::new(Arc::clone(&program)), one_warp(ptxdbg::program::FuncId(0), 0)).unwrap();
    let mut whole = start();
    run_to_end(&mut whole);
    assert_eq!((whole.tick(), whole.thread_instructions()), (Tick(6), 5 * 32));
    for cut in 1..6 {
        let mut pieces = start();
        assert_eq!(pieces.run(cut, &mut NullObserver), Step::Budget);
        assert!(!pieces.canonicalize(&mut NullObserver));
        run_to_end(&mut pieces);
        assert_eq!((pieces.tick(), pieces.digest()), (whole.tick(), whole.digest()), "cut at t={cut}");
    }
}

/// Arguments and results may cross between registers and `.param` variables in all four ways; each value is followed by hand.
#[test]
fn calls_carry_values_between_registers_and_memory() {
    let text = ".version 9.0 .target sm_90a .address_size 64
        .func (.reg .b32 r) twice(.reg .b32 a) { add.u32 r, a, a; ret; }
        .func (.param .b64 r) plus(.param .b32 a, .param .b64 b) {
            .reg .b32 x; .reg .b64 y, z; ld.param.b32 x, [a]; ld.param.b64 y, [b]; cvt.u64.u32 z, x; add.u64 y, y, z; st.param.b64 [r], y; ret;
        }
        .visible .entry k(.param .u64 out) {
            .reg .b32 %t; .reg .b64 %o, %s; .param .b32 p, q;
            ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; st.param.b32 [p], %t;
            call (q), twice, (p);
            ld.param.b32 %t, [q];
            call (%s), plus, (%t, 0x500000000);
            mov.u32 %t, %tid.x;
            mad.wide.u32 %o, %t, 8, %o;
            st.global.u64 [%o], %s;
            ret;
        }";
    let (program, diagnostics) = ptxdbg::sema::load(&mut ptxdbg::base::Sources::default(), "calls.ptx", text.to_string());
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    let mut device = Device::new(program.unwrap());
    let out = device.allocate("out", 256, Some(0)).unwrap();
    let config = one_warp(ptxdbg::program::FuncId(2), out);
    let mut machine = Machine::new(device, config).unwrap();
    run_to_end(&mut machine);
    let mut bytes = [0; 256];
    machine.device().read(out, &mut bytes).unwrap();
    for (thread, word) in (0_u64..).zip(bytes.chunks_exact(8)) {
        assert_eq!(word, (0x5_0000_0000 + 2 * thread).to_le_bytes(), "thread {thread}");
    }
}

/// A register may be wider than what is loaded or stored: it is extended by its sign or with zeros, and its low bits are stored.
#[test]
fn registers_of_128_bits_take_narrower_elements() {
    let text = ".version 9.0 .target sm_90a .address_size 64
        .visible .entry k(.param .u64 out) {
            .reg .b64 o, low, high; .reg .b128 w;
            ld.param.u64 o, [out];
            st.global.b64 [o], -2;
            ld.global.s32 w, [o]; mov.b128 {low, high}, w; st.global.b64 [o+8], low; st.global.b64 [o+16], high;
            ld.global.u8 w, [o]; mov.b128 {low, high}, w; st.global.b64 [o+24], low; st.global.b64 [o+32], high;
            ld.global.s64 w, [o]; mov.b128 {low, high}, w; st.global.b64 [o+40], high;
            st.global.b16 [o+48], w;
            ret;
        }";
    let (program, diagnostics) = ptxdbg::sema::load(&mut ptxdbg::base::Sources::default(), "wide.ptx", text.to_string());
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    let mut device = Device::new(program.unwrap());
    let out = device.allocate("out", 56, Some(0)).unwrap();
    let config = LaunchConfig { block: [1, 1, 1], ..one_warp(ptxdbg::program::FuncId(0), out) };
    let mut machine = Machine::new(device, config).unwrap();
    run_to_end(&mut machine);
    let mut bytes = [0; 56];
    machine.device().read(out, &mut bytes).unwrap();
    let words: Vec<u64> = bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect();
    assert_eq!(words, [u64::MAX - 1, u64::MAX - 1, u64::MAX, 0xfe, 0, u64::MAX, 0xfffe]);
}
