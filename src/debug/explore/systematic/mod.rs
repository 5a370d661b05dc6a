//! Enumerates the orders (schedules) of a case that may have different results.
//!
//! An order is a sequence of steps of warps. A step begins with a synchronization operation, or with a plain access that is known
//! to race, and extends to the next such operation of its warp. Orders that differ only in the order of independent steps have the same
//! result, and one of them is enough: dynamic partial order reduction (Flanagan and Godefroid, 2005) with sleep sets finds two dependent
//! steps that could be reversed, and backtracks to the initials of such an order (Abdulla, Aronis, Jonsson and Sagonas, "Optimal Dynamic
//! Partial Order Reduction", 2014). The number of preemptions is bounded; so each backtrack is also added where the preempted warp began to
//! run (Coons, Musuvathi and McKinley, "Bounded Partial-Order Reduction", 2013), and a step is added to the sleep set only if its subtree
//! was explored without reaching the bound.
//!
//! A step that would only find that its warp must continue to wait is not taken: the warp waits until a step of another warp changes what
//! it reads. The order of diverged lanes of a warp, and the completion of asynchronous operations, are those of the session's order.

mod node;
mod object_access;
mod points;
mod position;
mod step_observer;
mod trace;

use std::collections::BTreeSet;

use node::{ExploredChoice, Node};
use object_access::{AccessMode, ObjectAccess, WarpKey};
use points::Points;
use position::Position;
pub use position::Subject;
use trace::{Race, Trace, accesses};

use crate::debug::run::{RunError, RunOptions};
use crate::machine::ContextSwitch;
use crate::program::Pc;

/// Maximum number of snapshots to backtrack to.
const SNAPSHOTS_MAX: usize = 128;

/// Maximum number of accesses in all snapshots; one snapshot is always kept.
const STORED_ACCESSES_MAX: usize = 1 << 21;

/// A search for the orders of a case.
pub struct Search {
    subject: Subject,
    points: Points,
    /// Maximum number of preemptions of an order.
    bound: u32,
    position: Position,
    trace: Trace,
    nodes: Vec<Node>,
    /// Every node whose number is a multiple of it has a snapshot.
    stride: usize,
    /// Plain accesses that race.
    racing: BTreeSet<Pc>,
    /// Fingerprints of the orders found so far.
    fingerprints: BTreeSet<u64>,
    /// True while steps are added to the current order.
    is_descending: bool,
    hits_bound: bool,
}

/// The next result of a search.
pub enum SearchResult {
    /// An order.
    Order(Box<[ContextSwitch]>),
    /// There are no more.
    Exhausted,
    /// New racing accesses were found: the search has restarted, and the orders so far are void.
    Restarted,
    /// It was interrupted.
    Interrupted,
}

/// The result of a choice.
enum Choice {
    Executed,
    Waits(Vec<ObjectAccess>),
    Interrupted,
}

impl Search {
    /// A search for the orders with at most `bound` preemptions.
    ///
    /// # Errors
    /// Reasons outside the kernel.
    pub fn new(subject: Subject, bound: u32) -> Result<Self, RunError> {
        let racing = BTreeSet::new();
        let (points, position) = (Points::new(&subject.program, &racing), Position::new(&subject)?);
        let (trace, nodes, fingerprints) = (Trace::default(), Vec::new(), BTreeSet::new());
        Ok(Self { subject, points, bound, position, trace, nodes, stride: 1, racing, fingerprints, is_descending: true, hits_bound: false })
    }

    /// Maximum number of preemptions of an order.
    pub fn bound(&self) -> u32 {
        self.bound
    }

    /// True if orders were left out because they need more preemptions.
    pub fn hits_bound(&self) -> bool {
        self.hits_bound || self.nodes.iter().any(|node| node.hits_bound)
    }

    /// True if it is a search in the same run.
    pub fn is_of(&self, subject: &Subject) -> bool {
        // The step limit depends on the recording, which may have grown.
        let options = |subject: &Subject| format!("{:?}", RunOptions { step_limit: None, ..subject.options.clone() });
        std::sync::Arc::ptr_eq(&self.subject.case, &subject.case) && options(&self.subject) == options(subject)
    }

