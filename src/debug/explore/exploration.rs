//! The state of an exploration of many orders.

use std::sync::Arc;

use super::merged_findings::{MergedFinding, MergedFindings};
use super::order::Orders;
use super::outcome::{OrderOutcome, Verdict, judge_order};
use super::sharded::{KnownOrders, OrderRecord, OrderResult, ShardReport, Split};
use super::stale::{Judge, StaleResults, WeakOrder};
use super::systematic::{Search, SearchResult, Subject};
use super::{Bound, ExplorationReport, Systematic};
use crate::base::run_jobs;
use crate::check::Checks;
use crate::debug::run::{RunError, RunOptions, run_undescribed};
use crate::debug::session::{InterruptCheck, Session};
use crate::launch::Case;
use crate::machine::Schedule;
use crate::program::Program;

/// Number of orders that a systematic exploration generates before it runs them.
const BATCH: u64 = 32;

/// The results of the orders up to now.
pub(in crate::debug) struct Exploration {
    pub(super) merged: MergedFindings,
    pub(super) outcomes: Vec<OrderOutcome>,
    /// Number of completed orders, including the session's order.
    pub(super) completed: u64,
    pub(super) failed: Option<RunError>,
    pub(super) interrupted: bool,
    pub(super) limit: u64,
    pub(super) checks: Checks,
    pub(super) bound: Option<Bound>,
    /// The search that generates the orders, if they are not random.
    pub(super) search: Option<Search>,
    /// True once the search has generated all orders.
    pub(super) is_exhausted: bool,
    /// The results on weak memory, beside those of sequentially consistent runs.
    pub(super) stale: StaleResults,
    /// Number of orders whose results are in it, without the session's order.
    pub(super) ran: u64,
    /// Digits of what is explored, if it is split over machines.
    pub(super) identity: String,
    /// True if it is a shard, which records its orders.
    pub(super) reports: bool,
    pub(super) records: Vec<OrderRecord>,
    /// The orders that other machines ran, if it is made of those.
    pub(super) known: Option<KnownOrders>,
}

/// An order that was run, or that another machine ran.
enum Done {
    Run(Box<OrderResult>),
    Recorded(Box<OrderRecord>),
}

/// The case and its orders, with the step limit of a launch.
struct OrderRuns {
    program: Arc<Program>,
    case: Arc<Case>,
    orders: Orders,
    limit: u64,
}

impl OrderRuns {
    /// Runs order `index`.
    fn run(&self, index: u64, ends: &dyn Fn() -> bool) -> Result<OrderResult, RunError> {
        let Self { program, case, orders, limit } = self;
        let (run, findings) = run_undescribed(program, case, &orders.options(index), ends)?;
        let judged = judge_order(case, &run, *limit)?;
        let consistent = orders.sequentially_consistent(index).map(|options| run_undescribed(program, case, &options, ends));
        let left = judged.without_contents();
        let weak = match consistent.transpose()? {
            None => orders.are_weak().then_some(WeakOrder { weak: None, consistent: left }),
            Some((consistent, _)) => Some(WeakOrder {
                weak: (!run.stale.is_empty()).then_some((left, Some(run.stale))),
                consistent: judge_order(case, &consistent, *limit)?.without_contents(),
            }),
        };
        Ok(OrderResult { judged, fault: run.fault, findings, weak })
    }
}

impl Exploration {
    /// The number of orders tried, without the session's order.
    pub(super) fn tried(&self) -> u64 {
        self.completed.saturating_sub(1)
    }

    /// Generates more orders, up to number `until`; true if orders remain to be run.
    pub(super) fn generate(&mut self, session: &Session, until: u64, interrupt: &mut dyn InterruptCheck) -> Result<bool, RunError> {
        let Some(search) = &mut self.search else { return Ok(false) };
        // Records are those of the orders after all restarts.
        let batch = if self.known.is_some() { u64::MAX } else { BATCH };
        let mut end = self.completed.saturating_sub(1).saturating_add(batch).min(until);
        while !self.is_exhausted && self.merged.orders.generated_count() < end {
            match search.next(|| !interrupt.should_continue(session))? {
                SearchResult::Order(switches) => self.merged.orders.push(Schedule::ContextSwitches(switches)),
                SearchResult::Exhausted => self.is_exhausted = true,
                SearchResult::Restarted => {
                    let orders = self.merged.orders.without_generated();
                    self.merged = MergedFindings::new(&self.merged.program, &self.merged.case, orders);
                    (self.stale, self.records, self.ran) = (StaleResults::default(), Vec::new(), 0);
                    (self.outcomes, self.completed, end) = (Vec::new(), 0, batch.min(until));
                }
                SearchResult::Interrupted => {
                    self.interrupted = true;
                    return Ok(false);
                }
            }
        }
        Ok(self.completed <= self.merged.orders.generated_count())
    }

