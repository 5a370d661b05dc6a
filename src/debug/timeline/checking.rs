//! The checkers of a recorded run, and how far they have looked.
//!
//! Their state is too large to be kept with every snapshot: there is one, and it belongs to the furthest place of the run that they have
//! seen. Whoever runs on from there runs watched by them; below, what they found is known. What changes the run below that place makes
//! them begin anew.

use std::sync::Arc;

use super::input::Input;
use crate::check::{Checkers, Checks, Finding};
use crate::machine::{
    AccessEvent, Block, CopyEvent, Issue, LaneMask, Machine, MbarrierEvent, Observer, OrderEvent, Place, Tick, Unobserved, Warp,
};
use crate::program::Program;

/// Where a run stands: which launch of the case, and when.
pub type Position = (usize, Tick);

/// Checkers, and how far they have looked.
pub struct Checking {
    checkers: Checkers,
    /// How far they have looked.
    seen: Position,
    /// The launch that they are in was announced to them.
    begun: bool,
    /// The run has ended before their eyes.
    ended: bool,
    /// When each finding was noticed.
    noticed: Vec<Tick>,
}

impl Checking {
    /// Checkers that have seen nothing yet.
    pub fn new(program: &Arc<Program>, checks: Checks) -> Self {
        Self { checkers: Checkers::new(program, checks), seen: (0, 0), begun: false, ended: false, noticed: Vec::new() }
    }

    /// Which checkers there are.
    pub fn checks(&self) -> Checks {
        self.checkers.checks()
    }

    /// How far they have looked.
    pub fn seen(&self) -> Position {
        self.seen
    }

    /// Whether they have seen the run end.
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// What was found, and for each the time of the instruction at which it was noticed.
    pub fn findings(&self) -> impl ExactSizeIterator<Item = (&Finding, Tick)> {
        self.checkers.findings().list().iter().zip(self.noticed.iter().copied())
    }

    /// They are about to watch the machine, which stands where they have looked to.
    pub fn begin(&mut self, machine: &Machine) {
        if !self.begun {
            self.checkers.begin(self.seen.0, machine);
            self.begun = true;
        }
    }

    /// They have seen the run up to `position`.
    pub fn advance(&mut self, position: Position) {
        self.begun = self.begun && position.0 == self.seen.0;
        self.seen = position;
    }

    /// The launch has ended.
    pub fn end(&mut self, machine: &Machine) {
        self.checkers.end(machine);
        self.noticed.resize(self.checkers.findings().list().len(), machine.tick());
    }

    /// No other launch follows.
    pub fn finish(&mut self) {
        self.ended = true;
    }

    /// An observer that lets `observer` and the checkers see what happens from `now` on. With `pauses`, the run pauses where one of them
    /// finds something.
    pub fn beside<'a, O>(&'a mut self, observer: &'a mut O, now: Tick, pauses: bool) -> Beside<'a, O> {
        Beside { observer, checking: self, now, pauses, due: false }
    }

    /// Notes when the findings were noticed that have come; true if there are any.
    fn note(&mut self, now: Tick) -> bool {
        let (known, found) = (self.noticed.len(), self.checkers.findings().list().len());
        if found > known {
            self.noticed.resize(found, now);
        }
        found > known
    }
}

/// An observer, and checkers that see the same.
pub struct Beside<'a, O> {
    observer: &'a mut O,
    checking: &'a mut Checking,
    /// The instruction that is being executed.
    now: Tick,
    pauses: bool,
    /// Something was found since the run began.
    due: bool,
}

impl<O: Observer> Beside<'_, O> {
    /// Does what the user does to the run, which only the checkers need to be told.
    pub fn watch_input(input: &Input, machine: &mut Machine, both: &mut Self) -> bool {
        input.apply(machine, &mut both.checking.beside(&mut Unobserved, both.now, false))
    }

    /// What happened was seen by both; true if the run is to pause.
    fn seen(&mut self, paused: bool) -> bool {
        self.due |= self.checking.note(self.now);
        paused || self.pauses && self.due
    }
}

impl<O: Observer> Observer for Beside<'_, O> {
    const INSTRUCTIONS: bool = true;

    fn access(&mut self, event: &AccessEvent<'_>) -> bool {
        let paused = O::ACCESSES && self.observer.access(event);
        self.checking.checkers.access(event);
        self.seen(paused)
    }

    fn order(&mut self, event: &OrderEvent<'_>) -> bool {
        let paused = O::ACCESSES && self.observer.order(event);
        self.checking.checkers.order(event);
        self.seen(paused)
    }

    fn copy(&mut self, event: &CopyEvent<'_>) -> bool {
        let paused = O::ACCESSES && self.observer.copy(event);
        self.checking.checkers.copy(event);
        self.seen(paused)
    }

    fn mbarrier(&mut self, event: &MbarrierEvent) -> bool {
        let paused = O::ACCESSES && self.observer.mbarrier(event);
        self.checking.checkers.mbarrier(event);
        self.seen(paused)
    }

    fn before(&mut self, issue: &Issue, warp: &Warp) -> bool {
        self.now = issue.place.tick;
        // After a pause here the instruction is reported again, and the checkers must see it once: what they find before it pauses the
        // run behind it.
        if O::INSTRUCTIONS && self.observer.before(issue, warp) {
            return true;
        }
        self.checking.checkers.before(issue, warp);
        self.seen(false);
        false
    }

    fn after(&mut self, issue: &Issue, warp: &Warp) -> bool {
        let paused = O::INSTRUCTIONS && self.observer.after(issue, warp);
        self.checking.checkers.after(issue, warp);
        self.seen(paused)
    }

    fn merged(&mut self, place: Place, lanes: LaneMask) -> bool {
        let paused = O::INSTRUCTIONS && self.observer.merged(place, lanes);
        self.checking.checkers.merged(place, lanes);
        self.seen(paused)
    }

    fn arrived(&mut self, place: Place, block: &Block) -> bool {
        let paused = O::INSTRUCTIONS && self.observer.arrived(place, block);
        self.checking.checkers.arrived(place, block);
        self.seen(paused)
    }
}
