//! A warp: 32 lanes in groups of converged lanes, each with one pc.
//!
//! Threads of a warp are scheduled independently (sm_70 and later): a divergent branch splits a group, and two groups at the same
//! instruction with the same call stack merge. The group that is least advanced in the static order of the code runs first
//! ([`Warp::next_group`]), so that groups reconverge. Under the other policy the stack of the warp selects the group (`simt_stack`).

use std::hash::{Hash, Hasher};

use smallvec::SmallVec;
use triomphe::Arc;

use crate::machine::state::groups::{self, Groups};
use crate::machine::state::in_flight::queue::WgmmaQueue;
use crate::machine::state::lanes::{LANES, LaneMask, PerLane};
use crate::machine::state::memory::LocalMemory;
use crate::machine::state::registers::{FrameBase, Registers};
use crate::machine::state::simt_stack::SimtStack;
use crate::program::{CallId, FuncId, Pc};

/// A call in progress: the return state of a group.
#[derive(Debug, PartialEq, Eq)]
pub struct CallFrame {
    /// The call instruction.
    pub pc: Pc,
    /// Its call site.
    pub call: CallId,
    /// The called function, which determines the location of results.
    pub callee: FuncId,
    /// The caller's frame.
    pub caller: FrameBase,
    /// End of the local memory the caller uses.
    pub caller_top: u32,
    /// Number of calls in progress, this one included.
    pub depth: u32,
    /// The calls in progress in the caller.
    pub parent: CallStack,
}

/// The calls in progress of a group, innermost first.
pub type CallStack = Option<Arc<CallFrame>>;

/// The state of a group: ready, or the reason for which it waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GroupState {
    /// It can run.
    Ready,
    /// It has arrived at a barrier of the block that is not complete.
    AtBarrier {
        /// Barrier number.
        id: u32,
        /// The barrier instruction, which names the destination of a reduction.
        pc: Pc,
    },
    /// It waits at an instruction that the other lanes of `members` must execute with it.
    AtSync {
        /// Lanes that must arrive.
        members: LaneMask,
    },
    /// It waits at a `test_wait` or `try_wait` for a phase of the mbarrier at this address of the block's shared memory.
    AtMbarrier {
        /// The address of the mbarrier.
        address: u32,
    },
    /// It waits for its copies, which only the user completes.
    AtCopies,
    /// It waits for the matrix multiplications of its warpgroup, which only the user completes.
    AtWgmmas,
    /// It waits for other warps of its warpgroup to commit their matrix multiplications.
    AtWarpgroup,
    /// It waits in `barrier.cluster.wait`.
    AtCluster {
        /// The instruction.
        pc: Pc,
    },
    /// It waits in `bar.warp.sync`, which the other lanes of `members` must execute too, at this or another instruction.
    AtWarpSync {
        /// Lanes that must arrive.
        members: LaneMask,
        /// The instruction.
        pc: Pc,
    },
    /// It waits for other lanes at a reconvergence point; under the stack policy only.
    AtReconvergence,
    /// Another side of a branch runs first; under the stack policy only.
    Deferred,
}

impl GroupState {
    /// The lanes for which a group in this state waits, its own included; none if it does not wait for lanes.
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
            | GroupState::Deferred => LaneMask::NONE,
        }
    }
}

impl LaneGroup {
    /// The pc of the instruction at which it waits or which it executes next.
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
            | GroupState::Deferred => self.pc,
        }
    }
}

/// The result of a group's last poll of an mbarrier phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Hash)]
pub enum Polled {
    /// No failed poll.
    #[default]
    Never,
    /// The poll at this instruction failed: the next one waits.
    Failed(Pc),
    /// The wait at this instruction timed out: the poll fails.
    TimedOut(Pc),
}

/// A group of converged lanes, which run together.
#[derive(Clone, Debug)]
pub struct LaneGroup {
    /// The instruction it executes next.
    pub pc: Pc,
    /// Its lanes; not empty.
    pub mask: LaneMask,
    /// The frame of its registers.
    pub frame: FrameBase,
    /// End of the local memory it uses: its frame, and memory of `alloca` after it.
    pub local_top: u32,
    /// Its calls in progress.
    pub stack: CallStack,
    /// Ready, or the reason for which it waits.
    pub state: GroupState,
    /// True if it ran for long while other groups were ready: these run first now.
    pub yielded: bool,
    /// The result of its last poll of an mbarrier phase.
    pub polled: Polled,
}

