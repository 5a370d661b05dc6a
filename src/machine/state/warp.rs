//! A warp: 32 lanes in groups, each with one pc.
//!
//! Threads of a warp are scheduled independently (sm_70 and later): a divergent branch splits a group, and two groups at the same
//! instruction with the same call stack merge. Of several groups the one least advanced in the static order of the code runs
//! ([`Warp::next_group`]), which is what makes them reconverge. Under the other policy the stack of the warp decides which group runs
//! (`simt_stack`).

use std::hash::{Hash, Hasher};

use smallvec::SmallVec;
use triomphe::Arc;

use crate::machine::state::in_flight::queue::WgmmaQueue;
use crate::machine::state::lanes::{LANES, LaneMask, PerLane};
use crate::machine::state::memory::LocalMemory;
use crate::machine::state::registers::{FrameBase, Registers};
use crate::machine::state::simt_stack::SimtStack;
use crate::program::{CallId, FuncId, Pc};

/// A call in progress, as the group inside it remembers its caller.
#[derive(Debug, PartialEq, Eq)]
pub struct CallFrame {
    /// The call instruction.
    pub pc: Pc,
    /// Its call site.
    pub call: CallId,
    /// The function called; decides where results are found.
    pub callee: FuncId,
    /// The caller's frame.
    pub caller: FrameBase,
    /// End of the local memory the caller uses.
    pub caller_top: u32,
    /// Number of calls in progress, this one included.
    pub depth: u32,
    /// The call that the caller itself is in.
    pub parent: CallStack,
}

/// The calls a group is inside of, innermost first.
pub type CallStack = Option<Arc<CallFrame>>;

/// Why a group does not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GroupState {
    /// It can run.
    Ready,
    /// It has arrived at a barrier of the block that is not complete.
    AtBarrier {
        /// Barrier number.
        id: u32,
        /// The barrier instruction, which says where a reduction's result goes.
        pc: Pc,
    },
    /// It is at an instruction that the other lanes of `members` must execute with it.
    AtSync {
        /// Lanes that must arrive.
        members: LaneMask,
    },
    /// It is at an instruction that tests whether a phase of the mbarrier at this address of the block's shared memory has completed.
    AtMbarrier {
        /// The address of the mbarrier.
        address: u32,
    },
    /// It is at an instruction that waits for its copies, which only the user ends.
    AtCopies,
    /// It is at an instruction that waits for the matrix multiplications of its warpgroup, which only the user ends.
    AtWgmmas,
    /// It is at an instruction that waits for matrix multiplications that other warps of its warpgroup have not committed.
    AtWarpgroup,
    /// It waits in `barrier.cluster.wait`.
    AtCluster {
        /// The instruction.
        pc: Pc,
    },
    /// It waits in `bar.warp.sync`, which the other lanes of `members` must execute too, there or elsewhere.
    AtWarpSync {
        /// Lanes that must arrive.
        members: LaneMask,
        /// The instruction.
        pc: Pc,
    },
    /// It waits at a reconvergence point for other lanes; under the stack policy only.
    AtReconvergence,
    /// Another side of a branch runs first; under the stack policy only.
    AwaitsTurn,
}

impl GroupState {
    /// The lanes that must arrive where a group in this state waits; none if it does not wait for lanes.
    pub fn members(self) -> LaneMask {
        match self {
            GroupState::AtSync { members } | GroupState::AtWarpSync { members, .. } => members,
            GroupState::Ready
            | GroupState::AtBarrier { .. }
            | GroupState::AtMbarrier { .. }
            | GroupState::AtCopies
            | GroupState::AtWgmmas
            | GroupState::AtWarpgroup
            | GroupState::AtCluster { .. }
            | GroupState::AtReconvergence
            | GroupState::AwaitsTurn => LaneMask::NONE,
        }
    }
}

