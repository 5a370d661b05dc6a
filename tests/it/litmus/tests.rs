//! The comparison.

use std::collections::BTreeSet;

use ptxdbg::debug::{MemoryModel, Schedule};

use super::axioms::enumerate;
use super::kernel::Kernel;
use super::known::{self, Known};
use super::program::{At, Program};
use super::random::Draw;
use crate::common::random_numbers;

/// Orders in which each program is run, and those after which a race that is not found is missed.
const ORDERS: u64 = 20;
const ORDERS_MAX: u64 = 400;

/// How the checker judges a program, beside the axioms.
#[derive(Default)]
struct Verdict {
    /// Pairs that race in a sequentially consistent execution.
    consistent: BTreeSet<(At, At)>,
    /// Pairs that race in any.
    races: BTreeSet<(At, At)>,
    /// Pairs that are found.
    found: BTreeSet<(At, At)>,
    /// Values that no execution has.
    forbidden: Vec<Vec<Option<u32>>>,
}

fn judge(program: &Program) -> Verdict {
    let allowed = enumerate(program);
    let kernel = Kernel::new(program);
    let mut found = BTreeSet::new();
    let mut forbidden = Vec::new();
    for seed in 0..ORDERS_MAX {
        if seed >= ORDERS && (!found.is_empty() || allowed.consistent_races.is_empty()) {
            break;
        }
        let schedule = if seed == 0 { Schedule::InOrder } else { Schedule::Random };
        let shown = kernel.run(schedule, seed, MemoryModel::default());
        found.extend(shown.races);
        if !allowed.outcomes.iter().any(|outcome| is_shown(program, outcome, &shown.outcome)) {
            forbidden.push(shown.outcome);
        }
    }
    Verdict { consistent: allowed.consistent_races, races: allowed.races, found, forbidden }
}

/// Whether a run shows an outcome: what reductions read is not shown.
fn is_shown(program: &Program, outcome: &[Option<u32>], shown: &[Option<u32>]) -> bool {
    let reads = program.all().filter(|at| program.op(*at).reads());
    reads
        .zip(outcome.iter().zip(shown))
        .all(|(at, (outcome, shown))| matches!(program.op(at), super::program::Op::Reduce(..)) || outcome == shown)
}

/// Why the verdict on a program is wrong, if it is. What is found beside a true race needs no order of its own: of pairs that race in no
/// execution, those of a program without a race are false alarms.
fn problem(program: &Program, verdict: &Verdict) -> Option<String> {
    let Verdict { consistent, races, found, forbidden } = verdict;
    let is_missed = found.is_empty() && !consistent.is_empty();
    let is_false = !found.is_empty() && found.is_disjoint(races);
    let is_wrong = is_missed || is_false || !forbidden.is_empty();
    is_wrong.then(|| {
        let Program { name, threads } = program;
        format!("{name}: found {found:?}, races {races:?}, consistent {consistent:?}, forbidden {forbidden:?}\n{threads:?}")
    })
}

/// Programs that are tried; of more for a longer test.
fn count() -> usize {
    std::env::var("PTXDBG_LITMUS").ok().and_then(|count| count.parse().ok()).unwrap_or(160)
}

/// The programs whose races no sequentially consistent execution has.
fn weak_only() -> Vec<String> {
    let text = std::fs::read_to_string(crate::common::fixtures().join("litmus/weak.txt")).unwrap();
    text.lines().filter(|line| !line.starts_with('#')).map(str::to_string).collect()
}

#[test]
fn random_programs_are_judged_as_the_axioms_judge_them() {
    let mut draw = Draw::new(random_numbers());
    let programs: Vec<Program> = (0..count()).map(|number| draw.program(number)).collect();
    let verdicts: Vec<Verdict> = programs.iter().map(judge).collect();
    let pairs = || programs.iter().zip(&verdicts);
    let problems: Vec<String> = pairs().filter_map(|(program, verdict)| problem(program, verdict)).collect();
    let count_of = |test: fn(&Verdict) -> bool| verdicts.iter().filter(|verdict| test(verdict)).count();
    let secondary = count_of(|verdict| !verdict.found.is_subset(&verdict.races));
    let uncovered = count_of(|verdict| !verdict.consistent.is_subset(&verdict.found));
    let summary = format!(
        "{} programs, {} with a race, {} found, {} wrong; pairs beside a true race: {secondary} with one that does not race, {uncovered} with \
         one not found",
        verdicts.len(),
        count_of(|verdict| !verdict.races.is_empty()),
        count_of(|verdict| !verdict.found.is_empty()),
        problems.len(),
    );
    assert!(problems.is_empty(), "{summary}\n{}", problems.join("\n"));
    let weak = pairs().filter(|(_, verdict)| verdict.consistent.is_empty() && !verdict.races.is_empty() && verdict.found.is_empty());
    let weak: Vec<String> = weak.map(|(program, _)| program.name.clone()).collect();
    let mut known = weak_only();
    known.retain(|name| programs.iter().any(|program| program.name == *name));
    assert_eq!(weak, known, "the programs of fixtures/litmus/weak.txt; {summary}");
}

