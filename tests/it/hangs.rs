//! Waits of libcu++ that last for ever are reported soon, under every schedule, and those that end are waited for: `fixtures/hangs`,
//! compiled by nvcc 13.0 for sm_80, where it polls with `test_wait`, and for sm_90, where it waits with `try_wait`; both read clocks and sleep.

#![expect(clippy::unwrap_used, reason = "a test that cannot open its fixture fails")]

use std::path::Path;

use ptxdbg::debug::open::open;
use ptxdbg::debug::{CompletionPolicyKind, LaunchChoice, Overrides, Request, RunOptions, Schedule, start_case};
use ptxdbg::machine::{Machine, NullObserver, Step, WaitReason};

/// What a run may take: less than two seconds.
const LIMIT: u64 = 1 << 24;

/// The schedules that each kernel is run under.
fn schedules() -> Vec<RunOptions> {
    let random = (1..=3).map(|seed| RunOptions {
        schedule: Schedule::Random,
        seed,
        copies: CompletionPolicyKind::Random(seed),
        ..RunOptions::unwatched()
    });
    std::iter::once(RunOptions::unwatched()).chain(random).collect()
}

/// How a kernel of one of the modules ends, and the machine then.
fn ends(module: &str, kernel: &str, threads: u32, options: &RunOptions) -> (Step, Machine) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/hangs").join(module);
    let request = Request {
        modules: vec![path],
        launch: LaunchChoice::MadeUp,
        overrides: Overrides {
            kernel: Some(kernel.to_string()),
            block: Some([threads, 1, 1]),
            params: vec![format!("u32[{threads}]")],
            ..Overrides::default()
        },
    };
    let opened = open(&request).unwrap();
    let mut machine = start_case(&opened.program, &opened.plan.cases[0], options).unwrap().unwrap();
    (machine.run(LIMIT, &mut NullObserver), machine)
}

/// Shows `check` how a kernel ends of every module, for a small and a large block, under every schedule.
fn everywhere(kernel: &str, check: impl Fn(&Step, &Machine, &str)) {
    for module in ["barrier_hang_sm80.ptx", "barrier_hang_sm90.ptx"] {
        for (threads, options) in [64, 1024].into_iter().flat_map(|threads| schedules().into_iter().map(move |options| (threads, options)))
        {
            let (step, machine) = ends(module, kernel, threads, &options);
            check(&step, &machine, &format!("{module} {kernel} {threads} {:?} {}: {step:?}", options.schedule, options.seed));
        }
    }
}

#[test]
fn an_arrival_too_many_is_reported() {
    everywhere("one_too_many", |step, machine, how| {
        assert!(matches!(step, Step::Deadlock(deadlock) if deadlock.waiters.iter().all(|waiter| is_missing(&waiter.reason))), "{how}");
        // And again, at the same time.
        let mut again = machine.clone();
        assert_eq!((&again.run(LIMIT, &mut NullObserver), again.tick()), (step, machine.tick()), "{how}");
    });
}

#[test]
fn a_flag_that_nothing_sets_is_reported() {
    everywhere("never_set", |step, _, how| assert!(matches!(step, Step::Livelocked(_)), "{how}"));
}

#[test]
fn a_wait_that_ends_is_no_hang() {
    for kernel in ["one_late", "second_chance"] {
        everywhere(kernel, |step, _, how| assert_eq!(*step, Step::Done, "{how}"));
    }
}

/// Whether a wait is for arrivals at an mbarrier.
fn is_missing(reason: &WaitReason) -> bool {
    matches!(reason, WaitReason::Mbarrier(wait) if wait.barrier.as_ref().is_some_and(|barrier| barrier.pending > 0))
}
