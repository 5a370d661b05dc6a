//! `info async`: the copies and matrix multiplications in flight, and their commit groups (async-groups).

use serde::Serialize;

use super::mbarriers::name_at;
use super::{Actor, wgmmas};
use crate::base::WarpId;
use crate::debug::eval_context::EvalContext;
use crate::debug::focus::ThreadFilter;
use crate::debug::names::memory_name as names;
use crate::debug::roles::NamedWarps;
use crate::isa::Space;
use crate::machine::{AsyncCopy, Block, CopyCompletion, CopyKind, GroupState, LaneGroup, LaneMask, MemoryAddress, MemoryOwner, Tick, Warp};
use crate::program::{AsyncOp, Op};

/// Most copies that are listed.
const ROWS: usize = 200;

/// The copies and matrix multiplications in flight, and their commit groups.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InFlight {
    /// The listed block.
    pub block: [u32; 3],
    /// Copies and then matrix multiplications, by number.
    pub rows: Vec<FlightRow>,
    /// Rows that are left out.
    pub left_out: usize,
    /// The commit groups of each warp that has some in flight; warps with equal groups are one row.
    pub groups: Vec<WarpGroups>,
    /// Number of copies issued by other blocks that do not access this one.
    pub elsewhere: usize,
    /// The block that issued the first of those.
    pub elsewhere_first: Option<[u32; 3]>,
    /// Number of matrix multiplications in flight, listed or not; none if the module has none.
    pub wgmmas: Option<usize>,
    /// The name of the completion policy if it completes copies at their issue.
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
    /// The tick of its issue.
    pub issued: Tick,
    /// The lanes that issued it, and their instruction.
    pub by: Actor,
    /// True if the focused lane issued it, or for a matrix multiplication the focused warp.
    pub focused: bool,
}

/// A kind of operation in flight.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum FlightKind {
    /// `cp.async`.
    Lanes,
    /// `cp.async.bulk` and `cp.reduce.async.bulk`, with or without a tensor.
    Bulk {
        /// True if a tensor map describes the memory.
        tensor: bool,
        /// True if it is a reduction.
        reduces: bool,
        /// Its source.
        from: CopySide,
        /// Its destination.
        to: CopySide,
        /// True if its source has been read.
        read: bool,
    },
    /// `st.async`, or `red.async`.
    Store {
        /// True for `red.async`.
        reduces: bool,
    },
    /// The arrival of `cp.async.mbarrier.arrive`.
    Arrival,
    /// `wgmma.mma_async`, with its shape: `m64n8k16`.
    Wgmma(String),
}

/// The source or the destination of a copy.
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
    /// The total.
    All(u64),
}

/// A range of memory or registers, by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlaceRange {
    /// Its start: `A+0x8000`, `%f1`.
    pub first: String,
    /// For several ranges that are not contiguous, the start of the last.
    pub last: Option<String>,
}

/// The completion mechanism of a copy or a matrix multiplication.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum FlightEnd {
    /// An mbarrier.
    Mbarrier {
        /// Its name.
        name: String,
        /// The number of the `cp.async.mbarrier.arrive` in flight that waits for the copy, if that arrives on the mbarrier.
        arrival: Option<u64>,
    },
    /// A commit group of the warp.
    Group {
        /// The kind of its members.
        kind: GroupKind,
        /// Its number.
        number: u32,
        /// True if it is not committed yet.
        open: bool,
    },
}

