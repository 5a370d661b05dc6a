//! The state of a case between two steps, and the execution of a step.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use super::object_access::{Object, StepEvent, WarpKey, WarpState};
use super::points::Points;
use super::step_observer::StepObserver;
use crate::debug::run::{Job, RunError, RunOptions};
use crate::launch::Case;
use crate::machine::{ContextSwitch, Device, Instrumentation, Machine, NullObserver, Step, Tick};
use crate::program::{Pc, Program};

/// Warp-instructions between two checks whether a step is over.
const SLICE: u64 = 1 << 12;

/// Number of steps of a warp from one instruction on without any effect, after which the warp counts as spinning.
const SPINS: u32 = 4;

/// Number of such steps after which an order without other progress is abandoned.
const SPINS_MAX: u32 = 1 << 8;

/// How often the state of a warp repeats before its order is abandoned: of one group of lanes, and of several, which take turns.
const REPEATS_MAX: u32 = 1;
const REPEATS_OF_GROUPS_MAX: u32 = 4;

/// The program and case of an exploration.
#[derive(Clone)]
pub struct Subject {
    pub program: Arc<Program>,
    pub case: Arc<Case>,
    pub options: RunOptions,
}

impl Subject {
    fn job(&self) -> Job<'_> {
        Job { program: &self.program, case: &self.case, options: &self.options, instrumentation: Instrumentation::Nothing }
    }
}

/// A case between two steps.
#[derive(Clone)]
pub struct Position {
    launch: usize,
    addresses: Vec<u64>,
    /// The machine of the current launch; none once the case is over.
    machine: Option<Machine>,
    /// The switches to another warp than the scheduler would have chosen.
    pub switches: Vec<ContextSwitch>,
    /// For each warp, its last steps, if they had no effect.
    idle: BTreeMap<WarpKey, Arc<IdleSteps>>,
}

/// The steps of a warp without effect while no other warp had any.
#[derive(Clone, Default)]
struct IdleSteps {
    /// The progress count.
    progress: u64,
    /// How many of them began at each instruction.
    counts: BTreeMap<Option<Pc>, u32>,
    /// Digests of the states between them, as many as an order may have.
    states: Vec<u64>,
    /// How often such a state was reached again: only another warp ends the wait.
    repeats: u32,
}

impl IdleSteps {
    /// Adds a step from one instruction on, from one state to another.
    fn add(&mut self, first: Option<Pc>, before: u64, after: u64) {
        *self.counts.entry(first).or_default() += 1;
        if self.states.is_empty() {
            self.states.push(before);
        }
        if self.states.contains(&after) {
            self.repeats += 1;
        } else if self.states.len() < SPINS_MAX as usize {
            self.states.push(after);
        }
    }

    fn count(&self) -> u32 {
        self.counts.values().copied().max().unwrap_or_default()
    }
}

/// The result of a step.
pub struct StepResult {
    pub events: Vec<StepEvent>,
    /// The warp has only found that it must continue to wait.
    pub waits: bool,
    /// The launch is over.
    pub is_last: bool,
    /// The warps of blocks that have started.
    pub started: Vec<WarpKey>,
}

impl Position {
    /// Before the first step.
    pub fn new(subject: &Subject) -> Result<Self, RunError> {
        let (machine, switches, idle) = (None, Vec::new(), BTreeMap::new());
        let mut position = Self { launch: 0, addresses: Vec::new(), machine, switches, idle };
        position.begin(subject, Device::new(Arc::clone(&subject.program)), Tick::START)?;
        Ok(position)
    }

    /// Begins the launch of number `self.launch`, if there is one.
    fn begin(&mut self, subject: &Subject, device: Device, start: Tick) -> Result<(), RunError> {
        let job = subject.job();
        self.idle.clear();
        self.machine = match job.fault_context(self.launch) {
            Some(context) => job.prepare(&context, device, start, &mut self.addresses)?.ok(),
            None => None,
        };
        self.run_until_scheduled(subject)
    }

    /// Runs the machine until a warp is scheduled, or to its end.
    fn run_until_scheduled(&mut self, subject: &Subject) -> Result<(), RunError> {
        let Some(machine) = &mut self.machine else { return Ok(()) };
        match machine.run(0, &mut NullObserver) {
            Step::Budget | Step::Paused => Ok(()),
            Step::Done => self.end_launch(subject),
            Step::Trapped(_) | Step::Deadlock(_) | Step::Livelocked(_) | Step::OverLimit(_) => {
                self.machine = None;
                Ok(())
            }
        }
    }

    fn end_launch(&mut self, subject: &Subject) -> Result<(), RunError> {
        let Some(machine) = self.machine.take() else { return Ok(()) };
        self.launch += 1;
        let end = machine.tick();
        self.begin(subject, machine.into_device(), end)
    }

    /// The warps that can take a step; none once the case is over.
    pub fn ready(&self) -> Vec<WarpKey> {
        self.machine.as_ref().map_or(Vec::new(), Machine::ready_warps)
    }

