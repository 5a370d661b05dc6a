//! The positions and states of the resident threads.

use serde::Serialize;

use crate::debug::eval_context::EvalContext;
use crate::debug::focus::ThreadFilter;
use crate::debug::roles::NamedWarps;
use crate::machine::{GroupState, LaneGroup, LaneMask, Warp, frames};
use crate::program::{Pc, Program};

/// Converged lanes of a warp.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneLocation {
    /// Block index.
    pub block: [u32; 3],
    /// Warp of the block.
    pub warp: u32,
    /// The lanes.
    pub lanes: LaneMask,
    /// The instruction they execute next or wait at.
    pub pc: Pc,
    /// Calls in progress.
    pub depth: u32,
    /// Those of them whose guard predicate is false for the next instruction.
    pub off: LaneMask,
    /// Their state.
    pub state: State,
}

/// The state of lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum State {
    /// They can run.
    Ready,
    /// They wait at a barrier of the block.
    Barrier(u32),
    /// They wait at the barrier of the cluster.
    Cluster,
    /// They wait for a phase of the mbarrier at this address of the block's shared memory.
    Mbarrier(u32),
    /// They wait for copies, which complete by the user's command.
    Copies,
    /// They wait for their matrix multiplications, which complete by the user's command.
    Wgmmas,
    /// They wait for other warps of the warpgroup to commit their matrix multiplications.
    Warpgroup,
    /// They wait for other lanes of the warp.
    Lanes(LaneMask),
    /// They wait at a reconvergence point for these lanes; none in a row for several warps.
    AtReconvergence(LaneMask),
    /// They are on a path of a branch that runs after the paths of these lanes; none in a row for several warps.
    AwaitsTurn(LaneMask),
    /// They have exited.
    Exited,
}

impl LaneLocation {
    /// Their state as text, with the name of an mbarrier: `waits for full[1]`.
    pub fn state_in_words(&self, context: &EvalContext<'_>) -> String {
        self.mbarrier(context).map_or_else(|| self.state.to_string(), |name| format!("waits for {name}"))
    }

    /// The name of the mbarrier that they wait for.
    pub(super) fn mbarrier(&self, context: &EvalContext<'_>) -> Option<String> {
        let State::Mbarrier(address) = self.state else { return None };
        Some(crate::debug::names::memory_name::mbarrier(context, context.machine.block(self.block)?, address))
    }
}

impl State {
    /// The state without lane masks, which differ between warps.
    #[must_use]
    pub(super) fn without_lanes(self) -> Self {
        match self {
            Self::Lanes(_) => Self::Ready,
            Self::AtReconvergence(_) => Self::AtReconvergence(LaneMask::NONE),
            Self::AwaitsTurn(_) => Self::AwaitsTurn(LaneMask::NONE),
            Self::Ready
            | Self::Barrier(_)
            | Self::Cluster
            | Self::Mbarrier(_)
            | Self::Copies
            | Self::Wgmmas
            | Self::Warpgroup
            | Self::Exited => self,
        }
    }
}

impl std::fmt::Display for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            State::Ready => write!(f, "ready"),
            State::Barrier(id) => write!(f, "at barrier {id}"),
            State::Cluster => write!(f, "at the cluster's barrier"),
            State::Mbarrier(address) => write!(f, "waits for mbarrier {address:#x}"),
            State::Copies => write!(f, "waits for its copies"),
            State::Wgmmas => write!(f, "waits for its matrix multiplications"),
            State::Warpgroup => write!(f, "waits for its warpgroup"),
            State::Lanes(lanes) => write!(f, "waits for lanes {}", lanes.list()),
            State::AtReconvergence(LaneMask::NONE) => write!(f, "at the meeting point"),
            State::AtReconvergence(lanes) => write!(f, "waits at the meeting point for lanes {}", lanes.list()),
            State::AwaitsTurn(LaneMask::NONE) => write!(f, "on a side that runs later"),
            State::AwaitsTurn(lanes) => write!(f, "waits for its turn after lanes {}", lanes.list()),
            State::Exited => write!(f, "exited"),
        }
    }
}

