//! Why a phase of a barrier object does not end: what it misses, who would have to bring it, and what that one waits for.

use crate::isa::MbarrierFn;
use crate::machine::state::block::Block;
use crate::machine::state::in_flight::copy::AsyncCopy;
use crate::machine::state::lanes::lanes_in_words;
use crate::machine::state::machine::Machine;
use crate::machine::state::mbarrier::{Arrival, Contribution, Mbarrier};
use crate::machine::state::place::Place;
use crate::machine::state::warp::GroupState;
use crate::program::{AsyncOp, CopyOp, Inst, MbarrierOp, Op, Pc};

/// Contributions and copies named at most.
const NAMED: usize = 4;

/// What a group waits for that asks for the present phase of the barrier object at `address`.
pub(super) fn reason(machine: &Machine, block: &Block, address: u32) -> String {
    let name = machine.mbarrier_name(block, address);
    let Ok(barrier) = block.shared.mbarrier(address) else { return format!("waits for {name}") };
    let mut parts = vec![format!("waits for phase {} (parity {}) of {name}", barrier.phase, barrier.parity())];
    parts.extend(arrivals(machine, block, barrier));
    parts.extend(bytes(machine, barrier));
    parts.extend(in_flight(machine, block, address, barrier));
    parts.join("\n")
}

/// What is missing of arrivals, and where they came from before.
fn arrivals(machine: &Machine, block: &Block, barrier: &Mbarrier) -> Option<String> {
    if barrier.pending == 0 {
        return None;
    }
    let missing = format!("{} of {} arrivals are missing", barrier.pending, barrier.expected);
    let arrived = contributors(&barrier.arrivals, is_arrival);
    if !arrived.is_empty() {
        let names = arrived.iter().map(|place| whereabouts(machine, block, place));
        let for_nothing = if barrier.pending == barrier.expected { also_expected(machine, &arrived) } else { "" };
        return Some(format!("{missing}: {} arrived{for_nothing}", names.collect::<Vec<_>>().join(", ")));
    }
    let before = barrier.history.last().map_or(vec![], |phase| contributors(&phase.arrivals, is_arrival));
    if before.is_empty() {
        return Some(format!("{missing}: no thread has arrived{}", arrives_at(machine)));
    }
    let names = before.iter().map(|place| format!("{}, which {}", whereabouts(machine, block, place), doing(machine, place)));
    Some(format!("{missing}; in phase {} they came from {}", barrier.phase.saturating_sub(1), names.collect::<Vec<_>>().join(", ")))
}

/// Why arrivals that came bring the end of the phase no nearer (PTX ISA, "cp.async.mbarrier.arrive").
fn also_expected(machine: &Machine, arrived: &[Place]) -> &'static str {
    let program = machine.program();
    let raises = |place: &Place| match program.code.get(place.pc.index()).map(|inst| inst.op) {
        Some(Op::Async(AsyncOp::Copy { copy })) => matches!(program.copies.get(copy.index()), Some(CopyOp::Arrive { counted: false, .. })),
        _ => false,
    };
    let text = ", by cp.async.mbarrier.arrive without .noinc, which also raises the number that the phase waits for";
    if arrived.iter().any(raises) { text } else { "" }
}

/// Where the kernel's code arrives at barrier objects, whichever they are: `; mbarriers are arrived at in ring.ptx:48, ring.ptx:72`.
fn arrives_at(machine: &Machine) -> String {
    let program = machine.program();
    let arrives = |inst: &Inst| match inst.op {
        Op::Mbarrier(MbarrierOp::Update { f, .. }) => {
            !matches!(f, MbarrierFn::Init | MbarrierFn::Inval | MbarrierFn::ExpectTx | MbarrierFn::CompleteTx)
        }
        Op::Async(AsyncOp::Copy { copy }) => matches!(program.copies.get(copy.index()), Some(CopyOp::Arrive { .. })),
        _ => false,
    };
    let code = program.functions[machine.config().kernel.index()].code.clone();
    let pcs = code.filter(|pc| program.code.get(*pc as usize).is_some_and(arrives));
    let places: Vec<String> = pcs.take(NAMED).map(|pc| program.place(Pc(pc))).collect();
    if places.is_empty() { String::new() } else { format!("; the kernel arrives at mbarriers in {}", places.join(", ")) }
}

