//! A resident block: its warps, shared memory and barriers.

use std::hash::{Hash, Hasher};

use smallvec::SmallVec;
use triomphe::Arc;

use crate::isa::BarrierFn;
use crate::machine::state::barrier::{BARRIERS, Barrier, BarrierReduction, ClusterBarrier};
use crate::machine::state::groups::Groups;
use crate::machine::state::in_flight::queue::WgmmaQueue;
use crate::machine::state::in_flight::warpgroup::Warpgroups;
use crate::machine::state::lanes::{LANES, LaneMask};
use crate::machine::state::launch::DivergencePolicy;
use crate::machine::state::memory::LocalMemory;
use crate::machine::state::prepared::PreparedLaunch;
use crate::machine::state::registers::{FrameBase, Registers};
use crate::machine::state::shared::Shared;
use crate::machine::state::simt_stack::SimtStack;
use crate::machine::state::special;
use crate::machine::state::warp::{CopyGroups, GroupState, LaneGroup, Polled, Warp};
use crate::program::operands::RegisterOperand;
use crate::program::{Bank, Dst, Op, Pc, PredSrc, Program, SyncOp, map};

/// A block on the machine.
#[derive(Clone, Hash)]
pub struct Block {
    /// Its index in the grid.
    pub index: [u32; 3],
    /// Its number in order of launch.
    pub number: u64,
    /// Its warps.
    pub warps: Vec<Arc<Warp>>,
    /// Its shared memory, the reserved bytes included.
    pub shared: Shared,
    /// Its barriers.
    pub barriers: [Barrier; BARRIERS],
    /// Its state at the barrier of its cluster.
    pub cluster: ClusterBarrier,
    /// The `wgmma` instructions that only some warps of a warpgroup have executed.
    pub warpgroups: Warpgroups,
}

/// A barrier whose phase has completed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompletedBarrier {
    /// Its number.
    pub id: u32,
    /// The lanes that had arrived, by warp.
    pub arrived: Vec<LaneMask>,
}

impl Block {
    /// The block `number` of the grid, about to execute its first instruction, in the memory of a block that has finished, if nothing
    /// else refers to that.
    pub fn start(program: &Program, prepared: &PreparedLaunch, number: u64, finished: Option<Arc<Self>>) -> Arc<Self> {
        let mut block = finished.filter(Arc::is_unique).unwrap_or_else(|| Arc::new(Self::without_warps(prepared)));
        Arc::make_mut(&mut block).restart(program, prepared, number);
        block
    }

    fn without_warps(prepared: &PreparedLaunch) -> Self {
        Self {
            index: [0; 3],
            number: 0,
            warps: Vec::new(),
            shared: Shared::new(prepared.shared_bytes),
            barriers: std::array::from_fn(|_| Barrier::default()),
            cluster: ClusterBarrier::default(),
            warpgroups: Warpgroups::default(),
        }
    }

    /// Makes it the block `number`, about to execute its first instruction.
    fn restart(&mut self, program: &Program, prepared: &PreparedLaunch, number: u64) {
        let config = &prepared.config;
        let threads = config.block.iter().product::<u32>();
        let count = threads.div_ceil(LANES as u32);
        assert!((1..=LANES as u32).contains(&count), "a block of {threads} threads");
        let Self { index, number: own, warps, shared, barriers, cluster, warpgroups } = self;
        (*index, *own) = (prepared.block_index(number), number);
        assert_eq!(prepared.block_number(*index), Some(number), "the block's index is that of another one");
        let place = |warp| (warp, *index, number, threads);
        warps.iter_mut().zip(0..).for_each(|(finished, warp)| restart_warp(finished, program, prepared, place(warp)));
        let new = warps.len() as u32..count;
        warps.extend(new.map(|warp| Arc::new(new_warp(program, prepared, place(warp)))));
        assert!(warps.len() == count as usize, "blocks of a grid have the same number of warps");
        *shared = Shared::new(prepared.shared_bytes);
        barriers.iter_mut().for_each(|barrier| *barrier = Barrier::default());
        *cluster = ClusterBarrier::default();
        *warpgroups = Warpgroups::default();
    }

    /// Adds its shared memory and the arrivals at its barriers to `state`, without the numbers of their phases.
    pub(in crate::machine) fn hash_shared<H: Hasher>(&self, state: &mut H) {
        self.shared.hash(state);
        for Barrier { arrived, count, thread_count, votes, voters, phase: _ } in &self.barriers {
            (arrived, count, thread_count, votes, voters).hash(state);
        }
    }

