//! The groups of a warp: how they part, merge and follow each other.

use smallvec::SmallVec;

use crate::machine::state::lanes::LaneMask;
use crate::machine::state::warp::{GroupState, LaneGroup, depth, frames, same_stack};
use crate::program::Pc;

/// The groups of a warp, in no order.
pub type Groups = SmallVec<[LaneGroup; 2]>;

/// The lanes of all groups.
pub(in crate::machine) fn lanes(groups: &[LaneGroup]) -> LaneMask {
    groups.iter().fold(LaneMask::NONE, |lanes, group| lanes | group.mask)
}

/// Splits `lanes` off the group `index`, to continue at `target`. A group that loses all its lanes stays.
pub(in crate::machine) fn split(groups: &mut Groups, index: usize, lanes: LaneMask, target: Pc) {
    let group = &mut groups[index];
    assert!(!lanes.is_empty(), "a group without lanes is split off");
    assert!(group.mask.contains_all(lanes), "lanes are split off a group that does not have them");
    group.mask &= !lanes;
    let branch = LaneGroup { pc: target, mask: lanes, ..group.clone() };
    groups.push(branch);
}

/// Merges groups with the same pc, frame, calls and state, which ends the `streak` of the one that runs. True if there were any.
pub(in crate::machine) fn merge(groups: &mut Groups, streak: &mut u32) -> bool {
    let (mut index, before, all) = (0, groups.len(), lanes(groups));
    while index < groups.len() {
        if let Some(other) = (index + 1..groups.len()).find(|other| can_merge(&groups[index], &groups[*other])) {
            let other = groups.swap_remove(other);
            groups[index].absorb(&other);
            *streak = 0;
        } else {
            index += 1;
        }
    }
    debug_assert_eq!(lanes(groups), all, "lanes are lost or gained where groups merge");
    groups.len() < before
}

/// True if no two groups can merge.
pub(in crate::machine) fn are_merged(groups: &[LaneGroup]) -> bool {
    groups.iter().enumerate().all(|(index, one)| !groups[index + 1..].iter().any(|other| can_merge(one, other)))
}

#[inline(always)]
fn can_merge(one: &LaneGroup, other: &LaneGroup) -> bool {
    one.pc == other.pc && one.state == other.state && one.frame == other.frame && same_stack(&one.stack, &other.stack)
}

/// The least advanced by `rank` of the groups that are ready and have not yielded.
pub(in crate::machine) fn least_advanced(groups: &[LaneGroup], rank: &[u32]) -> Option<usize> {
    let ready = |index: &usize| groups[*index].state == GroupState::Ready && !groups[*index].yielded;
    (0..groups.len()).filter(ready).min_by(|a, b| {
        let (a, b) = (&groups[*a], &groups[*b]);
        progress(a, b, rank).then(a.mask.first().cmp(&b.mask.first()))
    })
}

/// The rank at which the group `index` reaches or passes another group, so that a group must be chosen anew. Groups that cannot run now
/// matter only if they are ahead, since they may merge.
pub(in crate::machine) fn limit(groups: &[LaneGroup], index: usize, rank: &[u32]) -> u32 {
    let own = &groups[index];
    let own_rank = rank[own.pc.index()];
    let others = groups.iter().enumerate().filter(|(other, _)| *other != index);
    let reconvergences = others.map(|(_, other)| {
        let reconvergence = reconvergence_rank(own, other, rank);
        let waits = other.yielded || other.state != GroupState::Ready;
        if waits && reconvergence <= own_rank { u32::MAX } else { reconvergence }
    });
    reconvergences.min().unwrap_or(u32::MAX)
}

/// The pc of a group in its function at call depth `level`, and true if it is in a call there. None if it has fewer calls in progress.
fn position_at(group: &LaneGroup, level: u32) -> Option<(Pc, bool)> {
    let own = depth(&group.stack);
    match own.cmp(&level) {
        std::cmp::Ordering::Less => None,
        std::cmp::Ordering::Equal => Some((group.pc, false)),
        std::cmp::Ordering::Greater => frames(&group.stack).find(|frame| frame.depth == level + 1).map(|frame| (frame.pc, true)),
    }
}

/// The outermost level at which the pcs of two groups differ.
fn diverging_level(a: &LaneGroup, b: &LaneGroup) -> u32 {
    let common = depth(&a.stack).min(depth(&b.stack));
    (0..common).find(|level| position_at(a, *level) != position_at(b, *level)).unwrap_or(common)
}

/// Compares two groups; less means less advanced.
fn progress(a: &LaneGroup, b: &LaneGroup, rank: &[u32]) -> std::cmp::Ordering {
    let level = if a.stack.is_none() && b.stack.is_none() { 0 } else { diverging_level(a, b) };
    let key = |group| position_at(group, level).map(|(pc, inside)| (rank[pc.index()], inside));
    key(a).cmp(&key(b))
}

/// The rank in `own`'s function at which it reaches or passes `other`.
fn reconvergence_rank(own: &LaneGroup, other: &LaneGroup, rank: &[u32]) -> u32 {
    let level = if own.stack.is_none() && other.stack.is_none() { 0 } else { diverging_level(own, other) };
    if depth(&own.stack) > level {
        return u32::MAX;
    }
    match position_at(other, level) {
        Some((pc, inside)) => rank[pc.index()].saturating_add(u32::from(inside)),
        None => u32::MAX,
    }
}
