//! The two policies of divergence: what they have in common, and what only one of them does.
//!
//! That every recorded suite comes out the same under both is shown where the others are run, in `recordings.rs`.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot run its kernel fails")]

mod shapes;

use DivergencePolicy::{Independent, Stack};
use ptxdbg::base::Severity;
use ptxdbg::debug::open::open;
use ptxdbg::debug::saved::{Applies, Saved};
use ptxdbg::debug::{CaseRun, DivergencePolicy, LaunchChoice, Opened, Overrides, Request, RunOptions, Schedule, run_case, start_case};
use ptxdbg::machine::{Digest, LaneMask, Machine, NullObserver, Step, Tick};

/// Warp-instructions that none of the kernels comes to, unless it hangs.
const STEP_LIMIT: u64 = 100_000;

fn opened(file: &str) -> Opened {
    open(&Request {
        modules: Vec::new(),
        launch: LaunchChoice::File(crate::common::fixtures().join(file)),
        overrides: Overrides::default(),
    })
    .unwrap()
}

fn options(divergence: DivergencePolicy) -> RunOptions {
    RunOptions { divergence: Some(divergence), step_limit: Some(STEP_LIMIT), ..RunOptions::unwatched() }
}

fn run(file: &str, divergence: DivergencePolicy) -> CaseRun {
    let opened = opened(file);
    run_case(&opened.program, &opened.plan.cases[0], &options(divergence)).unwrap()
}

