//! Findings of a session and of the command line: the same list however the run is gone through, and documents that others read.

#![expect(clippy::unwrap_used, reason = "a test that cannot open its fixture fails")]

use std::path::Path;
use std::process::Command;

use ptxdbg::check::race::catalogue::{RACE_PROXY, RACE_SHARED_RAW, RACE_WGMMA};
use ptxdbg::debug::edit::Edit;
use ptxdbg::debug::findings::{CheckerId, Checks, FindingId, FindingText};
use ptxdbg::debug::open::open;
use ptxdbg::debug::session::{NeverInterrupt, Session};
use ptxdbg::debug::settings::StopOn;
use ptxdbg::debug::stop::{Direction, Goal, Reason, Stop};
use ptxdbg::debug::{LaunchChoice, Overrides, Request, RunOptions};
use ptxdbg::machine::LaneMask;
use ptxdbg::machine::Tick;
use serde_json::Value;

fn session(file: &str, checks: Checks) -> Session {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(file);
    let request = Request { modules: Vec::new(), launch: LaunchChoice::File(path), overrides: Overrides::default() };
    Session::new(open(&request).unwrap(), 0, RunOptions { checks, ..RunOptions::unwatched() }).unwrap()
}

fn go(session: &mut Session, direction: Direction) -> Stop {
    session.resume(&Goal::Continue, direction, &mut NeverInterrupt).unwrap()
}

/// The finding that a stop is about.
fn found(stop: &Stop) -> Option<&FindingText> {
    stop.reasons.iter().find_map(|reason| match reason {
        Reason::Finding(finding) => Some(&**finding),
        _ => None,
    })
}

/// Thread t of warp 1 stores a word that warp 0 has read, or the other way round, with no barrier between.
const RACE: &str = "gallery/shared_raw.ron";

#[test]
fn a_run_stops_at_the_second_side_in_both_directions_and_again() {
    let mut session = session(RACE, Checks::ALL);
    let stop = go(&mut session, Direction::Forward);
    let finding = found(&stop).unwrap().clone();
    let second = finding.second.clone().unwrap();
    assert_eq!((finding.id, stop.time), (RACE_SHARED_RAW, second.site.time));
    assert_eq!((stop.focus.block, stop.focus.warp), (second.site.block, second.site.warp));
    assert!(finding.memory.unwrap().name.starts_with('s'));
    assert!(finding.first.unwrap().site.time < second.site.time);
    let end = go(&mut session, Direction::Forward);
    assert!(matches!(end.reasons.as_slice(), [Reason::Ended]), "{:?}", end.reasons);
    let back = go(&mut session, Direction::Backward);
    assert_eq!((back.time, found(&back).is_some()), (stop.time, true));
    session.seek(Tick::START, &mut NeverInterrupt);
    let again = go(&mut session, Direction::Forward);
    assert_eq!((again.time, found(&again).map(|finding| finding.id)), (stop.time, Some(RACE_SHARED_RAW)));
}

#[test]
fn checkers_find_the_same_when_they_come_later() {
    let mut watched = session(RACE, Checks::ALL);
    watched.settings.stop_on = StopOn::None;
    go(&mut watched, Direction::Forward);
    let mut unwatched = session(RACE, Checks::NONE);
    let end = go(&mut unwatched, Direction::Forward);
    assert!(unwatched.findings().is_empty() && found(&end).is_none());
    unwatched.seek(Tick(20), &mut NeverInterrupt);
    assert!(unwatched.switch_checkers(&CheckerId::named("race,init,sync").unwrap(), true, &mut NeverInterrupt));
    assert_eq!(unwatched.time(), Tick(20));
    assert!(!watched.findings().is_empty());
    assert_eq!(unwatched.findings(), watched.findings());
    assert!(unwatched.switch_checkers(&CheckerId::named("race").unwrap(), false, &mut NeverInterrupt));
    assert!(!unwatched.findings().iter().any(|finding| finding.id.checker().map(CheckerId::word) == Some("race")));
}

#[test]
fn what_changes_the_past_drops_what_was_found_after_it() {
    let mut session = session(RACE, Checks::ALL);
    let first = go(&mut session, Direction::Forward);
    session.seek(first.time - 1, &mut NeverInterrupt);
    let focus = session.focus;
    let (block, warp, lanes) = (focus.block, focus.warp, LaneMask::of(focus.lane as usize));
    let edit = Edit::Register { block, warp, lanes, bank: ptxdbg::program::Bank::B32, slot: ptxdbg::program::Slot(0), value: 0 };
    session.edit(vec![edit], "set").unwrap();
    assert!(session.findings().is_empty());
    go(&mut session, Direction::Forward);
    assert!(!session.findings().is_empty());
}

#[test]
fn what_is_suppressed_neither_stops_nor_is_listed() {
    for what in ["race", "race.shared.raw", "s", "shared_raw.cu:10", "shared_raw.ptx:41"] {
        let mut session = session(RACE, Checks::ALL);
        session.suppressions().add(what);
        let stop = go(&mut session, Direction::Forward);
        assert!(found(&stop).is_none() && session.findings().is_empty(), "{what}");
        assert_eq!(session.all_findings().len(), 1, "{what}");
        let saved = session.saved();
        session.suppressions().clear();
        assert_eq!(session.findings().len(), 1, "{what}");
        session.restore(saved, &mut NeverInterrupt).unwrap();
        assert!(session.findings().is_empty(), "{what}");
    }
}

