//! A run of a changed program, and what was found in it, in terms of the original.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::candidates::family;
use crate::base::Severity;
use crate::check::{Finding, FindingId};
use crate::debug::explore::contents;
use crate::debug::run::{CaseRun, RunError, RunOptions, run_checked};
use crate::launch::Case;
use crate::program::{Pc, Program};

/// The two instructions of a mistake, of the original program; none for an inserted one, or where there is no such side.
pub(super) type Key = (&'static str, usize, Option<Pc>, Option<Pc>);

/// A finding of a trial.
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
    /// Runs `program`, whose instructions are `original` ones.
    pub fn new(program: &Arc<Program>, case: &Case, options: &RunOptions, original: impl Fn(Pc) -> Option<Pc>) -> Result<Self, RunError> {
        let (run, checkers) = run_checked(program, case, options, &|| false)?;
        let all = checkers.findings();
        let seen = all.list().iter().enumerate().map(|(index, finding)| {
            let key = |pair: crate::check::Pair| {
                let (first, second) = pair.sides();
                let (a, b) = (first.and_then(|(pc, _)| original(pc)), original(second.0));
                (family(pair.id()), finding.launch, a.min(b), a.max(b))
            };
            Seen { finding: finding.clone(), keys: all.pairs(index).map(key).collect() }
        });
        let seen = seen.collect();
        let buffers = contents(case, &run);
        Ok(Self { seen, fault: run.fault.as_ref().map(|fault| fault.id), buffers, run })
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
