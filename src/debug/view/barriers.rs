//! `info barriers`: which threads have arrived at each barrier of a block, and which are missing.

use serde::Serialize;

use super::CodePlace;
use super::location::ThreadSet;
use crate::debug::eval_context::{EvalContext, ThreadError};
use crate::debug::focus::ThreadFilter;
use crate::machine::{Barrier, Block, GroupState, LaneMask};
use crate::program::Pc;

/// A barrier of a block that threads have arrived at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BarrierRow {
    /// Its number.
    pub id: u32,
    /// Number of completed phases.
    pub phase: u64,
    /// Number of threads that have arrived in this phase.
    pub arrived: u32,
    /// Number of threads that it expects.
    pub wanted: u32,
    /// The threads that have arrived.
    pub waiting: ThreadSet,
    /// The threads that have neither arrived nor exited.
    pub missing: ThreadSet,
    /// The instructions at which threads wait, ascending.
    pub at: Vec<CodePlace>,
    /// True if the focused lane has arrived.
    pub focused: bool,
}

/// The barriers of the filter's block, or of the focused block without one, that threads have arrived at.
///
/// # Errors
/// The block is not resident.
pub fn barriers(context: &EvalContext<'_>, filter: &ThreadFilter) -> Result<Vec<BarrierRow>, ThreadError> {
    let index = filter.block.unwrap_or(context.focus.block);
    let block = context.refocused(crate::debug::focus::Focus { block: index, ..context.focus }).block()?;
    let row = |(barrier, id): (&Barrier, u32)| {
        let arrived = barrier.arrived.get(context.focus.warp as usize).copied().unwrap_or_default();
        BarrierRow {
            id,
            phase: barrier.phase,
            arrived: barrier.arrived.iter().map(|lanes| lanes.count()).sum(),
            wanted: barrier.thread_count.unwrap_or_else(|| block.warps.iter().map(|warp| warp.live.count()).sum()),
            waiting: ThreadSet::new(context, barrier.arrived.iter().copied()),
            missing: ThreadSet::new(context, missing(block, barrier)),
            at: waiting_at(block, id).into_iter().map(|pc| CodePlace::new(context.program(), pc)).collect(),
            focused: index == context.focus.block && context.is_focused(arrived),
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
