//! The reconvergence stack of a warp whose lanes are not scheduled independently
//! ([`DivergencePolicy::Stack`](crate::machine::DivergencePolicy)).
//!
//! It has two kinds of entries. A reconvergence point is pushed for lanes that diverge: at a branch, every point of `cfg::pushed_targets`
//! that is not on the stack yet; at a call, or at an instruction at which only some lanes wait, the next instruction. The other kind is a
//! side of a branch that runs later. One side runs at once: the fall-through side, then the taken ones, the lowest lane first; a side that
//! only exits or returns runs before all others. When a side reaches a reconvergence point of its lanes, it waits there, and its lanes are
//! removed from the entries above that point. Then the top is popped: a side continues; lanes that share a reconvergence point continue
//! from there together. So a side that waits blocks the others.

use smallvec::SmallVec;

use crate::machine::state::lanes::LaneMask;
use crate::machine::state::warp::{GroupState, LaneGroup, Warp, depth, same_stack};
use crate::program::{ControlOp, Op, Pc, Program};

/// The stack, its top last.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct SimtStack {
    entries: SmallVec<[Entry; 4]>,
}

/// An entry, for some lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Entry {
    lanes: LaneMask,
    kind: EntryKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum EntryKind {
    /// The lanes continue from `at`, with `depth` calls in progress, once all have arrived.
    Reconvergence { at: Pc, depth: u32 },
    /// A side of a branch: the lanes run when the entries above are popped.
    Side,
}

impl Entry {
    /// True if this is a reconvergence point that the group has reached.
    fn is_reached_by(&self, group: &LaneGroup) -> bool {
        let here = EntryKind::Reconvergence { at: group.pc, depth: depth(&group.stack) };
        self.lanes.intersects(group.mask) && self.kind == here
    }
}

impl SimtStack {
    /// The rank at which a running group with `depth` calls in progress may have reached a reconvergence point.
    pub fn limit(&self, depth: u32, rank: &[u32]) -> u32 {
        let innermost = self.entries.iter().rev().find_map(|entry| match entry.kind {
            EntryKind::Reconvergence { at, depth: of } if of == depth => Some(at),
            EntryKind::Reconvergence { .. } | EntryKind::Side => None,
        });
        innermost.map_or(u32::MAX, |at| rank[at.index()])
    }

    /// Pushes a reconvergence point for `lanes`.
    fn push_reconvergence(&mut self, lanes: LaneMask, at: Pc, depth: u32) {
        assert!(!lanes.is_empty(), "a reconvergence point for no lane");
        self.entries.push(Entry { lanes, kind: EntryKind::Reconvergence { at, depth } });
    }

    /// Pushes the points of `pushed_targets` that are not on the stack for `lanes` yet.
    fn push_missing(&mut self, lanes: LaneMask, pushed_targets: &[Pc], depth: u32) {
        for at in pushed_targets {
            let kind = EntryKind::Reconvergence { at: *at, depth };
            if !self.entries.iter().any(|entry| entry.kind == kind && entry.lanes & lanes == lanes) {
                self.push_reconvergence(lanes, *at, depth);
            }
        }
    }

    /// The index of the innermost reconvergence point that the group has reached.
    fn reached_by(&self, group: &LaneGroup) -> Option<usize> {
        self.entries.iter().rposition(|entry| entry.is_reached_by(group))
    }
}

impl Warp {
    /// Pushes the groups into which the instruction at `from` has split the group of `lanes`. Lanes that diverge at a branch there
    /// reconverge at `pushed_targets`, the outermost first.
    pub fn push_sides(&mut self, program: &Program, from: Pc, lanes: LaneMask, pushed_targets: &[Pc]) {
        let Some(stack) = &mut self.simt_stack else { return };
        let next = Pc(from.0 + 1);
        let mut groups: SmallVec<[&mut LaneGroup; 4]> = self.groups.iter_mut().filter(|group| group.mask.intersects(lanes)).collect();
        let lanes = groups.iter().fold(LaneMask::NONE, |lanes, group| lanes | group.mask);
        let Some(level) = groups.iter().map(|group| depth(&group.stack)).max() else { return };
        assert!(self.live.contains_all(lanes), "sides of lanes that are not live");
        let control = if let Op::Control(op) = &program.code[from.index()].op { Some(op) } else { None };
        match control {
            Some(ControlOp::Call { .. }) => stack.push_reconvergence(lanes, next, level - 1),
            _ if groups.len() < 2 => return,
            Some(ControlOp::Branch { .. } | ControlOp::BranchIndexed { .. }) => stack.push_missing(lanes, pushed_targets, level),
            // Lanes that return reconverge with the others at the point that the call has pushed.
            Some(ControlOp::Return { .. }) => {}
            Some(ControlOp::SystemCall { .. } | ControlOp::Exit | ControlOp::Trap | ControlOp::Breakpoint) | None => {
                stack.push_reconvergence(lanes, next, level);
            }
        }
        groups.sort_by_key(|group| (!only_ends(program, group.pc), group.pc != next, group.mask.first()));
        let mut deferred: SmallVec<[LaneMask; 4]> = SmallVec::new();
        let mut runs = false;
        for group in groups.into_iter().filter(|group| group.state == GroupState::Ready) {
            let is_at_point = stack.reached_by(group).is_some();
            if !is_at_point && std::mem::replace(&mut runs, true) {
                group.state = GroupState::Deferred;
                deferred.push(group.mask);
            }
        }
        stack.entries.extend(deferred.into_iter().rev().map(|lanes| Entry { lanes, kind: EntryKind::Side }));
    }

