//! What is known to be exact: `src/isa/recorded.txt` and `docs/instructions.md` say what the recordings and the table say, and runs
//! report how far they can be trusted.

#![allow(clippy::unwrap_used, reason = "a test that cannot read its files fails")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use ptxdbg::debug::fidelity::{Fidelity, Influence, fidelity};
use ptxdbg::debug::open::open;
use ptxdbg::debug::{LaunchChoice, Opened, Overrides, Request, RunOptions, Trust, verify_case};
use ptxdbg::isa::table::SECTIONS;
use ptxdbg::isa::{Decode, Row, match_opcode, recorded};
use ptxdbg::program::Pc;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn opened(file: &Path) -> Opened {
    open(&Request { modules: Vec::new(), launch: LaunchChoice::File(file.to_path_buf()), overrides: Overrides::default() }).unwrap()
}

/// Compares a file with what it should be, or, when asked to, makes it so.
fn assert_is(path: &str, text: &str) {
    let path = root().join(path);
    if std::env::var_os("PTXDBG_BLESS").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let held = std::fs::read_to_string(&path).unwrap_or_default();
    let wrong = held.lines().zip(text.lines()).find(|(held, wanted)| held != wanted);
    assert!(held == text, "{}: run this test with PTXDBG_BLESS=1 and read the difference; the first: {wrong:?}", path.display());
}

/// Where an opcode was recorded.
#[derive(Default)]
struct Found {
    /// The numbers of its operands.
    operands: BTreeSet<usize>,
    /// For each suite the share of its kernels that have the opcode.
    suites: BTreeMap<String, f64>,
}

/// The opcodes, with their numbers of operands, of one case.
fn opcodes_of(opened: &Opened, executed: BTreeSet<Pc>) -> BTreeSet<(String, usize)> {
    let program = &opened.program;
    let opcode = |pc| Some((program.opcode(pc)?.text.to_string(), program.operands(pc).len()));
    executed.into_iter().filter_map(opcode).collect()
}

/// Adds what those kernels of a launch file execute all of whose results agree with the recording bit for bit.
fn add_suite(found: &mut BTreeMap<String, Found>, suite: &str, file: &Path) {
    let opened = opened(file);
    let share = 1.0 / opened.plan.cases.len() as f64;
    for case in &opened.plan.cases {
        let report = verify_case(&opened.program, case, &RunOptions::unwatched(), true).unwrap();
        if report.failures.is_empty() {
            for (opcode, operands) in opcodes_of(&opened, report.executed) {
                let entry = found.entry(opcode).or_default();
                entry.operands.insert(operands);
                *entry.suites.entry(suite.to_string()).or_default() += share;
            }
        }
    }
}

/// The suites that are about an opcode. What most kernels of a suite have, such as loads of parameters, only frames what it is about; of
/// an opcode that is nowhere else it is the suite of loads and stores that counts, or the first.
fn about(suites: &BTreeMap<String, f64>) -> Vec<&str> {
    let few: Vec<&str> = suites.iter().filter(|(_, share)| **share <= 0.5).map(|(suite, _)| suite.as_str()).collect();
    let framed = || suites.get_key_value("memory").or_else(|| suites.first_key_value()).map(|(suite, _)| suite.as_str());
    if few.is_empty() { framed().into_iter().collect() } else { few }
}

fn launch_files(folder: &str) -> Vec<(String, PathBuf)> {
    let files = std::fs::read_dir(root().join("fixtures").join(folder)).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|end| end == "ron")).collect();
    files.sort();
    files.into_iter().map(|file| (file.file_stem().unwrap().to_str().unwrap().to_string(), file)).collect()
}

#[test]
fn the_recorded_opcodes_are_those_of_the_recordings() {
    let mut found = BTreeMap::new();
    for (suite, file) in launch_files("hardware") {
        add_suite(&mut found, &suite, &file);
    }
    // A program has one kernel or a few; what no suite has is known from the programs that agree with their recording.
    let mut programs = BTreeMap::new();
    for (_, file) in launch_files("programs") {
        add_suite(&mut programs, "programs", &file);
    }
    for (opcode, program) in programs {
        found.entry(opcode).or_insert(program);
    }
    let line = |(opcode, found): (&String, &Found)| {
        let operands: Vec<String> = found.operands.iter().map(usize::to_string).collect();
        format!("{opcode} {} {}\n", operands.join(","), about(&found.suites).join(" "))
    };
    assert_is("src/isa/recorded.txt", &found.iter().map(line).collect::<String>());
}

