//! What a query over the run costs beside the run itself, on the tiled matrix multiplication of `benches/kernels`: more than 100 million
//! thread-instructions.
//!
//! | figure | bound |
//! | --- | --- |
//! | `find`, with a condition or without | 1.5 times the run that it asks about, which a session checks unless it is said otherwise |
//!
//! The second ratio is that to a run without checkers.
//!
//! `cargo bench --bench queries`

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a bench that cannot run says so and ends; its table is its result")]

use std::path::Path;
use std::time::{Duration, Instant};

use ptxdbg::debug::find::Query;
use ptxdbg::debug::open::open;
use ptxdbg::debug::session::{NeverInterrupt, Session};
use ptxdbg::debug::{LaunchChoice, Overrides, Request, RunOptions};

const FILE: &str = "benches/kernels/sgemm_large.ron";

const QUERIES: &[&str] = &[
    "writes count",
    "reads count",
    "writes of c by line",
    "barriers by lane",
    "branches by value",
    "reads where threadIdx.x == 3 count",
    "reads where blockIdx.x == 2 && threadIdx.x % 4 == 1 by lane",
    "reads where %r1 > 3 count",
    "writes of c where %r2 < 100 && threadIdx.y == 0 last",
    "reads where %r1 + 2 * %r2 > threadIdx.x count",
    "branches where %r3 != 0 by value",
    "reads where %r1 + %r2 == 3 count",
    "reads where %f10 > 0.5 count",
    "reads where %f9 * %f10 > 0.5 count",
    "writes of c where a[0][0] > 0 count",
    "reads where a[0][0] >= 0 count",
    "reads where a[threadIdx.y][threadIdx.x] > 5 count",
];

/// Runs of each kind; the shortest counts.
const ROUNDS: usize = 3;

fn main() {
    let run = |options: fn() -> RunOptions| (0..ROUNDS).map(|_| time(|| to_end(&mut session(options())))).min().unwrap();
    let (checked, unchecked) = (run(RunOptions::default), run(RunOptions::unwatched));
    let mut session = session(RunOptions::unwatched());
    to_end(&mut session);
    println!("{FILE}: {} ticks in {checked:.1?}, without checkers in {unchecked:.1?}", session.recorded());
    for text in QUERIES {
        let query = session.query(text).unwrap();
        let (find, times) = (0..ROUNDS).map(|_| asked(&mut session, &query)).min().unwrap();
        let ratio = |run: Duration| find.as_secs_f64() / run.as_secs_f64();
        println!("find {text}: {times} times, {find:.1?}: {:.2} runs, {:.2} without checkers", ratio(checked), ratio(unchecked));
    }
}

/// How long the answer takes, and the times it has.
fn asked(session: &mut Session, query: &Query) -> (Duration, u64) {
    let mut times = 0;
    let elapsed = time(|| times = session.find(query, &mut NeverInterrupt).times);
    (elapsed, times)
}

fn to_end(session: &mut Session) {
    session.seek_end(&mut NeverInterrupt);
    assert!(session.ended().is_some());
}

fn session(options: RunOptions) -> Session {
    let launch = LaunchChoice::File(Path::new(env!("CARGO_MANIFEST_DIR")).join(FILE));
    let opened = open(&Request { modules: Vec::new(), launch, overrides: Overrides::default() }).unwrap();
    Session::new(opened, 0, options).unwrap()
}

fn time(work: impl FnOnce()) -> Duration {
    let begun = Instant::now();
    work();
    begun.elapsed()
}
