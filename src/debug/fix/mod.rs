//! `fix`: tries the remedies that findings propose.
//!
//! A finding proposes [remedies](crate::check::Remedy). [`candidates`] turns them into text changes, [`patch`] applies these to a copy of
//! the PTX text, which is parsed and checked as any other, and [`trial`] runs the new program: in the order of the session, and in those of
//! some random orders that show the finding. A change holds if the finding is gone and there is no new one; a change that orders nothing,
//! but only makes accesses strong, must also give the same values in every order and on weak memory. If the finding is gone but a new one
//! appears, the remedy of the new one is added: a barrier before a read, and one after it.
//!
//! Findings of two programs are the same if they are of one class and at the same instructions.

mod atomic;
mod barrier_positions;
mod candidates;
mod copies;
mod executing_warps;
mod outputs;
mod patch;
mod phase_wait;
mod report;
mod session;
mod statement;
mod trial;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub use crate::launch::Case;
pub use crate::program::Program;
use candidates::{FixPlan, Planner, fault_candidates, further_candidates, missing_arrivals};
use executing_warps::ExecutingWarps;
use outputs::outputs;
pub use patch::ChangedModule;
use patch::{Patched, TextChange};
pub use report::{FixReport, FixReports};
use trial::{FindingKey, Trial, TrialFinding, source_key};

use crate::base::{Severity, run_jobs};
use crate::check::sync::catalogue::BARRIER_EXITED;
use crate::check::{Candidate, Remedy};
use crate::debug::fault::{Fault, WaitKind};
use crate::debug::findings::{FailedFix, FixOutcome, Outputs};
use crate::debug::run::{RunError, RunOptions};
use crate::isa::Ordering;
use crate::machine::{CompletionPolicyKind, MemoryModel, Schedule};
use crate::program::{Op, Pc};

/// Maximum number of plans tried for a finding.
const TRIED_MAX: usize = 40;

/// Maximum number of plans that are extended because they replace the finding by a new one.
const EXTENDED_MAX: usize = 4;

/// Rounds of extension.
const ROUNDS: usize = 3;

/// Maximum number of random orders, and of their warp-instructions together.
const ORDERS_MAX: u64 = 8;
const ORDER_TICKS: u64 = 1 << 24;

/// Maximum number of runs on weak memory.
const WEAK_RUNS_MAX: u64 = 4;

/// Step limit of a changed program, in multiples of the original's warp-instructions, and its minimum; a run that reaches it hangs.
const HANG_FACTOR: u64 = 8;
const HANG_TICKS: u64 = 1 << 18;

/// Called between two runs; false interrupts.
pub type ContinueCheck<'a> = &'a mut dyn FnMut() -> bool;

/// Tries the remedies of finding number `number`, from 1, or of all findings of a run of `case`; none if there is no such finding. All
/// findings are tried one after the other, each in the program with the changes that held before. Up to `jobs` runs go on at the same time,
/// and what is found is the same for every number.
///
/// # Errors
/// Reasons outside the kernel.
pub fn fix_case(
    program: &Arc<Program>,
    case: &Case,
    options: &RunOptions,
    (number, jobs): (Option<usize>, usize),
    should_continue: ContinueCheck<'_>,
) -> Result<Option<FixReports>, RunError> {
    let original = Trial::new(program, case, options, Some, &BTreeSet::new())?;
    let count = original.findings.len() + usize::from(original.fault.is_some());
    if number.is_some_and(|number| number == 0 || number > count) {
        return Ok(None);
    }
    let mut search = Search::new(program, case, (options.clone(), jobs), original);
    let mut reports = Vec::new();
    for index in 0..count {
        if number.is_none_or(|number| number == index + 1) {
            reports.push(search.fix(index, should_continue)?);
        }
    }
    for report in &mut reports {
        search.look_again(report)?;
    }
    let texts = match search.base.changes.as_slice() {
        [] => Vec::new(),
        changes => Patched::new(program, changes).map_or(Vec::new(), |made| made.texts),
    };
    let changes = search.base.descriptions.clone();
    Ok(Some(FixReports { reports, changes, interrupted: search.interrupted, texts }))
}

