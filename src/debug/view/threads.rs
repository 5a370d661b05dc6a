//! `info warps`, `info lanes` and `info threads`: where threads stand and what they do there.

use serde::Serialize;

use super::CodePlace;
use super::location::{LaneLocation, State, lane_locations};
use crate::debug::focus::ThreadFilter;
use crate::debug::roles::NamedWarps;
use crate::debug::scene::{Scene, SceneError};
use crate::machine::LaneMask;

/// Rows listed at most.
const ROWS: usize = 1000;

/// Lanes that stand together, with names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LaneGroupRow {
    /// The lanes.
    pub lanes: LaneMask,
    /// What they do.
    pub state: State,
    /// The mbarrier that they wait for: `full[1]`.
    pub mbarrier: Option<String>,
    /// The instruction they execute next or wait at.
    pub at: CodePlace,
    /// Whether the focused lane is one of them.
    pub focused: bool,
}

impl LaneGroupRow {
    fn new(scene: &Scene<'_>, location: &LaneLocation, focused: bool) -> Self {
        Self {
            lanes: location.lanes,
            state: location.state,
            mbarrier: location.mbarrier(scene),
            at: CodePlace::new(scene.program(), location.pc),
            focused,
        }
    }
}

/// The warps of a block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Warps {
    /// The block.
    pub block: [u32; 3],
    /// Its warps, those in the same condition in one row.
    pub rows: Vec<WarpRow>,
    /// Why the block is not on the machine, if it has been there.
    pub absent: Option<SceneError>,
}

/// Warps in the same condition: the same lanes at the same places in the same state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WarpRow {
    /// The warps.
    pub warps: NamedWarps,
    /// Where their lanes stand, the lowest lanes first; empty if all lanes have exited.
    pub groups: Vec<LaneGroupRow>,
    /// Whether the focused warp is one of them.
    pub focused: bool,
}

/// The warps of a block that pass `filter`.
///
/// # Errors
/// The block that the filter names, or else the focused one, is not in the grid or has not started.
pub fn warps(scene: &Scene<'_>, filter: &ThreadFilter) -> Result<Warps, SceneError> {
    let index = filter.block.unwrap_or(scene.focus.block);
    let block = scene.refocused(crate::debug::focus::Focus { block: index, ..scene.focus }).block();
    let (count, absent) = match block {
        Ok(block) => (block.warps.len() as u32, None),
        Err(error @ SceneError::Finished { .. }) => (scene.extents().warps(), Some(error)),
        Err(error) => return Err(error),
    };
    let filter = ThreadFilter { block: Some(index), ..*filter };
    let all = lane_locations(scene, &filter);
    let mut rows: Vec<(Vec<u32>, Vec<&LaneLocation>)> = Vec::new();
    for number in (0..count).filter(|warp| !filter.lanes_of(index, *warp).is_empty()) {
        let own: Vec<&LaneLocation> = all.iter().filter(|location| location.warp == number).collect();
        let same = |other: &[&LaneLocation]| other.iter().map(|location| key(location)).eq(own.iter().map(|location| key(location)));
        match rows.iter_mut().find(|(_, other)| same(other)) {
            Some((warps, _)) => warps.push(number),
            None => rows.push((vec![number], own)),
        }
    }
    let row = |(warps, groups): (Vec<u32>, Vec<&LaneLocation>)| {
        let focused = index == scene.focus.block && warps.contains(&scene.focus.warp);
        let group = |group: &&LaneLocation| LaneGroupRow::new(scene, group, focused && scene.is_focused(group.lanes));
        WarpRow { warps: scene.roles.named(&warps), groups: groups.iter().map(group).collect(), focused }
    };
    Ok(Warps { block: index, rows: rows.into_iter().map(row).collect(), absent })
}

/// What makes two warps alike: the same lanes at the same places in the same state.
fn key(location: &LaneLocation) -> (LaneMask, u32, State, u32) {
    (location.lanes, location.pc.0, location.state, location.depth)
}

