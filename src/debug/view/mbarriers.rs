//! `info mbarriers`: the mbarriers of a block, the state of their phases, and the threads that wait for them.
//!
//! The parity that lanes wait for is not part of their state: it is an operand of the instruction at which they wait, and is read from
//! their registers.

use serde::Serialize;

use super::location::ThreadSet;
use super::{Actor, CodePlace};
use crate::debug::eval_context::{EvalContext, ThreadError};
use crate::debug::names::{memory_name as names, symbols};
use crate::debug::value::{Scalar, Type, Value};
use crate::isa::Space;
use crate::machine::{
    Block, Contribution, CopyCompletion, GroupState, LaneGroup, LaneMask, Mbarrier, MbarrierOperation, MemoryOwner, PerLane, Phase, Tick,
    Warp,
};
use crate::program::{MbarrierOp, Op, Pc};

/// An mbarrier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MbarrierView {
    /// `full[1]`; with the rank of its block if that is not the focused one.
    pub name: String,
    /// The block whose shared memory it is in.
    pub block: [u32; 3],
    /// Its address there.
    pub address: u32,
    /// Number of completed phases.
    pub phase: u64,
    /// Arrivals of the present phase, and its expected arrivals.
    pub arrivals: (u32, u32),
    /// Expected arrivals of the next phase, if different.
    pub next: Option<u32>,
    /// Transaction bytes of the present phase.
    pub bytes: TransactionBytes,
    /// Its eight bytes, if they were overwritten by other than mbarrier instructions.
    pub overwritten: Option<u64>,
    /// The waiting threads; those with the same parity and instruction are one row.
    pub waiters: Vec<MbarrierWaiter>,
    /// The tick of its initialization.
    pub made_at: Tick,
    /// The warp that initialized it, and its instruction.
    pub made_by: Actor,
    /// The operations of the present phase.
    pub actions: Vec<MbarrierAction>,
    /// Number of earlier operations of this phase that are not recorded.
    pub forgotten: u64,
    /// Copies in flight that will complete on it, by number.
    pub copies: Vec<u64>,
    /// The latest completed phases.
    pub history: Vec<EndedPhase>,
    /// True if the focused lane waits for it.
    pub focused: bool,
}

/// A completed phase of an mbarrier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EndedPhase {
    /// Its number.
    pub number: u64,
    /// The tick of its completion.
    pub ended: Tick,
    /// The operation that completed it.
    pub last: MbarrierAction,
}

/// Transaction bytes of a phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TransactionBytes {
    /// Expected bytes, if all operations of the phase are recorded.
    pub expected: Option<u64>,
    /// Expected bytes that are not completed yet (the tx-count); negative if more were completed.
    pub outstanding: i64,
    /// Bytes that copies in flight will complete.
    pub in_flight: u64,
}

/// Threads that wait at an mbarrier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MbarrierWaiter {
    /// The threads.
    pub threads: ThreadSet,
    /// The parity that they wait for; none if lanes differ.
    pub parity: Option<u32>,
    /// The instruction at which they wait.
    pub at: CodePlace,
}

/// An operation on an mbarrier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MbarrierAction {
    /// The tick at which it took effect.
    pub time: Tick,
    /// The lanes that executed it, or issued the copy, and their instruction.
    pub by: Actor,
    /// The contribution.
    pub what: Contribution,
    /// The copy that contributed, if the lanes did not.
    pub copy: Option<u64>,
}

/// The mbarriers of the focused block and of the other resident blocks of its cluster.
///
/// # Errors
/// The block is not resident.
pub fn mbarrier_views(context: &EvalContext<'_>) -> Result<Vec<MbarrierView>, ThreadError> {
    let own = context.block()?;
    let size = context.machine.config().blocks_of_cluster();
    let block_slot = context.machine.block_slot_of(own).ok_or(ThreadError::Finished { block: own.index })?;
    let first = block_slot - block_slot % size.max(1);
    let peers = (first..first.saturating_add(size)).filter(|peer| *peer != block_slot);
    let block_slots = std::iter::once(block_slot).chain(peers);
    let in_block_slot = |block_slot: u32| context.machine.block_in(block_slot).map(|block| (block_slot, block));
    let all = block_slots
        .filter_map(in_block_slot)
        .flat_map(|(block_slot, block)| block.shared.mbarriers().map(move |object| (block_slot, block, object)));
    Ok(all.map(|(block_slot, block, (address, object))| view(context, (block_slot, block), address, object)).collect())
}

impl MbarrierView {
    /// `full` of `full[1]`.
    pub fn array(&self) -> Option<&str> {
        self.name.split_once('[').map(|(array, _)| array)
    }
}

/// The address in the focused block's shared memory that a value denotes; for an array, its first address.
pub fn shared_address(context: &EvalContext<'_>, value: &Value) -> Option<u32> {
    let (space, address) = match value {
        Value::Array(array) => (array.space, array.address),
        Value::Scalar(Scalar { ty: Type::Pointer(space, _) | Type::SourcePointer(space, ..), bits }) => (*space, *bits as u64),
        Value::Source(source) => source.place?,
        Value::Scalar(Scalar { bits, .. }) => (Space::Shared, *bits as u64),
        Value::Lanes(_) | Value::Tensor(_) => return None,
    };
    match symbols::resolve(context.program(), space, address) {
        (Space::Shared, address) => u32::try_from(address).ok(),
        _ => None,
    }
}

