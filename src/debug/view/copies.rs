//! `info async`: the copies and matrix multiplications in flight, and the groups that they are in.

use serde::Serialize;

use super::mbarriers::name_at;
use super::{Actor, wgmmas};
use crate::base::WarpId;
use crate::debug::focus::ThreadFilter;
use crate::debug::names::place as names;
use crate::debug::roles::NamedWarps;
use crate::debug::scene::Scene;
use crate::isa::Space;
use crate::machine::{AsyncCopy, Block, CopyCompletion, CopyKind, Destination, GroupState, LaneGroup, LaneMask, MemoryOwner, Tick, Warp};
use crate::program::{AsyncOp, Op};

/// Copies listed at most.
const ROWS: usize = 200;

/// The copies and matrix multiplications in flight, and their groups.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InFlight {
    /// The block that it is about.
    pub block: [u32; 3],
    /// Copies and then matrix multiplications, by number.
    pub rows: Vec<FlightRow>,
    /// Rows that are left out.
    pub left_out: usize,
    /// The groups of each warp that has some in flight; warps that are alike together.
    pub groups: Vec<WarpGroups>,
    /// Copies that threads of other blocks issued and that do not reach this one.
    pub elsewhere: usize,
    /// The block that issued the first of those.
    pub elsewhere_first: Option<[u32; 3]>,
    /// Matrix multiplications in flight, those that are left out included; none if the module has none.
    pub wgmmas: Option<usize>,
    /// The name of the policy by which copies end as they are issued, if that is the one.
    pub ends_at_issue: Option<&'static str>,
}

/// A copy or a matrix multiplication in flight.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FlightRow {
    /// Its number.
    pub id: u64,
    /// Its kind.
    pub kind: FlightKind,
    /// Bytes that it reads.
    pub bytes: FlightBytes,
    /// The ranges that it reads.
    pub from: Vec<PlaceRange>,
    /// The ranges that it writes.
    pub to: Vec<PlaceRange>,
    /// Its completion mechanism.
    pub end: FlightEnd,
    /// When it was issued.
    pub issued: Tick,
    /// The lanes that issued it, and their instruction.
    pub by: Actor,
    /// Whether the focused lane is one of them; of a matrix multiplication, whether the focused warp has issued it.
    pub focused: bool,
}

/// A kind of operation in flight.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum FlightKind {
    /// `cp.async`.
    Lanes,
    /// `cp.async.bulk` and `cp.reduce.async.bulk`, without or with a tensor.
    Bulk {
        /// Whether a tensor map describes the memory.
        tensor: bool,
        /// Whether it reduces.
        reduces: bool,
        /// Its source.
        from: CopySide,
        /// Its destination.
        to: CopySide,
        /// Whether its source has been read.
        read: bool,
    },
    /// `st.async`, or if it reduces `red.async`.
    Store {
        /// Whether it reduces.
        reduces: bool,
    },
    /// The arrival of `cp.async.mbarrier.arrive`.
    Arrival,
    /// `wgmma.mma_async`, with its shape: `m64n8k16`.
    Wgmma(String),
}

/// An end of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum CopySide {
    /// Global memory.
    Global,
    /// Shared memory of the block that issued it.
    Shared,
    /// Shared memory of another block.
    Peer,
}

/// The bytes in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum FlightBytes {
    /// None: an arrival.
    None,
    /// The same number for each lane.
    PerLane {
        /// Lanes.
        lanes: u32,
        /// Bytes of each.
        bytes: u32,
    },
    /// The bytes of a lane's store.
    Store(u64),
    /// In all.
    All(u64),
}

/// Places by name, the first and the last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlaceRange {
    /// The start of the first: `A+0x8000`, `%f1`.
    pub first: String,
    /// The start of the last, if they do not touch.
    pub last: Option<String>,
}

/// The completion mechanism of a copy or a matrix multiplication.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum FlightEnd {
    /// An mbarrier.
    Mbarrier {
        /// Its name.
        name: String,
        /// The arrival in flight that waits for the copy, if that is what arrives there.
        arrival: Option<u64>,
    },
    /// A group of the warp.
    Group {
        /// The kind of its members.
        kind: GroupKind,
        /// Its number.
        number: u32,
        /// Whether it is not committed.
        open: bool,
    },
}

