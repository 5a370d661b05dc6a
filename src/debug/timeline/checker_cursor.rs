//! The checkers of a recorded run, and the position up to which they have observed it.
//!
//! Their state is too large to be stored in every snapshot: there is one, for the furthest position that they have observed. From there
//! on, a run is observed by them; before it, their findings are known. A change to the run before that position restarts them.

use std::sync::Arc;

use super::input::Input;
use crate::check::{Checkers, Checks, Finding, FindingId, UnorderedAccesses};
use crate::isa::Space;
use crate::machine::{Event, EventKind, EventMask, Issues, Machine, NullObserver, Observer, PlainRead, Tick, WarpId};
use crate::program::Program;

/// A position in a run: index of the launch in the case, and time.
pub type Position = (usize, Tick);

/// Checkers, and the position up to which they have observed the run.
pub struct CheckerCursor {
    checkers: Checkers,
    /// The position up to which they have observed the run.
    position: Position,
    /// True once the checkers were initialized for the launch at that position.
    begun: bool,
    /// True once the checkers have observed the end of the run.
    ended: bool,
    /// When each finding was noticed.
    noticed: Vec<Tick>,
}

impl CheckerCursor {
    /// Checkers that have observed nothing yet.
    pub fn new(program: &Arc<Program>, checks: Checks) -> Self {
        Self { checkers: Checkers::new(program, checks), position: (0, Tick::START), begun: false, ended: false, noticed: Vec::new() }
    }

    /// The enabled checkers.
    pub fn checks(&self) -> Checks {
        self.checkers.checks()
    }

    /// The position up to which they have observed the run.
    pub fn position(&self) -> Position {
        self.position
    }

    /// True if they have observed the end of the run.
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// The findings, each with the time of the instruction at which it was noticed.
    pub fn findings(&self) -> impl ExactSizeIterator<Item = (&Finding, Tick)> {
        self.checkers.findings().list().iter().zip(self.noticed.iter().copied())
    }

    /// Outcomes that depended on the schedule, as observed so far.
    pub fn unordered_accesses(&self) -> &UnorderedAccesses {
        &self.checkers.findings().unordered_accesses
    }

    /// Called before they observe the machine, which must be at their position.
    pub fn begin(&mut self, machine: &Machine) {
        assert_eq!(machine.tick(), self.position.1, "checkers go on where they have looked to");
        if !self.begun {
            self.checkers.begin(self.position.0, &machine.launch_start());
            self.begun = true;
        }
    }

    /// Called when they have observed the run up to `position`.
    pub fn advance(&mut self, position: Position) {
        assert!(position >= self.position, "checkers that have looked to {:?} go on to {position:?}", self.position);
        self.begun = self.begun && position.0 == self.position.0;
        self.position = position;
    }

    /// Called when the launch has ended: normally, or by this fault.
    pub fn end(&mut self, machine: &Machine, fault: Option<FindingId>) {
        self.checkers.end(&machine.launch_end(), fault);
        let found = self.checkers.findings().list().len();
        assert!(found >= self.noticed.len(), "a finding stays found");
        self.noticed.resize(found, machine.tick());
    }

    /// Called when the run has ended.
    pub fn finish(&mut self) {
        self.ended = true;
    }

    /// Stores the time of new findings; true if there are any.
    fn record_new(&mut self, now: Tick) -> bool {
        let (known, found) = (self.noticed.len(), self.checkers.findings().list().len());
        if found > known {
            self.noticed.resize(found, now);
        }
        found > known
    }
}

/// The observers of a run: the caller's, and the checkers if they observe it too.
pub struct ObserverChain<'a> {
    observer: &'a mut dyn Observer,
    checker_cursor: Option<&'a mut CheckerCursor>,
    /// The event kinds of the caller's observer.
    observer_mask: EventMask,
    /// The tick of the latest event.
    now: Tick,
    /// True if the run pauses at new findings.
    pauses: bool,
    /// True if there is a new finding since the run began.
    has_new_finding: bool,
}

impl<'a> ObserverChain<'a> {
    /// An observer without checkers.
    pub fn of(observer: &'a mut dyn Observer) -> Self {
        Self { observer_mask: observer.mask(), observer, checker_cursor: None, now: Tick::START, pauses: false, has_new_finding: false }
    }

    /// An observer and checkers, from `now` on. With `pauses`, the run pauses at new findings.
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

    fn mask_of_checkers(&self) -> EventMask {
        self.checker_cursor.as_ref().map_or(EventMask::NONE, |checker_cursor| checker_cursor.checkers.mask())
    }

    /// Passes an event to the checkers if they observe its kind, and stores the time of new findings.
    fn check(&mut self, event: &Event<'_>) {
        let Some(checker_cursor) = &mut self.checker_cursor else { return };
        if checker_cursor.checkers.mask().has(event.kind()) {
            checker_cursor.checkers.event(event);
            self.has_new_finding |= checker_cursor.record_new(self.now);
        }
    }
}

impl Observer for ObserverChain<'_> {
    fn mask(&self) -> EventMask {
        // A finding before an instruction pauses the run after it.
        const AFTER: EventMask = EventMask::of(&[EventKind::After]);
        let of_checkers = self.mask_of_checkers();
        let required = if self.pauses && of_checkers.has(EventKind::Before) { AFTER } else { EventMask::NONE };
        of_checkers.with(required).with(self.observer_mask)
    }

    fn issues(&mut self, block: [u32; 3], warp: WarpId) -> Issues {
        if self.mask_of_checkers().has(EventKind::Before) { Issues::All } else { self.observer.issues(block, warp) }
    }

    fn observes(&self, space: Space) -> bool {
        let by_observer = self.observer_mask.has(EventKind::Access) && self.observer.observes(space);
        by_observer || self.checker_cursor.as_ref().is_some_and(|checker_cursor| checker_cursor.checkers.observes(space))
    }

    fn plain_read(&mut self, read: &PlainRead<'_>) -> bool {
        match &mut self.checker_cursor {
            Some(_) if self.observer_mask.has(EventKind::Access) => false,
            Some(checker_cursor) => !checker_cursor.checkers.mask().has(EventKind::Access) || checker_cursor.checkers.plain_read(read),
            None => self.observer.plain_read(read),
        }
    }

    fn event(&mut self, event: &Event<'_>) -> bool {
        let is_observed = self.observer_mask.has(event.kind());
        // What a copy does to an mbarrier has the tick of its issue.
        self.now = self.now.max(event.tick());
        if let Event::Before(..) = event {
            // After a pause here the event comes again, and the checkers must observe it once: a finding before an instruction pauses
            // the run after it.
            let paused = is_observed && self.observer.event(event);
            if !paused {
                self.check(event);
            }
            return paused;
        }
        let paused = is_observed && self.observer.event(event);
        self.check(event);
        paused || self.pauses && self.has_new_finding
    }
}
