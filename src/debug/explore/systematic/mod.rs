//! All schedules of a case that differ in what depends on the schedule, one after the other; the commands call a schedule an order.
//!
//! A schedule is a sequence of steps of warps. A step begins with a synchronization operation, or with a plain access that was seen to
//! race, and goes on to the next of its warp. Orders that differ only in the order of steps that do not depend on each other lead to the
//! same, and one of them is enough: dynamic partial order reduction (Flanagan and Godefroid, 2005) with sleep sets finds where two steps
//! that depend on each other could have come the other way round, and tries that, by the warps with which such an order can begin (Abdulla,
//! Aronis, Jonsson and Sagonas, "Optimal Dynamic Partial Order Reduction", 2014). How often the turn is taken from a warp that could go on
//! is bounded; so where a warp is to be tried, it is tried as well where the turn came to the warp that has it (Coons, Musuvathi and
//! McKinley, "Bounded Partial-Order Reduction", 2013), and a step sleeps only if what follows it was seen without the bound.
//!
//! A warp whose next step only finds that it has to wait on does not take it: it waits until a step of another one changes what it reads.
//! Which lanes of a warp go first, and when asynchronous operations end, is as in the run's own order.

mod node;
mod object_access;
mod points;
mod position;
mod step_observer;
mod trace;

use std::collections::BTreeSet;

use node::{Node, Tried};
use object_access::{AccessMode, ObjectAccess, WarpKey};
use points::Points;
use position::Position;
pub use position::Subject;
use trace::{Race, Trace, accesses};

use crate::debug::run::{RunError, RunOptions};
use crate::machine::Switch;
use crate::program::Pc;

/// States that are kept at most, to come back to.
const KEPT: usize = 128;

/// Accesses that these remember together at most; one state is kept in any case.
const REMEMBERED: usize = 1 << 21;

/// A search for the orders of a case.
pub struct Search {
    subject: Subject,
    points: Points,
    /// Preemptions of an order at most.
    bound: u32,
    position: Position,
    trace: Trace,
    nodes: Vec<Node>,
    /// The state is kept at every node whose number is a multiple of it.
    stride: usize,
    /// Plain accesses that race.
    racing: BTreeSet<Pc>,
    /// Fingerprints of the orders that were found.
    seen: BTreeSet<u64>,
    /// Whether steps are added to the present order.
    goes_down: bool,
    hits_bound: bool,
}

/// The next result of a search.
pub enum Found {
    /// An order.
    Order(Box<[Switch]>),
    /// There are no more.
    Through,
    /// Some accesses race that did not before: what was found so far is forgotten.
    Again,
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
    /// A search for the orders with this many preemptions at most.
    ///
    /// # Errors
    /// Reasons outside the kernel.
    pub fn new(subject: Subject, bound: u32) -> Result<Self, RunError> {
        let racing = BTreeSet::new();
        let (points, position) = (Points::new(&subject.program, &racing), Position::new(&subject)?);
        let (trace, nodes, seen) = (Trace::default(), Vec::new(), BTreeSet::new());
        Ok(Self { subject, points, bound, position, trace, nodes, stride: 1, racing, seen, goes_down: true, hits_bound: false })
    }

    /// Preemptions of an order at most.
    pub fn bound(&self) -> u32 {
        self.bound
    }

    /// Whether orders were left out that take more preemptions.
    pub fn hits_bound(&self) -> bool {
        self.hits_bound || self.nodes.iter().any(|node| node.hits_bound)
    }

    /// Whether it is a search in the same run.
    pub fn is_of(&self, subject: &Subject) -> bool {
        // The limit follows from what was run meanwhile.
        let options = |subject: &Subject| format!("{:?}", RunOptions { step_limit: None, ..subject.options.clone() });
        std::sync::Arc::ptr_eq(&self.subject.case, &subject.case) && options(&self.subject) == options(subject)
    }

