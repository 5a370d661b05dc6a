//! Explains in words why a phase of an mbarrier does not end: the missing contributions, the warps that made them before, and what those
//! warps wait for.

use crate::base::Dim3;
use crate::debug::users_calls::place_with_line;
use crate::isa::MbarrierFn;
use crate::machine::{Activity, Contribution, IssuePoint, Mbarrier, MbarrierOperation, MbarrierWait};
use crate::program::{AsyncOp, CopyOp, FuncId, Inst, MbarrierOp, Op, Pc, Program};

/// Most contributions and copies that are listed.
const NAMED_MAX: usize = 4;

/// The reason that threads of the block at index `block` wait.
pub(super) fn reason(program: &Program, kernel: FuncId, block: [u32; 3], wait: &MbarrierWait) -> String {
    let name = &wait.name;
    let Some(barrier) = &wait.barrier else { return format!("waits for {name}") };
    let mut parts = vec![format!("waits for phase {} (parity {}) of {name}", barrier.phase, barrier.parity())];
    parts.extend(arrivals(program, kernel, block, wait, barrier));
    parts.extend(bytes((program, kernel), barrier));
    parts.extend(in_flight((program, kernel), wait, barrier));
    parts.join("\n")
}

/// The missing arrivals, and the instructions that arrived before.
fn arrivals(program: &Program, kernel: FuncId, block: [u32; 3], wait: &MbarrierWait, barrier: &Mbarrier) -> Option<String> {
    if barrier.pending == 0 {
        return None;
    }
    let missing = format!("{} of {} arrivals are missing", barrier.pending, barrier.expected);
    let arrived = Mbarrier::contributors(&barrier.operations);
    if !arrived.is_empty() {
        let names = arrived.iter().map(|place| whereabouts((program, kernel), block, place));
        let note = if barrier.pending == barrier.expected { also_expected(program, &arrived) } else { "" };
        return Some(format!("{missing}: {} arrived{note}", names.collect::<Vec<_>>().join(", ")));
    }
    if wait.before.is_empty() {
        return Some(format!("{missing}: no thread has arrived{}", arrives_at(program, kernel)));
    }
    let before = wait.before.iter();
    let names = before
        .map(|(place, activity)| format!("{}, which {}", whereabouts((program, kernel), block, place), doing((program, kernel), activity)));
    Some(format!("{missing}; in phase {} they came from {}", barrier.phase.saturating_sub(1), names.collect::<Vec<_>>().join(", ")))
}

/// A note if arrivals also raised the pending count, so that the phase came no nearer to its end (PTX ISA, "cp.async.mbarrier.arrive").
fn also_expected(program: &Program, arrived: &[IssuePoint]) -> &'static str {
    let raises = |place: &IssuePoint| {
        let Op::Async(AsyncOp::Copy { copy }) = program.code[place.pc.index()].op else { return false };
        matches!(program.copies[copy], CopyOp::Arrive { noinc: false, .. })
    };
    let text = ", by cp.async.mbarrier.arrive without .noinc, which also raises the number that the phase waits for";
    if arrived.iter().any(raises) { text } else { "" }
}

/// The instructions of the kernel that arrive at any mbarrier: `; the kernel arrives at mbarriers in ring.ptx:48, ring.ptx:72`.
fn arrives_at(program: &Program, kernel: FuncId) -> String {
    let arrives = |inst: &Inst| {
        if let Op::Mbarrier(MbarrierOp::Update { f, .. }) = inst.op {
            return !matches!(f, MbarrierFn::Init | MbarrierFn::Inval | MbarrierFn::ExpectTx | MbarrierFn::CompleteTx);
        }
        let Op::Async(AsyncOp::Copy { copy }) = inst.op else { return false };
        matches!(program.copies[copy], CopyOp::Arrive { .. })
    };
    let code = program.functions[kernel.index()].code.clone();
    let pcs = code.filter(|pc| program.code.get(*pc as usize).is_some_and(arrives));
    let places: Vec<String> = pcs.take(NAMED_MAX).map(|pc| place((program, kernel), Pc(pc))).collect();
    if places.is_empty() { String::new() } else { format!("; the kernel arrives at mbarriers in {}", places.join(", ")) }
}

