//! `info mbarriers`: the barrier objects of a block, how far their phases are, and who waits for them.
//!
//! Which parity lanes wait for is no part of their state: it is an operand of the instruction that they wait at, and is read from their
//! registers.

use super::standing::{lanes_if_some, threads_in_words};
use super::{Table, grouped, place};
use crate::base::Dim3;
use crate::debug::names::{place as names, symbols};
use crate::debug::scene::{Scene, SceneError};
use crate::debug::value::{Scalar, Type, Value};
use crate::isa::Space;
use crate::machine::{Arrival, Block, Contribution, Ends, GroupState, Home, LaneGroup, LaneMask, Mbarrier, PerLane, Place, Tick, Warp};
use crate::program::{MbarrierOp, Op, Pc};

/// A barrier object.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    /// Who waits, warps that wait for the same together.
    pub waiters: Vec<MbarrierWaiter>,
    /// Who made it.
    pub made: Deed,
    /// What happened in this phase.
    pub deeds: Vec<Deed>,
    /// Deeds of this phase before those.
    pub forgotten: u64,
    /// Copies in flight that will complete on it, by number.
    pub copies: Vec<u64>,
    /// The latest phases that have ended: number, time, and what ended it.
    pub history: Vec<(u64, Tick, Deed)>,
}

/// Transaction bytes of a phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TransactionBytes {
    /// Bytes that were expected, if that is still known.
    pub expected: Option<u64>,
    /// Of the bytes expected, those that have not come; negative if more have come.
    pub outstanding: i64,
    /// Bytes that copies in flight will bring.
    pub in_flight: u64,
}

/// Who waits at a barrier object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MbarrierWaiter {
    /// `consumer warps 1-3`.
    pub who: String,
    /// The parity waited for; none where lanes differ.
    pub parity: Option<u32>,
    /// Where they stand.
    pub at: String,
}

/// Something that was done to a barrier object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deed {
    /// When it took effect.
    pub time: Tick,
    /// `producer warp 0 lane 0`, with its block where that is not the object's.
    pub who: String,
    /// The instruction.
    pub at: String,
    /// What was done: `arrived 32 times`.
    pub what: String,
}

/// The barrier objects of the focused block, and those of other blocks of its cluster that somebody has.
///
/// # Errors
/// The block is not on the machine.
pub fn mbarrier_views(scene: &Scene<'_>) -> Result<Vec<MbarrierView>, SceneError> {
    let own = scene.block()?;
    let size = scene.machine.config().blocks_of_cluster();
    let slot = scene.machine.slot_of(own).unwrap_or(0);
    let first = slot - slot % size.max(1);
    let peers = (first..first.saturating_add(size)).filter(|peer| *peer != slot);
    let slots = std::iter::once(slot).chain(peers);
    let of_slot = |slot: u32| scene.machine.block_in(slot).map(|block| (slot, block));
    let all = slots.filter_map(of_slot).flat_map(|(slot, block)| block.shared.mbarriers().map(move |object| (slot, block, object)));
    Ok(all.map(|(slot, block, (address, object))| view(scene, (slot, block), address, object)).collect())
}

