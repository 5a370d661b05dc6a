//! `info async`: the copies and matrix multiplications in flight, and the groups that they are in.

use super::mbarriers::name_at;
use super::standing::lanes_if_some;
use super::{Table, grouped, place, wgmmas};
use crate::base::Dim3;
use crate::debug::focus::ThreadFilter;
use crate::debug::names::place as names;
use crate::debug::scene::Scene;
use crate::isa::Space;
use crate::machine::{AsyncCopy, Block, Destination, Ends, GroupState, Home, LaneGroup, LaneMask, Tick, Warp, Work};
use crate::program::{AsyncOp, Op};

/// Copies listed at most.
const ROWS: usize = 200;

/// The copies and then the matrix multiplications that threads which pass `filter` issued, or else those of the focused block, and below
/// them the groups they are in.
pub fn copies(scene: &Scene<'_>, filter: &ThreadFilter) -> Table {
    let machine = scene.machine;
    let mut table = Table::new(&[">copy", "kind", ">bytes", "from", "to", "completes on", ">issued", "by", "at"]);
    let index = filter.block.unwrap_or(scene.focus.block);
    let own = issued_by(scene, filter);
    for copy in own.iter().take(ROWS) {
        let focused = copy.issued.block == scene.focus.block && copy.issued.warp == scene.focus.warp && scene.is_focused(copy.lanes);
        table.push(focused, row(scene, index, copy));
    }
    let multiplications = wgmmas::issued_by(scene, filter);
    for wgmma in multiplications.iter().take(ROWS.saturating_sub(own.len())) {
        let focused = wgmma.issued.block == scene.focus.block && wgmma.issued.warp == scene.focus.warp;
        table.push(focused, wgmmas::row(scene, wgmma));
    }
    let count = own.len() + multiplications.len();
    let mut notes: Vec<String> = machine.block(index).map_or(Vec::new(), |block| groups(scene, block, filter));
    if count > ROWS {
        let more = if multiplications.is_empty() { "copies" } else { "in flight" };
        notes.push(format!("and {} more {more}", count - ROWS));
    }
    if count == 0 {
        notes.insert(0, nothing(scene, index));
    }
    let elsewhere = || machine.in_flight().copies().filter(|copy| copy.issued.block != index && own.iter().all(|own| own.id != copy.id));
    if let Some(first) = elsewhere().next() {
        let ([x, y, z], count) = (first.issued.block, elsewhere().count());
        let copies = if count == 1 { "copy" } else { "copies" };
        notes.push(format!("{count} {copies} of other blocks: 'info async block {x},{y},{z}'"));
    }
    table.note = (!notes.is_empty()).then(|| notes.join("\n"));
    table
}

/// When what [`copies`] lists was issued.
pub fn copies_issued(scene: &Scene<'_>, filter: &ThreadFilter) -> Vec<Tick> {
    let copies = issued_by(scene, filter).into_iter().map(|copy| copy.issued.tick);
    copies.chain(wgmmas::issued_by(scene, filter).into_iter().map(|wgmma| wgmma.issued.tick)).take(ROWS).collect()
}

/// The copies in flight that threads which pass `filter` issued, by number; of a whole block, also those of others that reach its shared
/// memory.
fn issued_by<'a>(scene: &Scene<'a>, filter: &ThreadFilter) -> Vec<&'a AsyncCopy> {
    let block = filter.block.unwrap_or(scene.focus.block);
    let is_whole = filter.warp.is_none() && filter.lanes.is_none();
    let reaches = |copy: &AsyncCopy| copy.work.homes().any(|home| matches!(home, Home::Block { index, .. } if index == block));
    let wanted = |copy: &&AsyncCopy| match copy.issued.block == block {
        true => filter.lanes_of(block, copy.issued.warp).meets(copy.lanes),
        false => is_whole && reaches(copy),
    };
    let mut own: Vec<&AsyncCopy> = scene.machine.in_flight().copies().map(|copy| &**copy).filter(wanted).collect();
    own.sort_by_key(|copy| copy.id);
    own
}

fn nothing(scene: &Scene<'_>, block: [u32; 3]) -> String {
    let policy = scene.machine.config().copies;
    let why =
        if policy.ends_at_issue() { format!(": with --async {}, copies end as they are issued", policy.row().name) } else { String::new() };
    let what = if scene.program().wgmmas.is_empty() { "no copy" } else { "no copy or wgmma" };
    format!("{what} of block {} is in flight{why}", Dim3(block))
}

