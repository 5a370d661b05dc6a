//! Blocks of a launch that run side by side leave what they leave in order: bytes, ticks, findings, certificates.

#![expect(clippy::unwrap_used, reason = "a test that cannot read its fixture fails")]

use std::path::Path;

use crate::common::launch_files;
use ptxdbg::api::Run;
use ptxdbg::check::Checks;
use ptxdbg::debug::open::open;
use ptxdbg::debug::{LaunchChoice, Opened, Overrides, Request, RunOptions};

fn opened(file: &Path, grid: Option<[u32; 3]>) -> Option<Opened> {
    let overrides = Overrides { grid, ..Overrides::default() };
    open(&Request { modules: Vec::new(), launch: LaunchChoice::File(file.to_path_buf()), overrides }).ok()
}

/// All that a run leaves: results, findings, counts, certificate and the digest of the memory.
fn left(opened: &Opened, options: &RunOptions) -> Vec<String> {
    let run = |case| {
        let run = Run::of_case(&opened.program, case, options, || false).unwrap();
        let buffers: Vec<_> = run.buffer_names().map(|name| run.buffer(name)).collect();
        format!("{:?} {:?} {buffers:?}", run.summary, run.certificate)
    };
    opened.plan.cases.iter().map(run).collect()
}

/// Every launch of the fixtures, with parts of its grid on three threads, is that of one thread.
#[test]
fn parts_of_a_grid_leave_what_the_whole_leaves() {
    let mut wrong = Vec::new();
    for file in ["races", "gallery", "cases", "orders", "programs"].into_iter().flat_map(launch_files) {
        let Some(opened) = opened(&file, None) else { continue };
        for checks in [Checks::ALL, Checks::NONE] {
            let in_order = RunOptions { checks, step_limit: Some(1 << 20), ..RunOptions::default() };
            let side_by_side = RunOptions { jobs: 3, short: 0, ..in_order.clone() };
            let pairs = left(&opened, &in_order).into_iter().zip(left(&opened, &side_by_side));
            wrong.extend(pairs.filter(|(one, other)| one != other).map(|(one, other)| format!("{}:\n{one}\n{other}", file.display())));
        }
    }
    assert!(wrong.is_empty(), "{} runs differ, the first: {}", wrong.len(), wrong[0]);
}