/// The copies and then the matrix multiplications that threads which pass `filter` issued, or else those of the focused block, and the
/// groups they are in.
pub fn copies(scene: &Scene<'_>, filter: &ThreadFilter) -> InFlight {
    let machine = scene.machine;
    let block = filter.block.unwrap_or(scene.focus.block);
    let own = issued_by(scene, filter);
    let multiplications = wgmmas::issued_by(scene, filter);
    let count = own.len() + multiplications.len();
    let policy = machine.config().copies;
    let elsewhere = || machine.in_flight().copies().filter(|copy| copy.issued.block != block && own.iter().all(|own| own.id != copy.id));
    let rows = own.iter().map(|copy| row(scene, copy)).chain(multiplications.iter().map(|wgmma| wgmmas::row(scene, wgmma)));
    InFlight {
        block,
        rows: rows.take(ROWS).collect(),
        left_out: count.saturating_sub(ROWS),
        groups: machine.block(block).map_or(Vec::new(), |block| groups(scene, block, filter)),
        elsewhere: elsewhere().count(),
        elsewhere_first: elsewhere().next().map(|copy| copy.issued.block),
        wgmmas: (!scene.program().wgmmas.is_empty()).then_some(multiplications.len()),
        ends_at_issue: policy.ends_at_issue().then(|| policy.row().name),
    }
}

/// The copies in flight that threads which pass `filter` issued, by number; of a whole block, also those of others that reach its shared
/// memory.
fn issued_by<'a>(scene: &Scene<'a>, filter: &ThreadFilter) -> Vec<&'a AsyncCopy> {
    let block = filter.block.unwrap_or(scene.focus.block);
    let is_whole = filter.warp.is_none() && filter.lanes.is_none();
    let reaches = |copy: &AsyncCopy| copy.work.owners().any(|owner| matches!(owner, MemoryOwner::Block { index, .. } if index == block));
    let wanted = |copy: &&AsyncCopy| match copy.issued.block == block {
        true => filter.lanes_of(block, copy.issued.warp.number()).intersects(copy.lanes),
        false => is_whole && reaches(copy),
    };
    let mut own: Vec<&AsyncCopy> = scene.machine.in_flight().copies().map(|copy| &**copy).filter(wanted).collect();
    own.sort_by_key(|copy| copy.id);
    own
}

fn row(scene: &Scene<'_>, copy: &AsyncCopy) -> FlightRow {
    let (lanes, issued) = (copy.lanes, copy.issued);
    FlightRow {
        id: copy.id,
        kind: kind(copy),
        bytes: bytes(copy),
        from: range(scene, |visit| copy.work.reads(lanes, visit)),
        to: range(scene, |visit| copy.work.writes(lanes, visit)),
        end: ends(scene, copy),
        issued: issued.tick,
        by: Actor::new(scene, issued, lanes),
        focused: issued.block == scene.focus.block && issued.warp == WarpId::new(scene.focus.warp) && scene.is_focused(lanes),
    }
}

fn kind(copy: &AsyncCopy) -> FlightKind {
    let side = |owner: MemoryOwner| match owner {
        MemoryOwner::Global => CopySide::Global,
        MemoryOwner::Block { index, .. } if index == copy.issued.block => CopySide::Shared,
        MemoryOwner::Block { .. } => CopySide::Peer,
    };
    let read = copy.read;
    match &copy.work {
        CopyKind::CpAsync(_) => FlightKind::Lanes,
        CopyKind::Bulk { from, to, reduction, .. } => {
            FlightKind::Bulk { tensor: false, reduces: reduction.is_some(), from: side(from.owner), to: side(to.owner), read }
        }
        CopyKind::Tensor(tensor) => {
            let mut loads = false;
            tensor.writes(|to, _| loads |= to.owner != MemoryOwner::Global);
            let (from, to) = if loads { (CopySide::Global, side(tensor.owner)) } else { (CopySide::Shared, CopySide::Global) };
            FlightKind::Bulk { tensor: true, reduces: !tensor.replaces(), from, to, read }
        }
        CopyKind::StAsync { reduction, .. } => FlightKind::Store { reduces: reduction.is_some() },
        CopyKind::CpAsyncArrive => FlightKind::Arrival,
    }
}

fn bytes(copy: &AsyncCopy) -> FlightBytes {
    match &copy.work {
        CopyKind::CpAsync(copies) => FlightBytes::PerLane { lanes: copy.lanes.count(), bytes: copies.bytes },
        CopyKind::Bulk { bytes, .. } => FlightBytes::All(u64::from(*bytes)),
        CopyKind::Tensor(tensor) => FlightBytes::All(tensor.shape.bytes()),
        CopyKind::StAsync { bytes, .. } => FlightBytes::Store(bytes.len() as u64),
        CopyKind::CpAsyncArrive => FlightBytes::None,
    }
}

