//! The interpreter's step: one instruction for the lanes of one group.
//!
//! [`WarpRun::run`] is the hot loop. It looks at nothing but the group's program counter, mask and frame; every instruction was decoded to
//! a family before the run, and dispatch is one match over families. Families that only compute go through the host's vector
//! instructions ([`WarpRun::compute`]), one file each; those that touch memory, control flow or other threads have files of their own.

mod alloca;
mod async_copy;
mod atomic;
mod bits;
mod call;
mod cluster;
mod compare;
mod control;
mod convert;
mod course;
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
mod sampling;
mod select;
mod special_unit;
mod sync;
mod system_call;
mod tensor;
mod video;
mod warp_level;
mod wgmma;
mod wgmma_groups;

use crate::machine::event::{Event, EventKind, EventMask, Issue, Observer, Order, OrderEvent};
use crate::machine::in_flight::copy::{Ended, InFlight};
use crate::machine::in_flight::wgmma::Warpgroups;
use crate::machine::run::cluster::ClusterBarrier;
use crate::machine::state::block::Block;
use crate::machine::state::clocks::Leap;
use crate::machine::state::coverage::Coverage;
use crate::machine::state::lanes::LaneMask;
use crate::machine::state::launch::{Constants, Linked};
use crate::machine::state::memory::Region;
use crate::machine::state::place::{BlockId, Place};
use crate::machine::state::registers::FrameBase;
use crate::machine::state::runtime::Runtime;
use crate::machine::state::shared::Shared;
use crate::machine::state::trap::{Trap, TrapKind};
use crate::machine::state::warp::Warp;
use crate::program::{Inst, Op, Pc, Program};
use course::Course;
pub(super) use float::rounding;
use operands::Lanes;
use triomphe::Arc;
pub use wgmma_groups::{Neighbours, wanted_groups};

/// Ticks a group may run while others of its warp could, if nothing it does looks like waiting for them.
const STREAK: u32 = 1 << 20;

/// The same, once it has executed something that a wait loop would: a strong load, a compare-and-swap, a sleep.
const SPIN_STREAK: u32 = 256;

/// Why a warp's turn ended.
pub enum Pause {
    /// It has used up its ticks.
    TurnOver,
    /// All its groups wait.
    Waits,
    /// Lanes arrived at a barrier of the block.
    Arrived {
        /// Barrier number.
        id: u32,
        /// The lanes.
        mask: LaneMask,
        /// Threads the barrier wants, if the instruction says.
        wanted: Option<u32>,
        /// Lanes with a true predicate.
        votes: LaneMask,
    },
    /// Lanes arrived at the barrier of the cluster.
    ArrivedAtCluster {
        /// The lanes.
        mask: LaneMask,
    },
    /// A phase of a barrier object ended, for which somebody may wait.
    PhaseEnded,
    /// Lanes exited.
    LanesExited {
        /// The lanes that were live before.
        before: LaneMask,
    },
    /// An instruction faulted.
    Trapped(Box<Trap>),
}

/// The events around an instruction.
const ISSUES: EventMask = EventMask::of(&[EventKind::Before, EventKind::After]);

/// What an instruction does to the flow of its group.
enum Flow {
    /// On to the next instruction.
    Next,
    /// The whole group goes there.
    Jump(Pc),
    /// The groups have changed: choose again which one runs. Their program counters are up to date.
    Reselect,
    /// The turn ends. The program counters are up to date.
    Pause(Pause),
}

type Executed = Result<Flow, Box<Trap>>;

/// The hot part of the running group.
#[derive(Clone, Copy)]
struct Group {
    /// Its place among the warp's groups.
    index: usize,
    pc: Pc,
    mask: LaneMask,
    frame: FrameBase,
}