impl LaneGroup {
    /// The pc of the instruction of its state: the barrier it waits at, or what it executes next.
    pub fn current_pc(&self) -> Pc {
        match self.state {
            GroupState::AtBarrier { pc, .. } | GroupState::AtWarpSync { pc, .. } | GroupState::AtCluster { pc } => pc,
            GroupState::Ready
            | GroupState::AtSync { .. }
            | GroupState::AtMbarrier { .. }
            | GroupState::AtCopies
            | GroupState::AtWgmmas
            | GroupState::AtWarpgroup
            | GroupState::AtReconvergence
            | GroupState::AwaitsTurn => self.pc,
        }
    }
}

/// The state of a group's polls of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Hash)]
pub enum Polled {
    /// Nothing.
    #[default]
    Never,
    /// The poll at this instruction failed: the next one waits.
    Refused(Pc),
    /// It waited at this instruction long enough: the poll fails.
    TimedOut(Pc),
}

/// Lanes that run together.
#[derive(Clone, Debug)]
pub struct LaneGroup {
    /// The instruction it executes next.
    pub pc: Pc,
    /// Its lanes; not empty.
    pub mask: LaneMask,
    /// The frame of its registers.
    pub frame: FrameBase,
    /// End of the local memory it uses: its frame, and what `alloca` took after it.
    pub local_top: u32,
    /// The calls it is inside of.
    pub stack: CallStack,
    /// Whether it can run.
    pub state: GroupState,
    /// It ran for long while others could have run: these go first now.
    pub yielded: bool,
    /// pc of the last failed mbarrier test.
    pub polled: Polled,
}

impl LaneGroup {
    /// Takes over the lanes of `other`, which is at the same place.
    pub(in crate::machine) fn absorb(&mut self, other: &Self) {
        assert!(!self.mask.intersects(other.mask), "a lane is in two groups");
        assert!(self.pc == other.pc && self.frame == other.frame, "groups at different places are merged");
        assert!(self.state == other.state, "groups that wait for different things are merged");
        self.mask |= other.mask;
        self.yielded &= other.yielded;
        self.local_top = self.local_top.max(other.local_top);
    }

    /// Whether it waits for something else than its turn.
    pub(in crate::machine) fn waits_by_itself(&self) -> bool {
        !matches!(self.state, GroupState::Ready | GroupState::AtReconvergence | GroupState::AwaitsTurn)
    }
}

/// The number of groups of copies that each lane of a warp has committed: of `cp.async`, and of `cp.async.bulk`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct CopyGroups(Option<Arc<[PerLane<u32>; 2]>>);

impl CopyGroups {
    /// The groups that each lane has committed; of `cp.async.bulk` if `bulk`.
    pub fn committed(&self, bulk: bool) -> PerLane<u32> {
        self.0.as_ref().map_or([0; LANES], |groups| groups[usize::from(bulk)])
    }

    /// The lanes of `mask` commit a group.
    pub fn commit(&mut self, bulk: bool, mask: LaneMask) {
        assert!(!mask.is_empty(), "a group of copies of no lane");
        let groups = Arc::make_mut(self.0.get_or_insert_with(|| Arc::new([[0; LANES]; 2])));
        mask.iter().for_each(|lane| groups[usize::from(bulk)][lane] += 1);
    }
}

/// A warp of a resident block.
#[derive(Clone)]
pub struct Warp {
    /// Its registers.
    pub registers: Registers,
    /// Its local memory.
    pub local: LocalMemory,
    /// Values of `Program::specials`.
    pub specials: Arc<Vec<PerLane<u32>>>,
    /// Its groups; empty when all lanes have exited.
    pub groups: SmallVec<[LaneGroup; 2]>,
    /// The reconvergence stack, under the stack policy.
    pub simt_stack: Option<SimtStack>,
    /// Lanes that have not exited.
    pub live: LaneMask,
    /// Groups of copies that each lane has committed: of `cp.async`, and of `cp.async.bulk`.
    pub copy_groups: CopyGroups,
    /// Asynchronous matrix multiplications that it has not waited for.
    pub wgmmas: WgmmaQueue,
    /// Instructions issued while another group of the warp was ready and did not run.
    pub streak: u32,
    /// Whether such an instruction could have been a wait for another thread.
    pub may_spin: bool,
}

