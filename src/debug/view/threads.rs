//! `info warps`, `info lanes` and `info threads`: the positions and states of threads.

use serde::Serialize;

use super::CodePlace;
use super::location::{LaneLocation, State, lane_locations};
use crate::debug::eval_context::{EvalContext, ThreadError};
use crate::debug::focus::ThreadFilter;
use crate::debug::roles::NamedWarps;
use crate::machine::LaneMask;

/// Most rows that are listed.
const ROWS: usize = 1000;

/// Converged lanes, with names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LaneGroupRow {
    /// The lanes.
    pub lanes: LaneMask,
    /// Their state.
    pub state: State,
    /// The mbarrier that they wait for: `full[1]`.
    pub mbarrier: Option<String>,
    /// The instruction they execute next or wait at.
    pub at: CodePlace,
    /// True if the focused lane is one of them.
    pub focused: bool,
}

impl LaneGroupRow {
    fn new(context: &EvalContext<'_>, location: &LaneLocation, focused: bool) -> Self {
        Self {
            lanes: location.lanes,
            state: location.state,
            mbarrier: location.mbarrier(context),
            at: CodePlace::new(context.program(), location.pc),
            focused,
        }
    }
}

/// The warps of a block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Warps {
    /// The block.
    pub block: [u32; 3],
    /// Its warps; warps in the same condition are one row.
    pub rows: Vec<WarpRow>,
    /// The reason that the block is not resident any more.
    pub absent: Option<ThreadError>,
}

/// Warps in the same condition: the same lanes at the same instructions in the same state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WarpRow {
    /// The warps.
    pub warps: NamedWarps,
    /// Their converged lanes, the lowest lanes first; empty if all lanes have exited.
    pub groups: Vec<LaneGroupRow>,
    /// True if the focused warp is one of them.
    pub focused: bool,
}

/// The warps of a block that match `filter`.
///
/// # Errors
/// The block of the filter, or the focused one without a filter, is not in the grid or has not started.
pub fn warps(context: &EvalContext<'_>, filter: &ThreadFilter) -> Result<Warps, ThreadError> {
    let index = filter.block.unwrap_or(context.focus.block);
    let block = context.refocused(crate::debug::focus::Focus { block: index, ..context.focus }).block();
    let (count, absent) = match block {
        Ok(block) => (block.warps.len() as u32, None),
        Err(error @ ThreadError::Finished { .. }) => (context.extents().warps(), Some(error)),
        Err(error) => return Err(error),
    };
    let filter = ThreadFilter { block: Some(index), ..*filter };
    let all = lane_locations(context, &filter);
    let mut rows: Vec<(Vec<u32>, Vec<&LaneLocation>)> = Vec::new();
    for number in (0..count).filter(|warp| !filter.lanes_of(index, *warp).is_empty()) {
        let locations: Vec<&LaneLocation> = all.iter().filter(|location| location.warp == number).collect();
        let same = |other: &[&LaneLocation]| other.iter().map(|location| key(location)).eq(locations.iter().map(|location| key(location)));
        match rows.iter_mut().find(|(_, other)| same(other)) {
            Some((warps, _)) => warps.push(number),
            None => rows.push((vec![number], locations)),
        }
    }
    let row = |(warps, groups): (Vec<u32>, Vec<&LaneLocation>)| {
        let focused = index == context.focus.block && warps.contains(&context.focus.warp);
        let group = |group: &&LaneLocation| LaneGroupRow::new(context, group, focused && context.is_focused(group.lanes));
        WarpRow { warps: context.roles.named(&warps), groups: groups.iter().map(group).collect(), focused }
    };
    Ok(Warps { block: index, rows: rows.into_iter().map(row).collect(), absent })
}

/// The comparison key of converged lanes: lanes, instruction, state and call depth.
fn key(location: &LaneLocation) -> (LaneMask, u32, State, u32) {
    (location.lanes, location.pc.0, location.state, location.depth)
}

/// Converged lanes of a warp with the same guard predicate for the next instruction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LaneRow {
    /// The lanes.
    pub lanes: LaneMask,
    /// Indices in the block of their threads, ascending by lane.
    pub threads: Vec<[u32; 3]>,
    /// Their position and state; none if they have exited.
    pub group: Option<LaneGroupRow>,
    /// True if their guard predicate is false for the next instruction.
    pub is_off: bool,
    /// True if the focused lane is one of them.
    pub focused: bool,
}

/// The lanes of a warp; converged lanes are one row.
///
/// # Errors
/// The warp of the filter, or the focused one without a filter, is not resident.
pub fn lanes(context: &EvalContext<'_>, filter: &ThreadFilter) -> Result<Vec<LaneRow>, ThreadError> {
    let (block, warp) = (filter.block.unwrap_or(context.focus.block), filter.representative_warp(&context.focus));
    let context = &context.refocused(crate::debug::focus::Focus { block, warp, ..context.focus });
    let live = context.warp()?.live;
    let filtered = filter.lanes.unwrap_or(LaneMask::ALL);
    let row = |lanes: LaneMask, location: Option<&LaneLocation>, is_off| {
        let group = |location: &LaneLocation| LaneGroupRow { lanes, ..LaneGroupRow::new(context, location, context.is_focused(lanes)) };
        LaneRow {
            lanes,
            threads: lanes.iter().map(|lane| context.machine.thread_of(warp, lane as u32)).collect(),
            group: location.map(group),
            is_off,
            focused: context.is_focused(lanes),
        }
    };
    let mut rows = Vec::new();
    let filter = ThreadFilter { block: Some(block), warp: Some(warp), warps: None, lanes: Some(filtered) };
    for location in lane_locations(context, &filter) {
        let mut by_predicate = [(location.lanes & !location.off, false), (location.off, true)];
        by_predicate.sort_by_key(|(lanes, _)| lanes.first());
        let by_predicate = by_predicate.into_iter().filter(|(lanes, _)| !lanes.is_empty());
        rows.extend(by_predicate.map(|(lanes, is_off)| row(lanes, Some(&location), is_off)));
    }
    let exited = context.machine.lanes_of_warp(warp) & filtered & !live;
    rows.extend((!exited.is_empty()).then(|| row(exited, None, false)));
    Ok(rows)
}

/// The resident threads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Threads {
    /// The rows in order of block; threads of a block at the same instruction are one row.
    pub rows: Vec<ThreadRow>,
    /// Number of omitted rows.
    pub left_out: usize,
}

/// Threads of a block at the same instruction in the same state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ThreadRow {
    /// The block.
    pub block: [u32; 3],
    /// The warps, each with the same lanes there.
    pub warps: NamedWarps,
    /// Number of threads.
    pub threads: usize,
    /// The lanes with their position and state.
    pub group: LaneGroupRow,
}

/// All resident threads that match `filter`.
pub fn threads(context: &EvalContext<'_>, filter: &ThreadFilter) -> Threads {
    let mut found = Threads { rows: Vec::new(), left_out: 0 };
    let all = lane_locations(context, filter);
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
            let focus = context.focus;
            let focused = location.block == focus.block && warps.contains(&focus.warp) && context.is_focused(location.lanes);
            ThreadRow {
                block: location.block,
                warps: context.roles.named(&warps),
                threads: warps.len() * location.lanes.count() as usize,
                group: LaneGroupRow::new(context, location, focused),
            }
        }));
    }
    found
}