/// Lanes of a warp that stand together and take part in the instruction there, or do not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LaneRow {
    /// The lanes.
    pub lanes: LaneMask,
    /// Indices in the block of their threads, ascending by lane.
    pub threads: Vec<[u32; 3]>,
    /// What they do; none if they have exited.
    pub group: Option<LaneGroupRow>,
    /// Whether a predicate turns them off for the instruction that the others execute next.
    pub is_off: bool,
    /// Whether the focused lane is one of them.
    pub focused: bool,
}

/// The lanes of a warp, those that stand together in one row.
///
/// # Errors
/// The warp that the filter names, or else the focused one, is not on the machine.
pub fn lanes(scene: &Scene<'_>, filter: &ThreadFilter) -> Result<Vec<LaneRow>, SceneError> {
    let (block, warp) = (filter.block.unwrap_or(scene.focus.block), filter.warp.unwrap_or(scene.focus.warp));
    let scene = &scene.refocused(crate::debug::focus::Focus { block, warp, ..scene.focus });
    let live = scene.warp()?.live;
    let wanted = filter.lanes.unwrap_or(LaneMask::ALL);
    let row = |lanes: LaneMask, location: Option<&LaneLocation>, is_off| {
        let group = |location: &LaneLocation| LaneGroupRow { lanes, ..LaneGroupRow::new(scene, location, scene.is_focused(lanes)) };
        LaneRow {
            lanes,
            threads: lanes.iter().map(|lane| scene.machine.thread_of(warp, lane as u32)).collect(),
            group: location.map(group),
            is_off,
            focused: scene.is_focused(lanes),
        }
    };
    let mut rows = Vec::new();
    let own = ThreadFilter { block: Some(block), warp: Some(warp), lanes: Some(wanted) };
    for location in lane_locations(scene, &own) {
        let mut parts = [(location.lanes & !location.off, false), (location.off, true)];
        parts.sort_by_key(|(lanes, _)| lanes.first());
        let parts = parts.into_iter().filter(|(lanes, _)| !lanes.is_empty());
        rows.extend(parts.map(|(lanes, is_off)| row(lanes, Some(&location), is_off)));
    }
    let exited = scene.machine.lanes_of_warp(warp) & wanted & !live;
    rows.extend((!exited.is_empty()).then(|| row(exited, None, false)));
    Ok(rows)
}

/// The threads on the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Threads {
    /// Those of a block that stand at the same place in one row, block by block.
    pub rows: Vec<ThreadRow>,
    /// Rows that are left out.
    pub left_out: usize,
}

/// Threads of a block that stand together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ThreadRow {
    /// The block.
    pub block: [u32; 3],
    /// The warps, of which the same lanes stand there.
    pub warps: NamedWarps,
    /// How many threads they are.
    pub threads: usize,
    /// Which lanes, and where they stand.
    pub group: LaneGroupRow,
}

/// All threads on the machine that pass `filter`.
pub fn threads(scene: &Scene<'_>, filter: &ThreadFilter) -> Threads {
    let mut found = Threads { rows: Vec::new(), left_out: 0 };
    let all = lane_locations(scene, filter);
    for block in all.chunk_by(|a, b| a.block == b.block) {
        let mut rows: Vec<(&LaneLocation, Vec<u32>)> = Vec::new();
        for location in block {
            match rows.iter_mut().find(|(other, _)| key(other) == key(location)) {
                Some((_, warps)) => warps.push(location.warp),
                None => rows.push((location, vec![location.warp])),
            }
        }
        let room = ROWS.saturating_sub(found.rows.len());
        found.left_out += rows.len().saturating_sub(room);
        found.rows.extend(rows.into_iter().take(room).map(|(location, warps)| {
            let focus = scene.focus;
            let focused = location.block == focus.block && warps.contains(&focus.warp) && scene.is_focused(location.lanes);
            ThreadRow {
                block: location.block,
                warps: scene.roles.named(&warps),
                threads: warps.len() * location.lanes.count() as usize,
                group: LaneGroupRow::new(scene, location, focused),
            }
        }));
    }
    found
}
