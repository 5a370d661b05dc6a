//! Observes one step of a warp, and finds its end.

use super::object_access::{AccessMode, Object, ObjectAccess, StepEvent, WarpKey};
use super::points::Points;
use crate::isa::Space;
use crate::machine::{
    AccessEvent, AccessKind, Event, EventKind, EventMask, GroupState, Issue, Machine, MbarrierChange, MbarrierEvent, Observer, SyncEvent,
    SyncKind, Warp,
};
use crate::program::Pc;

/// Maximum number of times that a step repeats its first operation while another lane group of the warp is ready.
const ITERATIONS_MAX: u32 = 1 << 12;

/// Collects the accesses of one warp up to the next point where another warp may be scheduled.
pub struct StepObserver<'a> {
    points: &'a Points,
    block: Option<[u32; 3]>,
    warp: u32,
    /// The number of the block in each block slot.
    numbers: Vec<u64>,
    blocks_of_cluster: u64,
    /// The number of completed phases of a barrier.
    phases: &'a dyn Fn(Object) -> u64,
    /// The first instruction of the step.
    pub first: Option<Pc>,
    /// The instruction before which the step ended, which is a point.
    pub next: Option<Pc>,
    instructions: u32,
    pub events: Vec<StepEvent>,
}

impl<'a> StepObserver<'a> {
    /// For a step of `warp`.
    pub fn new(points: &'a Points, machine: &Machine, warp: WarpKey, phases: &'a dyn Fn(Object) -> u64) -> Self {
        let block = machine.resident_blocks().find(|block| block.number == warp.0).map(|block| block.index);
        let slots = machine.resident_blocks().filter_map(|block| Some((machine.block_slot_of(block)?, block.number)));
        let mut numbers = Vec::new();
        for (slot, number) in slots {
            numbers.resize(numbers.len().max(slot as usize + 1), 0);
            numbers[slot as usize] = number;
        }
        let blocks_of_cluster = u64::from(machine.config().blocks_of_cluster().max(1));
        let (first, next, events) = (None, None, Vec::new());
        Self { points, block, warp: warp.1, numbers, blocks_of_cluster, phases, first, next, instructions: 0, events }
    }

    /// True if the step ends before this instruction, which is about to be issued.
    fn ends_before(&mut self, issue: &Issue, warp: &Warp) -> bool {
        if Some(issue.point.block) != self.block || issue.point.warp.number() != self.warp {
            return true;
        }
        let pc = issue.point.pc;
        let is_point = self.points.is_point(pc) && !issue.active.is_empty();
        if is_point && self.first.is_some() {
            // Lanes that wait for other lanes of their warp yield to them after a while.
            let ready = warp.groups.iter().filter(|group| group.state == GroupState::Ready).count();
            let yields = ready > 1 && self.first == Some(pc) && self.instructions < ITERATIONS_MAX && !self.has_written();
            if !yields {
                self.next = Some(pc);
                return true;
            }
        }
        self.first = self.first.or(Some(pc));
        self.instructions += 1;
        false
    }

    fn has_written(&self) -> bool {
        let writes = |event: &StepEvent| match event {
            StepEvent::Synchronizes(access) | StepEvent::Accesses(access) => !matches!(access.mode, AccessMode::Reads),
            StepEvent::Arrives { .. } | StepEvent::Waits { .. } | StepEvent::Completes { .. } => true,
        };
        self.events.iter().any(writes)
    }

