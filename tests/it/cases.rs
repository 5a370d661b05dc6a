//! The kernels of `fixtures/cases`, each of which decides a rule: the verdict that `cases.txt` gives each is the one that it gets, in order
//! and in other orders; and the syntax of `documents.txt`, accepted or refused as ptxas does.
//!
//! A case of [`KNOWN`] is wrong still: it must leave that list when it turns right.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot open a fixture fails")]

use std::path::{Path, PathBuf};

use ptxdbg::check::{Checkers, Checks, Finding};
use ptxdbg::debug::open::open;
use ptxdbg::debug::{CompletionPolicyKind, LaunchChoice, Opened, Overrides, Request, RunOptions, Schedule, start_case};
use ptxdbg::machine::{Machine, Step};

/// Ticks after which a kernel that does not end is stopped.
const STEP_LIMIT: u64 = 1 << 22;

/// The rules that are not kept yet.
const KNOWN: &[&str] = &[];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/cases")
}

/// The rows of a table, a cell between bars.
fn rows(table: &str) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(folder().join(table)).unwrap();
    let rows = text.lines().filter(|line| !line.starts_with('#'));
    rows.map(|line| line.split('|').map(|cell| cell.trim().to_string()).collect()).collect()
}

/// The orders of warps and copies that every kernel is run in.
fn orders() -> Vec<RunOptions> {
    let random = (1..=4).map(|seed| RunOptions {
        schedule: Schedule::Random,
        seed,
        copies: CompletionPolicyKind::Random(seed),
        ..RunOptions::unwatched()
    });
    std::iter::once(RunOptions::unwatched()).chain(random).collect()
}

fn opened(module: &str, kernel: &str, [grid, block]: [&str; 2], arguments: &str) -> Opened {
    let path = folder().join(module);
    let extent = |text: &str| Some([text.parse().unwrap(), 1, 1]);
    let request = match arguments {
        ".ron" => Request { modules: Vec::new(), launch: LaunchChoice::File(path.with_extension("ron")), overrides: Overrides::default() },
        _ => Request {
            modules: vec![path],
            launch: LaunchChoice::MadeUp,
            overrides: Overrides {
                kernel: Some(kernel.to_string()),
                grid: extent(grid),
                block: extent(block),
                params: arguments.split_whitespace().map(str::to_string).collect(),
                ..Overrides::default()
            },
        },
    };
    open(&request).unwrap()
}

/// What is found in a run, how it ends, and the machine then.
fn run(opened: &Opened, options: &RunOptions) -> (Vec<Finding>, Step, Machine) {
    let mut machine = start_case(&opened.program, &opened.plan.cases[0], options).unwrap().unwrap();
    let mut checkers = Checkers::new(&opened.program, Checks::ALL);
    checkers.begin(0, &machine.launch_start());
    let mut step = Step::Budget;
    while machine.tick().0 < STEP_LIMIT {
        let left = STEP_LIMIT - machine.tick().0;
        step = machine.run(left, &mut checkers);
        if step != Step::Paused {
            break;
        }
    }
    checkers.end(&machine.launch_end(), None);
    (checkers.findings().list().to_vec(), step, machine)
}

