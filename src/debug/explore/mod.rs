//! Running a case under many orders: seeds of the schedule and of the ends of asynchronous copies, or one after the other all that differ.
//!
//! What the ISA leaves open must not show: a case whose outcome depends on the order has a race, or misses a wait. Orders run side by
//! side, each from the beginning and watched by the session's checkers. Their outcomes are judged by what the launch expects, within its
//! tolerances; where it expects nothing, every byte of the buffers is compared with the first run. What is found in any order is one
//! list, one finding for one cause, each with the order that shows it.

mod exploration;
mod found;
mod judged;
mod order;
mod systematic;

use std::sync::Arc;

use super::run::{RunError, RunOptions, run_undescribed};
use super::session::{InterruptCheck, Session};
use crate::base::Severity;
use crate::check::Checks;
use crate::machine::Schedule;

pub use crate::machine::DEPTH_MAX;
pub(in crate::debug) use exploration::Exploration;
pub use found::FoundInOrders;
use found::United;
pub use judged::{End, OrderOutcome, Verdict};
pub(in crate::debug) use judged::{contents, difference};
use order::Others;
pub use order::{Order, Strategy};
use systematic::{Search, Subject};

/// Warp-instructions that a launch may take, in multiples of what was recorded so far, before it counts as one that hangs.
const HANG_FACTOR: u64 = 64;

/// The same at least.
const STEPS: u64 = 1 << 24;

/// The results of many orders (schedules). Orders are counted without that of the session.
#[derive(Clone, Debug, PartialEq)]
pub struct Explored {
    /// The bound on the probability of a bug, for orders by priorities.
    pub bound: Option<Bound>,
    /// Of a systematic exploration, how far it came.
    pub systematic: Option<Systematic>,
    /// The number of orders tried.
    pub tried: u64,
    /// The number of orders by result; none if nothing is expected.
    pub verdict: Option<Verdict>,
    /// The outcomes, that of the session's own order first. What is right is one outcome, and what is wrong another one.
    pub outcomes: Vec<OrderOutcome>,
    /// The findings; none if no checker is on and nothing stopped.
    pub found: Vec<FoundInOrders>,
    /// Whether checkers watched.
    pub checked: bool,
    /// The session's own order is that of a run without options.
    pub is_own_default: bool,
    /// The user interrupted it.
    pub interrupted: bool,
}

/// The extent of a systematic exploration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Systematic {
    /// The bound: preemptions of an order at most, which are switches from a warp that could have gone on.
    pub preemptions: u32,
    /// Whether all orders within the bound were tried.
    pub is_complete: bool,
    /// Whether orders were left out because they take more preemptions.
    pub hits_bound: bool,
}

/// The probability with which an order by priorities shows a bug that takes a number of orderings between threads: at least
/// `1 / (warps * steps^(depth - 1))`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// The number of orderings.
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

impl Explored {
    /// Whether an order shows that something is wrong with the kernel: a wrong result, or a finding of severity `failing` or worse.
    pub fn is_wrong(&self, failing: Severity) -> bool {
        let is_wrong = |outcome: &OrderOutcome| matches!(outcome.end, End::Wrong(_) | End::Stopped(_));
        self.outcomes.iter().any(is_wrong) || self.found.iter().any(|found| found.finding.severity >= failing)
    }
}

impl Session {
    /// Runs the case from the beginning in the session's own order and in `count` others, on as many threads as the settings say. The
    /// state of a systematic exploration is kept, so that [`Self::explore_more`] goes on with it.
    ///
    /// # Errors
    /// Reasons outside the kernel.
    pub fn explore(&mut self, strategy: Strategy, count: u64, interrupt: &mut dyn InterruptCheck) -> Result<Explored, RunError> {
        let options = self.explored_options();
        let (others, bound) = match strategy {
            Strategy::Random => (Others::Drawn(Schedule::Random), None),
            Strategy::Priority { depth } => {
                let bound = self.bound(depth, &options)?.ok_or(RunError::NoLaunch)?;
                (Others::Drawn(Schedule::Priority { depth, steps: bound.steps }), Some(bound))
            }
            Strategy::Systematic { preemptions } => {
                let search = Search::new(self.subject(&options), preemptions)?;
                let exploration = Exploration { search: Some(search), ..self.begin(Others::Listed(Vec::new()), &options) };
                return self.explore_listed(exploration, count, interrupt);
            }
        };
        let mut exploration = Exploration { bound, ..self.begin(others, &options) };
        exploration.run(self, count.saturating_add(1), interrupt)?;
        Ok(exploration.explored(self))
    }

    /// Goes on with the systematic exploration that was interrupted, or had come to its number of orders, for `count` more; none if there
    /// is none of this run.
    ///
    /// # Errors
    /// Reasons outside the kernel.
    pub fn explore_more(&mut self, count: u64, interrupt: &mut dyn InterruptCheck) -> Result<Option<Explored>, RunError> {
        let subject = self.subject(&self.explored_options());
        let is_of = |exploration: &mut Box<Exploration>| exploration.search.as_ref().is_some_and(|search| search.is_of(&subject));
        let Some(exploration) = self.exploration.take_if(is_of) else { return Ok(None) };
        self.explore_listed(*exploration, count, interrupt).map(Some)
    }

    fn explore_listed(
        &mut self,
        mut exploration: Exploration,
        count: u64,
        interrupt: &mut dyn InterruptCheck,
    ) -> Result<Explored, RunError> {
        let until = exploration.tried().saturating_add(count);
        exploration.interrupted = false;
        self.orders_tried = Some(exploration.tried());
        while !exploration.interrupted && exploration.list(self, until, interrupt)? {
            exploration.run(self, exploration.united.orders.listed() + 1, interrupt)?;
            self.orders_tried = Some(exploration.tried());
        }
        self.orders_tried = None;
        let explored = exploration.explored(self);
        self.exploration = Some(Box::new(exploration));
        Ok(explored)
    }

    /// The options of the runs of an exploration: those of the session, with a limit.
    fn explored_options(&self) -> RunOptions {
        let options = RunOptions { checks: self.checks(), ..self.timeline.options().clone() };
        let limit = options.step_limit.unwrap_or_else(|| self.recorded().0.saturating_mul(HANG_FACTOR).max(STEPS));
        RunOptions { step_limit: Some(limit), ..options }
    }

    fn subject(&self, options: &RunOptions) -> Subject {
        let options = RunOptions { schedule: Schedule::Switched(Box::default()), checks: Checks::NONE, ..options.clone() };
        Subject { program: Arc::clone(self.program()), case: Arc::clone(self.timeline.case()), options }
    }

    fn begin(&self, others: Others, options: &RunOptions) -> Exploration {
        let (program, case) = (self.program(), self.timeline.case());
        let united = United::new(program, case, Order::all(program, options, others));
        let (outcomes, limit, checks) = (Vec::new(), options.step_limit.unwrap_or(u64::MAX), options.checks);
        Exploration {
            united,
            outcomes,
            taken: 0,
            failed: None,
            interrupted: false,
            limit,
            checks,
            bound: None,
            search: None,
            through: false,
        }
    }
}

impl Session {
    /// The bound of the launch for which it is the smallest, as it runs in the session's own order; none if there is no launch.
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
