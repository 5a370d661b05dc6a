//! `fix`: the advice of a finding, tried.
//!
//! A finding proposes [changes](crate::check::Remedy) of the program. [`candidates`] puts them in their places, [`patch`] makes them in a
//! copy of the PTX text, which is read and checked as any other, and [`trial`] runs that: in the order of the session, and in every one
//! of some random orders that shows the finding. A change holds if the finding is gone, no new one has come, and a change that orders
//! nothing, but only makes accesses strong, leaves the same values in every order. Where the finding is gone and another one has come,
//! what that one proposes is made as well: a barrier before a read, and one after it.
//!
//! Findings of two programs are the same if their mistakes are of one family and their instructions the same: no text moves but by what
//! is inserted.

mod atomic;
mod candidates;
mod outputs;
mod patch;
mod places;
mod report;
mod session;
mod statement;
mod trial;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub use crate::launch::Case;
pub use crate::program::Program;
use candidates::{Places, Plan, further};
use outputs::outputs;
pub use patch::ChangedModule;
use patch::{Patched, Placed};
pub use report::{FixReport, FixReports};
use trial::{Key, Seen, Trial, blurred};

use crate::base::Severity;
use crate::check::{Candidate, Remedy};
use crate::debug::findings::{FailedFix, FixOutcome, Outputs};
use crate::debug::run::{RunError, RunOptions};
use crate::isa::Ordering;
use crate::machine::{CompletionPolicyKind, Schedule};
use crate::program::{Op, Pc};

/// Changes that are tried for a finding at most.
const TRIED: usize = 40;

/// Changes that remove the finding but bring another one, to which more is added.
const EXTENDED: usize = 4;

/// Rounds of that.
const ROUNDS: usize = 3;

/// Random orders at most, and warp-instructions that they may take together.
const ORDERS: u64 = 8;
const ORDER_TICKS: u64 = 1 << 24;

/// Warp-instructions of a changed program, in multiples of those of the original, before it counts as one that hangs, and at least.
const HANG_FACTOR: u64 = 8;
const HANG_TICKS: u64 = 1 << 18;

/// Asked between two runs: whether to go on.
pub type GoesOn<'a> = &'a mut dyn FnMut() -> bool;

/// Tries the advice of the finding of this number, from 1, or of all findings, of a run of `case`; none where there is no such finding.
/// Findings of all are tried one after the other, each in the program with the changes that held before.
///
/// # Errors
/// Reasons outside the kernel.
pub fn fix_case(
    program: &Arc<Program>,
    case: &Case,
    options: &RunOptions,
    number: Option<usize>,
    goes_on: GoesOn<'_>,
) -> Result<Option<FixReports>, RunError> {
    let own = Trial::new(program, case, options, Some)?;
    let count = own.seen.len() + usize::from(own.fault.is_some());
    if number.is_some_and(|number| number == 0 || number > count) {
        return Ok(None);
    }
    let mut search = Search::new(program, case, options.clone(), own);
    let mut reports = Vec::new();
    for index in 0..count {
        if number.is_none_or(|number| number == index + 1) {
            reports.push(search.fix(index, goes_on)?);
        }
    }
    let texts = match search.base.changes.as_slice() {
        [] => Vec::new(),
        changes => Patched::new(program, changes).map_or(Vec::new(), |made| made.texts),
    };
    let changes = search.base.words.clone();
    Ok(Some(FixReports { reports, changes, interrupted: search.interrupted, texts }))
}

/// The search for changes that hold.
struct Search<'a> {
    program: &'a Arc<Program>,
    case: &'a Case,
    options: RunOptions,
    places: Places<'a>,
    /// The original in the order of the session.
    own: Trial,
    /// The original in random orders, by seed.
    others: BTreeMap<u64, Trial>,
    /// Changes that held for findings so far, and the numbers of these.
    base: Plan,
    held: Vec<usize>,
    interrupted: bool,
}

/// What a change came to in one order.
enum Verdict {
    /// The finding is gone, and there is no new one.
    Gone,
    /// The finding is gone; others have come, with what they propose.
    Others(String, Vec<(Vec<Candidate>, Vec<Pc>)>),
    /// It did not help.
    Failed(String),
}

impl<'a> Search<'a> {
    fn new(program: &'a Arc<Program>, case: &'a Case, options: RunOptions, own: Trial) -> Self {
        let (base, held) = (Plan::default(), Vec::new());
        Self { program, case, options, places: Places::new(program), own, others: BTreeMap::new(), base, held, interrupted: false }
    }

