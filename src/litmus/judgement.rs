//! All outcomes of a test.

use std::collections::{BTreeMap, BTreeSet};

use super::axioms::{Choice, Model, Relations};
use super::barrier::meetings;
use super::candidates::Candidate;
use super::condition::Variable;
use super::effort::{Effort, TooLarge};
use super::event::Event;
use super::path::{Path, paths};
use super::relation::{Relation, bits};
use super::sequential::last_writes;
use super::test::Test;

/// How far executions are followed.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How often the body of a loop is executed.
    pub rounds: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { rounds: 2 }
    }
}

/// An instruction: the thread's place in the test, and its place there.
pub type Place = (usize, usize);

/// What the axioms say of a test.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// What an outcome has values of: registers, and the memory that the test asks of.
    pub variables: Vec<Variable>,
    /// The outcomes, in the order of their values.
    pub outcomes: Vec<Outcome>,
    /// The answer to the question of the test.
    pub answer: bool,
    /// The answer if no read returned a value of its thread's future: another one shows that load buffering decides.
    pub answer_without_load_buffering: bool,
    /// The answer of sequentially consistent executions alone.
    pub answer_of_sequential: bool,
    /// True if some loop could go on.
    pub is_cut: bool,
    /// Pairs of instructions that race in some execution.
    pub races: BTreeSet<(Place, Place)>,
    /// Those that race in a sequentially consistent one.
    pub sequential_races: BTreeSet<(Place, Place)>,
}

/// An outcome.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The values of the variables.
    pub values: Vec<i64>,
    /// True if the formula of the test holds of it.
    pub matches: bool,
    /// True if a sequentially consistent execution has it.
    pub is_sequential: bool,
    /// True if in all its executions a read returns what depends on a later write of its own thread (load buffering).
    pub needs_load_buffering: bool,
    /// An execution that has it.
    pub witness: Witness,
}

/// An execution.
#[derive(Clone, Debug)]
pub struct Witness {
    /// Its events: the writes of first values, then those of the threads.
    pub events: Vec<Event>,
    /// What each reads or writes.
    pub values: Vec<Option<i64>>,
    /// Program order.
    pub po: Relation,
    /// Its other relations.
    pub relations: Relations,
}

/// All executions of a test.
///
/// # Errors
/// It is too large.
pub fn judge(test: &Test, limits: Limits) -> Result<Judgement, TooLarge> {
    let mut all: Vec<Vec<Path>> = Vec::new();
    let mut is_cut = false;
    for thread in 0..test.threads.len() {
        let (paths, cut) = paths(test, thread, limits.rounds)?;
        is_cut |= cut;
        all.push(paths);
    }
    let asked = asked(test);
    let mut judge = Judge {
        test,
        variables: variables(test, &asked),
        asked,
        outcomes: BTreeMap::new(),
        races: BTreeSet::new(),
        sequential_races: BTreeSet::new(),
        effort: Effort::default(),
    };
    let mut chosen: Vec<&Path> = Vec::new();
    combine(&all, &mut chosen, &mut |paths| judge.paths(paths))?;
    let Judge { variables, outcomes, races, sequential_races, .. } = judge;
    let outcomes: Vec<Outcome> = outcomes.into_values().collect();
    let question = test.condition.quantifier;
    let answer =
        |of: &dyn Fn(&Outcome) -> bool| question.answer(outcomes.iter().filter(|outcome| of(outcome)).map(|outcome| outcome.matches));
    Ok(Judgement {
        answer: answer(&|_| true),
        answer_without_load_buffering: answer(&|outcome| !outcome.needs_load_buffering),
        answer_of_sequential: answer(&|outcome| outcome.is_sequential),
        variables,
        is_cut,
        races,
        sequential_races,
        outcomes,
    })
}

/// Calls `each` with every choice of one path of each thread.
fn combine<'a>(
    all: &'a [Vec<Path>],
    chosen: &mut Vec<&'a Path>,
    each: &mut impl FnMut(&[&'a Path]) -> Result<(), TooLarge>,
) -> Result<(), TooLarge> {
    let Some(paths) = all.get(chosen.len()) else { return each(chosen) };
    for path in paths {
        chosen.push(path);
        combine(all, chosen, each)?;
        chosen.pop();
    }
    Ok(())
}

/// What the test asks of.
fn asked(test: &Test) -> BTreeSet<Variable> {
    let mut asked = test.shown.clone();
    test.condition.formula.variables(&mut asked);
    test.filter.iter().for_each(|filter| filter.variables(&mut asked));
    asked.into_iter().collect()
}

/// All registers, and the memory that is asked of.
fn variables(test: &Test, asked: &BTreeSet<Variable>) -> Vec<Variable> {
    let registers = test.threads.iter().enumerate();
    let registers = registers.flat_map(|(thread, of)| (0..of.registers.len()).map(move |register| Variable::Register(thread, register)));
    registers.chain(asked.iter().copied().filter(|variable| matches!(variable, Variable::Memory(_)))).collect()
}

struct Judge<'a> {
    test: &'a Test,
    asked: BTreeSet<Variable>,
    variables: Vec<Variable>,
    outcomes: BTreeMap<Vec<i64>, Outcome>,
    races: BTreeSet<(Place, Place)>,
    sequential_races: BTreeSet<(Place, Place)>,
    effort: Effort,
}