/// What is missing of bytes, who expects them and what came.
fn bytes(machine: &Machine, barrier: &Mbarrier) -> Option<String> {
    if barrier.bytes == 0 {
        return None;
    }
    let total = |pick: fn(Contribution) -> Option<u32>| {
        barrier.arrivals.iter().filter_map(|arrival| pick(arrival.what)).map(u64::from).sum::<u64>()
    };
    let expected = total(|what| if let Contribution::Expected(bytes) = what { Some(bytes) } else { None });
    let brought = total(|what| if let Contribution::Brought(bytes) = what { Some(bytes) } else { None });
    let missing = match u32::try_from(barrier.bytes) {
        Ok(missing) => format!("{missing} of {expected} bytes are missing"),
        Err(_) => format!("{} bytes more than expected came", barrier.bytes.unsigned_abs()),
    };
    let expects = barrier.arrivals.iter().filter(|arrival| matches!(arrival.what, Contribution::Expected(_)));
    let expects: Vec<String> = expects.take(NAMED).map(|arrival| by(machine, arrival)).collect();
    let brings = barrier.arrivals.iter().filter(|arrival| matches!(arrival.what, Contribution::Brought(_)));
    let brings: Vec<String> = brings.take(NAMED).map(|arrival| by(machine, arrival)).collect();
    let brought = if brought == 0 { "nothing came".to_string() } else { format!("{brought} came: {}", brings.join(", ")) };
    Some(format!("{missing}: expected {}; {brought}", expects.join(", ")))
}

/// The copies that will bring something, or that none will.
fn in_flight(machine: &Machine, block: &Block, address: u32, barrier: &Mbarrier) -> Option<String> {
    let slot = machine.slot_of(block)?;
    let copies = machine.copies.to_mbarrier(slot, address);
    if copies.is_empty() {
        return (barrier.bytes != 0).then(|| "no copy in flight completes on it".to_string());
    }
    let names = copies.iter().take(NAMED).map(|copy| format!("#{} ({})", copy.id, at(machine, copy)));
    Some(format!("in flight to it: {}; end one with 'complete N'", names.collect::<Vec<_>>().join(", ")))
}

fn at(machine: &Machine, copy: &AsyncCopy) -> String {
    machine.program().place(copy.issued.pc)
}

/// `at ring.ptx:88 by warp 0 lane 0, time 12`
fn by(machine: &Machine, arrival: &Arrival) -> String {
    let Place { pc, tick, warp, .. } = arrival.place;
    let copy = arrival.copy.map_or(String::new(), |id| format!("copy #{id} "));
    format!("{copy}at {} by warp {warp} {}, time {tick}", machine.program().place(pc), lanes_in_words(arrival.lanes))
}

fn is_arrival(what: Contribution) -> bool {
    matches!(what, Contribution::Arrived(_) | Contribution::Dropped(_))
}

/// Where the warps that contributed did so, each once.
fn contributors(arrivals: &[Arrival], wanted: fn(Contribution) -> bool) -> Vec<Place> {
    let mut places: Vec<Place> = Vec::new();
    for arrival in arrivals.iter().filter(|arrival| wanted(arrival.what)) {
        if !places.iter().any(|place| (place.block, place.warp) == (arrival.place.block, arrival.place.warp)) {
            places.push(arrival.place);
        }
    }
    places.truncate(NAMED);
    places
}

/// `warp 3 (ring.ptx:112)`, with its block if that is another one.
fn whereabouts(machine: &Machine, block: &Block, place: &Place) -> String {
    let [x, y, z] = place.block;
    let elsewhere = if place.block == block.index { String::new() } else { format!("block ({x},{y},{z}) ") };
    format!("{elsewhere}warp {} ({})", place.warp, machine.program().place(place.pc))
}

/// What a warp that contributed before does now.
fn doing(machine: &Machine, place: &Place) -> String {
    let Some(block) = machine.block(place.block) else { return "has exited".to_string() };
    let Some(warp) = block.warps.get(place.warp as usize).filter(|warp| warp.live != 0) else { return "has exited".to_string() };
    let Some(group) = warp.groups.first() else { return "has exited".to_string() };
    let at = |pc: Pc| machine.program().place(pc);
    match group.state {
        GroupState::AtMbarrier { address } => format!("waits for {} at {}", machine.mbarrier_name(block, address), at(group.pc)),
        GroupState::AtBarrier { id, pc } => format!("waits at barrier {id} at {}", at(pc)),
        GroupState::AtCluster { pc } => format!("waits at the barrier of the cluster at {}", at(pc)),
        _ => format!("stands at {}", at(group.pc)),
    }
}