    /// True if the last steps of a warp only read unchanged objects.
    pub fn spins(&self, warp: WarpKey) -> bool {
        self.idle_steps(warp).is_some_and(|idle| idle.repeats > 0 || idle.count() > SPINS)
    }

    /// True if it does so for ever, or has done so for so long that its order is abandoned.
    pub fn spins_forever(&self, warp: WarpKey) -> bool {
        let repeats_max = || if self.state(warp).len() > 1 { REPEATS_OF_GROUPS_MAX } else { REPEATS_MAX };
        self.idle_steps(warp).is_some_and(|idle| idle.count() > SPINS_MAX || idle.repeats > 0 && idle.repeats >= repeats_max())
    }

    fn idle_steps(&self, warp: WarpKey) -> Option<&IdleSteps> {
        let progress = self.machine.as_ref().map(Machine::progress);
        self.idle.get(&warp).map(|idle| &**idle).filter(|idle| Some(idle.progress) == progress)
    }

    /// The mbarriers for which a warp waits, each with its incomplete phase.
    pub fn awaited_mbarriers(&self, warp: WarpKey) -> Vec<(Object, u64)> {
        let awaited_mbarriers = self.machine.as_ref().map_or(Vec::new(), |machine| machine.awaited_phases(warp.0, warp.1));
        awaited_mbarriers.into_iter().map(|(address, phase)| (Object::Mbarrier { block: warp.0, address }, phase)).collect()
    }

    fn registers(&self, warp: WarpKey) -> Option<u64> {
        self.machine.as_ref().and_then(|machine| machine.register_state(warp.0, warp.1))
    }

    fn state(&self, warp: WarpKey) -> WarpState {
        self.machine.as_ref().map_or(Vec::new(), |machine| machine.group_states(warp.0, warp.1))
    }

    /// Executes a step of a ready warp: up to the next point, or until it waits or exits. None if `is_interrupted` interrupts it; the
    /// position is then invalid.
    pub fn step(
        &mut self,
        (subject, points): (&Subject, &Points),
        warp: WarpKey,
        phases: &dyn Fn(Object) -> u64,
        is_interrupted: &mut dyn FnMut() -> bool,
    ) -> Result<Option<StepResult>, RunError> {
        let (launch, state, registers) = (self.launch, self.state(warp), self.registers(warp));
        let Some(machine) = &mut self.machine else {
            return Ok(Some(StepResult { events: Vec::new(), waits: false, is_last: true, started: Vec::new() }));
        };
        let progress = machine.progress();
        let blocks: Vec<u64> = machine.resident_blocks().map(|block| block.number).collect();
        let mut observer = StepObserver::new(points, machine, warp, phases);
        let limit = subject.options.step_limit.unwrap_or(u64::MAX);
        loop {
            if machine.scheduled_warp() != Some(warp) {
                if !machine.switch_to(warp.0, warp.1) {
                    break;
                }
                self.switches.push(ContextSwitch { at: machine.tick(), block: warp.0, warp: warp.1 });
            }
            let step = machine.run(SLICE, &mut observer);
            let is_over_limit = machine.tick() - machine.start() >= limit;
            match step {
                Step::Budget | Step::Paused if !is_over_limit => {}
                Step::Done => break,
                Step::Budget | Step::Paused | Step::Trapped(_) | Step::Deadlock(_) | Step::Livelocked(_) | Step::OverLimit(_) => {
                    let events = observer.events;
                    self.machine = None;
                    return Ok(Some(StepResult { events, waits: false, is_last: true, started: Vec::new() }));
                }
            }
            if observer.next.is_some() {
                break;
            }
            if is_interrupted() {
                return Ok(None);
            }
        }
        let (first, next, events) = (observer.first, observer.next, observer.events);
        let has_effect = machine.progress() != progress;
        let resident = machine.resident_blocks().filter(|block| !blocks.contains(&block.number));
        let started = resident.flat_map(|block| (0..block.warps.len() as u32).map(|warp| (block.number, warp))).collect();
        let (state_after, registers_after) = (self.state(warp), self.registers(warp));
        self.count_idle(warp, has_effect, first, [digest(&(&state, registers)), digest(&(&state_after, registers_after))]);
        // The loop reads only a wait test, or nothing new.
        let is_known = first.is_some_and(|first| points.is_wait_test(first)) || registers_after == registers;
        let waits = first.is_some() && first == next && !has_effect && state_after == state && is_known;
        self.run_until_scheduled(subject)?;
        Ok(Some(StepResult { events, waits, is_last: self.launch != launch || self.machine.is_none(), started }))
    }

    fn count_idle(&mut self, warp: WarpKey, has_effect: bool, first: Option<Pc>, [before, after]: [u64; 2]) {
        if has_effect {
            self.idle.remove(&warp);
            return;
        }
        let progress = self.machine.as_ref().map_or(0, Machine::progress);
        let idle = Arc::make_mut(self.idle.entry(warp).or_default());
        if idle.progress != progress {
            *idle = IdleSteps { progress, ..IdleSteps::default() };
        }
        idle.add(first, before, after);
    }
}

fn digest(state: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    state.hash(&mut hasher);
    hasher.finish()
}
