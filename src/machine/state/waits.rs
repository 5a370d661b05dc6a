//! The history of waits for mbarriers that timed out, to detect deadlocks.

use std::hash::{Hash, Hasher};

use crate::base::Random;
use crate::machine::state::block::CompletedBarrier;
use crate::machine::state::issue_point::Tick;
use crate::machine::state::launch::LaunchConfig;

/// The state of the detection of a deadlock among groups that wait for phases of mbarriers. A round is one timeout of all such waits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StallState {
    /// Failed polls since the last externally visible effect.
    pub(in crate::machine) polls: u64,
    /// Rounds since the last effect, or since the clocks last jumped.
    pub(in crate::machine) rounds: u64,
    /// The progress count at the last effect.
    pub(in crate::machine) progress: u64,
    /// Completed phases of barriers of blocks and clusters.
    pub(in crate::machine) barriers_completed: u64,
    /// The value of `barriers_completed` at the last effect.
    pub(in crate::machine) barriers_then: u64,
    /// A digest of the waiting groups in an earlier round.
    pub(in crate::machine) waiters_hash: u64,
    /// The round in which `waiters_hash` is updated next.
    pub(in crate::machine) next: u64,
    /// True if the groups wait forever.
    pub(in crate::machine) proven: bool,
    /// The tick at which waits time out next even if warps can run.
    pub(in crate::machine) due: Tick,
    /// The random numbers for timeouts under a random schedule.
    pub(in crate::machine) timeout_random: Random,
}

impl StallState {
    /// The state before the first tick.
    pub fn new(config: &LaunchConfig) -> Self {
        Self { timeout_random: Random::new(config.seed.wrapping_add(1 << 32)), ..Self::default() }
    }

    /// Counts completed barriers of a block.
    pub fn count_barriers(&mut self, completed: &[CompletedBarrier]) {
        self.barriers_completed += completed.len() as u64;
    }

    /// Counts a completed barrier of a cluster.
    pub fn count_cluster_barrier(&mut self) {
        self.barriers_completed += 1;
    }
}

impl Hash for StallState {
    /// Hashes the state that affects the run.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Self {
            polls,
            waiters_hash,
            due,
            timeout_random,
            rounds: _,
            progress: _,
            barriers_completed: _,
            barriers_then: _,
            next: _,
            proven: _,
        } = self;
        (polls, waiters_hash, due, timeout_random).hash(state);
    }
}