/// The missing bytes, the operations that expected them, and the completed ones.
fn bytes(within: (&Program, FuncId), barrier: &Mbarrier) -> Option<String> {
    if barrier.tx_count == 0 {
        return None;
    }
    let total = |pick: fn(Contribution) -> Option<u32>| {
        barrier.operations.iter().filter_map(|operation| pick(operation.what)).map(u64::from).sum::<u64>()
    };
    let expected = total(|what| if let Contribution::ExpectTx(bytes) = what { Some(bytes) } else { None });
    let completed = total(|what| if let Contribution::CompleteTx(bytes) = what { Some(bytes) } else { None });
    let missing = match u32::try_from(barrier.tx_count) {
        Ok(missing) => format!("{missing} of {expected} bytes are missing"),
        Err(_) => format!("{} bytes more than expected came", barrier.tx_count.unsigned_abs()),
    };
    let expects = barrier.operations.iter().filter(|operation| matches!(operation.what, Contribution::ExpectTx(_)));
    let expects: Vec<String> = expects.take(NAMED_MAX).map(|operation| by(within, operation)).collect();
    let completes = barrier.operations.iter().filter(|operation| matches!(operation.what, Contribution::CompleteTx(_)));
    let completes: Vec<String> = completes.take(NAMED_MAX).map(|operation| by(within, operation)).collect();
    let completed = if completed == 0 { "none completed".to_string() } else { format!("{completed} completed: {}", completes.join(", ")) };
    Some(format!("{missing}: expected {}; {completed}", expects.join(", ")))
}

/// The copies in flight that will complete on it, or a note that there are none.
fn in_flight(within: (&Program, FuncId), wait: &MbarrierWait, barrier: &Mbarrier) -> Option<String> {
    if wait.copies.is_empty() {
        return (barrier.tx_count != 0).then(|| "no copy in flight completes on it".to_string());
    }
    let names = wait.copies.iter().take(NAMED_MAX).map(|(id, pc)| format!("#{id} at {}", place(within, *pc)));
    Some(format!("in flight to it: {}; end one with 'complete N'", names.collect::<Vec<_>>().join(", ")))
}

/// The place of an instruction that a kernel executes, with the user's line.
fn place((program, kernel): (&Program, FuncId), pc: Pc) -> String {
    place_with_line(program, Some(kernel), pc)
}

/// `at ring.ptx:88 by warp 0 lane 0, time 12`
fn by(within: (&Program, FuncId), operation: &MbarrierOperation) -> String {
    let IssuePoint { pc, tick, warp, .. } = operation.point;
    let copy = operation.copy.map_or(String::new(), |id| format!("copy #{id} "));
    format!("{copy}at {} by warp {warp} {}, time {tick}", place(within, pc), operation.lanes.describe())
}

/// `warp 3 at ring.ptx:112`, with its block if that is not the one at index `block`.
fn whereabouts(within: (&Program, FuncId), block: [u32; 3], point: &IssuePoint) -> String {
    let elsewhere = if point.block == block { String::new() } else { format!("block {} ", Dim3(point.block)) };
    format!("{elsewhere}warp {} at {}", point.warp, place(within, point.pc))
}

/// The present activity of a warp that contributed before.
fn doing(within: (&Program, FuncId), activity: &Activity) -> String {
    match activity {
        Activity::Exited => "has exited".to_string(),
        Activity::AtMbarrier(name, pc) => format!("waits for {name} at {}", place(within, *pc)),
        Activity::AtBarrier(id, pc) => format!("waits at barrier {id} at {}", place(within, *pc)),
        Activity::AtCluster(pc) => format!("waits at the barrier of the cluster at {}", place(within, *pc)),
        Activity::At(pc) => format!("stands at {}", place(within, *pc)),
    }
}
