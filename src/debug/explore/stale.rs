//! Results that only weak memory gives: those of orders on weak memory that no sequentially consistent run of an order leaves.

use super::merged_findings::MergedFindings;
use super::outcome::JudgedOrder;
use crate::check::Finding;
use crate::debug::run::RunError;

/// A result stands for all that were not seen where at most one run in this many left a result that no other run left (Good and Turing's
/// estimate of what is unseen).
const UNSEEN: u64 = 20;

/// What an order left on weak memory, and what it leaves if a load returns the newest write.
pub(super) struct WeakOrder {
    /// The first load that returned an older write, with what the order left; none if no load did.
    pub(super) weak: Option<(JudgedOrder, Finding)>,
    pub(super) consistent: JudgedOrder,
}

/// The results of orders with and without weak memory.
#[derive(Default)]
pub(super) struct StaleResults {
    consistent: Vec<(JudgedOrder, u64)>,
    /// Those of orders on weak memory with a load that returned an older write: the number of the order first.
    weak: Vec<(u64, JudgedOrder, Finding)>,
}

impl StaleResults {
    /// Adds the results of an order.
    pub fn add(&mut self, index: u64, order: WeakOrder) {
        match self.consistent.iter_mut().find(|(result, _)| result.is_same(&order.consistent)) {
            Some((_, count)) => *count += 1,
            None => self.consistent.push((order.consistent, 1)),
        }
        // A result that a sequentially consistent run leaves stays one.
        let is_new = |result: &JudgedOrder| !self.consistent.iter().any(|(other, _)| other.is_same(result));
        self.weak.extend(order.weak.filter(|(result, _)| is_new(result)).map(|(result, stale)| (index, result, stale)));
    }

    /// True if no sequentially consistent run leaves a result: none has, and those that ran leave no others.
    fn is_only_weak(&self, result: &JudgedOrder) -> bool {
        let runs: u64 = self.consistent.iter().map(|(_, count)| count).sum();
        let once = self.consistent.iter().filter(|(_, count)| *count == 1).count() as u64;
        let is_known = !result.is_any_end() || once.saturating_mul(UNSEEN) <= runs;
        is_known && !self.consistent.iter().any(|(other, _)| other.is_same(result))
    }

    /// Adds the findings to those of the orders. A result of which too few runs were seen waits for more of them.
    pub fn report(&mut self, merged: &mut MergedFindings) -> Result<(), RunError> {
        let (shown, kept) = std::mem::take(&mut self.weak).into_iter().partition(|(_, result, _)| self.is_only_weak(result));
        self.weak = kept;
        let shown: Vec<(u64, JudgedOrder, Finding)> = shown;
        shown.iter().try_for_each(|(index, _, stale)| merged.add_order(*index, None, std::slice::from_ref(stale)))
    }
}