    /// Tries what finding number `index`, from 0, proposes.
    fn fix(&mut self, index: usize, goes_on: GoesOn<'_>) -> Result<FixReport, RunError> {
        let Some(seen) = self.own.seen.get(index) else {
            let id = self.own.fault.map_or(String::new(), |fault| fault.word().to_string());
            return Ok(FixReport { finding: index + 1, id, outcome: FixOutcome::NothingToTry });
        };
        let (id, finding, keys) = (seen.finding.id.word().to_string(), seen.finding.clone(), seen.keys.clone());
        let report = |outcome| FixReport { finding: index + 1, id: id.clone(), outcome };
        if finding.severity == Severity::Note {
            return Ok(report(FixOutcome::NothingToTry));
        }
        if !self.base.changes.is_empty()
            && let Some(patched) = Patched::new(self.program, &self.base.changes).ok()
            && let Verdict::Gone | Verdict::Others(..) = self.judge(&patched, &self.run(&patched, self.options.clone())?, &keys, None)
        {
            return Ok(report(FixOutcome::GoneAlready { with: self.held.clone() }));
        }
        let pcs: Vec<Pc> = keys.iter().flat_map(|key| [key.2, key.3]).flatten().collect::<BTreeSet<Pc>>().into_iter().collect();
        let candidates: Vec<Candidate> =
            finding.candidates.iter().cloned().chain(further(&finding, |pc| is_plain(self.program, pc))).collect();
        let plans = self.places.plans(&candidates, &pcs, self.threads(finding.launch));
        if plans.is_empty() {
            return Ok(report(FixOutcome::NothingToTry));
        }
        let mut failed = Vec::new();
        let found = self.search(plans, &keys, &mut failed, goes_on)?;
        Ok(report(match found {
            Some((plan, outputs, orders)) => {
                self.base = self.base.with(&plan);
                self.held.push(index + 1);
                FixOutcome::Held { changes: plan.words, outputs, orders, failed: failed.len() }
            }
            None => FixOutcome::NoneHeld { tried: failed },
        }))
    }

    /// The first plan that holds, with what it leaves in the buffers and the other orders in which it was tried.
    fn search(
        &mut self,
        plans: Vec<Plan>,
        keys: &BTreeSet<Key>,
        failed: &mut Vec<FailedFix>,
        goes_on: GoesOn<'_>,
    ) -> Result<Option<(Plan, Outputs, u64)>, RunError> {
        let threads = self.threads(keys.first().map_or(0, |key| key.1));
        let mut open = plans;
        for _ in 0..ROUNDS {
            let mut extended = Vec::new();
            for plan in std::mem::take(&mut open) {
                if failed.len() >= TRIED {
                    return Ok(None);
                }
                if !goes_on() {
                    self.interrupted = true;
                    return Ok(None);
                }
                match self.attempt(&plan, keys)? {
                    Attempt::Held(outputs, orders) => return Ok(Some((plan, outputs, orders))),
                    Attempt::Failed(why, more) => {
                        failed.push(FailedFix { changes: plan.words.clone(), why });
                        extended.extend(Some((plan, more)).filter(|(_, more)| !more.is_empty() && extended.len() < EXTENDED));
                    }
                }
            }
            for (plan, more) in extended {
                for (candidates, pcs) in more.into_iter().take(1) {
                    open.extend(self.places.plans(&candidates, &pcs, threads).into_iter().take(6).map(|next| plan.with(&next)));
                }
            }
        }
        Ok(None)
    }

    /// Makes the changes of a plan and runs the program, in the order of the session and in those that show the finding.
    fn attempt(&mut self, plan: &Plan, keys: &BTreeSet<Key>) -> Result<Attempt, RunError> {
        let patched = match Patched::new(self.program, &self.base.with(plan).changes) {
            Ok(patched) => patched,
            Err(why) => return Ok(Attempt::Failed(why, Vec::new())),
        };
        let own = self.run(&patched, self.options.clone())?;
        match self.judge(&patched, &own, keys, None) {
            Verdict::Gone => {}
            Verdict::Others(why, more) => return Ok(Attempt::Failed(why, more)),
            Verdict::Failed(why) => return Ok(Attempt::Failed(why, Vec::new())),
        }
        let (mut orders, mut differs) = (0, None);
        for seed in 1..=self.seeds() {
            if !self.shows(seed, keys)? {
                continue;
            }
            let other = self.run(&patched, self.order(seed))?;
            match self.judge(&patched, &other, keys, Some(seed)) {
                Verdict::Gone => orders += 1,
                Verdict::Others(why, more) => return Ok(Attempt::Failed(format!("{why}, under seed {seed}"), more)),
                Verdict::Failed(why) => return Ok(Attempt::Failed(format!("{why}, under seed {seed}"), Vec::new())),
            }
            differs = differs.or_else(|| Some(seed).filter(|_| other.buffers != own.buffers));
        }
        let outputs = outputs(&patched.program, self.case, &self.options, (&self.own, &own), differs)?;
        if !orders_anything(plan) && outputs.is_open() && !self.is_shortcut(keys) {
            return Ok(Attempt::Failed("strong accesses, but what they leave depends on the order".into(), Vec::new()));
        }
        Ok(Attempt::Held(outputs, orders))
    }