impl Warp {
    /// The lanes that execute each instruction together with `lanes`, if the warp has a stack; otherwise none.
    pub fn lockstep(&self, lanes: LaneMask) -> LaneMask {
        match self.simt_stack {
            Some(_) => self.groups.iter().map(|group| group.mask).find(|mask| mask.contains_all(lanes)).unwrap_or(lanes),
            None => LaneMask::NONE,
        }
    }

    /// Whether any of its groups can run.
    pub fn can_run(&self) -> bool {
        self.groups.iter().any(|group| group.state == GroupState::Ready)
    }

    /// The group that runs next: the least advanced by `rank` among those that are ready and have not yielded, or the one on top of the
    /// stack. `None` if all wait.
    pub fn next_group(&mut self, rank: &[u32]) -> Option<usize> {
        self.check_groups();
        let next = self.choose_group(rank);
        self.check_groups();
        debug_assert!(self.is_awake(), "a group waits for lanes that are all there");
        match next {
            Some(index) => assert!(self.groups[index].state == GroupState::Ready, "a group that waits is chosen"),
            None => assert!(!self.can_run(), "a group is ready and none is chosen"),
        }
        next
    }

    /// Every lane that has not exited is in one group, and no other lane is in any.
    fn check_groups(&self) {
        let mut lanes = LaneMask::NONE;
        for group in &self.groups {
            assert!(!group.mask.is_empty(), "a group has no lane");
            assert!(!lanes.intersects(group.mask), "a lane is in two groups");
            lanes |= group.mask;
        }
        assert_eq!(lanes, self.live, "a lane is lost, or an exited one is in a group");
    }

    fn choose_group(&mut self, rank: &[u32]) -> Option<usize> {
        if self.simt_stack.is_some() {
            self.wake();
            return self.next_on_stack();
        }
        if self.groups.len() == 1 {
            self.wake();
            return (self.groups[0].state == GroupState::Ready).then_some(0);
        }
        self.canonicalize();
        if self.groups.iter().all(|group| group.yielded || group.state != GroupState::Ready) {
            self.groups.iter_mut().for_each(|group| group.yielded = false);
        }
        let ready = |index: &usize| self.groups[*index].state == GroupState::Ready && !self.groups[*index].yielded;
        (0..self.groups.len()).filter(ready).min_by(|a, b| {
            let (a, b) = (&self.groups[*a], &self.groups[*b]);
            progress(a, b, rank).then(a.mask.first().cmp(&b.mask.first()))
        })
    }

    /// Like [`Self::next_group`], and passes every group that others have joined to `reconverged`.
    pub fn next_group_reconverged(&mut self, rank: &[u32], mut reconverged: impl FnMut(&LaneGroup)) -> Option<usize> {
        let before: SmallVec<[LaneMask; 8]> = self.groups.iter().map(|group| group.mask).collect();
        let next = self.next_group(rank);
        assert!(self.groups.len() <= before.len(), "groups part where they reconverge");
        if self.groups.len() < before.len() {
            self.groups.iter().filter(|group| !before.contains(&group.mask)).for_each(&mut reconverged);
        }
        next
    }

    /// The rank at which the group `index`, going forward, reaches or passes another one and must be compared with it anew. A group that
    /// cannot run now is only joined, not waited for, so it counts only if it is ahead.
    pub fn limit(&self, index: usize, rank: &[u32]) -> u32 {
        let own = &self.groups[index];
        if let Some(stack) = &self.simt_stack {
            return stack.limit(depth(&own.stack), rank);
        }
        let own_rank = rank[own.pc.index()];
        let others = self.groups.iter().enumerate().filter(|(other, _)| *other != index);
        let pushed_targets = others.map(|(_, other)| {
            let reconvergence = reconvergence_rank(own, other, rank);
            let waits = other.yielded || other.state != GroupState::Ready;
            if waits && reconvergence <= own_rank { u32::MAX } else { reconvergence }
        });
        pushed_targets.min().unwrap_or(u32::MAX)
    }

