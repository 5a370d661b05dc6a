//! The findings of a session: its checkers see what was executed, and what they find gets names.

use std::collections::BTreeSet;

use super::describe::link_text;
use super::{CheckerId, Checks, Descriptions, FindingText, FixOutcome, LinkText, Suppressions};
use crate::check::{Finding, SynchronizationPath};
use crate::debug::certificate::{Certificate, certificate};
use crate::debug::fidelity::executed;
use crate::debug::focus::ThreadFilter;
use crate::debug::names::place;
use crate::debug::session::{InterruptCheck, Session};
use crate::debug::timeline::{End, Ran};
use crate::debug::view::{self, Warps};
use crate::machine::{NullObserver, Tick};

/// Largest number of ticks that checkers lag before the user is asked whether to continue.
const SLICE: u64 = 1 << 15;

impl Session {
    /// All findings so far, suppressed ones included: those of the checkers, and last the one that stopped the run.
    pub fn all_findings(&self) -> Vec<FindingText> {
        let mut all = self.known.texts.clone();
        if let Some(End::Fault(fault)) = self.ended() {
            all.push(FindingText::of_fault(all.len() + 1, fault));
        }
        for finding in &mut all {
            finding.tried = self.known.tried.get(&finding.number).cloned();
        }
        all.into_iter().map(|finding| finding.with_roles(&self.roles)).collect()
    }

    /// What was found so far and is not suppressed.
    pub fn findings(&self) -> Vec<FindingText> {
        let mut findings = self.all_findings();
        findings.retain(|finding| !self.known.suppressions.hold(finding));
        findings
    }

    /// Whether a finding is suppressed.
    pub(in crate::debug) fn suppresses(&self, finding: &FindingText) -> bool {
        self.known.suppressions.hold(finding)
    }

