//! A run of a changed program, and what was found in it, in terms of the original.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::candidates::family;
use crate::base::Severity;
use crate::check::{Finding, FindingId, Findings};
use crate::debug::explore::contents;
use crate::debug::run::{CaseRun, Job, RunError, RunOptions, fault_of, new_in, other_orders, run_checked};
use crate::launch::Case;
use crate::machine::Instrumentation;
use crate::program::{Pc, Program};

/// The two instructions of a mistake, of the original program; none for an inserted one, or where there is no such side.
pub(super) type Key = (&'static str, usize, Option<Pc>, Option<Pc>);

/// A finding of a trial; those of other orders of critical sections come last, as in the numbers of findings.
pub(super) struct Seen {
    /// In terms of the program that ran.
    pub finding: Finding,
    /// All pairs of instructions that are counted in it.
    pub keys: BTreeSet<Key>,
}

/// What a run came to.
pub(super) struct Trial {
    pub seen: Vec<Seen>,
    /// What stopped it.
    pub fault: Option<FindingId>,
    /// The buffers at its end.
    pub buffers: Vec<Vec<u8>>,
    pub run: CaseRun,
}

impl Trial {
    /// Runs `program`, whose instructions are `original` ones; and its critical sections the other way round, as any run does.
    pub fn new(program: &Arc<Program>, case: &Case, options: &RunOptions, original: impl Fn(Pc) -> Option<Pc>) -> Result<Self, RunError> {
        let (run, checkers) = run_checked(program, case, options, &|| false)?;
        let see = |all: &Findings, index: usize| {
            let finding = all.list()[index].clone();
            let key = |pair: crate::check::Pair| {
                let (first, second) = pair.sides();
                let (a, b) = (first.and_then(|(pc, _)| original(pc)), original(second.0));
                (family(pair.id()), finding.launch, a.min(b), a.max(b))
            };
            Seen { keys: all.pairs(index).map(key).collect(), finding }
        };
        let all = checkers.findings();
        let mut seen: Vec<Seen> = (0..all.list().len()).map(|index| see(all, index)).collect();
        let job = Job { program, case, options, instrumentation: Instrumentation::Nothing };
        let (_, others) = other_orders(job, &run, &|| false)?;
        seen.extend(new_in(program, all.list(), &others).into_iter().map(|(order, index)| see(&others[order].findings, index)));
        let mut fault = run.fault.as_ref().map(|fault| fault.id);
        if let Some(other) = others.iter().find(|other| other.is_fault) {
            fault = fault_of(job, other, &|| false)?.map(|fault| fault.id);
        }
        let buffers = contents(case, &run);
        Ok(Self { seen, fault, buffers, run })
    }

    /// The findings that count: no notes.
    pub fn counting(&self) -> impl Iterator<Item = &Seen> {
        self.seen.iter().filter(|seen| seen.finding.severity > Severity::Note)
    }
}

/// A key where unrolled copies of a statement are one: instructions of one line of the source are their first one.
pub(super) fn blurred(program: &Program, key: Key) -> (Key, Option<u32>, Option<u32>) {
    let line = |pc: Option<Pc>| {
        let place = program.source_lines.get(pc?.index()).copied().flatten()?;
        Some(place.line).filter(|line| *line > 0)
    };
    let (one, other) = (line(key.2), line(key.3));
    let pc = |pc: Option<Pc>, line: Option<u32>| pc.filter(|_| line.is_none());
    ((key.0, key.1, pc(key.2, one), pc(key.3, other)), one.min(other), one.max(other))
}
