//! Whether sequentially consistent memory gives a result, too: from a run on weak memory that is sequentially consistent itself, or from
//! all the orders that differ.

use super::outcome::{JudgedOrder, judge_order};
use super::systematic::{Search, SearchResult, Subject};
use crate::debug::run::{Job, RunError, RunOptions, Runner, run_undescribed};
use crate::machine::{Instrumentation, MemoryModel, NullObserver, Schedule};
use crate::weak::Consistency;

/// Sequentially consistent orders that are tried at most, and warp-instructions of all of them.
const ORDERS_MAX: u64 = 2000;
const STEPS_MAX: u64 = 1 << 23;

/// True if a run on weak memory with these options is one of sequentially consistent memory, too; false if that is not known.
///
/// # Errors
/// Reasons outside the kernel.
pub(super) fn is_consistent(subject: &Subject, options: &RunOptions, interrupt: &dyn Fn() -> bool) -> Result<bool, RunError> {
    let first = orders(subject, options, interrupt, &[])?;
    let second: Vec<Consistency> = first.iter().map(|noted| noted.following().unwrap_or_default()).collect();
    let followed =
        if first.iter().any(|noted| noted.following().is_some()) { orders(subject, options, interrupt, &second)? } else { Vec::new() };
    let is_consistent = |(launch, first): (usize, &Consistency)| match first.following() {
        Some(_) => followed.get(launch).is_some_and(Consistency::is_sequential),
        None => first.is_sequential(),
    };
    Ok(!interrupt() && first.iter().enumerate().all(is_consistent))
}

/// What is noted of the order of each launch, which begins as `before` says.
fn orders(
    subject: &Subject,
    options: &RunOptions,
    interrupt: &dyn Fn() -> bool,
    before: &[Consistency],
) -> Result<Vec<Consistency>, RunError> {
    let Subject { program, case, .. } = subject;
    let mut runner = Runner::new(Job { program, case, options, instrumentation: Instrumentation::Nothing });
    runner.interrupt = interrupt;
    let mut noted = Vec::new();
    while runner.run_next(|machine, launch| {
        machine.note_order(before.get(launch.index()).cloned().unwrap_or_default());
        let fault = launch.run(machine, &mut NullObserver);
        noted.extend(machine.weak_memory().and_then(|weak| weak.consistency()).cloned());
        fault
    })? {}
    Ok(noted)
}

/// What all sequentially consistent orders say of results.
pub(super) struct Decision {
    /// The results that one of them has, by their places.
    pub(super) reached: Vec<bool>,
    /// True if these were all: none has the others.
    pub(super) is_complete: bool,
    /// How many were tried.
    pub(super) tried: u64,
}

/// Tries the sequentially consistent orders of a subject that differ, of `steps` warp-instructions each, until one has each result.
///
/// # Errors
/// Reasons outside the kernel.
pub(super) fn decide(
    subject: &Subject,
    steps: u64,
    results: &[&JudgedOrder],
    interrupt: &mut dyn FnMut() -> bool,
) -> Result<Decision, RunError> {
    let options = RunOptions {
        memory: MemoryModel::SequentiallyConsistent,
        schedule: Schedule::ContextSwitches(Box::default()),
        ..subject.options.clone()
    };
    let limit = options.step_limit.unwrap_or(u64::MAX);
    let mut search = Search::new(Subject { options: options.clone(), ..subject.clone() }, u32::MAX)?;
    let orders_max = (STEPS_MAX / steps.max(1)).min(ORDERS_MAX);
    let mut decision = Decision { reached: vec![false; results.len()], is_complete: false, tried: 0 };
    while decision.tried < orders_max && decision.reached.contains(&false) {
        match search.next(&mut *interrupt)? {
            SearchResult::Order(switches) => {
                let options = RunOptions { schedule: Schedule::ContextSwitches(switches), ..options.clone() };
                let (run, _) = run_undescribed(&subject.program, &subject.case, &options, &|| false)?;
                let left = judge_order(&subject.case, &run, limit)?;
                decision.tried += 1;
                for (reached, result) in decision.reached.iter_mut().zip(results) {
                    *reached |= result.is_same(&left);
                }
            }
            // What was tried has the results that it has.
            SearchResult::Restarted => {}
            SearchResult::Exhausted => {
                decision.is_complete = !search.hits_bound();
                break;
            }
            SearchResult::Interrupted => break,
        }
    }
    Ok(decision)
}
