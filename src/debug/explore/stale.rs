//! Results that only weak memory gives: those of orders on weak memory that no sequentially consistent run leaves.
//!
//! That none of the runs which were seen leaves a result says little: the right one may be rare. So a result is dropped if a run that left
//! it is sequentially consistent itself, though a load of it returned an older write ([`NotedRuns::is_consistent`]), and of the others all
//! sequentially consistent orders are asked ([`decide`]). Where these are too many, the finding is a note, unless such results are far more
//! frequent than what the sequentially consistent runs leave unseen.
//!
//! What ends such results is one finding, with the order that shows it best: changes of the program that were tried ([`Trials::remedy`]).

use super::advice::{advice, missing};
use super::consistent::{NotedRuns, decide};
use super::merged_findings::MergedFindings;
use super::order::Orders;
use super::outcome::JudgedOrder;
use super::remedy::{Cause, Change, Remedy, Trials};
use super::systematic::Subject;
use crate::check::faults::MEMORY_STALE_UNDECIDED;
use crate::check::{Finding, Side};
use crate::debug::run::{RunError, run_undescribed};
use crate::debug::stale::StaleAccess;
use crate::debug::view::grouped;

/// Results that no sequentially consistent run leaves are those of weak memory where they are this many times as frequent as what such
/// runs leave unseen. That is at most the share of runs whose result no other left (Good and Turing's estimate), with a few runs more that
/// make it a bound at 95 %.
const FREQUENT: u64 = 4;
const RUNS_MORE: u64 = 3;

/// Results of which runs are followed, runs of each, and results that all orders are asked for.
const FOLLOWED_MAX: usize = 64;
const RUNS_MAX: usize = 4;
const ASKED_MAX: usize = 16;

/// Orders for which a remedy is sought at first.
const FIXED_MAX: usize = 16;

/// What an order left on weak memory, and what it leaves if a load returns the newest write.
pub(super) struct WeakOrder {
    /// What the order left, and the loads that returned an older write; none if no load did.
    pub(super) weak: Option<(JudgedOrder, Option<Vec<StaleAccess>>)>,
    pub(super) consistent: JudgedOrder,
}

/// A result of orders on weak memory, with the number of each and the loads of it that returned an older write; none of an order that
/// another machine ran.
struct WeakResult {
    result: JudgedOrder,
    orders: Vec<(u64, Option<Vec<StaleAccess>>)>,
}

/// A result whose loads are known.
struct OpenResult {
    result: JudgedOrder,
    orders: Vec<(u64, Vec<StaleAccess>)>,
}

/// A finding with its orders, the one that is shown first.
type Found = (Finding, Vec<u64>);

/// An order with a result that only weak memory gives.
struct WeakRun {
    index: u64,
    stale: Vec<StaleAccess>,
    /// The number of its result; one of its own where all wrong results are one.
    result: usize,
    /// True if that is sure.
    is_decided: bool,
}

/// The results of orders with and without weak memory.
#[derive(Default)]
pub(super) struct StaleResults {
    consistent: Vec<(JudgedOrder, u64)>,
    weak: Vec<WeakResult>,
}

/// What answers whether sequentially consistent memory gives a result.
pub(super) struct Judge<'a> {
    pub subject: &'a Subject,
    /// Warp-instructions of a run.
    pub steps: u64,
    /// False if there are orders that are not tried: those of asynchronous operations.
    pub is_whole: bool,
    /// How many orders were run beside that of the session.
    pub orders: u64,
    pub interrupt: &'a mut dyn FnMut() -> bool,
}

impl StaleResults {
    /// Adds the results of an order.
    pub fn add(&mut self, index: u64, order: WeakOrder) {
        match self.consistent.iter_mut().find(|(result, _)| result.is_same(&order.consistent)) {
            Some((_, count)) => *count += 1,
            None => self.consistent.push((order.consistent, 1)),
        }
        let Some((result, stale)) = order.weak else { return };
        match self.weak.iter_mut().find(|weak| weak.result.is_same(&result)) {
            Some(weak) => weak.orders.push((index, stale)),
            None => self.weak.push(WeakResult { result, orders: vec![(index, stale)] }),
        }
    }

    /// True if most sequentially consistent runs leave a result of their own, so that one more says nothing.
    fn has_any_result(&self) -> bool {
        let runs: u64 = self.consistent.iter().map(|(_, count)| count).sum();
        self.once() * 2 > runs
    }

    /// Sequentially consistent runs that left a result which no other left.
    fn once(&self) -> u64 {
        self.consistent.iter().filter(|(_, count)| *count == 1).count() as u64
    }

    /// True if results of this number of orders on weak memory are far more frequent than what sequentially consistent runs leave unseen.
    fn is_frequent(&self, orders: u64) -> bool {
        orders > FREQUENT * (self.once() + RUNS_MORE)
    }

    /// The results of which no run that left them is known to be sequentially consistent.
    fn open(&mut self, orders: &Orders, noted: &NotedRuns<'_>) -> Result<Vec<OpenResult>, RunError> {
        let mut unseen = std::mem::take(&mut self.weak);
        unseen.retain(|weak| !self.consistent.iter().any(|(other, _)| other.is_same(&weak.result)));
        let mut open = Vec::new();
        for weak in unseen.into_iter().take(FOLLOWED_MAX) {
            let mut is_of_both = false;
            for (index, _) in weak.orders.iter().take(RUNS_MAX) {
                let options = orders.options(*index);
                is_of_both = is_of_both || noted.is_consistent(&options, &noted.run(&options)?)?;
            }
            match is_of_both {
                true => self.consistent.push((weak.result, 1)),
                false => open.push(weak),
            }
        }
        open.truncate(ASKED_MAX);
        open.into_iter().map(|weak| weak.with_loads(orders, noted.subject)).collect()
    }

