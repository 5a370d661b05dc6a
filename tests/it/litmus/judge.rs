//! The judge: on tests whose answers the manual and the literature give, and on those of Dat3M.

use std::path::{Path, PathBuf};
use std::process::Command;

use ptxdbg::litmus::{Judgement, Limits, Test, TooLarge, can_run, judge, parse, run};

use super::axioms;
use super::random::Draw;
use crate::common::{fixtures, random_numbers};

fn judged(path: &Path) -> Judgement {
    let text = std::fs::read_to_string(path).unwrap();
    let test = parse(&text).unwrap_or_else(|error| panic!("{}: {error:?}", path.display()));
    judge(&test, Limits::default()).unwrap_or_else(|_| panic!("{} is too large", path.display()))
}

#[test]
fn every_test_is_answered_as_the_manual_and_the_literature_answer_it() {
    let expected = std::fs::read_to_string(fixtures().join("litmus/expected.txt")).unwrap();
    let mut problems = Vec::new();
    let mut names = Vec::new();
    for line in expected.lines().filter(|line| !line.starts_with('#')) {
        let (name, answer) = line.split_once(' ').unwrap();
        let judged = judged(&fixtures().join(format!("litmus/tests/{name}.litmus")));
        if judged.answer != (answer == "yes") {
            problems.push(format!("{name}: {} here, {answer} is right", judged.answer));
        }
        if judged.answer_of_sequential != (name == "barrier_arrive_back") {
            problems.push(format!("{name}: {} of sequentially consistent executions", judged.answer_of_sequential));
        }
        if (judged.answer != judged.answer_without_load_buffering) != (name == "lb_relaxed") {
            problems.push(format!("{name}: {} without load buffering", judged.answer_without_load_buffering));
        }
        names.push(format!("{name}.litmus"));
    }
    let files = std::fs::read_dir(fixtures().join("litmus/tests")).unwrap();
    let unlisted = files.map(|file| file.unwrap().file_name().into_string().unwrap()).filter(|file| !names.contains(file));
    problems.extend(unlisted.map(|file| format!("{file} is not in expected.txt")));
    assert!(problems.is_empty(), "{problems:#?}");
}

/// Those of Dat3M that load buffering decides.
const LOAD_BUFFERING: &[&str] = &["LB+RMW-a", "LB-dlb-no-fence-1", "LB-dlb-no-fence-2", "MICRO24-Fig4b", "SL-future-minus"];

/// `PTXDBG_DAT3M` names a clone of Dat3M: all its tests of PTX 7.5 and 6.0 with known answers are judged.
#[test]
fn the_tests_of_dat3m_are_answered_as_it_answers_them() {
    let Some(clone) = std::env::var_os("PTXDBG_DAT3M").map(PathBuf::from) else { return };
    let mut problems = Vec::new();
    for (version, count) in [("7_5", 264), ("6_0", 135)] {
        let table = clone.join(format!("dartagnan/src/test/resources/PTXv{version}-expected.csv"));
        let table = std::fs::read_to_string(table).unwrap();
        let rows: Vec<(&str, &str)> = table.lines().filter_map(|line| line.split_once(',')).collect();
        assert_eq!(rows.len(), count, "another version of Dat3M has other tests");
        for (file, answer) in rows {
            let judged = judged(&clone.join(file));
            let name = Path::new(file).file_stem().unwrap().to_str().unwrap();
            if judged.answer != (answer.trim() == "1") {
                problems.push(format!("{file}: {}", judged.answer));
            }
            if (judged.answer != judged.answer_without_load_buffering) != LOAD_BUFFERING.contains(&name) {
                problems.push(format!("{file}: {} without load buffering", judged.answer_without_load_buffering));
            }
        }
    }
    assert!(problems.is_empty(), "{} problem(s): {problems:#?}", problems.len());
}

/// What a command line says, without its status.
fn said(args: &[&str]) -> (String, String, i32) {
    let output = Command::new(env!("CARGO_BIN_EXE_ptxdbg")).current_dir(fixtures().join("litmus/tests")).args(args).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.code().unwrap())
}

#[test]
fn outcomes_and_an_execution_are_shown() {
    let (out, error, status) = said(&["litmus", "mp_fence_writer.litmus"]);
    let expected = "\
mp_fence_writer.litmus  exists (P1:r0 == 1 /\\ P1:r1 == 0): yes; no if runs are sequentially consistent
        P1:r0  P1:r1  runs
   1        0      0   550  sequentially consistent
   2        0      1   375  sequentially consistent
   3 *      1      0    43  weak
   4        1      1    32  sequentially consistent
an execution with outcome 3, weak
  P0: block 0, gpu 0       P1: block 1, gpu 0
  a  st.weak x, 1          d  ld.relaxed.gpu r0, y  = 1
  b  fence.acq_rel.gpu     e  ld.weak r1, x  = 0
  c  st.relaxed.gpu y, 1
  rf  first x -> e, c -> d
  fr  e -> a
";
    assert_eq!((out.as_str(), error.as_str(), status), (expected, "", 0));
}

