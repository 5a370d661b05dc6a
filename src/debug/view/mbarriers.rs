//! `info mbarriers`: the mbarriers of a block, how far their phases are, and the threads that wait for them.
//!
//! Which parity lanes wait for is no part of their state: it is an operand of the instruction that they wait at, and is read from their
//! registers.

use serde::Serialize;

use super::location::ThreadSet;
use super::{Actor, CodePlace};
use crate::debug::names::{place as names, symbols};
use crate::debug::scene::{Scene, SceneError};
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
    /// `full[1]`; with the rank of its block where that is not the focused one.
    pub name: String,
    /// The block whose shared memory it is in.
    pub block: [u32; 3],
    /// Where in it.
    pub address: u32,
    /// Phases that have ended.
    pub phase: u64,
    /// Arrivals of this phase, and how many it wants in all.
    pub arrivals: (u32, u32),
    /// Arrivals that the next phase will want, if that is another number.
    pub next: Option<u32>,
    /// Bytes of this phase.
    pub bytes: TransactionBytes,
    /// What its eight bytes read as, if that is not what the instructions left there.
    pub overwritten: Option<u64>,
    /// The threads that wait, those that wait for the same together.
    pub waiters: Vec<MbarrierWaiter>,
    /// When it was made.
    pub made_at: Tick,
    /// The warp that made it, and its instruction.
    pub made_by: Actor,
    /// What happened in this phase.
    pub actions: Vec<MbarrierAction>,
    /// Number of earlier actions of this phase.
    pub forgotten: u64,
    /// Copies in flight that will complete on it, by number.
    pub copies: Vec<u64>,
    /// The latest phases that have ended.
    pub history: Vec<EndedPhase>,
    /// Whether the focused lane waits for it.
    pub focused: bool,
}

/// A phase of an mbarrier that has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EndedPhase {
    /// Its number.
    pub number: u64,
    /// When it ended.
    pub ended: Tick,
    /// What ended it.
    pub last: MbarrierAction,
}

/// Transaction bytes of a phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TransactionBytes {
    /// Bytes that were expected, if that is still known.
    pub expected: Option<u64>,
    /// Of the bytes expected, those that have not come; negative if more have come.
    pub outstanding: i64,
    /// Bytes that copies in flight will bring.
    pub in_flight: u64,
}

/// Threads that wait at an mbarrier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MbarrierWaiter {
    /// The threads.
    pub threads: ThreadSet,
    /// The parity waited for; none where lanes differ.
    pub parity: Option<u32>,
    /// The instruction at which they wait.
    pub at: CodePlace,
}

/// Something that was done to an mbarrier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MbarrierAction {
    /// When it took effect.
    pub time: Tick,
    /// The lanes that did it, and their instruction; of a copy, those that issued it.
    pub by: Actor,
    /// What was done.
    pub what: Contribution,
    /// The copy that did it, if the lanes did not.
    pub copy: Option<u64>,
}

/// The mbarriers of the focused block, and those of other blocks of its cluster that exist.
///
/// # Errors
/// The block is not on the machine.
pub fn mbarrier_views(scene: &Scene<'_>) -> Result<Vec<MbarrierView>, SceneError> {
    let own = scene.block()?;
    let size = scene.machine.config().blocks_of_cluster();
    let block_slot = scene.machine.block_slot_of(own).ok_or(SceneError::Finished { block: own.index })?;
    let first = block_slot - block_slot % size.max(1);
    let peers = (first..first.saturating_add(size)).filter(|peer| *peer != block_slot);
    let block_slots = std::iter::once(block_slot).chain(peers);
    let in_block_slot = |block_slot: u32| scene.machine.block_in(block_slot).map(|block| (block_slot, block));
    let all = block_slots
        .filter_map(in_block_slot)
        .flat_map(|(block_slot, block)| block.shared.mbarriers().map(move |object| (block_slot, block, object)));
    Ok(all.map(|(block_slot, block, (address, object))| view(scene, (block_slot, block), address, object)).collect())
}

impl MbarrierView {
    /// `full` of `full[1]`.
    pub fn array(&self) -> Option<&str> {
        self.name.split_once('[').map(|(array, _)| array)
    }
}

/// The address in the focused block's shared memory that a value is, or lies at.
pub fn shared_address(scene: &Scene<'_>, value: &Value) -> Option<u32> {
    let (space, address) = match value {
        Value::Array(array) => (array.space, array.address),
        Value::Scalar(Scalar { ty: Type::Pointer(space, _), bits }) => (*space, *bits as u64),
        Value::Scalar(Scalar { bits, .. }) => (Space::Shared, *bits as u64),
        Value::Lanes(_) => return None,
    };
    match symbols::resolve(scene.program(), space, address) {
        (Space::Shared, address) => u32::try_from(address).ok(),
        _ => None,
    }
}

