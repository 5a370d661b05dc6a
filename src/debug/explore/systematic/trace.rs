//! The steps of an order (schedule) so far and the dependencies between them, as vector clocks over the steps of warps.
//!
//! A step begins with an operation that others may depend on, and goes on with operations that only its own warp sees. The operation of the
//! N-th step of a warp has the number 2 N, the rest of the step 2 N + 1: steps that depend on the operation are not ordered after the rest.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use super::object_access::{AccessMode, Object, ObjectAccess, StepEvent, WarpKey, depends};
use crate::program::Pc;

/// A vector clock: for each warp, in ascending order, the number up to which its operations come before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Clock(Vec<(WarpKey, u64)>);

impl Clock {
    /// True if the operation with this number of a warp comes before.
    pub fn covers(&self, warp: WarpKey, number: u64) -> bool {
        self.place(warp).is_ok_and(|at| self.0[at].1 >= number)
    }

    fn join(&mut self, other: &Self) {
        other.0.iter().for_each(|(warp, number)| self.advance(*warp, *number));
    }

    /// The operations of a warp up to this number come before.
    fn advance(&mut self, warp: WarpKey, number: u64) {
        match self.place(warp) {
            Ok(at) => self.0[at].1 = self.0[at].1.max(number),
            Err(at) => self.0.insert(at, (warp, number)),
        }
    }

    fn place(&self, warp: WarpKey) -> Result<usize, usize> {
        self.0.binary_search_by_key(&warp, |(other, _)| *other)
    }
}

/// A step.
#[derive(Clone, Debug)]
struct Step {
    warp: WarpKey,
    number: u64,
    /// The clock of its operation, including itself.
    clock: Arc<Clock>,
}

/// An earlier access to an object.
#[derive(Clone, Copy, Debug)]
struct EarlierAccess {
    step: usize,
    warp: WarpKey,
    access: ObjectAccess,
}

impl EarlierAccess {
    /// True if all that depends on this access depends on `later`, too, which comes after it: the same access of its warp, or one that
    /// changes what it accesses.
    fn is_replaced_by(&self, later: &Self) -> bool {
        let is_repeated = self.warp == later.warp && self.access.mode == later.access.mode;
        let is_overwritten = later.access.mode == AccessMode::Writes && depends(&self.access, &later.access).is_some();
        self.access.bytes & !later.access.bytes == 0 && (is_repeated || is_overwritten)
    }
}

/// An earlier plain access.
#[derive(Clone, Copy, Debug)]
struct PlainAccess {
    warp: WarpKey,
    number: u64,
    access: ObjectAccess,
}

/// A barrier of a block or of a cluster.
#[derive(Clone, Debug, Default)]
struct BarrierState {
    /// The number of completed phases.
    phase: u64,
    /// The clock of the arrivals in the current phase.
    arrivals: Clock,
    /// The clock at the completion of the previous phase.
    completed: Clock,
    arrived: BTreeSet<WarpKey>,
    waiting: BTreeSet<WarpKey>,
}

/// A reversible race: two dependent steps that could be reversed.
#[derive(Clone, Debug)]
pub struct Race {
    /// The earlier step.
    pub step: usize,
    /// The initials: warps that can run instead of it in an order in which the later step comes first.
    pub initials: Vec<WarpKey>,
}

/// The steps of a launch so far.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// The steps; none for those without an access, and for those of earlier launches, which come before everything.
    steps: Vec<Option<Step>>,
    clocks: BTreeMap<WarpKey, Clock>,
    counts: BTreeMap<WarpKey, u64>,
    /// Those that a later access may depend on, but for those that another of them comes after and stands for.
    earlier: BTreeMap<Object, Vec<EarlierAccess>>,
    plain_accesses: BTreeMap<Object, Vec<PlainAccess>>,
    barriers: BTreeMap<Object, BarrierState>,
    fingerprint: u64,
    /// The number of plain accesses that are stored.
    size: usize,
}

impl Trace {
    /// The number of completed phases of a barrier.
    pub fn phase(&self, at: Object) -> u64 {
        self.barriers.get(&at).map_or(0, |barrier| barrier.phase)
    }