/// The words of the first buffer of a run without a fault.
fn words(run: &CaseRun, count: usize) -> Vec<u32> {
    assert_eq!(run.fault, None);
    let mut bytes = vec![0; 4 * count];
    run.device.as_ref().unwrap().read(run.addresses[0], &mut bytes).unwrap();
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

/// The tail that lanes of both sides come to is executed once, before the end: independent lanes wait for each other wherever they can
/// meet, and for a warp with a stack ptxas notes the tail (SSY) beside the end (PBK).
#[test]
fn lanes_of_two_sides_execute_their_common_tail_together() {
    let expected = |lane| match lane {
        0..16 => [2, 3, 4, 0xff00_ffff],
        16..24 => [0, 1, 4, 0x00ff_0000],
        _ => [0, 3, 4, 0xff00_ffff],
    };
    for divergence in [Independent, Stack] {
        let words = words(&run("divergence/sides.ron", divergence), 128);
        for (lane, found) in words.chunks_exact(4).enumerate() {
            assert_eq!(found, expected(lane), "lane {lane}, {divergence:?}");
        }
    }
}

#[test]
fn lanes_that_part_anyhow_meet_again() {
    // What `halve` counts: the halvings of a power of two, and 100 more where an odd number above 1 is left.
    let halve = |n: u32| if n < 2 { 0 } else { n.trailing_zeros() + if n.is_power_of_two() { 0 } else { 100 } };
    for divergence in [Independent, Stack] {
        let words = words(&run("divergence/ways.ron", divergence), 256);
        for (lane, found) in (0..32).zip(words.chunks_exact(8)) {
            let called = if lane < 4 { 0 } else { halve(lane) };
            let chosen = if lane % 2 == 1 { halve(lane) } else { 2 * lane };
            let jumped = if lane < 4 { 5 } else { [10, 20, 10, 7][lane as usize % 4] };
            let sum = [0, 1, 3, 6][lane as usize % 4];
            let all = u32::MAX;
            assert_eq!(found, [called, all, chosen, all, jumped, all, sum, all], "lane {lane}, {divergence:?}");
        }
    }
}

/// The lane that has the lock stands where the loop ends and waits for those that spin: for ever.
#[test]
fn a_lock_between_lanes_of_a_warp_hangs_with_a_stack() {
    let independent = run("divergence/spin_lock.ron", Independent);
    assert_eq!(independent.fault, None);
    let mut count = [0; 4];
    independent.device.unwrap().read(independent.addresses[1], &mut count).unwrap();
    assert_eq!(u32::from_le_bytes(count), 32);

    let fault = run("divergence/spin_lock.ron", Stack).fault.unwrap();
    assert_eq!(fault.id.word(), "livelock");
    let waiting: Vec<_> = fault.waiting.iter().map(|one| (one.site.lanes, one.site.place.as_str(), one.reason.as_str())).collect();
    let holder = waiting.iter().find(|(lanes, ..)| *lanes == LaneMask::of(0)).unwrap();
    assert_eq!(
        (holder.1, holder.2),
        ("spin_lock.ptx:18", "waits at the meeting point for lanes 1-31; the warp has a stack, so its lanes cannot wait for each other")
    );
    assert!(waiting.iter().any(|(lanes, _, reason)| *lanes == !LaneMask::of(0) && *reason == "still runs"), "{waiting:?}");
}

/// Both halves come to barrier 0; with a stack the second half is never there, because the first waits.
#[test]
fn a_barrier_on_one_side_keeps_the_other_from_it_with_a_stack() {
    assert_eq!(words(&run("divergence/both_sides_wait.ron", Independent), 32), (0..32).collect::<Vec<_>>());
    let fault = run("divergence/both_sides_wait.ron", Stack).fault.unwrap();
    assert_eq!(fault.id.word(), "deadlock");
    let waiting: Vec<_> = fault.waiting.iter().map(|one| (one.site.lanes, one.site.place.as_str(), one.reason.as_str())).collect();
    let arrived = "waits at barrier 0: every thread that has not exited must arrive; not arrived: warp 0 lanes 0-15";
    assert!(waiting.contains(&(!LaneMask::lowest(16), "both_sides_wait.ptx:15", arrived)), "{waiting:?}");
    let awaits_turn = "waits for its turn after lanes 16-31; the warp has a stack, so its lanes cannot wait for each other";
    assert!(waiting.contains(&(LaneMask::lowest(16), "both_sides_wait.ptx:18", awaits_turn)), "{waiting:?}");
}

/// nvcc may join the end of a thread that returns early with that of the others: `-G` does not. Neither is an error, since a barrier does
/// not wait for threads that have exited. Where it is joined, a warp with a stack waits at the joint.
#[test]
fn an_early_return_before_a_barrier_is_no_error() {
    for file in ["divergence/early_return.ron", "divergence/early_return_debug.ron"] {
        let opened = opened(file);
        for (case, divergence) in (0..3).flat_map(|case| [(case, Independent), (case, Stack)]) {
            let is_joined = case == 2 && !file.contains("debug");
            if is_joined && divergence == Stack {
                continue;
            }
            let options = RunOptions { divergence: Some(divergence), ..RunOptions::default() };
            let run = run_case(&opened.program, &opened.plan.cases[case], &options).unwrap();
            let found: Vec<(&str, Severity)> = run.findings.iter().map(|finding| (finding.id.word(), finding.severity)).collect();
            let expected: &[(&str, Severity)] = if is_joined { &[("barrier.divergence", Severity::Warning)] } else { &[] };
            assert_eq!(found, expected, "case {case} of {file}, {divergence:?}");
        }
    }
}

/// Files whose warps part in many ways.
const DIVERGENT: &[&str] = &[
    "divergence/sides.ron",
    "divergence/ways.ron",
    "debug/walk.ron",
    "programs/bfs_frontier.ron",
    "programs/edit_wave.ron",
    "hardware/control.ron",
];

fn machine(opened: &Opened, options: RunOptions) -> Machine {
    start_case(&opened.program, &opened.plan.cases[0], &RunOptions { divergence: Some(Stack), ..options }).unwrap().unwrap()
}

/// However a run is cut, and from whatever copy it goes on, it is the same run.
#[test]
fn a_run_with_stacks_can_be_cut_anywhere() {
    for file in DIVERGENT {
        let opened = opened(file);
        for schedule in [Schedule::InOrder, Schedule::Random] {
            let options = RunOptions { schedule, seed: 3, ..RunOptions::unwatched() };
            let mut whole = machine(&opened, options.clone());
            assert_eq!(whole.run(u64::MAX, &mut NullObserver), Step::Done, "{file}");
            for ticks in [1, 7, 61] {
                let (mut start, mut pieces) = (machine(&opened, options.clone()), machine(&opened, options.clone()));
                let _ = start.run(61 * 7, &mut NullObserver);
                while pieces.run(ticks, &mut NullObserver) == Step::Budget {
                    pieces = pieces.clone();
                    assert!(pieces.tick() != start.tick() || pieces.digest() == start.digest(), "{file} cut every {ticks}, so far");
                }
                assert_eq!(pieces.digest(), whole.digest(), "{file} cut every {ticks}");
            }
        }
    }
}

/// A stack changes which lanes run together, and nothing that a thread does.
#[test]
fn threads_do_the_same_under_both_policies() {
    for file in ["divergence/ways.ron", "debug/walk.ron", "programs/edit_wave.ron", "programs/vm_calls.ron", "hardware/control.ron"] {
        let opened = opened(file);
        let [independent, stack] = [Independent, Stack].map(|divergence| {
            let options = RunOptions { divergence: Some(divergence), ..RunOptions::unwatched() };
            let mut machine = start_case(&opened.program, &opened.plan.cases[0], &options).unwrap().unwrap();
            assert_eq!(machine.run(u64::MAX, &mut NullObserver), Step::Done, "{file}");
            let mut digest = Digest::default();
            std::hash::Hash::hash(machine.device(), &mut digest);
            (machine.thread_instructions(), digest.value())
        });
        assert_eq!(independent, stack, "{file}");
    }
}

/// `.target` decides unless the command line does.
#[test]
fn modules_for_older_machines_have_stacks() {
    let [old, new] = ["old/scan.ron", "debug/walk.ron"].map(|file| opened(file).program);
    assert_eq!(RunOptions::unwatched().divergence_of(&old), Stack);
    assert_eq!(RunOptions::unwatched().divergence_of(&new), Independent);
    assert_eq!(options(Independent).divergence_of(&old), Independent);
    assert_eq!(options(Stack).divergence_of(&new), Stack);
    assert_eq!(DivergencePolicy::of_target(69), Stack);
    assert_eq!(DivergencePolicy::of_target(70), Independent);
}

/// The policy belongs to the run: times mean nothing under the other one.
#[test]
fn a_session_is_restored_without_its_time_under_the_other_policy() {
    let Opened { program, plan, .. } = opened("divergence/sides.ron");
    let mut saved = Saved::new(&program, &plan.cases[0], &options(Stack));
    assert_eq!(saved.check(&program, &plan.cases[0], &options(Independent)), Ok(Applies::WithoutTimes(None)), "it is at the start");
    saved.time = Tick(3);
    let text = saved.to_text();
    let read = Saved::parse("a.ptxdbg", text).unwrap();
    assert_eq!(read.check(&program, &plan.cases[0], &options(Stack)), Ok(Applies::Whole));
    let Ok(Applies::WithoutTimes(Some(left_out))) = read.check(&program, &plan.cases[0], &options(Independent)) else {
        panic!("the run is another one");
    };
    assert!(left_out.contains("with seed 0, warps with a stack, and now it is"), "{left_out}");
    assert!(left_out.ends_with("left out are its time t=3"), "{left_out}");
}