    /// True if all its threads have exited.
    pub fn is_done(&self) -> bool {
        self.warps.iter().all(|warp| warp.groups.is_empty())
    }

    /// Counts the lanes of a group at barrier `id`. If that completes the barrier, wakes its groups and returns the arrivals.
    pub fn arrive(
        &mut self,
        program: &Program,
        warp: usize,
        id: u32,
        mask: LaneMask,
        thread_count: Option<u32>,
        votes: LaneMask,
    ) -> Option<CompletedBarrier> {
        let (warps, live) = (self.warps.len(), self.warps[warp].live);
        assert!((id as usize) < BARRIERS, "a barrier that no block has");
        let barrier = &mut self.barriers[id as usize];
        barrier.set_thread_count(thread_count);
        barrier.arrive(warps, warp, mask, live, votes);
        self.release(program, id as usize)
    }

    /// Updates all barriers after lanes of `warp` exited, and returns those that this completes.
    pub fn lanes_exited(&mut self, program: &Program, warp: usize, live_before: LaneMask) -> SmallVec<[CompletedBarrier; 1]> {
        let live = self.warps[warp].live;
        let mut completed = SmallVec::new();
        for id in 0..BARRIERS {
            // Of most barriers no phase is in progress.
            if self.barriers[id].arrived.is_empty() {
                continue;
            }
            self.barriers[id].lanes_exited(warp, live_before, live);
            completed.extend(self.release(program, id));
        }
        completed
    }

    /// Wakes the groups that wait for the mbarrier at `address`: they poll it again.
    pub fn wake_at_mbarrier(&mut self, address: u32) {
        self.wake(|state| state == GroupState::AtMbarrier { address });
    }

    /// Wakes the groups for whose state `waits` holds.
    pub fn wake(&mut self, waits: impl Fn(GroupState) -> bool) {
        for warp in &mut self.warps {
            if warp.groups.iter().any(|group| waits(group.state)) {
                let groups = &mut Arc::make_mut(warp).groups;
                groups.iter_mut().filter(|group| waits(group.state)).for_each(|group| group.state = GroupState::Ready);
            }
        }
        debug_assert!(!self.warps.iter().any(|warp| warp.groups.iter().any(|group| waits(group.state))), "a group is not woken");
    }

    fn release(&mut self, program: &Program, id: usize) -> Option<CompletedBarrier> {
        if !self.barriers[id].is_complete(self.warps.iter().map(|warp| warp.live)) {
            return None;
        }
        if self.barriers[id].thread_count.is_none() {
            let missing = self.warps.iter().zip(&self.barriers[id].arrived).any(|(warp, arrived)| !arrived.contains_all(warp.live));
            assert!(!missing, "a barrier is released before all threads have arrived");
        }
        let arrived = std::mem::take(&mut self.barriers[id].arrived);
        let reduction = self.barriers[id].complete();
        let waits = |group: &LaneGroup| matches!(group.state, GroupState::AtBarrier { id: at, .. } if at as usize == id);
        for warp in &mut self.warps {
            if warp.groups.iter().any(waits) {
                release_warp(program, Arc::make_mut(warp), id, reduction);
            }
        }
        let waits = self.warps.iter().any(|warp| warp.groups.iter().any(waits));
        assert!(!waits, "a group waits at a barrier whose phase has ended");
        Some(CompletedBarrier { id: id as u32, arrived })
    }

    /// Adds the arrivals at its barriers to `state`, without the numbers of their phases.
    pub fn hash_arrivals<H: Hasher>(&self, state: &mut H) {
        for Barrier { arrived, count, thread_count, votes, voters, phase: _ } in &self.barriers {
            (arrived, count, thread_count, votes, voters).hash(state);
        }
    }
}

/// Wakes the groups of `warp` that wait at barrier `id`, with the result of the reduction they asked for.
fn release_warp(program: &Program, warp: &mut Warp, id: usize, reduction: BarrierReduction) {
    for group in &mut warp.groups {
        let GroupState::AtBarrier { id: at, pc } = group.state else { continue };
        if at as usize != id {
            continue;
        }
        group.state = GroupState::Ready;
        if let Op::Sync(SyncOp::Barrier { f, d, .. }) = program.code[pc.index()].op {
            write_reduction(&mut warp.registers, group, f, d, reduction);
        }
    }
}