fn row(scene: &Scene<'_>, block: [u32; 3], copy: &AsyncCopy) -> [String; 9] {
    let (lanes, issued) = (copy.lanes, copy.issued);
    let foreign = if issued.block == block { String::new() } else { format!("block {} ", Dim3(issued.block)) };
    [
        format!("#{}", copy.id),
        kind(copy),
        bytes(copy),
        range(scene, |visit| copy.work.reads(lanes, visit)),
        range(scene, |visit| copy.work.writes(lanes, visit)),
        ends(scene, copy),
        format!("t={}", grouped(issued.tick)),
        format!("{foreign}{}{}", scene.roles.warp(issued.warp), lanes_if_some(lanes)),
        place(scene.program(), issued.pc),
    ]
}

/// `bulk g→s`, `tensor g→s`, `cp.async`, `red.async`
fn kind(copy: &AsyncCopy) -> String {
    let side = |home: Home| match home {
        Home::Global => "g",
        Home::Block { index, .. } if index == copy.issued.block => "s",
        Home::Block { .. } => "peer",
    };
    match &copy.work {
        Work::Lanes(_) => "cp.async".to_string(),
        Work::Block { from, to, reduction, .. } => {
            let read = if copy.read { ", read" } else { "" };
            format!("{} {}→{}{read}", if reduction.is_some() { "bulk red" } else { "bulk" }, side(from.home), side(to.home))
        }
        Work::Box(tensor) => {
            let mut loads = false;
            tensor.writes(|to, _| loads |= to.home != Home::Global);
            let ways = if loads { format!("g→{}", side(tensor.home)) } else { "s→g".to_string() };
            let read = if copy.read { ", read" } else { "" };
            format!("{} {ways}{read}", if tensor.replaces() { "tensor" } else { "tensor red" })
        }
        Work::Store { reduction: Some(_), .. } => "red.async".to_string(),
        Work::Store { .. } => "st.async".to_string(),
        Work::Arrival => "arrive".to_string(),
    }
}

/// `16384`, `32 x 16`
fn bytes(copy: &AsyncCopy) -> String {
    match &copy.work {
        Work::Lanes(copies) => match copy.lanes.count() {
            1 => copies.bytes.to_string(),
            lanes => format!("{lanes} x {}", copies.bytes),
        },
        Work::Block { bytes, .. } => grouped(u64::from(*bytes)),
        Work::Box(tensor) => grouped(tensor.shape.bytes()),
        Work::Store { bytes, .. } => bytes.len().to_string(),
        Work::Arrival => String::new(),
    }
}

/// Shows a visitor ranges of memory.
type Visit<'v> = &'v mut dyn FnMut(Destination, u64);

/// `A+0x8000`: where the ranges start; `(rank 1) tile` in another block. With several that do not touch, `A+0x0 … A+0x700`.
fn range(scene: &Scene<'_>, show: impl FnOnce(Visit<'_>)) -> String {
    let mut ranges: Vec<(Home, u64, u64)> = Vec::new();
    show(&mut |at, bytes| ranges.push((at.home, at.address, bytes)));
    ranges.retain(|(_, _, bytes)| *bytes > 0);
    ranges.sort_by_key(|(_, address, _)| *address);
    let (Some((home, start, _)), Some((_, last, _))) = (ranges.first(), ranges.last()) else { return String::new() };
    let in_a_row = ranges.windows(2).all(|pair| pair[0].1.saturating_add(pair[0].2) == pair[1].1);
    let name = |address: u64| place_of(scene, *home, address);
    if in_a_row { name(*start) } else { format!("{} … {}", name(*start), name(*last)) }
}

fn place_of(scene: &Scene<'_>, home: Home, address: u64) -> String {
    let Home::Block { slot, index } = home else { return names::place(scene, Space::Global, address) };
    let name = names::place(scene, Space::Shared, address);
    if index == scene.focus.block { name } else { format!("{name} of rank {}", scene.machine.rank_in_cluster(slot)) }
}

/// What will say that a copy has ended.
fn ends(scene: &Scene<'_>, copy: &AsyncCopy) -> String {
    match copy.ends {
        Ends::Mbarrier { home, address, .. } => name_at(scene, home, address),
        Ends::Group { bulk, number } => {
            if let Some((arrival, name)) = arrival_behind(scene, copy) {
                return format!("{name} by #{arrival}");
            }
            let warp = warp_of(scene, copy);
            let open = warp.is_some_and(|warp| copy.lanes.iter().any(|lane| warp.copy_groups.committed(bulk)[lane] == number));
            let name = if bulk { "bulk group" } else { "group" };
            format!("{name} {number}{}", if open { " (open)" } else { "" })
        }
    }
}

/// The arrival in flight that waits for a `cp.async`: its number, and the mbarrier that it arrives at.
fn arrival_behind(scene: &Scene<'_>, copy: &AsyncCopy) -> Option<(u64, String)> {
    let mut later = scene.machine.in_flight().copies_of(copy.by.number, copy.issued.warp).filter(|other| other.id > copy.id);
    let arrival = later.find(|other| matches!(other.work, Work::Arrival) && other.lanes.meets(copy.lanes))?;
    match (&copy.work, arrival.ends) {
        (Work::Lanes(_), Ends::Mbarrier { home, address, .. }) => Some((arrival.id, name_at(scene, home, address))),
        _ => None,
    }
}

