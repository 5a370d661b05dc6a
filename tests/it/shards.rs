//! Runs that are split over machines, and put together: what is printed is what one machine prints.

#![expect(clippy::unwrap_used, reason = "a test that cannot run fails")]

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// Exit status, standard output and standard error of `ptxdbg` with these words, run in `fixtures`.
fn ptxdbg(words: &[&str]) -> (i32, String, String) {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let output = Command::new(env!("CARGO_BIN_EXE_ptxdbg")).args(words).current_dir(fixtures).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// Files with what the shards of a call print, of which there are `count`.
fn shards(folder: &TempDir, call: &[&str], count: u64) -> Vec<PathBuf> {
    let shard = |number: u64| {
        let (_, out, error) = ptxdbg(&[call, &["--format", "json", "--shard", &format!("{number}/{count}")]].concat());
        assert_eq!(error, "", "{call:?}");
        let path = folder.path().join(format!("{number}-{count}.json"));
        std::fs::write(&path, out).unwrap();
        path
    };
    (1..=count).map(shard).collect()
}

/// What the files give together.
fn merge(call: &[&str], files: &[PathBuf]) -> (i32, String, String) {
    let files: Vec<&str> = files.iter().map(|file| file.to_str().unwrap()).collect();
    ptxdbg(&[call, &["--merge"], &files].concat())
}

const GALLERY: [&str; 11] = [
    "--verify",
    "-l",
    "gallery/shared_raw.ron",
    "-l",
    "orders/split_sum.ron",
    "-l",
    "hardware/barrier.ron",
    "-l",
    "hardware/approx.ron",
    "-l",
    "async/ring_parity.ron",
];

#[test]
fn merged_cases_are_those_of_one_machine() {
    let few: Vec<&str> = [&GALLERY[..], &["--max-findings", "2"]].concat();
    for call in [&GALLERY[..], &few] {
        let (status, out, _) = ptxdbg(&[call, &["--format", "json"]].concat());
        assert!(out.contains("\"kind\":\"case\"") && out.contains("\"kind\":\"certificate\""), "{out}");
        for count in [1, 2, 3, 7] {
            let folder = TempDir::new().unwrap();
            let mut files = shards(&folder, call, count);
            assert_eq!(merge(&[], &files), (status, out.clone(), String::new()), "{count} shards of {call:?}");
            files.reverse();
            assert_eq!(merge(&[], &files).1, out, "{count} shards in another order");
        }
    }
}

#[test]
fn merged_orders_are_those_of_one_machine() {
    let calls: [&[&str]; 5] = [
        &["--batch", "-l", "orders/split_sum.ron", "-e", "explore 40"],
        &["--batch", "-l", "async/ring_parity.ron", "-e", "explore 30", "-e", "explore pct 2 20"],
        &["--batch", "-l", "orders/split_sum.ron", "-e", "explore systematic 2 60", "-e", "explore systematic continue 20"],
        &["--batch", "gallery/shared_raw.ptx", "-k", "shared_raw_bug", "-e", "explore 50"],
        &["--batch", "-l", "weak/publish.ron", "-e", "explore 40 --memory weak"],
    ];
    for call in calls {
        let whole = ptxdbg(call);
        for count in [1, 3] {
            let folder = TempDir::new().unwrap();
            let mut files = shards(&folder, call, count);
            assert_eq!(merge(call, &files), whole, "{count} shards of {call:?}");
            files.reverse();
            assert_eq!(merge(call, &files), whole, "{count} shards of {call:?} in another order");
        }
    }
}

#[test]
fn a_shard_runs_only_its_orders() {
    let call = ["--batch", "-l", "orders/split_sum.ron", "-e", "explore 10", "--shard", "2/4"];
    let (_, out, _) = ptxdbg(&call);
    assert!(out.contains("shard 2/4, of the orders:\n3 orders: "), "{out}");
    let (_, out, _) = ptxdbg(&["--verify", "-l", "hardware/barrier.ron", "--shard", "1/1000"]);
    assert!(out.ends_with("1 passed, 0 failed\n"), "{out}");
}

/// The one line of standard error of a refused call.
fn refused(answer: (i32, String, String)) -> String {
    let (status, out, error) = answer;
    assert_eq!((status, out.as_str()), (2, ""), "{error}");
    error
}

#[test]
fn what_is_no_run_is_refused() {
    let folder = TempDir::new().unwrap();
    let call = ["--verify", "-l", "gallery/shared_raw.ron"];
    let files = shards(&folder, &call, 3);
    let [one, two, three] = files.as_slice() else { panic!("three files") };
    let merge_some = |files: &[&PathBuf]| refused(merge(&[], &files.iter().map(|file| (*file).clone()).collect::<Vec<_>>()));
    assert!(merge_some(&[one, three]).contains("shard 2/3 is missing: 2 of 3 are given"));
    assert!(merge_some(&[one, two, three, two]).contains("are both shard 2/3"));
    let other_folder = TempDir::new().unwrap();
    let others = shards(&other_folder, &["--verify", "-l", "gallery/shared_raw.ron", "--seed", "1"], 3);
    assert!(merge_some(&[one, two, &others[2]]).contains("is of another run than"));
    let other_count = shards(&other_folder, &call, 2);
    assert!(merge_some(&[one, two, &other_count[0]]).contains("is shard 1/2, and"));
    let whole = folder.path().join("whole.json");
    std::fs::write(&whole, ptxdbg(&[&call[..], &["--format", "json"]].concat()).1).unwrap();
    assert!(merge_some(&[&whole]).contains("its last line is no shard"));
    let text = std::fs::read_to_string(one).unwrap();
    let cut: Vec<&str> = text.lines().skip(1).collect();
    std::fs::write(one, cut.join("\n")).unwrap();
    assert!(merge_some(&[one, two, three]).contains("lines are missing"));
    assert!(merge_some(&[&folder.path().join("none.json")]).contains("none.json: no such file"));
}

#[test]
fn orders_of_another_exploration_are_refused() {
    let folder = TempDir::new().unwrap();
    let call = ["--batch", "-l", "orders/split_sum.ron", "-e", "explore 12"];
    let files = shards(&folder, &call, 2);
    let merge_as = |words: &[&str], files: &[PathBuf]| {
        let (status, _, error) = merge(words, files);
        assert_eq!(status, 2, "{error}");
        error
    };
    assert!(merge_as(&["--batch", "-l", "orders/split_sum.ron", "-e", "explore 13"], &files).contains("of another exploration"));
    assert!(
        merge_as(&["--batch", "-l", "orders/split_sum.ron", "-e", "explore 12", "-e", "explore"], &files)
            .contains("have fewer explorations")
    );
    assert!(merge_as(&call, &files[..1]).contains("shard 2/2 is missing"));
    assert!(merge_as(&["--batch", "-l", "orders/split_sum.ron"], &files).contains("the commands of the shards"));
    // An order that says something else than it gives is no order of this kernel.
    let text = std::fs::read_to_string(&files[0]).unwrap();
    std::fs::write(&files[0], text.replacen("\"findings\":[\"", "\"findings\":[\"0", 1)).unwrap();
    assert!(merge_as(&call, &files).contains("gives something else here than in its shard"));
    assert!(refused(ptxdbg(&["--batch", "-l", "orders/split_sum.ron", "--shard", "1/2"])).contains("--shard splits --verify"));
}