    /// What can be said of the other orders of the run; none unless it has come to its end, is of one launch, and was not changed by
    /// hand.
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
        certificate((self.program(), self.case()), &executed, (&findings, self.timeline.contention()?), self.checks())
    }

    /// How many findings there are so far that are not suppressed, without what stopped the run.
    pub(in crate::debug) fn finding_count(&self) -> usize {
        self.known.texts.iter().filter(|finding| !self.known.suppressions.hold(finding)).count()
    }

    /// The suppressed findings.
    pub fn suppressions(&mut self) -> &mut Suppressions {
        &mut self.known.suppressions
    }

    /// Which checkers watch.
    pub fn checks(&self) -> Checks {
        self.timeline.checks()
    }

    /// Switches checkers. Those that watch now see all that was executed; true if they have, false if the user did not wait for that.
    pub fn switch(&mut self, checkers: &[CheckerId], on: bool, interrupt: &mut dyn InterruptCheck) -> bool {
        let checks = checkers.iter().fold(self.checks(), |checks, checker| checks.with(*checker, on));
        if checks != self.checks() {
            self.timeline.set_checks(checks);
            self.known.forget_from(Tick::START);
        }
        let done = self.catch_up(interrupt);
        self.describe_findings();
        done
    }

    /// Has the checkers look at what they have not seen of what was executed; false if the user does not wait for that.
    pub(in crate::debug) fn catch_up(&mut self, interrupt: &mut dyn InterruptCheck) -> bool {
        if !self.timeline.is_unchecked() {
            return true;
        }
        let now = self.time();
        self.timeline.go_where_checked();
        let mut goes_on = true;
        while goes_on && self.timeline.is_unchecked() {
            self.timeline.check_on(SLICE);
            goes_on = interrupt.should_continue(self);
        }
        let done = !self.timeline.is_unchecked();
        self.return_to(now);
        done
    }

    /// Gives names to what the checkers have found meanwhile. The session stays where it stands.
    pub(in crate::debug) fn describe_findings(&mut self) {
        let known = self.known.texts.len();
        self.name_regions();
        let mut new: Vec<Finding> = Vec::new();
        let mut other_sides: Vec<(usize, Finding)> = Vec::new();
        for (index, (finding, noticed)) in self.timeline.findings().enumerate() {
            let sides = (finding.second, finding.first);
            match (self.known.texts.get_mut(index), self.known.described.get_mut(index)) {
                (Some(text), Some(described)) => {
                    text.count = finding.count;
                    if std::mem::replace(described, sides) != sides {
                        other_sides.push((index, finding.clone()));
                    }
                }
                _ => {
                    new.push(finding.clone());
                    self.known.noticed.push(noticed);
                    self.known.described.push(sides);
                }
            }
        }
        if new.is_empty() && other_sides.is_empty() {
            return;
        }
        let now = self.time();
        for (index, finding) in other_sides {
            let texts = self.described(std::slice::from_ref(&finding), index + 1);
            self.known.texts.splice(index..=index, texts);
        }
        let texts = self.described(&new, known + 1);
        self.return_to(now);
        self.known.texts.extend(texts);
    }

    /// Says anew of what regions the findings are that have texts: more pairs may count in them by now.
    fn name_regions(&mut self) {
        let scene = self.scene();
        let region = |finding: &Finding| place::region(&scene, finding.memory?.space, finding.touched.ranges());
        let regions: Vec<Option<String>> = self.timeline.findings().map(|(finding, _)| region(finding)).collect();
        for (text, region) in self.known.texts.iter_mut().zip(regions) {
            text.memory.iter_mut().for_each(|memory| memory.region.clone_from(&region));
        }
    }

    /// Findings with names, the first of them as number `first`; the session stands elsewhere then.
    fn described(&mut self, findings: &[Finding], first: usize) -> Vec<FindingText> {
        let (program, case) = (std::sync::Arc::clone(self.program()), std::sync::Arc::clone(self.timeline.case()));
        let mut descriptions = Descriptions::new(&program, &case, findings, first);
        while let Some((launch, time)) = descriptions.next() {
            self.stand_at(launch, time);
            descriptions.look(&self.scene());
        }
        descriptions.texts()
    }

    /// Stores the results of trying the fixes of findings, by number.
    pub(in crate::debug) fn note_tried(&mut self, tried: impl IntoIterator<Item = (usize, FixOutcome)>) {
        self.known.tried.extend(tried);
    }

    /// Where all warps of some blocks stand at the end of what was executed; of blocks that are not there then, nothing.
    pub fn warps_at_end(&mut self, blocks: &BTreeSet<[u32; 3]>) -> Vec<Warps> {
        let (now, end) = (self.time(), self.recorded());
        self.return_to(end);
        let of_block = |block: &[u32; 3]| {
            let filter = ThreadFilter { block: Some(*block), ..ThreadFilter::default() };
            view::warps(&self.scene(), &filter).ok()
        };
        let warps = blocks.iter().filter_map(of_block).collect();
        self.return_to(now);
        warps
    }

    /// The synchronization between the two sides of the race that is finding `number`, as far as it goes; nothing where it is no race.
    /// The launch is executed once more for it.
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
        self.timeline.run(finding.second.place.tick + 1, &mut path);
        self.return_to(now);
        let extent = self.case().launches[finding.launch].block;
        path.links().iter().map(|link| link_text(&program, extent, link)).collect()
    }

    /// Goes to a time of a launch that was executed, or to where the run ends before that.
    fn stand_at(&mut self, launch: usize, time: Tick) {
        self.timeline.restore(time);
        while self.launch() < launch || self.launch() == launch && self.time() < time {
            if self.timeline.run(time, &mut NullObserver) == Ran::Ended || self.time() >= time {
                return;
            }
        }
    }

    /// For each finding that was noticed, when it was, and whether it is shown (not suppressed).
    pub(in crate::debug) fn noticed(&self) -> impl Iterator<Item = (&FindingText, Tick)> {
        let known = self.known.texts.iter().zip(self.known.noticed.iter().copied());
        known.filter(|(finding, _)| !self.known.suppressions.hold(finding))
    }
}
