//! The observer of a query.

use std::sync::Arc;

use super::FoundEvent;
use super::condition::Condition;
use super::query::{Happening, Query};
use crate::debug::breakpoints::WatchMode;
use crate::debug::eval_context::EvalContext;
use crate::debug::resume::Watchpoint;
use crate::machine::{
    AccessEvent, AccessKind, CopyEvent, CopyStage, Event, EventKind, EventMask, Issue, IssuePoint, Issues, LaneMask, Memories, Observer,
    Places, StoreData, SyncEvent, SyncKind, Tick, Warp, WarpId,
};
use crate::program::{ControlOp, Op, Program};

/// Collects the events that a query asks for.
pub(super) struct Collector<'q> {
    query: &'q Query,
    /// What is accessed, if the query names a place.
    place: Option<Watchpoint>,
    /// The instructions that may do what is asked for; none if no instruction is watched.
    code: Option<Arc<Places>>,
    /// What must hold for the thread.
    condition: Option<Condition<'q>>,
    /// The events since the last pause.
    pub events: Vec<FoundEvent>,
    /// The instruction before which the run has paused for the condition.
    paused: Option<Issue>,
    /// The lanes for which the condition holds, at this tick.
    passing: (Tick, LaneMask),
}

impl<'q> Collector<'q> {
    pub fn new(query: &'q Query, program: &Program) -> Self {
        let mode = match query.happening {
            Happening::Reads => WatchMode::Read,
            Happening::Writes => WatchMode::Change,
            Happening::Atomics | Happening::Branches | Happening::Barriers | Happening::Findings => WatchMode::Access,
        };
        let place = query.place.clone().map(|place| Watchpoint::unread(place, mode));
        let is_candidate = |op: &Op| match query.happening {
            Happening::Branches => is_branch(op),
            Happening::Barriers => matches!(op, Op::Sync(_) | Op::Cluster(_)),
            // A condition is evaluated before each candidate: loads are none of writes.
            Happening::Reads | Happening::Writes | Happening::Atomics => match op {
                Op::Memory(memory) => query.happening == if memory.is_load() { Happening::Reads } else { Happening::Writes },
                op => op.access().is_some() || matches!(op, Op::Async(_)),
            },
            Happening::Findings => false,
        };
        let watched = query.condition.is_some() || query.happening == Happening::Branches;
        let code = watched.then(|| Arc::new(Places::new(program.code.iter().map(|inst| is_candidate(&inst.op)).collect())));
        let condition = query.condition.as_ref().map(Condition::new);
        Self { query, place, code, condition, events: Vec::new(), paused: None, passing: (Tick::MAX, LaneMask::NONE) }
    }

    /// Evaluates the condition at the pause that it needs; `context` is that of the machine, in launch number `launch`.
    pub fn at_pause(&mut self, context: &EvalContext<'_>, launch: usize) {
        let Some(condition) = &mut self.condition else { return };
        condition.at_launch(launch);
        if let Some(issue) = self.paused.take() {
            let lanes = issue.lanes & self.query.threads.lanes_of(issue.point.block, issue.point.warp.number());
            self.passing = (issue.point.tick, condition.evaluate(context, &issue, lanes));
        }
    }

    /// Why the condition had no value wherever it was tried.
    pub fn no_value(&self) -> Option<String> {
        self.condition.as_ref()?.no_value()
    }

    /// The lanes of `lanes` that the query's threads and condition pass.
    fn passing(&self, point: &IssuePoint, lanes: LaneMask) -> LaneMask {
        let lanes = lanes & self.query.threads.lanes_of(point.block, point.warp.number());
        match (&self.query.condition, self.passing) {
            (None, _) => lanes,
            (Some(_), (tick, passing)) if tick == point.tick => lanes & passing,
            // What happens without an instruction, such as the end of a copy, has no registers to compare.
            (Some(_), _) => LaneMask::NONE,
        }
    }

    fn push(&mut self, point: &IssuePoint, time: Tick, lanes: LaneMask, (values, value_bytes): (Vec<u64>, u32)) {
        if time < self.query.from || time >= self.query.until || lanes.is_empty() {
            return;
        }
        let (block, warp) = (point.block, point.warp.number());
        self.events.push(FoundEvent { time, pc: point.pc, block, warp, lanes, values, value_bytes });
    }

    fn access(&mut self, event: &AccessEvent<'_>) {
        let is_wanted = match self.query.happening {
            Happening::Reads => event.kind != AccessKind::Write,
            Happening::Writes => event.kind != AccessKind::Read,
            Happening::Atomics => event.kind == AccessKind::Atomic,
            Happening::Branches | Happening::Barriers | Happening::Findings => false,
        };
        if !is_wanted {
            return;
        }
        let lanes = self.place.as_ref().map_or(event.lanes, |place| place.accessing_lanes(event));
        let lanes = self.passing(&event.point, lanes);
        let values = if self.query.needs_values() { values(event.store.as_ref(), lanes) } else { (Vec::new(), 0) };
        self.push(&event.point, event.point.tick, lanes, values);
    }