    /// The number of accesses that are stored.
    pub fn size(&self) -> usize {
        self.size
    }

    /// A hash that is the same for all orders that differ only in the order of independent steps.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// A launch has ended, and comes before all later steps.
    pub fn end_launch(&mut self) {
        let steps = self.steps.iter().map(|_| None).collect();
        let mut hasher = DefaultHasher::new();
        (self.fingerprint, self.steps.len()).hash(&mut hasher);
        *self = Self { steps, fingerprint: hasher.finish(), ..Self::default() };
    }

    /// A block has started in a freed block slot: after the steps of warp `after`, which freed it.
    pub fn begin(&mut self, warp: WarpKey, after: WarpKey) {
        if let Some(clock) = self.clocks.get(&after).cloned() {
            self.clocks.entry(warp).or_default().join(&clock);
        }
    }

    /// The steps that race with `accesses` of `warp` at this point.
    pub fn races(&self, warp: WarpKey, accesses: &[ObjectAccess]) -> Vec<Race> {
        self.depend(warp, accesses).0
    }

    /// The steps that race with these accesses, and the clock after the steps that they depend on.
    fn depend(&self, warp: WarpKey, accesses: &[ObjectAccess]) -> (Vec<Race>, Clock) {
        let mut found: BTreeMap<usize, bool> = BTreeMap::new();
        for access in accesses {
            for other in self.earlier.get(&access.object).into_iter().flatten() {
                if let Some(is_reversible) = depends(&other.access, access) {
                    *found.entry(other.step).or_default() |= is_reversible;
                }
            }
        }
        let (mut races, mut clock) = (Vec::new(), self.clocks.get(&warp).cloned().unwrap_or_default());
        for (at, is_reversible) in found.into_iter().rev() {
            let Some(step) = &self.steps[at] else { continue };
            if step.warp == warp || clock.covers(step.warp, step.number) {
                continue;
            }
            if is_reversible {
                races.push(Race { step: at, initials: self.initials(at, warp, &clock) });
            }
            clock.join(&step.clock);
        }
        (races, clock)
    }

    /// The initials of the order that replaces step `at` by the later steps that do not depend on it, followed by a step of `warp` with the
    /// clock `clock`.
    fn initials(&self, at: usize, warp: WarpKey, clock: &Clock) -> Vec<WarpKey> {
        let Some(reversed) = &self.steps[at] else { return Vec::new() };
        let mut first: BTreeMap<WarpKey, u64> = BTreeMap::new();
        let is_first = |first: &BTreeMap<WarpKey, u64>, clock: &Clock| !first.iter().any(|(warp, number)| clock.covers(*warp, *number));
        let mut initials = Vec::new();
        for step in self.steps[at + 1..].iter().flatten() {
            if step.clock.covers(reversed.warp, reversed.number) {
                continue;
            }
            if !first.contains_key(&step.warp) {
                if is_first(&first, &step.clock) {
                    initials.push(step.warp);
                }
                first.insert(step.warp, step.number);
            }
        }
        if !first.contains_key(&warp) && is_first(&first, clock) {
            initials.push(warp);
        }
        initials
    }

    /// Adds a step of `warp`. Unordered plain accesses are added to `racing`. Returns the steps with which it races.
    pub fn add(&mut self, warp: WarpKey, events: &[StepEvent], racing: &mut BTreeSet<Pc>) -> Vec<Race> {
        let accesses = accesses(events);
        let (races, mut clock) = self.depend(warp, &accesses);
        let count = self.counts.entry(warp).or_default();
        // A step without accesses belongs to the step before it.
        *count += u64::from(!accesses.is_empty());
        let (number, step) = (2 * *count, self.steps.len());
        if accesses.is_empty() {
            self.steps.push(None);
        } else {
            clock.advance(warp, number);
            let mut hasher = DefaultHasher::new();
            (warp, &clock).hash(&mut hasher);
            self.fingerprint = self.fingerprint.wrapping_add(hasher.finish());
            self.steps.push(Some(Step { warp, number, clock: Arc::new(clock.clone()) }));
        }
        self.clocks.insert(warp, clock);
        for event in events {
            match event {
                StepEvent::Synchronizes(access) => {
                    self.add_racing_plain(warp, access, racing);
                    let (earlier, new) = (self.earlier.entry(access.object).or_default(), EarlierAccess { step, warp, access: *access });
                    earlier.retain(|other| !other.is_replaced_by(&new));
                    earlier.push(new);
                }
                StepEvent::Accesses(access) => self.access(warp, number + 1, access, racing),
                StepEvent::Arrives { at, waits } => self.arrive(warp, *at, *waits),
                StepEvent::Waits { at } => self.wait(warp, *at),
                StepEvent::Completes { at } => self.complete(warp, *at),
            }
        }
        races
    }