/// The search for changes that hold.
struct Search<'a> {
    program: &'a Arc<Program>,
    case: &'a Case,
    options: RunOptions,
    /// Runs at the same time.
    jobs: usize,
    planner: Planner<'a>,
    /// The original in the order of the session.
    original: Trial,
    /// The original in random orders, by seed.
    random_orders: BTreeMap<u64, Trial>,
    /// The changes that held so far, and the numbers of the findings that they fix.
    base: FixPlan,
    fixed: Vec<usize>,
    interrupted: bool,
}

/// A finding to fix, or the fault.
struct Target {
    id: String,
    launch: usize,
    /// Its keys; empty for the fault.
    keys: BTreeSet<FindingKey>,
    candidates: Vec<Candidate>,
    severity: Severity,
    /// The instruction at which threads wait for arrivals at a barrier that do not come.
    waiting: Option<Pc>,
}

/// The result of a change in one order.
enum Verdict {
    /// The finding is gone, and there is no new one.
    Gone,
    /// The finding is gone, but there are new ones, with their remedies.
    NewFindings(String, Vec<(Vec<Candidate>, Vec<Pc>)>),
    /// The finding remains, or the run fails.
    Failed(String),
}

impl<'a> Search<'a> {
    fn new(program: &'a Arc<Program>, case: &'a Case, (options, jobs): (RunOptions, usize), original: Trial) -> Self {
        let (base, fixed) = (FixPlan::default(), Vec::new());
        Self {
            program,
            case,
            options,
            jobs,
            planner: Planner::new(program),
            original,
            random_orders: BTreeMap::new(),
            base,
            fixed,
            interrupted: false,
        }
    }

    /// Tries the remedies of finding number `index`, from 0.
    fn fix(&mut self, index: usize, should_continue: ContinueCheck<'_>) -> Result<FixReport, RunError> {
        let Target { id, launch, keys, mut candidates, severity, waiting } = self.target(index);
        let report = |outcome| FixReport { finding: index + 1, id: id.clone(), outcome };
        if severity == Severity::Note {
            return Ok(report(FixOutcome::NothingToTry));
        }
        if self.is_gone_already(&keys)? {
            return Ok(report(FixOutcome::GoneAlready { with: self.fixed.clone() }));
        }
        let pcs: Vec<Pc> = keys.iter().flat_map(|key| [key.2, key.3]).flatten().collect::<BTreeSet<Pc>>().into_iter().collect();
        if let Some(waiting) = waiting {
            candidates.extend(missing_arrivals(waiting, self.executing_warps()?));
        }
        let plans = self.plans(&candidates, &pcs, launch)?;
        if plans.is_empty() {
            return Ok(report(FixOutcome::NothingToTry));
        }
        let mut failed = Vec::new();
        let found = self.search(plans, (&keys, launch), &mut failed, should_continue)?;
        Ok(report(match found {
            Some((plan, outputs, orders)) => {
                self.base = self.base.with(&plan);
                self.fixed.push(index + 1);
                FixOutcome::Held { changes: plan.descriptions, outputs, orders, failed: failed.len() }
            }
            None => FixOutcome::NoneHeld { tried: failed },
        }))
    }

    /// A finding for which nothing held may be gone with the changes for a later one.
    fn look_again(&self, report: &mut FixReport) -> Result<(), RunError> {
        let is_open = matches!(report.outcome, FixOutcome::NothingToTry | FixOutcome::NoneHeld { .. });
        let with: Vec<usize> = self.fixed.iter().copied().filter(|fixed| *fixed > report.finding).collect();
        let target = self.target(report.finding - 1);
        if is_open && !with.is_empty() && target.severity > Severity::Note && self.is_gone_already(&target.keys)? {
            report.outcome = FixOutcome::GoneAlready { with };
        }
        Ok(())
    }

