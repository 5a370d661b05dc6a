//! The machine: all state that a run can change, as a value.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::machine::event_kind::Places;
use crate::machine::exec::straight::pattern::Patterns;
use crate::machine::in_flight::policy::CompletionPolicy;
use crate::machine::state::block::Block;
use crate::machine::state::clocks::ClockJump;
use crate::machine::state::coverage::Coverage;
use crate::machine::state::cursor::Cursor;
use crate::machine::state::device::Device;
use crate::machine::state::digest::Digest;
use crate::machine::state::footprint::FootprintCheck;
use crate::machine::state::in_flight::InFlight;
use crate::machine::state::issue_point::Tick;
use crate::machine::state::launch::{Instrumentation, LaunchConfig, LaunchError};
use crate::machine::state::livelock::LivelockDetector;
use crate::machine::state::plain_groups::PlainGroups;
use crate::machine::state::prepared::PreparedLaunch;
use crate::machine::state::tables::straight::StraightCode;
use crate::machine::state::waits::StallState;
use crate::program::Program;
use crate::weak::WeakMemory;

/// A launched grid and its memory. A clone is a snapshot.
#[derive(Clone)]
pub struct Machine {
    pub(crate) prepared: Arc<PreparedLaunch>,
    pub(crate) device: Device,
    /// The resident blocks, by block slot. The slot of a finished block gets the next block of the grid, or none if there is none.
    pub(crate) blocks: Vec<Option<triomphe::Arc<Block>>>,
    /// Blocks started so far.
    pub(crate) started: u64,
    /// The number of the block before which it ends: that of the blocks, or less for a part of the grid.
    pub(in crate::machine) end: u64,
    /// The position of the scheduler.
    pub(crate) cursor: Cursor,
    /// Asynchronous operations in flight.
    pub(crate) in_flight: InFlight,
    pub(in crate::machine) tick: Tick,
    pub(in crate::machine) thread_instructions: u64,
    /// The number of externally visible changes by threads: memory, barriers, exits.
    pub(in crate::machine) progress: u64,
    /// The state of the detection of deadlocks among groups that wait for phases of mbarriers.
    pub(in crate::machine) stall: StallState,
    /// The completion policy.
    pub(in crate::machine) completion: Box<dyn CompletionPolicy>,
    /// The state of the detection of livelocks.
    pub(in crate::machine) livelock: LivelockDetector,
    /// The offset of the clocks to the ticks.
    pub(in crate::machine) clock_jump: ClockJump,
    pub(in crate::machine) coverage: Option<triomphe::Arc<Coverage>>,
    /// Bytes of simulated state of the resident blocks.
    pub(in crate::machine) block_bytes: u64,
    pub(in crate::machine) footprint_check: FootprintCheck,
    /// What threads see of memory, if it is weak.
    pub(crate) weak: Option<Box<WeakMemory>>,
    /// The patterns of recent addresses, which change nothing but the speed.
    pub(in crate::machine) patterns: Patterns,
    /// The groups of the warp that runs, while they part and meet.
    pub(in crate::machine) plain_groups: PlainGroups,
    /// The places that were last reported to an observer, which change nothing but the speed.
    pub(in crate::machine) reported: Option<Reported>,
}

/// Places that are reported to an observer, and the code whose stretches end there.
#[derive(Clone)]
pub(in crate::machine) struct Reported {
    pub places: Arc<Places>,
    pub straight: Arc<StraightCode>,
}

impl Machine {
    /// A machine about to execute the first instruction of `config`.
    ///
    /// # Errors
    /// If the launch does not fit the kernel or the hardware's limits.
    pub fn new(mut device: Device, config: LaunchConfig) -> Result<Self, LaunchError> {
        if config.cooperative {
            device.allocate_workspace();
        }
        let (stall, completion) = (StallState::new(&config), config.copies.start());
        let weak = config.memory.seed().map(|seed| Box::new(WeakMemory::new(seed)));
        let prepared = Arc::new(PreparedLaunch::new(&device, config)?);
        let end = prepared.blocks;
        let (cursor, tick) = (Cursor::new(&prepared.config), prepared.config.start);
        let coverage = (prepared.config.instrumentation != Instrumentation::Nothing)
            .then(|| triomphe::Arc::new(Coverage::new(device.program.code.len())));
        Ok(Self {
            prepared,
            device,
            blocks: Vec::new(),
            started: 0,
            end,
            cursor,
            in_flight: InFlight::default(),
            tick,
            thread_instructions: 0,
            progress: 0,
            stall,
            completion,
            livelock: LivelockDetector::new(tick),
            clock_jump: ClockJump::default(),
            coverage,
            block_bytes: 0,
            footprint_check: FootprintCheck::default(),
            weak,
            patterns: Patterns::default(),
            plain_groups: PlainGroups::default(),
            reported: None,
        })
    }

    /// The program that runs.
    pub fn program(&self) -> &Arc<Program> {
        &self.device.program
    }

    /// The reconvergence points of lanes that diverge at the branch at `pc`, the outermost first. None where warps have no stack.
    pub fn pushed_targets_at(&self, pc: crate::program::Pc) -> &[crate::program::Pc] {
        self.prepared.pushed_targets.get(pc.index()).map_or(&[], |points| points)
    }

    /// The configuration of the launch.
    pub fn config(&self) -> &LaunchConfig {
        &self.prepared.config
    }

    /// Warp-instructions issued since the first launch.
    pub fn tick(&self) -> Tick {
        self.tick
    }

    /// Instructions executed by single threads since launch: each tick counts its active lanes.
    pub fn thread_instructions(&self) -> u64 {
        self.thread_instructions
    }

    /// The coverage since launch; none unless the launch records it.
    pub fn coverage(&self) -> Option<&Coverage> {
        self.coverage.as_deref()
    }

    /// The memory.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Ends the launch; returns the memory, for the next launch.
    pub fn into_device(self) -> Device {
        self.device
    }

    /// The resident blocks, in order of their block slots.
    pub fn resident_blocks(&self) -> impl Iterator<Item = &Block> {
        self.blocks.iter().flatten().map(|block| &**block)
    }

    /// A digest of the whole state: equal for equal states, however they were reached.
    pub fn digest(&self) -> u64 {
        let mut digest = Digest::default();
        self.hash(&mut digest);
        digest.finish()
    }
}

impl Hash for Machine {
    /// Hashes all but the configuration, of which no more than the parameters change in a launch, and state that follows from the rest.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Self { device, blocks, started, cursor, in_flight, tick, thread_instructions, stall, completion, livelock, .. } = self;
        let Self { clock_jump, coverage, weak, prepared, end: _, progress: _, block_bytes: _, footprint_check: _, .. } = self;
        (tick, thread_instructions, started, cursor, device, in_flight, stall, completion.state()).hash(state);
        (livelock, clock_jump, coverage, blocks).hash(state);
        // A digest without weak memory is what it was before there was any.
        weak.iter().for_each(|weak| weak.hash(state));
        if prepared.has_changed_params {
            prepared.config.params.hash(state);
        }
    }
}
