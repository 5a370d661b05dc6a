//! The execution of instructions for the lanes of one group.
//!
//! [`WarpRun::run`] is the hot loop. It uses only the group's program counter, mask and frame; instructions are decoded before the run, and
//! dispatch is one match over their families. Families that only compute use the host's vector instructions ([`compute`]). Each
//! family has a file. Instructions of common forms run in straight stretches ([`straight`]), which have the same effects.

mod alloca;
mod async_copy;
mod atomic;
mod bits;
mod call;
mod cluster;
mod compare;
mod control;
mod convert;
mod coverage_counter;
mod faults;
mod float;
mod half;
mod image;
mod integer;
mod load_store;
mod matrix;
mod mbarrier;
mod moves;
mod nearby;
mod operands;
pub(super) mod other_warps;
mod sampling;
pub mod scratch_warp;
mod select;
mod special_unit;
pub(super) mod straight;
mod sync;
mod system_call;
mod tensor;
mod video;
pub mod warp_level;
pub(super) mod warp_run;
mod weak;
mod wgmma;
pub(super) mod wgmma_groups;

use crate::machine::event::{Event, Issue, LocalStart, Memories, SyncEvent, SyncKind};
use crate::machine::event_kind::{EventKind, ISSUES};
use crate::machine::exec::warp_run::{Executed, Flow, Group, LaneOperation, SliceEnd, WarpRun};
use crate::machine::state::issue_point::{BlockId, IssuePoint};
use crate::machine::state::lanes::LaneMask;
use crate::machine::state::launch::FastPath;
use crate::machine::state::tables::straight::Step;
use crate::machine::state::trap::TrapKind;
use crate::machine::state::warp::GroupState;
use crate::program::{Inst, Op, Param, Pc};
use coverage_counter::CoverageCounter;
use operands::Lanes;
use straight::Others;

/// The maximum number of ticks of a group while others of its warp are ready, if it executes nothing that spin loops do.
const STREAK: u32 = 1 << 20;

/// The same, once it has executed an instruction that is typical of spin loops: a strong load, a compare-and-swap, a sleep.
const SPIN_STREAK: u32 = 256;