    /// Finding number `index`, from 0; after the last one the fault.
    fn target(&self, index: usize) -> Target {
        let Some(TrialFinding { finding, keys }) = self.original.findings.get(index) else {
            let fault = self.original.run.fault.as_ref();
            let launch = fault.map_or(0, |fault| fault.launch);
            let kernel = self.case.launches.get(launch).map(|launch| launch.kernel);
            let candidates = kernel.zip(self.original.fault).map(|(kernel, fault)| fault_candidates(self.program, kernel, fault));
            let id = self.original.fault.map_or(String::new(), |fault| fault.word().to_string());
            let at_barrier =
                |fault: &Fault| fault.waiting.iter().find(|waiting| waiting.kind == WaitKind::AtBarrier).map(|waiting| waiting.pc);
            let (keys, candidates) = (BTreeSet::new(), candidates.unwrap_or_default());
            return Target { id, launch, keys, candidates, severity: Severity::Error, waiting: fault.and_then(at_barrier) };
        };
        let further = further_candidates(finding, |pc| is_plain(self.program, pc));
        let candidates = finding.candidates.iter().cloned().chain(further).collect();
        let id = finding.id.word().to_string();
        let waiting = Some(finding.second.point.pc).filter(|_| finding.id == BARRIER_EXITED);
        Target { id, launch: finding.launch, keys: keys.clone(), candidates, severity: finding.severity, waiting }
    }

    /// True if the changes that held so far remove the finding with these `keys`, too.
    fn is_gone_already(&self, keys: &BTreeSet<FindingKey>) -> Result<bool, RunError> {
        let patched = if self.base.changes.is_empty() { None } else { Patched::new(self.program, &self.base.changes).ok() };
        let Some(patched) = patched else { return Ok(false) };
        let trial = self.run(&patched, self.options.clone(), keys)?;
        Ok(matches!(self.judge(&patched, &trial, keys, None), Verdict::Gone | Verdict::NewFindings(..)))
    }

    /// The warps that execute each instruction: found by a run, once.
    fn executing_warps(&mut self) -> Result<&ExecutingWarps, RunError> {
        let found = match self.planner.warps.take() {
            Some(found) => found,
            None => ExecutingWarps::new(self.program, self.case, &self.options)?,
        };
        Ok(self.planner.warps.insert(found))
    }

    /// The plans for candidates. Where one is a named barrier or a wait for a phase, a run says which warps execute
    /// the instructions and which mbarriers there are.
    fn plans(&mut self, candidates: &[Candidate], pcs: &[Pc], launch: usize) -> Result<Vec<FixPlan>, RunError> {
        let needs_warps = candidates.iter().flatten().any(|remedy| matches!(remedy, Remedy::NamedBarrier(..) | Remedy::PhaseWait(..)));
        if needs_warps {
            self.executing_warps()?;
        }
        Ok(self.planner.plans(candidates, pcs, self.threads(launch)))
    }

    /// The first plan that holds, with its buffer contents and the number of other orders in which it was tried.
    fn search(
        &mut self,
        plans: Vec<FixPlan>,
        (keys, launch): (&BTreeSet<FindingKey>, usize),
        failed: &mut Vec<FailedFix>,
        should_continue: ContinueCheck<'_>,
    ) -> Result<Option<(FixPlan, Outputs, u64)>, RunError> {
        let mut pending = plans;
        for _ in 0..ROUNDS {
            let mut extended = Vec::new();
            let plans = std::mem::take(&mut pending);
            for some in plans.chunks(self.jobs) {
                let first = self.side_by_side(some.len(), |place| self.first_run(&some[place], keys));
                for (plan, first) in some.iter().zip(first) {
                    if failed.len() >= TRIED_MAX {
                        return Ok(None);
                    }
                    if !should_continue() {
                        self.interrupted = true;
                        return Ok(None);
                    }
                    match self.attempt(plan, first?, keys)? {
                        Attempt::Held(outputs, orders) => return Ok(Some((plan.clone(), outputs, orders))),
                        Attempt::Failed(why, more) => {
                            failed.push(FailedFix { changes: plan.descriptions.clone(), why });
                            let extends = !more.is_empty() && extended.len() < EXTENDED_MAX;
                            extended.extend(extends.then(|| (plan.clone(), more)));
                        }
                    }
                }
            }
            for (plan, more) in extended {
                for (candidates, pcs) in more.into_iter().take(1) {
                    pending.extend(self.plans(&candidates, &pcs, launch)?.into_iter().take(6).map(|next| plan.with(&next)));
                }
            }
        }
        Ok(None)
    }

