//! The synchronization path from the first side of a race towards the second one: the steps of the first thread that may release, the steps
//! by which other warps become ordered after the first side, and the steps of the second thread that may acquire.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::RaceChecker;
use crate::base::WarpId;
use crate::base::lanes::LANES;
use crate::check::checker::Checker;
use crate::check::finding::{Findings, PathStep, Side};
use crate::check::reporter::Reporter;
use crate::isa::{FenceKind, Ordering, Scope};
use crate::machine::{
    AccessEvent, AccessKind, BlockId, Contribution, Event, EventMask, IssuePoint, LaneMask, LaunchStart, MbarrierChange, Observer, SyncKind,
};
use crate::order::{Agent, Block, Operation, VectorClock};
use crate::program::Program;

/// The most steps that are retained of each of the two threads, and of all others together.
const MAX_STEPS: usize = 8;

/// Observes a launch from its beginning to the second side of one of its races.
pub struct SynchronizationPath {
    program: Arc<Program>,
    race: RaceChecker,
    /// The findings of the checker, which are reported already.
    findings: Findings,
    sides: [Side; 2],
    /// The operation of the first side, once it has happened.
    first: Option<Operation>,
    /// The lanes that are ordered after it, by block and warp.
    ordered_lanes: BTreeMap<([u32; 3], u32), LaneMask>,
    /// The steps of the first thread, of the second thread, and of others that became ordered after the first side.
    steps: [Vec<PathStep>; 3],
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
    point: IssuePoint,
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
        ordering: Ordering,
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
    MbarrierArrival {
        ordering: Ordering,
    },
    MbarrierWait {
        ordering: Ordering,
    },
    Commit,
    CopyWait {
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
    /// The path of the race between `first` and `second`. It observes their launch from its beginning up to the instruction of `second`.
    pub fn new(program: &Arc<Program>, first: Side, second: Side, launch: &LaunchStart) -> Self {
        assert!(first.point.tick <= second.point.tick, "the first side of a race is the earlier one");
        let mut race = RaceChecker::new(program);
        race.begin(launch);
        Self {
            program: Arc::clone(program),
            race,
            findings: Findings::default(),
            sides: [first, second],
            first: None,
            ordered_lanes: BTreeMap::new(),
            steps: [Vec::new(), Vec::new(), Vec::new()],
        }
    }

    /// The steps in the order of time, and last the warps that are ordered after the first side.
    pub fn into_steps(mut self) -> Vec<PathStep> {
        let ordered = self.ordered_warps_text();
        let mut steps: Vec<PathStep> = self.steps.iter_mut().flat_map(std::mem::take).collect();
        steps.sort_by_key(|step| step.point.map(|point| point.tick));
        steps.extend(ordered.map(|text| PathStep { point: None, text }));
        steps
    }

    /// The warps that are ordered after the first side when the second one happens, as text.
    fn ordered_warps_text(&self) -> Option<String> {
        self.first?;
        let is_first_warp =
            |(block, warp): &([u32; 3], u32)| (*block, *warp) == (self.sides[0].point.block, self.sides[0].point.warp.number());
        let mut blocks: BTreeMap<[u32; 3], Vec<u32>> = BTreeMap::new();
        self.ordered_lanes.keys().filter(|key| !is_first_warp(key)).for_each(|(block, warp)| blocks.entry(*block).or_default().push(*warp));
        let text = |(block, warps): (&[u32; 3], &Vec<u32>)| {
            let [x, y, z] = block;
            let warps: Vec<String> = warps.iter().map(u32::to_string).collect();
            let plural = if warps.len() == 1 { "warp" } else { "warps" };
            format!("{plural} {} of block ({x},{y},{z})", warps.join(", "))
        };
        let texts: Vec<String> = blocks.iter().take(MAX_STEPS).map(text).collect();
        let more = blocks.len().saturating_sub(MAX_STEPS);
        let more = if more == 0 { String::new() } else { format!(" and {more} more blocks") };
        Some(match texts.is_empty() {
            true => "no other warp is ordered after the first access by then".into(),
            false => format!("ordered after the first access by then: {}{more}; not the lanes of the second access", texts.join(", ")),
        })
    }

    fn add_step(&mut self, step: &Step) {
        if step.point.tick < self.sides[0].point.tick || step.point.tick > self.sides[1].point.tick {
            return;
        }
        self.start_tracking(step);
        let newly_ordered = self.newly_ordered_warps(step);
        let source = self.source_of(step);
        let text = match source {
            StepSource::First => step.kind.text_of_first(self.releases(step)),
            StepSource::Second if !newly_ordered.is_empty() => Some("its lanes are ordered after the first access from here on".into()),
            StepSource::Second => step.kind.text_of_second(self.acquires(step)),
            StepSource::Others if newly_ordered.is_empty() && self.may_release(step) => step.kind.text_of_first(self.releases(step)),
            StepSource::Others => None,
        };
        let (source, text) = match text {
            Some(text) => (source, text),
            None if newly_ordered.is_empty() || matches!(step.kind, StepKind::Exit) => return,
            None => (StepSource::Others, step.kind.text_of_others(&newly_ordered)),
        };
        self.push_step(source, PathStep { point: Some(step.point), text });
    }

    /// Adds a step. Of repeated steps of one instruction, the first one of the first thread and the last one of the others are retained.
    fn push_step(&mut self, source: StepSource, step: PathStep) {
        let retained = &mut self.steps[source as usize];
        let pc = |step: &PathStep| step.point.map(|point| (point.pc, point.block, point.warp));
        let existing = retained.iter().position(|existing| pc(existing) == pc(&step));
        match (source, existing) {
            (StepSource::First, Some(_)) => {}
            (StepSource::Second, Some(at)) => {
                retained.remove(at);
                retained.push(step);
            }
            (StepSource::First | StepSource::Others, _) if retained.len() >= MAX_STEPS => {}
            (StepSource::First | StepSource::Second | StepSource::Others, _) => retained.push(step),
        }
        if retained.len() > MAX_STEPS {
            retained.remove(0);
        }
    }

    fn source_of(&self, step: &Step) -> StepSource {
        let is =
            |side: &Side| (step.point.block, step.point.warp) == (side.point.block, side.point.warp) && step.lanes.intersects(side.lanes);
        match (is(&self.sides[0]), is(&self.sides[1])) {
            (true, _) => StepSource::First,
            (false, true) => StepSource::Second,
            (false, false) => StepSource::Others,
        }
    }

    /// Sets the operation of the first side at the first step of its block after it.
    fn start_tracking(&mut self, step: &Step) {
        let Side { point, lanes, copy, .. } = self.sides[0];
        if self.first.is_some() || copy.is_some() || step.point.block != point.block {
            return;
        }
        let (block, warp) = (step.block_id.number as u32, point.warp);
        self.first = Some(Operation { tick: point.tick, block, warp, lanes, agent: Agent::Threads, only_reads: false });
        self.ordered_lanes.insert((point.block, warp.number()), lanes);
    }

    /// The warps with lanes that become ordered after the first side by a step.
    fn newly_ordered_warps(&mut self, step: &Step) -> Vec<u32> {
        let (Some(first), Some(block)) = (self.first, self.race.hb.block(step.block_id.block_slot)) else { return Vec::new() };
        let own_warp = step.point.warp.number();
        let warps = if step.kind.is_of_block() { 0..self.race.hb.warps() as u32 } else { own_warp..own_warp + 1 };
        let mut newly_ordered = Vec::new();
        for warp in warps {
            let ordered = lanes_after(block, WarpId::new(warp), &first);
            let already = self.ordered_lanes.entry((step.point.block, warp)).or_insert(LaneMask::NONE);
            if !(ordered & !*already).is_empty() {
                newly_ordered.push(warp);
            }
            *already |= ordered;
        }
        self.ordered_lanes.retain(|_, lanes| !lanes.is_empty());
        newly_ordered
    }

    /// True if lanes that are ordered after the first side may release it by a step.
    fn may_release(&self, step: &Step) -> bool {
        let ordered = self.ordered_lanes.get(&(step.point.block, step.point.warp.number())).copied().unwrap_or(LaneMask::NONE);
        matches!(step.kind, StepKind::Access { writes: true, .. } | StepKind::Fence { .. } | StepKind::MbarrierArrival { .. })
            && step.lanes.intersects(ordered)
    }

    /// The scope in which a strong write releases the first side; none if it does not.
    fn releases(&self, step: &Step) -> Option<Scope> {
        let StepKind::Access { writes: true, ordering, scope, .. } = step.kind else { return None };
        if ordering.releases() {
            return Some(scope);
        }
        let (first, block) = (self.first?, self.race.hb.block(step.block_id.block_slot)?);
        let fences = block.warps[step.point.warp].fences.iter().filter(|fenced| fenced.lanes.intersects(step.lanes));
        let after = fences.filter(|fenced| includes(&fenced.clock.released(fenced.lanes & step.lanes), &first));
        after.map(|fenced| fenced.scope.min(scope)).max()
    }

    /// The release after the first side that a strong read of the second thread observes, if any.
    fn acquires(&self, step: &Step) -> Observation {
        let (Some(first), Some(block)) = (self.first, self.race.hb.block(step.block_id.block_slot)) else { return Observation::Nothing };
        let warp = &block.warps[step.point.warp];
        let holds = |clock: &VectorClock| includes(clock, &first);
        let second = self.sides[1].lanes;
        if warp.deferred.iter().any(|acquire| acquire.lanes.intersects(second) && holds(&acquire.clock)) {
            return Observation::Deferred;
        }
        let is_out_of_scope = warp.out_of_scope.iter().any(|(lanes, clock)| lanes.intersects(second) && holds(clock));
        if is_out_of_scope { Observation::OutOfScope } else { Observation::Nothing }
    }
}

/// The way in which lanes have observed a release.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Observation {
    /// A later fence acquires it.
    Deferred,
    /// Its scope or theirs does not include both threads.
    OutOfScope,
    Nothing,
}