/// One turn of one warp, with all it can reach. There is one for runs that nobody watches, which does not even ask who does.
pub struct WarpRun<'a, const OBSERVED: bool> {
    /// The program.
    pub program: &'a Program,
    /// What was worked out for the launch.
    pub linked: &'a Linked,
    /// Global memory.
    pub global: &'a mut Region,
    /// Constant memory.
    pub constants: &'a Region,
    /// What the device runtime keeps.
    pub runtime: &'a mut Runtime,
    /// The block's shared memory.
    pub shared: &'a mut Shared,
    /// The block's number in order of launch.
    pub number: u64,
    /// The block's slot.
    pub slot: u32,
    /// The block's rank in its cluster.
    pub rank: u32,
    /// Where its shared memory begins in the window of shared memory.
    pub shared_base: u64,
    /// The program's constants, as blocks of this rank see them.
    pub constants_of_rank: &'a Constants,
    /// The blocks of its cluster with lower ranks.
    pub before: &'a mut [Option<Arc<Block>>],
    /// The blocks of its cluster with higher ranks.
    pub after: &'a mut [Option<Arc<Block>>],
    /// The block's part of the barrier of its cluster.
    pub cluster: &'a ClusterBarrier,
    /// Whether the warps of the block's warpgroups multiply together.
    pub warpgroups: &'a mut Warpgroups,
    /// The other warps of the block.
    pub neighbours: Neighbours<'a>,
    /// Asynchronous copies in flight.
    pub copies: &'a mut InFlight,
    /// Barrier objects a phase of which has ended in this turn.
    pub ended: Ended,
    /// What other threads could notice was done so many times.
    pub effects: u64,
    /// The warp.
    pub warp: &'a mut Warp,
    /// Who watches.
    pub observer: &'a mut dyn Observer,
    /// The kinds of events that are wanted.
    pub wants: EventMask,
    /// What has run, if the launch keeps it.
    pub coverage: Option<&'a mut Coverage>,
    /// Lanes that the running instruction has made wait for others, which will execute it with them.
    pub waiting: LaneMask,
    /// How far the clocks are ahead of the ticks.
    pub leap: Leap,
    /// Where and when; `pc` and `tick` are those of the running instruction.
    pub place: Place,
    /// Ticks left of the turn.
    pub left: u32,
    /// Thread-instructions executed in this turn.
    pub threads: u64,
    /// The observer wants a pause: the turn ends as if it were used up.
    pub paused: bool,
}

