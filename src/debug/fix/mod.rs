//! `fix`: tries the remedies that findings propose.
//!
//! A finding proposes [remedies](crate::check::Remedy). [`candidates`] turns them into text changes, [`patch`] applies these to a copy of
//! the PTX text, which is parsed and checked as any other, and [`trial`] runs the new program: in the order of the session, and in those of
//! some random orders that show the finding. A change holds if the finding is gone and there is no new one; a change that orders nothing,
//! but only makes accesses strong, must also give the same values in every order and on weak memory. If the finding is gone but a new one
//! appears, the remedy of the new one is added: a barrier before a read, and one after it. The same if the finding remains and proposes
//! something else then: a lock lacks its acquire, and its release. In the end the program with all changes that held is run in all these
//! orders.
//!
//! Findings of two programs are the same if they are of one class and at the same instructions.

mod atomic;
mod barrier_positions;
mod calls;
mod candidates;
mod copies;
mod executing_warps;
mod insertions;
mod judge;
mod outputs;
mod patch;
mod phase_wait;
mod plan;
mod report;
mod session;
mod statement;
mod trial;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub use crate::launch::Case;
pub use crate::program::Program;
use candidates::{Planner, fault_candidates, first_candidate, further_candidates, missing_arrivals};
use executing_warps::ExecutingWarps;
use judge::{Proposals, Verdict};
use outputs::outputs;
pub use patch::ChangedModule;
use patch::{Patched, TextChange};
use plan::FixPlan;
pub use report::{FixReport, FixReports};
use trial::{FindingKey, Trial, TrialFinding};

use crate::base::{Severity, run_jobs};
use crate::check::sync::catalogue::BARRIER_EXITED;
use crate::check::{Candidate, Remedy};
use crate::debug::fault::{Fault, WaitKind};
use crate::debug::findings::{FailedFix, FixOutcome, Outputs, Remainder};
use crate::debug::run::{RunError, RunOptions};
use crate::isa::Ordering;
use crate::machine::{CompletionPolicyKind, MemoryModel, Schedule};
use crate::program::Pc;

/// Maximum number of plans tried for a finding.
const TRIED_MAX: usize = 40;

/// Maximum number of plans that are extended because they replace the finding by a new one.
const EXTENDED_MAX: usize = 4;

/// Maximum number of plans tried after one with which the finding is gone but the outputs are wrong.
const TRIED_AFTER_WRONG: usize = 8;

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
    let last = reports.iter_mut().filter_map(|report| match &mut report.outcome {
        FixOutcome::Held { remains, .. } => Some(remains),
        FixOutcome::GoneAlready { .. } | FixOutcome::NoneHeld { .. } | FixOutcome::NothingToTry => None,
    });
    if let Some(remains) = last.last() {
        *remains = search.run_together()?;
    }
    let texts = search.patched_base().map_or(Vec::new(), |made| made.texts);
    let changes = search.base.texts(program);
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
    /// The numbers of the findings that these changes remove as well.
    gone: Vec<usize>,
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

