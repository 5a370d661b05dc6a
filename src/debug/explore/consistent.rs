//! Whether sequentially consistent memory gives a result, too: from a run on weak memory that is sequentially consistent itself, or from
//! all the orders that differ.

use super::outcome::{JudgedOrder, judge_order};
use super::systematic::{Search, SearchResult, Subject};
use crate::debug::run::{Job, RunError, RunOptions, Runner, run_undescribed};
use crate::debug::stale::StaleAccess;
use crate::machine::{Instrumentation, MemoryModel, NullObserver, Schedule};
use crate::weak::{Consistency, Segment, Strengthening};

/// Sequentially consistent orders that are tried at most, and warp-instructions of all of them.
const ORDERS_MAX: u64 = 2000;
const STEPS_MAX: u64 = 1 << 23;

/// A run on weak memory, with what is noted of its order.
pub(super) struct NotedRun {
    pub(super) judged: JudgedOrder,
    /// What its loads returned, and stores came before, other than the newest writes.
    pub(super) stale: Vec<StaleAccess>,
    /// Of each launch.
    orders: Vec<Consistency>,
    /// Its warp-instructions.
    pub(super) steps: u64,
}

/// Runs on weak memory that are noted: of a subject, with instructions that order more than they say.
pub(super) struct NotedRuns<'a> {
    pub(super) subject: &'a Subject,
    pub(super) strengthenings: &'a [Strengthening],
}

impl NotedRuns<'_> {
    /// A run with these options, whose missed writes are noted.
    ///
    /// # Errors
    /// Reasons outside the kernel.
    pub(super) fn run(&self, options: &RunOptions) -> Result<NotedRun, RunError> {
        self.run_after(options, &[])
    }

    /// A run each of whose launches begins as `before` says.
    fn run_after(&self, options: &RunOptions, before: &[Consistency]) -> Result<NotedRun, RunError> {
        let Subject { program, case, .. } = self.subject;
        let mut runner = Runner::new(Job { program, case, options, instrumentation: Instrumentation::Nothing });
        let mut orders = Vec::new();
        while runner.run_next(|machine, launch| {
            machine.strengthen(self.strengthenings);
            machine.note_order(before.get(launch.index()).cloned().unwrap_or_default());
            let fault = launch.run(machine, &mut NullObserver);
            orders.extend(machine.weak_memory().and_then(|weak| weak.consistency()).cloned());
            fault
        })? {}
        let judged = judge_order(case, &runner.run, options.step_limit.unwrap_or(u64::MAX))?;
        let steps = runner.run.launches.iter().map(|launch| launch.ticks).sum();
        Ok(NotedRun { judged, stale: runner.run.stale, orders, steps })
    }

    /// The same run again, following what comes after missed writes.
    fn follow(&self, options: &RunOptions, first: &NotedRun) -> Result<NotedRun, RunError> {
        let before: Vec<Consistency> = first.orders.iter().map(|noted| noted.following().unwrap_or_default()).collect();
        self.run_after(options, &before)
    }

    /// True if a run is one of sequentially consistent memory, too; false if that is not known.
    ///
    /// # Errors
    /// Reasons outside the kernel.
    pub(super) fn is_consistent(&self, options: &RunOptions, first: &NotedRun) -> Result<bool, RunError> {
        if !first.orders.iter().any(Consistency::is_open) {
            return Ok(first.orders.iter().all(Consistency::is_sequential));
        }
        Ok(self.follow(options, first)?.orders.iter().all(Consistency::is_sequential))
    }

    /// True if the accesses of a run have a cycle, where writes that coherence order does not relate are in the order of their execution.
    ///
    /// # Errors
    /// Reasons outside the kernel.
    pub(super) fn has_cycle(&self, options: &RunOptions, first: &NotedRun) -> Result<bool, RunError> {
        let can_have = first.orders.iter().any(|noted| noted.following().is_some());
        Ok(can_have && self.follow(options, first)?.orders.iter().any(Consistency::has_cycle))
    }

    /// The stretches of threads on a cycle of accesses because of which a run is none of sequentially consistent memory; none is known if
    /// there is none, or nothing can be said.
    ///
    /// # Errors
    /// Reasons outside the kernel.
    pub(super) fn cycle(&self, options: &RunOptions, first: &NotedRun) -> Result<Option<Vec<Segment>>, RunError> {
        let followed = self.follow(options, first)?;
        let cycle = |(launch, noted): (usize, &Consistency)| Some((launch, noted.cycle()?));
        let Some((launch, missed)) = followed.orders.iter().enumerate().find_map(cycle) else { return Ok(None) };
        let mut segments = Vec::new();
        for (from, to) in missed.iter().zip(missed.iter().cycle().skip(1)) {
            let mut before = vec![Consistency::default(); launch];
            before.extend(first.orders[launch].tracing(*from));
            let traced = self.run_after(options, &before)?;
            match traced.orders.get(launch).and_then(|noted| noted.path(*to)) {
                Some(path) => segments.extend(path),
                None => return Ok(None),
            }
        }
        Ok(Some(segments))
    }
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
