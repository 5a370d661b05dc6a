//! The options of a run.

use super::host_memory::HostMemory;
use crate::check::Checks;
use crate::machine::{CompletionPolicyKind, DivergencePolicy, FastPaths, MemoryLimit, MemoryModel, Schedule};
use crate::program::Program;

/// Most blocks that can be resident at once: those of an H200.
pub const RESIDENT_MAX: u32 = 4224;

/// The options of a run, for all its launches. The default is that of the command line: with all checkers.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// The order of warps.
    pub schedule: Schedule,
    /// Seed of everything that is random.
    pub seed: u64,
    /// The memory model.
    pub memory: MemoryModel,
    /// When asynchronous copies complete.
    pub copies: CompletionPolicyKind,
    /// The execution order of diverged lanes; by default, that of the module's target architecture.
    pub divergence: Option<DivergencePolicy>,
    /// Most blocks resident at once.
    pub resident: Option<u32>,
    /// Most warp-instructions of a launch.
    pub step_limit: Option<u64>,
    /// Most bytes of simulated state.
    pub memory_limit: MemoryLimit,
    /// The checkers that observe the run.
    pub checks: Checks,
    /// Budget for executing critical sections in the opposite order, as a multiple of the run's instructions.
    pub orders: u32,
    /// The fast paths of its launches.
    pub fast_paths: FastPaths,
    /// Threads on which the blocks of one launch may run side by side, with the results of the run in order.
    pub jobs: usize,
    /// Warp-instructions up to which a launch is too short for that.
    pub short: u64,
    /// Memory of the host process that kernels can access.
    pub host: Option<HostMemory>,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self { checks: Checks::ALL, orders: Self::ORDERS, ..Self::unwatched() }
    }
}

impl RunOptions {
    /// Default of [`Self::orders`].
    pub const ORDERS: u32 = 1;

    /// Default of [`Self::short`]: a fraction of a millisecond.
    pub const SHORT: u64 = 1 << 13;

    /// Options without checkers and other orders: the cheapest run.
    pub fn unwatched() -> Self {
        Self {
            schedule: Schedule::default(),
            seed: 0,
            memory: MemoryModel::default(),
            copies: CompletionPolicyKind::default(),
            divergence: None,
            resident: None,
            step_limit: None,
            memory_limit: MemoryLimit::default(),
            checks: Checks::NONE,
            orders: 0,
            fast_paths: FastPaths::default(),
            jobs: 1,
            short: Self::SHORT,
            host: None,
        }
    }

    /// The execution order of diverged lanes in a run of `program`.
    pub fn divergence_of(&self, program: &Program) -> DivergencePolicy {
        self.divergence.unwrap_or_else(|| DivergencePolicy::of_target(program.target.0))
    }
}