fn write_reduction(registers: &mut Registers, group: &LaneGroup, f: BarrierFn, d: Dst, reduction: BarrierReduction) {
    assert!(reduction.votes <= reduction.voters && reduction.voters > 0, "a reduction of no predicate");
    if d.is_sink() {
        return;
    }
    let truth = match f {
        BarrierFn::Sync | BarrierFn::Arrive => return,
        BarrierFn::RedPopc => {
            registers.mark_written(group.frame, &[RegisterOperand { bank: Bank::B32, slot: d.0, width: 1 }], group.mask);
            let register = &mut registers.b32[d.0.in_frame(group.frame.b32).index()];
            group.mask.iter().for_each(|lane| register[lane] = reduction.votes);
            return;
        }
        BarrierFn::RedAnd => reduction.votes == reduction.voters,
        BarrierFn::RedOr => reduction.votes > 0,
    };
    registers.mark_written(group.frame, &[RegisterOperand { bank: Bank::Pred, slot: d.0, width: 1 }], group.mask);
    let bits = &mut registers.pred[d.0.in_frame(group.frame.pred).index()];
    *bits = if truth { *bits | group.mask } else { *bits & !group.mask };
}

/// Where a warp starts: its number in the block, the block's index and number, and the threads of the block.
pub(in crate::machine) type WarpPlace = (u32, [u32; 3], u64, u32);

/// Puts a warp at the start of its kernel in the place of the one with the same number, which has finished.
fn restart_warp(finished: &mut Arc<Warp>, program: &Program, prepared: &PreparedLaunch, place: WarpPlace) {
    match Arc::get_mut(finished) {
        Some(finished) => start_warp(finished, program, prepared, place),
        None => *finished = Arc::new(new_warp(program, prepared, place)),
    }
}

/// A warp at the start of its kernel.
pub(in crate::machine) fn new_warp(program: &Program, prepared: &PreparedLaunch, place: WarpPlace) -> Warp {
    let mut warp = Warp {
        registers: Registers::default(),
        local: LocalMemory::default(),
        specials: Arc::default(),
        groups: Groups::new(),
        simt_stack: None,
        live: LaneMask::NONE,
        copy_groups: CopyGroups::default(),
        wgmmas: WgmmaQueue::default(),
        streak: 0,
        may_spin: false,
    };
    start_warp(&mut warp, program, prepared, place);
    warp
}

/// Puts a warp at the start of its kernel, in the memory that it has.
fn start_warp(start: &mut Warp, program: &Program, prepared: &PreparedLaunch, (warp, index, number, threads): WarpPlace) {
    let Warp { registers, local, specials, groups, simt_stack, live, copy_groups, wgmmas, streak, may_spin } = start;
    let config = &prepared.config;
    let kernel = &program.functions[config.kernel.index()];
    let frame = FrameBase { local: map::LOCAL_BASE as u32, ..FrameBase::default() };
    special::set_fixed_values(Arc::make_mut(specials), prepared, index, number, warp);
    registers.restart(kernel.slots, prepared.writes.as_ref());
    *live = LaneMask::lowest(threads - warp * LANES as u32);
    assert!(!live.is_empty(), "a warp without threads");
    groups.clear();
    groups.push(LaneGroup {
        pc: Pc(kernel.code.start),
        mask: *live,
        frame,
        local_top: frame.local.saturating_add(kernel.frame_bytes),
        stack: None,
        state: GroupState::Ready,
        yielded: false,
        polled: Polled::default(),
    });
    *simt_stack = (config.divergence == DivergencePolicy::Stack).then(SimtStack::default);
    (*local, *copy_groups, *wgmmas) = Default::default();
    (*streak, *may_spin) = (0, false);
}

/// The lanes in which `source` is true, in the frame at `frame`.
#[inline(always)]
pub fn predicate(registers: &Registers, frame: FrameBase, source: PredSrc) -> LaneMask {
    match source {
        PredSrc::Const(value) => {
            if value {
                LaneMask::ALL
            } else {
                LaneMask::NONE
            }
        }
        PredSrc::Reg { slot, negate } => {
            let bits = registers.pred[slot.in_frame(frame.pred).index()];
            if negate { !bits } else { bits }
        }
    }
}