    /// Makes `count` results, up to `jobs` at the same time.
    fn side_by_side<T: Send>(&self, count: usize, make: impl Fn(usize) -> T + Sync) -> Vec<T> {
        let mut made = Vec::new();
        run_jobs(self.jobs, count as u64, |place, _| make(place as usize), || true, |_, one| made.push(one));
        made
    }

    /// Applies the changes of a plan and runs the program in the order of the session; or the reason why they cannot be applied.
    fn first_run(&self, plan: &FixPlan, keys: &BTreeSet<FindingKey>) -> Result<Result<(Patched, Trial), String>, RunError> {
        match Patched::new(self.program, &self.base.with(plan).changes) {
            Ok(patched) => {
                let changed = self.run(&patched, self.options.clone(), keys)?;
                Ok(Ok((patched, changed)))
            }
            Err(why) => Ok(Err(why)),
        }
    }

    /// Judges the first run of a plan, and runs its program in the orders that show the finding.
    fn attempt(
        &mut self,
        plan: &FixPlan,
        first: Result<(Patched, Trial), String>,
        keys: &BTreeSet<FindingKey>,
    ) -> Result<Attempt, RunError> {
        let (patched, changed) = match first {
            Ok(first) => first,
            Err(why) => return Ok(Attempt::Failed(why, Vec::new())),
        };
        match self.judge(&patched, &changed, keys, None) {
            Verdict::Gone => {}
            Verdict::NewFindings(why, more) => return Ok(Attempt::Failed(why, more)),
            Verdict::Failed(why) => return Ok(Attempt::Failed(why, Vec::new())),
        }
        let (mut orders, mut differs) = (0, None);
        let seeds: Vec<u64> = (1..=self.seeds()).collect();
        for some in seeds.chunks(self.jobs) {
            self.run_originals(some)?;
            let showing: Vec<u64> = some.iter().copied().filter(|seed| self.shows(*seed, keys)).collect();
            let others = self.side_by_side(showing.len(), |place| self.run(&patched, self.order(showing[place]), keys));
            for (seed, other) in showing.into_iter().zip(others) {
                let other = other?;
                match self.judge(&patched, &other, keys, Some(seed)) {
                    Verdict::Gone => orders += 1,
                    Verdict::NewFindings(why, more) => return Ok(Attempt::Failed(format!("{why}, under seed {seed}"), more)),
                    Verdict::Failed(why) => return Ok(Attempt::Failed(format!("{why}, under seed {seed}"), Vec::new())),
                }
                differs = differs.or_else(|| Some(seed).filter(|_| other.buffers != changed.buffers));
            }
        }
        let outputs = outputs(&patched.program, self.case, &self.options, (&self.original, &changed), differs)?;
        if !orders_anything(plan) && !self.is_shortcut(keys) {
            if outputs.is_wrong() {
                return Ok(Attempt::Failed("strong accesses, but what they leave depends on the order".into(), Vec::new()));
            }
            if let Some(seed) = self.differs_on_weak_memory(&patched, &changed, keys)? {
                return Ok(Attempt::Failed(
                    format!("strong accesses, but they leave something else with --memory weak:{seed}"),
                    Vec::new(),
                ));
            }
        }
        Ok(Attempt::Held(outputs, orders))
    }

