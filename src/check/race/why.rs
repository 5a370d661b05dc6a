//! The reasons why the two sides of a race are not ordered, as text.

use super::access::Access;
use super::advice::{Language, is_same_thread};
use super::detector::Conflict;
use super::report::{LoopIterations, Relation};
use crate::check::catalogue::FindingId;
use crate::check::finding::ThreadDistance;
use crate::check::race::catalogue::{RACE_LOCKSTEP, RACE_PROXY, RACE_SAME_VALUE, RACE_SCOPE, RACE_SHARED_WAW, RACE_UNORDERED};
use crate::machine::Proxy;
use crate::order::{Agent, AsyncKind};

/// The reason why running in lockstep does not order two accesses.
pub(super) const WHY_REORDERED: &str = "the lanes run these instructions together, but one of them is plain, and ptxas moves a \
     load over a store that it sees to be to other bytes of its thread: volatile accesses keep their order, and so do any with a membar \
     between";

/// The reason why nothing orders the two sides of a conflict.
pub(super) fn why(id: FindingId, language: Language, relation: Relation, conflict: &Conflict, access: &Access) -> String {
    let first = &conflict.first;
    if id == RACE_PROXY {
        let unordered_proxy = [first, access].into_iter().find(|access| matches!(access.proxy, Proxy::ReadOnly | Proxy::Surface));
        return match unordered_proxy.unwrap_or(access).proxy {
            Proxy::Surface => {
                "accesses through a surface lie outside the memory model: what a launch writes need not be seen through one, nor what it \
                 writes through one otherwise"
                    .into()
            }
            Proxy::ReadOnly => {
                "it is read through the read-only path (ld.global.nc, or a texture), which need not see what the same launch writes".into()
            }
            Proxy::TensorMap => {
                "the two are ordered, but the tensor map was changed through the generic proxy, and the copy reads it through \
                                 the tensor map proxy: no fence.proxy.tensormap::generic.acquire lies between"
                    .into()
            }
            Proxy::Generic | Proxy::Async => {
                "the two are ordered, but the write went through the generic proxy and the copy reads or writes through the async proxy: \
                  no fence.proxy.async for this memory lies between"
                    .into()
            }
        };
    }
    if id == RACE_SAME_VALUE {
        return "no order is needed where all write the same: one of them wins, and the bytes are the same".into();
    }
    if id == RACE_LOCKSTEP {
        return "the lanes run these instructions together, as warps below sm_70 do; with independent scheduling nothing orders them"
            .into();
    }
    if id == RACE_UNORDERED {
        return "such accesses are no data race, but which value is read depends on the order in which the threads run".into();
    }
    if let Some(why) = why_async(first, access) {
        return why;
    }
    if id == RACE_SCOPE {
        return "they are ordered only by operations whose scope does not hold both threads".into();
    }
    if relation.sizes_differ {
        return "strong operations of different sizes that overlap are a mixed-size race: no axiom of the memory model holds for the program"
            .into();
    }
    let iteration =
        if relation.iterations == LoopIterations::Next { "it is the read in one turn of the loop and the write in the next; " } else { "" };
    let missing = match relation.distance {
        ThreadDistance::Instruction if id == RACE_SHARED_WAW && language == Language::Triton => {
            "lanes of one instruction write the same bytes, and not the same values: the compiler takes what each of them has reduced for \
             equal, which it is not to the last bit where multiplications are fused into the sums; which of them wins is not defined, so \
             the result depends on it"
        }
        ThreadDistance::Instruction => "lanes of one instruction write the same bytes: which of them wins is not defined",
        ThreadDistance::Warp => "lanes of a warp are not ordered by running together: no bar.warp.sync of both lies between",
        ThreadDistance::Block => "no barrier of both warps lies between, nor a release that the other one acquires",
        ThreadDistance::Cluster => "no barrier of the cluster lies between, nor a release in .cluster scope that the other block acquires",
        ThreadDistance::Grid => {
            "blocks of a grid run in any order: no release in .gpu scope by the one that the other acquires lies between"
        }
    };
    format!("{iteration}{missing}")
}

/// The reason why they are not ordered, if one is an asynchronous operation.
fn why_async(first: &Access, second: &Access) -> Option<String> {
    let copy = if first.op.agent == Agent::Threads { second } else { first };
    let same_thread = is_same_thread(first, second);
    let text = match copy.op.agent {
        Agent::Threads => return None,
        Agent::Async(AsyncKind::Wgmma) if first.op.agent == Agent::Threads => {
            "the wgmma was issued with nothing that orders it after the access".into()
        }
        _ if first.op.agent == Agent::Threads => "the copy was issued with nothing that orders it after the access".into(),
        Agent::Async(AsyncKind::Wgmma) => "the wgmma is in flight until wgmma.wait_group".into(),
        Agent::Async(AsyncKind::CpAsync) if same_thread => {
            "the copy is in flight until its thread waits for its group: cp.async.wait_group".into()
        }
        Agent::Async(AsyncKind::CpAsync) => {
            "a wait covers only the copies of the thread that waits: it must wait, and then both must meet".into()
        }
        Agent::Async(_) if second.copy != 0 && !same_thread => {
            "each thread waits for its own copies (cp.async.bulk.wait_group): the second is issued with nothing that orders it after the \
             end of the first"
                .into()
        }
        Agent::Async(_) => "the copy is in flight until its thread waits for its group: cp.async.bulk.wait_group".into(),
        Agent::Copy(_) => {
            "the copy is in flight until a thread observes the end of the mbarrier phase to which its complete_tx counts".into()
        }
    };
    Some(text)
}
