//! Descriptions of wait reasons, from the data that the machine reports for a deadlock.
//!
//! They need only the program and that data, so they can be made after the session has moved to another time.

mod mbarrier;

use crate::base::Dim3;
use crate::machine::{LaneMask, WaitReason, Waiter, WarpLanes};
use crate::program::{FuncId, Program};

/// The reason that lanes wait for other lanes of their warp.
const STACK: &str = "the warp has a stack, so its lanes cannot wait for each other";

/// The description of what converged lanes wait for in a launch of `kernel`.
pub fn reason(program: &Program, kernel: FuncId, waiter: &Waiter) -> String {
    match &waiter.reason {
        WaitReason::Runs => "still runs".to_string(),
        WaitReason::Spins => "spins forever".to_string(),
        WaitReason::Barrier { id, count, thread_count: wanted, missing } => barrier((*id, *count, *wanted), missing),
        WaitReason::Mbarrier(wait) => mbarrier::reason(program, kernel, waiter.point.block, wait),
        WaitReason::Copies => "waits for its copies, which end when you say 'complete N'".to_string(),
        WaitReason::Wgmmas => "waits for its matrix multiplications, which end when you say 'complete N'".to_string(),
        WaitReason::Warpgroup { group, missing } => {
            let missing: Vec<String> = missing.iter().map(|warp| format!("warp {warp}")).collect();
            format!("waits for wgmma group {group} of its warpgroup; not committed by {}", missing.join(", "))
        }
        WaitReason::Cluster(blocks) => {
            let missing = blocks.iter().map(|(block, missing)| format!("block {} {}", Dim3(*block), lanes_of_warps(missing)));
            format!("waits at the barrier of the cluster; not arrived: {}", missing.collect::<Vec<_>>().join(", "))
        }
        WaitReason::Lanes { mask, exited, elsewhere } => lanes(*mask, *exited, *elsewhere),
        WaitReason::Reconvergence(others) => format!("waits at the meeting point for {}; {STACK}", others.describe()),
        WaitReason::OtherSide(others) => format!("waits for its turn after {}; {STACK}", others.describe()),
    }
}

fn barrier((id, count, wanted): (u32, u32, Option<u32>), missing: &[WarpLanes]) -> String {
    let wanted = match wanted {
        Some(wanted) => format!("{count} of {wanted} threads have arrived"),
        None => "every thread that has not exited must arrive".to_string(),
    };
    let missing = match missing {
        [] => "no other thread is left".to_string(),
        missing => format!("not arrived: {}", lanes_of_warps(missing)),
    };
    format!("waits at barrier {id}: {wanted}; {missing}")
}

fn lanes(mask: Option<LaneMask>, exited: LaneMask, elsewhere: LaneMask) -> String {
    let of = mask.map_or(": all lanes of the warp must execute it".to_string(), |mask| format!(" of its mask {mask:#010x}"));
    let mut text = format!("waits for {}{of}", (exited | elsewhere).describe());
    if !exited.is_empty() {
        text += &format!("; {} {} exited", exited.describe(), if exited.count() == 1 { "has" } else { "have" });
    }
    if !elsewhere.is_empty() {
        text += &format!("; {} {} elsewhere", elsewhere.describe(), if elsewhere.count() == 1 { "stands" } else { "stand" });
    }
    text
}

/// `warp 1 all lanes, warp 3 lane 4`
fn lanes_of_warps(lanes: &[WarpLanes]) -> String {
    lanes.iter().map(|(warp, lanes)| format!("warp {warp} {}", lanes.describe())).collect::<Vec<_>>().join(", ")
}