    /// The reconvergence points of all lanes that have not exited, the innermost first. None if the warp has no stack.
    pub fn pushed_targets(&self) -> impl Iterator<Item = Pc> + '_ {
        let entries = self.simt_stack.iter().flat_map(|stack| stack.entries.iter().rev());
        entries.filter_map(|entry| match entry.kind {
            EntryKind::Reconvergence { at, .. } if entry.lanes & self.live == self.live => Some(at),
            EntryKind::Reconvergence { .. } | EntryKind::Side => None,
        })
    }

    /// The lanes for which `group` waits at its reconvergence point, or that run before it; none if the stack does not block the group.
    pub fn blocking_lanes(&self, group: &LaneGroup) -> LaneMask {
        let Some(stack) = &self.simt_stack else { return LaneMask::NONE };
        let entries = &stack.entries;
        let others = self.live & !group.mask;
        match group.state {
            GroupState::AtReconvergence => {
                entries.iter().rfind(|entry| entry.is_reached_by(group)).map_or(LaneMask::NONE, |entry| entry.lanes) & others
            }
            GroupState::Deferred => {
                let below = entries.iter().rposition(|entry| entry.kind == EntryKind::Side && entry.lanes.intersects(group.mask));
                let above =
                    entries.iter().skip(below.map_or(0, |below| below + 1)).fold(LaneMask::NONE, |lanes, entry| lanes | entry.lanes);
                let is_running = |group: &&LaneGroup| group.state == GroupState::Ready || group.is_blocked();
                let running = self.groups.iter().filter(is_running).fold(LaneMask::NONE, |lanes, group| lanes | group.mask);
                (above | running) & others
            }
            GroupState::Ready
            | GroupState::AtBarrier { .. }
            | GroupState::AtSync { .. }
            | GroupState::AtMbarrier { .. }
            | GroupState::AtCopies
            | GroupState::AtWgmmas
            | GroupState::AtWarpgroup
            | GroupState::AtCluster { .. }
            | GroupState::AtWarpSync { .. } => LaneMask::NONE,
        }
    }

    /// Pops the completed entries. Returns the group that runs next; none if the side on top waits.
    pub(in crate::machine) fn next_on_stack(&mut self) -> Option<usize> {
        self.groups.iter_mut().for_each(|group| group.yielded = false);
        loop {
            if let [alone] = self.groups.as_mut_slice() {
                // A single group needs no entries of its own depth, only those of its callers.
                let level = depth(&alone.stack);
                let stack = self.simt_stack.as_mut()?;
                let is_of_caller = |entry: &mut Entry| matches!(entry.kind, EntryKind::Reconvergence { depth, .. } if depth < level);
                stack.entries.retain(is_of_caller);
                if matches!(alone.state, GroupState::AtReconvergence | GroupState::Deferred) {
                    alone.state = GroupState::Ready;
                }
                return (alone.state == GroupState::Ready).then_some(0);
            }
            while let Some((index, position)) = self.reach_reconvergence() {
                self.wait_at(index, position);
            }
            match self.groups.iter().position(|group| group.state == GroupState::Ready) {
                Some(ready) => return Some(ready),
                None if self.groups.iter().any(LaneGroup::is_blocked) => return None,
                None => self.pop()?,
            }
        }
    }

    /// The indices of a ready group at a reconvergence point, and of the entry of that point.
    fn reach_reconvergence(&self) -> Option<(usize, usize)> {
        let stack = self.simt_stack.as_ref()?;
        let mut ready = self.groups.iter().enumerate().filter(|(_, group)| group.state == GroupState::Ready);
        ready.find_map(|(index, group)| Some((index, stack.reached_by(group)?)))
    }

    /// Makes the group `index` wait at the reconvergence point of entry `position`, and merges it with a group that waits there. Removes
    /// its lanes from the entries above.
    fn wait_at(&mut self, index: usize, position: usize) {
        let Some(stack) = &mut self.simt_stack else { return };
        let group = &mut self.groups[index];
        assert!(group.state == GroupState::Ready, "a group that does not run reaches a reconvergence point");
        assert!(stack.entries[position].is_reached_by(group), "a group waits at another place than its own");
        group.state = GroupState::AtReconvergence;
        stack.entries[position + 1..].iter_mut().for_each(|entry| entry.lanes &= !group.mask);
        let own = group.clone();
        let can_merge = |other: &LaneGroup| {
            let is_same_position = other.pc == own.pc && other.frame == own.frame && same_stack(&other.stack, &own.stack);
            other.mask != own.mask && other.state == own.state && is_same_position && stack.reached_by(other) == Some(position)
        };
        if let Some(other) = self.groups.iter().position(can_merge) {
            self.groups[other].absorb(&own);
            self.groups.swap_remove(index);
            self.streak = 0;
        }
    }

    /// Pops the top, whose lanes continue. None if the stack is empty and no group can run.
    fn pop(&mut self) -> Option<()> {
        let top = self.simt_stack.as_mut()?.entries.pop();
        // Lanes without an entry run in ascending order.
        let first = || self.groups.iter().map(|group| group.mask).min_by_key(|mask| mask.first());
        let lanes = match top {
            Some(entry) => entry.lanes,
            None => first()?,
        };
        for group in self.groups.iter_mut().filter(|group| group.mask.intersects(lanes)) {
            assert!(!group.is_blocked(), "a side continues that waits for something else than its turn");
            group.state = GroupState::Ready;
        }
        assert!(top.is_some() || self.can_run(), "nothing is left to run");
        Some(())
    }
}

/// True if a group at `pc` only exits or returns.
fn only_ends(program: &Program, pc: Pc) -> bool {
    let inst = &program.code[pc.index()];
    matches!(inst.op, Op::Control(ControlOp::Exit | ControlOp::Return { .. })) && inst.guard.is_none()
}