    /// Splits `taken` off the group `index`, to continue at `target`.
    pub fn split(&mut self, index: usize, taken: LaneMask, target: Pc) {
        let group = &mut self.groups[index];
        assert!(!taken.is_empty(), "a group without lanes is split off");
        assert!(group.mask.contains_all(taken), "lanes are split off a group that does not have them");
        group.mask &= !taken;
        let branch = LaneGroup { pc: target, mask: taken, ..group.clone() };
        assert!(!group.mask.intersects(branch.mask), "lanes that are split off stay");
        self.groups.push(branch);
        debug_assert_eq!(self.lanes_of_groups(), self.live, "lanes are lost where a group parts");
    }

    /// Ends the lanes of `mask`.
    pub fn exit(&mut self, mask: LaneMask) {
        assert!(!mask.is_empty() && self.live.contains_all(mask), "lanes exit that are not live");
        self.live &= !mask;
        self.groups.iter_mut().for_each(|group| group.mask &= !mask);
        self.groups.retain(|group| !group.mask.is_empty());
        self.wake();
        assert!(!self.live.intersects(mask), "lanes that exit stay live");
        self.check_groups();
    }

    /// Releases groups whose wait condition holds.
    fn wake(&mut self) {
        for index in 0..self.groups.len() {
            let group = &self.groups[index];
            let arrived = match group.state {
                GroupState::AtSync { .. } => group.mask,
                GroupState::AtWarpSync { members, .. } => self.arrived_at_warp_sync(members),
                GroupState::Ready
                | GroupState::AtBarrier { .. }
                | GroupState::AtMbarrier { .. }
                | GroupState::AtCopies
                | GroupState::AtWgmmas
                | GroupState::AtWarpgroup
                | GroupState::AtCluster { .. }
                | GroupState::AtReconvergence
                | GroupState::AwaitsTurn => continue,
            };
            if arrived.contains_all(group.state.members() & self.live) {
                assert_eq!(group.state.members() & self.live | arrived, arrived, "a group continues without a lane that it waits for");
                self.release_members(index);
                assert!(self.groups[index].state == GroupState::Ready, "a group whose lanes are all there still waits");
            }
        }
    }

    /// Whether every group that waits for lanes waits for one that has not come.
    fn is_awake(&self) -> bool {
        self.groups.iter().filter(|group| !group.state.members().is_empty()).all(|group| {
            let is_past = matches!(group.state, GroupState::AtWarpSync { .. });
            let arrived = if is_past { self.arrived_at_warp_sync(group.state.members()) } else { group.mask };
            !arrived.contains_all(group.state.members() & self.live)
        })
    }

    /// The lanes that are past a `bar.warp.sync` of `members` and wait for it.
    fn arrived_at_warp_sync(&self, members: LaneMask) -> LaneMask {
        let waits = |group: &&LaneGroup| matches!(group.state, GroupState::AtWarpSync { members: other, .. } if other == members);
        self.groups.iter().filter(waits).fold(LaneMask::NONE, |mask, group| mask | group.mask)
    }

    /// Sets the group `index` going, and with it all that wait at the same `bar.warp.sync`.
    fn release_members(&mut self, index: usize) {
        let state = self.groups[index].state;
        let waits = matches!(state, GroupState::AtSync { .. } | GroupState::AtWarpSync { .. });
        assert!(waits, "a group is released that waits for no lane");
        self.groups[index].state = GroupState::Ready;
        if let GroupState::AtWarpSync { members, .. } = state {
            for group in &mut self.groups {
                if matches!(group.state, GroupState::AtWarpSync { members: other, .. } if other == members) {
                    group.state = GroupState::Ready;
                }
            }
            assert!(self.arrived_at_warp_sync(members).is_empty(), "lanes wait for lanes that have gone on");
        }
    }

