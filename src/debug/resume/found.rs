//! Stopping at findings: where a checker notices something in what is executed for the first time, and at the same places in the
//! recorded past.

use super::cause::{Cause, Threads};
use crate::debug::breakpoints::{Event, Trigger};
use crate::debug::findings::{FindingText, Severity};
use crate::debug::focus::Focus;
use crate::debug::session::Session;
use crate::debug::settings::StopOn;
use crate::debug::stop::Reason;
use crate::machine::Tick;

impl Session {
    /// Whether any finding can stop a run.
    pub(super) fn stops_at_findings(&self) -> bool {
        self.settings.stop_on != StopOn::None || self.catches_findings()
    }

    fn catches_findings(&self) -> bool {
        let catches = |trigger: &Trigger| *trigger == Trigger::Event(Event::Finding);
        self.wanted_event == Some(Event::Finding) || self.breakpoints.iter().any(|one| one.enabled && catches(&one.trigger))
    }

    fn stops_at(&self, finding: &FindingText) -> bool {
        self.stops_by_setting(finding) || self.catches_findings()
    }

    fn stops_by_setting(&self, finding: &FindingText) -> bool {
        match self.settings.stop_on {
            StopOn::Finding => true,
            StopOn::Error => finding.severity == Severity::Error,
            StopOn::None => false,
        }
    }

    /// When the next finding stops a run that stands at `now`, as far as is known.
    pub(super) fn next_finding(&self, now: Tick) -> Option<Tick> {
        self.noticed().filter(|(finding, time)| *time > now && self.stops_at(finding)).map(|(_, time)| time).min()
    }

    /// When a finding last stopped a run between the two, exclusively.
    pub(super) fn last_finding(&self, after: Option<Tick>, before: Tick) -> Option<Tick> {
        let between = |time: Tick| time < before && after.is_none_or(|after| time > after);
        self.noticed().filter(|(finding, time)| between(*time) && self.stops_at(finding)).map(|(_, time)| time).max()
    }

    /// How many findings are known.
    pub(super) fn known_findings(&self) -> usize {
        self.noticed().count()
    }

    /// The first of the findings that stop a run which began at `begin` with `known` of them, and when it was noticed.
    pub(super) fn found_since(&mut self, begin: Tick, known: usize) -> Option<Tick> {
        if !self.stops_at_findings() {
            return None;
        }
        self.describe_findings();
        let now = self.time();
        let ahead = |index: usize, time: Tick| time <= now && (time > begin || index >= known && time >= begin);
        let due = self.noticed().enumerate().filter(|(index, (finding, time))| ahead(*index, *time) && self.stops_at(finding));
        due.map(|(_, (_, time))| time).min()
    }

    /// Why a run stops at the findings that were noticed at `time`; empty if the conditions of catchpoints do not hold. The focus moves
    /// to the first.
    pub(super) fn decide_findings(&mut self, time: Tick, counting: bool) -> Vec<Cause> {
        let found: Vec<FindingText> = self
            .noticed()
            .filter(|(finding, noticed)| *noticed == time && self.stops_at(finding))
            .map(|(finding, _)| finding.clone())
            .collect();
        let mut causes: Vec<Cause> = Vec::new();
        for finding in found {
            let Some(site) = finding.site().cloned() else { continue };
            let Focus { block, warp, .. } = site.focus();
            let mut caught = Vec::new();
            self.decide_event(Event::Finding, Threads { block, warp, lanes: site.lanes }, counting, &mut caught);
            if caught.is_empty() && !self.stops_by_setting(&finding) {
                continue;
            }
            if causes.is_empty() {
                self.focus = self.focus.among(block, warp, site.lanes);
            }
            causes.push(Reason::Finding(Box::new(finding.with_roles(&self.roles))).into());
            causes.extend(caught);
        }
        causes
    }
}