/// `info mbarriers`: a row for each.
///
/// # Errors
/// The block is not on the machine.
pub fn mbarriers(scene: &Scene<'_>) -> Result<Table, SceneError> {
    let views = mbarrier_views(scene)?;
    let mut table = Table::new(&["mbarrier", ">phase", ">parity", "arrivals", "bytes", "waiting (parity)", ">address"]);
    let group = scene.group().ok().map(|group| group.state);
    for view in views {
        let own = view.block == scene.focus.block && group == Some(GroupState::AtMbarrier { address: view.address });
        let phase = view.overwritten.map_or_else(|| view.phase.to_string(), |word| format!("overwritten: {word:#018x}"));
        let waiting: Vec<String> = view.waiters.iter().map(waiter).collect();
        let cells = [
            view.name.clone(),
            phase,
            (view.phase & 1).to_string(),
            format!("{} of {}", view.arrivals.0, view.arrivals.1),
            view.bytes.to_string(),
            if waiting.is_empty() { "none".to_string() } else { waiting.join(", ") },
            format!("{:#x}", view.address),
        ];
        table.push(own, cells);
    }
    Ok(table.or_note("this block has no mbarriers"))
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

/// `consumer warps 1-3 (0)`
fn waiter(waiter: &MbarrierWaiter) -> String {
    format!("{} ({})", waiter.who, waiter.parity.map_or("differs".to_string(), |parity| parity.to_string()))
}

impl std::fmt::Display for TransactionBytes {
    /// `16,368 of 16,384, 16 missing`
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let missing = self.outstanding.saturating_sub_unsigned(self.in_flight);
        let outstanding = grouped(self.outstanding.unsigned_abs());
        match self.expected {
            _ if self.outstanding < 0 => write!(f, "{outstanding} more than expected")?,
            Some(0) if self.in_flight > 0 => write!(f, "none expected")?,
            Some(0) => write!(f, "none")?,
            Some(expected) => {
                let come = expected.saturating_sub(self.outstanding.unsigned_abs());
                write!(f, "{} of {}", grouped(come), grouped(expected))?;
            }
            None => write!(f, "{outstanding} outstanding")?,
        }
        if self.in_flight > 0 {
            write!(f, ", {} in flight", grouped(self.in_flight))?;
        }
        if missing > 0 { write!(f, ", {} missing", grouped(missing.unsigned_abs())) } else { Ok(()) }
    }
}

fn view(scene: &Scene<'_>, (slot, block): (u32, &Block), address: u32, object: &Mbarrier) -> MbarrierView {
    let copies = scene.machine.in_flight().to_mbarrier(slot, address);
    let brings = |ends: Ends| if let Ends::Mbarrier { bytes, .. } = ends { u64::from(bytes) } else { 0 };
    let known = object.forgotten == 0;
    let sum = |of: fn(Contribution) -> u32| object.arrivals.iter().map(|arrival| u64::from(of(arrival.what))).sum::<u64>();
    let arrived = u32::try_from(sum(arrivals)).unwrap_or(u32::MAX);
    let arrived = if known { arrived } else { object.expected.saturating_sub(object.pending) };
    let wanted = arrived.saturating_add(object.pending);
    let deed = |place: Place, lanes, time, what| deed(scene, block, (place, lanes), time, what);
    let done = |arrival: &Arrival| deed(arrival.place, arrival.lanes, arrival.tick, in_words(arrival));
    MbarrierView {
        name: name_of(scene, block, slot, address),
        block: block.index,
        address,
        phase: object.phase,
        arrivals: (arrived, wanted),
        next: (wanted != object.expected).then_some(object.expected),
        bytes: TransactionBytes {
            expected: known.then(|| sum(expected_bytes)),
            outstanding: i64::from(object.bytes),
            in_flight: copies.iter().map(|copy| brings(copy.ends)).sum(),
        },
        overwritten: overwritten(block, address, object),
        waiters: waiters(scene, block, address),
        made: deed(object.made, LaneMask::NONE, object.made.tick, String::new()),
        deeds: object.arrivals.iter().map(done).collect(),
        forgotten: object.forgotten,
        copies: copies.iter().map(|copy| copy.id).collect(),
        history: object.history.iter().map(|phase| (phase.number, phase.ended, done(&phase.last))).collect(),
    }
}

/// `full[1]`, `full[1] of rank 2`.
fn name_of(scene: &Scene<'_>, block: &Block, slot: u32, address: u32) -> String {
    let name = names::mbarrier(scene, block, address);
    if block.index == scene.focus.block { name } else { format!("{name} of rank {}", scene.machine.rank_in_cluster(slot)) }
}

/// The barrier object that a copy completes on.
pub(super) fn name_at(scene: &Scene<'_>, home: Home, address: u32) -> String {
    let Home::Block { slot, index } = home else { return format!("{address:#x}") };
    let block = scene.machine.block_in(slot).filter(|block| block.index == index);
    block.map_or_else(|| format!("{address:#x} of a block that has exited"), |block| name_of(scene, block, slot, address))
}

