//! Variables of Triton's kernels at each instruction, beside what twins of the kernels store: `tests/triton/record.py`.
//!
//! A variable counts from the instruction on that completes the first statement that gives it a value, by the line table alone. What the
//! debugger shows must then be what the last such statement gave, or the next execution of one gives: never older, never anything else.

#![expect(clippy::unwrap_used, reason = "a test that cannot read its fixture fails")]
#![expect(clippy::print_stdout, reason = "the figures are what one measures for")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use ptxdbg::debug::expression::Expression;
use ptxdbg::debug::open::open;
use ptxdbg::debug::session::{NeverInterrupt, Session};
use ptxdbg::debug::stop::{Direction, Goal};
use ptxdbg::debug::value::{Tensor, Value};
use ptxdbg::debug::{LaunchChoice, Overrides, Request, RunOptions};

use crate::common::fixtures;

/// The elements of a variable after one execution of a statement.
struct Truth {
    extents: Vec<u64>,
    digests: Vec<u8>,
}

/// The executions of each statement, by its line.
type Statements = BTreeMap<u32, Vec<Truth>>;

/// What a stop at an instruction shows of one variable.
#[derive(Default)]
struct Count {
    pairs: u64,
    known: u64,
    wrong: Vec<String>,
}

fn product(bits: u128) -> u64 {
    (bits as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

fn truths(folder: &Path) -> BTreeMap<String, Statements> {
    let (text, bytes) = (fs::read_to_string(folder.join("truth.txt")).unwrap(), fs::read(folder.join("truth.bin")).unwrap());
    let mut all: BTreeMap<String, Statements> = BTreeMap::new();
    for row in text.lines() {
        let [name, line, _, extents, _, offset] = row.split(' ').collect::<Vec<_>>().try_into().unwrap();
        let extents: Vec<u64> = extents.split('x').filter_map(|extent| extent.parse().ok()).collect();
        let (count, offset): (usize, usize) = (extents.iter().product::<u64>() as usize, offset.parse().unwrap());
        let digests = bytes[offset..offset + if count >= 32 { count } else { 8 * count }].to_vec();
        all.entry(name.to_string()).or_default().entry(line.parse().unwrap()).or_default().push(Truth { extents, digests });
    }
    all
}

impl Truth {
    fn is(&self, value: &Value) -> bool {
        match value {
            Value::Tensor(tensor) => self.extents.len() == tensor.shape.len() && self.has(tensor),
            Value::Scalar(scalar) => self.extents.is_empty() && product(scalar.bits).to_le_bytes() == self.digests[..],
            _ => false,
        }
    }

    /// True if all elements of a part are those.
    fn has(&self, tensor: &Tensor) -> bool {
        (0_u64..).zip(&tensor.elements).all(|(number, element)| {
            let (mut rest, mut place, mut stride) = (number, 0, 1);
            for (indices, extent) in tensor.indices.iter().zip(&self.extents).rev() {
                place += indices[(rest % indices.len() as u64) as usize] * stride;
                stride *= extent;
                rest /= indices.len() as u64;
            }
            element.bits().is_some_and(|bits| self.digests.get(place as usize) == Some(&((product(bits) >> 56) as u8)))
        })
    }
}

/// The line of the kernel that each line of the module comes from, by the last place of its `.loc`.
fn lines_of_source(module: &str) -> Vec<u32> {
    let mut now = 0;
    let line = |text: &str| {
        if let Some((_, comment)) = text.split_once(".loc").and_then(|(_, rest)| rest.split_once("//")) {
            let last = comment.rsplit("@[").next().unwrap_or_default();
            now = last.trim_matches([' ', ']']).rsplit(':').nth(1).and_then(|line| line.parse().ok()).unwrap_or(0);
        }
        now
    };
    module.lines().map(line).collect()
}

/// The instructions, by their lines, that complete each line of the source: its last ones; of a line without any, the first of the next.
fn completions(session: &Session, of_source: &[u32], lines: impl Iterator<Item = u32>) -> BTreeMap<u32, Vec<u32>> {
    let kernel = session.eval_context().machine.config().kernel;
    let code = session.program().functions[kernel.index()].code.clone();
    let rows: Vec<(u32, u32)> = code
        .map(|pc| session.program().line(ptxdbg::program::Pc(pc)))
        .map(|line| (line, of_source[line as usize - 1]))
        .filter(|row| row.1 != 0)
        .collect();
    let mut all: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for line in lines.collect::<BTreeSet<u32>>() {
        let own = rows.iter().filter(|row| row.1 == line).map(|row| row.0).max();
        let next = || rows.iter().filter(|row| row.1 > line).min_by_key(|row| (row.1, row.0)).map(|row| row.0);
        all.entry(own.or_else(next).unwrap_or(0)).or_default().push(line);
    }
    all
}

/// Steps warp 0 to its end and compares at every `every`th instruction.
fn measure(folder: &Path, every: u64) -> BTreeMap<String, Count> {
    let base = folder.file_name().unwrap().to_str().unwrap();
    let kernel = base.rsplit_once("_sm_").unwrap().0;
    let file = LaunchChoice::File(folder.join(format!("{kernel}.ron")));
    let opened = open(&Request { modules: Vec::new(), launch: file, overrides: Overrides::default() }).unwrap();
    let mut session = Session::new(opened, 0, RunOptions::default()).unwrap();
    let truths = truths(folder);
    let of_source = lines_of_source(&fs::read_to_string(folder.join(format!("{kernel}.ptx"))).unwrap());
    let completed = completions(&session, &of_source, truths.values().flat_map(|statements| statements.keys().copied()));
    let (mut done, mut last) = (BTreeMap::<(String, u32), usize>::new(), BTreeMap::<String, (u32, usize)>::new());
    let mut counts: BTreeMap<String, Count> = BTreeMap::new();
    let step = Goal::Instruction { count: 1, over_calls: true };
    let (mut number, mut before) = (0, 0);
    while session.ended().is_none() && session.resume(&step, Direction::Forward, &mut NeverInterrupt).is_ok() {
        // Where warp 0 has ended another one is focused.
        let Ok(pc) = session.eval_context().frame().map(|frame| frame.pc) else { break };
        if session.focus.warp != 0 {
            break;
        }
        let line = session.program().line(pc);
        // What waits stands at the same instruction again; what is executed leaves it.
        for source in completed.get(&before).into_iter().flatten().filter(|_| before != line) {
            for name in truths.iter().filter(|(_, statements)| statements.contains_key(source)).map(|(name, _)| name) {
                let executions = done.entry((name.clone(), *source)).or_default();
                // Instructions of a statement may be in a loop that the statement is not in.
                let all = truths[name][source].len();
                last.insert(name.clone(), (*source, (*executions).min(all - 1)));
                *executions = (*executions + 1).min(all);
            }
        }
        before = line;
        number += 1;
        if number % every == 0 {
            for (name, statements) in &truths {
                let Some(expected) = last.get(name) else { continue };
                let next = statements.keys().map(|line| (*line, done.get(&(name.clone(), *line)).copied().unwrap_or(0)));
                let accepted: Vec<(u32, usize)> = next.chain([*expected]).collect();
                let count = counts.entry(name.clone()).or_default();
                count.pairs += 1;
                let text = if statements.values().all(|list| list[0].extents.is_empty()) { name.clone() } else { format!("{name}@*") };
                let Ok(value) = Expression::parse(&text).unwrap().evaluate(&session.eval_context()) else { continue };
                if matches!(&value, Value::Tensor(tensor) if tensor.missing() > 0) {
                    continue;
                }
                count.known += 1;
                let is_it = |at: &(u32, usize)| statements[&at.0].get(at.1).is_some_and(|truth| truth.is(&value));
                if !accepted.iter().any(is_it) {
                    count.wrong.push(format!("line {line} of the PTX, after line {} of the source, execution {}", expected.0, expected.1));
                }
            }
        }
    }
    counts
}

/// Steps warp 0 of a kernel of `triton/tensors` to its end, and counts its variables that have a value at every `every`th instruction after
/// the first statement that gives them one.
fn known_of(kernel: &str, every: u64) -> BTreeMap<String, Count> {
    let folder = fixtures().join("triton/tensors");
    let file = LaunchChoice::File(folder.join(format!("{kernel}.ron")));
    let opened = open(&Request { modules: Vec::new(), launch: file, overrides: Overrides::default() }).unwrap();
    let mut session = Session::new(opened, 0, RunOptions::default()).unwrap();
    let of_source = lines_of_source(&fs::read_to_string(folder.join(format!("{kernel}.ptx"))).unwrap());
    let variables: Vec<(String, bool, u32)> = {
        let context = session.eval_context();
        let tensors = context.tensors().unwrap();
        let line = |name: &str| tensors.lines_of(name).iter().map(|(line, _)| *line).min();
        tensors.names().filter_map(|name| Some((name.to_string(), tensors.is_tensor(name), line(name)?))).collect()
    };
    let completed = completions(&session, &of_source, variables.iter().map(|variable| variable.2));
    let (mut counts, mut begun) = (BTreeMap::<String, Count>::new(), BTreeSet::new());
    let step = Goal::Instruction { count: 1, over_calls: true };
    let (mut number, mut before) = (0, 0);
    while session.ended().is_none() && session.focus.warp == 0 && session.resume(&step, Direction::Forward, &mut NeverInterrupt).is_ok() {
        let Ok(pc) = session.eval_context().frame().map(|frame| frame.pc) else { break };
        let line = session.program().line(pc);
        begun.extend(completed.get(&before).into_iter().flatten().copied().filter(|_| before != line));
        before = line;
        number += 1;
        for (name, is_tensor, first) in variables.iter().filter(|(.., first)| number % every == 0 && begun.contains(first)) {
            let count = counts.entry(name.clone()).or_default();
            count.pairs += 1;
            let text = if *is_tensor { format!("{name}@*") } else { name.clone() };
            match Expression::parse(&text).unwrap().evaluate(&session.eval_context()) {
                Ok(Value::Tensor(tensor)) => count.known += u64::from(tensor.missing() == 0),
                Ok(_) => count.known += 1,
                Err(_) => count.wrong.push(format!("line {line} of the PTX, after line {first} of the source")),
            }
        }
    }
    counts
}

#[test]
fn variables_of_triton_have_values_from_their_first_statement_on() {
    let (mut pairs, mut known) = (0, 0);
    for kernel in ["add_kernel", "attn_kernel", "fused", "product_lines", "product_sm80", "product_sm90"] {
        for (name, count) in known_of(kernel, 5) {
            println!("{kernel} {name}: {} of {}", count.known, count.pairs);
            pairs += count.pairs;
            known += count.known;
        }
    }
    println!("{known} of {pairs} pairs, {:.1} %", 100.0 * known as f64 / pairs as f64);
    assert!(known * 100 >= pairs * 95, "{known} of {pairs} pairs have a value");
}

/// The folders of recorded kernels: those that are named by the environment, or those of the fixtures.
fn folders() -> (Vec<PathBuf>, u64) {
    let (root, every) = match std::env::var_os("PTXDBG_TENSORS") {
        Some(folder) => (PathBuf::from(folder), 1),
        None => (fixtures().join("triton/truth"), 7),
    };
    let mut all: Vec<PathBuf> = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    all.retain(|path| path.join("truth.txt").exists());
    all.sort();
    (all, every)
}

#[test]
fn variables_of_triton_are_what_twins_store() {
    let (folders, every) = folders();
    assert!(folders.len() >= 4, "{folders:?}");
    let (mut pairs, mut known) = (0, 0);
    for folder in folders {
        let counts = measure(&folder, every);
        let of = |count: fn(&Count) -> u64| counts.values().map(count).sum::<u64>();
        let (own, own_known) = (of(|count| count.pairs), of(|count| count.known));
        println!("{}: {own_known} of {own} pairs, {:.1} %", folder.display(), 100.0 * own_known as f64 / own.max(1) as f64);
        for (name, count) in &counts {
            println!("  {name}: {} of {}{}", count.known, count.pairs, if count.wrong.is_empty() { "" } else { ", WRONG" });
            assert!(count.wrong.is_empty(), "{}: {name} is wrong in {}", folder.display(), count.wrong.join("; "));
        }
        pairs += own;
        known += own_known;
    }
    println!("{known} of {pairs} pairs, {:.1} %", 100.0 * known as f64 / pairs as f64);
    assert!(known * 100 >= pairs * 95, "{known} of {pairs} pairs have a value");
}