/// The copies and matrix multiplications issued by the threads that match `filter` (by default those of the focused block), and their
/// commit groups.
pub fn copies(context: &EvalContext<'_>, filter: &ThreadFilter) -> InFlight {
    let machine = context.machine;
    let block = filter.block.unwrap_or(context.focus.block);
    let listed = issued_by(context, filter);
    let multiplications = wgmmas::issued_by(context, filter);
    let count = listed.len() + multiplications.len();
    let policy = machine.config().copies;
    let elsewhere =
        || machine.in_flight().copies().filter(|copy| copy.issued.block != block && listed.iter().all(|other| other.id != copy.id));
    let rows = listed.iter().map(|copy| row(context, copy)).chain(multiplications.iter().map(|wgmma| wgmmas::row(context, wgmma)));
    InFlight {
        block,
        rows: rows.take(ROWS).collect(),
        left_out: count.saturating_sub(ROWS),
        groups: machine.block(block).map_or(Vec::new(), |block| groups(context, block, filter)),
        elsewhere: elsewhere().count(),
        elsewhere_first: elsewhere().next().map(|copy| copy.issued.block),
        wgmmas: (!context.program().wgmmas.is_empty()).then_some(multiplications.len()),
        ends_at_issue: policy.ends_at_issue().then(|| policy.row().name),
    }
}

/// The copies in flight issued by the threads that match `filter`, by number. For a whole block, also the copies of other blocks that
/// access its shared memory.
fn issued_by<'a>(context: &EvalContext<'a>, filter: &ThreadFilter) -> Vec<&'a AsyncCopy> {
    let block = filter.block.unwrap_or(context.focus.block);
    let is_whole_block = filter.is_of_whole_blocks();
    let accesses = |copy: &AsyncCopy| copy.kind.owners().any(|owner| matches!(owner, MemoryOwner::Block { index, .. } if index == block));
    let is_listed = |copy: &&AsyncCopy| match copy.issued.block == block {
        true => filter.lanes_of(block, copy.issued.warp.number()).intersects(copy.lanes),
        false => is_whole_block && accesses(copy),
    };
    let mut copies: Vec<&AsyncCopy> = context.machine.in_flight().copies().map(|copy| &**copy).filter(is_listed).collect();
    copies.sort_by_key(|copy| copy.id);
    copies
}

fn row(context: &EvalContext<'_>, copy: &AsyncCopy) -> FlightRow {
    let (lanes, issued) = (copy.lanes, copy.issued);
    FlightRow {
        id: copy.id,
        kind: kind(copy),
        bytes: bytes(copy),
        from: range_names(context, |visit| copy.kind.visit_reads(lanes, visit)),
        to: range_names(context, |visit| copy.kind.visit_writes(lanes, visit)),
        end: ends(context, copy),
        issued: issued.tick,
        by: Actor::new(context, issued, lanes),
        focused: issued.block == context.focus.block && issued.warp == WarpId::new(context.focus.warp) && context.is_focused(lanes),
    }
}

fn kind(copy: &AsyncCopy) -> FlightKind {
    let side = |owner: MemoryOwner| match owner {
        MemoryOwner::Global => CopySide::Global,
        MemoryOwner::Block { index, .. } if index == copy.issued.block => CopySide::Shared,
        MemoryOwner::Block { .. } => CopySide::Peer,
    };
    let read = copy.read;
    match &copy.kind {
        CopyKind::CpAsync(_) => FlightKind::Lanes,
        CopyKind::Bulk { from, to, reduction, .. } => {
            FlightKind::Bulk { tensor: false, reduces: reduction.is_some(), from: side(from.owner), to: side(to.owner), read }
        }
        CopyKind::Tensor(tensor) => {
            let mut loads = false;
            tensor.visit_writes(|to, _| loads |= to.owner != MemoryOwner::Global);
            let (from, to) = if loads { (CopySide::Global, side(tensor.owner)) } else { (CopySide::Shared, CopySide::Global) };
            FlightKind::Bulk { tensor: true, reduces: !tensor.replaces(), from, to, read }
        }
        CopyKind::StAsync { reduction, .. } => FlightKind::Store { reduces: reduction.is_some() },
        CopyKind::CpAsyncArrive => FlightKind::Arrival,
    }
}

fn bytes(copy: &AsyncCopy) -> FlightBytes {
    match &copy.kind {
        CopyKind::CpAsync(copies) => FlightBytes::PerLane { lanes: copy.lanes.count(), bytes: copies.bytes },
        CopyKind::Bulk { bytes, .. } => FlightBytes::All(u64::from(*bytes)),
        CopyKind::Tensor(tensor) => FlightBytes::All(tensor.shape.bytes()),
        CopyKind::StAsync { bytes, .. } => FlightBytes::Store(bytes.len() as u64),
        CopyKind::CpAsyncArrive => FlightBytes::None,
    }
}

