//! What holds for every launch of a run.

use super::host_memory::HostMemory;
use crate::check::Checks;
use crate::machine::{CompletionPolicyKind, DivergencePolicy, MemoryLimit, Schedule};
use crate::program::Program;

/// Blocks that are resident at once at most: those of an H200.
pub const RESIDENT_MAX: u32 = 4224;

/// What holds for every launch of a run. The default is what the command line does without options: all checkers watch.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// The order of warps.
    pub schedule: Schedule,
    /// Seed of everything that is random.
    pub seed: u64,
    /// When asynchronous copies end.
    pub copies: CompletionPolicyKind,
    /// Which lanes of a warp run when they have diverged; without it, those that run on the machines that the module is meant for.
    pub divergence: Option<DivergencePolicy>,
    /// Blocks resident at once at most.
    pub resident: Option<u32>,
    /// Warp-instructions of a launch at most.
    pub step_limit: Option<u64>,
    /// Bytes of simulated state at most.
    pub memory_limit: MemoryLimit,
    /// Which checkers watch.
    pub checks: Checks,
    /// How many more runs critical sections may take that are run the other way round.
    pub orders: u32,
    /// Memory outside of the launch that kernels find at its addresses.
    pub host: Option<HostMemory>,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self { checks: Checks::ALL, orders: Self::ORDERS, ..Self::unwatched() }
    }
}

impl RunOptions {
    /// How many more runs critical sections take unless an option says otherwise.
    pub const ORDERS: u32 = 1;

    /// Nothing watches, and no other order is run: what a run costs at least.
    pub fn unwatched() -> Self {
        Self {
            schedule: Schedule::default(),
            seed: 0,
            copies: CompletionPolicyKind::default(),
            divergence: None,
            resident: None,
            step_limit: None,
            memory_limit: MemoryLimit::default(),
            checks: Checks::NONE,
            orders: 0,
            host: None,
        }
    }

    /// Which lanes of a warp of `program` run when they have diverged.
    pub fn divergence_of(&self, program: &Program) -> DivergencePolicy {
        self.divergence.unwrap_or_else(|| DivergencePolicy::of_target(program.target.0))
    }
}
