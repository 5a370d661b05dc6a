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
    let calls: [&[&str]; 8] = [
        &["--batch", "-l", "orders/split_sum.ron", "-e", "explore systematic 2 60", "-e", "explore systematic continue 20"],
        &["--batch", "-l", "async/ring_parity.ron", "-e", "explore systematic"],
        &["--batch", "-l", "orders/split_sum.ron", "-e", "explore 25"],
        &["--batch", "-l", "async/ring_parity.ron", "-e", "explore 25"],
        &["--verify", "-l", "hardware/barrier.ron", "-l", "orders/split_sum.ron", "-l", "async/ring_parity.ron"],
        &["--verify", "--format", "json", "-l", "orders/split_sum.ron", "-l", "orders/split_sum_atomic.ron"],
        &["--verify", "--fix", "--strict", "-l", "gallery/shared_raw.ron", "-l", "gallery/global_blocks.ron"],
        &["--batch", "-l", "orders/split_sum.ron", "-e", "run", "-e", "fix"],
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

#[test]
fn priorities_show_a_lost_update_and_say_how_probable_that_is() {
    let (status, out) = ptxdbg(&["--batch", "-l", "orders/split_sum.ron", "-e", "explore pct 2 100"]);
    let mut lines = out.lines().skip(1);
    let bound = "depth 2: each order shows a bug of that depth with a probability of at least 1/(4 * 68) = 3.7e-3";
    assert_eq!((status, lines.next()), (1, Some(bound)), "{out}");
    let (_, worst) = lines.next().unwrap().split_once(" wrong, worst ").unwrap();
    let options = replay(worst);
    assert_eq!(options[..3], ["--schedule", "pct:2:68", "--seed"]);
    let (status, again) = ptxdbg(&[&["--verify", "-l", "orders/split_sum.ron"], options.as_slice()].concat());
    assert!(status == 1 && again.contains("of its 32 elements are wrong"), "{again}");
}

/// The kernels of a launch file that fail, with the words of what was found in each.
fn failing(words: &[&str]) -> Vec<String> {
    let (_, out) = ptxdbg(&[&["--verify", "--format", "json"], words].concat());
    let records = out.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let cases = records.filter(|record| record["kind"] == "case" && record["passed"] == false);
    cases.map(|case| case["name"].as_str().unwrap().to_string()).collect()
}

#[test]
fn a_lock_that_lacks_a_fence_is_found_in_the_default_command() {
    // In the order of the run each part that is wrong comes where it does not matter: only the other order shows it. The narrow scope of an
    // atomic on the lock itself shows in every order.
    assert_eq!(failing(&["-l", "orders/locks.ron"]), [""; 0]);
    let racy = ["lock_no_acquire", "lock_no_release", "lock_narrow_release", "lock_narrow_acquire"];
    let without = failing(&["-l", "orders/locks.ron", "--orders", "0"]);
    assert_eq!(without, racy, "what is expected is not found without another order");
}

#[test]
fn a_lock_that_lacks_a_fence_is_found_by_the_defaults_of_the_library() {
    use ptxdbg::api::{Checks, Launch, Module, RunOptions};
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/orders");
    let module = Module::load(fixtures.join("locks.ptx")).unwrap();
    let planned = Launch::from_file(fixtures.join("locks.ron")).plan(&module).unwrap();
    let found = |case, options| planned.run(case, &options).unwrap().findings().len();
    for (case, name) in planned.cases().enumerate() {
        let with = RunOptions { checks: Checks::ALL, ..RunOptions::default() };
        let without = RunOptions { orders: 0, ..with.clone() };
        let expected = (usize::from(name == "lock_narrow_cas"), case > 0);
        assert_eq!((found(case, without), found(case, with) > 0), expected, "{name}");
    }
}

#[test]
fn what_the_other_order_of_two_sections_shows_is_replayed() {
    let (status, out) = ptxdbg(&["--batch", "-l", "orders/locks.ron"]);
    assert_eq!(status, 1);
    let options: Vec<&str> = out.lines().filter_map(|line| Some(line.split_once(" --schedule ")?.1)).collect();
    assert!(options.len() == 4 && options.iter().all(|option| option.starts_with("hold:0:0:")), "{out}");
    for (kernel, option) in ["lock_no_acquire", "lock_no_release"].iter().zip(&options) {
        let (status, again) = ptxdbg(&["--batch", "-l", "orders/locks.ron", "--orders", "0", "--schedule", option]);
        assert!(status == 1 && again.contains("race."), "{kernel} with {option}: {again}");
    }
}

#[test]
fn locks_that_are_taken_in_two_orders_are_a_warning() {
    assert_eq!(failing(&["-l", "orders/lock_order.ron"]), [""; 0]);
    let (_, out) = ptxdbg(&["--batch", "-l", "orders/lock_order.ron"]);
    assert_eq!(out.matches("warning: deadlock.lock_order: ").count(), 1, "{out}");
}
