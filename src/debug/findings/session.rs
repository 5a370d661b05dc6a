//! The findings of a session: its checkers observe the execution, and their findings get names.

use std::collections::BTreeSet;

use super::describe::link_text;
use super::{CheckerId, Checks, Descriptions, FindingText, FixOutcome, LinkText, Suppressions};
use crate::check::{Finding, SynchronizationPath};
use crate::debug::certificate::{Certificate, certificate};
use crate::debug::fidelity::executed;
use crate::debug::focus::ThreadFilter;
use crate::debug::names::memory_name;
use crate::debug::session::{InterruptCheck, Session};
use crate::debug::target::MemoryTarget;
use crate::debug::timeline::{End, Ran};
use crate::debug::view::{self, Warps};
use crate::isa::Space;
use crate::machine::{NullObserver, Tick};

/// Ticks that checkers process between two checks for an interrupt.
const SLICE: u64 = 1 << 15;

impl Session {
    /// All findings so far, suppressed ones included: those of the checkers, and last the one that stopped the run.
    pub fn all_findings(&self) -> Vec<FindingText> {
        let mut all = self.finding_log.texts.clone();
        if let Some(End::Fault(fault)) = self.ended() {
            all.push(FindingText::of_fault(all.len() + 1, fault));
        }
        for finding in &mut all {
            finding.tried = self.finding_log.fix_outcomes.get(&finding.number).cloned();
        }
        all.into_iter().map(|finding| finding.with_roles(&self.roles)).collect()
    }

    /// The findings so far that are not suppressed.
    pub fn findings(&self) -> Vec<FindingText> {
        let mut findings = self.all_findings();
        findings.retain(|finding| !self.finding_log.suppressions.matches(finding));
        findings
    }

    /// True if a finding is about bytes of `place`.
    pub fn is_about(&self, finding: &FindingText, place: &MemoryTarget) -> bool {
        let found = finding.number.checked_sub(1).and_then(|index| self.timeline.findings().nth(index));
        let Some((found, memory)) = found.and_then(|(found, _)| Some((found, found.memory?))) else { return false };
        let is_owner = match memory.space {
            Space::Shared | Space::Local => memory.block == place.owner.block,
            _ => true,
        };
        // Of a race, the bytes of all its accesses; of many that lie apart, those of the first alone are known.
        let first = memory.address..memory.address.saturating_add(u64::from(memory.bytes));
        let place_bytes = place.address..place.address.saturating_add(place.bytes);
        let mut bytes = std::iter::once(&first).chain(found.conflict_bytes.ranges());
        memory.space == place.space && is_owner && bytes.any(|range| range.start < place_bytes.end && place_bytes.start < range.end)
    }

    /// True if a finding is suppressed.
    pub(in crate::debug) fn suppresses(&self, finding: &FindingText) -> bool {
        self.finding_log.suppressions.matches(finding)
    }

    /// The certificate of the run; none unless it has ended, has a single launch, and was not changed by the user.
    pub fn certificate(&mut self) -> Option<Certificate> {
        let is_over = matches!(self.ended(), Some(End::Done | End::Fault(_)));
        if !is_over || !self.inputs().is_empty() || self.timeline.is_unchecked() || self.case().launches.len() != 1 {
            return None;
        }
        let (now, end) = (self.time(), self.recorded());
        self.return_to(end);
        let executed = executed(self.machine());
        self.return_to(now);
        let findings = self.all_findings();
        certificate((self.program(), self.case()), &executed, (&findings, self.timeline.unordered_accesses()?), self.checks())
    }

    /// The number of findings so far that are not suppressed, without the fault that stopped the run.
    pub(in crate::debug) fn finding_count(&self) -> usize {
        self.finding_log.texts.iter().filter(|finding| !self.finding_log.suppressions.matches(finding)).count()
    }

    /// The suppressed findings.
    pub fn suppressions(&mut self) -> &mut Suppressions {
        &mut self.finding_log.suppressions
    }

    /// The checkers that run.
    pub fn checks(&self) -> Checks {
        self.timeline.checks()
    }

    /// Switches checkers on or off. The checkers that are on then process the whole recording; false if the user interrupts this.
    pub fn switch_checkers(&mut self, checkers: &[CheckerId], on: bool, interrupt: &mut dyn InterruptCheck) -> bool {
        let checks = checkers.iter().fold(self.checks(), |checks, checker| checks.with(*checker, on));
        if checks != self.checks() {
            self.timeline.set_checks(checks);
            self.finding_log.forget_from(Tick::START);
        }
        let done = self.catch_up(interrupt);
        self.describe_findings();
        done
    }

    /// Lets the checkers process the part of the recording that they have not processed; false if the user interrupts this.
    pub(in crate::debug) fn catch_up(&mut self, interrupt: &mut dyn InterruptCheck) -> bool {
        if !self.timeline.is_unchecked() {
            return true;
        }
        let now = self.time();
        self.timeline.go_to_checked();
        let mut continues = true;
        while continues && self.timeline.is_unchecked() {
            self.timeline.extend_findings(SLICE);
            continues = interrupt.should_continue(self);
        }
        let done = !self.timeline.is_unchecked();
        self.return_to(now);
        done
    }

