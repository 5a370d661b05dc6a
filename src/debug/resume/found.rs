//! Stopping at findings: when a checker notices one during first execution, and at the same times in the recorded run.

use super::cause::{Cause, Threads};
use crate::debug::breakpoints::{Event, Trigger};
use crate::debug::findings::{FindingText, Severity};
use crate::debug::focus::Focus;
use crate::debug::session::Session;
use crate::debug::settings::StopOn;
use crate::debug::stop::Reason;
use crate::machine::Tick;

impl Session {
    /// True if any finding can stop a run.
    pub(super) fn stops_at_findings(&self) -> bool {
        self.settings.stop_on != StopOn::None || self.catches_findings()
    }

    fn catches_findings(&self) -> bool {
        let catches = |trigger: &Trigger| *trigger == Trigger::Event(Event::Finding);
        self.run_to_event == Some(Event::Finding) || self.breakpoints.iter().any(|one| one.enabled && catches(&one.trigger))
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

    /// The time of the next known finding after `now` that stops a run.
    pub(super) fn next_finding(&self, now: Tick) -> Option<Tick> {
        self.detected().filter(|(finding, time)| *time > now && self.stops_at(finding)).map(|(_, time)| time).min()
    }

    /// The time of the last known finding between `after` and `before`, both excluded, that stops a run.
    pub(super) fn last_finding(&self, after: Option<Tick>, before: Tick) -> Option<Tick> {
        let between = |time: Tick| time < before && after.is_none_or(|after| time > after);
        self.detected().filter(|(finding, time)| between(*time) && self.stops_at(finding)).map(|(_, time)| time).max()
    }

    /// Number of known findings.
    pub(super) fn known_findings(&self) -> usize {
        self.detected().count()
    }

    /// The time of the first finding that stops a run. The run began at `begin`, with `known` findings.
    pub(super) fn found_since(&mut self, begin: Tick, known: usize) -> Option<Tick> {
        if !self.stops_at_findings() {
            return None;
        }
        self.describe_findings();
        let now = self.time();
        let is_new = |index: usize, time: Tick| time <= now && (time > begin || index >= known && time >= begin);
        let due = self.detected().enumerate().filter(|(index, (finding, time))| is_new(*index, *time) && self.stops_at(finding));
        due.map(|(_, (_, time))| time).min()
    }

    /// The causes for a stop at the findings that were noticed at `time`; empty if the conditions of catchpoints do not hold. The focus
    /// moves to the first finding.
    pub(super) fn decide_findings(&mut self, time: Tick, counting: bool) -> Vec<Cause> {
        let found: Vec<FindingText> = self
            .detected()
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