/// Shows a visitor ranges of memory.
type Visit<'v> = &'v mut dyn FnMut(Destination, u64);

/// The starts of the ranges: of those that touch, the first.
fn range(scene: &Scene<'_>, show: impl FnOnce(Visit<'_>)) -> Vec<PlaceRange> {
    let mut ranges: Vec<(MemoryOwner, u64, u64)> = Vec::new();
    show(&mut |at, bytes| ranges.push((at.owner, at.address, bytes)));
    ranges.retain(|(_, _, bytes)| *bytes > 0);
    ranges.sort_by_key(|(_, address, _)| *address);
    let (Some((owner, start, _)), Some((_, last, _))) = (ranges.first(), ranges.last()) else { return Vec::new() };
    let in_a_row = ranges.windows(2).all(|pair| pair[0].1.saturating_add(pair[0].2) == pair[1].1);
    let name = |address: u64| place_of(scene, *owner, address);
    vec![PlaceRange { first: name(*start), last: (!in_a_row).then(|| name(*last)) }]
}

fn place_of(scene: &Scene<'_>, owner: MemoryOwner, address: u64) -> String {
    let MemoryOwner::Block { block_slot, index } = owner else { return names::place(scene, Space::Global, address) };
    let name = names::place(scene, Space::Shared, address);
    if index == scene.focus.block { name } else { format!("{name} of rank {}", scene.machine.rank_in_cluster(block_slot)) }
}

/// The completion mechanism of a copy.
fn ends(scene: &Scene<'_>, copy: &AsyncCopy) -> FlightEnd {
    match copy.ends {
        CopyCompletion::Mbarrier { owner, address, .. } => FlightEnd::Mbarrier { name: name_at(scene, owner, address), arrival: None },
        CopyCompletion::Group { bulk, number } => {
            if let Some((arrival, name)) = arrival_after(scene, copy) {
                return FlightEnd::Mbarrier { name, arrival: Some(arrival) };
            }
            let warp = warp_of(scene, copy);
            let open = warp.is_some_and(|warp| copy.lanes.iter().any(|lane| warp.copy_groups.committed(bulk)[lane] == number));
            FlightEnd::Group { kind: GroupKind::of_copies(bulk), number, open }
        }
    }
}

/// The arrival in flight that waits for a `cp.async`: its number, and the mbarrier that it arrives at.
fn arrival_after(scene: &Scene<'_>, copy: &AsyncCopy) -> Option<(u64, String)> {
    let mut later = scene.machine.in_flight().copies_of(copy.block_id.number, copy.issued.warp.number()).filter(|other| other.id > copy.id);
    let arrival = later.find(|other| matches!(other.work, CopyKind::CpAsyncArrive) && other.lanes.intersects(copy.lanes))?;
    match (&copy.work, arrival.ends) {
        (CopyKind::CpAsync(_), CopyCompletion::Mbarrier { owner, address, .. }) => Some((arrival.id, name_at(scene, owner, address))),
        _ => None,
    }
}

fn warp_of<'a>(scene: &Scene<'a>, copy: &AsyncCopy) -> Option<&'a Warp> {
    let block = scene.machine.block(copy.issued.block).filter(|block| block.number == copy.block_id.number)?;
    block.warps.get(copy.issued.warp.index()).map(|warp| &**warp)
}

/// The kind of a group's members.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum GroupKind {
    /// `cp.async`.
    Lanes,
    /// `cp.async.bulk`.
    Bulk,
    /// `wgmma.mma_async`.
    Wgmma,
}

impl GroupKind {
    fn of_copies(bulk: bool) -> Self {
        if bulk { Self::Bulk } else { Self::Lanes }
    }
}

/// The groups of some warps that have something in flight.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WarpGroups {
    /// The warps, whose groups are alike.
    pub warps: NamedWarps,
    /// The groups, the latest of each kind first.
    pub groups: Vec<AsyncGroup>,
}

/// The state of a group of copies or matrix multiplications of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct AsyncGroup {
    /// The kind of its members.
    pub kind: GroupKind,
    /// Its number.
    pub number: u32,
    /// Whether it is not committed.
    pub open: bool,
    /// The number of members in flight.
    pub members: usize,
    /// Whether lanes wait for it.
    pub awaited: bool,
    /// Whether it is committed and not waited for, but `cp.async.bulk.wait_group.read` has waited until its sources were read.
    pub read: bool,
}