/// True if a clock includes an operation.
fn includes(clock: &VectorClock, operation: &Operation) -> bool {
    clock.get(operation.block).is_some_and(|block_clock| block_clock.synchronous.tick_of(operation.warp, operation.lanes) > operation.tick)
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
        race.event(event, &mut Reporter { program, findings, launch: 0, mask_changed: false });
        if let Some(step) = Step::of(event) {
            self.add_step(&step);
        }
        false
    }
}

impl Step {
    /// The step of an event; none if it does not synchronize.
    fn of(event: &Event<'_>) -> Option<Self> {
        let (point, block_id, lanes, kind) = match event {
            Event::Access(access) => (access.point, access.block_id, access.lanes, StepKind::of_access(access)?),
            Event::Sync(event) => (event.point, event.block_id, event.lanes, StepKind::of_sync(&event.kind)?),
            Event::Mbarrier(object) => {
                let ordering = object.semantics.ordering;
                let what = match object.change {
                    MbarrierChange::Contributed(Contribution::Arrived(_) | Contribution::Dropped(_)) => {
                        StepKind::MbarrierArrival { ordering }
                    }
                    MbarrierChange::Tested { completed: true, .. } => StepKind::MbarrierWait { ordering },
                    MbarrierChange::Contributed(Contribution::ExpectTx(_) | Contribution::CompleteTx(_))
                    | MbarrierChange::Tested { completed: false, .. }
                    | MbarrierChange::Initialized(_)
                    | MbarrierChange::Invalidated
                    | MbarrierChange::PhaseCompleted(_) => return None,
                };
                (object.point, object.block_id, object.lanes, what)
            }
            Event::Copy(_)
            | Event::Wgmma(_)
            | Event::LocalStart(_)
            | Event::Collective(_)
            | Event::Before(..)
            | Event::After(..)
            | Event::Reconverged(..)
            | Event::Arrived(..) => return None,
        };
        Some(Self { point, block_id, lanes, kind })
    }
}