    /// Adds the earlier plain accesses that race with `access` of `warp` to `racing`; true if there are any.
    fn add_racing_plain(&self, warp: WarpKey, access: &ObjectAccess, racing: &mut BTreeSet<Pc>) -> bool {
        let Some(clock) = self.clocks.get(&warp) else { return false };
        let mut races = false;
        for plain in self.plain_accesses.get(&access.object).into_iter().flatten() {
            let is_ordered = plain.warp == warp || clock.covers(plain.warp, plain.number);
            if !is_ordered && depends(&plain.access, access).is_some() {
                racing.insert(plain.access.pc);
                races = true;
            }
        }
        races
    }

    /// Adds a plain access.
    fn access(&mut self, warp: WarpKey, number: u64, access: &ObjectAccess, racing: &mut BTreeSet<Pc>) {
        let Some(clock) = self.clocks.get(&warp) else { return };
        let mut earlier = self.earlier.get(&access.object).into_iter().flatten();
        let races = earlier.any(|other| {
            let step = self.steps[other.step].as_ref();
            let is_ordered = step.is_none_or(|step| step.warp == warp || clock.covers(step.warp, step.number));
            !is_ordered && depends(&other.access, access).is_some()
        });
        if self.add_racing_plain(warp, access, racing) || races {
            racing.insert(access.pc);
        }
        let plain_accesses = self.plain_accesses.entry(access.object).or_default();
        let is_same = |plain: &&mut PlainAccess| (plain.warp, plain.access.mode, plain.access.bytes) == (warp, access.mode, access.bytes);
        let plain = PlainAccess { warp, number, access: *access };
        match plain_accesses.iter_mut().find(is_same) {
            Some(existing) => *existing = plain,
            None => {
                plain_accesses.push(plain);
                self.size += 1;
            }
        }
    }

    fn arrive(&mut self, warp: WarpKey, at: Object, waits: bool) {
        let barrier = self.barriers.entry(at).or_default();
        if let Some(clock) = self.clocks.get(&warp) {
            barrier.arrivals.join(clock);
        }
        barrier.arrived.insert(warp);
        if waits {
            barrier.waiting.insert(warp);
        }
    }

    fn wait(&mut self, warp: WarpKey, at: Object) {
        let barrier = self.barriers.entry(at).or_default();
        if barrier.arrived.contains(&warp) {
            barrier.waiting.insert(warp);
        } else {
            self.clocks.entry(warp).or_default().join(&barrier.completed);
        }
    }

    fn complete(&mut self, by: WarpKey, at: Object) {
        let clock = self.clocks.get(&by).cloned().unwrap_or_default();
        let barrier = self.barriers.entry(at).or_default();
        barrier.arrivals.join(&clock);
        barrier.phase += 1;
        barrier.completed = std::mem::take(&mut barrier.arrivals);
        barrier.arrived.clear();
        for waiting in std::mem::take(&mut barrier.waiting) {
            self.clocks.entry(waiting).or_default().join(&barrier.completed);
        }
    }
}

/// The accesses of the operations of a step.
pub fn accesses(events: &[StepEvent]) -> Vec<ObjectAccess> {
    let mut accesses: Vec<ObjectAccess> = events
        .iter()
        .filter_map(|event| match event {
            StepEvent::Synchronizes(access) => Some(*access),
            StepEvent::Accesses(_) | StepEvent::Arrives { .. } | StepEvent::Waits { .. } | StepEvent::Completes { .. } => None,
        })
        .collect();
    accesses.sort_unstable();
    accesses.dedup();
    accesses
}
