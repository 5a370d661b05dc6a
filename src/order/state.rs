//! The happens-before relation of a launch.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::clock::{includes, join_into};
use super::cluster::ClusterBarrier;
use super::locations::Locations;
use super::mbarrier_state::{MbarrierKey, MbarrierState, PendingCopy};
use super::operation::{Actor, Operation};
use super::threads::{Block, FenceClock};
use crate::base::lanes::{LANES, LaneMask};
use crate::base::{Tick, WarpId};

/// The most fences of exited blocks that are retained.
const EXITED_FENCES: usize = 64;

/// The happens-before relation: the clocks of all threads of a launch.
#[derive(Clone, Debug)]
pub struct HappensBefore {
    /// The lanes of each warp of a block.
    warps: Vec<LaneMask>,
    /// Blocks of a cluster.
    cluster: u32,
    /// The tick of the last operation.
    now: Tick,
    /// By block slot.
    pub(super) blocks: Vec<Option<Box<Block>>>,
    pub(super) locations: Locations,
    /// The last `fence.sc` of exited blocks, the latest last.
    pub(super) exited_fences: VecDeque<(u32, WarpId, FenceClock)>,
    /// By the first block slot of the cluster.
    pub(super) clusters: BTreeMap<u32, ClusterBarrier>,
    /// Mbarriers.
    pub(super) mbarriers: BTreeMap<MbarrierKey, MbarrierState>,
    /// Copies in flight that complete on mbarriers, by number.
    pub(super) pending_copies: BTreeMap<u64, PendingCopy>,
}

/// Retains the last `fence.sc` of the threads of a block that has exited.
fn retain_sc_fences(exited_fences: &mut VecDeque<(u32, WarpId, FenceClock)>, block: &Block) {
    for (warp, state) in block.warps.entries() {
        let fences = state.fences.iter().filter(|fence| fence.sc);
        exited_fences.extend(fences.map(|fence| (block.number, warp, fence.clone())));
    }
    let too_many = exited_fences.len().saturating_sub(EXITED_FENCES);
    exited_fences.drain(..too_many);
}

impl HappensBefore {
    /// The relation before the first instruction: blocks have `threads` threads, clusters have `cluster` blocks.
    pub fn new(threads: u32, cluster: u32) -> Self {
        assert!(cluster > 0, "a block is a cluster of its own");
        let lanes = |warp: u32| LaneMask::lowest(threads - warp * LANES as u32);
        Self {
            warps: (0..threads.div_ceil(LANES as u32)).map(lanes).collect(),
            cluster,
            now: Tick::START,
            blocks: Vec::new(),
            locations: Locations::default(),
            exited_fences: VecDeque::new(),
            clusters: BTreeMap::new(),
            mbarriers: BTreeMap::new(),
            pending_copies: BTreeMap::new(),
        }
    }

    /// Blocks of a cluster.
    pub fn cluster(&self) -> u32 {
        self.cluster
    }

    /// Warps of a block.
    pub fn warps(&self) -> usize {
        self.warps.len()
    }

    /// Block `number` is in `block_slot` now. True if it is new there: the state of the previous block in that block slot is dropped.
    #[inline]
    pub fn enter(&mut self, block_slot: u32, number: u32) -> bool {
        let is_there = self.block(block_slot).is_some_and(|block| block.number == number);
        !is_there && self.begin_block(block_slot, number)
    }

    fn begin_block(&mut self, block_slot: u32, number: u32) -> bool {
        let index = block_slot as usize;
        if self.blocks.len() <= index {
            self.blocks.resize_with(index + 1, || None);
        }
        if let Some(block) = &self.blocks[index] {
            assert!(block.number < number, "block {number} after block {} in block slot {block_slot}", block.number);
        }
        let Self { warps, blocks, exited_fences, .. } = self;
        let block = blocks[index].get_or_insert_default();
        retain_sc_fences(exited_fences, block);
        block.restart(number, warps);
        self.mbarriers.retain(|key, _| key.block_slot != block_slot);
        true
    }

    /// The block in `block_slot`, if one has entered it.
    #[inline]
    pub fn block(&self, block_slot: u32) -> Option<&Block> {
        self.blocks.get(block_slot as usize)?.as_deref()
    }

    /// The block of lanes that act now. Asserts that they are live and that time does not go back.
    pub(super) fn acting_block(&mut self, Actor { block_slot, warp, lanes, tick }: Actor) -> &mut Block {
        assert!(tick >= self.now, "time {tick} after time {}", self.now);
        self.now = tick;
        let block = self.blocks.get_mut(block_slot as usize).and_then(Option::as_deref_mut);
        let Some(block) = block else { unreachable!("something is done in block slot {block_slot}, which no block has entered") };
        let live = block.warps[warp].live;
        assert!(!lanes.is_empty() && live.contains_all(lanes), "lanes {lanes:#x} of a warp with {live:#x}");
        block
    }

    /// Lanes exit: a `bar.warp.sync` no longer waits for them, and in a cluster their clock is joined into that of the exits of the block.
    pub fn exit(&mut self, actor: Actor) {
        let is_alone = self.cluster == 1;
        let block = self.acting_block(actor);
        block.exit(actor.warp, actor.lanes, actor.tick);
        if !is_alone {
            let released = block.released(actor.warp, actor.lanes, actor.tick);
            join_into(&mut block.exit_clock, &Arc::new(released));
        }
        assert!(!block.warps[actor.warp].live.intersects(actor.lanes), "lanes that have exited are gone");
    }

    /// True if all of `operation` happens before an exit of a thread of the block in `block_slot`, or had completed by then.
    pub fn exited_after(&self, block_slot: u32, operation: &Operation) -> bool {
        let exit_clock = self.block(block_slot).and_then(|block| block.exit_clock.as_ref());
        exit_clock.is_some_and(|clock| operation.lanes.iter().all(|lane| includes(clock, operation, LaneMask::of(lane))))
    }
}