impl<'a> Search<'a> {
    fn new(program: &'a Arc<Program>, case: &'a Case, (options, jobs): (RunOptions, usize), original: Trial) -> Self {
        Self {
            program,
            case,
            options,
            jobs,
            planner: Planner::new(program),
            original,
            random_orders: BTreeMap::new(),
            base: FixPlan::default(),
            fixed: Vec::new(),
            gone: Vec::new(),
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
            self.gone.push(index + 1);
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
                FixOutcome::Held { changes: plan.texts(self.program), outputs, orders, failed: failed.len(), remains: None }
            }
            None => FixOutcome::NoneHeld { tried: failed },
        }))
    }

    /// A finding for which nothing held may be gone with the changes for a later one.
    fn look_again(&mut self, report: &mut FixReport) -> Result<(), RunError> {
        let is_open = matches!(report.outcome, FixOutcome::NothingToTry | FixOutcome::NoneHeld { .. });
        let with: Vec<usize> = self.fixed.iter().copied().filter(|fixed| *fixed > report.finding).collect();
        let target = self.target(report.finding - 1);
        if is_open && !with.is_empty() && target.severity > Severity::Note && self.is_gone_already(&target.keys)? {
            self.gone.push(report.finding);
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
        let further = further_candidates(self.program, finding);
        let candidates =
            first_candidate(self.program, finding).into_iter().chain(finding.candidates.iter().cloned()).chain(further).collect();
        let id = finding.id.word().to_string();
        let waiting = Some(finding.second.point.pc).filter(|_| finding.id == BARRIER_EXITED);
        Target { id, launch: finding.launch, keys: keys.clone(), candidates, severity: finding.severity, waiting }
    }

    /// The program with the changes that held so far; none if none did.
    fn patched_base(&self) -> Option<Patched> {
        if self.base.changes.is_empty() { None } else { Patched::new(self.program, &self.base.changes).ok() }
    }

    /// True if the changes that held so far remove the finding with these `keys`, too.
    fn is_gone_already(&self, keys: &BTreeSet<FindingKey>) -> Result<bool, RunError> {
        let Some(patched) = self.patched_base() else { return Ok(false) };
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
        let (mut pending, mut tried, mut wrong, mut attempts) = (plans, BTreeSet::new(), None, 0);
        for _ in 0..ROUNDS {
            let mut extended = Vec::new();
            let plans = std::mem::take(&mut pending);
            let plans: Vec<FixPlan> = plans.into_iter().filter(|plan| tried.insert(plan.changes.clone())).collect();
            for some in plans.chunks(self.jobs) {
                let first = self.side_by_side(some.len(), |place| self.first_run(&some[place], keys));
                for (plan, first) in some.iter().zip(first) {
                    let is_enough = wrong.as_ref().is_some_and(|(_, until)| attempts >= *until);
                    if is_enough || failed.len() >= TRIED_MAX {
                        return Ok(wrong.map(|(held, _)| held));
                    }
                    if !should_continue() {
                        self.interrupted = true;
                        return Ok(None);
                    }
                    attempts += 1;
                    match self.attempt(plan, first?, keys)? {
                        Attempt::Held(outputs, orders) if !outputs.is_wrong() => return Ok(Some((plan.clone(), outputs, orders))),
                        // Another change may give the right outputs, too.
                        Attempt::Held(outputs, orders) => {
                            wrong.get_or_insert(((plan.clone(), outputs, orders), attempts + TRIED_AFTER_WRONG));
                        }
                        Attempt::Failed(why, more) => {
                            failed.push(FailedFix { changes: plan.texts(self.program), why });
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
        Ok(wrong.map(|(held, _)| held))
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
            Verdict::Failed(why, more) => return Ok(Attempt::Failed(why, more)),
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
                    Verdict::Failed(why, more) => return Ok(Attempt::Failed(format!("{why}, under seed {seed}"), more)),
                }
                differs = differs.or_else(|| Some(seed).filter(|_| other.buffers != changed.buffers));
            }
        }
        let outputs = outputs(&patched.program, self.case, &self.options, (&self.original, &changed), differs)?;
        if let Outputs::NotAsExpected(what) = &outputs
            && self.original_is_as_expected()?
        {
            return Ok(Attempt::Failed(format!("the outputs are no longer as the launch expects: {what}"), Vec::new()));
        }
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

    fn original_is_as_expected(&self) -> Result<bool, RunError> {
        let original = outputs(self.program, self.case, &self.options, (&self.original, &self.original), None)?;
        Ok(original == Outputs::AsExpected)
    }

    /// Runs the program with all changes that held, in the order of the session and in all random orders: what is found there that should
    /// be gone.
    fn run_together(&mut self) -> Result<Option<Remainder>, RunError> {
        let Some(patched) = self.patched_base() else { return Ok(None) };
        let seeds: Vec<u64> = (1..=self.seeds()).collect();
        self.run_originals(&seeds)?;
        let none = BTreeSet::new();
        let orders: Vec<Option<u64>> = std::iter::once(None).chain(seeds.into_iter().map(Some)).collect();
        let options = |seed: Option<u64>| seed.map_or_else(|| self.options.clone(), |seed| self.order(seed));
        for some in orders.chunks(self.jobs) {
            let trials = self.side_by_side(some.len(), |place| self.run(&patched, options(some[place]), &none));
            for (seed, trial) in some.iter().zip(trials) {
                if let Some(what) = self.remainder(&patched, &trial?, *seed) {
                    return Ok(Some(Remainder { what, seed: *seed }));
                }
            }
        }
        Ok(None)
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
        let step_limit = self.step_limit(&options);
        Trial::new(&patched.program, self.case, &RunOptions { step_limit, ..options }, |pc| patched.original(pc), keys)
    }

    /// The step limit of a run that takes longer than the original.
    fn step_limit(&self, options: &RunOptions) -> Option<u64> {
        let limit = self.original.ticks().saturating_mul(HANG_FACTOR).max(HANG_TICKS);
        Some(options.step_limit.map_or(limit, |original| original.min(limit)))
    }

    /// The number of random orders that are tried.
    fn seeds(&self) -> u64 {
        (ORDER_TICKS / self.original.ticks().max(1)).clamp(1, ORDERS_MAX)
    }

    fn order(&self, seed: u64) -> RunOptions {
        let step_limit = self.step_limit(&self.options);
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
}

/// The result of trying a plan.
enum Attempt {
    Held(Outputs, u64),
    Failed(String, Vec<Proposals>),
}

/// True if a plan does more than make accesses strong.
fn orders_anything(plan: &FixPlan) -> bool {
    plan.changes.iter().any(|change| !matches!(change, TextChange::Modify(_, modifiers) if !modifiers.orders()))
}
