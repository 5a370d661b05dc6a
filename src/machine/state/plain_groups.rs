//! The groups of a warp that are all plain ([`LaneGroup::is_plain`]), in compact form: loops whose lanes part and meet in every iteration
//! spend most of their time here.

use crate::machine::state::groups::Groups;
use crate::machine::state::lanes::{LANES, LaneMask};
use crate::machine::state::warp::LaneGroup;
use crate::program::Pc;

/// What parts and merges of plain groups change.
#[derive(Clone, Copy)]
struct PlainGroup {
    /// The rank of its pc.
    rank: u32,
    pc: Pc,
    mask: LaneMask,
    local_top: u32,
    /// The index that it, or the one it was split off, had at first.
    from: u32,
}

impl PlainGroup {
    /// Its place in the order of groups, the least advanced first.
    #[inline(always)]
    fn place(&self) -> u64 {
        u64::from(self.rank) << 8 | self.mask.first() as u64
    }
}

/// The groups of a warp, in no order. A machine has one for the warp that runs: that takes less than to make one.
#[derive(Clone)]
pub struct PlainGroups {
    groups: [PlainGroup; LANES],
    count: usize,
}

impl Default for PlainGroups {
    fn default() -> Self {
        const NONE: PlainGroup = PlainGroup { rank: 0, pc: Pc(0), mask: LaneMask::NONE, local_top: 0, from: 0 };
        Self { groups: [NONE; LANES], count: 0 }
    }
}

impl PlainGroups {
    /// True if [`Self::take`] was not called.
    #[inline(always)]
    pub fn are_none(&self) -> bool {
        self.count == 0
    }

    /// Takes the state of `groups`, until [`Self::give_back`].
    pub fn take(&mut self, groups: &[LaneGroup], rank: &[u32]) {
        assert!(self.are_none() && groups.iter().all(LaneGroup::is_plain), "a group that waits, has yielded or is in a call");
        debug_assert!(groups.windows(2).all(|pair| pair[0].frame == pair[1].frame), "groups without calls have the frame of the kernel");
        for (plain, (from, group)) in self.groups.iter_mut().zip((0..).zip(groups)) {
            *plain = PlainGroup { rank: rank[group.pc.index()], pc: group.pc, mask: group.mask, local_top: group.local_top, from };
        }
        self.count = groups.len();
    }

    /// Makes `groups`, of which it has taken the state, those that there are now.
    pub fn give_back(&mut self, groups: &mut Groups) {
        let former = std::mem::take(groups);
        groups.extend(self.groups[..self.count].iter().map(|plain| {
            let PlainGroup { pc, mask, local_top, from, rank: _ } = *plain;
            LaneGroup { pc, mask, local_top, ..former[from as usize].clone() }
        }));
        self.count = 0;
    }

    /// The number of groups.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.count
    }

    /// The lanes and the pc of the group `index`.
    #[inline(always)]
    pub fn get(&self, index: usize) -> (LaneMask, Pc) {
        (self.groups[index].mask, self.groups[index].pc)
    }

    /// The group `index` has reached `pc`.
    #[inline(always)]
    pub fn advance(&mut self, index: usize, pc: Pc, rank: &[u32]) {
        (self.groups[index].pc, self.groups[index].rank) = (pc, rank[pc.index()]);
    }

    /// Splits `lanes` off the group `index`, to continue at `target`: this is the last group.
    #[inline(always)]
    pub fn split(&mut self, index: usize, lanes: LaneMask, target: Pc, rank: &[u32]) {
        let group = &mut self.groups[index];
        assert!(!lanes.is_empty() && group.mask.contains_all(lanes), "lanes are split off a group that does not have them");
        group.mask &= !lanes;
        let branch = PlainGroup { pc: target, rank: rank[target.index()], mask: lanes, ..*group };
        self.groups[self.count] = branch;
        self.count += 1;
    }

    /// Merges the group `index`, which has moved, with another one at its pc, if there is one, which ends the `streak` of the one that
    /// runs: all others were merged before. The one with the higher index is taken away, and the last group gets its index.
    #[inline(always)]
    pub fn meet(&mut self, index: usize, streak: &mut u32) {
        let moved = self.groups[index];
        let meets = |(other, group): (usize, &PlainGroup)| group.pc == moved.pc && other != index;
        let Some(other) = self.groups[..self.count].iter().enumerate().position(meets) else { return };
        let (kept, gone) = (index.min(other), index.max(other));
        let merged = self.groups[gone];
        self.count -= 1;
        self.groups[gone] = self.groups[self.count];
        let group = &mut self.groups[kept];
        assert!(!group.mask.intersects(merged.mask), "a lane is in two groups");
        (group.mask, group.local_top) = (group.mask | merged.mask, group.local_top.max(merged.local_top));
        *streak = 0;
    }

    /// The group that runs next, the least advanced, and the rank at which it reaches or passes another one.
    #[inline(always)]
    pub fn choose(&self) -> (usize, u32) {
        let (mut chosen, mut least, mut limit) = (0, self.groups[0].place(), u64::MAX);
        for (index, group) in self.groups[..self.count].iter().enumerate().skip(1) {
            let place = group.place();
            limit = limit.min(place.max(least));
            if place < least {
                (chosen, least) = (index, place);
            }
        }
        (chosen, (limit >> 8).min(u64::from(u32::MAX)) as u32)
    }
}
