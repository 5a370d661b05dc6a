//! The history of waits that timed out, to distinguish a deadlock from a wait that ends.

use std::hash::{Hash, Hasher};

use crate::machine::state::block::Released;
use crate::machine::state::issue_point::Tick;
use crate::machine::state::launch::LaunchConfig;
use crate::machine::state::random::Random;

/// The state when waits timed out last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StallState {
    /// Timeouts since the last externally visible effect.
    pub(in crate::machine) polls: u64,
    /// Rounds in which they did, since then or since the clocks last jumped.
    pub(in crate::machine) rounds: u64,
    /// The progress count then.
    pub(in crate::machine) progress: u64,
    /// Barriers of blocks and clusters that were completed so far.
    pub(in crate::machine) barriers_completed: u64,
    /// The number of completed barriers then.
    pub(in crate::machine) barriers_then: u64,
    /// A fingerprint of the groups that waited, of an earlier round.
    pub(in crate::machine) waiters_hash: u64,
    /// The round that gives the next fingerprint to compare with.
    pub(in crate::machine) next: u64,
    /// The groups were found to wait forever.
    pub(in crate::machine) proven: bool,
    /// When waits time out next, whichever warps can run.
    pub(in crate::machine) due: Tick,
    /// The random numbers that decide which waits time out, and when.
    pub(in crate::machine) timeout_random: Random,
}

impl StallState {
    /// Before the first tick.
    pub fn new(config: &LaunchConfig) -> Self {
        Self { timeout_random: Random::new(config.seed.wrapping_add(1 << 32)), ..Self::default() }
    }

    /// Barriers of a block were completed.
    pub fn count_barriers(&mut self, released: &[Released]) {
        self.barriers_completed += released.len() as u64;
    }

    /// The barrier of a cluster was completed.
    pub fn count_cluster_barrier(&mut self) {
        self.barriers_completed += 1;
    }
}

impl Hash for StallState {
    /// Hashes the state that bears on the run, without the counters for the detection of a deadlock.
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
