//! Runs a case under many orders: random schedules and completions of asynchronous copies, or systematically all orders that differ.
//!
//! A case whose outcome depends on the order has a race, or misses a wait. Orders run in parallel, each from the beginning and with the
//! session's checkers. Their outcomes are compared with the expected results of the launch, within its tolerances; without any, every byte
//! of the buffers is compared with the first run. The findings of all orders are merged by cause, each with an order that shows it.

mod advice;
mod consistent;
mod exploration;
mod merged_findings;
mod order;
mod outcome;
mod remedy;
mod sharded;
mod stale;
mod systematic;

use std::sync::Arc;

use super::run::{RunError, RunOptions, run_undescribed};
use super::saved::identity;
use super::session::{InterruptCheck, Session};
use crate::base::Severity;
use crate::check::Checks;
use crate::machine::{MemoryModel, Schedule};

pub use crate::check::faults::{MEMORY_STALE, MEMORY_STALE_UNDECIDED};
pub use crate::machine::DEPTH_MAX;
pub(in crate::debug) use exploration::Exploration;
pub use merged_findings::MergedFinding;
use merged_findings::MergedFindings;
use order::OtherOrders;
pub use order::{Orders, Strategy};
pub(in crate::debug) use outcome::{Content, contents, difference};
pub use outcome::{End, OrderOutcome, Verdict};
use sharded::KnownOrders;
pub use sharded::{OrderRecord, RecordedOrders, ShardReport, Split};
use stale::StaleResults;
use systematic::{Search, Subject};

/// Step limit of a launch, in multiples of the recorded warp-instructions; a launch that reaches it hangs.
const HANG_FACTOR: u64 = 64;

/// Minimum of the step limit.
const STEPS: u64 = 1 << 24;

/// The results of many orders (schedules). Orders are counted without that of the session.
#[derive(Clone, Debug, PartialEq)]
pub struct ExplorationReport {
    /// The bound on the probability of finding a bug, for random priorities (PCT).
    pub bound: Option<Bound>,
    /// The extent of a systematic exploration.
    pub systematic: Option<Systematic>,
    /// The number of orders tried.
    pub tried: u64,
    /// The number of orders by result; none if nothing is expected.
    pub verdict: Option<Verdict>,
    /// The outcomes, that of the session's order first. All expected results are one outcome, and all wrong results another.
    pub outcomes: Vec<OrderOutcome>,
    /// The findings of checkers, and the faults that stopped runs.
    pub found: Vec<MergedFinding>,
    /// True if checkers ran.
    pub checked: bool,
    /// True if what loads of an order return is drawn.
    pub is_weak: bool,
    /// True if the session's order is the default order, that of a run without options.
    pub is_default_order: bool,
    /// The user interrupted it.
    pub interrupted: bool,
    /// If it is a shard of an exploration, what the whole is made of.
    pub shard: Option<ShardReport>,
}

/// The extent of a systematic exploration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Systematic {
    /// The preemption bound: maximum number of switches from a warp that could continue.
    pub preemptions: u32,
    /// True if all orders within the bound were tried.
    pub is_complete: bool,
    /// True if orders were left out because they need more preemptions.
    pub hits_bound: bool,
}

/// The lower bound of PCT on the probability that an order with random priorities shows a bug of this depth:
/// `1 / (warps * steps^(depth - 1))`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// The bug depth: the number of ordering constraints between threads that the bug needs.
    pub depth: u32,
    /// Warps of the launch.
    pub warps: u64,
    /// Its warp-instructions.
    pub steps: u64,
}

impl Bound {
    /// The bound as a number.
    pub fn probability(&self) -> f64 {
        (1..self.depth).fold(1.0 / self.warps as f64, |bound, _| bound / self.steps as f64)
    }
}

impl ExplorationReport {
    /// True if an order shows an error of the kernel: a wrong result, a fault, or a finding of severity `failing` or worse.
    pub fn is_wrong(&self, failing: Severity) -> bool {
        let is_wrong = |outcome: &OrderOutcome| matches!(outcome.end, End::Wrong(_) | End::Stopped(_));
        self.outcomes.iter().any(is_wrong) || self.found.iter().any(|found| found.finding.severity >= failing)
    }
}

impl Session {
    /// Runs the case from the beginning in the session's order and in `count` others, with the `jobs` of the settings: these on `memory`,
    /// or else on that of the session. The state of a systematic exploration is kept for [`Self::explore_more`].
    ///
    /// # Errors
    /// Reasons outside the kernel.
    pub fn explore(
        &mut self,
        strategy: Strategy,
        count: u64,
        memory: Option<MemoryModel>,
        interrupt: &mut dyn InterruptCheck,
    ) -> Result<ExplorationReport, RunError> {
        let options = self.explored_options();
        let memory = memory.unwrap_or(options.memory);
        let what = format!("{strategy:?} {count} {memory:?}");
        let (others, bound) = match strategy {
            Strategy::Random => (OtherOrders::Random(Schedule::Random), None),
            Strategy::Priority { depth } => {
                let bound = self.bound(depth, &options)?.ok_or(RunError::NoLaunch)?;
                (OtherOrders::Random(Schedule::Priority { depth, steps: bound.steps }), Some(bound))
            }
            Strategy::Systematic { preemptions } => {
                let search = Search::new(self.subject(&options), preemptions)?;
                let exploration = Exploration { search: Some(search), ..self.begin(OtherOrders::Generated(Vec::new()), &options, memory) };
                return self.explore_systematically(exploration, (&what, count), interrupt);
            }
        };
        let mut exploration = Exploration { bound, ..self.begin(others, &options, memory) };
        self.split(&mut exploration, &what)?;
        exploration.run(self, count.saturating_add(1), interrupt)?;
        exploration.report_stale(self, interrupt)?;
        Ok(exploration.report(self))
    }

