//! The synchronization path from the first side of a race to the second one, as far as it goes: the steps of the thread of the first side
//! that may release it, the warps that are ordered after it and the steps that order them, and the steps of the thread of the second side
//! that may acquire it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Race;
use crate::base::WarpId;
use crate::base::lanes::LANES;
use crate::check::checker::Checker;
use crate::check::finding::{Findings, Link, Side};
use crate::check::reporter::Reporter;
use crate::isa::{FenceKind, Ordering, Scope};
use crate::machine::{
    AccessEvent, AccessKind, BlockId, Contribution, Event, EventMask, IssuePoint, LaneMask, LaunchStart, MbarrierChange, Observer, Order,
};
use crate::order::{Agent, Block, Operation, VectorClock};
use crate::program::Program;

/// The most steps that are recorded of each of the two threads, and of all others together.
const KEPT: usize = 8;

/// Observes a launch from its beginning to the second side of one of its races.
pub struct SynchronizationPath {
    program: Arc<Program>,
    race: Race,
    /// The findings of the checker on the way, which are reported already.
    findings: Findings,
    sides: [Side; 2],
    /// The operation of the first side, once it has happened.
    first: Option<Operation>,
    /// The lanes that are ordered after it, by block and warp.
    informed: BTreeMap<([u32; 3], u32), LaneMask>,
    /// The steps of the first thread, of the second thread, and of others that became ordered after the first side.
    steps: [Vec<Link>; 3],
}

/// The threads that execute a step.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StepSource {
    First,
    Second,
    Others,
}

/// An operation that may synchronize.
struct Step {
    place: IssuePoint,
    block_id: BlockId,
    lanes: LaneMask,
    kind: StepKind,
}

/// The kind of a step.
#[derive(Clone, Copy)]
enum StepKind {
    /// A strong access.
    Access {
        reads: bool,
        writes: bool,
        ordering: Ordering,
        scope: Scope,
    },
    Fence {
        scope: Scope,
    },
    ProxyFence,
    Arrival {
        barrier: u32,
    },
    Completion {
        barrier: u32,
    },
    WarpSync {
        members: LaneMask,
    },
    ObjectArrival {
        ordering: Ordering,
    },
    ObjectWait {
        ordering: Ordering,
    },
    Commit,
    CopiesAwaited {
        pending: u32,
    },
    ClusterArrival {
        is_relaxed: bool,
    },
    ClusterWait,
    ClusterCompletion,
    Exit,
}

impl SynchronizationPath {
    /// Of the race between `first` and `second`. It is to observe their launch from its beginning, and the instruction of `second` last.
    pub fn new(program: &Arc<Program>, first: Side, second: Side, launch: &LaunchStart) -> Self {
        assert!(first.place.tick <= second.place.tick, "the first side of a race is the earlier one");
        let mut race = Race::new(program);
        race.begin(launch);
        Self {
            program: Arc::clone(program),
            race,
            findings: Findings::default(),
            sides: [first, second],
            first: None,
            informed: BTreeMap::new(),
            steps: [Vec::new(), Vec::new(), Vec::new()],
        }
    }

    /// The steps in the order of time, and last the warps that are ordered after the first side.
    pub fn links(mut self) -> Vec<Link> {
        let reach = self.reach();
        let mut links: Vec<Link> = self.steps.iter_mut().flat_map(std::mem::take).collect();
        links.sort_by_key(|link| link.place.map(|place| place.tick));
        links.extend(reach.map(|text| Link { place: None, text }));
        links
    }

