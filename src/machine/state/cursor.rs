//! The position of the scheduler.

use crate::machine::state::launch::{Hold, LaunchConfig, Schedule};
use crate::machine::state::priority::Priorities;
use crate::machine::state::random::Random;

/// The position of the scheduler.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Cursor {
    /// Slot of the block whose turn it is.
    pub block_slot: usize,
    /// Warp of that block whose turn it is.
    pub warp: usize,
    pub(in crate::machine) warp_left: u32,
    pub(in crate::machine) block_left: u32,
    pub(in crate::machine) random: Random,
    /// The priorities, if the schedule goes by them.
    pub(in crate::machine) priorities: Option<Box<Priorities>>,
    /// The warp that is held now or later; none once that is over.
    pub(in crate::machine) hold: Option<Hold>,
    /// The number of past switches, if the schedule names warps for some times.
    pub(in crate::machine) switches: usize,
    /// With such a schedule, the progress count at the beginning of the present turn.
    pub(in crate::machine) progress: u64,
}

impl Cursor {
    pub(in crate::machine) fn new(config: &LaunchConfig) -> Self {
        let priorities = match config.schedule {
            Schedule::Priority { depth, steps } => Some(Box::new(Priorities::new(config.seed, depth, steps, config.start))),
            Schedule::InOrder | Schedule::Random | Schedule::Held(_) | Schedule::Switched(_) => None,
        };
        let hold = match config.schedule {
            Schedule::Held(hold) => Some(hold),
            Schedule::InOrder | Schedule::Random | Schedule::Priority { .. } | Schedule::Switched(_) => None,
        };
        let switches = match &config.schedule {
            Schedule::Switched(switches) => switches.partition_point(|switch| switch.at < config.start),
            Schedule::InOrder | Schedule::Random | Schedule::Priority { .. } | Schedule::Held(_) => 0,
        };
        let random = Random::new(config.seed);
        Self { block_slot: 0, warp: 0, warp_left: 0, block_left: 0, random, priorities, hold, switches, progress: 0 }
    }
}
