//! The stack of a warp whose lanes are not scheduled independently ([`DivergencePolicy::Stack`](super::DivergencePolicy)).
//!
//! Where lanes part, each side is put on the stack with the place where the sides meet: the immediate post-dominator of a branch, the
//! instruction behind a call or behind one that only some lanes wait at. Only the side on top runs; when all its lanes stand at the
//! meeting place, or have exited, it is taken off and the next side runs, and below the last one are the lanes of all of them, who go
//! on together. The side that falls through runs first, then those that jump, the lowest lane first. So a side that waits keeps the
//! others waiting, whatever it waits for.
//!
//! Lanes that return from a call before the others leave the sides that meet inside it, and wait where the call returns.

use smallvec::SmallVec;

use super::digest::Digest;
use super::lanes::LaneMask;
use super::warp::{GroupState, LaneGroup, Warp, depth};
use crate::program::{Op, Pc};

/// The sides that lanes of a warp are inside of, the one that runs last. Each holds those above it that were made of its lanes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SimtStack {
    sides: Vec<Side>,
}

/// Lanes that go one way until they meet others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Side {
    lanes: LaneMask,
    /// Where they meet the others; none if their ways part for good.
    meeting: Option<Pc>,
    /// Calls in progress there.
    depth: u32,
}

impl Side {
    /// Whether `group` has come to the end of this side.
    fn has_brought(&self, group: &LaneGroup) -> bool {
        !group.waits_by_itself() && self.meeting == Some(group.pc) && self.depth == depth(&group.stack)
    }
}

impl SimtStack {
    /// The innermost side that a group of these lanes is inside of.
    pub fn side_of(&self, lanes: LaneMask) -> Option<usize> {
        self.sides.iter().rposition(|side| side.lanes & lanes != 0)
    }

    /// The rank at which a group with `depth` calls in progress, which runs, may have come to its meeting place.
    pub fn limit(&self, depth: u32, rank: &[u32]) -> u32 {
        let top = self.sides.last().filter(|side| side.depth == depth);
        let Some(meeting) = top.and_then(|side| side.meeting) else { return u32::MAX };
        rank.get(meeting.index()).copied().unwrap_or(0)
    }

    /// The lanes of `group` have returned to their caller: they meet those who return later there, and nobody inside the call.
    fn drop_returned(&mut self, group: &mut LaneGroup) {
        let level = depth(&group.stack);
        self.sides.iter_mut().filter(|side| side.depth > level).for_each(|side| side.lanes &= !group.mask);
        group.state = GroupState::AtMeeting;
    }

    /// Adds everything to `digest`.
    pub fn digest(&self, digest: &mut Digest) {
        for side in &self.sides {
            digest.word(u64::from(side.lanes) << 32 | u64::from(side.depth));
            digest.word(side.meeting.map_or(0, |pc| u64::from(pc.0) + 1));
        }
    }
}

impl Warp {
    /// Puts on the stack what the instruction at `from` has made of the group of `lanes`, where the lanes of a branch meet at
    /// `reconvergence`.
    pub fn push_sides(&mut self, op: &Op, from: Pc, lanes: LaneMask, reconvergence: Option<Pc>) {
        let Some(stack) = &mut self.simt_stack else { return };
        let next = Pc(from.0 + 1);
        let mut parts: SmallVec<[&mut LaneGroup; 4]> = self.groups.iter_mut().filter(|group| group.mask & lanes != 0).collect();
        let Some(level) = parts.iter().map(|group| depth(&group.stack)).max() else { return };
        let (meeting, level) = match op {
            Op::Return { .. } => {
                parts.iter_mut().filter(|group| group.pc != next).for_each(|group| stack.drop_returned(group));
                return;
            }
            Op::Call { .. } => (Some(next), level - 1),
            _ if parts.len() < 2 => return,
            Op::Branch { .. } | Op::BranchIndexed { .. } => (reconvergence, level),
            _ => (Some(next), level),
        };
        parts.sort_by_key(|group| std::cmp::Reverse((group.pc != next, group.mask.trailing_zeros())));
        for group in parts {
            let side = Side { lanes: group.mask, meeting, depth: level };
            if side.has_brought(group) {
                group.state = GroupState::AtMeeting;
                continue;
            }
            stack.sides.push(side);
            if group.state == GroupState::Ready {
                group.state = GroupState::AwaitsTurn;
            }
        }
    }

    /// The lanes that must come where `group` waits for them, or that run before it; none if the stack lets it run.
    pub fn holding(&self, group: &LaneGroup) -> LaneMask {
        let Some(stack) = &self.simt_stack else { return 0 };
        let side = stack.side_of(group.mask);
        match group.state {
            GroupState::AtMeeting => side.map_or(self.live, |side| stack.sides[side].lanes) & !group.mask,
            GroupState::AwaitsTurn => stack.sides.iter().skip(side.map_or(0, |side| side + 1)).fold(0, |lanes, above| lanes | above.lanes),
            _ => 0,
        }
    }

    /// Takes off the stack what has come to its end. The group that runs next; none if the top waits for something.
    pub(super) fn next_on_stack(&mut self) -> Option<usize> {
        while self.pop_side() {}
        let top = self.simt_stack.as_ref().and_then(|stack| stack.sides.last().copied());
        for group in self.groups.iter_mut().filter(|group| !group.waits_by_itself()) {
            let on_top = top.is_none_or(|top| top.lanes & group.mask != 0);
            group.state = match group.state {
                _ if on_top && !top.is_some_and(|top| top.has_brought(group)) => GroupState::Ready,
                GroupState::Ready if on_top => GroupState::AtMeeting,
                GroupState::Ready => GroupState::AwaitsTurn,
                held => held,
            };
            group.yielded = false;
        }
        self.groups.iter().position(|group| group.state == GroupState::Ready)
    }

    /// Takes the top off the stack if all its lanes have come to its end.
    fn pop_side(&mut self) -> bool {
        self.merge();
        let Some(stack) = &mut self.simt_stack else { return false };
        stack.sides.iter_mut().for_each(|side| side.lanes &= self.live);
        if let [alone] = self.groups.as_slice() {
            // There is nobody to meet, but others may part from it in the calls it is inside of.
            let level = depth(&alone.stack);
            stack.sides.retain(|side| side.depth < level);
            return false;
        }
        let Some(top) = stack.sides.last().copied() else { return false };
        let mut inside = self.groups.iter_mut().filter(|group| group.mask & top.lanes != 0);
        if !inside.all(|group| top.has_brought(group)) {
            return false;
        }
        self.groups.iter_mut().filter(|group| group.mask & top.lanes != 0).for_each(|group| group.state = GroupState::AtMeeting);
        stack.sides.pop();
        true
    }
}
