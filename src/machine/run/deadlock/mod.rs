//! The reason for which a run cannot continue: every waiting group with its wait reason.

mod mbarrier;

use triomphe::Arc;

use crate::base::WarpId;
use crate::machine::exec::wgmma_groups::awaited_groups;
use crate::machine::state::barrier::Barrier;
use crate::machine::state::block::Block;
use crate::machine::state::in_flight::warpgroup::WARPS;
use crate::machine::state::issue_point::IssuePoint;
use crate::machine::state::lanes::LaneMask;
use crate::machine::state::machine::Machine;
use crate::machine::state::trap::{Deadlock, Waiter};
use crate::machine::state::wait_reason::{WaitReason, WarpLanes};
use crate::machine::state::warp::{GroupState, LaneGroup, Warp};

/// The maximum number of waiters that are listed.
const WAITERS_MAX: usize = 64;

/// Describes a machine on which threads remain and no group makes progress.
pub(in crate::machine) fn explain(machine: &Machine) -> Deadlock {
    let waiters = machine.resident_blocks().flat_map(|block| waiters_of(machine, block)).take(WAITERS_MAX).collect();
    Deadlock { tick: machine.tick(), waiters, unstarted: machine.end - machine.started }
}

fn waiters_of<'a>(machine: &'a Machine, block: &'a Block) -> impl Iterator<Item = Waiter> + 'a {
    block.warps.iter().enumerate().flat_map(move |(number, warp)| {
        warp.groups.iter().map(move |group| {
            let point = IssuePoint { pc: group.current_pc(), tick: machine.tick(), block: block.index, warp: WarpId::new(number as u32) };
            Waiter { point, lanes: group.mask, reason: reason(machine, block, warp, group) }
        })
    })
}

fn reason(machine: &Machine, block: &Block, warp: &Warp, group: &LaneGroup) -> WaitReason {
    match group.state {
        GroupState::Ready => WaitReason::Spins,
        GroupState::AtBarrier { id, .. } => barrier_reason(block, id),
        GroupState::AtMbarrier { address } => WaitReason::Mbarrier(Box::new(mbarrier::reason(machine, block, address))),
        GroupState::AtCopies => WaitReason::Copies,
        GroupState::AtWgmmas => WaitReason::Wgmmas,
        GroupState::AtWarpgroup => warpgroup_reason(machine, block, warp),
        GroupState::AtCluster { .. } => cluster_reason(machine, block),
        GroupState::AtReconvergence => WaitReason::Reconvergence(warp.blocking_lanes(group)),
        GroupState::Deferred => WaitReason::OtherSide(warp.blocking_lanes(group)),
        GroupState::AtSync { members } | GroupState::AtWarpSync { members, .. } => {
            let missing = members & !group.mask;
            let has_mask = machine.program().code.get(group.current_pc().index()).is_some_and(|inst| inst.op.has_member_mask());
            WaitReason::Lanes { mask: has_mask.then_some(members), exited: missing & !warp.live, elsewhere: missing & warp.live }
        }
    }
}

/// The wait reason of a group that the reconvergence stack blocks, if it does.
pub fn stack_wait(warp: &Warp, group: &LaneGroup) -> Option<WaitReason> {
    match group.state {
        GroupState::AtReconvergence => Some(WaitReason::Reconvergence(warp.blocking_lanes(group))),
        GroupState::Deferred => Some(WaitReason::OtherSide(warp.blocking_lanes(group))),
        GroupState::Ready
        | GroupState::AtBarrier { .. }
        | GroupState::AtMbarrier { .. }
        | GroupState::AtCopies
        | GroupState::AtWgmmas
        | GroupState::AtWarpgroup
        | GroupState::AtCluster { .. }
        | GroupState::AtSync { .. }
        | GroupState::AtWarpSync { .. } => None,
    }
}

fn cluster_reason(machine: &Machine, block: &Block) -> WaitReason {
    let block_slots = machine.blocks.iter().position(|block_slot| block_slot.as_ref().is_some_and(|other| other.number == block.number));
    let blocks = block_slots.map_or(&[][..], |block_slot| &machine.blocks[machine.cluster_block_slots(block_slot)]);
    let missing = blocks.iter().flatten().filter(|block| !block.is_at_cluster());
    let missing = missing.map(|block| (block.index, missing_lanes(block, |warp| block.cluster.arrived_of(warp))));
    WaitReason::Cluster(missing.collect())
}

/// The warps of the warpgroup that have not committed the wgmma-group for which a warp waits.
fn warpgroup_reason(machine: &Machine, block: &Block, warp: &Warp) -> WaitReason {
    let awaited = awaited_groups(machine.program(), warp).unwrap_or(0);
    let is_own = |other: &Arc<Warp>| std::ptr::eq(&**other, warp);
    let first = block.warps.iter().position(is_own).unwrap_or(0) / WARPS as usize * WARPS as usize;
    let others = block.warps.iter().enumerate().skip(first).take(WARPS as usize);
    let missing = others.filter(|(_, other)| !other.live.is_empty() && other.wgmmas.committed() < awaited);
    WaitReason::Warpgroup { group: awaited.saturating_sub(1), missing: missing.map(|(number, _)| number as u32).collect() }
}

fn barrier_reason(block: &Block, id: u32) -> WaitReason {
    let barrier: &Barrier = &block.barriers[id as usize];
    let missing = missing_lanes(block, |warp| barrier.arrived.get(warp).copied().unwrap_or(LaneMask::NONE));
    WaitReason::Barrier { id, count: barrier.count, thread_count: barrier.thread_count, missing }
}

/// The lanes of a block that have neither exited nor arrived, by warp.
fn missing_lanes(block: &Block, arrived: impl Fn(usize) -> LaneMask) -> Vec<WarpLanes> {
    let lanes = block.warps.iter().enumerate().map(|(number, warp)| (number as u32, warp.live & !arrived(number)));
    lanes.filter(|(_, missing)| !missing.is_empty()).collect()
}
