//! Judges a run of a changed program: whether the finding is gone, and nothing new comes.

use std::collections::BTreeSet;

use super::Search;
use super::candidates::further_candidates;
use super::patch::Patched;
use super::trial::{FindingKey, SourceKey, Trial, TrialFinding, source_key};
use crate::check::race::catalogue::RACE_SAME_VALUE;
use crate::check::{Candidate, FindingId, Position, Remedy};
use crate::program::{Pc, Program};

/// Remedies of a finding of a changed program in terms of the original, with the instructions of the finding there.
pub(super) type Proposals = (Vec<Candidate>, Vec<Pc>);

/// The result of a change in one order.
pub(super) enum Verdict {
    /// The finding is gone, and there is no new one.
    Gone,
    /// The finding is gone, but there are new ones, or one that an earlier change removed is back; with their remedies.
    NewFindings(String, Vec<Proposals>),
    /// The finding remains, with remedies that it did not have before the change, or the run fails.
    Failed(String, Vec<Proposals>),
}

/// Keys of findings, by instructions and by source lines.
struct FindingKeys {
    keys: BTreeSet<FindingKey>,
    sources: BTreeSet<SourceKey>,
}

impl FindingKeys {
    fn new(program: &Program, keys: BTreeSet<FindingKey>) -> Self {
        Self { sources: keys.iter().map(|key| source_key(program, *key)).collect(), keys }
    }

    /// True if one of the keys of a finding is among them.
    fn has(&self, program: &Program, found: &TrialFinding) -> bool {
        found.keys.iter().any(|key| self.keys.contains(key) || self.sources.contains(&source_key(program, *key)))
    }
}

impl Search<'_> {
    /// The verdict of a run of the changed program on the finding with these `keys`; `seed` is that of its order, none for the session's.
    pub(super) fn judge(&self, patched: &Patched, trial: &Trial, keys: &BTreeSet<FindingKey>, seed: Option<u64>) -> Verdict {
        let before = seed.and_then(|seed| self.random_orders.get(&seed)).unwrap_or(&self.original);
        let known = FindingKeys::new(self.program, self.known(before, keys));
        let own = FindingKeys::new(self.program, keys.clone());
        let is_known = |found: &TrialFinding| known.has(self.program, found);
        let is_same = |found: &TrialFinding| !found.keys.is_disjoint(keys) || !is_known(found) && own.has(self.program, found);
        // Without keys, the fault is what is to be fixed. One that comes earlier than before hides what is to be fixed.
        let is_as_before = |fault: FindingId| Some(fault) == before.fault && trial.ticks() >= before.ticks();
        let stops = trial.fault.filter(|fault| keys.is_empty() || !is_as_before(*fault));
        let describe = |found: &TrialFinding| self.describe(patched, found);
        let new: Vec<&TrialFinding> = trial.failing().filter(|found| !is_same(found) && !is_known(found)).collect();
        if let Some(same) = trial.failing().find(|found| is_same(found)) {
            let why = match new.first() {
                Some(other) => format!("the finding is still there, and {}", describe(other)),
                None => "the finding is still there".into(),
            };
            return Verdict::Failed(why, self.next_proposals(patched, same, keys));
        }
        if self.is_left_as_note(trial, keys) {
            return Verdict::Failed("the finding is still there as a note: all write the same".into(), Vec::new());
        }
        if let Some(fault) = stops {
            let with = new.first().map_or(String::new(), |other| format!(", with {}", describe(other)));
            return Verdict::Failed(format!("{}{with}", fault.word()), Vec::new());
        }
        match new.first() {
            None => Verdict::Gone,
            Some(first) => {
                let more = new.iter().map(|found| self.proposals(patched, found)).filter(|(more, _)| !more.is_empty()).collect();
                Verdict::NewFindings(format!("a new finding: {}", describe(first)), more)
            }
        }
    }

    /// True if threads still write the bytes of the finding with these `keys`, but now the same value: a lost update after a barrier.
    fn is_left_as_note(&self, trial: &Trial, keys: &BTreeSet<FindingKey>) -> bool {
        let notes = |trial: &Trial| {
            let same = trial.findings.iter().filter(|found| found.finding.id == RACE_SAME_VALUE);
            same.flat_map(|found| found.keys.iter().copied()).filter(|key| keys.contains(key)).collect::<BTreeSet<_>>()
        };
        !notes(trial).is_subset(&notes(&self.original))
    }

    /// A finding of the program with all changes that is not one of those for which nothing held, or a fault that was not there before.
    pub(super) fn remainder(&self, patched: &Patched, trial: &Trial, seed: Option<u64>) -> Option<String> {
        let before = seed.and_then(|seed| self.random_orders.get(&seed)).unwrap_or(&self.original);
        let known = FindingKeys::new(self.program, self.known(before, &BTreeSet::new()));
        let remaining = trial.failing().find(|found| !known.has(self.program, found));
        let fault = trial.fault.filter(|fault| Some(*fault) != before.fault).map(|fault| fault.word().to_string());
        remaining.map(|found| self.describe(patched, found)).or(fault)
    }

    /// The keys of the findings that a change for the finding with these `keys` may leave: those of the original in this order and in the
    /// session's, without those that are fixed.
    fn known(&self, before: &Trial, keys: &BTreeSet<FindingKey>) -> BTreeSet<FindingKey> {
        let is_fixed = |index: usize| self.fixed.contains(&(index + 1)) || self.gone.contains(&(index + 1));
        let keys_where = |fixed: bool| {
            let found = self.original.findings.iter().enumerate().filter(move |(index, _)| is_fixed(*index) == fixed);
            found.flat_map(|(_, found)| found.keys.iter().copied()).collect::<BTreeSet<FindingKey>>()
        };
        let (open, fixed) = (keys_where(false), keys_where(true));
        let of_order = before.findings.iter().flat_map(|found| &found.keys).copied().filter(|key| !fixed.contains(key));
        open.iter().copied().chain(of_order).filter(|key| !keys.contains(key)).collect()
    }

    /// What a finding that is still there proposes now, if that is something else than before the change: the next link that is missing.
    fn next_proposals(&self, patched: &Patched, same: &TrialFinding, keys: &BTreeSet<FindingKey>) -> Vec<Proposals> {
        let of_original = self.original.findings.iter().filter(|found| found.keys == *keys);
        let before: Vec<&Candidate> = of_original.flat_map(|found| &found.finding.candidates).collect();
        let (mut next, pcs) = self.in_original(patched, same, same.finding.candidates.iter().cloned());
        next.retain(|candidate| !before.contains(&candidate));
        if next.is_empty() { Vec::new() } else { vec![(next, pcs)] }
    }

    /// All remedies of a finding of the changed program.
    fn proposals(&self, patched: &Patched, found: &TrialFinding) -> Proposals {
        let all = found.finding.candidates.iter().cloned().chain(further_candidates(&patched.program, &found.finding));
        self.in_original(patched, found, all)
    }

    /// Remedies of a finding of the changed program, in terms of the original.
    fn in_original(&self, patched: &Patched, found: &TrialFinding, all: impl Iterator<Item = Candidate>) -> Proposals {
        let original = |candidate: Candidate| candidate.into_iter().map(|remedy| translated(remedy, |pc| patched.original(pc))).collect();
        let pcs = found.keys.iter().flat_map(|key| [key.2, key.3]).flatten().collect::<BTreeSet<Pc>>();
        (all.filter_map(original).collect(), pcs.into_iter().collect())
    }

    /// `race.global at k.ptx:12`
    fn describe(&self, patched: &Patched, found: &TrialFinding) -> String {
        format!("{} at {}", found.finding.id.word(), self.place(patched, found.finding.second.point.pc))
    }

    /// `k.ptx:12` in the original, or the text of an inserted instruction.
    fn place(&self, patched: &Patched, pc: Pc) -> String {
        match patched.original(pc) {
            Some(original) => self.program.place(original),
            None => format!("the inserted '{}'", patched.program.text(pc).trim_end_matches(';')),
        }
    }
}

