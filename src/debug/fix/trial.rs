//! A run of a changed program, and its findings in terms of the original.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::candidates::finding_class;
use crate::base::Severity;
use crate::check::{Finding, FindingId, Findings};
use crate::debug::explore::{Content, contents};
use crate::debug::run::{CaseRun, Job, RunError, RunOptions, fault_of, new_in, other_orders, run_checked_until};
use crate::launch::Case;
use crate::machine::Instrumentation;
use crate::program::{Pc, Program};

/// Family, launch and the two instructions of a finding, in the original program; none for an inserted instruction or a missing side.
pub(super) type FindingKey = (&'static str, usize, Option<Pc>, Option<Pc>);

/// A finding of a trial; those of other orders of critical sections come last, as in the numbering.
pub(super) struct TrialFinding {
    /// In terms of the program that ran.
    pub finding: Finding,
    /// The keys of all its pairs of instructions.
    pub keys: BTreeSet<FindingKey>,
}

/// The result of a run.
pub(super) struct Trial {
    pub findings: Vec<TrialFinding>,
    /// The fault that stopped it.
    pub fault: Option<FindingId>,
    /// The buffers and variables at its end.
    pub buffers: Vec<Content>,
    pub run: CaseRun,
}

impl Trial {
    /// Runs `program`, also with reversed critical sections; `original` maps its instructions to the original program. The run ends with a
    /// finding that has one of the keys `failing`: it decides the trial.
    pub fn new(
        program: &Arc<Program>,
        case: &Case,
        options: &RunOptions,
        original: impl Fn(Pc) -> Option<Pc>,
        failing: &BTreeSet<FindingKey>,
    ) -> Result<Self, RunError> {
        let trial_finding = |all: &Findings, index: usize| {
            let finding = all.list()[index].clone();
            let key = |pair: crate::check::Pair| {
                let (first, second) = pair.sides();
                let (a, b) = (first.and_then(|(pc, _)| original(pc)), original(second.0));
                (finding_class(pair.id()), finding.launch, a.min(b), a.max(b))
            };
            TrialFinding { keys: all.pairs(index).map(key).collect(), finding }
        };
        let fails = |all: &Findings| {
            let last = all.list().len().checked_sub(1).filter(|last| !failing.is_empty() && all.list()[*last].severity > Severity::Note);
            last.is_some_and(|last| !trial_finding(all, last).keys.is_disjoint(failing))
        };
        let (run, checkers) = run_checked_until((program, case, options), &|| false, &fails)?;
        let all = checkers.findings();
        let mut found: Vec<TrialFinding> = (0..all.list().len()).map(|index| trial_finding(all, index)).collect();
        if run.interrupted {
            let buffers = contents(case, &run);
            return Ok(Self { findings: found, fault: None, buffers, run });
        }
        let job = Job { program, case, options, instrumentation: Instrumentation::Nothing };
        let (_, others) = other_orders(job, &run, &|| false)?;
        found.extend(new_in(program, all.list(), &others).into_iter().map(|(order, index)| trial_finding(&others[order].findings, index)));
        let mut fault = run.fault.as_ref().map(|fault| fault.id);
        if let Some(other) = others.iter().find(|other| other.is_fault) {
            fault = fault_of(job, other, &|| false)?.map(|fault| fault.id);
        }
        let buffers = contents(case, &run);
        Ok(Self { findings: found, fault, buffers, run })
    }

    /// Warp-instructions of all its launches.
    pub fn ticks(&self) -> u64 {
        self.run.launches.iter().map(|launch| launch.ticks).sum()
    }

    /// The errors and warnings; notes fail nothing.
    pub fn failing(&self) -> impl Iterator<Item = &TrialFinding> {
        self.findings.iter().filter(|found| found.finding.severity > Severity::Note)
    }
}

/// A key by source lines, and by the instructions that have none.
pub(super) type SourceKey = (FindingKey, Option<u32>, Option<u32>);

/// The key by source lines instead of instructions, so that unrolled copies of a statement have one key.
pub(super) fn source_key(program: &Program, key: FindingKey) -> SourceKey {
    let line = |pc: Option<Pc>| {
        let place = program.source_line(pc?)?;
        Some(place.line).filter(|line| *line > 0)
    };
    let (one, other) = (line(key.2), line(key.3));
    let pc = |pc: Option<Pc>, line: Option<u32>| pc.filter(|_| line.is_none());
    ((key.0, key.1, pc(key.2, one), pc(key.3, other)), one.min(other), one.max(other))
}
