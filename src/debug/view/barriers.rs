//! `info barriers`: who has arrived at each barrier of a block, and who is missing.

use super::standing::threads_in_words;
use super::{Table, place};
use crate::debug::focus::ThreadFilter;
use crate::debug::scene::{Scene, SceneError};
use crate::machine::{Barrier, Block, GroupState, LaneMask};

/// The barriers of the filter's block, or else the focused one, that somebody has arrived at.
///
/// # Errors
/// The block is not on the machine.
pub fn barriers(scene: &Scene<'_>, filter: &ThreadFilter) -> Result<Table, SceneError> {
    let index = filter.block.unwrap_or(scene.focus.block);
    let block = scene.refocused(crate::debug::focus::Focus { block: index, ..scene.focus }).block()?;
    let mut table = Table::new(&[">barrier", ">phase", ">arrived", "waiting", "missing", "at"]);
    let own = |barrier: &Barrier| {
        let arrived = barrier.arrived.get(scene.focus.warp as usize).copied().unwrap_or(LaneMask::NONE);
        index == scene.focus.block && scene.is_focused(arrived)
    };
    for (barrier, id) in block.barriers.iter().zip(0_u32..).filter(|(barrier, _)| !barrier.arrived.is_empty()) {
        let wanted = match barrier.wanted {
            Some(wanted) => wanted,
            None => block.warps.iter().map(|warp| warp.live.count()).sum(),
        };
        let arrived: u32 = barrier.arrived.iter().map(|lanes| lanes.count()).sum();
        let cells = [
            id.to_string(),
            barrier.phase.to_string(),
            format!("{arrived} of {wanted}"),
            threads_in_words(scene, barrier.arrived.iter().copied()),
            threads_in_words(scene, missing(block, barrier)),
            waiting_at(scene, block, id),
        ];
        table.push(own(barrier), cells);
    }
    Ok(table.or_note("no thread waits at a barrier of this block"))
}

/// The lanes of each warp that have neither arrived nor exited.
fn missing<'b>(block: &'b Block, barrier: &'b Barrier) -> impl Iterator<Item = LaneMask> + 'b {
    block
        .warps
        .iter()
        .zip(0..)
        .map(|(warp, number): (_, usize)| warp.live & !barrier.arrived.get(number).copied().unwrap_or(LaneMask::NONE))
}

/// The instructions at which lanes wait.
fn waiting_at(scene: &Scene<'_>, block: &Block, id: u32) -> String {
    let groups = block.warps.iter().flat_map(|warp| &warp.groups);
    let mut pcs: Vec<_> = groups
        .filter_map(|group| match group.state {
            GroupState::AtBarrier { id: at, pc } if at == id => Some(pc),
            _ => None,
        })
        .collect();
    pcs.sort_unstable();
    pcs.dedup();
    pcs.into_iter().map(|pc| place(scene.program(), pc)).collect::<Vec<_>>().join(", ")
}
