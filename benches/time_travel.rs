//! What recording costs, and how fast going back answers, on a run of the tiled matrix multiplication of `benches/kernels`: more than
//! 100 million thread-instructions.
//!
//! | figure | bound |
//! | --- | --- |
//! | recording, beside running alone | 10 % more |
//! | `reverse-stepi` at the end, 99th percentile | 10 ms |
//! | `reverse-continue` to the start, beside running forward as watched | 2 times |
//! | `last` on a word written once, near the start | 1 s |
//!
//! `cargo bench --bench time_travel`

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a bench that cannot run says so and ends; its table is its result"
)]

mod job;

use std::path::Path;
use std::time::{Duration, Instant};

use job::Job;
use ptxdbg::debug::breakpoints::{Breakpoint, Trigger, WatchMode};
use ptxdbg::debug::expression::Expression;
use ptxdbg::debug::open::{Opened, open};
use ptxdbg::debug::session::{NeverInterrupt, Session};
use ptxdbg::debug::stop::{Direction, Goal, Reason};
use ptxdbg::debug::{LaunchChoice, Overrides, Request, RunOptions};

const FILE: &str = "benches/kernels/sgemm_large.ron";

/// The other kernels that are recorded.
const RECORDED: &[&str] = &[
    "benches/kernels/saxpy.ron",
    "benches/kernels/reduce.ron",
    "benches/kernels/histogram.ron",
    "benches/kernels/nbody.ron",
    "benches/kernels/collatz.ron",
];

/// Runs of each kind; the shortest counts.
const ROUNDS: usize = 7;

/// Steps back that are timed.
const STEPS: usize = 400;

fn main() {
    for file in RECORDED.iter().chain([&FILE]) {
        recording(file);
    }
    stepping_back();
    continuing_back();
    last_write();
}

fn recording(file: &str) {
    let job = Job::load(file);
    let (mut alone, mut recorded) = (Duration::MAX, Duration::MAX);
    let mut ran = 0;
    for _ in 0..ROUNDS {
        let mut machine = job.start();
        alone = alone.min(time(|| job::run(&mut machine)));
        ran = machine.thread_instructions();
        let mut session = unverified(file);
        recorded = recorded.min(time(|| to_end(&mut session)));
    }
    let more = (recorded.as_secs_f64() / alone.as_secs_f64() - 1.0) * 100.0;
    println!("{file}: {ran} thread-instructions alone {alone:.1?}, recorded {recorded:.1?}: {more:.1} % more");
}

fn stepping_back() {
    let mut session = session(FILE);
    to_end(&mut session);
    session.focus.block = [19, 19, 0];
    let step = Goal::Instruction { count: 1, over_calls: false };
    let mut times: Vec<Duration> =
        (0..STEPS).map(|_| time(|| drop(session.resume(&step, Direction::Backward, &mut NeverInterrupt).unwrap()))).collect();
    times.sort_unstable();
    println!("reverse-stepi: median {:.1?}, 99th percentile {:.1?}", times[STEPS / 2], times[STEPS * 99 / 100]);
}

fn continuing_back() {
    for what in ["a breakpoint that is never hit", "a watchpoint that is never hit"] {
        let (mut forward, mut backward) = (Duration::MAX, Duration::MAX);
        for _ in 0..3 {
            let mut session = session(FILE);
            watch_nothing(&mut session, what.contains("watchpoint"));
            forward = forward.min(time(|| {
                let stop = session.resume(&Goal::Continue, Direction::Forward, &mut NeverInterrupt).unwrap();
                assert!(matches!(stop.reasons[..], [Reason::Ended]), "{:?}", stop.reasons);
            }));
            backward = backward.min(time(|| {
                let stop = session.resume(&Goal::Continue, Direction::Backward, &mut NeverInterrupt).unwrap();
                assert!(matches!(stop.reasons[..], [Reason::Beginning]), "{:?}", stop.reasons);
            }));
        }
        let ratio = backward.as_secs_f64() / forward.as_secs_f64();
        println!("reverse-continue with {what}: forward {forward:.1?}, back {backward:.1?}: {ratio:.2} times");
    }
}

/// Sets something that every instruction, or every access, must be held against, and that never happens.
fn watch_nothing(session: &mut Session, memory: bool) {
    let trigger = if memory {
        let target = Expression::parse("a[0]").unwrap().target(&session.eval_context()).unwrap();
        Trigger::Watch(target, WatchMode::Change)
    } else {
        // The closing instruction after the kernel's own `ret` is never reached.
        let code = session.program().code.len();
        Trigger::Code(vec![ptxdbg::program::Pc::new(code - 1)])
    };
    session.breakpoints.add(Breakpoint::new(trigger, "nothing"));
}

fn last_write() {
    // One block after the other: the first ends soon.
    let mut session = session_of(FILE, RunOptions { resident: Some(1), ..RunOptions::unwatched() });
    to_end(&mut session);
    let target = Expression::parse("c[0]").unwrap().target(&session.eval_context()).unwrap();
    let mut found = None;
    let elapsed = time(|| found = session.last(&target, &mut NeverInterrupt).writes.pop());
    println!("last c[0], written at {} of {}: {elapsed:.1?}", found.unwrap().time, session.recorded());
}

fn to_end(session: &mut Session) {
    session.seek_end(&mut NeverInterrupt);
    assert!(session.ended().is_some());
}

fn session(file: &str) -> Session {
    session_of(file, RunOptions::unwatched())
}

/// A session that compares nothing at the end, as the run alone does not: to read what is expected and compare it is no recording.
fn unverified(file: &str) -> Session {
    let mut opened = opened(file);
    opened.plan.cases.iter_mut().flat_map(|case| &mut case.buffers).for_each(|buffer| buffer.expect = None);
    Session::new(opened, 0, RunOptions::unwatched()).unwrap()
}

fn session_of(file: &str, options: RunOptions) -> Session {
    Session::new(opened(file), 0, options).unwrap()
}

fn opened(file: &str) -> Opened {
    let launch = LaunchChoice::File(Path::new(env!("CARGO_MANIFEST_DIR")).join(file));
    open(&Request { modules: Vec::new(), launch, overrides: Overrides::default() }).unwrap()
}

fn time(work: impl FnOnce()) -> Duration {
    let begun = Instant::now();
    work();
    begun.elapsed()
}