/// The groups of the warps that pass `filter`.
fn groups(scene: &Scene<'_>, block: &Block, filter: &ThreadFilter) -> Vec<WarpGroups> {
    let mut kinds: Vec<(Vec<AsyncGroup>, Vec<u32>)> = Vec::new();
    for (warp, number) in block.warps.iter().zip(0..).filter(|(_, number)| !filter.lanes_of(block.index, *number).is_empty()) {
        let groups = groups_of(scene, block, warp, number);
        if groups.is_empty() {
            continue;
        }
        match kinds.iter_mut().find(|(other, _)| *other == groups) {
            Some((_, warps)) => warps.push(number),
            None => kinds.push((groups, vec![number])),
        }
    }
    kinds.into_iter().map(|(groups, warps)| WarpGroups { warps: scene.roles.named(&warps), groups }).collect()
}

/// The groups of a warp that have something in flight, the latest of each kind first.
fn groups_of(scene: &Scene<'_>, block: &Block, warp: &Warp, number: u32) -> Vec<AsyncGroup> {
    let mut groups: Vec<AsyncGroup> = wgmmas::groups(scene, (block.number, number), warp);
    for copy in scene.machine.in_flight().copies_of(block.number, number) {
        let CopyCompletion::Group { bulk, number } = copy.ends else { continue };
        let open = copy.lanes.iter().any(|lane| warp.copy_groups.committed(bulk)[lane] == number);
        let awaited = warp.groups.iter().any(|group| awaits(scene, warp, group, (bulk, number, copy.lanes)));
        let kind = GroupKind::of_copies(bulk);
        match groups.iter_mut().find(|group| (group.kind, group.number, group.open) == (kind, number, open)) {
            Some(group) => {
                group.members += 1;
                group.awaited |= awaited;
                group.read &= copy.read;
            }
            None => groups.push(AsyncGroup { kind, number, open, members: 1, awaited, read: copy.read }),
        }
    }
    groups.iter_mut().for_each(|group| group.read &= !group.open && !group.awaited);
    groups.sort_by_key(|group| (group.kind, std::cmp::Reverse(group.number)));
    groups
}

/// Whether lanes stand at an instruction that waits for a group of theirs.
fn awaits(scene: &Scene<'_>, warp: &Warp, group: &LaneGroup, (of_bulk, number, lanes): (bool, u32, LaneMask)) -> bool {
    let inst = scene.program().code.get(group.pc.index());
    let Some(Op::Async(AsyncOp::Wait { bulk, open, pending, .. })) = inst.map(|inst| &inst.op) else { return false };
    let committed = |lane: usize| warp.copy_groups.committed(of_bulk)[lane];
    let covers = |lane: usize| number < committed(lane).saturating_sub(*pending) || *open && number <= committed(lane);
    group.state == GroupState::AtCopies && *bulk == of_bulk && (lanes & group.mask).iter().any(covers)
}

/// The note on bytes that copies in flight will write.
pub fn in_flight(scene: &Scene<'_>, space: Space, address: u64, bytes: u64) -> Option<String> {
    let found = crate::debug::memory::locate(scene, space, address, bytes).ok()?;
    let owner = match found.space {
        Space::Global => MemoryOwner::Global,
        Space::Shared => {
            let block = scene.machine.block(found.owner.block)?;
            MemoryOwner::Block { block_slot: scene.machine.block_slot_of(block)?, index: block.index }
        }
        _ => return None,
    };
    let end = found.address.saturating_add(bytes);
    let meets = |copy: &AsyncCopy| {
        let mut meets = false;
        copy.work.writes(copy.lanes, |to, bytes| {
            meets |= to.owner == owner && to.address < end && found.address < to.address.saturating_add(bytes);
        });
        meets
    };
    let mut copies: Vec<&AsyncCopy> = scene.machine.in_flight().copies().map(|copy| &**copy).filter(|copy| meets(copy)).collect();
    copies.sort_by_key(|copy| copy.id);
    let place = |copy: &AsyncCopy| scene.program().place(copy.issued.pc);
    match copies.as_slice() {
        [] => None,
        [only] => Some(format!("in flight: copy #{} ({}) will write this", only.id, place(only))),
        [first, .., last] => {
            Some(format!("in flight: {} copies, #{} ({}) to #{}, will write this", copies.len(), first.id, place(first), last.id))
        }
    }
}