    /// Continues the systematic exploration of this run with `count` more orders; none if there is none.
    ///
    /// # Errors
    /// Reasons outside the kernel.
    pub fn explore_more(&mut self, count: u64, interrupt: &mut dyn InterruptCheck) -> Result<Option<ExplorationReport>, RunError> {
        let subject = self.subject(&self.explored_options());
        let is_of = |exploration: &mut Box<Exploration>| exploration.search.as_ref().is_some_and(|search| search.is_of(&subject));
        let Some(exploration) = self.exploration.take_if(is_of) else { return Ok(None) };
        self.explore_systematically(*exploration, (&format!("continue {count}"), count), interrupt).map(Some)
    }

    fn explore_systematically(
        &mut self,
        mut exploration: Exploration,
        (what, count): (&str, u64),
        interrupt: &mut dyn InterruptCheck,
    ) -> Result<ExplorationReport, RunError> {
        let until = exploration.tried().saturating_add(count);
        exploration.interrupted = false;
        self.split(&mut exploration, what)?;
        self.orders_tried = Some(exploration.tried());
        while !exploration.interrupted && exploration.generate(self, until, interrupt)? {
            exploration.run(self, exploration.merged.orders.generated_count() + 1, interrupt)?;
            self.orders_tried = Some(exploration.tried());
        }
        exploration.report_stale(self, interrupt)?;
        self.orders_tried = None;
        let explored = exploration.report(self);
        self.exploration = Some(Box::new(exploration));
        Ok(explored)
    }

    /// Splits what is explored next, called `what`, as the session is.
    fn split(&mut self, exploration: &mut Exploration, what: &str) -> Result<(), RunError> {
        if matches!(self.split, Split::Whole) {
            return Ok(());
        }
        let options = exploration.merged.orders.options(0);
        let mut digest = identity(self.program(), self.case(), &options)?;
        digest.bytes(format!("{what} after {}", exploration.tried()).as_bytes());
        exploration.identity = format!("{:016x}", digest.value());
        exploration.known = self.split.next_recorded(&exploration.identity)?.map(KnownOrders::new);
        exploration.reports = matches!(self.split, Split::Shard(_));
        exploration.records = Vec::new();
        Ok(())
    }

    /// The options of the runs of an exploration: those of the session, with a step limit.
    fn explored_options(&self) -> RunOptions {
        let options = RunOptions { checks: self.checks(), ..self.timeline.options().clone() };
        let limit = options.step_limit.unwrap_or_else(|| self.recorded().0.saturating_mul(HANG_FACTOR).max(STEPS));
        RunOptions { step_limit: Some(limit), ..options }
    }

    fn subject(&self, options: &RunOptions) -> Subject {
        let options = RunOptions { schedule: Schedule::ContextSwitches(Box::default()), checks: Checks::NONE, ..options.clone() };
        Subject { program: Arc::clone(self.program()), case: Arc::clone(self.timeline.case()), options }
    }

    fn begin(&self, others: OtherOrders, options: &RunOptions, memory: MemoryModel) -> Exploration {
        let (program, case) = (self.program(), self.timeline.case());
        let merged = MergedFindings::new(program, case, Orders::all(program, (options, memory), others));
        let (outcomes, limit, checks) = (Vec::new(), options.step_limit.unwrap_or(u64::MAX), options.checks);
        Exploration {
            merged,
            outcomes,
            completed: 0,
            failed: None,
            interrupted: false,
            limit,
            checks,
            bound: None,
            search: None,
            is_exhausted: false,
            stale: StaleResults::default(),
            ran: 0,
            identity: String::new(),
            reports: false,
            records: Vec::new(),
            known: None,
        }
    }
}

impl Session {
    /// The smallest bound of all launches, as they run in the session's order; none if there is no launch.
    fn bound(&self, depth: u32, options: &RunOptions) -> Result<Option<Bound>, RunError> {
        let options = RunOptions { checks: Checks::NONE, ..options.clone() };
        let (run, _) = run_undescribed(self.program(), self.case(), &options, &|| false)?;
        let bounds = run.launches.iter().map(|launch| {
            let threads: u64 = launch.block.iter().copied().map(u64::from).product();
            let blocks: u64 = launch.grid.iter().copied().map(u64::from).product();
            Bound { depth, warps: blocks.saturating_mul(threads.div_ceil(32)).max(1), steps: launch.ticks.max(1) }
        });
        Ok(bounds.min_by(|one, other| one.probability().total_cmp(&other.probability())))
    }
}