    /// The seed of weak memory with which a changed program leaves something else: its accesses are strong, and nothing orders them.
    fn differs_on_weak_memory(&self, patched: &Patched, changed: &Trial, keys: &BTreeSet<FindingKey>) -> Result<Option<u64>, RunError> {
        let seeds: Vec<u64> = (1..=self.seeds().min(WEAK_RUNS_MAX)).collect();
        for some in seeds.chunks(self.jobs) {
            let options = |seed: u64| RunOptions { memory: MemoryModel::Weak(seed), ..self.order(seed) };
            let runs = self.side_by_side(some.len(), |place| self.run(patched, options(some[place]), keys));
            for (seed, run) in some.iter().zip(runs) {
                if run?.buffers != changed.buffers {
                    return Ok(Some(*seed));
                }
            }
        }
        Ok(None)
    }

    /// True if the finding is on a load that only decides whether an atomic is attempted: no result depends on it alone, so a strong load
    /// suffices.
    fn is_shortcut(&self, keys: &BTreeSet<FindingKey>) -> bool {
        let mut candidates = self.original.findings.iter().filter(|found| found.keys == *keys).flat_map(|found| &found.finding.candidates);
        candidates.any(|candidate| matches!(candidate[..], [Remedy::Order(_, Ordering::Relaxed)]))
    }

    /// Threads of a block of a launch.
    fn threads(&self, launch: usize) -> u32 {
        self.case.launches.get(launch).map_or(0, |launch| launch.block.iter().product())
    }

    fn run(&self, patched: &Patched, options: RunOptions, keys: &BTreeSet<FindingKey>) -> Result<Trial, RunError> {
        let ticks: u64 = self.original.run.launches.iter().map(|launch| launch.ticks).sum();
        let limit = ticks.saturating_mul(HANG_FACTOR).max(HANG_TICKS);
        let step_limit = Some(options.step_limit.map_or(limit, |original| original.min(limit)));
        Trial::new(&patched.program, self.case, &RunOptions { step_limit, ..options }, |pc| patched.original(pc), keys)
    }

    /// The number of random orders that are tried.
    fn seeds(&self) -> u64 {
        let ticks: u64 = self.original.run.launches.iter().map(|launch| launch.ticks).sum();
        (ORDER_TICKS / ticks.max(1)).clamp(1, ORDERS_MAX)
    }

    fn order(&self, seed: u64) -> RunOptions {
        let ticks: u64 = self.original.run.launches.iter().map(|launch| launch.ticks).sum();
        let limit = ticks.saturating_mul(HANG_FACTOR).max(HANG_TICKS);
        let step_limit = Some(self.options.step_limit.map_or(limit, |original| original.min(limit)));
        RunOptions { schedule: Schedule::Random, seed, copies: CompletionPolicyKind::Random(seed), step_limit, ..self.options.clone() }
    }

    /// Runs the original in the orders of these seeds, each once.
    fn run_originals(&mut self, seeds: &[u64]) -> Result<(), RunError> {
        let new: Vec<u64> = seeds.iter().copied().filter(|seed| !self.random_orders.contains_key(seed)).collect();
        let run = |place: usize| Trial::new(self.program, self.case, &self.order(new[place]), Some, &BTreeSet::new());
        for (seed, trial) in new.iter().zip(self.side_by_side(new.len(), run)) {
            self.random_orders.insert(*seed, trial?);
        }
        Ok(())
    }

    /// True if the original, which was run in the order of `seed`, shows the finding there.
    fn shows(&self, seed: u64, keys: &BTreeSet<FindingKey>) -> bool {
        let Some(trial) = self.random_orders.get(&seed) else { return false };
        trial.findings.iter().any(|found| !found.keys.is_disjoint(keys)) || keys.is_empty() && trial.fault.is_some()
    }

