//! `info divergence`: the groups (converged lanes) of a warp, their positions, and their reconvergence point.

use super::location::{State, lane_locations};
use super::place;
use crate::cfg::{BlockId, ControlFlow};
use crate::debug::eval_context::{EvalContext, Frame, ThreadError};
use crate::debug::focus::ThreadFilter;
use crate::machine::{DivergencePolicy, LaneMask};
use crate::program::Pc;

/// The groups of a warp.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// The warp: `producer warp 0`.
    pub warp: String,
    /// The groups: the one that runs next first, then by lowest lane.
    pub groups: Vec<GroupView>,
    /// Lanes that have exited.
    pub exited: LaneMask,
    /// The next point where all groups can reconverge; none for a single group, or if they cannot.
    pub reconvergence: Option<Pc>,
    /// That point as `file.ptx:12 <label>`.
    pub reconvergence_at: Option<String>,
}

/// Converged lanes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupView {
    /// The lanes.
    pub lanes: LaneMask,
    /// The instruction that they execute next.
    pub pc: Pc,
    /// That instruction as `file.ptx:12 <label>`.
    pub at: String,
    /// Their state: ready, or waiting.
    pub state: State,
    /// Calls in progress.
    pub depth: u32,
    /// True if they run next.
    pub next: bool,
    /// True if the focused lane is one of them.
    pub focused: bool,
}

/// The groups of the focused warp.
///
/// # Errors
/// The warp is not on the machine.
pub fn divergence(context: &EvalContext<'_>) -> Result<Divergence, ThreadError> {
    let warp = context.warp()?;
    let next = context.next_lanes();
    let lane_locations = lane_locations(context, &ThreadFilter::of_warp(&context.focus));
    let group = |location: super::LaneLocation| GroupView {
        lanes: location.lanes,
        pc: location.pc,
        at: place(context.program(), location.pc),
        state: location.state,
        depth: location.depth,
        next: location.lanes.intersects(next),
        focused: context.is_focused(location.lanes),
    };
    let mut groups: Vec<GroupView> = lane_locations.into_iter().map(group).collect();
    groups.sort_by_key(|group| (!group.next, group.lanes.first()));
    let exited = context.machine.lanes_of_warp(context.focus.warp) & !warp.live;
    let paths = GroupPaths::new(context, &groups);
    let reconvergence = match context.machine.config().divergence {
        DivergencePolicy::Independent => paths.and_then(|paths| paths.nearest()),
        DivergencePolicy::Stack => {
            let on_all_paths = paths.and_then(|paths| warp.pushed_targets().find(|pc| paths.all_pass(*pc)));
            // Lanes may exit before any of the pushed targets: then the outermost one is shown.
            on_all_paths.or_else(|| warp.pushed_targets().last()).filter(|_| groups.len() > 1)
        }
    };
    let reconvergence_at = reconvergence.map(|pc| place(context.program(), pc));
    Ok(Divergence { warp: context.roles.warp(context.focus.warp), reconvergence, reconvergence_at, exited, groups })
}

/// The paths of groups in the innermost function that is on the call stack of all of them.
struct GroupPaths {
    flow: ControlFlow,
    /// For each group, its position in that function.
    pcs: Vec<Pc>,
    /// For each group, the post-dominators of its position, nearest first.
    blocks: Vec<Vec<BlockId>>,
}

impl GroupPaths {
    /// None for a single group, or if the groups have no common function.
    fn new(context: &EvalContext<'_>, groups: &[GroupView]) -> Option<Self> {
        if groups.len() < 2 {
            return None;
        }
        let stacks: Vec<_> = groups.iter().map(|group| frames(context, group)).collect::<Option<_>>()?;
        let depth = groups.iter().map(|group| group.depth).min()?;
        let common: Vec<&Frame<'_>> = stacks.iter().map(|stack| stack.iter().find(|frame| frame.depth == depth)).collect::<Option<_>>()?;
        let function = common.first()?.function;
        if common.iter().any(|frame| frame.function != function) {
            return None;
        }
        let flow = ControlFlow::new(context.program(), function);
        // A group inside a call returns to the instruction after it.
        let pc_in_frame = |frame: &Frame<'_>, group: &GroupView| if group.depth > depth { Pc(frame.pc.0 + 1) } else { group.pc };
        let pcs: Vec<Pc> = common.iter().zip(groups).map(|(frame, group)| pc_in_frame(frame, group)).collect();
        let blocks = pcs.iter().map(|pc| post_dominators(&flow, *pc)).collect();
        Some(Self { flow, pcs, blocks })
    }

    /// The first instruction that all groups reach: in the nearest block that post-dominates all positions.
    fn nearest(&self) -> Option<Pc> {
        let block = self.blocks.first()?.iter().find(|block| self.blocks.iter().all(|path| path.contains(block)))?;
        let start = self.flow.blocks().find(|(id, _)| id == block)?.1.start;
        // A group that is already in the block waits for the others at its position.
        let inside_block = self.pcs.iter().filter(|pc| self.flow.block_of(**pc) == Some(*block)).map(|pc| pc.0);
        inside_block.chain(std::iter::once(start)).max().map(Pc)
    }

    /// True if every group reaches the block of `pc`.
    fn all_pass(&self, pc: Pc) -> bool {
        self.flow.block_of(pc).is_some_and(|block| self.blocks.iter().all(|path| path.contains(&block)))
    }
}

fn frames<'a>(context: &EvalContext<'a>, group: &GroupView) -> Option<smallvec::SmallVec<[Frame<'a>; 2]>> {
    let focus = crate::debug::focus::Focus { lane: group.lanes.first() as u32, frame: 0, ..context.focus };
    context.refocused(focus).frames().ok()
}

/// The post-dominators of `pc`, nearest first.
fn post_dominators(flow: &ControlFlow, pc: Pc) -> Vec<BlockId> {
    let mut path: Vec<BlockId> = Vec::new();
    let mut next = flow.block_of(pc);
    while let Some(block) = next.filter(|block| !path.contains(block)) {
        path.push(block);
        next = flow.ipdom(block);
    }
    path
}