    /// The next order; `ends` says whether the search is to be interrupted.
    ///
    /// # Errors
    /// Reasons outside the kernel.
    pub fn next(&mut self, mut ends: impl FnMut() -> bool) -> Result<Found, RunError> {
        let known = self.racing.len();
        loop {
            if ends() {
                return Ok(Found::Interrupted);
            }
            if self.goes_down {
                let is_order = match self.descend(&mut ends)? {
                    Descent::Deeper => continue,
                    Descent::Interrupted => return Ok(Found::Interrupted),
                    Descent::Over => true,
                    Descent::Redundant => false,
                };
                self.goes_down = false;
                if self.racing.len() > known {
                    self.begin_again()?;
                    return Ok(Found::Again);
                }
                if is_order && self.seen.insert(self.trace.fingerprint()) {
                    return Ok(Found::Order(self.position.switches.clone().into_boxed_slice()));
                }
            } else {
                match self.ascend(&mut ends)? {
                    Ascent::Chosen => self.goes_down = true,
                    Ascent::Interrupted => return Ok(Found::Interrupted),
                    Ascent::Through => return Ok(Found::Through),
                }
            }
        }
    }

    fn begin_again(&mut self) -> Result<(), RunError> {
        self.points = Points::new(&self.subject.program, &self.racing);
        self.position = Position::new(&self.subject)?;
        (self.trace, self.nodes, self.stride) = (Trace::default(), Vec::new(), 1);
        (self.goes_down, self.hits_bound) = (true, false);
        self.seen.clear();
        Ok(())
    }