#[test]
fn known_programs_have_the_outcomes_that_are_known_and_the_races_of_the_axioms() {
    let all = known::all();
    assert!(all.len() >= 70, "fixtures/litmus/known.txt is incomplete");
    let mut problems = Vec::new();
    for Known { program, values, is_allowed } in &all {
        let allowed = enumerate(program);
        let reads: Vec<At> = program.all().filter(|at| program.op(*at).reads()).collect();
        let has = |outcome: &Vec<Option<u32>>| {
            values.iter().all(|(at, value)| reads.iter().position(|read| read == at).is_some_and(|read| outcome[read] == Some(*value)))
        };
        let is_possible = allowed.outcomes.iter().any(has);
        if is_allowed.is_some_and(|known| known != is_possible) {
            problems.push(format!("{}: {values:?} is {is_possible} here", program.name));
        }
        problems.extend(problem(program, &judge(program)));
    }
    assert!(problems.is_empty(), "{} problem(s):\n{}", problems.len(), problems.join("\n"));
}

/// Runs the kernels of programs on weak memory: outcomes that the axioms forbid, and how many of those were left that they allow.
fn run_on_weak_memory(programs: &[Program], runs: u64) -> (Vec<String>, usize, usize) {
    let (mut forbidden, mut reachable, mut reached) = (Vec::new(), 0, 0);
    for program in programs {
        let judged = enumerate(program);
        let allowed: Vec<_> = judged.outcomes.into_iter().collect();
        let kernel = Kernel::new(program);
        let mut left = vec![false; allowed.len()];
        for seed in 0..runs {
            let outcome = kernel.run(Schedule::Random, seed, MemoryModel::Weak(seed)).outcome;
            let matching = allowed.iter().enumerate().filter(|(_, allowed)| is_shown(program, allowed, &outcome));
            let matching: Vec<usize> = matching.map(|(at, _)| at).collect();
            matching.iter().for_each(|at| left[*at] = true);
            if matching.is_empty() {
                forbidden.push(format!("{}: seed {seed} leaves {outcome:?}\n{:?}", program.name, program.threads));
            }
        }
        reachable += judged.reachable.len();
        reached += allowed.iter().zip(&left).filter(|(outcome, is_left)| **is_left && judged.reachable.contains(*outcome)).count();
    }
    (forbidden, reachable, reached)
}

/// `PTXDBG_LITMUS_RUNS` runs of each.
#[test]
fn kernels_on_weak_memory_leave_what_the_axioms_allow() {
    let runs = std::env::var("PTXDBG_LITMUS_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(20);
    let mut draw = Draw::new(random_numbers());
    let random = (0..count()).map(|number| draw.program(number)).collect::<Vec<_>>();
    let programs: Vec<Program> = known::all().into_iter().map(|known| known.program).chain(random).collect();
    let (forbidden, reachable, reached) = run_on_weak_memory(&programs, runs);
    assert!(forbidden.is_empty(), "{} forbidden outcomes:\n{}", forbidden.len(), forbidden.join("\n"));
    // Few runs do not leave all.
    let percent = if runs >= 1000 { 97 } else { 40 };
    assert!(reached * 100 >= reachable * percent, "{reached} of {reachable} outcomes in {runs} runs");
}

#[test]
fn weak_memory_shows_what_sequential_consistency_does_not() {
    let is_named = |known: &Known| known.program.name == "SB+acq_rel-cta";
    let Some(Known { program, .. }) = known::all().into_iter().find(is_named) else { panic!("the test is gone") };
    let kernel = Kernel::new(&program);
    let both = |memory: fn(u64) -> MemoryModel| {
        let shown = (0..60).map(|seed| kernel.run(Schedule::Random, seed, memory(seed)).outcome);
        shown.filter(|outcome| outcome.iter().all(|value| *value == Some(0))).count()
    };
    assert_eq!(both(|_| MemoryModel::SequentiallyConsistent), 0);
    assert!(both(MemoryModel::Weak) > 0);
}
