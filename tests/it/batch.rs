//! What scripts and continuous integration read: commands as JSON, test cases as JUnit's XML, completions and manual pages.

#![expect(clippy::unwrap_used, reason = "a test that cannot run the program fails")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

const TOP: &str = env!("CARGO_MANIFEST_DIR");

fn ptxdbg(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ptxdbg")).args(arguments).current_dir(TOP).output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn commands_are_objects_as_their_schema_says() {
    let commands = ["break 71", "run", "print %r1@*", "info warps", "echo x\\n", "info registers r1", "print %nothing", "info blocks"];
    let arguments: Vec<&str> = ["--batch", "--format", "json", "--no-init", "-l", "fixtures/debug/tiles.ron"]
        .into_iter()
        .chain(commands.iter().flat_map(|command| ["-e", command]))
        .collect();
    let output = ptxdbg(&arguments);
    assert_eq!(output.status.code(), Some(2), "the command that fails ends it");
    let schema: Value = serde_json::from_str(&fs::read_to_string(Path::new(TOP).join("docs/commands.schema.json")).unwrap()).unwrap();
    let kinds = schema["properties"]["answers"]["items"]["properties"]["answer"]["enum"].as_array().unwrap();
    let records: Vec<Value> = text(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(records.len(), 7, "those after it are not executed");
    for (record, command) in records.iter().zip(commands) {
        assert_eq!(record["kind"], "command");
        assert_eq!(record["command"], command);
        assert_eq!(record["ok"], command != "print %nothing");
        assert!(record["answers"].as_array().unwrap().iter().all(|answer| kinds.contains(&answer["answer"])), "{record}");
        let members: Vec<&String> = record.as_object().unwrap().keys().collect();
        let required = schema["required"].as_array().unwrap();
        assert!(required.iter().all(|name| members.iter().any(|member| *member == name)) && members.len() == required.len());
    }
    assert_eq!(records[1]["answers"][0]["answer"], "stop");
    assert!(records[1]["answers"][0]["data"]["time"].is_u64());
    assert_eq!(records[2]["answers"][0]["answer"], "value");
    assert_eq!(records[4]["text"], "x\n");
    assert_eq!(records[6]["error"]["column"], 7);
}

#[test]
fn cases_are_test_cases() {
    let output = ptxdbg(&["--verify", "--format", "junit", "-l", "fixtures/gallery/shared_raw.ron"]);
    let passed = text(&output);
    assert_eq!(output.status.code(), Some(0));
    assert!(passed.starts_with("<?xml") && passed.contains("failures=\"0\"") && passed.contains("name=\"shared_raw_ok\"/>"), "{passed}");
    let failed = text(&ptxdbg(&["--batch", "--format", "junit", "fixtures/gallery/shared_raw.ptx", "-k", "shared_raw_bug"]));
    assert!(failed.contains("failures=\"1\"") && failed.contains("<failure type=\"race.shared.raw\""), "{failed}");
    let error = text(&ptxdbg(&["--verify", "--format", "junit", "-l", "fixtures/nothing.ron"]));
    assert!(error.contains("errors=\"1\""), "{error}");
}

#[test]
fn shells_complete_all_options() {
    for shell in ["bash", "zsh", "fish", "nushell"] {
        let output = ptxdbg(&["--completions", shell]);
        let completions = text(&output);
        assert_eq!(output.status.code(), Some(0), "{shell}");
        assert!(["tour", "schedule", "capture", "shrink"].iter().all(|word| completions.contains(word)), "{shell}");
    }
    // Where an option takes one of some names, these are completed, and not files.
    let bash = text(&ptxdbg(&["--completions", "bash"]));
    for (option, names) in
        [("--tour", "race divergence pipeline hang wrong-lane"), ("--layout", "default compact"), ("--checks", "all none race")]
    {
        let after = bash.split(&format!("{option})\n")).nth(1).unwrap_or_else(|| panic!("{option}"));
        assert!(after.lines().next().is_some_and(|line| line.contains("compgen -W") && line.contains(names)), "{option}: {after:.200}");
    }
    assert_eq!(ptxdbg(&["--completions", "cmd"]).status.code(), Some(2));
}

#[test]
fn manual_pages_are_installed() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("man");
    let output = ptxdbg(&["--install-man", folder.to_str().unwrap()]);
    assert_eq!(text(&output).lines().count(), 3);
    for page in ["man1/ptxdbg.1", "man5/ptxdbg-launch.5", "man5/ptxdbg-layout.5"] {
        let name = page.rsplit('/').next().unwrap();
        assert_eq!(fs::read(folder.join(page)).unwrap(), fs::read(Path::new(TOP).join("man").join(name)).unwrap(), "{page}");
    }
}

/// The format is Chrome's trace event format: slices of a track lie in each other or apart, an arrow has one start and one end, a counter
/// numbers.
#[test]
fn a_trace_is_one_of_chrome() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pipeline_trace.json");
    let export = format!("export trace {}", file.display());
    let launch = "fixtures/programs/mbar_pipeline.ron";
    let output = ptxdbg(&["--batch", "--no-init", "-l", launch, "-e", &export]);
    assert_eq!(output.status.code(), Some(2), "nothing has been executed yet");
    let output = ptxdbg(&["--batch", "--no-init", "-l", launch, "-e", "goto end", "-e", &export]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let trace: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    let mut tracks: BTreeMap<(u64, u64), Vec<(u64, u64)>> = BTreeMap::new();
    let (mut starts, mut ends, mut counters) = (BTreeSet::new(), BTreeSet::new(), 0);
    for event in trace["traceEvents"].as_array().unwrap() {
        let number = |name: &str| event[name].as_u64().unwrap_or_else(|| panic!("no {name}: {event}"));
        assert!(event["name"].is_string());
        match event["ph"].as_str().unwrap() {
            "X" => tracks.entry((number("pid"), number("tid"))).or_default().push((number("ts"), number("ts") + number("dur"))),
            "s" => assert!(starts.insert(number("id")), "two arrows have one number: {event}"),
            "f" => assert!(ends.insert(number("id")), "two arrows have one number: {event}"),
            "C" => counters += u64::from(event["args"].as_object().unwrap().values().all(Value::is_u64) && number("ts") > 0),
            "M" => assert!(event["args"]["name"].is_string()),
            other => panic!("an event of kind {other}"),
        }
    }
    assert!(starts.len() > 100 && counters > 100);
    assert_eq!(starts, ends);
    for slices in tracks.values_mut() {
        slices.sort_by_key(|(from, until)| (*from, std::cmp::Reverse(*until)));
        let mut around: Vec<u64> = Vec::new();
        for (from, until) in slices {
            around.retain(|end| *end > *from);
            assert!(around.iter().all(|end| *until <= *end), "slices overlap at {from}");
            around.push(*until);
        }
    }
}
