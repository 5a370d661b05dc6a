//! The position of the scheduler.

use crate::machine::state::launch::{Delay, LaunchConfig, Schedule};
use crate::machine::state::priority::Priorities;
use crate::machine::state::random::Random;

/// The position of the scheduler.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Cursor {
    /// Slot of the block whose warp runs.
    pub block_slot: usize,
    /// The warp of that block that runs.
    pub warp: usize,
    pub(in crate::machine) warp_ticks_left: u32,
    pub(in crate::machine) block_ticks_left: u32,
    pub(in crate::machine) random: Random,
    /// The priorities, under a priority schedule.
    pub(in crate::machine) priorities: Option<Box<Priorities>>,
    /// The present or future delay of a warp; none after it.
    pub(in crate::machine) delay: Option<Delay>,
    /// The number of past context switches, under a schedule of context switches.
    pub(in crate::machine) past_switches: usize,
    /// Under such a schedule, the progress count at the start of the current time slice.
    pub(in crate::machine) progress: u64,
}

impl Cursor {
    pub(in crate::machine) fn new(config: &LaunchConfig) -> Self {
        let priorities = match config.schedule {
            Schedule::Priority { depth, steps } => Some(Box::new(Priorities::new(config.seed, depth, steps, config.start))),
            Schedule::InOrder | Schedule::Random | Schedule::Delayed(_) | Schedule::ContextSwitches(_) => None,
        };
        let delay = match config.schedule {
            Schedule::Delayed(delay) => Some(delay),
            Schedule::InOrder | Schedule::Random | Schedule::Priority { .. } | Schedule::ContextSwitches(_) => None,
        };
        let past_switches = match &config.schedule {
            Schedule::ContextSwitches(switches) => switches.partition_point(|switch| switch.at < config.start),
            Schedule::InOrder | Schedule::Random | Schedule::Priority { .. } | Schedule::Delayed(_) => 0,
        };
        let random = Random::new(config.seed);
        Self { block_slot: 0, warp: 0, warp_ticks_left: 0, block_ticks_left: 0, random, priorities, delay, past_switches, progress: 0 }
    }
}