/// The positions of the threads that match `filter`, in order of block, warp and lowest lane, without exited lanes.
pub fn lane_locations(context: &EvalContext<'_>, filter: &ThreadFilter) -> Vec<LaneLocation> {
    let mut found = Vec::new();
    for block in context.machine.resident_blocks().filter(|block| filter.block.is_none_or(|index| index == block.index)) {
        for (warp, number) in block.warps.iter().zip(0..) {
            let filtered = filter.lanes_of(block.index, number);
            let first = found.len();
            for group in warp.groups.iter().filter(|group| group.mask.intersects(filtered)) {
                let state = match group.state {
                    GroupState::Ready => State::Ready,
                    GroupState::AtBarrier { id, .. } => State::Barrier(id),
                    GroupState::AtCluster { .. } => State::Cluster,
                    GroupState::AtMbarrier { address } => State::Mbarrier(address),
                    GroupState::AtCopies => State::Copies,
                    GroupState::AtWgmmas => State::Wgmmas,
                    GroupState::AtWarpgroup => State::Warpgroup,
                    GroupState::AtReconvergence => State::AtReconvergence(warp.blocking_lanes(group)),
                    GroupState::Deferred => State::AwaitsTurn(warp.blocking_lanes(group)),
                    GroupState::AtSync { members } | GroupState::AtWarpSync { members, .. } => {
                        State::Lanes(members & warp.live & !group.mask)
                    }
                };
                let depth = frames(&group.stack).next().map_or(0, |frame| frame.depth);
                let lanes = group.mask & filtered;
                let off = if state == State::Ready { predicated_off(context.program(), warp, group) & lanes } else { LaneMask::NONE };
                found.push(LaneLocation { block: block.index, warp: number, lanes, pc: group.current_pc(), depth, off, state });
            }
            found[first..].sort_by_key(|location| location.lanes.first());
        }
    }
    found
}

/// The lanes of a group whose guard predicate is false for the next instruction.
pub fn predicated_off(program: &Program, warp: &Warp, group: &LaneGroup) -> LaneMask {
    off_at(program, warp, group, group.pc)
}

/// The lanes of a group whose registers make the guard predicate of the instruction at `pc` false.
pub(super) fn off_at(program: &Program, warp: &Warp, group: &LaneGroup, pc: Pc) -> LaneMask {
    let guard = program.code.get(pc.index()).and_then(|inst| inst.guard);
    guard.map_or(LaneMask::NONE, |guard| {
        let bits = warp.registers.pred.get(guard.slot.in_frame(group.frame.pred).index()).copied().unwrap_or(LaneMask::NONE);
        group.mask & if guard.negate { bits } else { !bits }
    })
}

/// Threads of a block: each lane mask with the warps to which it applies.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ThreadSet(pub Vec<(LaneMask, NamedWarps)>);

impl ThreadSet {
    /// The set with one lane mask for each of the warps 0, 1, 2 and so on.
    pub(super) fn new(context: &EvalContext<'_>, lanes: impl Iterator<Item = LaneMask>) -> Self {
        let mut rows: Vec<(LaneMask, Vec<u32>)> = Vec::new();
        for (lanes, warp) in lanes.zip(0..).filter(|(lanes, _)| !lanes.is_empty()) {
            match rows.iter_mut().find(|(other, _)| *other == lanes) {
                Some((_, warps)) => warps.push(warp),
                None => rows.push((lanes, vec![warp])),
            }
        }
        Self(rows.into_iter().map(|(lanes, warps)| (lanes, context.roles.named(&warps))).collect())
    }

    /// `warps 0-2`, `consumer warps 0-2, warp 3 lanes 0-7`; `none`.
    pub fn describe(&self) -> String {
        if self.0.is_empty() {
            return "none".to_string();
        }
        let row = |(lanes, warps): &(LaneMask, NamedWarps)| format!("{}{}", warps.describe(), lanes_if_some(*lanes));
        self.0.iter().map(row).collect::<Vec<_>>().join(", ")
    }
}

/// ` lanes 0-7`, ` lane 3`; nothing if they are all.
pub fn lanes_if_some(lanes: LaneMask) -> String {
    if lanes == LaneMask::ALL { String::new() } else { format!(" {}", lanes.describe()) }
}
