//! Lanewise clocks: the clocks of the lanes of a warp where they differ by the number of the lane alone.
//!
//! If lane i releases to and acquires from the location of lane i of other warps (a tile of sums that several blocks add to), one
//! lanewise clock replaces a clock for each lane.

use std::sync::Arc;

use smallvec::SmallVec;

use super::clock::{VectorClock, includes};
use super::operation::{Agent, Operation};
use crate::base::lanes::LaneMask;
use crate::base::{Tick, WarpId};

/// The clock of each lane of a warp: a common part, and entries of other warps, each for the lane with the same number.
#[derive(Clone, Debug, Default)]
pub struct LanewiseClock {
    /// The part that is the same for every lane.
    common: VectorClock,
    /// The entries of other warps for the lane with the same number, in order of block and warp.
    warps: SmallVec<[WarpEntry; 2]>,
}

/// Lanewise clocks, each with its lanes.
pub type LanewiseClocks = SmallVec<[(LaneMask, Arc<LanewiseClock>); 2]>;

/// The entry of one warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct WarpEntry {
    block: u32,
    warp: WarpId,
    /// The lanes that the warp was launched with.
    lanes: LaneMask,
    /// Operations of this warp with a smaller tick happen before what acquires the clock.
    tick: Tick,
}

impl LanewiseClock {
    /// A clock that is the same for every lane.
    pub fn new(common: VectorClock) -> Self {
        assert!(common.after_fence.is_none() && common.before_fence.is_none(), "clocks of fences are kept lane by lane");
        Self { common, warps: SmallVec::new() }
    }

    /// Advances the entry of a warp, which was launched with `lanes`, for the lane with the same number to `tick`.
    pub fn advance(&mut self, block: u32, warp: WarpId, lanes: LaneMask, tick: Tick) {
        self.add(WarpEntry { block, warp, lanes, tick });
    }

    /// Joins `other`: the greater of each two entries.
    pub fn join(&mut self, other: &Self) {
        self.common.join(&other.common);
        other.warps.iter().for_each(|entry| self.add(*entry));
    }

    /// The joined clock of `lanes`.
    pub fn joined(&self, lanes: LaneMask) -> VectorClock {
        let mut clock = self.common.clone();
        for entry in &self.warps {
            clock.get_mut(entry.block).synchronous.advance(entry.warp, lanes & entry.lanes, entry.lanes, entry.tick);
        }
        clock
    }

    /// The part that every lane has.
    pub fn common(&self) -> &VectorClock {
        &self.common
    }

    /// True if lane `other` of `operation` happens before lane `lane`.
    pub fn includes(&self, lane: usize, operation: &Operation, other: usize) -> bool {
        let is_of_same_number = || {
            let found = self.warps.binary_search_by_key(&(operation.block, operation.warp), |entry| (entry.block, entry.warp));
            lane == other && operation.agent == Agent::Threads && found.is_ok_and(|index| self.warps[index].tick > operation.tick)
        };
        includes(&self.common, operation, LaneMask::of(other)) || is_of_same_number()
    }

    /// True if a block other than `block` has an entry.
    pub fn has_other_blocks(&self, block: u32) -> bool {
        self.common.has_other_blocks(block) || self.warps.iter().any(|entry| entry.block != block)
    }

