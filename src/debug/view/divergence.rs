//! `info divergence`: the groups of lanes of a warp, where each stands, and where they will meet again.

use super::location::{State, lane_locations};
use super::place;
use crate::cfg::{BlockId, ControlFlow};
use crate::debug::focus::ThreadFilter;
use crate::debug::scene::{Frame, Scene, SceneError};
use crate::machine::{DivergencePolicy, LaneMask};
use crate::program::Pc;

/// The groups of lanes of a warp.
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
    /// The same as `file.ptx:12 <label>`.
    pub reconvergence_at: Option<String>,
}

/// Converged lanes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupView {
    /// The lanes.
    pub lanes: LaneMask,
    /// The instruction that they execute next.
    pub pc: Pc,
    /// The same as `file.ptx:12 <label>`.
    pub at: String,
    /// Whether they run, or what they wait for.
    pub state: State,
    /// Calls in progress.
    pub depth: u32,
    /// Whether they run next.
    pub next: bool,
    /// Whether the focused lane is one of them.
    pub focused: bool,
}

/// The groups of the focused warp.
///
/// # Errors
/// The warp is not on the machine.
pub fn divergence(scene: &Scene<'_>) -> Result<Divergence, SceneError> {
    let warp = scene.warp()?;
    let next = scene.next_lanes();
    let lane_locations = lane_locations(scene, &ThreadFilter::of_warp(&scene.focus));
    let group = |location: super::LaneLocation| GroupView {
        lanes: location.lanes,
        pc: location.pc,
        at: place(scene.program(), location.pc),
        state: location.state,
        depth: location.depth,
        next: location.lanes.intersects(next),
        focused: scene.is_focused(location.lanes),
    };
    let mut groups: Vec<GroupView> = lane_locations.into_iter().map(group).collect();
    groups.sort_by_key(|group| (!group.next, group.lanes.first()));
    let exited = scene.machine.lanes_of_warp(scene.focus.warp) & !warp.live;
    let paths = GroupPaths::new(scene, &groups);
    let reconvergence = match scene.machine.config().divergence {
        DivergencePolicy::Independent => paths.and_then(|paths| paths.nearest()),
        DivergencePolicy::Stack => {
            let certain = paths.and_then(|paths| warp.pushed_targets().find(|pc| paths.all_pass(*pc)));
            // Where some lanes may exit before, no place is certain.
            certain.or_else(|| warp.pushed_targets().last()).filter(|_| groups.len() > 1)
        }
    };
    let reconvergence_at = reconvergence.map(|pc| place(scene.program(), pc));
    Ok(Divergence { warp: scene.roles.warp(scene.focus.warp), reconvergence, reconvergence_at, exited, groups })
}

/// The paths of groups in the innermost function that all are in.
struct GroupPaths {
    flow: ControlFlow,
    /// By group: its position.
    places: Vec<Pc>,
    /// By group: the blocks that every path from there passes, in that order.
    blocks: Vec<Vec<BlockId>>,
}

impl GroupPaths {
    /// None for a single group, or if the groups are in no function together.
    fn new(scene: &Scene<'_>, groups: &[GroupView]) -> Option<Self> {
        if groups.len() < 2 {
            return None;
        }
        let stacks: Vec<_> = groups.iter().map(|group| frames(scene, group)).collect::<Option<_>>()?;
        let depth = groups.iter().map(|group| group.depth).min()?;
        let common: Vec<&Frame<'_>> = stacks.iter().map(|stack| stack.iter().find(|frame| frame.depth == depth)).collect::<Option<_>>()?;
        let function = common.first()?.function;
        if common.iter().any(|frame| frame.function != function) {
            return None;
        }
        let flow = ControlFlow::new(scene.program(), function);
        // A group inside a call comes back after it.
        let inside = |frame: &Frame<'_>, group: &GroupView| if group.depth > depth { Pc(frame.pc.0 + 1) } else { group.pc };
        let places: Vec<Pc> = common.iter().zip(groups).map(|(frame, group)| inside(frame, group)).collect();
        let blocks = places.iter().map(|pc| path(&flow, *pc)).collect();
        Some(Self { flow, places, blocks })
    }

    /// The first instruction that every group comes to: in the nearest block that every path of every group passes.
    fn nearest(&self) -> Option<Pc> {
        let block = self.blocks.first()?.iter().find(|block| self.blocks.iter().all(|path| path.contains(block)))?;
        let start = self.flow.blocks().find(|(id, _)| id == block)?.1.start;
        // A group that is in the block already waits for the others where it stands.
        let inside_block = self.places.iter().filter(|pc| self.flow.block_of(**pc) == Some(*block)).map(|pc| pc.0);
        inside_block.chain(std::iter::once(start)).max().map(Pc)
    }

    /// Whether every group comes to the block of `pc`.
    fn all_pass(&self, pc: Pc) -> bool {
        self.flow.block_of(pc).is_some_and(|block| self.blocks.iter().all(|path| path.contains(&block)))
    }
}

fn frames<'a>(scene: &Scene<'a>, group: &GroupView) -> Option<smallvec::SmallVec<[Frame<'a>; 2]>> {
    let focus = crate::debug::focus::Focus { lane: group.lanes.first() as u32, frame: 0, ..scene.focus };
    scene.refocused(focus).frames().ok()
}

/// The blocks that every path from `pc` on passes, in that order: its post-dominators.
fn path(flow: &ControlFlow, pc: Pc) -> Vec<BlockId> {
    let mut path: Vec<BlockId> = Vec::new();
    let mut next = flow.block_of(pc);
    while let Some(block) = next.filter(|block| !path.contains(block)) {
        path.push(block);
        next = flow.ipdom(block);
    }
    path
}