    /// Adds a node, and chooses its first warp.
    fn descend(&mut self, ends: &mut dyn FnMut() -> bool) -> Result<Descent, RunError> {
        let last = self.nodes.last().and_then(|node| Some(node.chosen.as_ref()?.0));
        let mut node = Node::new(self.nodes.last(), &self.position);
        if node.ready.is_empty() {
            return Ok(Descent::Over);
        }
        if self.nodes.len().is_multiple_of(self.stride) {
            node.kept = Some(Box::new((self.position.clone(), self.trace.clone())));
        }
        let choices = node.first_choices(last, &self.position);
        self.nodes.push(node);
        self.thin_out();
        let (mut sleeps, mut hits_bound) = (false, false);
        for warp in choices {
            let node = &self.nodes[self.nodes.len() - 1];
            if node.is_asleep(warp) {
                sleeps = true;
            } else if node.is_waiting(warp) || self.position.spins_forever(warp) {
            } else if node.preemptions + node.cost(warp, &self.position) > self.bound {
                hits_bound = true;
            } else {
                match self.choose(warp, ends)? {
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
    fn choose(&mut self, warp: WarpKey, ends: &mut dyn FnMut() -> bool) -> Result<Choice, RunError> {
        let at = self.nodes.len() - 1;
        let (before, cost) = (self.position.clone(), self.nodes[at].cost(warp, &self.position));
        let Self { position, subject, points, trace, .. } = self;
        let Some(result) = position.step((subject, points), warp, &|at| trace.phase(at), ends)? else {
            self.position = before;
            return Ok(Choice::Interrupted);
        };
        let mut step = accesses(&result.events);
        if result.waits {
            self.position = before;
            // What fails changes nothing.
            step.iter_mut().for_each(|access| access.mode = AccessMode::Reads);
            let races = self.trace.races(warp, &step);
            self.nodes[at].waiting.push((warp, step.clone()));
            self.try_before(&races, warp);
            return Ok(Choice::Waits(step));
        }
        let mut races = self.trace.add(warp, &result.events, &mut self.racing);
        let fails = |(object, phase)| ObjectAccess { object, mode: AccessMode::Fails(phase), bytes: u8::MAX, pc: Pc(0) };
        let awaited: Vec<ObjectAccess> = self.position.awaited(warp).into_iter().map(fails).collect();
        races.extend(self.trace.races(warp, &awaited));
        self.extend_trace(warp, result.is_last, &result.started);
        let before = at.checked_sub(1).map(|before| &self.nodes[before]);
        let goes_on = before.filter(|before| before.chosen.as_ref().is_some_and(|(chosen, _)| *chosen == warp));
        let run_start = goes_on.map_or(at, |before| before.run_start);
        let node = &mut self.nodes[at];
        (node.chosen, node.chosen_cost, node.run_start, node.choice_hits_bound) = (Some((warp, step)), cost, run_start, false);
        self.try_before(&races, warp);
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

    /// `warp` is to be tried before steps with which its own races.
    fn try_before(&mut self, races: &[Race], warp: WarpKey) {
        for race in races {
            let start = self.nodes[race.step].run_start;
            for at in [race.step, start] {
                let node = &mut self.nodes[at];
                let initials = if race.initials.contains(&warp) { &[][..] } else { &race.initials };
                let mut tried: Vec<WarpKey> = initials.iter().chain([&warp]).copied().filter(|warp| node.ready.contains(warp)).collect();
                if tried.is_empty() {
                    tried.clone_from(&node.ready);
                }
                node.todo.extend(tried);
            }
        }
    }

    /// Goes back to the last place where another warp is to be tried, and chooses that.
    fn ascend(&mut self, ends: &mut dyn FnMut() -> bool) -> Result<Ascent, RunError> {
        loop {
            let Some(at) = self.nodes.len().checked_sub(1) else { return Ok(Ascent::Through) };
            let node = &mut self.nodes[at];
            if let Some(step) = node.chosen.take() {
                let is_whole = !node.choice_hits_bound;
                node.tried.push(Tried { step, is_whole });
            }
            let is_new =
                |warp: &WarpKey| !node.tried.iter().any(|tried| tried.step.0 == *warp) && !node.is_asleep(*warp) && !node.is_waiting(*warp);
            let Some(warp) = node.todo.iter().copied().find(is_new) else {
                self.leave();
                continue;
            };
            if !self.restore(at, ends)? {
                return Ok(Ascent::Interrupted);
            }
            let node = &mut self.nodes[at];
            node.todo.remove(&warp);
            if node.preemptions + node.cost(warp, &self.position) > self.bound {
                node.hits_bound = true;
                continue;
            }
            match self.choose(warp, ends)? {
                Choice::Executed => return Ok(Ascent::Chosen),
                Choice::Interrupted => {
                    self.nodes[at].todo.insert(warp);
                    return Ok(Ascent::Interrupted);
                }
                Choice::Waits(reads) => {
                    let node = &mut self.nodes[at];
                    if !node.has_woken(&reads) {
                        node.todo.extend(node.ready.clone());
                    }
                }
            }
        }
    }

    /// All that follows the last node was seen.
    fn leave(&mut self) {
        let Some(node) = self.nodes.pop() else { return };
        self.hits_bound |= node.hits_bound;
        if let Some(parent) = self.nodes.last_mut() {
            parent.hits_bound |= node.hits_bound;
            parent.choice_hits_bound |= node.hits_bound;
        }
    }

    /// Goes to the state at a node; false if it is interrupted.
    fn restore(&mut self, at: usize, ends: &mut dyn FnMut() -> bool) -> Result<bool, RunError> {
        let from = (0..=at).rev().find_map(|from| Some((from, self.nodes[from].kept.as_ref()?)));
        let Some((from, kept)) = from else { return Ok(true) };
        (self.position, self.trace) = (**kept).clone();
        for node in from..at {
            let Some(warp) = self.nodes[node].chosen.as_ref().map(|(warp, _)| *warp) else { continue };
            let Self { position, subject, points, trace, .. } = self;
            let result = position.step((subject, points), warp, &|at| trace.phase(at), ends)?;
            let Some(result) = result.filter(|_| !ends()) else { return Ok(false) };
            self.trace.add(warp, &result.events, &mut self.racing);
            self.extend_trace(warp, result.is_last, &result.started);
        }
        Ok(true)
    }

    /// Keeps fewer states if there are many.
    fn thin_out(&mut self) {
        let kept = self.nodes.iter().filter(|node| node.kept.is_some()).count();
        if kept <= KEPT && (kept == 1 || kept * self.trace.size() <= REMEMBERED) {
            return;
        }
        self.stride *= 2;
        let stride = self.stride;
        self.nodes.iter_mut().enumerate().filter(|(at, _)| !at.is_multiple_of(stride)).for_each(|(_, node)| node.kept = None);
    }
}

/// The state of an order during the descent.
enum Descent {
    /// It continues.
    Deeper,
    /// It is over.
    Over,
    /// The rest was seen in another order, or takes more preemptions.
    Redundant,
    Interrupted,
}

/// The result of the search for the next order.
enum Ascent {
    /// Another warp was chosen.
    Chosen,
    /// There is nothing left to choose.
    Through,
    Interrupted,
}
