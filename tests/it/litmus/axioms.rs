//! What the axioms say of a program, by the judge of litmus tests.

use std::collections::BTreeSet;
use std::fmt::Write;

use ptxdbg::litmus::{Judgement, Limits, Test, Variable, judge, parse};

use super::program::{At, Op, Program};

/// What the axioms say of a program.
#[derive(Debug, Default)]
pub struct Allowed {
    /// The pairs of operations that race in some execution, the lesser first.
    pub races: BTreeSet<(At, At)>,
    /// Those that race in a sequentially consistent one.
    pub consistent_races: BTreeSet<(At, At)>,
    /// What each read returned, in the order of the operations; nothing for one that was not executed.
    pub outcomes: BTreeSet<Vec<Option<u32>>>,
    /// Those that need no load buffering.
    pub reachable: BTreeSet<Vec<Option<u32>>>,
}

/// The value of a register that nothing was read into.
const NOTHING: u32 = u32::MAX;

/// Judges a program.
pub fn enumerate(program: &Program) -> Allowed {
    let test = test(program);
    let Judgement { variables, outcomes, races, sequential_races, .. } = judge(&test, Limits::default()).unwrap();
    let reads: Vec<At> = program.all().filter(|at| program.op(*at).reads()).collect();
    let values = |values: &Vec<i64>| {
        let value = |at: &At| value_of(&test, &variables, values, *at).map(|value| value as u32).filter(|value| *value != NOTHING);
        reads.iter().map(value).collect()
    };
    let reachable = outcomes.iter().filter(|outcome| !outcome.needs_load_buffering).map(|outcome| values(&outcome.values)).collect();
    let outcomes = outcomes.iter().map(|outcome| values(&outcome.values)).collect();
    Allowed { races, consistent_races: sequential_races, outcomes, reachable }
}

/// The program as a litmus test.
pub fn test(program: &Program) -> Test {
    let text = text(program);
    parse(&text).unwrap_or_else(|error| panic!("{text}\n{error:?}"))
}

/// The value that the read at a place returned; none of a reduction.
fn value_of(test: &Test, variables: &[Variable], values: &[i64], (thread, index): At) -> Option<i64> {
    let name = format!("r{index}");
    let register = test.threads[thread].registers.iter().position(|register| *register == name)?;
    let at = variables.iter().position(|variable| *variable == Variable::Register(thread, register))?;
    Some(values[at])
}

/// Its text: the register of a read has the number of its operation.
fn text(program: &Program) -> String {
    let mut text = format!("PTX {}\n{{\n", program.name);
    for (thread, index) in program.all().filter(|at| !matches!(program.op(*at), Op::Reduce(..))).filter(|at| program.op(*at).reads()) {
        let _ = writeln!(text, "P{thread}:r{index}={NOTHING};");
    }
    text.push_str("}\n");
    let heads = program.threads.iter().enumerate().map(|(number, thread)| format!("P{number}@cta {},gpu 0", thread.block));
    let columns: Vec<Vec<String>> = program.threads.iter().map(|thread| column(&thread.ops)).collect();
    let _ = writeln!(text, "{} ;", heads.collect::<Vec<_>>().join(" | "));
    for row in 0..columns.iter().map(Vec::len).max().unwrap_or(0) {
        let cells: Vec<&str> = columns.iter().map(|column| column.get(row).map_or("", String::as_str)).collect();
        let _ = writeln!(text, "{} ;", cells.join(" | "));
    }
    text + "forall (0 == 0)\n"
}

fn column(ops: &[Op]) -> Vec<String> {
    let mut last = None;
    let mut cells = Vec::new();
    for (index, op) in ops.iter().enumerate() {
        cells.push(match *op {
            Op::Load(at, how) => format!("ld{} r{index}, x{at}", how.words()),
            Op::Store(at, how, value) => format!("st{} x{at}, {value}", how.words()),
            Op::Add(at, how, value) => format!("atom{}.add r{index}, x{at}, {value}", how.words()),
            Op::Reduce(at, how, value) => format!("red{}.add x{at}, {value}", how.words()),
            Op::Fence { sc, scope } => format!("fence.{}{}", if sc { "sc" } else { "acq_rel" }, scope.word()),
            Op::Unless(wanted) => match last {
                Some(register) => format!("bne r{register}, {wanted}, LC00"),
                None => format!("bne 0, {wanted}, LC00"),
            },
            Op::Barrier => "bar.cta.sync 0".to_string(),
        });
        if matches!(op, Op::Load(..) | Op::Add(..)) {
            last = Some(index);
        }
    }
    cells.push("LC00:".to_string());
    cells
}