    fn copy(&mut self, event: &CopyEvent<'_>) {
        let is_wanted = match self.query.happening {
            Happening::Reads => event.stage == CopyStage::Read,
            Happening::Writes => event.stage == CopyStage::Ended,
            Happening::Atomics | Happening::Branches | Happening::Barriers | Happening::Findings => false,
        };
        let is_at_place = self.place.as_ref().is_none_or(|place| place.access_by_copy(event).is_some());
        if is_wanted && is_at_place {
            let issued = event.copy.issued;
            let lanes = self.passing(&IssuePoint { tick: event.tick, ..issued }, event.lanes);
            self.push(&issued, event.tick, lanes, (Vec::new(), 0));
        }
    }

    fn sync(&mut self, event: &SyncEvent<'_>) {
        let is_arrival = matches!(event.kind, SyncKind::Arrived { .. } | SyncKind::ClusterArrived { .. });
        if is_arrival && self.query.happening == Happening::Barriers {
            let lanes = self.passing(&event.point, event.lanes);
            self.push(&event.point, event.point.tick, lanes, (Vec::new(), 0));
        }
    }

    /// True if the run must pause before the instruction, to evaluate the condition.
    fn before(&mut self, issue: &Issue, warp: &Warp, memories: &Memories<'_>) -> bool {
        if self.code.as_ref().is_none_or(|code| !code.has(issue.point.pc)) {
            return false;
        }
        let lanes = issue.lanes & self.query.threads.lanes_of(issue.point.block, issue.point.warp.number());
        if lanes.is_empty() {
            return false;
        }
        if let Some(condition) = self.condition.as_ref().filter(|_| self.passing.0 != issue.point.tick) {
            let Some(holds) = condition.lanes(issue, (warp, memories), lanes) else {
                self.paused = Some(*issue);
                return true;
            };
            self.passing = (issue.point.tick, holds);
        }
        if self.query.happening == Happening::Branches {
            let lanes = self.passing(&issue.point, issue.lanes);
            let taken = lanes.iter().map(|lane| u64::from(issue.active.contains(lane))).collect();
            self.push(&issue.point, issue.point.tick, lanes, (taken, 0));
        }
        false
    }
}

/// True for an instruction that leads to several places: a branch of some lanes.
fn is_branch(op: &Op) -> bool {
    matches!(op, Op::Control(ControlOp::Branch { .. } | ControlOp::BranchIndexed { .. }))
}

/// The values that these lanes store, of one element each; none where the store has several elements or none are known.
fn values(store: Option<&StoreData<'_>>, lanes: LaneMask) -> (Vec<u64>, u32) {
    match store.map(|store| (store.elements, store.element_bytes)) {
        Some(([element], bytes)) => {
            let mask = u64::MAX >> (64 - 8 * bytes.clamp(1, 8));
            (lanes.iter().map(|lane| element[lane] & mask).collect(), bytes)
        }
        Some(_) | None => (Vec::new(), 0),
    }
}

impl Observer for Collector<'_> {
    fn mask(&self) -> EventMask {
        let of_code = if self.code.is_some() { EventMask::of(&[EventKind::Before]) } else { EventMask::NONE };
        of_code.with(match self.query.happening {
            Happening::Reads | Happening::Writes => EventMask::of(&[EventKind::Access, EventKind::Copy]),
            Happening::Atomics => EventMask::of(&[EventKind::Access]),
            Happening::Barriers => EventMask::of(&[EventKind::Sync]),
            Happening::Branches | Happening::Findings => EventMask::NONE,
        })
    }

    fn issues(&mut self, _block: [u32; 3], _warp: WarpId) -> Issues {
        self.code.as_ref().map_or(Issues::None, |code| Issues::At(Arc::clone(code)))
    }

    fn event(&mut self, event: &Event<'_>) -> bool {
        match event {
            Event::Access(access) => self.access(access),
            Event::Copy(copy) => self.copy(copy),
            Event::Sync(sync) => self.sync(sync),
            Event::Before(issue, warp, memories) => return self.before(issue, warp, memories),
            Event::LocalStart(_)
            | Event::Collective(_)
            | Event::Mbarrier(_)
            | Event::Wgmma(_)
            | Event::After(..)
            | Event::Reconverged(..)
            | Event::Arrived(..) => {}
        }
        false
    }
}
