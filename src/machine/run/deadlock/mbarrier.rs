//! The reason for which a phase of an mbarrier does not complete: the missing arrivals, the warps that arrived in the phase before, and
//! their present activity.

use crate::machine::state::block::Block;
use crate::machine::state::issue_point::IssuePoint;
use crate::machine::state::machine::Machine;
use crate::machine::state::mbarrier::Mbarrier;
use crate::machine::state::wait_reason::{Activity, MbarrierWait};
use crate::machine::state::warp::GroupState;

/// The wait reason of a group that waits for the current phase of the mbarrier at `address`.
pub(super) fn reason(machine: &Machine, block: &Block, address: u32) -> MbarrierWait {
    let name = machine.mbarrier_name(block, address);
    let barrier = block.shared.mbarrier(address).ok();
    let before = barrier.map_or(Vec::new(), |barrier| contributors_before(machine, barrier));
    let copies = barrier.and_then(|_| machine.block_slot_of(block)).map_or(Vec::new(), |block_slot| {
        let copies = machine.in_flight.to_mbarrier(block_slot, address);
        copies.iter().map(|copy| (copy.id, copy.issued.pc)).collect()
    });
    MbarrierWait { name, barrier: barrier.cloned(), before, copies }
}

/// The arrivals in the phase before, if arrivals are pending and there are none in the current phase.
fn contributors_before(machine: &Machine, barrier: &Mbarrier) -> Vec<(IssuePoint, Activity)> {
    if barrier.pending == 0 || !Mbarrier::contributors(&barrier.operations).is_empty() {
        return Vec::new();
    }
    let before = barrier.history.last().map_or(Vec::new(), |phase| Mbarrier::contributors(&phase.operations));
    before.into_iter().map(|point| (point, activity(machine, &point))).collect()
}

/// The present activity of the warp at `point`.
fn activity(machine: &Machine, point: &IssuePoint) -> Activity {
    let Some(block) = machine.block(point.block) else { return Activity::Exited };
    let Some(warp) = block.warps.get(point.warp.index()).filter(|warp| !warp.live.is_empty()) else { return Activity::Exited };
    let Some(group) = warp.groups.first() else { return Activity::Exited };
    match group.state {
        GroupState::AtMbarrier { address } => Activity::AtMbarrier(machine.mbarrier_name(block, address), group.pc),
        GroupState::AtBarrier { id, pc } => Activity::AtBarrier(id, pc),
        GroupState::AtCluster { pc } => Activity::AtCluster(pc),
        GroupState::Ready
        | GroupState::AtSync { .. }
        | GroupState::AtCopies
        | GroupState::AtWgmmas
        | GroupState::AtWarpgroup
        | GroupState::AtWarpSync { .. }
        | GroupState::AtReconvergence
        | GroupState::Deferred => Activity::At(group.pc),
    }
}