    /// The warps that are ordered after the first side when the second one happens, as text.
    fn reach(&self) -> Option<String> {
        self.first?;
        let own = |(block, warp): &([u32; 3], u32)| (*block, *warp) == (self.sides[0].place.block, self.sides[0].place.warp.number());
        let mut blocks: BTreeMap<[u32; 3], Vec<u32>> = BTreeMap::new();
        self.informed.keys().filter(|key| !own(key)).for_each(|(block, warp)| blocks.entry(*block).or_default().push(*warp));
        let text = |(block, warps): (&[u32; 3], &Vec<u32>)| {
            let [x, y, z] = block;
            let warps: Vec<String> = warps.iter().map(u32::to_string).collect();
            let plural = if warps.len() == 1 { "warp" } else { "warps" };
            format!("{plural} {} of block ({x},{y},{z})", warps.join(", "))
        };
        let known: Vec<String> = blocks.iter().take(KEPT).map(text).collect();
        let more = blocks.len().saturating_sub(KEPT);
        let more = if more == 0 { String::new() } else { format!(" and {more} more blocks") };
        Some(match known.is_empty() {
            true => "no other warp is ordered after the first access by then".into(),
            false => format!("ordered after the first access by then: {}{more}; not the lanes of the second access", known.join(", ")),
        })
    }

    fn follow(&mut self, step: &Step) {
        if step.place.tick < self.sides[0].place.tick || step.place.tick > self.sides[1].place.tick {
            return;
        }
        self.start_tracking(step);
        let learned = self.inform(step);
        let whose = self.whose(step);
        let text = match whose {
            StepSource::First => step.kind.text_of_first(self.releases(step)),
            StepSource::Second if !learned.is_empty() => Some("its lanes are ordered after the first access from here on".into()),
            StepSource::Second => step.kind.text_of_second(self.acquires(step)),
            StepSource::Others if learned.is_empty() && self.may_release(step) => step.kind.text_of_first(self.releases(step)),
            StepSource::Others => None,
        };
        let (whose, text) = match text {
            Some(text) => (whose, text),
            None if learned.is_empty() || matches!(step.kind, StepKind::Exit) => return,
            None => (StepSource::Others, step.kind.text_of_others(&learned)),
        };
        self.keep(whose, Link { place: Some(step.place), text });
    }

    /// Records a step: of the steps of one statement, for the first thread the first one, for the others the last.
    fn keep(&mut self, whose: StepSource, link: Link) {
        let kept = &mut self.steps[whose as usize];
        let pc = |link: &Link| link.place.map(|place| (place.pc, place.block, place.warp));
        let known = kept.iter().position(|known| pc(known) == pc(&link));
        match (whose, known) {
            (StepSource::First, Some(_)) => {}
            (StepSource::Second, Some(at)) => {
                kept.remove(at);
                kept.push(link);
            }
            (StepSource::First | StepSource::Others, _) if kept.len() >= KEPT => {}
            (StepSource::First | StepSource::Second | StepSource::Others, _) => kept.push(link),
        }
        if kept.len() > KEPT {
            kept.remove(0);
        }
    }

    fn whose(&self, step: &Step) -> StepSource {
        let is =
            |side: &Side| (step.place.block, step.place.warp) == (side.place.block, side.place.warp) && step.lanes.intersects(side.lanes);
        match (is(&self.sides[0]), is(&self.sides[1])) {
            (true, _) => StepSource::First,
            (false, true) => StepSource::Second,
            (false, false) => StepSource::Others,
        }
    }

    /// Sets the operation of the first side at the first step of its block after it.
    fn start_tracking(&mut self, step: &Step) {
        let Side { place, lanes, copy, .. } = self.sides[0];
        if self.first.is_some() || copy.is_some() || step.place.block != place.block {
            return;
        }
        let (block, warp) = (step.block_id.number as u32, place.warp);
        self.first = Some(Operation { tick: place.tick, block, warp, lanes, agent: Agent::Threads, only_reads: false });
        self.informed.insert((place.block, warp.number()), lanes);
    }

    /// The warps of which lanes become ordered after the first side by a step.
    fn inform(&mut self, step: &Step) -> Vec<u32> {
        let (Some(first), Some(block)) = (self.first, self.race.order.block(step.block_id.block_slot)) else { return Vec::new() };
        let own = step.place.warp.number();
        let warps = if step.kind.is_of_block() { 0..self.race.order.warps() as u32 } else { own..own + 1 };
        let mut learned = Vec::new();
        for warp in warps {
            let know = lanes_after(block, WarpId::new(warp), &first);
            let informed = self.informed.entry((step.place.block, warp)).or_insert(LaneMask::NONE);
            if !(know & !*informed).is_empty() {
                learned.push(warp);
            }
            *informed |= know;
        }
        self.informed.retain(|_, lanes| !lanes.is_empty());
        learned
    }