/// The suites that have an opcode of each row.
fn suites_by_row() -> BTreeMap<&'static str, BTreeSet<&'static str>> {
    let mut rows: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for recorded in recorded() {
        for matched in recorded.operands.iter().filter_map(|operands| match_opcode(recorded.opcode, *operands).ok()) {
            rows.entry(matched.form.row.syntax).or_default().extend(&recorded.suites);
        }
    }
    rows
}

fn location(row: &Row, suites: Option<&BTreeSet<&str>>) -> String {
    match (row.decode, suites) {
        (Decode::Unsupported, _) => "parsed and validated; not modelled: a run stops there".to_string(),
        (_, Some(suites)) => {
            let named: Vec<String> = suites.iter().map(|name| format!("`{name}`")).collect();
            format!("executed, bit-exact: {}", named.join(", "))
        }
        (Decode::Nop, None) => "executed: nothing that a deterministic machine could show".to_string(),
        (_, None) => "executed as the manual says; not recorded".to_string(),
    }
}

#[test]
fn the_table_of_instructions_says_what_is_modelled() {
    let rows = suites_by_row();
    let mut text = std::fs::read_to_string(root().join("docs/instructions-head.md")).unwrap();
    for (section, forms) in SECTIONS {
        text += &format!("\n## {section}\n\n| form | since | what it is here |\n| --- | --- | --- |\n");
        for row in *forms {
            let syntax = row.syntax.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|");
            let target = if row.only.is_empty() { format!("sm_{}", row.sm) } else { format!("sm_{}", row.only.join(", sm_")) };
            let since = format!("PTX {}.{}{}", row.ptx.0, row.ptx.1, if target == "sm_0" { String::new() } else { format!(", {target}") });
            text += &format!("| `{syntax}` | {since} | {} |\n", location(row, rows.get(row.syntax)));
        }
    }
    assert_is("docs/instructions.md", &text);
}

fn trusted(file: &str) -> Fidelity {
    let opened = opened(&root().join("fixtures").join(file));
    let report = verify_case(&opened.program, &opened.plan.cases[0], &RunOptions::unwatched(), false).unwrap();
    fidelity(&opened.program, &report.executed)
}

#[test]
fn a_run_of_recorded_opcodes_is_exact() {
    let fidelity = trusted("debug/walk.ron");
    assert!(fidelity.opcodes.iter().any(|row| row.opcode == "mad.lo.s32" || row.opcode == "mul.lo.u32"));
    assert!(fidelity.opcodes.iter().all(|row| row.trust != Trust::Approximate), "{fidelity:?}");
    assert!(fidelity.influences.is_empty());
}

#[test]
fn special_functions_are_exact() {
    let fidelity = trusted("programs/fft_shared.ron");
    for opcode in ["sin.approx.ftz.f32", "cos.approx.ftz.f32", "lg2.approx.ftz.f32"] {
        let row = fidelity.opcodes.iter().find(|row| row.opcode == opcode).unwrap();
        assert_eq!(row.trust, Trust::Recorded(&["approx"]), "{opcode}");
    }
    assert!(fidelity.opcodes.iter().all(|row| row.trust != Trust::Approximate), "{fidelity:?}");
}

#[test]
fn approximate_values_are_followed_to_what_they_decide() {
    let fidelity = trusted("small/approximate.ron");
    let approximate: Vec<&str> =
        fidelity.opcodes.iter().filter(|row| row.trust == Trust::Approximate).map(|row| row.opcode.as_str()).collect();
    assert_eq!(approximate, ["tex.3d.v4.f32.f32"]);
    let place = |line: u32| format!("approximate.ptx:{line}");
    // Red goes through shared memory into an index; green influence a branch; no barrier depends on either.
    assert_eq!(fidelity.influences, [(Influence::Address, place(30)), (Influence::Branch, place(33))]);
}
