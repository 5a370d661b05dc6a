//! The checkers of a recorded run, and how far they have looked.
//!
//! Their state is too large to be kept with every snapshot: there is one, and it belongs to the furthest place of the run that they have
//! seen. A run from there on is seen by them; before it, their findings are known. What changes the run before that place makes
//! them begin anew.

use std::sync::Arc;

use super::input::Input;
use crate::check::{Checkers, Checks, Contention, Finding, FindingId};
use crate::machine::{Event, EventKind, EventMask, Machine, NullObserver, Observer, Tick};
use crate::program::Program;

/// Where a run stands: which launch of the case, and when.
pub type Position = (usize, Tick);

/// Checkers, and how far they have looked.
pub struct CheckerCursor {
    checkers: Checkers,
    /// How far they have looked.
    seen: Position,
    /// The launch that they are in was announced to them.
    begun: bool,
    /// The checkers saw the end of the run.
    ended: bool,
    /// When each finding was noticed.
    noticed: Vec<Tick>,
}

impl CheckerCursor {
    /// Checkers that have seen nothing yet.
    pub fn new(program: &Arc<Program>, checks: Checks) -> Self {
        Self { checkers: Checkers::new(program, checks), seen: (0, Tick::START), begun: false, ended: false, noticed: Vec::new() }
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

    /// What was left to chance, as far as they saw it.
    pub fn contention(&self) -> &Contention {
        &self.checkers.findings().contention
    }

    /// They are about to watch the machine, which stands where they have looked to.
    pub fn begin(&mut self, machine: &Machine) {
        assert_eq!(machine.tick(), self.seen.1, "checkers go on where they have looked to");
        if !self.begun {
            self.checkers.begin(self.seen.0, &machine.launch_start());
            self.begun = true;
        }
    }

    /// They have seen the run up to `position`.
    pub fn advance(&mut self, position: Position) {
        assert!(position >= self.seen, "checkers that have looked to {:?} go on to {position:?}", self.seen);
        self.begun = self.begun && position.0 == self.seen.0;
        self.seen = position;
    }

    /// The launch has ended: by itself, or by this fault.
    pub fn end(&mut self, machine: &Machine, fault: Option<FindingId>) {
        self.checkers.end(&machine.launch_end(), fault);
        let found = self.checkers.findings().list().len();
        assert!(found >= self.noticed.len(), "a finding stays found");
        self.noticed.resize(found, machine.tick());
    }

    /// No other launch follows.
    pub fn finish(&mut self) {
        self.ended = true;
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

/// The observers of a run: one of the caller, and the checkers if they see the same.
pub struct ObserverChain<'a> {
    observer: &'a mut dyn Observer,
    checker_cursor: Option<&'a mut CheckerCursor>,
    /// The kinds of events that the observer wants.
    wanted: EventMask,
    /// The instruction that is being executed.
    now: Tick,
    /// Whether the run pauses where the checkers find something.
    pauses: bool,
    /// Something was found since the run began.
    due: bool,
}

impl<'a> ObserverChain<'a> {
    /// An observer alone.
    pub fn of(observer: &'a mut dyn Observer) -> Self {
        Self { wanted: observer.mask(), observer, checker_cursor: None, now: Tick::START, pauses: false, due: false }
    }

    /// An observer and checkers, from `now` on. With `pauses`, the run pauses where one of them finds something.
    pub fn with(observer: &'a mut dyn Observer, checker_cursor: &'a mut CheckerCursor, now: Tick, pauses: bool) -> Self {
        Self { now, pauses, checker_cursor: Some(checker_cursor), ..Self::of(observer) }
    }

    /// Applies an input of the user; only the checkers receive its events. False if it changes nothing.
    pub fn apply(&mut self, input: &Input, machine: &mut Machine) -> bool {
        match &mut self.checker_cursor {
            Some(checker_cursor) => input.apply(machine, &mut ObserverChain::with(&mut NullObserver, checker_cursor, self.now, false)),
            None => input.apply(machine, &mut NullObserver),
        }
    }

    /// Shows the checkers an event if they want it, and notes what they find.
    fn check(&mut self, event: &Event<'_>) {
        let Some(checker_cursor) = &mut self.checker_cursor else { return };
        if checker_cursor.checkers.mask().has(event.kind()) {
            checker_cursor.checkers.event(event);
            self.due |= checker_cursor.note(self.now);
        }
    }
}

impl Observer for ObserverChain<'_> {
    fn mask(&self) -> EventMask {
        // The time of what is found is that of the instruction issued last.
        const ISSUED: EventMask = EventMask::of(&[EventKind::Before]);
        // What is found before an instruction pauses the run after it.
        const PAUSES: EventMask = EventMask::of(&[EventKind::Before, EventKind::After]);
        let own = if self.pauses { PAUSES } else { ISSUED };
        self.checker_cursor.as_ref().map_or(self.wanted, |checker_cursor| checker_cursor.checkers.mask().with(own).with(self.wanted))
    }

    fn event(&mut self, event: &Event<'_>) -> bool {
        let is_wanted = self.wanted.has(event.kind());
        if let Event::Before(issue, _) = event {
            self.now = issue.place.tick;
            // After a pause here the instruction is reported again, and the checkers must see it once: what they find before it pauses
            // the run after it.
            let paused = is_wanted && self.observer.event(event);
            if !paused {
                self.check(event);
            }
            return paused;
        }
        let paused = is_wanted && self.observer.event(event);
        self.check(event);
        paused || self.pauses && self.due
    }
}