impl<const OBSERVED: bool> WarpRun<'_, OBSERVED> {
    /// Runs the warp's groups until the time slice ends.
    pub fn run(&mut self) -> SliceEnd {
        let (start, ticks_before) = (self.point.tick, self.ticks_left);
        let pause = self.run_groups();
        assert!(self.ticks_left <= ticks_before, "a turn gains ticks");
        assert_eq!(self.point.tick - start, u64::from(ticks_before - self.ticks_left), "ticks pass that are not taken from the turn");
        pause
    }

    fn run_groups(&mut self) -> SliceEnd {
        loop {
            let next =
                if self.wants(EventKind::Reconverged) { self.next_group_observed() } else { self.warp.next_group(&self.prepared.rank) };
            let Some(index) = next else { return SliceEnd::Waits };
            let limit = if self.warp.groups.len() == 1 { u32::MAX } else { self.warp.limit(index, &self.prepared.rank) };
            if let Some(pause) = self.run_group(index, limit) {
                return pause;
            }
        }
    }

    /// True if the observer receives events of a kind.
    #[inline(always)]
    fn wants(&self, kind: EventKind) -> bool {
        OBSERVED && self.wants.has(kind)
    }

    /// Passes an event to the observer.
    fn emit(&mut self, event: &Event<'_>) {
        self.paused |= self.observer.event(event);
    }

    /// Runs one group until its rank reaches `limit`, the groups change, or the time slice ends.
    fn run_group(&mut self, index: usize, limit: u32) -> Option<SliceEnd> {
        self.running = index;
        let mut group = self.chosen_group(index);
        let (program, mut others) = (self.program, self.others(limit));
        let mut coverage_counter = CoverageCounter::new(group.pc, self.prepared);
        loop {
            if self.ticks_left == 0 || OBSERVED && self.paused {
                self.stop_at(&group, &mut coverage_counter);
                return Some(SliceEnd::UsedUp);
            }
            if self.runs_straight(group.pc) && self.straight.micros[group.pc.index()].step != Step::Ends {
                if self.run_straight(&mut group, &mut others, &mut coverage_counter) {
                    self.stop_at(&group, &mut coverage_counter);
                    return None;
                }
                if self.ticks_left == 0 || OBSERVED && self.paused {
                    continue;
                }
            }
            self.point.pc = group.pc;
            let inst = &program.code[group.pc.index()];
            let issue = self.reports(group.pc).then(|| self.issue(inst, &group));
            if let Some(issue) = &issue
                && self.wants(EventKind::Before)
                && self.pauses_before(issue)
            {
                self.paused = true;
                continue;
            }
            if self.wants(EventKind::Wgmma) && self.prepared.wgmmas.uses_operands(group.pc) {
                self.report_register_uses(inst, &group);
            }
            let guarded = coverage_counter.before_inst(self, inst, &group);
            let flow = match self.step(inst, &group) {
                Ok(flow) => flow,
                Err(trap) => {
                    // It was not executed, and may be retried.
                    self.thread_instructions -= u64::from(self.active(inst, &group).count());
                    self.stop_at(&group, &mut coverage_counter);
                    return Some(SliceEnd::Trapped(trap));
                }
            };
            self.ticks_left -= 1;
            self.point.tick += 1;
            if let Some(issue) = &issue {
                self.report_executed(issue, &group, &flow);
            }
            coverage_counter.after_inst(self, &group, guarded, &flow);
            let from = group.pc;
            match flow {
                Flow::Next => group.pc = Pc(from.0 + 1),
                Flow::Jump(target) => group.pc = target,
                Flow::Reselect => {
                    self.update_stack(&group);
                    return None;
                }
                Flow::EndSlice(pause) => {
                    self.update_stack(&group);
                    self.canonicalize_stack();
                    return Some(pause);
                }
            }
            if !others.none && self.must_choose(group.index, (from, group.pc), others) {
                self.stop_at(&group, &mut coverage_counter);
                return None;
            }
        }
    }

    /// Reports an instruction that a group has executed: the observer sees where the lanes go on.
    #[inline(always)]
    fn report_executed(&mut self, issue: &Issue, group: &Group, flow: &Flow) {
        if !self.wants(EventKind::After) {
            return;
        }
        match flow {
            Flow::Next => self.warp.groups[group.index].pc = Pc(group.pc.0 + 1),
            Flow::Jump(target) => self.warp.groups[group.index].pc = *target,
            Flow::Reselect | Flow::EndSlice(_) => {}
        }
        self.paused |= self.observer.event(&Event::After(issue, self.warp));
    }

    /// The group `index`, which runs next.
    #[inline(always)]
    fn chosen_group(&self, index: usize) -> Group {
        let chosen = &self.warp.groups[index];
        assert!(chosen.state == GroupState::Ready, "a group runs that waits");
        assert!(!chosen.mask.is_empty() && self.warp.live.contains_all(chosen.mask), "lanes run that are not live");
        assert!(chosen.pc.index() < self.program.code.len(), "a group's pc is past the end of the code");
        Group { index, pc: chosen.pc, mask: chosen.mask, frame: chosen.frame }
    }

    /// Counts what the group has executed, and stores its pc: another group runs, or none.
    #[inline(always)]
    fn stop_at(&mut self, group: &Group, coverage_counter: &mut CoverageCounter) {
        coverage_counter.flush(self, group);
        self.warp.groups[group.index].pc = group.pc;
    }

    /// Reports an instruction that is about to be issued; true if the observer asks for a pause before it.
    fn pauses_before(&mut self, issue: &Issue) -> bool {
        let memories = Memories { global: self.global, constant: self.constant_memory, shared: &self.shared.pages };
        self.observer.event(&Event::Before(issue, self.warp, memories))
    }

    /// True if the group that runs must be chosen anew, after the group `index`, which is not alone, has gone from one instruction to the
    /// next.
    fn must_choose(&mut self, index: usize, (from, to): (Pc, Pc), others: Others) -> bool {
        let goes_back = to <= from;
        goes_back && !others.may_go_back || self.prepared.rank[to.index()] >= others.limit || !goes_back && self.must_yield(index)
    }

    /// The other groups of the warp, the first of which the chosen one reaches at the rank `limit`.
    fn others(&self, limit: u32) -> Others {
        let none = self.warp.groups.len() == 1;
        Others { none, limit, may_go_back: !none && self.warp.may_go_back() }
    }

    /// The ticks after which a group that keeps others waiting must yield.
    fn stall(&self) -> u32 {
        if self.warp.may_spin { SPIN_STREAK } else { STREAK }
    }

    /// True if the observer receives events before or after the instruction at `pc`.
    #[inline(always)]
    fn reports(&self, pc: Pc) -> bool {
        OBSERVED && self.wants.has_any(ISSUES) && self.issues.has(pc)
    }

    /// True if a straight stretch may begin at `pc`: nothing is reported for each of its instructions.
    fn runs_straight(&self, pc: Pc) -> bool {
        let observed = self.reports(pc) || self.wants.has(EventKind::Wgmma) && !self.program.wgmmas.is_empty();
        !(OBSERVED && observed) && self.prepared.config.fast_paths.has(FastPath::Stretches)
    }

    /// Counts a tick in which other ready groups did not run; true if the group must yield to them.
    fn must_yield(&mut self, index: usize) -> bool {
        debug_assert!(self.warp.groups.len() > 1, "a group that is alone keeps others waiting");
        let yields = self.warp.streak + 1 >= self.stall();
        self.warp.streak += 1;
        if !yields {
            return false;
        }
        self.warp.streak = 0;
        self.warp.may_spin = false;
        self.warp.groups[index].yielded = true;
        true
    }

    /// Executes one instruction for the lanes of `group`.
    #[inline(always)]
    fn step(&mut self, inst: &Inst, group: &Group) -> Executed {
        let active = self.active(inst, group);
        self.thread_instructions += u64::from(active.count());
        if active.is_empty() {
            return Ok(Flow::Next);
        }
        self.dispatch(&inst.op, group, active)
    }

    /// The lanes of `group` for which the guard holds.
    #[inline(always)]
    fn active(&self, inst: &Inst, group: &Group) -> LaneMask {
        let Some(guard) = inst.guard else { return group.mask };
        debug_assert!(self.warp.live.contains_all(group.mask), "lanes run that have exited");
        let bits = self.warp.registers.pred[guard.slot.in_frame(group.frame.pred).index()];
        group.mask & if guard.negate { !bits } else { bits }
    }

    /// The running block.
    fn block_id(&self) -> BlockId {
        BlockId { number: self.number, block_slot: self.block_slot }
    }

    /// Reports a synchronization of `lanes`.
    fn report_sync(&mut self, lanes: LaneMask, kind: SyncKind<'_>) {
        debug_assert!(self.warp.live.contains_all(lanes), "lanes do something that have exited");
        if self.wants(EventKind::Sync) {
            self.emit(&Event::Sync(SyncEvent { point: self.point, block_id: self.block_id(), lanes, kind }));
        }
    }

    /// Reports that lanes get these bytes of local memory.
    fn report_local(&mut self, (start, end): (u32, u32), params: &[Param], lanes: LaneMask) {
        if self.wants(EventKind::LocalStart) && start < end {
            let (point, block_id) = (self.point, self.block_id());
            self.emit(&Event::LocalStart(LocalStart { point, block_id, lanes, start, end, params }));
        }
    }

    fn issue(&self, inst: &Inst, group: &Group) -> Issue {
        Issue { point: self.point, lanes: group.mask, active: self.active(inst, group), frame: group.frame, depth: self.depth(group) }
    }

    /// Calls in progress in a group.
    fn depth(&self, group: &Group) -> u32 {
        self.warp.groups[group.index].stack.as_ref().map_or(0, |frame| frame.depth)
    }

    /// Calls in progress in the running group.
    fn running_depth(&self) -> u32 {
        self.warp.groups.get(self.running).map_or(0, |group| group.stack.as_ref().map_or(0, |frame| frame.depth))
    }

    /// Updates the stack of the warp, if it has one, after the groups have changed.
    fn update_stack(&mut self, group: &Group) {
        if self.warp.simt_stack.is_some() {
            assert_eq!(self.prepared.pushed_targets.len(), self.program.code.len(), "a launch without reconvergence points");
            self.warp.push_sides(self.program, group.pc, group.mask, &self.prepared.pushed_targets[group.pc.index()]);
        }
    }

    /// Updates the stack of the warp, if it has one, at the end of a time slice.
    fn canonicalize_stack(&mut self) {
        if self.warp.simt_stack.is_none() {
            return;
        }
        if self.wants(EventKind::Reconverged) {
            self.next_group_observed();
        } else {
            self.warp.next_group(&self.prepared.rank);
        }
    }

    /// Chooses the next group, and reports groups that reconverged.
    fn next_group_observed(&mut self) -> Option<usize> {
        let Self { observer, paused, point, .. } = self;
        self.warp.next_group_reconverged(&self.prepared.rank, |group| {
            *paused |= observer.event(&Event::Reconverged(IssuePoint { pc: group.pc, ..*point }, group.mask));
        })
    }

    #[inline(always)]
    fn dispatch(&mut self, op: &Op, group: &Group, active: LaneMask) -> Executed {
        match op {
            Op::Integer(_) | Op::Bits(_) | Op::Float(_) | Op::Video(_) | Op::Compare(_) | Op::Select(_) | Op::Convert(_) => {
                compute(self.prepared.simd, self.lanes(group, active), op);
                Ok(Flow::Next)
            }
            Op::Move(op) => Ok(self.moves(op, group, active)),
            Op::Cluster(op) => self.cluster(op, group, active),
            Op::Memory(op) => self.load_store(op, group, active).inspect(|_| self.fence_after(active)),
            Op::Atomic(op) => self.atomic(op, group, active).inspect(|_| self.fence_after(active)),
            Op::Image { access } => self.image(*access, group, active),
            Op::Stack(op) => self.alloca(op, group, active),
            Op::Control(op) => self.control(op, group, active),
            Op::Matrix { matrix } => self.matrix(*matrix, group, active),
            Op::Async(op) => self.asynchronous(op, group, active),
            Op::TensorMap(op) => self.tensor_map(op, group, active),
            Op::Wgmma(op) => self.wgmma(op, group, active),
            Op::Mbarrier(op) => self.mbarrier(op, group, active),
            Op::Sync(op) => self.sync(op, group, active),
            Op::Warp(op) => self.warp_level(op, group, active),
            Op::Nop => Ok(Flow::Next),
            Op::Unsupported { why } => {
                let why = &self.program.unsupported[*why];
                Err(self.trap(TrapKind::Unsupported, active, why))
            }
        }
    }

    /// The registers of the lanes `mask` of `group`.
    #[inline(always)]
    fn lanes(&mut self, group: &Group, mask: LaneMask) -> Lanes<'_> {
        Lanes::new(self.warp, self.immediates, group.frame, mask)
    }
}

