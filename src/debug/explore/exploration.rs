//! The state of an exploration of many orders.

use std::sync::Arc;

use super::found::{FoundInOrders, United};
use super::judged::{Judged, OrderOutcome, Verdict, judged};
use super::systematic::{Found, Search};
use super::{Bound, Explored, Systematic};
use crate::base::side_by_side;
use crate::check::{Checks, Finding};
use crate::debug::fault::Fault;
use crate::debug::run::{RunError, run_undescribed};
use crate::debug::session::{InterruptCheck, Session};
use crate::machine::Schedule;

/// Orders that a systematic exploration finds before it runs them.
const BATCH: u64 = 32;

/// The results of the orders up to now.
pub(in crate::debug) struct Exploration {
    pub(super) united: United,
    pub(super) outcomes: Vec<OrderOutcome>,
    /// Orders that were taken, the session's own one of them.
    pub(super) taken: u64,
    pub(super) failed: Option<RunError>,
    pub(super) interrupted: bool,
    pub(super) limit: u64,
    pub(super) checks: Checks,
    pub(super) bound: Option<Bound>,
    /// The search that generates the orders, if they are not random.
    pub(super) search: Option<Search>,
    /// Whether it has found all.
    pub(super) through: bool,
}

/// The result of an order.
type Done = Result<(Judged, Option<Fault>, Vec<Finding>), RunError>;

impl Exploration {
    /// The number of orders tried, without that of the session.
    pub(super) fn tried(&self) -> u64 {
        self.taken.saturating_sub(1)
    }

    /// Lists some orders more, `until` at most; whether there are any that were not run.
    pub(super) fn list(&mut self, session: &Session, until: u64, interrupt: &mut dyn InterruptCheck) -> Result<bool, RunError> {
        let Some(search) = &mut self.search else { return Ok(false) };
        let mut end = self.taken.saturating_sub(1).saturating_add(BATCH).min(until);
        while !self.through && self.united.orders.listed() < end {
            match search.next(|| !interrupt.should_continue(session))? {
                Found::Order(switches) => self.united.orders.push(Schedule::Switched(switches)),
                Found::Through => self.through = true,
                Found::Again => {
                    let orders = self.united.orders.without_listed();
                    self.united = United::new(&self.united.program, &self.united.case, orders);
                    (self.outcomes, self.taken, end) = (Vec::new(), 0, BATCH.min(until));
                }
                Found::Interrupted => {
                    self.interrupted = true;
                    return Ok(false);
                }
            }
        }
        Ok(self.taken <= self.united.orders.listed())
    }

    /// Runs the orders from the first that was not up to number `end`, side by side.
    pub(super) fn run(&mut self, session: &Session, end: u64, interrupt: &mut dyn InterruptCheck) -> Result<(), RunError> {
        let (program, case, orders) = (Arc::clone(&self.united.program), Arc::clone(&self.united.case), self.united.orders.clone());
        let (first, limit) = (self.taken, self.limit);
        let work = |index: u64, ends: &dyn Fn() -> bool| {
            let (run, found) = run_undescribed(&program, &case, &orders.options(first + index), ends)?;
            Ok((judged(&case, &run, limit)?, run.fault, found))
        };
        let (count, jobs) = (end.saturating_sub(first), session.settings.jobs());
        let whole = side_by_side(jobs, count, work, || interrupt.should_continue(session), |index, done| self.take(first + index, done));
        self.interrupted = !whole;
        self.failed.take().map_or(Ok(()), Err)
    }

    /// Takes what became of an order, after those before it.
    fn take(&mut self, index: u64, done: Done) {
        if self.failed.is_some() {
            return;
        }
        let taken = done.and_then(|(judged, fault, found)| {
            self.united.take(index, fault.as_ref(), &found)?;
            Ok(judged)
        });
        match taken {
            Ok(judged) => judged.join(&self.united.case, index, &self.united.orders, &mut self.outcomes),
            Err(error) => self.failed = Some(error),
        }
        self.taken = index + 1;
    }

    /// The report on it.
    pub(super) fn explored(&self, session: &Session) -> Explored {
        let found = self.united.found.iter().map(|found| found.clone().with_roles(&session.roles));
        let mut found: Vec<FoundInOrders> = found.filter(|found| !session.suppresses(&found.finding)).collect();
        found.iter_mut().zip(1..).for_each(|(found, number)| found.finding.number = number);
        let systematic = self.search.as_ref().map(|search| {
            let is_complete = self.through && self.tried() == self.united.orders.listed();
            Systematic { preemptions: search.bound(), is_complete, hits_bound: search.hits_bound() }
        });
        Explored {
            bound: self.bound,
            systematic,
            tried: self.tried(),
            verdict: Verdict::of(&self.outcomes),
            outcomes: self.outcomes.clone(),
            found,
            checked: self.checks != Checks::NONE,
            is_own_default: self.united.orders.is_own_default(),
            interrupted: self.interrupted,
        }
    }
}