fn view(scene: &Scene<'_>, (block_slot, block): (u32, &Block), address: u32, object: &Mbarrier) -> MbarrierView {
    let copies = scene.machine.in_flight().to_mbarrier(block_slot, address);
    let brings = |ends: CopyCompletion| if let CopyCompletion::Mbarrier { bytes, .. } = ends { u64::from(bytes) } else { 0 };
    let known = object.omitted == 0;
    let sum = |of: fn(Contribution) -> u32| object.operations.iter().map(|operation| u64::from(of(operation.what))).sum::<u64>();
    let arrived = u32::try_from(sum(arrivals)).unwrap_or(u32::MAX);
    let arrived = if known { arrived } else { object.expected.saturating_sub(object.pending) };
    let wanted = arrived.saturating_add(object.pending);
    let state = scene.group().ok().map(|group| group.state);
    MbarrierView {
        name: name_of(scene, block, block_slot, address),
        block: block.index,
        address,
        phase: object.phase,
        arrivals: (arrived, wanted),
        next: (wanted != object.expected).then_some(object.expected),
        bytes: TransactionBytes {
            expected: known.then(|| sum(expected_bytes)),
            outstanding: i64::from(object.tx_count),
            in_flight: copies.iter().map(|copy| brings(copy.ends)).sum(),
        },
        overwritten: overwritten(block, address, object),
        waiters: waiters(scene, block, address),
        made_at: object.made.tick,
        made_by: Actor::new(scene, object.made, LaneMask::NONE),
        actions: object.operations.iter().map(|operation| action(scene, operation)).collect(),
        forgotten: object.omitted,
        copies: copies.iter().map(|copy| copy.id).collect(),
        history: object.history.iter().map(|phase| ended(scene, phase)).collect(),
        focused: block.index == scene.focus.block && state == Some(GroupState::AtMbarrier { address }),
    }
}

/// `full[1]`, `full[1] of rank 2`.
fn name_of(scene: &Scene<'_>, block: &Block, block_slot: u32, address: u32) -> String {
    let name = names::mbarrier(scene, block, address);
    if block.index == scene.focus.block { name } else { format!("{name} of rank {}", scene.machine.rank_in_cluster(block_slot)) }
}

/// The mbarrier that a copy completes on.
pub(super) fn name_at(scene: &Scene<'_>, owner: MemoryOwner, address: u32) -> String {
    let MemoryOwner::Block { block_slot, index } = owner else { return format!("{address:#x}") };
    let block = scene.machine.block_in(block_slot).filter(|block| block.index == index);
    block.map_or_else(|| format!("{address:#x} of a block that has exited"), |block| name_of(scene, block, block_slot, address))
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

fn ended(scene: &Scene<'_>, phase: &Phase) -> EndedPhase {
    EndedPhase { number: phase.number, ended: phase.ended, last: action(scene, &phase.last) }
}

fn action(scene: &Scene<'_>, operation: &MbarrierOperation) -> MbarrierAction {
    let MbarrierOperation { what, copy, .. } = *operation;
    MbarrierAction { time: operation.tick, by: Actor::new(scene, operation.place, operation.lanes), what, copy }
}

/// Lanes of a block, by warp, that wait for the same parity at the same instruction.
struct WaiterGroup {
    parity: Option<u32>,
    pc: Pc,
    lanes: Vec<LaneMask>,
}

/// The threads that wait for the mbarrier at `address` of a block.
fn waiters(scene: &Scene<'_>, block: &Block, address: u32) -> Vec<MbarrierWaiter> {
    let mut waiting: Vec<WaiterGroup> = Vec::new();
    for (number, warp) in block.warps.iter().enumerate() {
        for group in warp.groups.iter().filter(|group| group.state == GroupState::AtMbarrier { address }) {
            let (parity, pc) = (parity_awaited(scene, warp, group), group.pc);
            let mut lanes = vec![LaneMask::NONE; block.warps.len()];
            lanes[number] = group.mask;
            match waiting.iter_mut().find(|waiters| (waiters.parity, waiters.pc) == (parity, pc)) {
                Some(waiters) => waiters.lanes[number] |= group.mask,
                None => waiting.push(WaiterGroup { parity, pc, lanes }),
            }
        }
    }
    let row = |waiters: WaiterGroup| MbarrierWaiter {
        threads: ThreadSet::new(scene, waiters.lanes.into_iter()),
        parity: waiters.parity,
        at: CodePlace::new(scene.program(), waiters.pc),
    };
    waiting.into_iter().map(row).collect()
}

/// The parity that the lanes of a group wait for; none where they differ.
fn parity_awaited(scene: &Scene<'_>, warp: &Warp, group: &LaneGroup) -> Option<u32> {
    let inst = scene.program().code.get(group.pc.index())?;
    let Op::Mbarrier(MbarrierOp::Wait { parity: by_parity, a, .. }) = inst.op else { return None };
    let words: PerLane<u64> = scene.machine.operand_of(warp, group, a, !by_parity);
    // A state is given by its highest bit, a parity by its lowest.
    let parity = |lane: usize| if by_parity { words[lane] & 1 } else { words[lane] >> 63 };
    let mut parities = group.mask.iter().map(parity);
    let first = parities.next()?;
    parities.all(|other| other == first).then_some(first as u32)
}