    /// The verdict of a run of the changed program on the finding with these `keys`; `seed` is that of its order, none for the session's.
    fn judge(&self, patched: &Patched, trial: &Trial, keys: &BTreeSet<FindingKey>, seed: Option<u64>) -> Verdict {
        let before = seed.and_then(|seed| self.random_orders.get(&seed)).unwrap_or(&self.original);
        let known: BTreeSet<FindingKey> =
            before.findings.iter().chain(&self.original.findings).flat_map(|found| found.keys.iter().copied()).collect();
        let known: BTreeSet<FindingKey> = known.difference(keys).copied().collect();
        let source_keys_of = |keys: &BTreeSet<FindingKey>| keys.iter().map(|key| source_key(self.program, *key)).collect::<BTreeSet<_>>();
        let (source_keys, known_source_keys) = (source_keys_of(keys), source_keys_of(&known));
        let is_known =
            |found: &TrialFinding| !found.keys.is_disjoint(&known) || !source_keys_of(&found.keys).is_disjoint(&known_source_keys);
        let is_same = |found: &TrialFinding| {
            !found.keys.is_disjoint(keys) || !is_known(found) && !source_keys_of(&found.keys).is_disjoint(&source_keys)
        };
        // Without keys, the fault is what is to be fixed.
        let stops = trial.fault.filter(|fault| keys.is_empty() || Some(*fault) != before.fault);
        let describe = |found: &TrialFinding| {
            let id = found.finding.id.word();
            format!("{id} at {}", self.place(patched, found.finding.second.point.pc))
        };
        let new: Vec<&TrialFinding> = trial.failing().filter(|found| !is_same(found) && !is_known(found)).collect();
        if let Some(same) = trial.failing().find(|found| is_same(found)) {
            return Verdict::Failed(match new.first() {
                Some(other) => format!("the finding is still there, and {}", describe(other)),
                None if same.finding.severity > Severity::Note => "the finding is still there".into(),
                None => "the finding is still there as a note".into(),
            });
        }
        if let Some(fault) = stops {
            let with = new.first().map_or(String::new(), |other| format!(", with {}", describe(other)));
            return Verdict::Failed(format!("{}{with}", fault.word()));
        }
        match new.first() {
            None => Verdict::Gone,
            Some(first) => {
                let more = new.iter().map(|found| self.proposals(patched, found)).filter(|(more, _)| !more.is_empty()).collect();
                Verdict::NewFindings(format!("a new finding: {}", describe(first)), more)
            }
        }
    }

    /// The remedies of a finding of the changed program, in terms of the original, and its instructions there.
    fn proposals(&self, patched: &Patched, found: &TrialFinding) -> (Vec<Candidate>, Vec<Pc>) {
        let all = found.finding.candidates.iter().cloned().chain(further_candidates(&found.finding, |pc| is_plain(&patched.program, pc)));
        let original = |candidate: Candidate| candidate.into_iter().map(|remedy| translated(remedy, |pc| patched.original(pc))).collect();
        let pcs = found.keys.iter().flat_map(|key| [key.2, key.3]).flatten().collect::<BTreeSet<Pc>>();
        (all.filter_map(original).collect(), pcs.into_iter().collect())
    }

    /// `k.ptx:12` in the original, or the text of an inserted instruction.
    fn place(&self, patched: &Patched, pc: Pc) -> String {
        match patched.original(pc) {
            Some(original) => self.program.place(original),
            None => format!("the inserted '{}'", patched.program.text(pc).trim_end_matches(';')),
        }
    }
}

/// The result of trying a plan.
enum Attempt {
    Held(Outputs, u64),
    Failed(String, Vec<(Vec<Candidate>, Vec<Pc>)>),
}

/// True if a plan does more than make accesses strong.
fn orders_anything(plan: &FixPlan) -> bool {
    plan.changes.iter().any(|change| !matches!(change, TextChange::Modify(_, modifiers) if !modifiers.orders()))
}

/// True if the instruction is a weak load or store.
fn is_plain(program: &Program, pc: Pc) -> bool {
    matches!(&program.code[pc.index()].op, Op::Memory(op) if op.access().ordering == Ordering::Weak)
}

/// The remedy in terms of another program; none if one of its instructions is not in it.
fn translated(remedy: Remedy, to: impl Fn(Pc) -> Option<Pc>) -> Option<Remedy> {
    use crate::check::Position;
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
