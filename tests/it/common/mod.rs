//! Opening fixtures for the tests of the debugger.

#![allow(dead_code, clippy::unwrap_used, reason = "every test uses a part of it, and fails where it cannot")]

pub mod hostile;
pub mod words;

use std::path::{Path, PathBuf};

use ptxdbg::debug::open::open;
use ptxdbg::debug::session::Session;
use ptxdbg::debug::{LaunchChoice, Overrides, Request, RunOptions};

/// Fixtures whose warps diverge, and the case to look at.
pub const DIVERGENT: &[(&str, usize)] = &[("debug/walk.ron", 0), ("programs/bfs_frontier.ron", 0), ("programs/edit_wave.ron", 0)];

/// A session about a case of a launch file in `fixtures`.
pub fn session(file: &str, case: usize) -> Session {
    let request = Request { modules: Vec::new(), launch: LaunchChoice::File(fixtures().join(file)), overrides: Overrides::default() };
    let opened = open(&request).unwrap();
    let options = RunOptions { step_limit: Some(1 << 22), ..RunOptions::unwatched() };
    Session::new(opened, case, options).unwrap()
}

/// The launch files of a folder of fixtures.
pub fn launch_files(folder: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(fixtures().join(folder)).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "ron"));
    files.sort();
    files
}

/// Every launch file of the hardware suites and programs, with its first and its last case.
pub fn fixture_files() -> Vec<(String, usize)> {
    let mut all = vec![("debug/walk.ron".to_string(), 0)];
    for folder in ["hardware", "programs"] {
        let mut names: Vec<String> =
            std::fs::read_dir(fixtures().join(folder)).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        for name in names.into_iter().filter(|name| name.ends_with(".ron")) {
            let file = format!("{folder}/{name}");
            let request =
                Request { modules: Vec::new(), launch: LaunchChoice::File(fixtures().join(&file)), overrides: Overrides::default() };
            let last = open(&request).unwrap().plan.cases.len() - 1;
            all.push((file.clone(), 0));
            if last > 0 {
                all.push((file, last));
            }
        }
    }
    all
}

/// Numbers that have no pattern, the same in every run of the tests: the generator SplitMix64.
pub fn random_numbers() -> impl Iterator<Item = u64> {
    let mut state = 0_u64;
    std::iter::from_fn(move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Some(mixed ^ (mixed >> 31))
    })
}

pub fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}