    fn access(&mut self, access: &AccessEvent<'_>) {
        let owner = match access.space {
            Space::Global | Space::Generic => 0,
            Space::Shared | Space::SharedCluster => {
                let is_own_block = access.owner.0 == access.block_id.block_slot;
                1 + if is_own_block {
                    access.block_id.number
                } else {
                    self.numbers.get(access.owner.0 as usize).copied().unwrap_or_default()
                }
            }
            Space::Const | Space::Param | Space::Local | Space::ParamFunc => return,
        };
        let pc = access.point.pc;
        let mode = match (access.kind, self.points.commuting(pc)) {
            (AccessKind::Read, _) => AccessMode::Reads,
            (AccessKind::Write | AccessKind::Atomic, Some(number)) => AccessMode::Commutes(number),
            (AccessKind::Write | AccessKind::Atomic, None) => AccessMode::Writes,
        };
        let is_point = self.points.is_point(pc);
        let mut accesses = Vec::new();
        for lane in access.lanes.iter() {
            let (from, end) = (access.addresses[lane], access.addresses[lane].saturating_add(u64::from(access.bytes)));
            for word in from / 8..end.div_ceil(8) {
                let bytes = (0..8).filter(|byte| (from..end).contains(&(word * 8 + byte))).fold(0, |bytes, byte| bytes | 1 << byte);
                accesses.push(ObjectAccess { object: Object::Memory { owner, word }, mode, bytes, pc });
            }
        }
        accesses.sort_unstable();
        accesses.dedup();
        self.events.extend(
            accesses.into_iter().map(|access| if is_point { StepEvent::Synchronizes(access) } else { StepEvent::Accesses(access) }),
        );
    }

    fn mbarrier(&mut self, event: &MbarrierEvent) {
        let block = self.numbers.get(event.block_slot as usize).copied().unwrap_or_default();
        let object = Object::Mbarrier { block, address: event.address };
        let mode = match event.change {
            MbarrierChange::Initialized(_) | MbarrierChange::Invalidated => AccessMode::Writes,
            MbarrierChange::Contributed(_) => AccessMode::Commutes(event.phase),
            MbarrierChange::Tested { completed: true, .. } => AccessMode::Passes(event.phase),
            MbarrierChange::Tested { completed: false, .. } => AccessMode::Fails(event.phase),
            MbarrierChange::PhaseCompleted(_) => return,
        };
        self.events.push(StepEvent::Synchronizes(ObjectAccess { object, mode, bytes: u8::MAX, pc: event.point.pc }));
    }

    fn order(&mut self, event: &SyncEvent<'_>) {
        let cluster = Object::Cluster { number: event.block_id.number / self.blocks_of_cluster };
        let pc = event.point.pc;
        let arrives = |at: Object, waits: bool, phase: u64| {
            let access = ObjectAccess { object: at, mode: AccessMode::Commutes(phase), bytes: u8::MAX, pc };
            [StepEvent::Synchronizes(access), StepEvent::Arrives { at, waits }]
        };
        match event.kind {
            SyncKind::Arrived { id, waits, .. } => {
                let at = Object::Barrier { block: event.block_id.number, id };
                self.events.extend(arrives(at, waits, (self.phases)(at)));
            }
            SyncKind::ClusterArrived { .. } => self.events.extend(arrives(cluster, false, (self.phases)(cluster))),
            SyncKind::ClusterWaits => self.events.push(StepEvent::Waits { at: cluster }),
            SyncKind::BarrierCompleted { id, .. } => {
                self.events.push(StepEvent::Completes { at: Object::Barrier { block: event.block_id.number, id } });
            }
            SyncKind::ClusterBarrierCompleted { .. } => self.events.push(StepEvent::Completes { at: cluster }),
            SyncKind::Fence { .. }
            | SyncKind::WarpSync { .. }
            | SyncKind::Collective { .. }
            | SyncKind::Committed { .. }
            | SyncKind::Awaited(_)
            | SyncKind::Exited => {}
        }
    }
}

impl Observer for StepObserver<'_> {
    fn mask(&self) -> EventMask {
        EventMask::of(&[EventKind::Before, EventKind::Access, EventKind::Mbarrier, EventKind::Sync])
    }

    fn event(&mut self, event: &Event<'_>) -> bool {
        match event {
            Event::Before(issue, warp, _) => return self.ends_before(issue, warp),
            Event::Access(access) => self.access(access),
            Event::Mbarrier(event) => self.mbarrier(event),
            Event::Sync(event) => self.order(event),
            Event::LocalStart(_)
            | Event::Collective(_)
            | Event::Copy(_)
            | Event::Wgmma(_)
            | Event::After(..)
            | Event::Reconverged(..)
            | Event::Arrived(..) => {}
        }
        false
    }
}
