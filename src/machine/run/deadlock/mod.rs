//! Why nobody can go on: every group, and what it waits for.

mod mbarrier;

use triomphe::Arc;

use crate::machine::exec::wgmma_groups::wanted_groups;
use crate::machine::state::barrier::Barrier;
use crate::machine::state::block::Block;
use crate::machine::state::in_flight::warpgroup::WARPS;
use crate::machine::state::lanes::lane_list;
use crate::machine::state::machine::Machine;
use crate::machine::state::place::Place;
use crate::machine::state::trap::{Stuck, Waiter};
use crate::machine::state::warp::{GroupState, LaneGroup, Warp};

/// Waiters listed at most.
const WAITERS: usize = 64;

/// Describes a machine on which no group is ready though threads are left.
pub(in crate::machine) fn explain(machine: &Machine) -> Stuck {
    let waiters = machine.resident_blocks().flat_map(|block| waiters_of(machine, block)).take(WAITERS).collect();
    Stuck { tick: machine.tick(), waiters, unstarted: machine.linked.blocks - machine.started }
}

fn waiters_of<'a>(machine: &'a Machine, block: &'a Block) -> impl Iterator<Item = Waiter> + 'a {
    block.warps.iter().enumerate().flat_map(move |(number, warp)| {
        warp.groups.iter().map(move |group| {
            let place = Place { pc: group.stands_at(), tick: machine.tick(), block: block.index, warp: number as u32 };
            Waiter { place, lanes: group.mask, reason: reason(machine, block, warp, group) }
        })
    })
}

fn reason(machine: &Machine, block: &Block, warp: &Warp, group: &LaneGroup) -> String {
    match group.state {
        GroupState::Ready => "spins forever".to_string(),
        GroupState::AtBarrier { id, .. } => barrier_reason(block, id),
        GroupState::AtMbarrier { address } => mbarrier::reason(machine, block, address),
        GroupState::AtCopies => "waits for its copies, which end when you say 'complete N'".to_string(),
        GroupState::AtWgmmas => "waits for its matrix multiplications, which end when you say 'complete N'".to_string(),
        GroupState::AtWarpgroup => warpgroup_reason(machine, block, warp),
        GroupState::AtCluster { .. } => cluster_reason(machine, block),
        GroupState::AtMeeting | GroupState::AwaitsTurn => held(warp, group).unwrap_or_default(),
        GroupState::AtSync { members } | GroupState::AtWarpSync { members, .. } => {
            let missing = members & !group.mask;
            let exited = missing & !warp.live;
            let elsewhere = missing & warp.live;
            let has_mask = machine.program().code.get(group.stands_at().index()).is_some_and(|inst| inst.op.has_member_mask());
            let mask =
                if has_mask { format!(" of its mask {members:#010x}") } else { ": all lanes of the warp must execute it".to_string() };
            let mut text = format!("waits for lanes {}{mask}", lane_list(missing));
            if exited != 0 {
                text += &format!("; lanes {} have exited", lane_list(exited));
            }
            if elsewhere != 0 {
                text += &format!("; lanes {} stand elsewhere", lane_list(elsewhere));
            }
            text
        }
    }
}

/// Why lanes are held by others of their warp.
const STACK: &str = "the warp has a stack, so its lanes cannot wait for each other";

/// Which other side of a branch keeps `group` from running, if one does.
pub fn held(warp: &Warp, group: &LaneGroup) -> Option<String> {
    let lanes = lane_list(warp.holding(group));
    match group.state {
        GroupState::AtMeeting => Some(format!("waits at the meeting point for lanes {lanes}; {STACK}")),
        GroupState::AwaitsTurn => Some(format!("waits for its turn after lanes {lanes}; {STACK}")),
        _ => None,
    }
}

fn cluster_reason(machine: &Machine, block: &Block) -> String {
    let slots = machine.blocks.iter().position(|slot| slot.as_ref().is_some_and(|other| other.number == block.number));
    let blocks = slots.map_or(&[][..], |slot| &machine.blocks[machine.cluster_slots(slot)]);
    let missing_of = |block: &Block| {
        let warps = block.warps.iter().enumerate();
        let missing = warps.filter_map(|(number, warp)| {
            let missing = warp.live & !block.cluster.arrived_of(number);
            (missing != 0).then(|| format!("warp {number} lanes {}", lane_list(missing)))
        });
        missing.collect::<Vec<_>>().join(", ")
    };
    let missing = blocks.iter().flatten().filter(|block| !block.is_at_cluster());
    let missing = missing.map(|block| {
        let [x, y, z] = block.index;
        format!("block ({x},{y},{z}) {}", missing_of(block))
    });
    format!("waits at the barrier of the cluster; not arrived: {}", missing.collect::<Vec<_>>().join(", "))
}

/// Which warps of the warpgroup have not committed what a warp waits for.
fn warpgroup_reason(machine: &Machine, block: &Block, warp: &Warp) -> String {
    let wanted = wanted_groups(machine.program(), warp).unwrap_or(0);
    let is_own = |other: &Arc<Warp>| std::ptr::eq(&**other, warp);
    let first = block.warps.iter().position(is_own).unwrap_or(0) / WARPS as usize * WARPS as usize;
    let others = block.warps.iter().enumerate().skip(first).take(WARPS as usize);
    let missing = others.filter(|(_, other)| other.live != 0 && other.wgmmas.committed() < wanted);
    let missing: Vec<String> = missing.map(|(number, _)| format!("warp {number}")).collect();
    format!("waits for wgmma group {} of its warpgroup; not committed by {}", wanted.saturating_sub(1), missing.join(", "))
}

fn barrier_reason(block: &Block, id: u32) -> String {
    let barrier: &Barrier = &block.barriers[id as usize];
    let missing: Vec<String> = block
        .warps
        .iter()
        .enumerate()
        .filter_map(|(number, warp)| {
            let missing = warp.live & !barrier.arrived.get(number).copied().unwrap_or(0);
            (missing != 0).then(|| format!("warp {number} lanes {}", lane_list(missing)))
        })
        .collect();
    let wanted = match barrier.wanted {
        Some(wanted) => format!("{} of {wanted} threads have arrived", barrier.count),
        None => "every thread that has not exited must arrive".to_string(),
    };
    let missing = if missing.is_empty() { "no other thread is left".to_string() } else { format!("not arrived: {}", missing.join(", ")) };
    format!("waits at barrier {id}: {wanted}; {missing}")
}