impl StepKind {
    fn of_access(access: &AccessEvent<'_>) -> Option<Self> {
        let (ordering, scope) = (access.semantics.ordering, super::strength(&access.semantics)?);
        Some(Self::Access { reads: access.kind != AccessKind::Write, writes: access.kind != AccessKind::Read, ordering, scope })
    }

    fn of_sync(kind: &SyncKind<'_>) -> Option<Self> {
        Some(match *kind {
            SyncKind::Fence { kind: FenceKind::Memory, ordering, scope } => Self::Fence { ordering, scope },
            SyncKind::Fence { .. } => Self::ProxyFence,
            SyncKind::Arrived { id, .. } => Self::Arrival { barrier: id },
            SyncKind::BarrierCompleted { id, .. } => Self::Completion { barrier: id },
            SyncKind::WarpSync { members } => Self::WarpSync { members },
            SyncKind::ClusterArrived { relaxed, .. } => Self::ClusterArrival { is_relaxed: relaxed },
            SyncKind::ClusterWaits => Self::ClusterWait,
            SyncKind::ClusterBarrierCompleted { .. } => Self::ClusterCompletion,
            SyncKind::Committed { .. } => Self::Commit,
            SyncKind::Awaited(wait) => Self::CopyWait { pending: if wait.uncommitted { 0 } else { wait.pending } },
            SyncKind::Exited => Self::Exit,
            SyncKind::Collective { .. } => return None,
        })
    }