impl LaneGroup {
    /// Merges the lanes of `other`, which is at the same pc in the same frame, into this group.
    pub(in crate::machine) fn absorb(&mut self, other: &Self) {
        assert!(!self.mask.intersects(other.mask), "a lane is in two groups");
        assert!(self.pc == other.pc && self.frame == other.frame, "groups at different places are merged");
        assert!(self.state == other.state, "groups that wait for different things are merged");
        self.mask |= other.mask;
        self.yielded &= other.yielded;
        self.local_top = self.local_top.max(other.local_top);
    }

    /// True if it can run, has not yielded, and has no calls in progress.
    pub(in crate::machine) fn is_plain(&self) -> bool {
        self.state == GroupState::Ready && !self.yielded && self.stack.is_none()
    }

    /// True if it waits for anything but other sides of a branch.
    pub(in crate::machine) fn is_blocked(&self) -> bool {
        !matches!(self.state, GroupState::Ready | GroupState::AtReconvergence | GroupState::Deferred)
    }
}

/// The number of groups of copies that each lane of a warp has committed: of `cp.async`, and of `cp.async.bulk`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct CopyGroups(Option<Arc<[PerLane<u32>; 2]>>);

impl CopyGroups {
    /// The number of groups that each lane has committed: of `cp.async.bulk` if `bulk`, otherwise of `cp.async`.
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
    pub groups: Groups,
    /// The reconvergence stack, under the stack policy.
    pub simt_stack: Option<SimtStack>,
    /// Lanes that have not exited.
    pub live: LaneMask,
    /// Groups of copies that each lane has committed: of `cp.async`, and of `cp.async.bulk`.
    pub copy_groups: CopyGroups,
    /// Asynchronous matrix multiplications that it has not waited for.
    pub wgmmas: WgmmaQueue,
    /// Consecutive instructions issued while another group of the warp was ready.
    pub streak: u32,
    /// True if such an instruction may be part of a spin loop.
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

    /// True if any of its groups can run.
    pub fn can_run(&self) -> bool {
        self.groups.iter().any(|group| group.state == GroupState::Ready)
    }

    /// The index of the group that runs next: the least advanced by `rank` of those that are ready and have not yielded, or the side on top
    /// of the stack. `None` if all wait.
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

