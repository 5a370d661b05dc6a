//! The data for observers at the start and the end of a launch.

use std::ops::Range;
use std::sync::Arc;

use crate::machine::state::barrier::Barrier;
use crate::machine::state::block::Block;
use crate::machine::state::in_flight::copy::{CopyCompletion, MemoryOwner};
use crate::machine::state::issue_point::{BlockId, Tick};
use crate::machine::state::lanes::LaneMask;
use crate::machine::state::machine::Machine;
use crate::machine::state::prepared::PreparedLaunch;
use crate::machine::state::warp::{GroupState, LaneGroup};
use crate::program::{Pc, Program};

/// A launch that is about to issue its first instruction.
#[derive(Clone)]
pub struct LaunchStart {
    /// Its tables.
    pub prepared: Arc<PreparedLaunch>,
    /// The addresses of global memory that are undefined until they are written.
    pub undefined: Vec<Range<u64>>,
    /// The addresses of the buffers and variables in global memory, in order.
    pub allocations: Vec<Range<u64>>,
    /// The buffers that are not compared after the last launch although others are.
    pub uncompared: Vec<Range<u64>>,
    /// The bytes that the launch file excludes from the comparison.
    pub ignored: Vec<Range<u64>>,
}

/// The state of a launch at its end, or at the step limit.
#[derive(Clone, Debug, Default)]
pub struct LaunchEnd {
    /// The tick.
    pub tick: Tick,
    /// True if no remaining thread can run.
    pub is_deadlocked: bool,
    /// The blocks that have not finished.
    pub blocks: Vec<UnfinishedBlock>,
    /// The mbarriers on which copies in flight complete, by block slot and address.
    pub awaited: Vec<(u32, u32)>,
}

/// A block that has not finished.
#[derive(Clone, Debug)]
pub struct UnfinishedBlock {
    /// The block.
    pub id: BlockId,
    /// Its index in the grid.
    pub index: [u32; 3],
    /// Its warps.
    pub warps: Vec<UnfinishedWarp>,
    /// Its barriers.
    pub barriers: Vec<Barrier>,
}

/// A warp of a block that has not finished.
#[derive(Clone, Debug)]
pub struct UnfinishedWarp {
    /// The lanes that have not exited.
    pub live: LaneMask,
    /// Its groups, with their pcs.
    pub groups: Vec<UnfinishedGroup>,
}

/// Lanes at one pc, and what they wait for.
#[derive(Clone, Copy, Debug)]
pub struct UnfinishedGroup {
    /// The lanes.
    pub lanes: LaneMask,
    /// The instruction that they execute next.
    pub pc: Pc,
    /// The instruction at which they wait.
    pub current_pc: Pc,
    /// Their state: the barrier, copy or phase for which they wait.
    pub state: GroupState,
    /// True if the instruction at which they wait has a member mask.
    pub has_mask: bool,
}

impl LaunchEnd {
    /// The block with a number, if it has not finished.
    pub fn block(&self, number: u64) -> Option<&UnfinishedBlock> {
        self.blocks.iter().find(|block| block.id.number == number)
    }
}

impl Machine {
    /// The data of the launch for observers, at its start.
    pub fn launch_start(&self) -> LaunchStart {
        let (undefined, uncompared) = (self.device.undefined().collect(), self.device.uncompared().to_vec());
        // With the padding, since some accesses use it.
        let allocations = self.device.global().allocations().map(|of| of.base..of.padded_end()).collect();
        let ignored = self.device.ignored().to_vec();
        LaunchStart { prepared: Arc::clone(&self.prepared), undefined, uncompared, ignored, allocations }
    }

    /// The data of the launch for observers, at its end.
    pub fn launch_end(&self) -> LaunchEnd {
        let program = self.program();
        let blocks =
            self.blocks.iter().zip(0..).filter_map(|(block, block_slot)| Some(unfinished_block(program, block.as_deref()?, block_slot)));
        let awaited = self.in_flight.copies().filter_map(|copy| match copy.completion {
            CopyCompletion::Mbarrier { owner: MemoryOwner::Block { block_slot, .. }, address, .. } => Some((block_slot, address)),
            CopyCompletion::Mbarrier { owner: MemoryOwner::Global, .. } | CopyCompletion::Group { .. } => None,
        });
        let is_deadlocked = !self.resident_blocks().any(|block| block.warps.iter().any(|warp| warp.can_run()));
        LaunchEnd { tick: self.tick(), is_deadlocked, blocks: blocks.collect(), awaited: awaited.collect() }
    }
}

fn unfinished_block(program: &Program, block: &Block, block_slot: u32) -> UnfinishedBlock {
    let group = |group: &LaneGroup| {
        let current_pc = group.current_pc();
        let has_mask = program.code[current_pc.index()].op.has_member_mask();
        UnfinishedGroup { lanes: group.mask, pc: group.pc, current_pc, state: group.state, has_mask }
    };
    let warps = block.warps.iter().map(|warp| UnfinishedWarp { live: warp.live, groups: warp.groups.iter().map(group).collect() });
    let id = BlockId { number: block.number, block_slot };
    UnfinishedBlock { id, index: block.index, warps: warps.collect(), barriers: block.barriers.to_vec() }
}