    /// Whether the finding is about a test that an atomic follows: it decides nothing by itself, and is to be a strong load.
    fn is_shortcut(&self, keys: &BTreeSet<Key>) -> bool {
        let mut own = self.own.seen.iter().filter(|seen| seen.keys == *keys).flat_map(|seen| &seen.finding.candidates);
        own.any(|candidate| matches!(candidate[..], [Remedy::Order(_, Ordering::Relaxed)]))
    }

    /// Threads of a block of a launch.
    fn threads(&self, launch: usize) -> u32 {
        self.case.launches.get(launch).map_or(0, |launch| launch.block.iter().product())
    }

    fn run(&self, patched: &Patched, options: RunOptions) -> Result<Trial, RunError> {
        let ticks: u64 = self.own.run.launches.iter().map(|launch| launch.ticks).sum();
        let limit = ticks.saturating_mul(HANG_FACTOR).max(HANG_TICKS);
        let step_limit = Some(options.step_limit.map_or(limit, |own| own.min(limit)));
        Trial::new(&patched.program, self.case, &RunOptions { step_limit, ..options }, |pc| patched.original(pc))
    }

    /// Seeds of random orders that are tried.
    fn seeds(&self) -> u64 {
        let ticks: u64 = self.own.run.launches.iter().map(|launch| launch.ticks).sum();
        (ORDER_TICKS / ticks.max(1)).clamp(1, ORDERS)
    }

    fn order(&self, seed: u64) -> RunOptions {
        let ticks: u64 = self.own.run.launches.iter().map(|launch| launch.ticks).sum();
        let limit = ticks.saturating_mul(HANG_FACTOR).max(HANG_TICKS);
        let step_limit = Some(self.options.step_limit.map_or(limit, |own| own.min(limit)));
        RunOptions { schedule: Schedule::Random, seed, copies: CompletionPolicyKind::Random(seed), step_limit, ..self.options.clone() }
    }

    /// Whether the original shows the finding in the order of `seed`.
    fn shows(&mut self, seed: u64, keys: &BTreeSet<Key>) -> Result<bool, RunError> {
        if !self.others.contains_key(&seed) {
            let trial = Trial::new(self.program, self.case, &self.order(seed), Some)?;
            self.others.insert(seed, trial);
        }
        Ok(self.others[&seed].seen.iter().any(|seen| !seen.keys.is_disjoint(keys)))
    }

    /// What a run of the changed program says of the finding with these `keys`; `seed` of its order, or none of the session's.
    fn judge(&self, patched: &Patched, trial: &Trial, keys: &BTreeSet<Key>, seed: Option<u64>) -> Verdict {
        let before = seed.and_then(|seed| self.others.get(&seed)).unwrap_or(&self.own);
        let known: BTreeSet<Key> = before.seen.iter().chain(&self.own.seen).flat_map(|seen| seen.keys.iter().copied()).collect();
        let known: BTreeSet<Key> = known.difference(keys).copied().collect();
        let blur = |keys: &BTreeSet<Key>| keys.iter().map(|key| blurred(self.program, *key)).collect::<BTreeSet<_>>();
        let (blurred_keys, blurred_known) = (blur(keys), blur(&known));
        let is_known = |seen: &Seen| !seen.keys.is_disjoint(&known) || !blur(&seen.keys).is_disjoint(&blurred_known);
        let is_own = |seen: &Seen| !seen.keys.is_disjoint(keys) || !is_known(seen) && !blur(&seen.keys).is_disjoint(&blurred_keys);
        let hangs = trial.fault.filter(|fault| Some(*fault) != before.fault);
        let describe = |seen: &Seen| {
            let id = seen.finding.id.word();
            format!("{id} at {}", self.place(patched, seen.finding.second.place.pc))
        };
        let new: Vec<&Seen> = trial.counting().filter(|seen| !is_own(seen) && !is_known(seen)).collect();
        if let Some(own) = trial.counting().find(|seen| is_own(seen)) {
            return Verdict::Failed(match new.first() {
                Some(other) => format!("the finding is still there, and {}", describe(other)),
                None if own.finding.severity > Severity::Note => "the finding is still there".into(),
                None => "the finding is still there as a note".into(),
            });
        }
        if let Some(fault) = hangs {
            let with = new.first().map_or(String::new(), |other| format!(", with {}", describe(other)));
            return Verdict::Failed(format!("{}{with}", fault.word()));
        }
        match new.first() {
            None => Verdict::Gone,
            Some(first) => {
                let more = new.iter().map(|seen| self.proposals(patched, seen)).filter(|(more, _)| !more.is_empty()).collect();
                Verdict::Others(format!("a new finding: {}", describe(first)), more)
            }
        }
    }

