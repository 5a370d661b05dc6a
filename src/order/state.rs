//! All that is known of the order of a launch.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::clock::{is_in, join_into};
use super::cluster::ClusterBarrier;
use super::locations::Locations;
use super::object::{Object, ObjectKey, PendingCopy};
use super::operation::{Actor, Operation};
use super::threads::{Block, Fenced, Warp};
use crate::base::lanes::{LANES, LaneMask};
use crate::base::{Tick, WarpId};

/// Fences of blocks that have left the machine that are kept.
const FENCES_LEFT: usize = 64;

/// The happens-before relation: the clocks of all threads of a launch.
#[derive(Clone, Debug)]
pub struct HappensBefore {
    /// The lanes of each warp of a block.
    warps: Vec<LaneMask>,
    /// Blocks of a cluster.
    cluster: u32,
    /// The time of what was done last.
    now: Tick,
    /// By block slot.
    pub(super) blocks: Vec<Option<Box<Block>>>,
    pub(super) locations: Locations,
    /// The last fences of blocks that have left the machine, the latest last.
    pub(super) fences_of_exited: VecDeque<(u32, WarpId, Fenced)>,
    /// By the first block slot.
    pub(super) clusters: BTreeMap<u32, ClusterBarrier>,
    /// Mbarriers.
    pub(super) objects: BTreeMap<ObjectKey, Object>,
    /// Copies in flight that complete on mbarriers, by number.
    pub(super) pending_copies: BTreeMap<u64, PendingCopy>,
}

impl HappensBefore {
    /// A launch of blocks of `threads` threads, in clusters of `cluster` blocks, of which nothing has run.
    pub fn new(threads: u32, cluster: u32) -> Self {
        assert!(cluster > 0, "a block is a cluster of its own");
        let lanes = |warp: u32| LaneMask::lowest(threads - warp * LANES as u32);
        Self {
            warps: (0..threads.div_ceil(LANES as u32)).map(lanes).collect(),
            cluster,
            now: Tick::START,
            blocks: Vec::new(),
            locations: Locations::default(),
            fences_of_exited: VecDeque::new(),
            clusters: BTreeMap::new(),
            objects: BTreeMap::new(),
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

    /// The block with this number is in `block_slot` now. True if it is new there: what the one before it in that block slot had is
    /// dropped.
    pub fn enter(&mut self, block_slot: u32, number: u32) -> bool {
        let index = block_slot as usize;
        if self.blocks.len() <= index {
            self.blocks.resize_with(index + 1, || None);
        }
        if let Some(block) = &self.blocks[index] {
            if block.number == number {
                return false;
            }
            assert!(block.number < number, "block {number} after block {} in block slot {block_slot}", block.number);
        }
        if let Some(left) = self.blocks[index].take() {
            self.keep_fences(*left);
        }
        let warps = self.warps.iter().map(|all| Warp { all: *all, live: *all, ..Warp::default() }).collect();
        self.blocks[index] = Some(Box::new(Block { number, warps, ..Block::default() }));
        self.objects.retain(|key, _| key.block_slot != block_slot);
        true
    }

    /// Keeps the last `fence.sc` of the threads of a block that leaves the machine.
    fn keep_fences(&mut self, block: Block) {
        for (warp, of) in block.warps.entries() {
            let fences = of.fences.iter().filter(|fenced| fenced.sc);
            self.fences_of_exited.extend(fences.map(|fenced| (block.number, warp, fenced.clone())));
        }
        let too_many = self.fences_of_exited.len().saturating_sub(FENCES_LEFT);
        self.fences_of_exited.drain(..too_many);
    }

    /// The block in `block_slot`, if one has entered it.
    pub fn block(&self, block_slot: u32) -> Option<&Block> {
        self.blocks.get(block_slot as usize)?.as_deref()
    }

    /// The block of lanes that do something now: they are there, and time does not go back.
    pub(super) fn acting(&mut self, Actor { block_slot, warp, lanes, tick }: Actor) -> &mut Block {
        assert!(tick >= self.now, "time {tick} after time {}", self.now);
        self.now = tick;
        let block = self.blocks.get_mut(block_slot as usize).and_then(Option::as_deref_mut);
        let Some(block) = block else { unreachable!("something is done in block slot {block_slot}, which no block has entered") };
        let live = block.warps[warp].live;
        assert!(!lanes.is_empty() && live.contains_all(lanes), "lanes {lanes:#x} of a warp with {live:#x}");
        block
    }

    /// Lanes exit: those that wait for them in a `bar.warp.sync` do not any more, and what they knew is known to have been.
    pub fn exit(&mut self, actor: Actor) {
        let is_alone = self.cluster == 1;
        let block = self.acting(actor);
        block.exit(actor.warp, actor.lanes, actor.tick);
        if !is_alone {
            let known = block.released(actor.warp, actor.lanes, actor.tick);
            join_into(&mut block.exit_clock, &Arc::new(known));
        }
        assert!(!block.warps[actor.warp].live.intersects(actor.lanes), "lanes that have exited are gone");
    }

    /// Whether the threads of the block in `block_slot` that have exited knew of all that `operation` did, or that it had completed.
    pub fn left_after(&self, block_slot: u32, operation: &Operation) -> bool {
        let exit_clock = self.block(block_slot).and_then(|block| block.exit_clock.as_ref());
        exit_clock.is_some_and(|clock| operation.lanes.iter().all(|lane| is_in(clock, operation, LaneMask::of(lane))))
    }
}