impl<const OBSERVED: bool> WarpRun<'_, OBSERVED> {
    /// Runs the warp's groups until something ends the turn.
    pub fn run(&mut self) -> Pause {
        loop {
            let next = if self.wants(EventKind::Merged) { self.next_group_observed() } else { self.warp.next_group(&self.linked.rank) };
            let Some(index) = next else { return Pause::Waits };
            let limit = if self.warp.groups.len() == 1 { u32::MAX } else { self.warp.limit(index, &self.linked.rank) };
            if let Some(pause) = self.run_group(index, limit) {
                return pause;
            }
        }
    }

    /// Whether the observer wants events of a kind.
    #[inline(always)]
    fn wants(&self, kind: EventKind) -> bool {
        OBSERVED && self.wants.has(kind)
    }

    /// Shows an event to the observer, which wants it.
    fn tell(&mut self, event: &Event<'_>) {
        self.paused |= self.observer.event(event);
    }

    /// Runs one group until its rank reaches `limit`, the groups change, or the turn ends.
    fn run_group(&mut self, index: usize, limit: u32) -> Option<Pause> {
        let program = self.program;
        let chosen = &self.warp.groups[index];
        let mut group = Group { index, pc: chosen.pc, mask: chosen.mask, frame: chosen.frame };
        let alone = self.warp.groups.len() == 1;
        let mut course = Course::new(group.pc, self.linked);
        loop {
            if self.left == 0 || OBSERVED && self.paused {
                course.end(self, &group);
                self.warp.groups[index].pc = group.pc;
                return Some(Pause::TurnOver);
            }
            self.place.pc = group.pc;
            let inst = &program.code[group.pc.index()];
            let issue = (OBSERVED && self.wants.has_any(ISSUES)).then(|| self.issue(inst, &group));
            if let Some(issue) = &issue
                && self.wants(EventKind::Before)
                && self.observer.event(&Event::Before(issue, self.warp))
            {
                self.paused = true;
                continue;
            }
            if self.wants(EventKind::Wgmma) && self.linked.wgmmas.uses(group.pc) {
                self.touch_wgmma_registers(inst, &group);
            }
            let guarded = course.meet(self, inst, &group);
            let flow = match self.step(inst, &group) {
                Ok(flow) => flow,
                Err(trap) => {
                    // It was not executed, and may be tried again.
                    self.threads -= u64::from(self.active(inst, &group).count_ones());
                    course.end(self, &group);
                    self.warp.groups[index].pc = group.pc;
                    return Some(Pause::Trapped(trap));
                }
            };
            self.left -= 1;
            self.place.tick += 1;
            if let Some(issue) = &issue
                && self.wants(EventKind::After)
            {
                self.paused |= self.observer.event(&Event::After(issue, self.warp));
            }
            course.pass(self, &group, guarded, &flow);
            let from = group.pc;
            match flow {
                Flow::Next => group.pc = Pc(from.0 + 1),
                Flow::Jump(target) => group.pc = target,
                Flow::Reselect => {
                    self.stack_up(&group);
                    return None;
                }
                Flow::Pause(pause) => {
                    self.stack_up(&group);
                    self.settle_stack();
                    return Some(pause);
                }
            }
            if !alone && (group.pc <= from || self.linked.rank[group.pc.index()] >= limit || self.has_run_long(index)) {
                course.end(self, &group);
                self.warp.groups[index].pc = group.pc;
                return None;
            }
        }
    }

    /// Counts a tick during which other groups stood still; true when it is their turn.
    fn has_run_long(&mut self, index: usize) -> bool {
        self.warp.streak += 1;
        let patience = if self.warp.may_spin { SPIN_STREAK } else { STREAK };
        if self.warp.streak < patience {
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
        self.threads += u64::from(active.count_ones());
        if active == 0 {
            return Ok(Flow::Next);
        }
        self.dispatch(&inst.op, group, active)
    }

    /// The lanes of `group` for which the guard holds.
    #[inline(always)]
    fn active(&self, inst: &Inst, group: &Group) -> LaneMask {
        let Some(guard) = inst.guard else { return group.mask };
        let bits = self.warp.registers.pred[(group.frame.pred + guard.slot) as usize];
        group.mask & if guard.negate { !bits } else { bits }
    }

    /// The block that runs.
    fn block_id(&self) -> BlockId {
        BlockId { number: self.number, slot: self.slot }
    }

    /// Tells the observer that `lanes` did something that orders them.
    fn report_order(&mut self, lanes: LaneMask, order: Order<'_>) {
        if self.wants(EventKind::Order) {
            self.tell(&Event::Order(OrderEvent { place: self.place, by: self.block_id(), lanes, order }));
        }
    }

    fn issue(&self, inst: &Inst, group: &Group) -> Issue {
        Issue { place: self.place, lanes: group.mask, active: self.active(inst, group), frame: group.frame, depth: self.depth(group) }
    }

    /// Calls in progress in a group.
    fn depth(&self, group: &Group) -> u32 {
        self.warp.groups[group.index].stack.as_ref().map_or(0, |frame| frame.depth)
    }

    /// The groups have changed: puts what has come of it on the stack of the warp, if it has one.
    fn stack_up(&mut self, group: &Group) {
        if self.warp.simt_stack.is_some() {
            self.warp.push_sides(self.program, group.pc, group.mask, &self.linked.meetings[group.pc.index()]);
        }
    }

    /// The turn ends: brings the stack of the warp up to date, if it has one.
    fn settle_stack(&mut self) {
        if self.warp.simt_stack.is_none() {
            return;
        }
        if self.wants(EventKind::Merged) {
            self.next_group_observed();
        } else {
            self.warp.next_group(&self.linked.rank);
        }
    }

    /// Chooses the group that runs next, and reports the groups that met.
    fn next_group_observed(&mut self) -> Option<usize> {
        let Self { observer, paused, place, .. } = self;
        self.warp.next_group_met(&self.linked.rank, |group| {
            *paused |= observer.event(&Event::Merged(Place { pc: group.pc, ..*place }, group.mask));
        })
    }

    #[inline(always)]
    fn dispatch(&mut self, op: &Op, group: &Group, active: LaneMask) -> Executed {
        match op {
            Op::Integer(op) => Ok(self.compute::<integer::Integer>(op, group, active)),
            Op::Bits(op) => Ok(self.compute::<bits::Bits>(op, group, active)),
            Op::Float(op) => Ok(self.compute::<float::FloatingPoint>(op, group, active)),
            Op::Video(op) => Ok(self.compute::<video::Video>(op, group, active)),
            Op::Compare(op) => Ok(self.compute::<compare::Comparison>(op, group, active)),
            Op::Select(op) => Ok(self.compute::<select::Selection>(op, group, active)),
            Op::Convert(op) => Ok(self.compute::<convert::Conversions>(op, group, active)),
            Op::Move(op) => Ok(self.moves(op, group, active)),
            Op::Cluster(op) => self.cluster(op, group, active),
            Op::Memory(op) => self.load_store(op, group, active),
            Op::Atomic(op) => self.atomic(op, group, active),
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
                let why = &self.program.unsupported[why.index()];
                Err(self.trap(TrapKind::Unsupported, active, why))
            }
        }
    }

    /// The registers the lanes `mask` of `group` see.
    #[inline(always)]
    fn lanes(&mut self, group: &Group, mask: LaneMask) -> Lanes<'_> {
        Lanes::new(self.warp, self.constants_of_rank, group.frame, mask)
    }

    /// Executes an operation that only computes, with the host's vector instructions.
    #[inline(always)]
    fn compute<F: Family>(&mut self, op: &F::Op, group: &Group, active: LaneMask) -> Flow {
        let simd = self.linked.simd;
        simd.dispatch(Compute::<'_, '_, F> { lanes: self.lanes(group, active), op });
        Flow::Next
    }
}

/// A file of operations that only compute.
trait Family {
    /// The operations of the family.
    type Op;

    /// Executes `op`.
    fn execute(lanes: &mut Lanes<'_>, op: &Self::Op);
}

struct Compute<'a, 'o, F: Family> {
    lanes: Lanes<'a>,
    op: &'o F::Op,
}

impl<F: Family> pulp::WithSimd for Compute<'_, '_, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(mut self, _simd: S) {
        F::execute(&mut self.lanes, self.op);
    }
}
