//! Variables of code that clang has optimized (`-O2 -g`): at each instruction of a thread, against what `printf` of the same variable shows
//! where it is compiled in (`fixtures/optimized`).

#![expect(clippy::unwrap_used, reason = "a test that cannot read its fixture fails")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use ptxdbg::api::{Outcome, Planned, RunOptions, Session, ValueText};
use ptxdbg::debug::focus::Focus;
use ptxdbg::debug::value::Format;
use ptxdbg::debug::view::{self, LocalRow};

/// The kernels of the suite.
const KERNELS: usize = 10;
/// The lane that prints.
const LANE: u32 = 3;
/// Most instructions that the lane executes.
const STEPS: usize = 1000;

/// The bits that each variable has in turn, without repetitions.
type Sequences = BTreeMap<String, Vec<u64>>;

fn session(name: &str, case: usize) -> Session {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/optimized").join(name);
    Planned::open(path).unwrap().0.session(case, &RunOptions::unwatched()).unwrap()
}

fn push(sequences: &mut Sequences, name: &str, bits: u64) {
    let sequence = sequences.entry(name.to_string()).or_default();
    if sequence.last() != Some(&bits) {
        sequence.push(bits);
    }
}

/// What the kernel prints: `xi 40200000`.
fn printed(case: usize) -> Sequences {
    let mut session = session("optimized_shown.ron", case);
    session.execute("continue").unwrap();
    let output = session.engine().machine().device().printed().bytes().to_vec();
    let mut sequences = Sequences::new();
    for line in String::from_utf8(output).unwrap().lines() {
        let (name, bits) = line.split_once(' ').unwrap();
        push(&mut sequences, name, u64::from_str_radix(bits, 16).unwrap());
    }
    sequences
}

/// The numbers in a value: of a structure by member, `p.x`.
fn numbers(name: &str, text: &str) -> Vec<(String, u64)> {
    let bits = |text: &str| u64::from_str_radix(text.split(' ').next()?.strip_prefix("0x")?, 16).ok();
    match text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
        None => bits(text).map(|bits| (name.to_string(), bits)).into_iter().collect(),
        Some(members) => {
            let member = |part: &str| part.split_once(" = ").and_then(|(member, text)| Some((format!("{name}.{member}"), bits(text)?)));
            members.split(", ").filter_map(member).collect()
        }
    }
}

/// What is said of the variables at all instructions that the lane executes.
#[derive(Default)]
struct Said {
    sequences: Sequences,
    /// Instructions and variables that have been assigned before; true if the variable had a value each time.
    pairs: BTreeMap<(u32, String), bool>,
    last_known: usize,
}

fn rows(session: &Session, frame: u32) -> Vec<LocalRow> {
    let engine = session.engine();
    let context = engine.eval_context().refocused(Focus { lane: LANE, frame, ..engine.focus });
    let of = |rows: Result<Vec<LocalRow>, _>| rows.unwrap_or_default();
    let format = Some(Format::Hex);
    of(view::locals(&context, format)).into_iter().chain(of(view::arguments(&context, format))).collect()
}

fn said(case: usize) -> Said {
    let mut session = session("optimized.ron", case);
    for line in ["set divergent-step wait", "set step-unit lane", &format!("lane {LANE}")] {
        session.execute(line).unwrap();
    }
    let (mut said, mut assigned) = (Said::default(), BTreeSet::new());
    for _ in 0..STEPS {
        let Ok(frames) = session.engine().eval_context().frames().map(|frames| frames.iter().map(|frame| frame.pc.0).collect::<Vec<_>>())
        else {
            break;
        };
        for (frame, pc) in (0..).zip(&frames) {
            for row in rows(&session, frame) {
                let text = match (&row.value, assigned.contains(&row.name)) {
                    (Ok(ValueText::Scalar(text)), _) => Some(text.clone()),
                    (_, false) => continue,
                    (_, true) => last_known(&mut session, frame, &row.name),
                };
                said.last_known += usize::from(row.value.is_err() && text.is_some());
                *said.pairs.entry((*pc, row.name.clone())).or_insert(true) &= text.is_some();
                let Some(text) = text else { continue };
                numbers(&row.name, &text).into_iter().for_each(|(name, bits)| push(&mut said.sequences, &name, bits));
                assigned.insert(row.name);
            }
        }
        if session.execute("stepi").is_err() {
            break;
        }
    }
    said
}

/// The value that `print` has of a variable that has none at the instruction.
fn last_known(session: &mut Session, frame: u32, name: &str) -> Option<String> {
    session.execute(&format!("frame {frame}")).unwrap();
    let answer = session.execute(&format!("print/x {name}"));
    session.execute("frame 0").unwrap();
    match answer {
        Ok(Outcome::Value { value: ValueText::Scalar(text), .. }) => Some(text),
        _ => None,
    }
}

/// True if `part` has only values of `whole`, in its order.
fn is_in_order(part: &[u64], whole: &[u64]) -> bool {
    let mut rest = whole.iter();
    part.iter().all(|bits| rest.any(|other| other == bits))
}

#[test]
fn variables_have_the_values_that_printf_shows() {
    let (mut valued, mut pairs, mut last_known, mut compared, mut wrong, mut lines) = (0, 0, 0, 0, Vec::new(), Vec::new());
    for case in 0..KERNELS {
        let (said, printed) = (said(case), printed(case));
        for (name, sequence) in &said.sequences {
            let Some(whole) = printed.get(name) else { continue };
            compared += sequence.len();
            if !is_in_order(sequence, whole) {
                wrong.push(format!("kernel {case}: {name} is {sequence:x?}, printf shows {whole:x?}"));
            }
        }
        let with_value = said.pairs.values().filter(|has| **has).count();
        lines.push(format!("kernel {case}: {with_value} of {} pairs, {} last known", said.pairs.len(), said.last_known));
        (valued, pairs, last_known) = (valued + with_value, pairs + said.pairs.len(), last_known + said.last_known);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(valued * 100 >= pairs * 95, "{valued} of {pairs} variables at instructions have a value\n{}", lines.join("\n"));
    assert!(compared > 130 && pairs > 500 && last_known > 0, "{compared} values, {pairs} pairs, {last_known} last known");
}