    /// Adds the findings to those of the orders.
    pub fn report(&mut self, merged: &mut MergedFindings, judge: Judge<'_>) -> Result<(), RunError> {
        let open = self.open(&merged.orders, &NotedRuns { subject: judge.subject, strengthenings: &[] })?;
        if open.is_empty() {
            return Ok(());
        }
        let has_any_result = self.has_any_result();
        let is_frequent = self.is_frequent(open.iter().map(|weak| weak.orders.len() as u64).sum());
        let results: Vec<&JudgedOrder> = open.iter().map(|weak| &weak.result).collect();
        let decision = decide(judge.subject, judge.steps, &results, judge.interrupt)?;
        let mut runs = Vec::new();
        for (number, (weak, is_reached)) in open.into_iter().zip(&decision.reached).enumerate() {
            let can_decide = judge.is_whole && !weak.orders.iter().any(|(_, stale)| is_within_warp(stale));
            let is_decided = can_decide && (decision.is_complete || is_frequent) || weak.result.is_wrong();
            if *is_reached {
                self.consistent.push((weak.result, 1));
            } else if is_decided || !weak.result.is_any_end() || !has_any_result {
                let result = |index: u64| if weak.result.is_wrong() { ASKED_MAX + index as usize } else { number };
                let run = |(index, stale): (u64, Vec<StaleAccess>)| WeakRun { index, stale, result: result(index), is_decided };
                runs.extend(weak.orders.into_iter().map(run));
            }
        }
        runs.sort_by_key(|run| run.index);
        let tried = decision.tried;
        let found = self.findings(&merged.orders, &runs, judge)?;
        let has_remedy = found.is_some();
        for (mut finding, orders) in found.unwrap_or_else(|| each_alone(&runs)) {
            let is_decided = runs.iter().any(|run| run.is_decided && orders.contains(&run.index));
            if !is_decided {
                finding = undecided(finding, tried);
            }
            match has_remedy {
                true => merged.add_finding(&finding, &orders)?,
                false => merged.add_order(orders[0], None, std::slice::from_ref(&finding))?,
            }
        }
        Ok(())
    }

    /// The findings of orders with results that only weak memory gives, by what fixes them; none if that is not known.
    fn findings(&self, orders: &Orders, runs: &[WeakRun], judge: Judge<'_>) -> Result<Option<Vec<Found>>, RunError> {
        let mut trials = Trials {
            subject: judge.subject,
            orders,
            consistent: &self.consistent,
            steps: judge.steps,
            interrupt: judge.interrupt,
            taken: 0,
        };
        let failing: Vec<u64> = runs.iter().map(|run| run.index).collect();
        let Some(Remedy { changes: plan, tried }) = trials.remedy(&failing[..failing.len().min(FIXED_MAX)], judge.orders)? else {
            return Ok(None);
        };
        let mut findings = Vec::new();
        let failing: Vec<(u64, usize)> = runs.iter().map(|run| (run.index, run.result)).collect();
        let causes = trials.causes(&failing, &plan)?;
        let has_one = causes.len() == 1;
        for Cause { changes, orders: of, .. } in causes {
            let changes: Vec<&Change> = changes.iter().map(|place| &plan[*place]).collect();
            let Some((shown, stale)) = trials.shown(&of, &changes)? else { continue };
            let program = &judge.subject.program;
            let with = if has_one { "that" } else { "that and the advice of the findings like this one" };
            let fix = format!("{}; with {with} none of {} orders has such a result", advice(program, &changes), grouped(tried));
            let why = format!("{}: {}", stale.seen, missing(program, &changes));
            let rest = of.into_iter().filter(|index| *index != shown);
            findings.push((Finding { why, fix: fix.into(), ..stale.finding }, [shown].into_iter().chain(rest).collect()));
        }
        Ok(Some(findings))
    }
}

impl WeakResult {
    /// The same with the loads of every order: those that are not known are found by running it.
    fn with_loads(self, orders: &Orders, subject: &Subject) -> Result<OpenResult, RunError> {
        let loads = |(index, stale): (u64, Option<Vec<StaleAccess>>)| {
            let stale = match stale {
                Some(stale) => stale,
                None => run_undescribed(&subject.program, &subject.case, &orders.options(index), &|| false)?.0.stale,
            };
            Ok((index, stale))
        };
        Ok(OpenResult { result: self.result, orders: self.orders.into_iter().map(loads).collect::<Result<_, RunError>>()? })
    }
}

/// True if reader and writer are of one warp, whose lanes take turns in one order only.
fn is_within_warp(stale: &[StaleAccess]) -> bool {
    let warp = |side: &Side| (side.point.block, side.point.warp);
    let is_within = |stale: &Finding| stale.first.as_ref().is_some_and(|first| warp(first) == warp(&stale.second));
    stale.first().is_some_and(|stale| is_within(&stale.finding))
}

/// The first stale access of each order, where no remedy is known.
fn each_alone(runs: &[WeakRun]) -> Vec<Found> {
    let first = |run: &WeakRun| Some((run.stale.first()?.finding.clone(), vec![run.index]));
    runs.iter().filter_map(first).collect()
}

fn undecided(stale: Finding, tried: u64) -> Finding {
    let why = format!("{}; not decided, none of {tried} sequentially consistent orders has the result", stale.why);
    Finding { id: MEMORY_STALE_UNDECIDED, severity: MEMORY_STALE_UNDECIDED.severity(), why, ..stale }
}
