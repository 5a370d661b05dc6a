//! Running a case under many orders: seeds of the schedule and of the ends of asynchronous copies.
//!
//! What the ISA leaves open must not show: a case whose outcome depends on the order has a race, or misses a wait. Orders run side by
//! side, each from the beginning and watched by the session's checkers. Their outcomes are judged by what the launch expects, within its
//! tolerances; where it expects nothing, every byte of the buffers is compared with the first run. What is found in any order is one
//! list, one finding for one cause, each with the order that shows it.

mod found;
mod judged;
mod order;

use std::sync::Arc;

use super::run::{RunError, RunOptions, run_undescribed};
use super::session::{InterruptCheck, Session};
use crate::base::{Severity, side_by_side};
use crate::check::Checks;

pub use crate::machine::DEPTH_MAX;
use crate::machine::Schedule;
pub use found::FoundInOrders;
use found::United;
pub use judged::{End, Outcome, Verdict};
use judged::{Judged, judged};
pub(in crate::debug) use judged::{contents, difference};
pub use order::{Order, Way};

/// Warp-instructions that a launch may take, in multiples of what was recorded so far, before it counts as one that hangs.
const HANG_FACTOR: u64 = 64;

/// The same at least.
const STEPS: u64 = 1 << 24;

/// What many orders led to. Orders are counted without that of the session.
#[derive(Clone, Debug, PartialEq)]
pub struct Explored {
    /// How they were drawn; of priorities with the bound that holds for each of them.
    pub bound: Option<Bound>,
    /// How many were tried.
    pub tried: u64,
    /// How many left what is expected and how many something else; none if nothing is expected.
    pub verdict: Option<Verdict>,
    /// The outcomes, that of the session's own order first. What is right is one outcome, and what is wrong another one.
    pub outcomes: Vec<Outcome>,
    /// What was found; none if no checker watched and nothing stopped.
    pub found: Vec<FoundInOrders>,
    /// Whether checkers watched.
    pub checked: bool,
    /// The session's own order is that of a run without options.
    pub is_own_default: bool,
    /// The user interrupted it.
    pub interrupted: bool,
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
        let is_wrong = |outcome: &Outcome| matches!(outcome.end, End::Wrong(_) | End::Stopped(_));
        self.outcomes.iter().any(is_wrong) || self.found.iter().any(|found| found.finding.severity >= failing)
    }
}

impl Session {
    /// Runs the case from the beginning in the session's own order and with the seeds 1 to `count`, on as many threads as the settings say.
    ///
    /// # Errors
    /// Reasons outside the kernel.
    pub fn explore(&mut self, way: Way, count: u64, interrupt: &mut dyn InterruptCheck) -> Result<Explored, RunError> {
        let (program, case) = (Arc::clone(self.program()), Arc::clone(self.timeline.case()));
        let options = RunOptions { checks: self.checks(), ..*self.timeline.options() };
        let limit = options.step_limit.unwrap_or_else(|| self.recorded().0.saturating_mul(HANG_FACTOR).max(STEPS));
        let options = RunOptions { step_limit: Some(limit), ..options };
        let bound = match way {
            Way::Random => None,
            Way::Priority { depth } => match self.bound(depth, &options)? {
                Some(bound) => Some(bound),
                None => return Err(RunError::NoLaunch),
            },
        };
        let schedule = bound.map_or(Schedule::Random, |Bound { depth, steps, .. }| Schedule::Priority { depth, steps });
        let orders = Order::all(&program, &options, schedule);
        let work = |index: u64, ends: &dyn Fn() -> bool| {
            let (run, found) = run_undescribed(&program, &case, &orders.options(index), ends)?;
            Ok((judged(&case, &run, limit)?, run.fault, found))
        };
        let mut exploration = Exploration { united: United::new(&program, &case, orders), outcomes: Vec::new(), tried: 0, failed: None };
        let jobs = self.settings.jobs();
        let count = count.saturating_add(1);
        let whole = side_by_side(jobs, count, work, || interrupt.should_continue(self), |index, done| exploration.take(index, done));
        if let Some(error) = exploration.failed {
            return Err(error);
        }
        let Exploration { united, outcomes, tried, .. } = exploration;
        let found = united.found.into_iter().map(|found| found.with_roles(&self.roles));
        let mut found: Vec<FoundInOrders> = found.filter(|found| !self.suppresses(&found.finding)).collect();
        found.iter_mut().zip(1..).for_each(|(found, number)| found.finding.number = number);
        let verdict = Verdict::of(&outcomes);
        let is_own_default = orders.is_own_default();
        Ok(Explored {
            bound,
            tried,
            verdict,
            outcomes,
            found,
            checked: options.checks != Checks::NONE,
            is_own_default,
            interrupted: !whole,
        })
    }
}

impl Session {
    /// The bound of the launch for which it is the smallest, as it runs in the session's own order; none if there is no launch.
    fn bound(&self, depth: u32, options: &RunOptions) -> Result<Option<Bound>, RunError> {
        let options = RunOptions { checks: Checks::NONE, ..*options };
        let (run, _) = run_undescribed(self.program(), self.case(), &options, &|| false)?;
        let bounds = run.launches.iter().map(|launch| {
            let threads: u64 = launch.block.iter().copied().map(u64::from).product();
            let blocks: u64 = launch.grid.iter().copied().map(u64::from).product();
            Bound { depth, warps: blocks.saturating_mul(threads.div_ceil(32)).max(1), steps: launch.ticks.max(1) }
        });
        Ok(bounds.min_by(|one, other| one.probability().total_cmp(&other.probability())))
    }
}

/// What is known of the orders up to now.
struct Exploration<'a> {
    united: United<'a>,
    outcomes: Vec<Outcome>,
    tried: u64,
    failed: Option<RunError>,
}

/// What became of an order.
type Done = Result<(Judged, Option<super::Fault>, Vec<crate::check::Finding>), RunError>;

impl Exploration<'_> {
    /// Takes what became of an order, after those before it.
    fn take(&mut self, index: u64, done: Done) {
        if self.failed.is_some() {
            return;
        }
        let taken = done.and_then(|(judged, fault, found)| {
            self.united.take(index, fault.as_ref(), &found)?;
            Ok(judged)
        });
        match taken {
            Ok(judged) => judged.join(self.united.case, index, self.united.orders, &mut self.outcomes),
            Err(error) => self.failed = Some(error),
        }
        self.tried = index;
    }
}
