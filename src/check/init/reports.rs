//! Uses of undefined values, each value reported once.

use std::collections::BTreeMap;

use super::catalogue::MEMORY_UNINITIALIZED;
use super::registers::Origin;
use crate::base::Severity;
use crate::check::catalogue::FindingId;
use crate::check::deferred::DeferredFindings;
use crate::check::finding::{Finding, Pair, Side, SideAction};
use crate::check::reporter::Reporter;
use crate::isa::Space;
use crate::machine::{IssuePoint, LaneMask};
use crate::program::Pc;

/// The uses that were found.
#[derive(Clone, Default)]
pub(super) struct Reports {
    /// Uses of values from reads that may be sides of races.
    deferred: DeferredFindings,
    /// The first instruction that used an undefined value, by the instruction of its origin and the severity.
    uses: BTreeMap<(FindingId, Pc, Severity), Pc>,
}

impl Reports {
    /// Counts a use at `point` if its value was reported before. True if it was.
    pub fn count_again(&mut self, origin: &Origin, (point, severity): (IssuePoint, Severity), to: &mut Reporter<'_>) -> bool {
        let Some(first_use) = self.uses.get(&(origin.id(), origin.point.pc, severity)).copied() else { return false };
        let first = origin.side(IssuePoint { pc: first_use, ..point }, LaneMask::ALL);
        let second = Side::new(IssuePoint { pc: first_use, ..point }, LaneMask::ALL, SideAction::Use);
        let is_deferred = self.deferred.count_again(Pair::new(origin.id(), 0, first.as_ref(), &second));
        is_deferred || to.findings.count_again(Pair::new(origin.id(), to.launch, first.as_ref(), &second)) || first_use != point.pc
    }

    /// Reports a use, or defers it until it is known whether a race explains it; local memory cannot race.
    pub fn report(&mut self, finding: Finding, to: &mut Reporter<'_>) -> bool {
        let origin = finding.first.map_or(finding.second.point.pc, |side| side.point.pc);
        self.uses.entry((finding.id, origin, finding.severity)).or_insert(finding.second.point.pc);
        let is_shared = finding.memory.is_some_and(|memory| memory.space != Space::Local);
        if finding.id == MEMORY_UNINITIALIZED && is_shared {
            self.deferred.defer(finding);
            return false;
        }
        to.report(finding)
    }

    /// The launch has ended.
    pub fn release(&mut self, to: &mut Reporter<'_>) {
        self.uses.clear();
        self.deferred.release(to);
    }
}
