//! The checkers that watch a run.

use std::sync::Arc;

use super::catalogue::FindingId;
use super::checker::Checker;
use super::checks::Checks;
use super::finding::{Finding, Findings};
use super::registry::CheckerId;
use super::reporter::Reporter;
use crate::machine::{Event, EventKind, EventMask, LaunchEnd, LaunchStart, Observer};
use crate::program::Program;

/// The checkers of a case that are switched on, from its first launch on.
pub struct Checkers {
    checks: Checks,
    program: Arc<Program>,
    findings: Findings,
    launch: usize,
    watching: Vec<Watching>,
    /// The events that any of them wants.
    wanted: EventMask,
}

/// A checker that watches.
struct Watching {
    id: CheckerId,
    /// The events that it wants now.
    wanted: EventMask,
    checker: Box<dyn Checker>,
}

impl Clone for Watching {
    fn clone(&self) -> Self {
        Self { id: self.id, wanted: self.wanted, checker: self.checker.boxed_clone() }
    }
}

impl Clone for Checkers {
    fn clone(&self) -> Self {
        let Self { checks, program, findings, launch, watching, wanted } = self;
        let (program, findings) = (Arc::clone(program), findings.clone());
        Self { checks: *checks, program, findings, launch: *launch, watching: watching.clone(), wanted: *wanted }
    }
}

impl Checkers {
    /// Checkers that have seen nothing yet.
    pub fn new(program: &Arc<Program>, checks: Checks) -> Self {
        let on = CheckerId::all().filter(|id| checks.has(*id));
        let watching = on.filter_map(|id| Some(Watching { id, wanted: EventMask::NONE, checker: id.row().make?(program) }));
        let (program, watching) = (Arc::clone(program), watching.collect());
        let mut made = Self { checks, program, findings: Findings::default(), launch: 0, watching, wanted: EventMask::NONE };
        made.ask();
        made
    }

    /// Asks every checker what it wants now.
    fn ask(&mut self) {
        self.watching.iter_mut().for_each(|watching| watching.wanted = watching.checker.mask());
        self.wanted = self.watching.iter().fold(EventMask::NONE, |all, watching| all.with(watching.wanted));
    }

    /// A launch of the case, from 0, is about to issue its first instruction: what earlier ones did is ordered before all of it.
    pub fn begin(&mut self, launch: usize, start: &LaunchStart) {
        assert!(launch >= self.launch, "launch {launch} after launch {}", self.launch);
        self.launch = launch;
        self.watching.iter_mut().for_each(|watching| watching.checker.begin(start));
        self.ask();
    }

    /// The launch has ended: by itself, or by this fault.
    pub fn end(&mut self, end: &LaunchEnd, fault: Option<FindingId>) {
        let Self { program, findings, launch, watching, .. } = self;
        for watching in watching {
            let known = findings.list().len();
            watching.checker.end(end, fault, &mut Reporter { program, findings, launch: *launch, asks: false });
            watching.assert_listed(findings, known);
        }
    }

    /// The checkers that are on.
    pub fn checks(&self) -> Checks {
        self.checks
    }

    /// Bytes that the tables of the checkers take, and bytes of memory in the pages that they are about.
    pub fn size(&self) -> (usize, usize) {
        let sizes = self.watching.iter().map(|watching| watching.checker.size());
        sizes.fold((0, 0), |(tables, memory), (more, of)| (tables + more, memory + of))
    }

    /// Reads of memory that nothing had written and that no race explains, whether what they gave was used or not.
    pub fn reads_of_unwritten(&self) -> impl Iterator<Item = &Finding> {
        let reads = self.watching.iter().flat_map(|watching| watching.checker.reads_of_unwritten());
        reads.filter(|read| !self.findings.knows_race(self.launch, read.second.place.pc))
    }

    /// The findings so far.
    pub fn findings(&self) -> &Findings {
        &self.findings
    }
}

impl Watching {
    /// Asserts that its findings after the first `known` are listed in its row.
    fn assert_listed(&self, findings: &Findings, known: usize) {
        let mut new = findings.list()[known..].iter();
        let row = self.id.row();
        assert!(new.all(|finding| row.findings.contains(&finding.id)), "{} reports what its row does not list", self.id.word());
    }
}

impl Observer for Checkers {
    #[inline]
    fn mask(&self) -> EventMask {
        self.wanted
    }

    fn event(&mut self, event: &Event<'_>) -> bool {
        let kind = event.kind();
        let Self { program, findings, launch, watching, .. } = self;
        let mut to = Reporter { program, findings, launch: *launch, asks: false };
        let mut found = false;
        let mut known = to.findings.list().len();
        for watching in watching.iter_mut().filter(|watching| watching.wanted.has(kind)) {
            if watching.checker.event(event, &mut to) {
                found = true;
                watching.assert_listed(to.findings, known);
                known = to.findings.list().len();
            }
        }
        // Accesses are most of a run, and change hardly any mask.
        if to.asks || kind != EventKind::Access {
            self.ask();
        }
        debug_assert!(self.watching.iter().all(|watching| watching.checker.mask() == watching.wanted), "what is wanted is known");
        found
    }
}
