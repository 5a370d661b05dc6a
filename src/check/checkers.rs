//! The checkers that watch a run.

use std::sync::Arc;

use super::catalogue::FindingId;
use super::checker::Checker;
use super::checks::Checks;
use super::finding::Findings;
use super::registry::CheckerId;
use super::reporter::Reporter;
use crate::machine::{Event, EventMask, LaunchEnd, LaunchStart, Observer};
use crate::program::Program;

/// The checkers of a case that are switched on, from its first launch on.
pub struct Checkers {
    checks: Checks,
    program: Arc<Program>,
    findings: Findings,
    launch: usize,
    watching: Vec<Watching>,
}

/// A checker that watches.
struct Watching {
    id: CheckerId,
    checker: Box<dyn Checker>,
}

impl Clone for Watching {
    fn clone(&self) -> Self {
        Self { id: self.id, checker: self.checker.boxed_clone() }
    }
}

impl Clone for Checkers {
    fn clone(&self) -> Self {
        let Self { checks, program, findings, launch, watching } = self;
        let (program, findings) = (Arc::clone(program), findings.clone());
        Self { checks: *checks, program, findings, launch: *launch, watching: watching.clone() }
    }
}

impl Checkers {
    /// Checkers that have seen nothing yet.
    pub fn new(program: &Arc<Program>, checks: Checks) -> Self {
        let on = CheckerId::all().filter(|id| checks.has(*id));
        let watching = on.filter_map(|id| Some(Watching { id, checker: id.row().make?(program) }));
        Self { checks, program: Arc::clone(program), findings: Findings::default(), launch: 0, watching: watching.collect() }
    }

    /// A launch of the case, from 0, is about to issue its first instruction: what earlier ones did is ordered before all of it.
    pub fn begin(&mut self, launch: usize, start: &LaunchStart) {
        assert!(launch >= self.launch, "launch {launch} after launch {}", self.launch);
        self.launch = launch;
        self.watching.iter_mut().for_each(|watching| watching.checker.begin(start));
    }

    /// The launch has ended: by itself, or by this fault.
    pub fn end(&mut self, end: &LaunchEnd, fault: Option<FindingId>) {
        self.each(|checker, to| {
            checker.end(end, fault, to);
            true
        });
    }

    /// Shows something to each checker, and whether one of them says true; where it says so, what it found is of its own kinds.
    fn each(&mut self, mut show: impl FnMut(&mut dyn Checker, &mut Reporter<'_>) -> bool) -> bool {
        let Self { program, findings, launch, watching, .. } = self;
        let mut found = false;
        for Watching { id, checker } in watching {
            let known = findings.list().len();
            if show(checker.as_mut(), &mut Reporter { program, findings, launch: *launch }) {
                found = true;
                let mut new = findings.list()[known..].iter();
                assert!(new.all(|finding| id.row().findings.contains(&finding.id)), "{} reports what its row does not list", id.word());
            }
        }
        found
    }

    /// Which checkers run.
    pub fn checks(&self) -> Checks {
        self.checks
    }

    /// Bytes that the tables of the checkers take, and bytes of memory in the pages that they are about.
    pub fn size(&self) -> (usize, usize) {
        let sizes = self.watching.iter().map(|watching| watching.checker.size());
        sizes.fold((0, 0), |(tables, memory), (more, of)| (tables + more, memory + of))
    }

    /// What was found so far.
    pub fn findings(&self) -> &Findings {
        &self.findings
    }
}

impl Observer for Checkers {
    fn mask(&self) -> EventMask {
        self.watching.iter().fold(EventMask::NONE, |mask, watching| mask.with(watching.checker.mask()))
    }

    fn event(&mut self, event: &Event<'_>) -> bool {
        let kind = event.kind();
        self.each(|checker, to| checker.mask().has(kind) && checker.event(event, to))
    }
}