    /// Whether lanes that are ordered after the first side may release it by a step.
    fn may_release(&self, step: &Step) -> bool {
        let informed = self.informed.get(&(step.place.block, step.place.warp.number())).copied().unwrap_or(LaneMask::NONE);
        matches!(step.kind, StepKind::Access { writes: true, .. } | StepKind::Fence { .. } | StepKind::ObjectArrival { .. })
            && step.lanes.intersects(informed)
    }

    /// Whether a strong write releases the first side, and in which scope.
    fn releases(&self, step: &Step) -> Option<Scope> {
        let StepKind::Access { writes: true, ordering, scope, .. } = step.kind else { return None };
        if ordering.releases() {
            return Some(scope);
        }
        let (first, block) = (self.first?, self.race.order.block(step.block_id.block_slot)?);
        let fences = block.warps[step.place.warp].fences.iter().filter(|fenced| fenced.lanes.intersects(step.lanes));
        let after = fences.filter(|fenced| is_in(&fenced.clock.released(fenced.lanes & step.lanes), &first));
        after.map(|fenced| fenced.scope.min(scope)).max()
    }

    /// Whether a strong read of the second thread observes a release after the first side.
    fn acquires(&self, step: &Step) -> Observed {
        let (Some(first), Some(block)) = (self.first, self.race.order.block(step.block_id.block_slot)) else { return Observed::Nothing };
        let warp = &block.warps[step.place.warp];
        let holds = |clock: &VectorClock| is_in(clock, &first);
        let second = self.sides[1].lanes;
        if warp.deferred.iter().any(|acquire| acquire.lanes.intersects(second) && holds(&acquire.clock)) {
            return Observed::Deferred;
        }
        let is_missed = warp.missed.iter().any(|(lanes, clock)| lanes.intersects(second) && holds(clock));
        if is_missed { Observed::Missed } else { Observed::Nothing }
    }
}

/// Whether lanes have observed a release.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Observed {
    /// It takes a fence to acquire it.
    Deferred,
    /// Its scope or theirs does not hold both threads.
    Missed,
    Nothing,
}

/// Whether an operation is in a clock.
fn is_in(clock: &VectorClock, operation: &Operation) -> bool {
    clock.of(operation.block).is_some_and(|known| known.own.of(operation.warp, operation.lanes) > operation.tick)
}

/// The lanes of a warp that are ordered after an operation.
fn lanes_after(block: &Block, warp: WarpId, operation: &Operation) -> LaneMask {
    let by = operation.lanes.first();
    let lanes = block.warps[warp].all;
    LaneMask::from_fn(|lane| lane < LANES && lanes.contains(lane) && block.happens_before(warp, lane, operation, by))
}

impl Observer for SynchronizationPath {
    fn mask(&self) -> EventMask {
        self.race.mask()
    }

    fn event(&mut self, event: &Event<'_>) -> bool {
        let Self { program, race, findings, .. } = self;
        race.event(event, &mut Reporter { program, findings, launch: 0, asks: false });
        if let Some(step) = Step::of(event) {
            self.follow(&step);
        }
        false
    }
}