    /// The next order; `is_interrupted` returns true to interrupt the search.
    ///
    /// # Errors
    /// Reasons outside the kernel.
    pub fn next(&mut self, mut is_interrupted: impl FnMut() -> bool) -> Result<SearchResult, RunError> {
        let racing_before = self.racing.len();
        loop {
            if is_interrupted() {
                return Ok(SearchResult::Interrupted);
            }
            if self.is_descending {
                let is_order = match self.descend(&mut is_interrupted)? {
                    Descent::Deeper => continue,
                    Descent::Interrupted => return Ok(SearchResult::Interrupted),
                    Descent::Over => true,
                    Descent::Redundant => false,
                };
                self.is_descending = false;
                if self.racing.len() > racing_before {
                    self.restart()?;
                    return Ok(SearchResult::Restarted);
                }
                if is_order && self.fingerprints.insert(self.trace.fingerprint()) {
                    return Ok(SearchResult::Order(self.position.switches.clone().into_boxed_slice()));
                }
            } else {
                match self.ascend(&mut is_interrupted)? {
                    Ascent::Chosen => self.is_descending = true,
                    Ascent::Interrupted => return Ok(SearchResult::Interrupted),
                    Ascent::Exhausted => return Ok(SearchResult::Exhausted),
                }
            }
        }
    }

    fn restart(&mut self) -> Result<(), RunError> {
        self.points = Points::new(&self.subject.program, &self.racing);
        self.position = Position::new(&self.subject)?;
        (self.trace, self.nodes, self.stride) = (Trace::default(), Vec::new(), 1);
        (self.is_descending, self.hits_bound) = (true, false);
        self.fingerprints.clear();
        Ok(())
    }

    /// Adds a node, and chooses its first warp.
    fn descend(&mut self, is_interrupted: &mut dyn FnMut() -> bool) -> Result<Descent, RunError> {
        let last = self.nodes.last().and_then(|node| Some(node.chosen.as_ref()?.0));
        let mut node = Node::new(self.nodes.last(), &self.position);
        if node.ready.is_empty() {
            return Ok(Descent::Over);
        }
        if self.nodes.len().is_multiple_of(self.stride) {
            node.snapshot = Some(Box::new((self.position.clone(), self.trace.clone())));
        }
        let choices = node.first_choices(last, &self.position);
        self.nodes.push(node);
        self.drop_snapshots();
        let (mut sleeps, mut hits_bound) = (false, false);
        for warp in choices {
            let node = &self.nodes[self.nodes.len() - 1];
            if node.is_asleep(warp) {
                sleeps = true;
            } else if node.is_waiting(warp) || self.position.spins_forever(warp) {
            } else if node.preemptions + node.cost(warp, &self.position) > self.bound {
                hits_bound = true;
            } else {
                match self.choose(warp, is_interrupted)? {
                    Choice::Executed => return Ok(Descent::Deeper),
                    Choice::Waits(_) => {}
                    Choice::Interrupted => {
                        self.nodes.pop();
                        return Ok(Descent::Interrupted);
                    }
                }
            }
        }
        if let Some(node) = self.nodes.last_mut() {
            node.hits_bound |= hits_bound;
        }
        Ok(if sleeps || hits_bound { Descent::Redundant } else { Descent::Over })
    }

    /// Lets a warp take a step at the last node.
    fn choose(&mut self, warp: WarpKey, is_interrupted: &mut dyn FnMut() -> bool) -> Result<Choice, RunError> {
        let at = self.nodes.len() - 1;
        let (before, cost) = (self.position.clone(), self.nodes[at].cost(warp, &self.position));
        let Self { position, subject, points, trace, .. } = self;
        let Some(result) = position.step((subject, points), warp, &|at| trace.phase(at), is_interrupted)? else {
            self.position = before;
            return Ok(Choice::Interrupted);
        };
        let mut step = accesses(&result.events);
        if result.waits {
            self.position = before;
            // A failing test changes nothing.
            step.iter_mut().for_each(|access| access.mode = AccessMode::Reads);
            let races = self.trace.races(warp, &step);
            self.nodes[at].waiting.push((warp, step.clone()));
            self.add_backtracks(&races, warp);
            return Ok(Choice::Waits(step));
        }
        let mut races = self.trace.add(warp, &result.events, &mut self.racing);
        let fails = |(object, phase)| ObjectAccess { object, mode: AccessMode::Fails(phase), bytes: u8::MAX, pc: Pc(0) };
        let awaited: Vec<ObjectAccess> = self.position.awaited_mbarriers(warp).into_iter().map(fails).collect();
        races.extend(self.trace.races(warp, &awaited));
        self.extend_trace(warp, result.is_last, &result.started);
        let before = at.checked_sub(1).map(|before| &self.nodes[before]);
        let same_warp = before.filter(|before| before.chosen.as_ref().is_some_and(|(chosen, _)| *chosen == warp));
        let run_start = same_warp.map_or(at, |before| before.run_start);
        let node = &mut self.nodes[at];
        (node.chosen, node.chosen_cost, node.run_start, node.choice_hits_bound) = (Some((warp, step)), cost, run_start, false);
        self.add_backtracks(&races, warp);
        Ok(Choice::Executed)
    }

    /// Adds the consequences of a step: the end of the launch, and blocks that started.
    fn extend_trace(&mut self, warp: WarpKey, is_last: bool, started: &[WarpKey]) {
        if is_last {
            self.trace.end_launch();
        }
        for block in started {
            self.trace.begin(*block, warp);
        }
    }