impl<'a> Judge<'a> {
    fn paths(&mut self, paths: &[&'a Path]) -> Result<(), TooLarge> {
        self.effort.spend()?;
        // What a thread that waits forever would have read later has no value.
        let is_unread = |thread: usize, register: &usize| paths[thread].waits_forever && !paths[thread].written.contains(register);
        let is_undefined = |variable: &Variable| matches!(variable, Variable::Register(of, register) if is_unread(*of, register));
        if self.asked.iter().any(is_undefined) {
            return Ok(());
        }
        let candidate = Candidate::new(self.test, paths.to_vec()).ok_or(TooLarge::Events)?;
        let asked = candidate.first_values().iter().map(|write| self.is_asked(candidate.events[*write].location)).collect();
        // Model and judge count together.
        let effort = std::mem::take(&mut self.effort);
        let model = Model::new(&candidate, asked, &effort);
        let reads: Vec<usize> = bits(candidate.reads).collect();
        let sources: Vec<Vec<usize>> = reads.iter().map(|read| candidate.sources(*read)).collect();
        let mut source = vec![None; candidate.events.len()];
        self.choose(&model, &candidate, (&reads, &sources), &mut source)?;
        self.effort = effort;
        Ok(())
    }

    /// Chooses the writes of the reads from the first of `reads` on.
    fn choose(
        &mut self,
        model: &Model<'_>,
        candidate: &Candidate<'_>,
        (reads, sources): (&[usize], &[Vec<usize>]),
        source: &mut [Option<usize>],
    ) -> Result<(), TooLarge> {
        model.effort.spend()?;
        let Some(values) = candidate.values(source) else { return Ok(()) };
        let (Some((read, reads)), Some((writes, sources))) = (reads.split_first(), sources.split_first()) else {
            return if candidate.is_caused(source) { self.execute(model, candidate, source, &values) } else { Ok(()) };
        };
        for write in writes {
            source[*read] = Some(*write);
            if reads.is_empty() || model.is_possible(candidate.reads_from(source)) {
                self.choose(model, candidate, (reads, sources), source)?;
            }
        }
        source[*read] = None;
        Ok(())
    }

    fn execute(
        &mut self,
        model: &Model<'_>,
        candidate: &Candidate<'_>,
        source: &[Option<usize>],
        values: &[Option<i64>],
    ) -> Result<(), TooLarge> {
        let rf = candidate.reads_from(source);
        let needs_load_buffering = !candidate.po.or(&rf).is_acyclic();
        for barrier in meetings(candidate, values)? {
            let choice = Choice { rf: rf.clone(), barrier };
            let mut sequential = None;
            model.executions(&choice, &mut |relations, end| {
                let sequential = match &mut sequential {
                    Some(found) => found,
                    none => none.insert(last_writes(candidate, source, &choice.barrier, model.effort)?),
                };
                let races = model.races(&relations);
                let place = |own: usize| (candidate.events[own].thread.unwrap_or(0), candidate.events[own].instruction);
                let races: Vec<_> = races.into_iter().map(|(one, other)| (place(one), place(other))).collect();
                if !sequential.is_empty() {
                    self.sequential_races.extend(&races);
                }
                self.races.extend(races);
                self.add(model, (values, end), relations, sequential, needs_load_buffering);
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Adds the outcome of an execution with these last writes.
    fn add(
        &mut self,
        model: &Model<'_>,
        (values, end): (&[Option<i64>], &[usize]),
        relations: Relations,
        sequential: &BTreeSet<Vec<usize>>,
        needs_load_buffering: bool,
    ) {
        let Model { candidate, first, asked, .. } = model;
        let value = |variable: Variable| match variable {
            Variable::Constant(value) => value,
            Variable::Register(thread, register) => {
                candidate.evaluate(thread, &candidate.paths[thread].registers[register], values).unwrap_or(0)
            }
            Variable::Memory(location) => {
                let physical = Some(self.test.locations[location].physical);
                let at = first.iter().position(|write| candidate.events[*write].location == physical);
                at.and_then(|at| values[end[at]]).unwrap_or(0)
            }
        };
        if self.test.filter.as_ref().is_some_and(|filter| !filter.holds(&value)) {
            return;
        }
        let is_same_end = |order: &Vec<usize>| (0..first.len()).all(|at| !asked[at] || order[at] == end[at]);
        let is_sequential = sequential.iter().any(is_same_end);
        let key: Vec<i64> = self.variables.iter().map(|variable| value(*variable)).collect();
        let rank = (is_sequential, !needs_load_buffering);
        if self.outcomes.get(&key).is_none_or(|old| rank > (old.is_sequential, !old.needs_load_buffering)) {
            let witness = Witness { events: candidate.events.clone(), values: values.to_vec(), po: candidate.po.clone(), relations };
            let matches = self.test.condition.formula.holds(&value);
            self.outcomes.insert(key.clone(), Outcome { values: key, matches, is_sequential, needs_load_buffering, witness });
        }
    }

    /// Whether the test asks of the memory of a location.
    fn is_asked(&self, physical: Option<usize>) -> bool {
        let is_of = |location: usize| physical == Some(self.test.locations[location].physical);
        self.variables.iter().any(|variable| matches!(variable, Variable::Memory(location) if is_of(*location)))
    }
}