impl Step {
    /// The step of an event; none if it does not synchronize.
    fn of(event: &Event<'_>) -> Option<Self> {
        let (place, block_id, lanes, kind) = match event {
            Event::Access(access) => (access.place, access.block_id, access.lanes, StepKind::of_access(access)?),
            Event::Order(event) => (event.place, event.block_id, event.lanes, StepKind::of_order(&event.order)?),
            Event::Mbarrier(object) => {
                let ordering = object.semantics.ordering;
                let what = match object.change {
                    MbarrierChange::Contributed(Contribution::Arrived(_) | Contribution::Dropped(_)) => {
                        StepKind::ObjectArrival { ordering }
                    }
                    MbarrierChange::Tested { ended: true, .. } => StepKind::ObjectWait { ordering },
                    MbarrierChange::Contributed(Contribution::ExpectTx(_) | Contribution::CompleteTx(_))
                    | MbarrierChange::Tested { ended: false, .. }
                    | MbarrierChange::Made(_)
                    | MbarrierChange::Invalidated
                    | MbarrierChange::Ended(_) => return None,
                };
                (object.place, object.block_id, object.lanes, what)
            }
            Event::Copy(_)
            | Event::Wgmma(_)
            | Event::Collective(_)
            | Event::Before(..)
            | Event::After(..)
            | Event::Reconverged(..)
            | Event::Arrived(..) => return None,
        };
        Some(Self { place, block_id, lanes, kind })
    }
}

impl StepKind {
    fn of_access(access: &AccessEvent<'_>) -> Option<Self> {
        let (ordering, scope) = (access.semantics.ordering, super::strength(&access.semantics)?);
        Some(Self::Access { reads: access.kind != AccessKind::Write, writes: access.kind != AccessKind::Read, ordering, scope })
    }

    fn of_order(order: &Order<'_>) -> Option<Self> {
        Some(match *order {
            Order::Fence { kind: FenceKind::Memory, scope, .. } => Self::Fence { scope },
            Order::Fence { .. } => Self::ProxyFence,
            Order::Arrived { id, .. } => Self::Arrival { barrier: id },
            Order::BarrierCompleted { id, .. } => Self::Completion { barrier: id },
            Order::WarpSync { members } => Self::WarpSync { members },
            Order::ClusterArrived { relaxed, .. } => Self::ClusterArrival { is_relaxed: relaxed },
            Order::ClusterWaits => Self::ClusterWait,
            Order::ClusterBarrierCompleted { .. } => Self::ClusterCompletion,
            Order::Committed { .. } => Self::Commit,
            Order::Awaited(wait) => Self::CopiesAwaited { pending: if wait.open { 0 } else { wait.pending } },
            Order::Exited => Self::Exit,
            Order::Collective { .. } => return None,
        })
    }

    /// Whether lanes of other warps may learn something by it.
    fn is_of_block(self) -> bool {
        match self {
            Self::Completion { .. } | Self::ClusterCompletion | Self::Arrival { .. } | Self::ClusterArrival { .. } | Self::Exit => true,
            Self::Access { .. }
            | Self::Fence { .. }
            | Self::ProxyFence
            | Self::WarpSync { .. }
            | Self::ObjectArrival { .. }
            | Self::ObjectWait { .. }
            | Self::Commit
            | Self::CopiesAwaited { .. }
            | Self::ClusterWait => false,
        }
    }

    /// The text of a step of the first thread: whether it releases the first side.
    fn text_of_first(self, released: Option<Scope>) -> Option<String> {
        Some(match self {
            Self::Access { writes: false, .. } | Self::Completion { .. } | Self::ClusterCompletion | Self::ObjectWait { .. } => {
                return None;
            }
            Self::Access { writes: true, .. } => match released {
                Some(scope) => format!("releases what came before it, in {} scope", scope_word(scope)),
                None => {
                    "a strong write without .release, with no fence between it and the first access: it releases nothing of that".into()
                }
            },
            Self::Fence { scope } => format!("its strong writes from here on release what came before, in {} scope", scope_word(scope)),
            Self::Commit => "commits the group of its copies".into(),
            Self::CopiesAwaited { pending } => format!("waits for its copies: {pending} groups may stay pending"),
            Self::ProxyFence
            | Self::Arrival { .. }
            | Self::WarpSync { .. }
            | Self::ObjectArrival { .. }
            | Self::ClusterArrival { .. }
            | Self::ClusterWait
            | Self::Exit => return self.text_of_either(),
        })
    }

