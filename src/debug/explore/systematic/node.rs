//! A node: a point in an order (schedule) at which a warp is chosen, with the choices that were tried.

use std::collections::BTreeSet;

use super::object_access::{ObjectAccess, WarpKey, are_independent, depends};
use super::position::Position;
use super::trace::Trace;

/// A warp, and what the step touches that it takes.
pub type WarpStep = (WarpKey, Vec<ObjectAccess>);

/// A choice that is over.
pub struct Tried {
    pub step: WarpStep,
    /// Whether all that can follow was seen, whatever it takes.
    pub is_whole: bool,
}

/// A place in an order at which a warp is chosen.
pub struct Node {
    /// The warps that can take a step.
    pub ready: Vec<WarpKey>,
    /// The warp that took the last step, if it could take another one.
    pub current: Option<WarpKey>,
    /// Switches up to here from warps that could have gone on.
    pub preemptions: u32,
    /// The warps that are to be tried.
    pub todo: BTreeSet<WarpKey>,
    pub tried: Vec<Tried>,
    /// The warps that would only wait on, and what for.
    pub waiting: Vec<WarpStep>,
    /// The warps whose next steps were seen before what has happened since, which they do not depend on.
    pub asleep: Vec<WarpStep>,
    /// The present choice.
    pub chosen: Option<WarpStep>,
    /// Preemptions that it takes.
    pub chosen_cost: u32,
    /// The node from which on the chosen warp has had the turn.
    pub run_start: usize,
    /// Whether orders that follow the present choice were left out because of the bound on preemptions.
    pub choice_hits_bound: bool,
    /// Whether orders through this node were left out because of that bound.
    pub hits_bound: bool,
    /// The state here, if it is kept.
    pub kept: Option<Box<(Position, Trace)>>,
}

impl Node {
    /// The node after `parent`, the first without one.
    pub fn new(parent: Option<&Node>, position: &Position) -> Self {
        let ready = position.ready();
        let (mut current, mut preemptions, mut waiting, mut asleep) = (None, 0, Vec::new(), Vec::new());
        if let Some((parent, (warp, accesses))) = parent.and_then(|parent| Some((parent, parent.chosen.as_ref()?))) {
            preemptions = parent.preemptions + parent.chosen_cost;
            current = ready.contains(warp).then_some(*warp);
            let is_apart = |known: &&WarpStep| known.0 != *warp && ready.contains(&known.0);
            let waits_on = |known: &&WarpStep| is_apart(known) && !known.1.iter().any(|read| is_woken(read, accesses));
            waiting = parent.waiting.iter().filter(waits_on).cloned().collect();
            let whole = parent.tried.iter().filter(|tried| tried.is_whole).map(|tried| &tried.step);
            let sleeps = |known: &&WarpStep| is_apart(known) && are_independent(&known.1, accesses);
            asleep = parent.asleep.iter().chain(whole).filter(sleeps).cloned().collect();
        }
        Self {
            ready,
            current,
            preemptions,
            todo: BTreeSet::new(),
            tried: Vec::new(),
            waiting,
            asleep,
            chosen: None,
            chosen_cost: 0,
            run_start: 0,
            choice_hits_bound: false,
            hits_bound: false,
            kept: None,
        }
    }

    pub fn is_asleep(&self, warp: WarpKey) -> bool {
        self.asleep.iter().any(|(asleep, _)| *asleep == warp)
    }

    pub fn is_waiting(&self, warp: WarpKey) -> bool {
        self.waiting.iter().any(|(waiting, _)| *waiting == warp)
    }

    /// How many preemptions it takes to choose a warp here.
    pub fn cost(&self, warp: WarpKey, position: &Position) -> u32 {
        let is_preempted = |current: WarpKey| current != warp && !self.is_waiting(current) && !position.spins(current);
        u32::from(self.current.is_some_and(is_preempted))
    }

    /// The warps in the order in which they are chosen first: the one that has the turn, then those after it; those that spin last.
    pub fn first_choices(&self, last: Option<WarpKey>, position: &Position) -> Vec<WarpKey> {
        let mut choices = self.ready.clone();
        choices.sort_by_key(|warp| (position.spins(*warp), self.current != Some(*warp), last.is_some_and(|last| *warp < last), *warp));
        choices
    }

    /// Whether a step that was tried here changes what a wait reads.
    pub fn has_woken(&self, reads: &[ObjectAccess]) -> bool {
        self.tried.iter().any(|tried| reads.iter().any(|read| is_woken(read, &tried.step.1)))
    }
}

/// Whether a step changes what a wait has read.
fn is_woken(read: &ObjectAccess, step: &[ObjectAccess]) -> bool {
    step.iter().any(|access| depends(read, access).is_some() || depends(access, read).is_some())
}
