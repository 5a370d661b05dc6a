//! `info barriers`: which threads have arrived at each barrier of a block, and which are missing.

use serde::Serialize;

use super::CodePlace;
use super::location::ThreadSet;
use crate::debug::focus::ThreadFilter;
use crate::debug::scene::{Scene, SceneError};
use crate::machine::{Barrier, Block, GroupState, LaneMask};
use crate::program::Pc;

/// A barrier of a block that threads have arrived at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BarrierRow {
    /// Its number.
    pub id: u32,
    /// Phases that have ended.
    pub phase: u64,
    /// Threads that have arrived in this one.
    pub arrived: u32,
    /// Threads that it wants.
    pub wanted: u32,
    /// Those that have arrived.
    pub waiting: ThreadSet,
    /// Those that have neither arrived nor exited.
    pub missing: ThreadSet,
    /// The instructions at which threads wait, ascending.
    pub at: Vec<CodePlace>,
    /// Whether the focused lane has arrived.
    pub focused: bool,
}

/// The barriers of the filter's block, or else the focused one, that threads have arrived at.
///
/// # Errors
/// The block is not on the machine.
pub fn barriers(scene: &Scene<'_>, filter: &ThreadFilter) -> Result<Vec<BarrierRow>, SceneError> {
    let index = filter.block.unwrap_or(scene.focus.block);
    let block = scene.refocused(crate::debug::focus::Focus { block: index, ..scene.focus }).block()?;
    let row = |(barrier, id): (&Barrier, u32)| {
        let own = barrier.arrived.get(scene.focus.warp as usize).copied().unwrap_or_default();
        BarrierRow {
            id,
            phase: barrier.phase,
            arrived: barrier.arrived.iter().map(|lanes| lanes.count()).sum(),
            wanted: barrier.wanted.unwrap_or_else(|| block.warps.iter().map(|warp| warp.live.count()).sum()),
            waiting: ThreadSet::new(scene, barrier.arrived.iter().copied()),
            missing: ThreadSet::new(scene, missing(block, barrier)),
            at: waiting_at(block, id).into_iter().map(|pc| CodePlace::new(scene.program(), pc)).collect(),
            focused: index == scene.focus.block && scene.is_focused(own),
        }
    };
    Ok(block.barriers.iter().zip(0..).filter(|(barrier, _)| !barrier.arrived.is_empty()).map(row).collect())
}

/// The lanes of each warp that have neither arrived nor exited.
fn missing<'b>(block: &'b Block, barrier: &'b Barrier) -> impl Iterator<Item = LaneMask> + 'b {
    block.warps.iter().zip(0..).map(|(warp, number): (_, usize)| warp.live & !barrier.arrived.get(number).copied().unwrap_or_default())
}

/// The instructions at which lanes wait.
fn waiting_at(block: &Block, id: u32) -> Vec<Pc> {
    let groups = block.warps.iter().flat_map(|warp| &warp.groups);
    let mut pcs: Vec<Pc> = groups
        .filter_map(|group| match group.state {
            GroupState::AtBarrier { id: at, pc } if at == id => Some(pc),
            _ => None,
        })
        .collect();
    pcs.sort_unstable();
    pcs.dedup();
    pcs
}