    /// What a finding of the changed program proposes, in terms of the original, and its instructions there.
    fn proposals(&self, patched: &Patched, seen: &Seen) -> (Vec<Candidate>, Vec<Pc>) {
        let all = seen.finding.candidates.iter().cloned().chain(further(&seen.finding, |pc| is_plain(&patched.program, pc)));
        let original = |candidate: Candidate| candidate.into_iter().map(|remedy| moved(remedy, |pc| patched.original(pc))).collect();
        let pcs = seen.keys.iter().flat_map(|key| [key.2, key.3]).flatten().collect::<BTreeSet<Pc>>();
        (all.filter_map(original).collect(), pcs.into_iter().collect())
    }

    /// `k.ptx:12` in the original, if the instruction is one of it.
    fn place(&self, patched: &Patched, pc: Pc) -> String {
        match patched.original(pc) {
            Some(original) => self.program.place(original),
            None => format!("the inserted '{}'", patched.program.text(pc).trim_end_matches(';')),
        }
    }
}

/// What came of a plan.
enum Attempt {
    Held(Outputs, u64),
    Failed(String, Vec<(Vec<Candidate>, Vec<Pc>)>),
}

/// Whether a plan does more than make accesses strong.
fn orders_anything(plan: &Plan) -> bool {
    plan.changes.iter().any(|change| !matches!(change, Placed::Modify(_, modifiers) if !modifiers.orders()))
}

/// Whether the instruction is a load or a store that is not strong.
fn is_plain(program: &Program, pc: Pc) -> bool {
    matches!(&program.code[pc.index()].op, Op::Memory(op) if op.access().ordering == Ordering::Weak)
}

/// The remedy with other instructions; none if one of them is none of that program.
fn moved(remedy: Remedy, to: impl Fn(Pc) -> Option<Pc>) -> Option<Remedy> {
    use crate::check::Position;
    let place = |at: Position| match at {
        Position::Before(pc) => to(pc).map(Position::Before),
        Position::After(pc) => to(pc).map(Position::After),
    };
    Some(match remedy {
        Remedy::Barrier(reach, one, other) => Remedy::Barrier(reach, to(one)?, to(other)?),
        Remedy::BarrierAt(reach, at) => Remedy::BarrierAt(reach, place(at)?),
        Remedy::RoleBarrier(one, other) => Remedy::RoleBarrier(to(one)?, to(other)?),
        Remedy::Fence(scope, at) => Remedy::Fence(scope, place(at)?),
        Remedy::ProxyFence(at) => Remedy::ProxyFence(place(at)?),
        Remedy::Order(pc, ordering) => Remedy::Order(to(pc)?, ordering),
        Remedy::Scope(pc, scope) => Remedy::Scope(to(pc)?, scope),
        Remedy::WaitGroup(pc, pending) => Remedy::WaitGroup(to(pc)?, pending),
        Remedy::FirstThread(pc) => Remedy::FirstThread(to(pc)?),
        Remedy::OtherParity(pc) => Remedy::OtherParity(to(pc)?),
        Remedy::Commit(before) => Remedy::Commit(to(before)?),
        Remedy::WaitAll(kind, at) => Remedy::WaitAll(kind, place(at)?),
        Remedy::Atomic { load, store, f } => Remedy::Atomic { load: to(load)?, store: to(store)?, f },
    })
}
