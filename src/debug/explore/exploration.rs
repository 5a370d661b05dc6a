//! The state of an exploration of many orders.

use std::sync::Arc;

use super::merged_findings::{MergedFinding, MergedFindings};
use super::outcome::{JudgedOrder, OrderOutcome, Verdict, judge_order};
use super::stale::{Judge, StaleResults, WeakOrder};
use super::systematic::{Search, SearchResult, Subject};
use super::{Bound, ExplorationReport, Systematic};
use crate::base::run_jobs;
use crate::check::{Checks, Finding};
use crate::debug::fault::Fault;
use crate::debug::run::{RunError, RunOptions, run_undescribed};
use crate::debug::session::{InterruptCheck, Session};
use crate::machine::Schedule;

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
}

/// The result of an order.
type OrderResult = Result<(JudgedOrder, Option<Fault>, Vec<Finding>, Option<WeakOrder>), RunError>;

impl Exploration {
    /// The number of orders tried, without the session's order.
    pub(super) fn tried(&self) -> u64 {
        self.completed.saturating_sub(1)
    }

    /// Generates more orders, up to number `until`; true if orders remain to be run.
    pub(super) fn generate(&mut self, session: &Session, until: u64, interrupt: &mut dyn InterruptCheck) -> Result<bool, RunError> {
        let Some(search) = &mut self.search else { return Ok(false) };
        let mut end = self.completed.saturating_sub(1).saturating_add(BATCH).min(until);
        while !self.is_exhausted && self.merged.orders.generated_count() < end {
            match search.next(|| !interrupt.should_continue(session))? {
                SearchResult::Order(switches) => self.merged.orders.push(Schedule::ContextSwitches(switches)),
                SearchResult::Exhausted => self.is_exhausted = true,
                SearchResult::Restarted => {
                    let orders = self.merged.orders.without_generated();
                    self.merged = MergedFindings::new(&self.merged.program, &self.merged.case, orders);
                    self.stale = StaleResults::default();
                    (self.outcomes, self.completed, end) = (Vec::new(), 0, BATCH.min(until));
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
        let (program, case, orders) = (Arc::clone(&self.merged.program), Arc::clone(&self.merged.case), self.merged.orders.clone());
        let (first, limit) = (self.completed, self.limit);
        let work = |index: u64, ends: &dyn Fn() -> bool| {
            let (run, found) = run_undescribed(&program, &case, &orders.options(first + index), ends)?;
            let judged = judge_order(&case, &run, limit)?;
            let consistent = orders.sequentially_consistent(first + index).map(|options| run_undescribed(&program, &case, &options, ends));
            let weak = match consistent.transpose()? {
                None => orders.are_weak().then(|| WeakOrder { weak: None, consistent: judged.clone() }),
                Some((consistent, _)) => Some(WeakOrder {
                    weak: (!run.stale.is_empty()).then(|| (judged.clone(), run.stale)),
                    consistent: judge_order(&case, &consistent, limit)?,
                }),
            };
            Ok((judged, run.fault, found, weak))
        };
        let (count, jobs) = (end.saturating_sub(first), session.settings.jobs());
        let is_complete_run =
            run_jobs(jobs, count, work, || interrupt.should_continue(session), |index, done| self.add_result(first + index, done));
        self.interrupted = !is_complete_run;
        self.failed.take().map_or(Ok(()), Err)
    }

    /// Adds the result of an order, after those of the orders before it.
    fn add_result(&mut self, index: u64, done: OrderResult) {
        if self.failed.is_some() {
            return;
        }
        let result = done.and_then(|(judged, fault, found, weak)| {
            self.merged.add_order(index, fault.as_ref(), &found)?;
            weak.into_iter().for_each(|weak| self.stale.add(index, weak));
            Ok(judged)
        });
        match result {
            Ok(judged) => judged.join(&self.merged.case, index, &self.merged.orders, &mut self.outcomes),
            Err(error) => self.failed = Some(error),
        }
        self.completed = index + 1;
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
            tried: self.tried(),
            verdict: Verdict::of(&self.outcomes),
            outcomes: self.outcomes.clone(),
            found,
            checked: self.checks != Checks::NONE,
            is_weak: self.merged.orders.are_weak(),
            is_default_order: self.merged.orders.is_default_order(),
            interrupted: self.interrupted,
        }
    }
}
