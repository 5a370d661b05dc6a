//! The deterministic interpreter: a grid of blocks, warps of 32 lanes, and the memory they share.
//!
//! Time is a number: a tick is one warp-instruction issued, and all of a launch is a total order of ticks. Everything a run can
//! change is the value [`Machine`]; cloning it is a snapshot, cheap because registers, memory pages and blocks are shared until
//! written. Everything a run cannot change is the [`Program`]. The same machine run twice does the same, however its run is sliced
//! by budgets: which warp runs next, and which lanes of it, follows from the machine's state alone ([`schedule`]).
//!
//! The interpreter knows nothing of breakpoints, source text, or that time can go backwards.

mod async_copy;
mod barrier;
mod block;
mod clocks;
mod cluster;
mod coverage;
mod device;
mod digest;
mod event;
mod exec;
mod footprint;
mod image;
mod inspect;
mod lanes;
mod launch;
mod livelock;
mod matrix;
mod mbarrier;
mod memory;
mod patience;
mod random;
mod read_modify_write;
mod registers;
mod runtime;
mod schedule;
mod shared;
mod simt_stack;
mod snapshot;
mod special;
mod stuck;
pub mod tensor;
mod trap;
mod warp;
mod wgmma;
mod written;

use std::sync::Arc;

pub use async_copy::{AsyncCopy, CopyPolicy, Destination, Ends, Home, InFlight, LaneCopies, POISON, Work};
pub use barrier::{BARRIERS, Ballot, Barrier};
pub use block::Block;
pub use cluster::ClusterBarrier;
pub use coverage::{Coverage, Tally};
pub use device::{Device, NotMapped};
pub use digest::Digest;
pub use event::{
    AccessEvent, AccessKind, BlockId, CopyEvent, CopyStage, Exchange, Issue, MbarrierChange, MbarrierEvent, Observer, Order, OrderEvent,
    Unobserved, Wants, WgmmaChange, WgmmaEvent,
};
pub use footprint::{Footprint, MemoryLimit};
pub use inspect::BlockLife;
pub use lanes::{ALL_LANES, LANES, LaneMask, PerLane, first_lane, lane_list, lanes_in_words, lanes_of, lanes_where, lowest};
pub use launch::{Account, DivergencePolicy, LaunchConfig, LaunchError, Linked, Schedule};
pub use mbarrier::{Arrival, Contribution, Mbarrier, Phase};
pub use memory::{Allocation, OutOfMemory, Region};
pub use registers::{FrameBase, Registers};
pub use runtime::Printed;
pub use schedule::Cursor;
pub use shared::Shared;
pub use special::thread_index;
pub use stuck::held;
pub use trap::{Place, Step, Stuck, Trap, TrapAccess, TrapKind, Waiter};
pub use warp::{CallFrame, CallStack, CopyGroups, GroupState, LaneGroup, Polled, Warp, frames};
pub use wgmma::{Flight, WARPS, Wgmma};
pub use written::Written;

use crate::program::Program;
use clocks::Leap;
use footprint::FootprintCheck;
use livelock::Livelock;
use patience::Patience;

/// Time: warp-instructions issued since the first launch.
pub type Tick = u64;

/// A launched grid and the memory it works on. A clone is a snapshot.
#[derive(Clone)]
pub struct Machine {
    pub(crate) linked: Arc<Linked>,
    pub(crate) device: Device,
    /// Blocks on the machine. A slot whose block has finished holds the next block of the grid, or nothing when there is none.
    pub(crate) blocks: Vec<Option<triomphe::Arc<Block>>>,
    /// Blocks started so far.
    pub(crate) started: u64,
    /// Where the scheduler stands.
    pub(crate) cursor: Cursor,
    /// Asynchronous copies in flight.
    pub(crate) copies: InFlight,
    tick: Tick,
    thread_instructions: u64,
    /// What threads did that others could notice, counted.
    effects: u64,
    /// Who waited for phases, and how it stood, when nobody could run last.
    patience: Patience,
    /// Whether threads that run do anything but spin.
    livelock: Livelock,
    /// How far the clocks are ahead of the ticks.
    leap: Leap,
    coverage: Option<triomphe::Arc<Coverage>>,
    /// Bytes of simulated state of the blocks on the machine.
    block_bytes: u64,
    footprint_check: FootprintCheck,
}

impl Machine {
    /// A machine about to execute the first instruction of `config`.
    ///
    /// # Errors
    /// If the launch does not fit the kernel or the hardware's limits.
    pub fn new(mut device: Device, config: LaunchConfig) -> Result<Self, LaunchError> {
        if config.cooperative {
            device.place_workspace();
        }
        let patience = Patience::new(&config);
        let linked = Arc::new(Linked::new(&device, config)?);
        let (cursor, tick) = (Cursor::new(linked.config.seed), linked.config.start);
        let coverage = (linked.config.account != Account::Nothing).then(|| triomphe::Arc::new(Coverage::new(device.program.code.len())));
        Ok(Self {
            linked,
            device,
            blocks: Vec::new(),
            started: 0,
            cursor,
            copies: InFlight::default(),
            tick,
            thread_instructions: 0,
            effects: 0,
            patience,
            livelock: Livelock::quiet_since(tick, 0),
            leap: Leap::default(),
            coverage,
            block_bytes: 0,
            footprint_check: FootprintCheck::default(),
        })
    }

    /// The program that runs.
    pub fn program(&self) -> &Arc<Program> {
        &self.device.program
    }

    /// The places where lanes meet that the branch at `pc` parts, the outermost first. None where warps have no stack.
    pub fn meetings_noted_at(&self, pc: crate::program::Pc) -> &[crate::program::Pc] {
        self.linked.meetings.get(pc.index()).map_or(&[], |places| places)
    }

    /// How it was launched.
    pub fn config(&self) -> &LaunchConfig {
        &self.linked.config
    }

    /// Warp-instructions issued since the first launch.
    pub fn tick(&self) -> Tick {
        self.tick
    }

    /// Instructions executed by single threads since launch: each tick counts its active lanes.
    pub fn thread_instructions(&self) -> u64 {
        self.thread_instructions
    }

    /// How often each instruction was executed since launch; none unless the launch keeps it.
    pub fn coverage(&self) -> Option<&Coverage> {
        self.coverage.as_deref()
    }

    /// The memory, to look at.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The memory, for the next launch.
    pub fn into_device(self) -> Device {
        self.device
    }

    /// The blocks on the machine, in order of their slots.
    pub fn resident_blocks(&self) -> impl Iterator<Item = &Block> {
        self.blocks.iter().flatten().map(|block| &**block)
    }

    /// A fingerprint of the whole state: equal for equal states, however they were reached.
    pub fn digest(&self) -> u64 {
        let mut digest = Digest::default();
        digest.word(self.tick);
        digest.word(self.thread_instructions);
        digest.word(self.started);
        self.cursor.digest(&mut digest);
        self.device.digest(&mut digest);
        self.copies.digest(&mut digest);
        self.patience.digest(&mut digest);
        self.livelock.digest(&mut digest);
        self.leap.digest(&mut digest);
        self.coverage.iter().for_each(|coverage| coverage.digest(&mut digest));
        for block in &self.blocks {
            digest.word(u64::from(block.is_some()));
            block.iter().for_each(|block| block.digest(&mut digest));
        }
        digest.value()
    }
}
