//! The checkers that observe a run.

use std::sync::Arc;

use smallvec::SmallVec;

use super::catalogue::FindingId;
use super::checker::Checker;
use super::checks::Checks;
use super::finding::{Finding, Findings};
use super::free_reads::FreeReads;
use super::registry::CheckerId;
use super::reporter::Reporter;
use super::unordered_accesses::UnorderedAccesses;
use crate::isa::Space;
use crate::machine::{BlockId, Event, EventKind, EventMask, LaneMask, LaunchEnd, LaunchStart, Observer, PlainRead};
use crate::program::Program;

/// The checkers of a case that are switched on, from its first launch on.
pub struct Checkers {
    checks: Checks,
    program: Arc<Program>,
    findings: Findings,
    launch: usize,
    active: Vec<ActiveChecker>,
    /// The events that any of them observes.
    mask: EventMask,
    /// The indices of those that observe accesses, which are most of a run.
    accessing: SmallVec<[usize; 8]>,
    /// The block that was asked for its free reads since the last event, and these.
    free: Option<(BlockId, Option<FreeReads>)>,
}

/// A checker that is switched on.
struct ActiveChecker {
    id: CheckerId,
    /// The events that it observes now.
    mask: EventMask,
    checker: Box<dyn Checker>,
}

impl Clone for ActiveChecker {
    fn clone(&self) -> Self {
        Self { id: self.id, mask: self.mask, checker: self.checker.boxed_clone() }
    }
}

impl Clone for Checkers {
    fn clone(&self) -> Self {
        let Self { checks, program, findings, launch, active, mask, accessing, free: _ } = self;
        let (program, findings, accessing) = (Arc::clone(program), findings.clone(), accessing.clone());
        Self { checks: *checks, program, findings, launch: *launch, active: active.clone(), mask: *mask, accessing, free: None }
    }
}

impl Checkers {
    /// Checkers in their initial state.
    pub fn new(program: &Arc<Program>, checks: Checks) -> Self {
        let enabled = CheckerId::all().filter(|id| checks.has(*id));
        let active = enabled.filter_map(|id| Some(ActiveChecker { id, mask: EventMask::NONE, checker: id.row().make?(program) }));
        let (program, active) = (Arc::clone(program), active.collect());
        let (findings, mask, accessing) = (Findings::default(), EventMask::NONE, SmallVec::new());
        let mut made = Self { checks, program, findings, launch: 0, active, mask, accessing, free: None };
        made.update_masks();
        made
    }

    /// The same checkers before a launch, for a part of its grid.
    #[must_use]
    pub fn for_part(&self) -> Self {
        let mut part = self.clone();
        part.findings.unordered_accesses = UnorderedAccesses::default();
        part
    }

    /// Moves checkers from before a launch to after it: those of all parts of the grid, in order, have observed it. False, with nothing
    /// changed, if something was found or the parts cannot be joined.
    pub fn join_parts(&mut self, parts: Vec<Self>) -> bool {
        let (found, sections) = (self.findings.reported, self.findings.reversible.len());
        let is_quiet = |part: &Self| {
            let Findings { reported, reversible, unordered_accesses, .. } = &part.findings;
            (*reported, reversible.len(), unordered_accesses.uncompared) == (found, sections, 0)
        };
        let mut parts = parts.into_iter();
        let Some(mut all) = parts.next().filter(is_quiet) else { return false };
        for part in parts {
            let mut checkers = all.active.iter_mut().zip(&part.active);
            if !is_quiet(&part) || !checkers.all(|(all, part)| all.checker.join_part(&*part.checker)) {
                return false;
            }
            all.findings.unordered_accesses.join(&part.findings.unordered_accesses);
        }
        let mut unordered_accesses = std::mem::take(&mut self.findings.unordered_accesses);
        unordered_accesses.join(&all.findings.unordered_accesses);
        all.findings.unordered_accesses = unordered_accesses;
        *self = all;
        true
    }

    /// Updates the event masks of all checkers.
    fn update_masks(&mut self) {
        self.active.iter_mut().for_each(|active| active.mask = active.checker.mask());
        self.mask = self.active.iter().fold(EventMask::NONE, |all, active| all.with(active.mask));
        self.accessing = (0..self.active.len()).filter(|index| self.active[*index].mask.has(EventKind::Access)).collect();
    }

    /// A launch of the case, from 0, is about to issue its first instruction: all operations of earlier launches are ordered before it.
    pub fn begin(&mut self, launch: usize, start: &LaunchStart) {
        assert!(launch >= self.launch, "launch {launch} after launch {}", self.launch);
        self.launch = launch;
        self.free = None;
        self.active.iter_mut().for_each(|active| active.checker.begin(start));
        self.update_masks();
    }

    /// The launch has ended: by itself, or by this fault.
    pub fn end(&mut self, end: &LaunchEnd, fault: Option<FindingId>) {
        let Self { program, findings, launch, active, .. } = self;
        for active in active {
            let reported = findings.list().len();
            active.checker.end(end, fault, &mut Reporter { program, findings, launch: *launch, mask_changed: false });
            active.assert_listed(findings, reported);
        }
    }