    fn add(&mut self, entry: WarpEntry) {
        match self.warps.binary_search_by_key(&(entry.block, entry.warp), |other| (other.block, other.warp)) {
            Ok(index) => self.warps[index].tick = self.warps[index].tick.max(entry.tick),
            Err(index) => self.warps.insert(index, entry),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::base::lanes::{LaneMask, PerLane};
    use crate::base::{Tick, WarpId};
    use crate::isa::{FenceKind, Ordering, Scope};
    use crate::order::{Actor, Agent, HappensBefore, Operation, StrongAccess};

    const BLOCKS: u32 = 3;
    const WARPS: u32 = 2;

    /// An action of lanes of a warp.
    #[derive(Clone, Copy, Debug)]
    enum Action {
        /// A strong access, with the lane whose location lane 0 accesses.
        Access(StrongAccess, usize),
        Fence(Ordering),
        WarpBarrier,
        BlockBarrier,
    }

    fn action() -> impl Strategy<Value = Action> {
        let strong = |reads, writes, ordering| StrongAccess { reads, writes, is_reduction: false, ordering, scope: Scope::Gpu, bytes: 4 };
        let narrow = StrongAccess { scope: Scope::Cta, ..strong(true, true, Ordering::AcqRel) };
        let access = |strong: StrongAccess, shift| Just(Action::Access(strong, shift));
        prop_oneof![
            8 => access(strong(true, true, Ordering::AcqRel), 0),
            2 => access(strong(true, true, Ordering::AcqRel), 1),
            1 => access(strong(true, true, Ordering::Relaxed), 0),
            1 => access(strong(true, false, Ordering::Acquire), 0),
            1 => access(strong(false, true, Ordering::Release), 0),
            1 => access(narrow, 0),
            1 => prop_oneof![Just(Ordering::SeqCst), Just(Ordering::AcqRel)].prop_map(Action::Fence),
            1 => Just(Action::WarpBarrier),
            1 => Just(Action::BlockBarrier),
        ]
    }

    fn do_action(order: &mut HappensBefore, actor: Actor, action: Action, row: u64) {
        match action {
            Action::Access(strong, shift) => {
                let addresses: PerLane<u64> = std::array::from_fn(|lane| row * 4096 + (lane + shift) as u64 * 4);
                order.release_acquire(actor, 0, &addresses, strong);
            }
            Action::Fence(ordering) => order.fence(actor, FenceKind::Memory, ordering, Scope::Gpu),
            Action::WarpBarrier => order.sync_warp(actor, actor.lanes),
            Action::BlockBarrier => {
                for warp in 0..WARPS {
                    order.arrive(Actor { warp: WarpId::new(warp), lanes: LaneMask::ALL, ..actor }, 0, true);
                }
                order.complete_barrier(actor.block_slot, 0, actor.tick);
            }
        }
    }

    /// The answers to all questions about some lanes.
    fn answers(order: &HappensBefore, operations: &[Operation]) -> Vec<bool> {
        const SOME: [usize; 5] = [0, 1, 15, 16, 31];
        let mut answers = Vec::new();
        for (number, warp) in (0..BLOCKS).flat_map(|block| (0..WARPS).map(move |warp| (block, WarpId::new(warp)))) {
            let block = order.block(number).expect("the block is there");
            for operation in operations {
                answers.push(block.happens_before_all(warp, operation));
                for other in SOME.into_iter().filter(|other| operation.lanes.contains(*other)) {
                    answers.extend(SOME.map(|lane| block.happens_before(warp, lane, operation, other)));
                }
            }
        }
        answers
    }

    /// An atomic of the block alone acquires what the block has released before others have continued the chain.
    #[test]
    fn a_narrow_scope_acquires_what_its_own_block_released() {
        let strong = |ordering, scope| StrongAccess { reads: true, writes: true, is_reduction: false, ordering, scope, bytes: 4 };
        let mut order = HappensBefore::new(WARPS * 32, 1);
        (0..BLOCKS).for_each(|number| assert!(order.enter(number, number), "the block is new"));
        let actor = |block_slot, warp, tick| Actor { block_slot, warp: WarpId::new(warp), lanes: LaneMask::ALL, tick: Tick(tick) };
        do_action(&mut order, actor(0, 1, 1), Action::Access(strong(Ordering::AcqRel, Scope::Gpu), 0), 0);
        do_action(&mut order, actor(1, 0, 2), Action::Access(strong(Ordering::AcqRel, Scope::Gpu), 0), 0);
        do_action(&mut order, actor(2, 0, 3), Action::Access(strong(Ordering::AcqRel, Scope::Gpu), 0), 0);
        do_action(&mut order, actor(0, 0, 4), Action::Access(strong(Ordering::Relaxed, Scope::Gpu), 0), 0);
        do_action(&mut order, actor(0, 0, 5), Action::Access(strong(Ordering::AcqRel, Scope::Cta), 0), 0);
        let by = |block, warp, tick| Operation {
            tick: Tick(tick),
            block,
            warp: WarpId::new(warp),
            lanes: LaneMask::ALL,
            agent: Agent::Threads,
            only_reads: false,
        };
        let reader = order.block(0).expect("the block is there");
        let is_before = |operation: Operation| reader.happens_before(WarpId::new(0), 3, &operation, 3);
        assert!(is_before(by(0, 1, 0)) && !is_before(by(1, 0, 1)) && !is_before(by(2, 0, 2)));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

        /// Lanes that act together have the clocks that they would have if they acted one after the other.
        #[test]
        fn lanes_together_know_what_lanes_one_by_one_know(
            steps in prop::collection::vec((0..BLOCKS, 0..WARPS, action(), 0..3u64, 0..4u8), 1..40)
        ) {
            let mut together = HappensBefore::new(WARPS * 32, 1);
            let mut one_by_one = together.clone();
            for number in 0..BLOCKS {
                together.enter(number, number);
                one_by_one.enter(number, number);
            }
            let mut operations = Vec::new();
            for (tick, (block, warp, action, row, part)) in (1..).zip(steps) {
                let lanes = match part {
                    0 => LaneMask::lowest(16),
                    1 => !LaneMask::lowest(16),
                    _ => LaneMask::ALL,
                };
                let (tick, warp) = (Tick(tick), WarpId::new(warp));
                let actor = Actor { block_slot: block, warp, lanes, tick };
                do_action(&mut together, actor, action, row);
                let parts = if let Action::Access(..) = action { lanes.iter().map(LaneMask::of).collect() } else { vec![lanes] };
                parts.into_iter().for_each(|lanes| do_action(&mut one_by_one, Actor { lanes, ..actor }, action, row));
                operations.push(Operation { tick, block, warp, lanes, agent: Agent::Threads, only_reads: false });
                prop_assert_eq!(answers(&together, &operations), answers(&one_by_one, &operations));
            }
        }
    }
}