    /// Merges groups at the same place in the same state. True if any did.
    fn merge(&mut self) -> bool {
        let (mut index, before) = (0, self.groups.len());
        let lanes = self.lanes_of_groups();
        while index < self.groups.len() {
            let same = |other: &LaneGroup| {
                let group = &self.groups[index];
                group.pc == other.pc && group.frame == other.frame && same_stack(&group.stack, &other.stack) && group.state == other.state
            };
            if let Some(other) = (index + 1..self.groups.len()).find(|other| same(&self.groups[*other])) {
                let other = self.groups.swap_remove(other);
                self.groups[index].absorb(&other);
                self.streak = 0;
            } else {
                index += 1;
            }
        }
        assert_eq!(self.lanes_of_groups(), lanes, "lanes are lost or gained where groups merge");
        self.groups.len() < before
    }

    /// Whether no two groups are at the same place in the same state.
    fn is_merged(&self) -> bool {
        let same = |one: &LaneGroup, other: &LaneGroup| {
            one.pc == other.pc && one.state == other.state && one.frame == other.frame && same_stack(&one.stack, &other.stack)
        };
        let later = |index: usize| &self.groups[index + 1..];
        self.groups.iter().enumerate().all(|(index, one)| !later(index).iter().any(|other| same(one, other)))
    }

    fn lanes_of_groups(&self) -> LaneMask {
        self.groups.iter().fold(LaneMask::NONE, |lanes, group| lanes | group.mask)
    }

    /// Wakes and merges groups until neither changes anything: a group that wakes may be at the pc of another one, and lanes that have
    /// merged may be all that a group waits for. Idempotent: a second call changes nothing.
    fn canonicalize(&mut self) {
        self.wake();
        while self.merge() {
            self.wake();
        }
        debug_assert!(self.is_merged(), "groups at one place are two");
    }

    /// Adds everything but its registers to `state`, its groups in the order of their lanes.
    pub fn hash_rest<H: Hasher>(&self, state: &mut H) {
        let Self { registers: _, local, specials: _, groups, simt_stack, live, copy_groups, wgmmas, streak, may_spin } = self;
        (local, live, streak, may_spin, copy_groups, wgmmas, simt_stack).hash(state);
        let mut groups: Vec<&LaneGroup> = groups.iter().collect();
        groups.sort_by_key(|group| group.mask.first());
        groups.hash(state);
    }
}

impl Hash for Warp {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.registers.hash(state);
        self.hash_rest(state);
    }
}

impl Hash for LaneGroup {
    /// Without its frame, which follows from its calls. These are hashed in a loop, not by recursion: they may be many.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Self { pc, mask, frame: _, local_top: _, stack, state: group_state, yielded, polled } = self;
        (pc, mask, group_state, yielded, polled, depth(stack)).hash(state);
        frames(stack).for_each(|call| call.pc.hash(state));
    }
}

/// The calls of a stack, innermost first.
pub fn frames(stack: &CallStack) -> impl Iterator<Item = &CallFrame> {
    std::iter::successors(stack.as_deref(), |frame| frame.parent.as_deref())
}

/// Number of calls in progress.
pub(in crate::machine) fn depth(stack: &CallStack) -> u32 {
    stack.as_ref().map_or(0, |frame| frame.depth)
}

/// Whether two groups are inside of the same calls.
pub(in crate::machine) fn same_stack(a: &CallStack, b: &CallStack) -> bool {
    let (mut a, mut b) = (a.as_ref(), b.as_ref());
    loop {
        match (a, b) {
            (None, None) => return true,
            (Some(x), Some(y)) if Arc::ptr_eq(x, y) => return true,
            (Some(x), Some(y)) if x.pc == y.pc && x.depth == y.depth => (a, b) = (x.parent.as_ref(), y.parent.as_ref()),
            _ => return false,
        }
    }
}

/// The pc of a group in the outermost function in which it and another one differ, and whether it is inside a call there.
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

/// Orders two groups: less means less advanced.
fn progress(a: &LaneGroup, b: &LaneGroup, rank: &[u32]) -> std::cmp::Ordering {
    let level = if a.stack.is_none() && b.stack.is_none() { 0 } else { diverging_level(a, b) };
    let key = |group| position_at(group, level).map(|(pc, inside)| (rank[pc.index()], inside));
    key(a).cmp(&key(b))
}

/// The rank in `own`'s function at which it has caught up with `other`.
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