/// The words of the last buffer.
fn words(machine: &Machine) -> Vec<u32> {
    let allocation = machine.device().global().allocations().last().unwrap();
    let mut bytes = vec![0; allocation.bytes as usize];
    allocation.pages.read(0, &mut bytes);
    bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

/// Why findings are not what a verdict says, if they are not.
fn wrong_findings(found: &[Finding], verdict: &str) -> Option<String> {
    let described: Vec<(&str, &str)> = found.iter().map(|finding| (finding.id.word(), finding.severity.word())).collect();
    let mut rest = described.clone();
    for wanted in verdict.split(',').map(str::trim).filter(|wanted| *wanted != "clean") {
        let cells: Vec<&str> = wanted.split_whitespace().collect();
        let [id, severity, how @ ..] = &cells[..] else { panic!("'{wanted}' is no finding") };
        let before = rest.len();
        rest.retain(|(word, of)| !((*id == "*" || word == id) && of == severity));
        let count = before - rest.len();
        if count == 0 && how != ["maybe"] || count > 1 && how == ["once"] {
            return Some(format!("{described:?}, expected {wanted}"));
        }
    }
    (!rest.is_empty()).then(|| format!("{described:?}, expected {verdict}"))
}

/// Why the last buffer does not hold what it must, if it does not.
fn wrong_values(machine: &Machine, options: &RunOptions, wanted: &str, row: &[String]) -> Option<String> {
    let own = words(machine);
    let expected = match wanted.split_whitespace().collect::<Vec<_>>()[..] {
        [count, "of", word] => {
            vec![u32::from_str_radix(word.trim_start_matches("0x"), 16).unwrap(); count.parse().unwrap()]
        }
        ["as", other] => {
            let opened = opened(&format!("{other}.ptx"), &row[1], [&row[2], &row[3]], &row[4]);
            words(&run(&opened, options).2)
        }
        ["false", "at", "random"] => {
            let is_random = options.schedule == Schedule::Random;
            return (is_random != (own[0] > 0)).then(|| format!("false {} times", own[0]));
        }
        _ => panic!("'{wanted}' says nothing of values"),
    };
    (own[..expected.len()] != expected).then(|| format!("{:x?}", &own[..expected.len()]))
}

/// Everything that is wrong with a row, in all orders.
fn problems_of(row: &[String]) -> Vec<String> {
    let [module, kernel, grid, block, arguments, verdict] = row else { panic!("{row:?}") };
    let opened = opened(&format!("{module}.ptx"), kernel, [grid, block], arguments);
    let (found, values) = verdict.split_once(" : ").map_or((verdict.as_str(), None), |(found, values)| (found, Some(values)));
    let mut problems = Vec::new();
    for options in orders() {
        let (findings, step, machine) = run(&opened, &options);
        let end = (step != Step::Done).then(|| format!("{step:?}"));
        let values = values.and_then(|values| wrong_values(&machine, &options, values, row));
        let wrong = [end, wrong_findings(&findings, found), values];
        problems
            .extend(wrong.into_iter().flatten().map(|why| format!("{module} {kernel}, {:?} {}: {why}", options.schedule, options.seed)));
    }
    problems
}

#[test]
fn every_case_gets_its_verdict() {
    let rows = rows("cases.txt");
    assert!(rows.len() >= 22, "fixtures/cases is incomplete");
    let mut problems = Vec::new();
    for name in rows.iter().map(|row| row[0].clone()).collect::<std::collections::BTreeSet<_>>() {
        let of_case: Vec<String> = rows.iter().filter(|row| row[0] == name).flat_map(|row| problems_of(row)).collect();
        match (KNOWN.contains(&name.as_str()), of_case.is_empty()) {
            (true, true) => problems.push(format!("{name} is right now: take it from the list")),
            (true, false) | (false, true) => {}
            (false, false) => problems.extend(of_case),
        }
    }
    assert!(problems.is_empty(), "{} problem(s):\n{}", problems.len(), problems.join("\n"));
}

#[test]
fn the_fix_is_in_words_of_the_source_and_what_the_mistake_needs() {
    let rows = rows("advice.txt");
    assert!(rows.len() >= 15, "fixtures/cases/advice.txt is incomplete");
    let mut problems = Vec::new();
    for row in rows {
        let [module, kernel, grid, block, arguments, wanted, unwanted] = &row[..] else { panic!("{row:?}") };
        let opened = opened(&format!("{module}.ptx"), kernel, [grid, block], arguments);
        let (findings, ..) = run(&opened, &RunOptions::unwatched());
        let fixes: Vec<String> = findings.iter().map(|finding| finding.fix.in_program(&opened.program)).collect();
        if !fixes.iter().any(|fix| fix.contains(wanted.as_str())) || fixes.iter().any(|fix| fix.contains(unwanted.as_str())) {
            problems.push(format!("{module} {kernel}: {fixes:?}"));
        }
    }
    assert!(problems.is_empty(), "{} problem(s):\n{}", problems.len(), problems.join("\n"));
}

#[test]
fn syntax_is_accepted_as_ptxas_does() {
    let rows = rows("documents.txt");
    assert_eq!(rows.len(), 39);
    let mut problems = Vec::new();
    for row in rows {
        let [name, verdict] = &row[..] else { panic!("{row:?}") };
        let text = std::fs::read_to_string(folder().join("documents").join(format!("{name}.ptx"))).unwrap();
        let (program, diagnostics) = ptxdbg::sema::load(&mut ptxdbg::base::Sources::default(), format!("{name}.ptx"), text);
        let is_right = (verdict == "accepted") == program.is_some();
        if !is_right {
            problems.push(format!("{name} must be {verdict}: {diagnostics:?}"));
        }
    }
    assert!(problems.is_empty(), "{} problem(s):\n{}", problems.len(), problems.join("\n"));
}

#[test]
fn a_kernel_of_triton_gets_advice_in_the_words_of_triton() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/corpus/triton_layer_norm_2_sm80.ptx");
    let text = std::fs::read_to_string(corpus).unwrap();
    let without: String = text.lines().filter(|line| !line.contains("bar.sync")).map(|line| format!("{line}\n")).collect();
    assert!(without.len() < text.len(), "the kernel has barriers");
    let folder = std::env::temp_dir().join(format!("ptxdbg-words-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("layer_norm.ptx");
    std::fs::write(&path, without).unwrap();
    let request = Request { modules: vec![path], launch: LaunchChoice::MadeUp, overrides: Overrides::default() };
    let opened = open(&request).unwrap();
    let (found, ..) = run(&opened, &RunOptions::unwatched());
    std::fs::remove_dir_all(folder).unwrap();
    let races = found.iter().filter(|finding| finding.id.word().starts_with("race.shared"));
    let fixes: Vec<String> = races.map(|finding| finding.fix.in_program(&opened.program)).collect();
    assert!(!fixes.is_empty() && fixes.iter().all(|fix| fix.contains("tl.debug_barrier()")), "{fixes:?}");
}
