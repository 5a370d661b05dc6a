//! The kernels of `fixtures/made_up/shapes.ptx`, whose code says how many threads a block has: the launch that is made up for each, and what
//! is found in it.

#![expect(clippy::unwrap_used, reason = "a test that cannot open a fixture fails")]

use std::path::Path;

use ptxdbg::check::Checks;
use ptxdbg::debug::open::open;
use ptxdbg::debug::{LaunchChoice, Overrides, Request, RunOptions, run_case};

/// The block, what is found, the fault, and what of the launch is said to be made up.
fn of_shape(kernel: &str) -> ([u32; 3], Vec<String>, Option<String>, String) {
    let modules = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/made_up/shapes.ptx")];
    let overrides = Overrides { kernel: Some(kernel.to_string()), ..Overrides::default() };
    let opened = open(&Request { modules, launch: LaunchChoice::MadeUp, overrides }).unwrap();
    let launch = &opened.plan.cases[0].launches[0];
    let options = RunOptions { checks: Checks::ALL, step_limit: Some(1 << 20), ..RunOptions::unwatched() };
    let run = run_case(&opened.program, &opened.plan.cases[0], &options).unwrap();
    let found = run.findings.iter().map(|finding| finding.id.word().to_string()).collect();
    (launch.block, found, run.fault.map(|fault| fault.id.word().to_string()), launch.guesses().unwrap())
}

/// Constants of the code say how many threads a block has, and what fewer threads would hide is found.
#[test]
fn a_block_has_the_threads_that_the_code_names() {
    let (block, found, fault, guesses) = of_shape("rows_apart");
    assert_eq!((block, found, fault), ([32, 8, 1], Vec::new(), None));
    let apart = "block (32,8,1): the code has its blocks so far apart, with 4 rows for each thread; grid (2,2,1), pitch = 64: give --block, \
                 --grid, -a";
    assert_eq!(guesses, apart);
    let (block, _, fault, _) = of_shape("other_warp");
    assert_eq!((block, fault.as_deref()), ([128, 1, 1], Some("livelock")));
    assert_eq!(of_shape("barrier_of_64").0, [64, 1, 1]);
}

/// An offset of an index is small enough for threads to meet, where they may.
#[test]
fn an_offset_leads_to_a_neighbour() {
    let (_, found, _, guesses) = of_shape("neighbours");
    assert!(found == ["race.global"] && guesses.contains("offset = 1"), "{found:?} {guesses}");
    let (_, found, _, guesses) = of_shape("shifted");
    assert!(found.is_empty() && guesses.contains("offset = 1"), "{found:?} {guesses}");
}