    /// True if lanes of other warps may become ordered by it.
    fn is_of_block(self) -> bool {
        match self {
            Self::Completion { .. } | Self::ClusterCompletion | Self::Arrival { .. } | Self::ClusterArrival { .. } | Self::Exit => true,
            Self::Access { .. }
            | Self::Fence { .. }
            | Self::ProxyFence
            | Self::WarpSync { .. }
            | Self::MbarrierArrival { .. }
            | Self::MbarrierWait { .. }
            | Self::Commit
            | Self::CopyWait { .. }
            | Self::ClusterWait => false,
        }
    }

    /// The text of a step of the first thread, which releases the first side in the scope `released`, if it does.
    fn text_of_first(self, released: Option<Scope>) -> Option<String> {
        Some(match self {
            Self::Access { writes: false, .. } | Self::Completion { .. } | Self::ClusterCompletion | Self::MbarrierWait { .. } => {
                return None;
            }
            Self::Access { writes: true, .. } => match released {
                Some(scope) => format!("releases what came before it, in .{} scope", scope.max(Scope::Cta).word()),
                None => {
                    "a strong write without .release, with no fence between it and the first access: it releases nothing of that".into()
                }
            },
            Self::Fence { ordering, .. } if !ordering.releases() => "a fence that only acquires: it releases nothing".into(),
            Self::Fence { scope, .. } => {
                format!("its strong writes from here on release what came before, in .{} scope", scope.max(Scope::Cta).word())
            }
            Self::Commit => "commits the group of its copies".into(),
            Self::CopyWait { pending } => format!("waits for its copies: {pending} groups may stay pending"),
            Self::ProxyFence
            | Self::Arrival { .. }
            | Self::WarpSync { .. }
            | Self::MbarrierArrival { .. }
            | Self::ClusterArrival { .. }
            | Self::ClusterWait
            | Self::Exit => return self.text_of_either(),
        })
    }

    /// The text of a step of the second thread, by its observation of a release.
    fn text_of_second(self, observed: Observation) -> Option<String> {
        Some(match self {
            Self::Access { reads: false, .. } | Self::Completion { .. } | Self::ClusterCompletion | Self::MbarrierArrival { .. } => {
                return None;
            }
            Self::Access { ordering, .. } => match (observed, ordering.acquires()) {
                (Observation::Deferred, _) => {
                    "reads what was released after the first access, without .acquire: a fence after it would acquire it"
                }
                (Observation::OutOfScope, _) => "reads what was released after the first access in a scope that does not hold both threads",
                (Observation::Nothing, true) => "acquires, but what it reads was not released after the first access",
                (Observation::Nothing, false) => "a strong read without .acquire: it acquires nothing without a fence after it",
            }
            .into(),
            Self::Fence { ordering, .. } if !ordering.acquires() => "a fence that only releases: it acquires nothing".into(),
            Self::Fence { scope, .. } => {
                format!("acquires what its strong reads before have seen, in .{} scope", scope.max(Scope::Cta).word())
            }
            Self::MbarrierWait { ordering: Ordering::Relaxed } => "sees the phase of an mbarrier end; .relaxed acquires nothing".into(),
            Self::MbarrierWait { .. } => "acquires what was released before the arrivals at the phase of an mbarrier".into(),
            Self::Commit => return None,
            Self::CopyWait { pending } => format!("waits for its own copies: {pending} groups may stay pending"),
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
            Self::MbarrierArrival { ordering: Ordering::Relaxed } => "arrives at an mbarrier; .relaxed releases nothing".into(),
            Self::MbarrierArrival { .. } => "arrives at an mbarrier, which releases what came before".into(),
            Self::ClusterArrival { is_relaxed: true } => "arrives at the barrier of the cluster; .relaxed releases nothing".into(),
            Self::ClusterArrival { is_relaxed: false } => "arrives at the barrier of the cluster".into(),
            Self::ClusterWait => "waits at the barrier of the cluster".into(),
            Self::Exit => "exits".into(),
            Self::Access { .. }
            | Self::Fence { .. }
            | Self::Completion { .. }
            | Self::MbarrierWait { .. }
            | Self::Commit
            | Self::CopyWait { .. }
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
            Self::MbarrierWait { .. } => format!("the end of a phase of an mbarrier orders {warps} after the first access"),
            Self::WarpSync { .. } => format!("bar.warp.sync orders lanes of {warps} after the first access"),
            Self::Access { .. } | Self::Fence { .. } => format!("{warps} acquires what was released after the first access"),
            Self::ProxyFence | Self::MbarrierArrival { .. } | Self::Commit | Self::CopyWait { .. } | Self::Exit => {
                format!("{warps} is ordered after the first access")
            }
        }
    }
}
