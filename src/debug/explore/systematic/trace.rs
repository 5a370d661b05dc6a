//! What has happened in an order so far, and what of it depends on what: vector clocks over the steps of warps.
//!
//! A step begins with an operation that others may depend on, and goes on with what only its own warp sees. The operation of the N-th step
//! of a warp has the number 2 N, what follows it 2 N + 1: what depends on the operation is not ordered after the rest.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use super::touch::{Happening, Mode, Object, Touch, WarpKey, depends};
use crate::program::Pc;

/// For each warp the number up to which its steps come before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Clock(BTreeMap<WarpKey, u64>);

impl Clock {
    /// Whether what this warp did under this number comes before.
    pub fn covers(&self, warp: WarpKey, number: u64) -> bool {
        self.0.get(&warp).is_some_and(|known| *known >= number)
    }

    fn join(&mut self, other: &Self) {
        for (warp, number) in &other.0 {
            let known = self.0.entry(*warp).or_default();
            *known = (*known).max(*number);
        }
    }
}

/// A step.
#[derive(Clone, Debug)]
struct Step {
    warp: WarpKey,
    number: u64,
    /// What comes before its operation, and that.
    clock: Arc<Clock>,
}

/// An earlier touch of an object.
#[derive(Clone, Copy, Debug)]
struct Past {
    step: usize,
    touch: Touch,
}

/// An earlier plain access.
#[derive(Clone, Copy, Debug)]
struct Plain {
    warp: WarpKey,
    number: u64,
    touch: Touch,
}

/// A barrier of a block or of a cluster.
#[derive(Clone, Debug, Default)]
struct Meeting {
    /// Phases that have ended.
    phase: u64,
    /// What comes before the end of the open phase.
    before: Clock,
    /// What came before the end of the last one.
    ended: Clock,
    arrived: BTreeSet<WarpKey>,
    waiting: BTreeSet<WarpKey>,
}

/// Two steps that could have come the other way round.
#[derive(Clone, Debug)]
pub struct Race {
    /// The earlier one.
    pub step: usize,
    /// The warps that can go on instead of it so that the later one comes first.
    pub initials: Vec<WarpKey>,
}

/// The steps of a launch so far.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// The steps; none for those that touch nothing, and for those of earlier launches, which come before everything.
    steps: Vec<Option<Step>>,
    clocks: BTreeMap<WarpKey, Clock>,
    counts: BTreeMap<WarpKey, u64>,
    pasts: BTreeMap<Object, Vec<Past>>,
    plains: BTreeMap<Object, Vec<Plain>>,
    meetings: BTreeMap<Object, Meeting>,
    fingerprint: u64,
    /// How many plain accesses are remembered.
    size: usize,
}

impl Trace {
    /// How many phases of a barrier have ended.
    pub fn phase(&self, at: Object) -> u64 {
        self.meetings.get(&at).map_or(0, |meeting| meeting.phase)
    }

    /// How many accesses are remembered.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The same for all orders that differ only in what does not depend on each other.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// A launch has ended: it comes before all that follows.
    pub fn end_launch(&mut self) {
        let steps = self.steps.iter().map(|_| None).collect();
        let mut hasher = DefaultHasher::new();
        (self.fingerprint, self.steps.len()).hash(&mut hasher);
        *self = Self { steps, fingerprint: hasher.finish(), ..Self::default() };
    }

    /// A block has begun where another one had finished: after what this warp has done.
    pub fn begin(&mut self, warp: WarpKey, after: WarpKey) {
        if let Some(clock) = self.clocks.get(&after).cloned() {
            self.clocks.entry(warp).or_default().join(&clock);
        }
    }

    /// The steps with which touches by `warp` that come now race.
    pub fn races(&self, warp: WarpKey, touches: &[Touch]) -> Vec<Race> {
        self.depend(warp, touches).0
    }