    /// Adds `warp`, or other initials, to the backtrack sets of the steps with which its step races.
    fn add_backtracks(&mut self, races: &[Race], warp: WarpKey) {
        for race in races {
            let start = self.nodes[race.step].run_start;
            for at in [race.step, start] {
                let node = &mut self.nodes[at];
                let initials = if race.initials.contains(&warp) { &[][..] } else { &race.initials };
                let mut warps: Vec<WarpKey> = initials.iter().chain([&warp]).copied().filter(|warp| node.ready.contains(warp)).collect();
                if warps.is_empty() {
                    warps.clone_from(&node.ready);
                }
                node.backtrack.extend(warps);
            }
        }
    }

    /// Backtracks to the last node with a warp in its backtrack set, and chooses that warp.
    fn ascend(&mut self, is_interrupted: &mut dyn FnMut() -> bool) -> Result<Ascent, RunError> {
        loop {
            let Some(at) = self.nodes.len().checked_sub(1) else { return Ok(Ascent::Exhausted) };
            let node = &mut self.nodes[at];
            if let Some(step) = node.chosen.take() {
                let is_exhaustive = !node.choice_hits_bound;
                node.explored.push(ExploredChoice { step, is_exhaustive });
            }
            let is_new = |warp: &WarpKey| {
                !node.explored.iter().any(|tried| tried.step.0 == *warp) && !node.is_asleep(*warp) && !node.is_waiting(*warp)
            };
            let Some(warp) = node.backtrack.iter().copied().find(is_new) else {
                self.pop_node();
                continue;
            };
            if !self.restore(at, is_interrupted)? {
                return Ok(Ascent::Interrupted);
            }
            let node = &mut self.nodes[at];
            node.backtrack.remove(&warp);
            if node.preemptions + node.cost(warp, &self.position) > self.bound {
                node.hits_bound = true;
                continue;
            }
            match self.choose(warp, is_interrupted)? {
                Choice::Executed => return Ok(Ascent::Chosen),
                Choice::Interrupted => {
                    self.nodes[at].backtrack.insert(warp);
                    return Ok(Ascent::Interrupted);
                }
                Choice::Waits(reads) => {
                    let node = &mut self.nodes[at];
                    if !node.has_woken(&reads) {
                        node.backtrack.extend(node.ready.clone());
                    }
                }
            }
        }
    }

    /// Removes the last node, whose subtree is explored.
    fn pop_node(&mut self) {
        let Some(node) = self.nodes.pop() else { return };
        self.hits_bound |= node.hits_bound;
        if let Some(parent) = self.nodes.last_mut() {
            parent.hits_bound |= node.hits_bound;
            parent.choice_hits_bound |= node.hits_bound;
        }
    }

    /// Restores the state at a node; false if it is interrupted.
    fn restore(&mut self, at: usize, is_interrupted: &mut dyn FnMut() -> bool) -> Result<bool, RunError> {
        let from = (0..=at).rev().find_map(|from| Some((from, self.nodes[from].snapshot.as_ref()?)));
        let Some((from, snapshot)) = from else { return Ok(true) };
        (self.position, self.trace) = (**snapshot).clone();
        for node in from..at {
            let Some(warp) = self.nodes[node].chosen.as_ref().map(|(warp, _)| *warp) else { continue };
            let Self { position, subject, points, trace, .. } = self;
            let result = position.step((subject, points), warp, &|at| trace.phase(at), is_interrupted)?;
            let Some(result) = result.filter(|_| !is_interrupted()) else { return Ok(false) };
            self.trace.add(warp, &result.events, &mut self.racing);
            self.extend_trace(warp, result.is_last, &result.started);
        }
        Ok(true)
    }

    /// Drops snapshots if there are too many.
    fn drop_snapshots(&mut self) {
        let snapshots = self.nodes.len().div_ceil(self.stride);
        if snapshots <= SNAPSHOTS_MAX && (snapshots == 1 || snapshots * self.trace.size() <= STORED_ACCESSES_MAX) {
            return;
        }
        self.stride *= 2;
        let stride = self.stride;
        self.nodes.iter_mut().enumerate().filter(|(at, _)| !at.is_multiple_of(stride)).for_each(|(_, node)| node.snapshot = None);
    }
}

/// The state of an order during the descent.
enum Descent {
    /// It continues.
    Deeper,
    /// It is over.
    Over,
    /// The rest was explored in another order, or needs more preemptions.
    Redundant,
    Interrupted,
}

/// The result of the search for the next order.
enum Ascent {
    /// Another warp was chosen.
    Chosen,
    /// No choices are left.
    Exhausted,
    Interrupted,
}
