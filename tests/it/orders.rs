//! Many orders of one launch: what they lead to, what is found in them, and how each is replayed.

#![expect(clippy::unwrap_used, reason = "a test that cannot run fails")]

use std::path::Path;
use std::process::Command;

/// Exit status and standard output of `ptxdbg` with these words, run in `fixtures`.
fn ptxdbg(words: &[&str]) -> (i32, String) {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let output = Command::new(env!("CARGO_BIN_EXE_ptxdbg")).args(words).current_dir(fixtures).output().unwrap();
    assert!(output.stderr.is_empty(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn what_is_said_does_not_depend_on_the_number_of_threads() {
    let calls: [&[&str]; 4] = [
        &["--batch", "-l", "orders/split_sum.ron", "-e", "explore 25"],
        &["--batch", "-l", "async/ring_parity.ron", "-e", "explore 25"],
        &["--verify", "-l", "hardware/barrier.ron", "-l", "orders/split_sum.ron", "-l", "async/ring_parity.ron"],
        &["--verify", "--format", "json", "-l", "orders/split_sum.ron", "-l", "orders/split_sum_atomic.ron"],
    ];
    for call in calls {
        let one = ptxdbg(&[call, &["--jobs", "1"]].concat());
        for jobs in ["2", "7"] {
            assert_eq!(ptxdbg(&[call, &["--jobs", jobs]].concat()), one, "{call:?} with {jobs}");
        }
    }
}

/// What stands after `replay: ` in the last line of `text` that has it.
fn replay(text: &str) -> Vec<&str> {
    let options = text.lines().filter_map(|line| Some(line.split_once("replay: ")?.1)).next_back().unwrap();
    options.split(' ').collect()
}

#[test]
fn a_replay_shows_what_it_is_for() {
    let (status, out) = ptxdbg(&["--batch", "-l", "orders/split_sum.ron", "-e", "explore"]);
    assert_eq!(status, 1);
    let (_, worst) = out.split_once("worst ").unwrap();
    let (worst, _) = worst.split_once(", replay").unwrap();
    let (_, again) = ptxdbg(&[&["--verify", "-l", "orders/split_sum.ron"], replay(&out).as_slice()].concat());
    let (value, expected) = worst.split_once(" = ").unwrap().1.split_once(", expected ").unwrap();
    let distance = value.parse::<f64>().unwrap() - expected.parse::<f64>().unwrap();
    assert!(again.contains(&format!("the largest difference is {:.2}", distance.abs())), "{worst}: {again}");

    let (_, out) = ptxdbg(&["--batch", "-l", "async/ring_parity.ron", "-e", "explore 30"]);
    let (_, again) = ptxdbg(&[&["--batch", "-l", "async/ring_parity.ron"], replay(&out).as_slice()].concat());
    assert!(again.contains("deadlock: no warp can make progress at t=170"), "{again}");
}

#[test]
fn a_sum_that_only_rounds_differently_is_right_in_every_order() {
    let (status, out) = ptxdbg(&["--batch", "-l", "orders/split_sum_atomic.ron", "-e", "explore"]);
    assert_eq!((status, out.lines().nth(1)), (0, Some("20 orders: 20 right")));
}
