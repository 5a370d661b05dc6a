//! Checkers: observers of a run that find mistakes which the machine alone does not stumble over.
//!
//! | checker | finds | file |
//! | --- | --- | --- |
//! | race | unordered conflicting accesses, by happens-before as the PTX memory model defines it | `race` |
//! | init | reads of memory and uses of registers before any write | `init` |
//! | sync | barriers, masks, barrier objects, groups of copies | `sync` |
//!
//! [`Checkers`] holds those that are switched on and hands events to them. What they report does not depend on the order in which
//! warps ran or copies ended, as far as the kernel's own decisions do not.

mod catalogue;
mod finding;
mod held;
mod init;
mod race;
mod reporter;
mod switches;
mod sync;
mod told;
mod trap;
mod ways;

use std::sync::Arc;

pub use catalogue::{Checker, FINDINGS, FindingId, Row, Severity};
pub use finding::{Cause, Deed, Finding, Findings, Link, Side, Touched};
pub use switches::CHECKERS;

use crate::machine::{Event, EventKind, EventMask, Machine, Observer};
use crate::program::Program;
use init::Init;
use race::Race;
use reporter::Reporter;
use sync::Sync;

/// Which checkers run; none unless somebody says so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checks {
    /// Unordered accesses.
    pub race: bool,
    /// Reads before any write.
    pub init: bool,
    /// Barriers, masks, barrier objects, groups of copies.
    pub sync: bool,
}

impl Checks {
    /// All of them.
    pub const ALL: Self = Self { race: true, init: true, sync: true };
    /// None.
    pub const NONE: Self = Self { race: false, init: false, sync: false };
}

/// The checkers of a case, from its first launch on.
#[derive(Clone)]
pub struct Checkers {
    checks: Checks,
    program: Arc<Program>,
    findings: Findings,
    launch: usize,
    race: Option<Race>,
    init: Option<Init>,
    sync: Option<Sync>,
}

/// The checkers that are switched on.
struct Parts<'a> {
    race: &'a mut Option<Race>,
    init: &'a mut Option<Init>,
    sync: &'a mut Option<Sync>,
}

impl Checkers {
    /// Checkers that have seen nothing yet.
    pub fn new(program: &Arc<Program>, checks: Checks) -> Self {
        Self {
            checks,
            program: Arc::clone(program),
            findings: Findings::default(),
            launch: 0,
            race: checks.race.then(|| Race::new(program)),
            init: checks.init.then(|| Init::new(program)),
            sync: checks.sync.then(Sync::default),
        }
    }

    /// A launch of the case, from 0, is about to issue its first instruction: what earlier ones did is ordered before all of it.
    pub fn begin(&mut self, launch: usize, machine: &Machine) {
        self.launch = launch;
        self.race.iter_mut().for_each(|race| race.begin(launch, machine));
        self.init.iter_mut().for_each(|init| init.begin(machine));
        self.sync.iter_mut().for_each(|sync| sync.begin(machine));
    }

    /// The launch has ended: by itself, or by this fault.
    pub fn end(&mut self, machine: &Machine, fault: Option<FindingId>) {
        let (parts, mut to) = self.parts();
        parts.race.iter_mut().for_each(|race| race.end(&mut to));
        parts.init.iter_mut().for_each(|init| init.end(&mut to));
        parts.sync.iter_mut().for_each(|sync| sync.end(machine, fault, &mut to));
    }

    /// The checkers, and where they hand in what they find.
    fn parts(&mut self) -> (Parts<'_>, Reporter<'_>) {
        let Self { program, findings, launch, race, init, sync, .. } = self;
        (Parts { race, init, sync }, Reporter { program, findings, launch: *launch })
    }

    /// Which checkers run.
    pub fn checks(&self) -> Checks {
        self.checks
    }

    /// Bytes that the tables of the race checker take, and bytes of memory in the pages that they are about.
    pub fn size(&self) -> (usize, usize) {
        self.race.as_ref().map_or((0, 0), Race::size)
    }

    /// What was found so far.
    pub fn findings(&self) -> &Findings {
        &self.findings
    }
}

/// The events by which threads are ordered and memory changes.
const MEMORY: EventMask =
    EventMask::of(&[EventKind::Access, EventKind::Order, EventKind::AbsentSource, EventKind::Copy, EventKind::Mbarrier, EventKind::Wgmma]);

/// Those by which values in registers are followed.
const REGISTERS: EventMask = EventMask::of(&[EventKind::Before, EventKind::Exchange]);

impl Observer for Checkers {
    fn mask(&self) -> EventMask {
        if self.init.as_ref().is_some_and(Init::wants_instructions) { MEMORY.with(REGISTERS) } else { MEMORY }
    }

    fn event(&mut self, event: &Event<'_>) -> bool {
        let (parts, mut to) = self.parts();
        let mut found = parts.race.as_mut().is_some_and(|race| race.event(event, to.findings));
        found |= parts.init.as_mut().is_some_and(|init| init.event(event, &mut to));
        found |= parts.sync.as_mut().is_some_and(|sync| sync.event(event, &mut to));
        found
    }
}
