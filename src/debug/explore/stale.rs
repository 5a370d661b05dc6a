//! Results that only weak memory gives: those of orders on weak memory that no sequentially consistent run leaves.
//!
//! That none of the runs which were seen leaves a result says little: the right one may be rare. So a result is dropped if a run that left
//! it is sequentially consistent itself, though a load of it returned an older write ([`is_consistent`]), and of the others all
//! sequentially consistent orders are asked ([`decide`]). Where these are too many, the finding is a note.

use super::consistent::{decide, is_consistent};
use super::merged_findings::MergedFindings;
use super::outcome::JudgedOrder;
use super::systematic::Subject;
use crate::check::Finding;
use crate::check::faults::MEMORY_STALE_UNDECIDED;
use crate::debug::run::RunError;

/// What sequentially consistent runs leave is known where at most one in this many left a result that no other left (Good and Turing's
/// estimate of what is unseen). Where it is not, a result that is not decided says nothing.
const UNSEEN: u64 = 20;

/// Results of which runs are followed, runs of each, and results that all orders are asked for.
const FOLLOWED_MAX: usize = 64;
const RUNS_MAX: usize = 4;
const ASKED_MAX: usize = 16;

/// What an order left on weak memory, and what it leaves if a load returns the newest write.
pub(super) struct WeakOrder {
    /// The first load that returned an older write, with what the order left; none if no load did.
    pub(super) weak: Option<(JudgedOrder, Finding)>,
    pub(super) consistent: JudgedOrder,
}

/// A result of orders on weak memory, with the number of each and the load of it that returned an older write.
struct WeakResult {
    result: JudgedOrder,
    orders: Vec<(u64, Finding)>,
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

    /// True if hardly any result of sequentially consistent runs is unseen.
    fn is_known(&self) -> bool {
        let runs: u64 = self.consistent.iter().map(|(_, count)| count).sum();
        let once = self.consistent.iter().filter(|(_, count)| *count == 1).count() as u64;
        once.saturating_mul(UNSEEN) <= runs
    }

    /// Adds the findings to those of the orders.
    pub fn report(&mut self, merged: &mut MergedFindings, judge: Judge<'_>) -> Result<(), RunError> {
        let mut unseen = std::mem::take(&mut self.weak);
        unseen.retain(|weak| !self.consistent.iter().any(|(other, _)| other.is_same(&weak.result)));
        let is_known = self.is_known();
        let mut open = Vec::new();
        for weak in unseen.into_iter().take(FOLLOWED_MAX) {
            let mut is_of_both = false;
            for (index, _) in weak.orders.iter().take(RUNS_MAX) {
                is_of_both = is_of_both || is_consistent(judge.subject, &merged.orders.options(*index), &|| false)?;
            }
            match is_of_both {
                true => self.consistent.push((weak.result, 1)),
                false => open.push(weak),
            }
        }
        open.truncate(ASKED_MAX);
        if open.is_empty() {
            return Ok(());
        }
        let results: Vec<&JudgedOrder> = open.iter().map(|weak| &weak.result).collect();
        let decision = decide(judge.subject, judge.steps, &results, judge.interrupt)?;
        for (weak, is_reached) in open.into_iter().zip(&decision.reached) {
            let is_decided = decision.is_complete && judge.is_whole && !weak.orders.iter().any(|(_, stale)| is_within_warp(stale));
            if *is_reached || !is_decided && weak.result.is_any_end() && !is_known {
                continue;
            }
            for (index, stale) in weak.orders {
                let finding = if is_decided { stale } else { undecided(stale, decision.tried) };
                merged.add_order(index, None, std::slice::from_ref(&finding))?;
            }
        }
        Ok(())
    }
}

/// True if reader and writer are of one warp, whose lanes take turns in one order only.
fn is_within_warp(stale: &Finding) -> bool {
    let warp = |side: &crate::check::Side| (side.point.block, side.point.warp);
    stale.first.as_ref().is_some_and(|first| warp(first) == warp(&stale.second))
}

fn undecided(stale: Finding, tried: u64) -> Finding {
    let why = format!("{}; not decided, none of {tried} sequentially consistent orders has the result", stale.why);
    Finding { id: MEMORY_STALE_UNDECIDED, severity: MEMORY_STALE_UNDECIDED.severity(), why, ..stale }
}