fn overwritten(block: &Block, address: u32, object: &Mbarrier) -> Option<u64> {
    let mut bytes = [0; 8];
    block.shared.pages.read(u64::from(address), &mut bytes);
    Some(u64::from_le_bytes(bytes)).filter(|word| *word != object.word())
}

fn arrivals(what: Contribution) -> u32 {
    match what {
        Contribution::Arrived(count) | Contribution::Dropped(count) => count,
        Contribution::Expected(_) | Contribution::Brought(_) => 0,
    }
}

fn expected_bytes(what: Contribution) -> u32 {
    if let Contribution::Expected(bytes) = what { bytes } else { 0 }
}

/// `arrived 32 times`, `copy #14 brought 16384 bytes`
fn in_words(arrival: &Arrival) -> String {
    let times = |count: u32| if count == 1 { "once".to_string() } else { format!("{count} times") };
    let what = match arrival.what {
        Contribution::Arrived(count) => format!("arrived {}", times(count)),
        Contribution::Dropped(count) => format!("arrived {} and dropped out", times(count)),
        Contribution::Expected(bytes) => format!("expected {} bytes", grouped(u64::from(bytes))),
        Contribution::Brought(bytes) => format!("brought {} bytes", grouped(u64::from(bytes))),
    };
    arrival.copy.map_or(what.clone(), |copy| format!("copy #{copy} {what}"))
}

fn deed(scene: &Scene<'_>, block: &Block, (by, lanes): (Place, LaneMask), time: Tick, what: String) -> Deed {
    let foreign = if by.block == block.index { String::new() } else { format!("block {} ", Dim3(by.block)) };
    let lanes = if lanes.is_empty() { String::new() } else { lanes_if_some(lanes) };
    let who = format!("{foreign}{}{lanes}", scene.roles.warp(by.warp));
    Deed { time, who, at: place(scene.program(), by.pc), what }
}

/// Lanes of a block, by warp, that wait for the same parity at the same instruction.
struct Crowd {
    parity: Option<u32>,
    pc: Pc,
    lanes: Vec<LaneMask>,
}

/// Who waits for the barrier object at `address` of a block.
fn waiters(scene: &Scene<'_>, block: &Block, address: u32) -> Vec<MbarrierWaiter> {
    let mut crowds: Vec<Crowd> = Vec::new();
    for (number, warp) in block.warps.iter().enumerate() {
        for group in warp.groups.iter().filter(|group| group.state == GroupState::AtMbarrier { address }) {
            let (parity, pc) = (parity_awaited(scene, warp, group), group.pc);
            let mut lanes = vec![LaneMask::NONE; block.warps.len()];
            lanes[number] = group.mask;
            match crowds.iter_mut().find(|crowd| (crowd.parity, crowd.pc) == (parity, pc)) {
                Some(crowd) => crowd.lanes[number] |= group.mask,
                None => crowds.push(Crowd { parity, pc, lanes }),
            }
        }
    }
    let row = |crowd: Crowd| MbarrierWaiter {
        who: threads_in_words(scene, crowd.lanes.into_iter()),
        parity: crowd.parity,
        at: place(scene.program(), crowd.pc),
    };
    crowds.into_iter().map(row).collect()
}

/// The parity that the lanes of a group wait for; none where they differ.
fn parity_awaited(scene: &Scene<'_>, warp: &Warp, group: &LaneGroup) -> Option<u32> {
    let inst = scene.program().code.get(group.pc.index())?;
    let Op::Mbarrier(MbarrierOp::Wait { parity: by_parity, a, .. }) = inst.op else { return None };
    let words: PerLane<u64> = scene.machine.operand_of(warp, group, a, !by_parity);
    // A state is told by its highest bit, a parity by its lowest.
    let parity = |lane: usize| if by_parity { words[lane] & 1 } else { words[lane] >> 63 };
    let mut parities = group.mask.iter().map(parity);
    let first = parities.next()?;
    parities.all(|other| other == first).then_some(first as u32)
}
