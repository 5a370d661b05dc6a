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
mod race;

use std::sync::Arc;

pub use catalogue::{Checker, FINDINGS, FindingId, Row, Severity};
pub use finding::{Cause, Deed, Finding, Findings, Link, Side, Touched};

use crate::machine::{AccessEvent, CopyEvent, Machine, MbarrierEvent, Observer, OrderEvent};
use crate::program::Program;
use race::Race;

/// Which checkers run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
}

impl Checkers {
    /// Checkers that have seen nothing yet.
    pub fn new(program: &Arc<Program>, checks: Checks) -> Self {
        let race = checks.race.then(|| Race::new(program));
        Self { checks, program: Arc::clone(program), findings: Findings::default(), launch: 0, race }
    }

    /// A launch of the case, from 0, is about to issue its first instruction: what earlier ones did is ordered before all of it.
    pub fn begin(&mut self, launch: usize, machine: &Machine) {
        self.launch = launch;
        self.race.iter_mut().for_each(|race| race.begin(launch, machine));
    }

    /// The launch has ended: by itself, or because of a fault.
    pub fn end(&mut self, machine: &Machine) {
        let _ = machine;
    }

    /// Which checkers run.
    pub fn checks(&self) -> Checks {
        self.checks
    }

    /// What was found so far.
    pub fn findings(&self) -> &Findings {
        &self.findings
    }
}

impl Observer for Checkers {
    fn access(&mut self, event: &AccessEvent<'_>) -> bool {
        let Self { race, findings, .. } = self;
        race.as_mut().is_some_and(|race| race.access(event, findings))
    }

    fn order(&mut self, event: &OrderEvent<'_>) -> bool {
        self.race.iter_mut().for_each(|race| race.order(event));
        false
    }

    fn copy(&mut self, event: &CopyEvent<'_>) -> bool {
        let Self { race, findings, .. } = self;
        race.as_mut().is_some_and(|race| race.copy(event, findings))
    }

    fn mbarrier(&mut self, event: &MbarrierEvent) -> bool {
        let Self { race, findings, .. } = self;
        race.as_mut().is_some_and(|race| race.mbarrier(event, findings))
    }
}