/// Executes an operation of a family that only computes, with the host's vector instructions. Not inlined: one copy of all that these
/// families can do is much code.
#[inline(never)]
fn compute(simd: pulp::Arch, lanes: Lanes<'_>, op: &Op) {
    #[expect(clippy::wildcard_enum_match_arm, reason = "the other families do not only compute")]
    match op {
        Op::Integer(op) => simd.dispatch(Compute::<'_, '_, integer::Integer> { lanes, op }),
        Op::Bits(op) => simd.dispatch(Compute::<'_, '_, bits::Bits> { lanes, op }),
        Op::Float(op) => simd.dispatch(Compute::<'_, '_, float::FloatingPoint> { lanes, op }),
        Op::Video(op) => simd.dispatch(Compute::<'_, '_, video::Video> { lanes, op }),
        Op::Compare(op) => simd.dispatch(Compute::<'_, '_, compare::Comparison> { lanes, op }),
        Op::Select(op) => simd.dispatch(Compute::<'_, '_, select::Selection> { lanes, op }),
        Op::Convert(op) => simd.dispatch(Compute::<'_, '_, convert::Conversions> { lanes, op }),
        _ => {}
    }
}

struct Compute<'a, 'o, F: LaneOperation> {
    lanes: Lanes<'a>,
    op: &'o F::Op,
}

impl<F: LaneOperation> pulp::WithSimd for Compute<'_, '_, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(mut self, _simd: S) {
        F::execute(&mut self.lanes, self.op);
    }
}