    /// Checks the invariant: the groups partition the lanes that have not exited.
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
        groups::least_advanced(&self.groups, rank)
    }

    /// Like [`Self::next_group`]; passes every group that results from a merge to `reconverged`.
    pub fn next_group_reconverged(&mut self, rank: &[u32], mut reconverged: impl FnMut(&LaneGroup)) -> Option<usize> {
        let before: SmallVec<[LaneMask; 8]> = self.groups.iter().map(|group| group.mask).collect();
        let next = self.next_group(rank);
        assert!(self.groups.len() <= before.len(), "groups part where they reconverge");
        if self.groups.len() < before.len() {
            self.groups.iter().filter(|group| !before.contains(&group.mask)).for_each(&mut reconverged);
        }
        next
    }

    /// The rank at which the group `index` reaches or passes another group, so that a group must be chosen anew. Groups that cannot run now
    /// matter only if they are ahead, since they may merge.
    pub fn limit(&self, index: usize, rank: &[u32]) -> u32 {
        match &self.simt_stack {
            Some(stack) => stack.limit(depth(&self.groups[index].stack), rank),
            None => groups::limit(&self.groups, index, rank),
        }
    }

    /// True if the chosen group may go back to an earlier instruction and run on, until it reaches the rank of another group: all groups
    /// are ready, so that no other one can be the least advanced.
    pub fn may_go_back(&self) -> bool {
        self.simt_stack.is_none() && self.groups.iter().all(LaneGroup::is_plain)
    }

    /// Splits `lanes` off the group `index`, to continue at `target`.
    pub fn split(&mut self, index: usize, lanes: LaneMask, target: Pc) {
        groups::split(&mut self.groups, index, lanes, target);
        debug_assert_eq!(groups::lanes(&self.groups), self.live, "lanes are lost where a group parts");
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

    /// Wakes the groups whose wait condition holds.
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
                | GroupState::Deferred => continue,
            };
            if arrived.contains_all(group.state.members() & self.live) {
                assert_eq!(group.state.members() & self.live | arrived, arrived, "a group continues without a lane that it waits for");
                self.release_members(index);
                assert!(self.groups[index].state == GroupState::Ready, "a group whose lanes are all there still waits");
            }
        }
    }

    /// True if every group that waits for lanes waits for a lane that has not arrived.
    fn is_awake(&self) -> bool {
        self.groups.iter().filter(|group| !group.state.members().is_empty()).all(|group| {
            let is_past = matches!(group.state, GroupState::AtWarpSync { .. });
            let arrived = if is_past { self.arrived_at_warp_sync(group.state.members()) } else { group.mask };
            !arrived.contains_all(group.state.members() & self.live)
        })
    }

    /// The lanes that wait in a `bar.warp.sync` of `members`.
    fn arrived_at_warp_sync(&self, members: LaneMask) -> LaneMask {
        let waits = |group: &&LaneGroup| matches!(group.state, GroupState::AtWarpSync { members: other, .. } if other == members);
        self.groups.iter().filter(waits).fold(LaneMask::NONE, |mask, group| mask | group.mask)
    }

    /// Wakes the group `index`, and all groups that wait in the same `bar.warp.sync`.
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

    /// Wakes and merges groups until neither changes anything: a woken group may be at the pc of another one, and a merge may complete the
    /// lanes for which a group waits. Idempotent.
    fn canonicalize(&mut self) {
        self.wake();
        while groups::merge(&mut self.groups, &mut self.streak) && self.groups.iter().any(|group| !group.state.members().is_empty()) {
            self.wake();
        }
        debug_assert!(groups::are_merged(&self.groups), "groups at one place are two");
    }

    /// Adds all its state except registers to `state`, with the groups sorted by their lanes.
    pub fn hash_rest<H: Hasher>(&self, state: &mut H) {
        let Self { registers: _, local, specials: _, groups, simt_stack, live, copy_groups, wgmmas, streak, may_spin } = self;
        (local, live, streak, may_spin, copy_groups, wgmmas, simt_stack).hash(state);
        let mut groups: Vec<&LaneGroup> = groups.iter().collect();
        groups.sort_by_key(|group| group.mask.first());
        groups.hash(state);
    }

    /// The pc of the group that can run, if there is one alone.
    pub(in crate::machine) fn sole_ready(&self) -> Option<Pc> {
        let mut ready = self.groups.iter().filter(|group| group.state == GroupState::Ready);
        let first = ready.next()?;
        ready.next().is_none().then_some(first.pc)
    }

    /// Adds its state to `state`, without what chooses among several groups that can run.
    pub(in crate::machine) fn hash_sole<H: Hasher>(&self, state: &mut H) {
        let Self { registers, local, specials: _, groups, simt_stack, live, copy_groups, wgmmas, streak: _, may_spin: _ } = self;
        (registers, local, live, copy_groups, wgmmas, simt_stack).hash(state);
        groups.iter().for_each(|group| group.hash_place(state));
    }
}

impl Hash for Warp {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.registers.hash(state);
        self.hash_rest(state);
    }
}

impl LaneGroup {
    /// Adds all to `state` but whether it has yielded. Omits its frame, which follows from its calls. Hashes these in a loop, since
    /// recursion could be too deep.
    fn hash_place<H: Hasher>(&self, state: &mut H) {
        let Self { pc, mask, frame: _, local_top: _, stack, state: group_state, yielded: _, polled } = self;
        (pc, mask, group_state, polled, depth(stack)).hash(state);
        frames(stack).for_each(|call| call.pc.hash(state));
    }
}

impl Hash for LaneGroup {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.yielded.hash(state);
        self.hash_place(state);
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

/// True if two groups have the same calls in progress.
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