fn warp_of<'a>(scene: &Scene<'a>, copy: &AsyncCopy) -> Option<&'a Warp> {
    let block = scene.machine.block(copy.issued.block).filter(|block| block.number == copy.by.number)?;
    block.warps.get(copy.issued.warp as usize).map(|warp| &**warp)
}

/// What a group is of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum GroupKind {
    /// `cp.async`.
    Lanes,
    /// `cp.async.bulk`.
    Bulk,
    /// `wgmma.mma_async`.
    Wgmma,
}

/// What is known of a group of copies or matrix multiplications of a warp.
#[derive(PartialEq, Eq)]
pub(super) struct AsyncGroup {
    pub kind: GroupKind,
    pub number: u32,
    pub open: bool,
    pub members: usize,
    pub awaited: bool,
    /// `cp.async.bulk.wait_group.read` has waited until their sources were read.
    pub read: bool,
}

/// `warp 4: group 1 open (2 copies); group 0 committed (1 copy), not waited for`; warps alike in one line.
fn groups(scene: &Scene<'_>, block: &Block, filter: &ThreadFilter) -> Vec<String> {
    let mut lines: Vec<(String, Vec<u32>)> = Vec::new();
    for (warp, number) in block.warps.iter().zip(0..).filter(|(_, number)| !filter.lanes_of(block.index, *number).is_empty()) {
        let groups = groups_of(scene, block, warp, number);
        if groups.is_empty() {
            continue;
        }
        let text = groups.iter().map(group_in_words).collect::<Vec<_>>().join("; ");
        match lines.iter_mut().find(|(other, _)| *other == text) {
            Some((_, warps)) => warps.push(number),
            None => lines.push((text, vec![number])),
        }
    }
    lines.into_iter().map(|(text, warps)| format!("{}: {text}", scene.roles.warps(&warps))).collect()
}

fn group_in_words(group: &AsyncGroup) -> String {
    let AsyncGroup { kind, number, open, members, awaited, read } = group;
    let (name, one, many) = match kind {
        GroupKind::Lanes => ("group", "copy", "copies"),
        GroupKind::Bulk => ("bulk group", "copy", "copies"),
        GroupKind::Wgmma => ("wgmma group", "wgmma", "wgmmas"),
    };
    let count = format!("{members} {}", if *members == 1 { one } else { many });
    match (open, awaited) {
        (true, false) => format!("{name} {number} open ({count})"),
        (true, true) => format!("{name} {number} open ({count}), waited for"),
        (false, true) => format!("{name} {number} committed ({count}), waited for"),
        (false, false) if *read => format!("{name} {number} committed ({count}), reads waited for"),
        (false, false) => format!("{name} {number} committed ({count}), not waited for"),
    }
}

/// The groups of a warp that have something in flight, the latest of each kind first.
fn groups_of(scene: &Scene<'_>, block: &Block, warp: &Warp, number: u32) -> Vec<AsyncGroup> {
    let mut groups: Vec<AsyncGroup> = wgmmas::groups(scene, (block.number, number), warp);
    for copy in scene.machine.in_flight().copies_of(block.number, number) {
        let Ends::Group { bulk, number } = copy.ends else { continue };
        let open = copy.lanes.iter().any(|lane| warp.copy_groups.committed(bulk)[lane] == number);
        let awaited = warp.groups.iter().any(|group| awaits(scene, warp, group, (bulk, number, copy.lanes)));
        let kind = if bulk { GroupKind::Bulk } else { GroupKind::Lanes };
        match groups.iter_mut().find(|group| (group.kind, group.number, group.open) == (kind, number, open)) {
            Some(group) => {
                group.members += 1;
                group.awaited |= awaited;
                group.read &= copy.read;
            }
            None => groups.push(AsyncGroup { kind, number, open, members: 1, awaited, read: copy.read }),
        }
    }
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

/// What must be said of bytes that are shown: that copies in flight will write them.
pub fn in_flight(scene: &Scene<'_>, space: Space, address: u64, bytes: u64) -> Option<String> {
    let found = crate::debug::memory::locate(scene, space, address, bytes).ok()?;
    let home = match found.space {
        Space::Global => Home::Global,
        Space::Shared => {
            let block = scene.machine.block(found.owner.block)?;
            Home::Block { slot: scene.machine.slot_of(block)?, index: block.index }
        }
        _ => return None,
    };
    let end = found.address.saturating_add(bytes);
    let meets = |copy: &AsyncCopy| {
        let mut meets = false;
        copy.work.writes(copy.lanes, |to, bytes| {
            meets |= to.home == home && to.address < end && found.address < to.address.saturating_add(bytes);
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