/// The remedy in terms of another program; none if one of its instructions is not in it.
fn translated(remedy: Remedy, to: impl Fn(Pc) -> Option<Pc>) -> Option<Remedy> {
    let position = |at: Position| match at {
        Position::Before(pc) => to(pc).map(Position::Before),
        Position::After(pc) => to(pc).map(Position::After),
    };
    Some(match remedy {
        Remedy::Barrier(level, one, other) => Remedy::Barrier(level, to(one)?, to(other)?),
        Remedy::BarrierAt(level, at) => Remedy::BarrierAt(level, position(at)?),
        Remedy::NamedBarrier(one, other) => Remedy::NamedBarrier(to(one)?, to(other)?),
        Remedy::Fence(scope, at) => Remedy::Fence(scope, position(at)?),
        Remedy::ClusterArrive(at) => Remedy::ClusterArrive(position(at)?),
        Remedy::ClusterWait(at) => Remedy::ClusterWait(position(at)?),
        Remedy::ProxyFence(at) => Remedy::ProxyFence(position(at)?),
        Remedy::WgmmaFence(at) => Remedy::WgmmaFence(position(at)?),
        Remedy::Arrive(waiting, at) => Remedy::Arrive(to(waiting)?, position(at)?),
        Remedy::Order(pc, ordering) => Remedy::Order(to(pc)?, ordering),
        Remedy::Scope(pc, scope) => Remedy::Scope(to(pc)?, scope),
        Remedy::WaitGroup(pc, pending) => Remedy::WaitGroup(to(pc)?, pending),
        Remedy::FirstThread(pc) => Remedy::FirstThread(to(pc)?),
        Remedy::OtherParity(pc) => Remedy::OtherParity(to(pc)?),
        Remedy::PhaseWait(brings, takes) => Remedy::PhaseWait(to(brings)?, to(takes)?),
        Remedy::Commit(before) => Remedy::Commit(to(before)?),
        Remedy::WaitAll(kind, at) => Remedy::WaitAll(kind, position(at)?),
        Remedy::Atomic { load, store, f } => Remedy::Atomic { load: to(load)?, store: to(store)?, f },
    })
}
