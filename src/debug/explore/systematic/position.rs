//! A case between two steps, and how a step is taken.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::object_access::{Object, StepEvent, WarpKey, WarpState};
use super::points::Points;
use super::step_observer::StepObserver;
use crate::debug::run::{Job, RunError, RunOptions};
use crate::launch::Case;
use crate::machine::{Device, Instrumentation, Machine, NullObserver, Step, Switch, Tick};
use crate::program::{Pc, Program};

/// Warp-instructions between two looks at whether a step is over.
const SLICE: u64 = 1 << 12;

/// Steps of a warp without any effect and from one instruction on, after which it counts as one that spins.
const SPINS: u32 = 4;

/// The same, after which an order in which nothing else happens is left.
const SPINS_MAX: u32 = 1 << 8;

/// The subject of an exploration.
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
    /// The machine of the present launch; none once the case is over.
    machine: Option<Machine>,
    /// The switches to another warp than the scheduler would have chosen.
    pub switches: Vec<Switch>,
    /// For each warp where its last steps began, the progress count then, and how many there were.
    idle: BTreeMap<WarpKey, (Option<Pc>, u64, u32)>,
}

/// The result of a step.
pub struct StepResult {
    pub events: Vec<StepEvent>,
    /// The warp has only found that it has to wait longer.
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
        self.run_to_turn(subject)
    }

    /// Brings the machine to where a warp has the turn, or to its end.
    fn run_to_turn(&mut self, subject: &Subject) -> Result<(), RunError> {
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

    /// Whether the last steps of a warp only read unchanged objects.
    pub fn spins(&self, warp: WarpKey) -> bool {
        self.idle_steps(warp) >= SPINS
    }

    /// Whether it has done so for so long that nothing else is to be expected.
    pub fn spins_forever(&self, warp: WarpKey) -> bool {
        self.idle_steps(warp) >= SPINS_MAX
    }

    fn idle_steps(&self, warp: WarpKey) -> u32 {
        let progress = self.machine.as_ref().map(Machine::progress);
        self.idle.get(&warp).map_or(0, |(_, then, count)| if Some(*then) == progress { *count } else { 0 })
    }

    /// The mbarriers for which a warp waits, each with its open phase.
    pub fn awaited(&self, warp: WarpKey) -> Vec<(Object, u64)> {
        let awaited = self.machine.as_ref().map_or(Vec::new(), |machine| machine.awaited_phases(warp.0, warp.1));
        awaited.into_iter().map(|(address, phase)| (Object::Mbarrier { block: warp.0, address }, phase)).collect()
    }

    fn registers(&self, warp: WarpKey) -> Option<u64> {
        self.machine.as_ref().and_then(|machine| machine.register_state(warp.0, warp.1))
    }

    fn state(&self, warp: WarpKey) -> WarpState {
        self.machine.as_ref().map_or(Vec::new(), |machine| machine.group_states(warp.0, warp.1))
    }

    /// Lets a warp that can run take a step: from where it stands to the next point, or until it waits or exits. None if `ends` says that
    /// it is to be broken off; the position is nowhere then.
    pub fn step(
        &mut self,
        (subject, points): (&Subject, &Points),
        warp: WarpKey,
        phases: &dyn Fn(Object) -> u64,
        ends: &mut dyn FnMut() -> bool,
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
            if machine.turn() != Some(warp) {
                if !machine.switch_to(warp.0, warp.1) {
                    break;
                }
                self.switches.push(Switch { at: machine.tick(), block: warp.0, warp: warp.1 });
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
            if ends() {
                return Ok(None);
            }
        }
        let (first, next, events) = (observer.first, observer.next, observer.events);
        let has_effect = machine.progress() != progress;
        let resident = machine.resident_blocks().filter(|block| !blocks.contains(&block.number));
        let started = resident.flat_map(|block| (0..block.warps.len() as u32).map(|warp| (block.number, warp))).collect();
        self.count_idle(warp, first, has_effect);
        // What the loop reads says nothing but whether it waits on, or has been read before.
        let is_known = first.is_some_and(|first| points.waits(first)) || self.registers(warp) == registers;
        let waits = first.is_some() && first == next && !has_effect && self.state(warp) == state && is_known;
        self.run_to_turn(subject)?;
        Ok(Some(StepResult { events, waits, is_last: self.launch != launch || self.machine.is_none(), started }))
    }

    fn count_idle(&mut self, warp: WarpKey, first: Option<Pc>, has_effect: bool) {
        let progress = self.machine.as_ref().map_or(0, Machine::progress);
        let idle = self.idle.entry(warp).or_insert((None, 0, 0));
        let goes_on = !has_effect && idle.0 == first && idle.1 == progress;
        *idle = (first, progress, if goes_on { idle.2 + 1 } else { 0 });
    }
}