    /// The text of a step of the second thread: whether it acquires the first side.
    fn text_of_second(self, observed: Observed) -> Option<String> {
        Some(match self {
            Self::Access { reads: false, .. } | Self::Completion { .. } | Self::ClusterCompletion | Self::ObjectArrival { .. } => {
                return None;
            }
            Self::Access { ordering, .. } => match (observed, ordering.acquires()) {
                (Observed::Deferred, _) => {
                    "reads what was released after the first access, without .acquire: a fence after it would acquire it"
                }
                (Observed::Missed, _) => "reads what was released after the first access in a scope that does not hold both threads",
                (Observed::Nothing, true) => "acquires, but what it reads was not released after the first access",
                (Observed::Nothing, false) => "a strong read without .acquire: it acquires nothing without a fence after it",
            }
            .into(),
            Self::Fence { scope } => format!("acquires what its strong reads before have seen, in {} scope", scope_word(scope)),
            Self::ObjectWait { ordering: Ordering::Relaxed } => "sees the phase of an mbarrier end; .relaxed acquires nothing".into(),
            Self::ObjectWait { .. } => "acquires what was released before the arrivals at the phase of an mbarrier".into(),
            Self::Commit => return None,
            Self::CopiesAwaited { pending } => format!("waits for its own copies: {pending} groups may stay pending"),
            Self::ProxyFence
            | Self::Arrival { .. }
            | Self::WarpSync { .. }
            | Self::ClusterArrival { .. }
            | Self::ClusterWait
            | Self::Exit => return self.text_of_either(),
        })
    }

    fn text_of_either(self) -> Option<String> {
        Some(match self {
            Self::ProxyFence => "a proxy fence".into(),
            Self::Arrival { barrier } => format!("arrives at barrier {barrier}"),
            Self::WarpSync { members } => format!("synchronizes with lanes {} of its warp", members.list()),
            Self::ObjectArrival { ordering: Ordering::Relaxed } => "arrives at an mbarrier; .relaxed releases nothing".into(),
            Self::ObjectArrival { .. } => "arrives at an mbarrier, which releases what came before".into(),
            Self::ClusterArrival { is_relaxed: true } => "arrives at the barrier of the cluster; .relaxed releases nothing".into(),
            Self::ClusterArrival { is_relaxed: false } => "arrives at the barrier of the cluster".into(),
            Self::ClusterWait => "waits at the barrier of the cluster".into(),
            Self::Exit => "exits".into(),
            Self::Access { .. }
            | Self::Fence { .. }
            | Self::Completion { .. }
            | Self::ObjectWait { .. }
            | Self::Commit
            | Self::CopiesAwaited { .. }
            | Self::ClusterCompletion => return None,
        })
    }

    /// The text of a step by which lanes of other warps become ordered after the first side.
    fn text_of_others(self, warps: &[u32]) -> String {
        let plural = if warps.len() == 1 { "warp" } else { "warps" };
        let names: Vec<String> = warps.iter().map(u32::to_string).collect();
        let warps = format!("{plural} {}", names.join(", "));
        match self {
            Self::Arrival { barrier } | Self::Completion { barrier } => format!("barrier {barrier} orders {warps} after the first access"),
            Self::ClusterArrival { .. } | Self::ClusterCompletion | Self::ClusterWait => {
                format!("the barrier of the cluster orders {warps} after the first access")
            }
            Self::ObjectWait { .. } => format!("the end of a phase of an mbarrier orders {warps} after the first access"),
            Self::WarpSync { .. } => format!("bar.warp.sync orders lanes of {warps} after the first access"),
            Self::Access { .. } | Self::Fence { .. } => format!("{warps} acquires what was released after the first access"),
            Self::ProxyFence | Self::ObjectArrival { .. } | Self::Commit | Self::CopiesAwaited { .. } | Self::Exit => {
                format!("{warps} is ordered after the first access")
            }
        }
    }
}

/// `.gpu`
fn scope_word(scope: Scope) -> &'static str {
    match scope {
        Scope::None | Scope::Cta => ".cta",
        Scope::Cluster => ".cluster",
        Scope::Gpu => ".gpu",
        Scope::Sys => ".sys",
    }
}