fn view(context: &EvalContext<'_>, (block_slot, block): (u32, &Block), address: u32, object: &Mbarrier) -> MbarrierView {
    let copies = context.machine.in_flight().to_mbarrier(block_slot, address);
    let completed_bytes = |ends: CopyCompletion| if let CopyCompletion::Mbarrier { bytes, .. } = ends { u64::from(bytes) } else { 0 };
    let known = object.omitted == 0;
    let sum = |of: fn(Contribution) -> u32| object.operations.iter().map(|operation| u64::from(of(operation.what))).sum::<u64>();
    let arrived = u32::try_from(sum(arrivals)).unwrap_or(u32::MAX);
    let arrived = if known { arrived } else { object.expected.saturating_sub(object.pending) };
    let expected = arrived.saturating_add(object.pending);
    let state = context.group().ok().map(|group| group.state);
    MbarrierView {
        name: name_of(context, block, block_slot, address),
        block: block.index,
        address,
        phase: object.phase,
        arrivals: (arrived, expected),
        next: (expected != object.expected).then_some(object.expected),
        bytes: TransactionBytes {
            expected: known.then(|| sum(expected_bytes)),
            outstanding: i64::from(object.tx_count),
            in_flight: copies.iter().map(|copy| completed_bytes(copy.completion)).sum(),
        },
        overwritten: overwritten(block, address, object),
        waiters: waiters(context, block, address),
        made_at: object.init.tick,
        made_by: Actor::new(context, object.init, LaneMask::NONE),
        actions: object.operations.iter().map(|operation| action(context, operation)).collect(),
        forgotten: object.omitted,
        copies: copies.iter().map(|copy| copy.id).collect(),
        history: object.history.iter().map(|phase| ended(context, phase)).collect(),
        focused: block.index == context.focus.block && state == Some(GroupState::AtMbarrier { address }),
    }
}

/// `full[1]`, `full[1] of rank 2`.
fn name_of(context: &EvalContext<'_>, block: &Block, block_slot: u32, address: u32) -> String {
    let name = names::mbarrier(context, block, address);
    if block.index == context.focus.block { name } else { format!("{name} of rank {}", context.machine.rank_in_cluster(block_slot)) }
}

/// The mbarrier that a copy completes on.
pub(super) fn name_at(context: &EvalContext<'_>, owner: MemoryOwner, address: u32) -> String {
    let MemoryOwner::Block { block_slot, index } = owner else { return format!("{address:#x}") };
    let block = context.machine.block_in(block_slot).filter(|block| block.index == index);
    block.map_or_else(|| format!("{address:#x} of a block that has exited"), |block| name_of(context, block, block_slot, address))
}

fn overwritten(block: &Block, address: u32, object: &Mbarrier) -> Option<u64> {
    let mut bytes = [0; 8];
    block.shared.pages.read(u64::from(address), &mut bytes);
    Some(u64::from_le_bytes(bytes)).filter(|word| *word != object.word())
}

fn arrivals(what: Contribution) -> u32 {
    match what {
        Contribution::Arrived(count) | Contribution::Dropped(count) => count,
        Contribution::ExpectTx(_) | Contribution::CompleteTx(_) => 0,
    }
}

fn expected_bytes(what: Contribution) -> u32 {
    if let Contribution::ExpectTx(bytes) = what { bytes } else { 0 }
}

fn ended(context: &EvalContext<'_>, phase: &Phase) -> EndedPhase {
    EndedPhase { number: phase.number, ended: phase.ended, last: action(context, &phase.last) }
}

fn action(context: &EvalContext<'_>, operation: &MbarrierOperation) -> MbarrierAction {
    let MbarrierOperation { what, copy, .. } = *operation;
    MbarrierAction { time: operation.tick, by: Actor::new(context, operation.point, operation.lanes), what, copy }
}

/// Lanes of a block, by warp, that wait for the same parity at the same instruction.
struct WaiterGroup {
    parity: Option<u32>,
    pc: Pc,
    lanes: Vec<LaneMask>,
}

/// The threads that wait for the mbarrier at `address` of a block.
fn waiters(context: &EvalContext<'_>, block: &Block, address: u32) -> Vec<MbarrierWaiter> {
    let mut waiting: Vec<WaiterGroup> = Vec::new();
    for (number, warp) in block.warps.iter().enumerate() {
        for group in warp.groups.iter().filter(|group| group.state == GroupState::AtMbarrier { address }) {
            let (parity, pc) = (waited_parity(context, warp, group), group.pc);
            let mut lanes = vec![LaneMask::NONE; block.warps.len()];
            lanes[number] = group.mask;
            match waiting.iter_mut().find(|waiters| (waiters.parity, waiters.pc) == (parity, pc)) {
                Some(waiters) => waiters.lanes[number] |= group.mask,
                None => waiting.push(WaiterGroup { parity, pc, lanes }),
            }
        }
    }
    let row = |waiters: WaiterGroup| MbarrierWaiter {
        threads: ThreadSet::new(context, waiters.lanes.into_iter()),
        parity: waiters.parity,
        at: CodePlace::new(context.program(), waiters.pc),
    };
    waiting.into_iter().map(row).collect()
}

/// The parity that the lanes of a group wait for; none if they differ.
fn waited_parity(context: &EvalContext<'_>, warp: &Warp, group: &LaneGroup) -> Option<u32> {
    let inst = context.program().code.get(group.pc.index())?;
    let Op::Mbarrier(MbarrierOp::Wait { parity: by_parity, a, .. }) = inst.op else { return None };
    let words: PerLane<u64> = context.machine.operand_of(warp, group, a, !by_parity);
    // `test_wait` with a state has the phase in the highest bit, with a parity in the lowest.
    let parity = |lane: usize| if by_parity { words[lane] & 1 } else { words[lane] >> 63 };
    let mut parities = group.mask.iter().map(parity);
    let first = parities.next()?;
    parities.all(|other| other == first).then_some(first as u32)
}
