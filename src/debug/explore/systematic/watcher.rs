//! What is seen of a step while it is taken, and where it ends.

use super::points::Points;
use super::touch::{Happening, Mode, Object, Touch, WarpKey};
use crate::isa::Space;
use crate::machine::{
    AccessEvent, AccessKind, Event, EventKind, EventMask, GroupState, Issue, Machine, MbarrierChange, MbarrierEvent, Observer, Order,
    OrderEvent, Warp,
};
use crate::program::Pc;

/// Instructions that a step takes at most through the operation at which it began, while another group of the warp could run.
const TURNS: u32 = 1 << 12;

/// Sees what one warp does, up to where it may be left.
pub struct Watcher<'a> {
    points: &'a Points,
    block: Option<[u32; 3]>,
    warp: u32,
    /// The number of the block in each block slot.
    numbers: Vec<u64>,
    blocks_of_cluster: u64,
    /// Phases that barriers of blocks have ended, by the block and the barrier.
    phases: &'a dyn Fn(Object) -> u64,
    /// The first instruction of the step.
    pub first: Option<Pc>,
    /// The instruction before which the step ended, which is a point.
    pub next: Option<Pc>,
    instructions: u32,
    pub happened: Vec<Happening>,
}

impl<'a> Watcher<'a> {
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
        let (first, next, happened) = (None, None, Vec::new());
        Self { points, block, warp: warp.1, numbers, blocks_of_cluster, phases, first, next, instructions: 0, happened }
    }

    /// The instruction is about to be issued: whether the step ends before it.
    fn ends_before(&mut self, issue: &Issue, warp: &Warp) -> bool {
        if Some(issue.place.block) != self.block || issue.place.warp.number() != self.warp {
            return true;
        }
        let pc = issue.place.pc;
        let is_point = self.points.is_point(pc) && !issue.active.is_empty();
        if is_point && self.first.is_some() {
            // Lanes that wait for others of their warp give way to them after a while.
            let ready = warp.groups.iter().filter(|group| group.state == GroupState::Ready).count();
            let gives_way = ready > 1 && self.first == Some(pc) && self.instructions < TURNS && !self.has_written();
            if !gives_way {
                self.next = Some(pc);
                return true;
            }
        }
        self.first = self.first.or(Some(pc));
        self.instructions += 1;
        false
    }

    fn has_written(&self) -> bool {
        let writes = |happening: &Happening| match happening {
            Happening::Touches(touch) | Happening::Accesses(touch) => !matches!(touch.mode, Mode::Reads),
            Happening::Arrives { .. } | Happening::Waits { .. } | Happening::Ends { .. } => true,
        };
        self.happened.iter().any(writes)
    }

    fn access(&mut self, access: &AccessEvent<'_>) {
        let owner = match access.space {
            Space::Global | Space::Generic => 0,
            Space::Shared | Space::SharedCluster => {
                let own = access.owner.0 == access.by.block_slot;
                1 + if own { access.by.number } else { self.numbers.get(access.owner.0 as usize).copied().unwrap_or_default() }
            }
            Space::Const | Space::Param | Space::Local | Space::ParamFunc => return,
        };
        let pc = access.place.pc;
        let mode = match (access.kind, self.points.commuting(pc)) {
            (AccessKind::Read, _) => Mode::Reads,
            (AccessKind::Write | AccessKind::Atomic, Some(number)) => Mode::Together(number),
            (AccessKind::Write | AccessKind::Atomic, None) => Mode::Writes,
        };
        let is_point = self.points.is_point(pc);
        let mut touches = Vec::new();
        for lane in access.lanes.iter() {
            let (from, end) = (access.addresses[lane], access.addresses[lane].saturating_add(u64::from(access.bytes)));
            for word in from / 8..end.div_ceil(8) {
                let bytes = (0..8).filter(|byte| (from..end).contains(&(word * 8 + byte))).fold(0, |bytes, byte| bytes | 1 << byte);
                touches.push(Touch { object: Object::Memory { owner, word }, mode, bytes, pc });
            }
        }
        touches.sort_unstable();
        touches.dedup();
        self.happened
            .extend(touches.into_iter().map(|touch| if is_point { Happening::Touches(touch) } else { Happening::Accesses(touch) }));
    }

    fn mbarrier(&mut self, event: &MbarrierEvent) {
        let block = self.numbers.get(event.block_slot as usize).copied().unwrap_or_default();
        let object = Object::Mbarrier { block, address: event.address };
        let mode = match event.change {
            MbarrierChange::Made(_) | MbarrierChange::Invalidated => Mode::Writes,
            MbarrierChange::Contributed(_) => Mode::Together(event.phase),
            MbarrierChange::Tested { ended: true, .. } => Mode::Passes(event.phase),
            MbarrierChange::Tested { ended: false, .. } => Mode::Fails(event.phase),
            MbarrierChange::Ended(_) => return,
        };
        self.happened.push(Happening::Touches(Touch { object, mode, bytes: u8::MAX, pc: event.place.pc }));
    }

    fn order(&mut self, event: &OrderEvent<'_>) {
        let cluster = Object::Cluster { number: event.by.number / self.blocks_of_cluster };
        let pc = event.place.pc;
        let arrives = |at: Object, waits: bool, phase: u64| {
            let touch = Touch { object: at, mode: Mode::Together(phase), bytes: u8::MAX, pc };
            [Happening::Touches(touch), Happening::Arrives { at, waits }]
        };
        match event.order {
            Order::Arrived { id, waits, .. } => {
                let at = Object::Barrier { block: event.by.number, id };
                self.happened.extend(arrives(at, waits, (self.phases)(at)));
            }
            Order::ClusterArrived { .. } => self.happened.extend(arrives(cluster, false, (self.phases)(cluster))),
            Order::ClusterWaits => self.happened.push(Happening::Waits { at: cluster }),
            Order::BarrierCompleted { id, .. } => {
                self.happened.push(Happening::Ends { at: Object::Barrier { block: event.by.number, id } });
            }
            Order::ClusterBarrierCompleted { .. } => self.happened.push(Happening::Ends { at: cluster }),
            Order::Fence { .. }
            | Order::WarpSync { .. }
            | Order::Collective { .. }
            | Order::Committed { .. }
            | Order::Awaited(_)
            | Order::Exited => {}
        }
    }
}

impl Observer for Watcher<'_> {
    fn mask(&self) -> EventMask {
        EventMask::of(&[EventKind::Before, EventKind::Access, EventKind::Mbarrier, EventKind::Order])
    }

    fn event(&mut self, event: &Event<'_>) -> bool {
        match event {
            Event::Before(issue, warp) => return self.ends_before(issue, warp),
            Event::Access(access) => self.access(access),
            Event::Mbarrier(event) => self.mbarrier(event),
            Event::Order(event) => self.order(event),
            Event::Collective(_) | Event::Copy(_) | Event::Wgmma(_) | Event::After(..) | Event::Merged(..) | Event::Arrived(..) => {}
        }
        false
    }
}