#[test]
fn synchronization_coherence_and_graphs_are_shown() {
    let folder = std::env::temp_dir().join(format!("ptxdbg-litmus-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (out, error, status) = said(&["litmus", "--witnesses", "s_release.litmus", "--dot", folder.to_str().unwrap()]);
    assert_eq!((error.as_str(), status), ("", 1));
    for line in ["  co  d -> a", "  co  a -> d", "  sw  b -> c"] {
        assert!(out.lines().any(|of| of == line), "{line}\n{out}");
    }
    let graphs: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap()).collect();
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(graphs.len(), 3, "{out}");
    let edge = |graph: &String| graph.contains("[label=\"sw\", color=darkgreen, fontcolor=darkgreen];");
    assert!(graphs.iter().all(|graph| graph.starts_with("digraph \"s_release\" {") && graph.ends_with("}\n")));
    assert!(graphs.iter().any(edge), "{graphs:?}");
}

#[test]
fn a_judgement_is_data_in_json() {
    let (out, error, status) = said(&["litmus", "--format", "json", "--runs", "100", "mp_fence_writer.litmus", "corw.litmus"]);
    assert_eq!((error.as_str(), status, out.lines().count()), ("", 1, 2), "{out}");
    let value: serde_json::Value = serde_json::from_str(out.lines().next().unwrap()).unwrap();
    assert_eq!((&value["answer"], &value["sequentially_consistent_answer"]), (&true.into(), &false.into()));
    let weak = &value["outcomes"][2];
    assert_eq!((&weak["kind"], &weak["matches"], &weak["values"][0]["name"]), (&"weak".into(), &true.into(), &"P1:r0".into()));
    assert_eq!(weak["execution"]["relations"]["fr"], serde_json::json!([["e", "a"]]));
    let (_, error, status) = said(&["litmus", "--format", "junit", "corw.litmus"]);
    assert_eq!((error.trim_end(), status), ("ptxdbg: litmus reports no findings: --format human or json", 2));
}

#[test]
fn mistakes_are_said_with_their_places() {
    let folder = std::env::temp_dir().join(format!("ptxdbg-litmus-wrong-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let head = "PTX wrong\n{\nx=0;\n}\n P0@cta 0,gpu 0 ;\n";
    let cases = [
        ("X86 mp\n", "1:1: a litmus test begins with PTX and its name"),
        ("PTX a\n", "2:1: first values are missing: {x=0;}"),
        (&format!("{head} ld.relaxd.gpu r0, x ;\nexists (x == 0)\n"), "6:2: ld.relaxd.gpu is no instruction of the litmus format"),
        (&format!("{head} st.acquire.gpu x, 1 ;\nexists (x == 0)\n"), "6:2: st.acquire.gpu is no instruction of the litmus format"),
        (&format!("{head} ld.weak r0, x | ld.weak r0, x ;\nexists (x == 0)\n"), "6:18: this row has more columns than the 1 threads"),
        (&format!("{head} goto LC00 ;\nexists (x == 0)\n"), "6:2: P0 has no label LC00"),
        (&format!("{head} ld.weak r0, x ;\nexists (P0:r1 == 0)\n"), "7:12: P0 has no register r1"),
        (&format!("{head} ld.weak r0, x ;\nexists (y == 0)\n"), "7:9: there is no location y before this"),
        (&format!("{head} ld.weak r0, x ;\n"), "7:1: exists, ~exists or forall is expected, and the file ends"),
        (&format!("{head} ld.weak r0, x ;\nexists (x == 0) x\n"), "7:17: the end of the file is expected, not x"),
        (&format!("{head} (* ld.weak r0, x ;\n"), "6:2: this comment has no end: *)"),
        (&format!("{head} st.weak x, 99999999999999999999 ;\n"), "6:13: 99999999999999999999 is no 64-bit integer"),
    ];
    for (text, message) in cases {
        let file = folder.join("wrong.litmus");
        std::fs::write(&file, text).unwrap();
        let (out, error, status) = said(&["litmus", file.to_str().unwrap()]);
        assert_eq!((out.as_str(), status), ("", 2), "{text}");
        assert!(error.trim_end().ends_with(&format!("wrong.litmus:{message}")), "{error}\n{message}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
    let (_, error, status) = said(&["litmus", "corw.litmus", "--dot", "absent/folder"]);
    assert_eq!((error.trim_end(), status), ("ptxdbg: absent/folder: --dot wants a folder that is there", 2));
    assert_eq!(said(&["litmus", "absent.litmus"]).2, 2);
    assert_eq!(said(&["litmus"]).2, 2);
    assert_eq!(said(&["litmus", "--rounds", "0", "corw.litmus"]).2, 2);
}

/// A test of these threads, each with these instructions, that asks for `x == 1`.
fn test_of(threads: usize, instructions: &[String]) -> Test {
    let head: Vec<String> = (0..threads).map(|thread| format!("P{thread}@cta 0,gpu 0")).collect();
    let rows = instructions.iter().map(|instruction| format!(" {} ;\n", vec![instruction.as_str(); threads].join(" | ")));
    parse(&format!("PTX made\n{{\nx=0;\n}}\n {} ;\n{}exists (x == 1)\n", head.join(" | "), rows.collect::<String>())).unwrap()
}

#[test]
fn what_would_take_forever_is_refused_with_its_reason() {
    let repeated = |instruction: &str, count| vec![instruction.to_string(); count];
    let branches: Vec<String> =
        (0..14).flat_map(|number| ["ld.weak r0, x".to_string(), format!("beq r0, 1, LC{number:02}"), format!("LC{number:02}:")]).collect();
    let doubled = [repeated("ld.weak r0, x", 1), repeated("add r0, r0, r0", 40), repeated("st.weak x, r0", 1)].concat();
    let cases = [
        (test_of(4, &repeated("bar.cta.sync 1, 0, 2", 12)), TooLarge::Meetings),
        (test_of(1, &branches), TooLarge::Paths),
        (test_of(1, &doubled), TooLarge::Values),
        (test_of(1, &repeated("st.weak x, 1", 70)), TooLarge::Events),
    ];
    for (test, reason) in cases {
        assert_eq!(judge(&test, Limits::default()).map(|judged| judged.outcomes.len()).unwrap_err(), reason);
    }
}

#[test]
fn twelve_writes_of_one_place_by_four_threads_are_judged() {
    let judged = judge(&test_of(4, &["1", "2", "3"].map(|value| format!("st.relaxed.gpu x, {value}"))), Limits::default()).unwrap();
    // The last write of some thread is the last of all.
    assert_eq!((judged.outcomes.len(), judged.answer, judged.races.len()), (1, false, 0));
    assert_eq!(judged.outcomes[0].values, [3]);
}

/// The tests of a folder that can be run on weak memory.
fn runnable(folder: &Path) -> Vec<(PathBuf, Test)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(runnable(&path));
        } else if path.extension().is_some_and(|ending| ending == "litmus") {
            let test = parse(&std::fs::read_to_string(&path).unwrap()).unwrap();
            found.extend(can_run(&test).then_some((path, test)));
        }
    }
    found.sort_by(|(one, _), (other, _)| one.cmp(other));
    found
}

/// Runs tests on weak memory: no run leaves an outcome that the axioms forbid, and nearly all are left that need no load buffering.
fn compare_runs(tests: &[(PathBuf, Test)], runs: u64) {
    let (mut problems, mut reachable, mut reached) = (Vec::new(), 0, 0);
    for (path, test) in tests {
        // As many rounds of its loops as can be judged.
        let judged = [6, 4, 2].into_iter().find_map(|rounds| judge(test, Limits { rounds }).ok()).unwrap();
        let mut left = vec![false; judged.outcomes.len()];
        for seed in 0..runs {
            let Some(values) = run(test, &judged.variables, seed) else { continue };
            match judged.outcomes.iter().position(|outcome| outcome.values == values) {
                Some(found) => left[found] = true,
                None if judged.is_cut => {}
                None => problems.push(format!("{}: seed {seed} leaves {values:?}", path.display())),
            }
        }
        let needed = judged.outcomes.iter().zip(&left).filter(|(outcome, _)| !outcome.needs_load_buffering);
        let counts = needed.fold((0, 0), |(all, left), (_, is_left)| (all + 1, left + usize::from(*is_left)));
        (reachable, reached) = (reachable + counts.0, reached + counts.1);
    }
    let summary = format!("{} tests, {runs} runs each: {reached} of {reachable} outcomes, {} forbidden", tests.len(), problems.len());
    assert!(problems.is_empty(), "{summary}\n{problems:#?}");
    assert!(reached * 100 >= reachable * 97, "{summary}");
}

#[test]
fn runs_on_weak_memory_leave_what_the_axioms_allow() {
    compare_runs(&runnable(&fixtures().join("litmus/tests")), 1000);
}

#[test]
fn runs_of_random_programs_leave_what_the_axioms_allow() {
    let count = std::env::var("PTXDBG_LITMUS").ok().and_then(|count| count.parse().ok()).unwrap_or(60);
    let mut draw = Draw::new(random_numbers());
    let tests = (0..count).map(|number| draw.program(number)).map(|program| (PathBuf::from(&program.name), axioms::test(&program)));
    compare_runs(&tests.collect::<Vec<_>>(), 3000);
}

/// `PTXDBG_DAT3M` as above; `PTXDBG_LITMUS_RUNS` runs each.
#[test]
fn runs_of_the_tests_of_dat3m_leave_what_the_axioms_allow() {
    let Some(clone) = std::env::var_os("PTXDBG_DAT3M").map(PathBuf::from) else { return };
    let runs = std::env::var("PTXDBG_LITMUS_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(10_000);
    let folders = ["Barrier", "Manual", "Memalloy", "Nvidia"].map(|folder| clone.join("litmus/PTX").join(folder));
    compare_runs(&folders.iter().flat_map(|folder| runnable(folder)).collect::<Vec<_>>(), runs);
}
