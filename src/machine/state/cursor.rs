//! The position of the scheduler.

use crate::base::Random;
use crate::machine::state::launch::{Delay, LaunchConfig, Schedule};
use crate::machine::state::priority::Priorities;
use crate::program::Pc;

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
    /// Under the schedule in order, what is known of the block in whose turn no warp has had an effect.
    pub(in crate::machine) spin: BlockSpin,
}

/// Whether the warps of the block that has the turn spin. `run::spinning` has the rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct BlockSpin {
    /// The progress count at the last effect in the block's turn.
    pub(in crate::machine) progress: u64,
    /// The number of time slices in a row that were used up without an effect.
    pub(in crate::machine) quiet: u32,
    /// The number of time slices in a row whose warp has returned to the state at their start.
    pub(in crate::machine) spinning: u32,
    /// The current time slice.
    pub(in crate::machine) slice: SliceSpin,
}

/// What is known of the warp of the current time slice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SliceSpin {
    /// Nothing.
    #[default]
    Unknown,
    /// Its state is compared after each tick with that at the start of the time slice.
    Compared {
        /// The pc and the digest of that state.
        state: (Pc, u64),
        /// The number of comparisons that are left.
        ticks: u32,
    },
    /// A warp of the block does not return to its state in a few ticks: the block has its whole turn.
    Computes,
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
        let spin = BlockSpin::default();
        Self {
            block_slot: 0,
            warp: 0,
            warp_ticks_left: 0,
            block_ticks_left: 0,
            random,
            priorities,
            delay,
            past_switches,
            progress: 0,
            spin,
        }
    }
}
