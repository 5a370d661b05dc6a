//! The warps of a block and the blocks of the grid at a glance: which run, wait, or have exited.

use std::ops::Range;

use super::location::{LaneLocation, State, lane_locations};
use crate::debug::focus::{Focus, ThreadFilter};
use crate::debug::scene::{Scene, SceneError};
use crate::machine::LaneMask;

/// Lanes of some warps that stand together: in all of these warps the same lanes at the same place in the same state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WarpSummaryRow {
    /// The warps, ascending.
    pub warps: Vec<u32>,
    /// Whether this is the first row about them.
    pub is_first: bool,
    /// Groups of lanes that each of the warps has.
    pub groups: usize,
    /// Where the lanes stand; none if all lanes have exited.
    pub location: Option<LaneLocation>,
    /// Lanes that have exited.
    pub exited: LaneMask,
    /// Whether the focused lane is one of them.
    pub focused: bool,
}

/// Some blocks in order of launch, and how many are in which state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockCell {
    /// Their numbers.
    pub blocks: Range<u64>,
    /// Have finished.
    pub finished: u64,
    /// Have not started.
    pub not_started: u64,
    /// Are on the machine, and some thread can run.
    pub running: u64,
    /// Are on the machine, and all threads wait.
    pub waiting: u64,
    /// Whether the focused block is among them.
    pub focused: bool,
}

/// The warps of the focused block, neighbours and others in the same condition in one row.
///
/// # Errors
/// The block is not on the machine.
pub fn warp_summary(scene: &Scene<'_>) -> Result<Vec<WarpSummaryRow>, SceneError> {
    let block = scene.block()?;
    let all = lane_locations(scene, &ThreadFilter::of_block(&scene.focus));
    let mut own = all.chunk_by(|a, b| a.warp == b.warp).peekable();
    let mut kinds: Vec<(Vec<u32>, &[LaneLocation], LaneMask)> = Vec::new();
    for (warp, number) in block.warps.iter().zip(0..) {
        let groups = own.next_if(|groups| groups.first().is_some_and(|first| first.warp == number)).unwrap_or(&[]);
        let exited = scene.machine.lanes_of_warp(number) & !warp.live;
        let same = |(_, others, gone): &&mut (Vec<u32>, &[LaneLocation], LaneMask)| {
            *gone == exited && others.iter().map(key).eq(groups.iter().map(key))
        };
        match kinds.iter_mut().find(same) {
            Some((warps, _, _)) => warps.push(number),
            None => kinds.push((vec![number], groups, exited)),
        }
    }
    Ok(kinds.into_iter().flat_map(|(warps, groups, exited)| rows(scene, &warps, groups, exited)).collect())
}

fn key(location: &LaneLocation) -> (LaneMask, u32, State, u32) {
    (location.lanes, location.pc.0, location.state, location.depth)
}

fn rows(scene: &Scene<'_>, warps: &[u32], groups: &[LaneLocation], exited: LaneMask) -> Vec<WarpSummaryRow> {
    let focused = warps.contains(&scene.focus.warp);
    let row = |(index, location): (usize, Option<LaneLocation>)| WarpSummaryRow {
        warps: warps.to_vec(),
        is_first: index == 0,
        groups: groups.len(),
        focused: focused && location.as_ref().is_none_or(|location| scene.is_focused(location.lanes)),
        location,
        exited,
    };
    if groups.is_empty() {
        return vec![row((0, None))];
    }
    groups.iter().cloned().map(Some).enumerate().map(row).collect()
}

/// The blocks of the grid in at most `cells` cells of equally many.
pub fn block_map(scene: &Scene<'_>, cells: u64) -> Vec<BlockCell> {
    let machine = scene.machine;
    let (blocks, started) = (machine.block_count(), machine.blocks_started());
    let each = blocks.div_ceil(cells.max(1)).max(1);
    let resident: Vec<(u64, bool)> =
        machine.resident_blocks().map(|block| (block.number, block.warps.iter().any(|warp| warp.can_run()))).collect();
    let own = machine.block_number(scene.focus.block);
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
            focused: own.is_some_and(|own| range.contains(&own)),
            blocks: range,
        }
    };
    (0..blocks.div_ceil(each)).map(cell).collect()
}

/// The thread to look at for a row: the focused one if it is there, or else the lowest lane of the first warp.
pub fn thread_of(scene: &Scene<'_>, row: &WarpSummaryRow) -> Focus {
    let warp = if row.warps.contains(&scene.focus.warp) { scene.focus.warp } else { row.warps.first().copied().unwrap_or(0) };
    let lanes = row.location.as_ref().map_or(LaneMask::NONE, |location| location.lanes);
    let lane = lanes.first() as u32;
    if row.focused { scene.focus } else { Focus { warp, lane, frame: 0, ..scene.focus } }
}