    /// Describes the new findings of the checkers. The session remains at its time.
    pub(in crate::debug) fn describe_findings(&mut self) {
        let known = self.finding_log.texts.len();
        self.name_regions();
        let mut new: Vec<Finding> = Vec::new();
        let mut other_sides: Vec<(usize, Finding)> = Vec::new();
        for (index, (finding, detected)) in self.timeline.findings().enumerate() {
            let sides = (finding.second, finding.first);
            match (self.finding_log.texts.get_mut(index), self.finding_log.described.get_mut(index)) {
                (Some(text), Some(described)) => {
                    text.count = finding.count;
                    if std::mem::replace(described, sides) != sides {
                        other_sides.push((index, finding.clone()));
                    }
                }
                _ => {
                    new.push(finding.clone());
                    self.finding_log.detected.push(detected);
                    self.finding_log.described.push(sides);
                }
            }
        }
        if new.is_empty() && other_sides.is_empty() {
            return;
        }
        let now = self.time();
        for (index, finding) in other_sides {
            let texts = self.described(std::slice::from_ref(&finding), index + 1);
            self.finding_log.texts.splice(index..=index, texts);
        }
        let texts = self.described(&new, known + 1);
        self.return_to(now);
        self.finding_log.texts.extend(texts);
    }

    /// Updates the regions of described findings, to which further accesses may have been added.
    fn name_regions(&mut self) {
        let context = self.eval_context();
        let region = |finding: &Finding| memory_name::region(&context, finding.memory?.space, finding.conflict_bytes.ranges());
        let regions: Vec<Option<String>> = self.timeline.findings().map(|(finding, _)| region(finding)).collect();
        for (text, region) in self.finding_log.texts.iter_mut().zip(regions) {
            text.memory.iter_mut().for_each(|memory| memory.region.clone_from(&region));
        }
    }

    /// Findings with names, the first of them as number `first`; the session is at another time then.
    fn described(&mut self, findings: &[Finding], first: usize) -> Vec<FindingText> {
        let (program, case) = (std::sync::Arc::clone(self.program()), std::sync::Arc::clone(self.timeline.case()));
        let mut descriptions = Descriptions::new(&program, &case, findings, first);
        while let Some((launch, time)) = descriptions.next() {
            self.go_to_launch(launch, time);
            descriptions.visit(&self.eval_context());
        }
        descriptions.texts(&program)
    }

    /// Stores the results of trying the fixes of findings, by number.
    pub(in crate::debug) fn add_tried(&mut self, tried: impl IntoIterator<Item = (usize, FixOutcome)>) {
        self.finding_log.fix_outcomes.extend(tried);
    }

    /// The positions of all warps of some blocks at the end of the recording; nothing for blocks that are not resident then.
    pub fn warps_at_end(&mut self, blocks: &BTreeSet<[u32; 3]>) -> Vec<Warps> {
        let (now, end) = (self.time(), self.recorded());
        self.return_to(end);
        let of_block = |block: &[u32; 3]| {
            let filter = ThreadFilter { block: Some(*block), ..ThreadFilter::default() };
            view::warps(&self.eval_context(), &filter).ok()
        };
        let warps = blocks.iter().filter_map(of_block).collect();
        self.return_to(now);
        warps
    }

    /// The synchronization between the two sides of the race with finding number `number`, up to the missing step; empty if it is no race.
    /// The launch is executed again for this.
    pub fn synchronization_path(&mut self, number: usize) -> Vec<LinkText> {
        let found = number.checked_sub(1).and_then(|index| self.timeline.findings().nth(index));
        let Some(finding) = found.map(|(finding, _)| finding.clone()) else { return Vec::new() };
        let Some(first) = finding.first.filter(|_| finding.distance.is_some()) else { return Vec::new() };
        let (now, program) = (self.time(), std::sync::Arc::clone(self.program()));
        self.timeline.restore(Tick::START);
        while self.launch() < finding.launch {
            if self.timeline.run(Tick::MAX, &mut NullObserver) == Ran::Ended {
                self.return_to(now);
                return Vec::new();
            }
        }
        let mut path = SynchronizationPath::new(&program, first, finding.second, &self.machine().launch_start());
        self.timeline.run(finding.second.point.tick + 1, &mut path);
        self.return_to(now);
        let extent = self.case().launches[finding.launch].block;
        path.into_steps().iter().map(|step| link_text(&program, extent, step)).collect()
    }

    /// Goes to a recorded time of a launch, or to the end of the run if that comes first.
    fn go_to_launch(&mut self, launch: usize, time: Tick) {
        self.timeline.restore(time);
        while self.launch() < launch || self.launch() == launch && self.time() < time {
            if self.timeline.run(time, &mut NullObserver) == Ran::Ended || self.time() >= time {
                return;
            }
        }
    }

    /// The findings that are not suppressed, with the times of their detection.
    pub(in crate::debug) fn detected(&self) -> impl Iterator<Item = (&FindingText, Tick)> {
        let known = self.finding_log.texts.iter().zip(self.finding_log.detected.iter().copied());
        known.filter(|(finding, _)| !self.finding_log.suppressions.matches(finding))
    }
}