#[test]
fn a_step_reports_what_it_found_and_is_done() {
    let mut session = session(RACE, Checks::ALL);
    let stop = go(&mut session, Direction::Forward);
    session.seek(Tick::START, &mut NeverInterrupt);
    let mut other = self::session(RACE, Checks::ALL);
    other.seek(stop.time, &mut NeverInterrupt);
    other.focus = stop.focus;
    let step = other.resume(&Goal::Instruction { count: 1, over_calls: false }, Direction::Forward, &mut NeverInterrupt).unwrap();
    assert!(found(&step).is_some() && step.reasons.iter().any(|reason| matches!(reason, Reason::Done)), "{:?}", step.reasons);
    assert_eq!(step.time, stop.time + 1);
}

fn ptxdbg(words: &[&str]) -> (i32, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_ptxdbg")).args(words).current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
}

const BATCH: [&str; 5] = ["--batch", "-l", "fixtures/gallery/shared_raw.ron", "-k", "shared_raw_bug"];

#[test]
fn json_has_both_sides_of_a_finding() {
    let (status, out) = ptxdbg(&[&BATCH[..], &["--format", "json"]].concat());
    let run: Value = out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).find(|value| value["kind"] == "run").unwrap();
    let finding = &run["findings"][0];
    assert_eq!((status, &finding["id"], &finding["severity"]), (1, &Value::from("race.shared.raw"), &Value::from("error")));
    for side in ["first", "second"] {
        let site = &finding[side]["site"];
        assert!(site["place"].as_str().unwrap().starts_with("shared_raw.ptx:"), "{site}");
        assert!(site["lines"][1]["file"].as_str().unwrap().ends_with("shared_raw.cu"), "{site}");
        assert!(finding[side]["value"].is_string() && site["time"].is_u64(), "{site}");
    }
    assert_eq!((&finding["memory"]["symbol"], &finding["memory"]["bytes"]), (&Value::from("s"), &Value::from(4)));
    assert_eq!((&finding["first"]["action"], &finding["second"]["action"]), (&Value::from("read"), &Value::from("write")));
    assert!(finding["fix"].as_str().unwrap().starts_with("consider __syncthreads()"), "{finding}");
}

#[test]
fn sarif_has_what_the_standard_requires() {
    let (status, out) = ptxdbg(&[&BATCH[..], &["--format", "sarif"]].concat());
    let log: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((status, &log["version"]), (1, &Value::from("2.1.0")));
    assert!(log["$schema"].as_str().unwrap().ends_with("sarif-schema-2.1.0.json"));
    let run = &log["runs"][0];
    let driver = &run["tool"]["driver"];
    assert_eq!(driver["name"], "ptxdbg");
    let rules: Vec<&str> = driver["rules"].as_array().unwrap().iter().map(|rule| rule["id"].as_str().unwrap()).collect();
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), 1);
    for result in results {
        assert!(rules.contains(&result["ruleId"].as_str().unwrap()));
        assert!(matches!(result["level"].as_str(), Some("error" | "warning")));
        assert!(result["message"]["text"].as_str().unwrap().contains("; fix: consider __syncthreads()"), "{result}");
        let places = result["locations"].as_array().unwrap().iter().chain(result["relatedLocations"].as_array().unwrap());
        for place in places {
            let physical = &place["physicalLocation"];
            assert!(!physical["artifactLocation"]["uri"].as_str().unwrap().is_empty());
            assert!(physical["region"]["startLine"].as_u64().unwrap() >= 1);
        }
        assert!(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].as_str().unwrap().ends_with("shared_raw.cu"));
    }
}

#[test]
fn verification_counts_a_race_as_a_failure_unless_checkers_are_off() {
    let launch = ["--verify", "-l", "fixtures/gallery/shared_raw.ron"];
    assert_eq!(ptxdbg(&launch).0, 0);
    let (status, out) = ptxdbg(&[&launch[..], &["--checks", "none"]].concat());
    assert_eq!(status, 1);
    assert!(
        out.contains("FAIL shared_raw_bug: shared_raw_bug: nothing was found, expected race.shared.raw; --checks leaves out race"),
        "{out}"
    );
}

/// Asynchronous matrix multiplications are reported in another way than accesses are.
#[test]
fn a_session_finds_what_an_unattended_run_does_of_wgmma() {
    for (file, id) in [("gallery/wgmma_acc_early.ron", RACE_WGMMA), ("gallery/wgmma_noproxy.ron", RACE_PROXY)] {
        let mut session = session(file, Checks::ALL);
        session.settings.stop_on = StopOn::None;
        go(&mut session, Direction::Forward);
        let mut ids: Vec<FindingId> = session.findings().iter().map(|finding| finding.id).collect();
        ids.dedup();
        assert_eq!(ids, [id], "{file}");
    }
}
