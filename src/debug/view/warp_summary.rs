//! Summaries of the warps of a block and the blocks of the grid: running, waiting, or exited.

use std::ops::Range;

use super::location::{LaneLocation, State, lane_locations};
use crate::debug::eval_context::{EvalContext, ThreadError};
use crate::debug::focus::{Focus, ThreadFilter};
use crate::machine::LaneMask;

/// Converged lanes of some warps: in all of them the same lanes at the same instruction in the same state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WarpSummaryRow {
    /// The warps, ascending.
    pub warps: Vec<u32>,
    /// True if this is the first row of these warps.
    pub is_first: bool,
    /// Number of groups (converged lanes) of each of the warps.
    pub groups: usize,
    /// The position of the lanes; none if all lanes have exited.
    pub location: Option<LaneLocation>,
    /// Lanes that have exited.
    pub exited: LaneMask,
    /// True if the focused lane is one of them.
    pub focused: bool,
}

/// Consecutive blocks, counted by state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockCell {
    /// Their numbers.
    pub blocks: Range<u64>,
    /// Blocks that have finished.
    pub finished: u64,
    /// Blocks that have not started.
    pub not_started: u64,
    /// Resident blocks with a thread that can run.
    pub running: u64,
    /// Resident blocks in which all threads wait.
    pub waiting: u64,
    /// True if the focused block is among them.
    pub focused: bool,
}

/// The warps of the focused block; warps in the same condition are one row.
///
/// # Errors
/// The block is not resident.
pub fn warp_summary(context: &EvalContext<'_>) -> Result<Vec<WarpSummaryRow>, ThreadError> {
    let block = context.block()?;
    let all = lane_locations(context, &ThreadFilter::of_block(&context.focus));
    let mut by_warp = all.chunk_by(|a, b| a.warp == b.warp).peekable();
    let mut summary_rows: Vec<(Vec<u32>, &[LaneLocation], LaneMask)> = Vec::new();
    for (warp, number) in block.warps.iter().zip(0..) {
        let groups = by_warp.next_if(|groups| groups.first().is_some_and(|first| first.warp == number)).unwrap_or(&[]);
        let exited = context.machine.lanes_of_warp(number) & !warp.live;
        let same = |(_, others, other_exited): &&mut (Vec<u32>, &[LaneLocation], LaneMask)| {
            *other_exited == exited && others.iter().map(key).eq(groups.iter().map(key))
        };
        match summary_rows.iter_mut().find(same) {
            Some((warps, _, _)) => warps.push(number),
            None => summary_rows.push((vec![number], groups, exited)),
        }
    }
    Ok(summary_rows.into_iter().flat_map(|(warps, groups, exited)| rows(context, &warps, groups, exited)).collect())
}

fn key(location: &LaneLocation) -> (LaneMask, u32, State, u32) {
    (location.lanes, location.pc.0, location.state, location.depth)
}

fn rows(context: &EvalContext<'_>, warps: &[u32], groups: &[LaneLocation], exited: LaneMask) -> Vec<WarpSummaryRow> {
    let focused = warps.contains(&context.focus.warp);
    let row = |(index, location): (usize, Option<LaneLocation>)| WarpSummaryRow {
        warps: warps.to_vec(),
        is_first: index == 0,
        groups: groups.len(),
        focused: focused && location.as_ref().is_none_or(|location| context.is_focused(location.lanes)),
        location,
        exited,
    };
    if groups.is_empty() {
        return vec![row((0, None))];
    }
    groups.iter().cloned().map(Some).enumerate().map(row).collect()
}

/// The blocks of the grid in at most `cells` cells with equal numbers of blocks.
pub fn block_map(context: &EvalContext<'_>, cells: u64) -> Vec<BlockCell> {
    let machine = context.machine;
    let (blocks, started) = (machine.block_count(), machine.blocks_started());
    let each = blocks.div_ceil(cells.max(1)).max(1);
    let resident: Vec<(u64, bool)> =
        machine.resident_blocks().map(|block| (block.number, block.warps.iter().any(|warp| warp.can_run()))).collect();
    let focused = machine.block_number(context.focus.block);
    let cell = |index: u64| {
        let range = index * each..((index + 1) * each).min(blocks);
        let here = || resident.iter().filter(|(number, _)| range.contains(number));
        let count = |can_run: bool| here().filter(|(_, can)| *can == can_run).count() as u64;
        let begun = range.end.min(started).saturating_sub(range.start);
        BlockCell {
            finished: begun.saturating_sub(here().count() as u64),
            not_started: (range.end - range.start) - begun,
            running: count(true),
            waiting: count(false),
            focused: focused.is_some_and(|focused| range.contains(&focused)),
            blocks: range,
        }
    };
    (0..blocks.div_ceil(each)).map(cell).collect()
}

/// The thread to focus for a row: the focused one if it is in the row, otherwise the lowest lane of the first warp.
pub fn thread_of(context: &EvalContext<'_>, row: &WarpSummaryRow) -> Focus {
    let warp = if row.warps.contains(&context.focus.warp) { context.focus.warp } else { row.warps.first().copied().unwrap_or(0) };
    let lanes = row.location.as_ref().map_or(LaneMask::NONE, |location| location.lanes);
    let lane = lanes.first() as u32;
    if row.focused { context.focus } else { Focus { warp, lane, frame: 0, ..context.focus } }
}