/// A callback for ranges of memory: start and bytes.
type Visit<'v> = &'v mut dyn FnMut(MemoryAddress, u64);

/// The names of the ranges: one start if they are contiguous, otherwise the first and the last.
fn range_names(context: &EvalContext<'_>, show: impl FnOnce(Visit<'_>)) -> Vec<PlaceRange> {
    let mut ranges: Vec<(MemoryOwner, u64, u64)> = Vec::new();
    show(&mut |at, bytes| ranges.push((at.owner, at.address, bytes)));
    ranges.retain(|(_, _, bytes)| *bytes > 0);
    ranges.sort_by_key(|(_, address, _)| *address);
    let (Some((owner, start, _)), Some((_, last, _))) = (ranges.first(), ranges.last()) else { return Vec::new() };
    let is_contiguous = ranges.windows(2).all(|pair| pair[0].1.saturating_add(pair[0].2) == pair[1].1);
    let name = |address: u64| place_of(context, *owner, address);
    vec![PlaceRange { first: name(*start), last: (!is_contiguous).then(|| name(*last)) }]
}

fn place_of(context: &EvalContext<'_>, owner: MemoryOwner, address: u64) -> String {
    let MemoryOwner::Block { block_slot, index } = owner else { return names::address_name(context, Space::Global, address) };
    let name = names::address_name(context, Space::Shared, address);
    if index == context.focus.block { name } else { format!("{name} of rank {}", context.machine.rank_in_cluster(block_slot)) }
}

/// The completion mechanism of a copy.
fn ends(context: &EvalContext<'_>, copy: &AsyncCopy) -> FlightEnd {
    match copy.completion {
        CopyCompletion::Mbarrier { owner, address, .. } => FlightEnd::Mbarrier { name: name_at(context, owner, address), arrival: None },
        CopyCompletion::Group { bulk, number } => {
            if let Some((arrival, name)) = arrival_after(context, copy) {
                return FlightEnd::Mbarrier { name, arrival: Some(arrival) };
            }
            let warp = warp_of(context, copy);
            let open = warp.is_some_and(|warp| copy.lanes.iter().any(|lane| warp.copy_groups.committed(bulk)[lane] == number));
            FlightEnd::Group { kind: GroupKind::of_copies(bulk), number, open }
        }
    }
}

/// The `cp.async.mbarrier.arrive` in flight that waits for a `cp.async`: its number, and its mbarrier.
fn arrival_after(context: &EvalContext<'_>, copy: &AsyncCopy) -> Option<(u64, String)> {
    let mut later =
        context.machine.in_flight().copies_of(copy.block_id.number, copy.issued.warp.number()).filter(|other| other.id > copy.id);
    let arrival = later.find(|other| matches!(other.kind, CopyKind::CpAsyncArrive) && other.lanes.intersects(copy.lanes))?;
    match (&copy.kind, arrival.completion) {
        (CopyKind::CpAsync(_), CopyCompletion::Mbarrier { owner, address, .. }) => Some((arrival.id, name_at(context, owner, address))),
        _ => None,
    }
}

fn warp_of<'a>(context: &EvalContext<'a>, copy: &AsyncCopy) -> Option<&'a Warp> {
    let block = context.machine.block(copy.issued.block).filter(|block| block.number == copy.block_id.number)?;
    block.warps.get(copy.issued.warp.index()).map(|warp| &**warp)
}

/// The kind of a commit group's members.
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

/// The commit groups of some warps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WarpGroups {
    /// The warps, which have equal groups.
    pub warps: NamedWarps,
    /// The groups, the latest of each kind first.
    pub groups: Vec<AsyncGroup>,
}

