//! A node of the search tree: a point in an order (schedule) at which a warp is chosen, with the choices explored so far.

use std::collections::BTreeSet;

use super::object_access::{ObjectAccess, WarpKey, are_independent, depends};
use super::position::Position;
use super::trace::Trace;

/// A warp, and the accesses of its step.
pub type WarpStep = (WarpKey, Vec<ObjectAccess>);

/// A choice whose subtree is explored.
pub struct ExploredChoice {
    pub step: WarpStep,
    /// True if no order after it was left out because of the preemption bound.
    pub is_exhaustive: bool,
}

/// A point in an order at which a warp is chosen.
pub struct Node {
    /// The warps that can take a step.
    pub ready: Vec<WarpKey>,
    /// The warp that took the last step, if it could take another one.
    pub current: Option<WarpKey>,
    /// The number of preemptions up to here.
    pub preemptions: u32,
    /// The backtrack set: warps to be explored.
    pub backtrack: BTreeSet<WarpKey>,
    /// The explored choices.
    pub explored: Vec<ExploredChoice>,
    /// The warps that would only continue to wait, with the accesses of their waits.
    pub waiting: Vec<WarpStep>,
    /// The sleep set: warps whose next steps were explored earlier and are independent of the steps since.
    pub asleep: Vec<WarpStep>,
    /// The current choice.
    pub chosen: Option<WarpStep>,
    /// Preemptions of the current choice: 0 or 1.
    pub chosen_cost: u32,
    /// The node from which on the chosen warp has run without a switch.
    pub run_start: usize,
    /// True if orders after the current choice were left out because of the preemption bound.
    pub choice_hits_bound: bool,
    /// True if orders through this node were left out because of that bound.
    pub hits_bound: bool,
    /// The snapshot of the state at this node, if it has one.
    pub snapshot: Option<Box<(Position, Trace)>>,
}

impl Node {
    /// The node after `parent`; the root without one.
    pub fn new(parent: Option<&Node>, position: &Position) -> Self {
        let ready = position.ready();
        let (mut current, mut preemptions, mut waiting, mut asleep) = (None, 0, Vec::new(), Vec::new());
        if let Some((parent, (warp, accesses))) = parent.and_then(|parent| Some((parent, parent.chosen.as_ref()?))) {
            preemptions = parent.preemptions + parent.chosen_cost;
            current = ready.contains(warp).then_some(*warp);
            let is_other = |entry: &&WarpStep| entry.0 != *warp && ready.contains(&entry.0);
            let waits_on = |entry: &&WarpStep| is_other(entry) && !entry.1.iter().any(|read| is_woken(read, accesses));
            waiting = parent.waiting.iter().filter(waits_on).cloned().collect();
            let exhausted = parent.explored.iter().filter(|explored| explored.is_exhaustive).map(|explored| &explored.step);
            let sleeps = |entry: &&WarpStep| is_other(entry) && are_independent(&entry.1, accesses);
            asleep = parent.asleep.iter().chain(exhausted).filter(sleeps).cloned().collect();
        }
        Self {
            ready,
            current,
            preemptions,
            backtrack: BTreeSet::new(),
            explored: Vec::new(),
            waiting,
            asleep,
            chosen: None,
            chosen_cost: 0,
            run_start: 0,
            choice_hits_bound: false,
            hits_bound: false,
            snapshot: None,
        }
    }

    pub fn is_asleep(&self, warp: WarpKey) -> bool {
        self.asleep.iter().any(|(asleep, _)| *asleep == warp)
    }

    pub fn is_waiting(&self, warp: WarpKey) -> bool {
        self.waiting.iter().any(|(waiting, _)| *waiting == warp)
    }

    /// The number of preemptions of choosing a warp here: 0 or 1.
    pub fn cost(&self, warp: WarpKey, position: &Position) -> u32 {
        let is_preempted = |current: WarpKey| current != warp && !self.is_waiting(current) && !position.spins(current);
        u32::from(self.current.is_some_and(is_preempted))
    }

    /// The warps in the order of the first descent: the current one, then those after it; spinning warps last.
    pub fn first_choices(&self, last: Option<WarpKey>, position: &Position) -> Vec<WarpKey> {
        let mut choices = self.ready.clone();
        choices.sort_by_key(|warp| (position.spins(*warp), self.current != Some(*warp), last.is_some_and(|last| *warp < last), *warp));
        choices
    }

    /// True if a step explored here changes what a wait reads.
    pub fn has_woken(&self, reads: &[ObjectAccess]) -> bool {
        self.explored.iter().any(|explored| reads.iter().any(|read| is_woken(read, &explored.step.1)))
    }
}

/// True if a step changes what a wait has read.
fn is_woken(read: &ObjectAccess, step: &[ObjectAccess]) -> bool {
    step.iter().any(|access| depends(read, access).is_some() || depends(access, read).is_some())
}