    /// The checkers that are on.
    pub fn checks(&self) -> Checks {
        self.checks
    }

    /// Bytes that the tables of the checkers take, and bytes of memory in the pages that they cover.
    pub fn size(&self) -> (usize, usize) {
        let sizes = self.active.iter().map(|active| active.checker.size());
        sizes.fold((0, 0), |(tables, memory), (more, of)| (tables + more, memory + of))
    }

    /// Reads of unwritten memory that no race explains, whether their values were used or not.
    pub fn reads_of_unwritten(&self) -> impl Iterator<Item = &Finding> {
        let reads = self.active.iter().flat_map(|active| active.checker.reads_of_unwritten());
        reads.filter(|read| !self.findings.has_race(self.launch, read.second.point.pc))
    }

    /// The findings so far.
    pub fn findings(&self) -> &Findings {
        &self.findings
    }
}

impl ActiveChecker {
    /// Hands it an event. True if it reports something.
    #[inline(always)]
    fn event(&mut self, event: &Event<'_>, to: &mut Reporter<'_>) -> bool {
        let reported = to.findings.list().len();
        let found = self.checker.event(event, to);
        if found {
            self.assert_listed(to.findings, reported);
        }
        found
    }

    /// Asserts that its findings after the first `reported` are listed in its row.
    fn assert_listed(&self, findings: &Findings, reported: usize) {
        let mut new = findings.list()[reported..].iter();
        let row = self.id.row();
        assert!(new.all(|finding| row.findings.contains(&finding.id)), "{} reports what its row does not list", self.id.word());
    }
}

impl Observer for Checkers {
    #[inline]
    fn mask(&self) -> EventMask {
        self.mask
    }

    fn event(&mut self, event: &Event<'_>) -> bool {
        self.free = None;
        match event {
            Event::Access(_) => self.deliver_access(event),
            Event::Sync(_)
            | Event::Collective(_)
            | Event::Copy(_)
            | Event::Mbarrier(_)
            | Event::Wgmma(_)
            | Event::Before(..)
            | Event::After(..)
            | Event::Reconverged(..)
            | Event::Arrived(..)
            | Event::LocalStart(_) => self.deliver(event, event.kind()),
        }
    }

    /// The parameters of a kernel are all defined, and nothing writes them.
    fn observes(&self, space: Space) -> bool {
        space != Space::Param
    }

    /// The race checker, which comes first in the table, takes note of it: it is asked last.
    fn plain_read(&mut self, read: &PlainRead<'_>) -> bool {
        if read.lanes != LaneMask::ALL {
            return false;
        }
        let is_free = read.space == Space::Shared && self.is_free(read);
        let Self { active, accessing, .. } = self;
        accessing.iter().rev().all(|index| {
            let checker = &mut active[*index].checker;
            if is_free { checker.free_read(read) } else { checker.plain_read(read) }
        })
    }
}

impl Checkers {
    /// True if no checker has to be asked about a read of shared memory.
    #[inline(always)]
    fn is_free(&mut self, read: &PlainRead<'_>) -> bool {
        if self.free.as_ref().is_none_or(|(block_id, _)| *block_id != read.block_id) {
            self.free = Some((read.block_id, self.free_reads(read.block_id)));
        }
        matches!(&self.free, Some((_, Some(free))) if free.include(read))
    }

    #[inline(never)]
    fn free_reads(&self, block_id: BlockId) -> Option<FreeReads> {
        let mut of_checkers = self.accessing.iter().map(|index| self.active[*index].checker.free_reads(block_id));
        of_checkers.try_fold(FreeReads::of(0..u64::MAX), |free, of_checker| Some(free.and(of_checker?)))
    }

    /// Hands an access to the checkers that observe accesses. True if one reports something.
    #[inline(always)]
    fn deliver_access(&mut self, event: &Event<'_>) -> bool {
        let Self { program, findings, launch, active, accessing, .. } = self;
        let mut to = Reporter { program, findings, launch: *launch, mask_changed: false };
        let found = accessing.iter().fold(false, |found, index| active[*index].event(event, &mut to) | found);
        // They change hardly any mask.
        if to.mask_changed {
            self.update_masks();
        }
        debug_assert!(self.active.iter().all(|active| active.checker.mask() == active.mask), "what is wanted is known");
        found
    }

    /// Hands another event of this kind to the checkers that observe it. True if one reports something.
    fn deliver(&mut self, event: &Event<'_>, kind: EventKind) -> bool {
        let Self { program, findings, launch, active, .. } = self;
        let mut to = Reporter { program, findings, launch: *launch, mask_changed: false };
        let observing = active.iter_mut().filter(|active| active.mask.has(kind));
        let found = observing.fold(false, |found, active| active.event(event, &mut to) | found);
        if to.mask_changed {
            self.update_masks();
        }
        debug_assert!(self.active.iter().all(|active| active.checker.mask() == active.mask), "what is wanted is known");
        found
    }
}