/// The state of a commit group of copies or matrix multiplications of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct AsyncGroup {
    /// The kind of its members.
    pub kind: GroupKind,
    /// Its number.
    pub number: u32,
    /// True if it is not committed yet.
    pub open: bool,
    /// The number of members in flight.
    pub members: usize,
    /// True if lanes wait for it.
    pub awaited: bool,
    /// True if it is committed, no lane waits for it, and all its sources have been read.
    pub read: bool,
}

/// The commit groups of the warps that match `filter`.
fn groups(context: &EvalContext<'_>, block: &Block, filter: &ThreadFilter) -> Vec<WarpGroups> {
    let mut rows: Vec<(Vec<AsyncGroup>, Vec<u32>)> = Vec::new();
    for (warp, number) in block.warps.iter().zip(0..).filter(|(_, number)| !filter.lanes_of(block.index, *number).is_empty()) {
        let groups = groups_of(context, block, warp, number);
        if groups.is_empty() {
            continue;
        }
        match rows.iter_mut().find(|(other, _)| *other == groups) {
            Some((_, warps)) => warps.push(number),
            None => rows.push((groups, vec![number])),
        }
    }
    rows.into_iter().map(|(groups, warps)| WarpGroups { warps: context.roles.named(&warps), groups }).collect()
}

/// The commit groups of a warp that have members in flight, the latest of each kind first.
fn groups_of(context: &EvalContext<'_>, block: &Block, warp: &Warp, number: u32) -> Vec<AsyncGroup> {
    let mut groups: Vec<AsyncGroup> = wgmmas::groups(context, (block.number, number), warp);
    for copy in context.machine.in_flight().copies_of(block.number, number) {
        let CopyCompletion::Group { bulk, number } = copy.completion else { continue };
        let open = copy.lanes.iter().any(|lane| warp.copy_groups.committed(bulk)[lane] == number);
        let awaited = warp.groups.iter().any(|group| awaits(context, warp, group, (bulk, number, copy.lanes)));
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

/// True if the converged lanes `group` are at an instruction that waits for the given commit group.
fn awaits(context: &EvalContext<'_>, warp: &Warp, group: &LaneGroup, (of_bulk, number, lanes): (bool, u32, LaneMask)) -> bool {
    let inst = context.program().code.get(group.pc.index());
    let Some(Op::Async(AsyncOp::Wait { bulk, uncommitted, pending, .. })) = inst.map(|inst| &inst.op) else { return false };
    let committed = |lane: usize| warp.copy_groups.committed(of_bulk)[lane];
    let covers = |lane: usize| number < committed(lane).saturating_sub(*pending) || *uncommitted && number <= committed(lane);
    group.state == GroupState::AtCopies && *bulk == of_bulk && (lanes & group.mask).iter().any(covers)
}

/// The note on bytes that copies in flight will write.
pub fn in_flight(context: &EvalContext<'_>, space: Space, address: u64, bytes: u64) -> Option<String> {
    let found = crate::debug::memory::locate(context, space, address, bytes).ok()?;
    let owner = match found.space {
        Space::Global => MemoryOwner::Global,
        Space::Shared => {
            let block = context.machine.block(found.owner.block)?;
            MemoryOwner::Block { block_slot: context.machine.block_slot_of(block)?, index: block.index }
        }
        _ => return None,
    };
    let end = found.address.saturating_add(bytes);
    let overlaps = |copy: &AsyncCopy| {
        let mut overlaps = false;
        copy.kind.visit_writes(copy.lanes, |to, bytes| {
            overlaps |= to.owner == owner && to.address < end && found.address < to.address.saturating_add(bytes);
        });
        overlaps
    };
    let mut copies: Vec<&AsyncCopy> = context.machine.in_flight().copies().map(|copy| &**copy).filter(|copy| overlaps(copy)).collect();
    copies.sort_by_key(|copy| copy.id);
    let place = |copy: &AsyncCopy| context.program().place(copy.issued.pc);
    match copies.as_slice() {
        [] => None,
        [only] => Some(format!("in flight: copy #{} ({}) will write this", only.id, place(only))),
        [first, .., last] => {
            Some(format!("in flight: {} copies, #{} ({}) to #{}, will write this", copies.len(), first.id, place(first), last.id))
        }
    }
}