    /// The steps with which touches that come now race, and the clock after what they depend on.
    fn depend(&self, warp: WarpKey, touches: &[Touch]) -> (Vec<Race>, Clock) {
        let mut found: BTreeMap<usize, bool> = BTreeMap::new();
        for touch in touches {
            for past in self.pasts.get(&touch.object).into_iter().flatten() {
                if let Some(is_reversible) = depends(&past.touch, touch) {
                    *found.entry(past.step).or_default() |= is_reversible;
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

    /// The warps with which an order can begin in place of step `at` that has what comes after that without depending on it, and then a
    /// step of `warp` after what `clock` covers.
    fn initials(&self, at: usize, warp: WarpKey, clock: &Clock) -> Vec<WarpKey> {
        let Some(left_out) = &self.steps[at] else { return Vec::new() };
        let mut first: BTreeMap<WarpKey, u64> = BTreeMap::new();
        let is_first = |first: &BTreeMap<WarpKey, u64>, clock: &Clock| !first.iter().any(|(warp, number)| clock.covers(*warp, *number));
        let mut initials = Vec::new();
        for step in self.steps[at + 1..].iter().flatten() {
            if step.clock.covers(left_out.warp, left_out.number) {
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

    /// Adds a step of `warp`. Plain accesses that nothing orders are added to `racing`. Returns the steps with which it races.
    pub fn add(&mut self, warp: WarpKey, happened: &[Happening], racing: &mut BTreeSet<Pc>) -> Vec<Race> {
        let touches = touches(happened);
        let (races, mut clock) = self.depend(warp, &touches);
        let count = self.counts.entry(warp).or_default();
        // A step that touches nothing is one with that before it, wherever it ends.
        *count += u64::from(!touches.is_empty());
        let (number, step) = (2 * *count, self.steps.len());
        if touches.is_empty() {
            self.steps.push(None);
        } else {
            clock.0.insert(warp, number);
            let mut hasher = DefaultHasher::new();
            (warp, &clock).hash(&mut hasher);
            self.fingerprint = self.fingerprint.wrapping_add(hasher.finish());
            self.steps.push(Some(Step { warp, number, clock: Arc::new(clock.clone()) }));
        }
        self.clocks.insert(warp, clock);
        for happening in happened {
            match happening {
                Happening::Touches(touch) => {
                    self.race_with_plain(warp, touch, racing);
                    let pasts = self.pasts.entry(touch.object).or_default();
                    if touch.mode != Mode::Reads || !pasts.last().is_some_and(|past| past.step == step && past.touch == *touch) {
                        pasts.push(Past { step, touch: *touch });
                    }
                }
                Happening::Accesses(touch) => self.access(warp, number + 1, touch, racing),
                Happening::Arrives { at, waits } => self.arrive(warp, *at, *waits),
                Happening::Waits { at } => self.wait(warp, *at),
                Happening::Ends { at } => self.end(warp, *at),
            }
        }
        races
    }

    /// Adds the earlier plain accesses to `racing` with which a touch by `warp` races; returns whether there are any.
    fn race_with_plain(&self, warp: WarpKey, touch: &Touch, racing: &mut BTreeSet<Pc>) -> bool {
        let Some(clock) = self.clocks.get(&warp) else { return false };
        let mut races = false;
        for plain in self.plains.get(&touch.object).into_iter().flatten() {
            let is_ordered = plain.warp == warp || clock.covers(plain.warp, plain.number);
            if !is_ordered && depends(&plain.touch, touch).is_some() {
                racing.insert(plain.touch.pc);
                races = true;
            }
        }
        races
    }

    /// A plain access.
    fn access(&mut self, warp: WarpKey, number: u64, touch: &Touch, racing: &mut BTreeSet<Pc>) {
        let Some(clock) = self.clocks.get(&warp) else { return };
        let mut pasts = self.pasts.get(&touch.object).into_iter().flatten();
        let races = pasts.any(|past| {
            let step = self.steps[past.step].as_ref();
            let is_ordered = step.is_none_or(|step| step.warp == warp || clock.covers(step.warp, step.number));
            !is_ordered && depends(&past.touch, touch).is_some()
        });
        if self.race_with_plain(warp, touch, racing) || races {
            racing.insert(touch.pc);
        }
        let plains = self.plains.entry(touch.object).or_default();
        let is_same = |plain: &&mut Plain| (plain.warp, plain.touch.mode, plain.touch.bytes) == (warp, touch.mode, touch.bytes);
        let plain = Plain { warp, number, touch: *touch };
        match plains.iter_mut().find(is_same) {
            Some(known) => *known = plain,
            None => {
                plains.push(plain);
                self.size += 1;
            }
        }
    }

    fn arrive(&mut self, warp: WarpKey, at: Object, waits: bool) {
        let meeting = self.meetings.entry(at).or_default();
        if let Some(clock) = self.clocks.get(&warp) {
            meeting.before.join(clock);
        }
        meeting.arrived.insert(warp);
        if waits {
            meeting.waiting.insert(warp);
        }
    }

    fn wait(&mut self, warp: WarpKey, at: Object) {
        let meeting = self.meetings.entry(at).or_default();
        if meeting.arrived.contains(&warp) {
            meeting.waiting.insert(warp);
        } else {
            self.clocks.entry(warp).or_default().join(&meeting.ended);
        }
    }

    fn end(&mut self, by: WarpKey, at: Object) {
        let own = self.clocks.get(&by).cloned().unwrap_or_default();
        let meeting = self.meetings.entry(at).or_default();
        meeting.before.join(&own);
        meeting.phase += 1;
        meeting.ended = std::mem::take(&mut meeting.before);
        meeting.arrived.clear();
        for waiting in std::mem::take(&mut meeting.waiting) {
            self.clocks.entry(waiting).or_default().join(&meeting.ended);
        }
    }
}

/// What the operations of a step touch.
pub fn touches(happened: &[Happening]) -> Vec<Touch> {
    let mut touches: Vec<Touch> = happened
        .iter()
        .filter_map(|happening| match happening {
            Happening::Touches(touch) => Some(*touch),
            Happening::Accesses(_) | Happening::Arrives { .. } | Happening::Waits { .. } | Happening::Ends { .. } => None,
        })
        .collect();
    touches.sort_unstable();
    touches.dedup();
    touches
}