    /// Runs the remaining orders, up to number `end`, in parallel.
    pub(super) fn run(&mut self, session: &Session, end: u64, interrupt: &mut dyn InterruptCheck) -> Result<(), RunError> {
        let (runs, recorded) = (self.runs(), self.known.as_ref().map(KnownOrders::orders));
        let chosen: Vec<u64> = (self.completed..end).filter(|index| session.split.has(*index)).collect();
        let work = |place: u64, ends: &dyn Fn() -> bool| match (chosen[place as usize], &recorded) {
            (0, _) | (_, None) => runs.run(chosen[place as usize], ends).map(|result| Done::Run(Box::new(result))),
            (index, Some(recorded)) => match recorded.get(&index) {
                Some(record) => Ok(Done::Recorded(Box::new(record.clone()))),
                None => Err(RunError::Shards(format!("no shard has order {index}"))),
            },
        };
        let (count, jobs) = (chosen.len() as u64, session.settings.jobs());
        let consume = |place: u64, done| self.add_result(chosen[place as usize], done, &runs);
        let is_complete_run = run_jobs(jobs, count, work, || interrupt.should_continue(session), consume);
        if is_complete_run {
            self.completed = end;
        }
        self.interrupted = !is_complete_run;
        self.failed.take().map_or(Ok(()), Err)
    }

    fn runs(&self) -> OrderRuns {
        let MergedFindings { program, case, orders, .. } = &self.merged;
        OrderRuns { program: Arc::clone(program), case: Arc::clone(case), orders: orders.clone(), limit: self.limit }
    }

    /// Adds the result of an order, after those of the orders before it.
    fn add_result(&mut self, index: u64, done: Result<Done, RunError>, runs: &OrderRuns) {
        if self.failed.is_some() {
            return;
        }
        let added = done.and_then(|done| match done {
            Done::Run(result) => self.add_order(index, *result),
            Done::Recorded(record) => {
                let result = self.recorded(&record, runs)?;
                self.add_order(index, result)
            }
        });
        self.failed = added.err();
        self.completed = index + 1;
    }

    /// The result of an order that another machine ran. If it is shown, it is run again.
    fn recorded(&mut self, record: &OrderRecord, runs: &OrderRuns) -> Result<OrderResult, RunError> {
        let known = self.known.as_ref().and_then(|known| known.result(record));
        if let Some(result) = known
            && !self.merged.needs_text(record.order, result.fault.as_ref(), &result.findings)
        {
            return Ok(result);
        }
        let mut result = runs.run(record.order, &|| false)?;
        result.judged.compare(&self.outcomes);
        if let Some(known) = &mut self.known {
            known.learn(&self.merged.program, record, &result)?;
        }
        Ok(result)
    }

    fn add_order(&mut self, index: u64, mut result: OrderResult) -> Result<(), RunError> {
        result.judged.compare(&self.outcomes);
        if self.reports && index > 0 {
            self.records.push(OrderRecord::of(&self.merged.program, index, &result));
        }
        self.merged.add_order(index, result.fault.as_ref(), &result.findings)?;
        result.weak.into_iter().for_each(|weak| self.stale.add(index, weak));
        result.judged.join(index, &self.merged.orders, &mut self.outcomes);
        self.ran += u64::from(index > 0);
        Ok(())
    }

    /// Adds what weak memory alone shows to the findings.
    ///
    /// # Errors
    /// Reasons outside the kernel.
    pub(super) fn report_stale(&mut self, session: &Session, interrupt: &mut dyn InterruptCheck) -> Result<(), RunError> {
        let options = RunOptions { checks: Checks::NONE, ..self.merged.orders.options(0) };
        let subject = Subject { program: Arc::clone(&self.merged.program), case: Arc::clone(&self.merged.case), options };
        let (steps, is_whole) = (session.recorded().0, !self.merged.orders.is_asynchronous());
        let orders = self.tried();
        let judge = Judge { subject: &subject, steps, is_whole, orders, interrupt: &mut || !interrupt.should_continue(session) };
        self.stale.report(&mut self.merged, judge)
    }

    /// The report on it.
    pub(super) fn report(&self, session: &Session) -> ExplorationReport {
        let shard = match &session.split {
            Split::Shard(shard) => Some(ShardReport {
                shard: shard.number(),
                shards: shard.count(),
                run: self.identity.clone(),
                interrupted: self.interrupted,
                orders: self.records.clone(),
            }),
            Split::Whole | Split::Merged(_) => None,
        };
        let found = self.merged.found.iter().map(|found| found.clone().with_roles(&session.roles));
        let mut found: Vec<MergedFinding> = found.filter(|found| !session.suppresses(&found.finding)).collect();
        found.iter_mut().zip(1..).for_each(|(found, number)| found.finding.number = number);
        let systematic = self.search.as_ref().map(|search| {
            let is_complete = self.is_exhausted && self.tried() == self.merged.orders.generated_count();
            Systematic { preemptions: search.bound(), is_complete, hits_bound: search.hits_bound() }
        });
        ExplorationReport {
            bound: self.bound,
            systematic,
            tried: self.ran,
            verdict: Verdict::of(&self.outcomes),
            outcomes: self.outcomes.clone(),
            found,
            checked: self.checks != Checks::NONE,
            is_weak: self.merged.orders.are_weak(),
            is_default_order: self.merged.orders.is_default_order(),
            interrupted: self.interrupted,
            shard,
        }
    }
}
