//! The recorded run: a machine that can be restored to any time that was executed.
//!
//! A run is a function of the program, the launches, the seed and the [`Input`]s: the user's changes with their times. Going forward
//! executes and stores clones of the machine ([`snapshots`]). Going back restores the nearest earlier clone and executes again, applying
//! the same inputs at the same ticks, so the state at a tick is the same however it is reached. An input changes the run from its tick
//! on: the recording after it is dropped.
//!
//! Breakpoints, focus and marks are not part of a timeline.

mod checker_cursor;
mod input;
mod snapshots;

use std::sync::Arc;

use checker_cursor::{CheckerCursor, ObserverChain, Position};
pub use input::Input;
use input::Inputs;
use snapshots::{Snapshot, Snapshots};

use super::fault::{Fault, FaultContext};
use super::run::{Job, RejectedLaunch, RunError, RunOptions};
use crate::check::{Checks, Finding, UnorderedAccesses};
use crate::launch::Case;
use crate::machine::{Device, Instrumentation, Machine, NullObserver, Observer, Step, Tick, Trap};
use crate::program::Program;

/// A run of a case, at some time.
pub struct Timeline {
    program: Arc<Program>,
    case: Arc<Case>,
    options: RunOptions,
    now: Snapshot,
    /// Addresses of the buffers made so far.
    addresses: Vec<u64>,
    snapshots: Snapshots,
    inputs: Inputs,
    /// The furthest executed position.
    recorded: Position,
    end: Option<End>,
    /// The checkers that observe it; none if all are off.
    checker_cursor: Option<CheckerCursor>,
}

/// The reason that the machine stopped executing.
enum HaltReason {
    /// The requested time was reached.
    Reached,
    /// The observer requested a pause.
    Paused,
    /// All blocks have finished.
    Done,
    /// A fault, or a hang.
    Faulted(Box<Fault>),
}

/// The end of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// All launches have finished.
    Done,
    /// A fault, a hang, or a launch that the device refuses.
    Fault(Box<Fault>),
    /// The data of a launch cannot be read.
    Broken(String),
}

/// The reason that [`Timeline::run`] returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ran {
    /// The requested time was reached.
    Reached,
    /// The observer requested a pause.
    Paused,
    /// The next launch is about to begin; its buffers are allocated.
    Launched,
    /// The run has ended: see [`Timeline::end`].
    Ended,
}

/// The error if the first launch cannot begin.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// An error that does not come from the kernel.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The device refuses the launch.
    #[error("{}", .0.message)]
    Refused(Box<Fault>),
}

impl Timeline {
    /// A run of `case` before its first instruction, with the user's changes `inputs` in order of time.
    ///
    /// # Errors
    /// The first launch is refused, or its buffers cannot be filled.
    pub fn new(program: Arc<Program>, case: Arc<Case>, options: RunOptions, inputs: Vec<(Tick, Input)>) -> Result<Self, StartError> {
        let mut addresses = Vec::new();
        let job = Job { program: &program, case: &case, options: &options, instrumentation: Instrumentation::RunsAndWrites };
        let fault_context = job.fault_context(0).ok_or(RunError::NoLaunch)?;
        let prepared = job.prepare(&fault_context, Device::new(Arc::clone(&program)), Tick::START, &mut addresses)?;
        let machine = prepared.map_err(|refused| StartError::Refused(refused.fault))?;
        let now = Snapshot { machine, launch: 0, inputs: 0 };
        let (snapshots, inputs) = (Snapshots::default(), Inputs::from(inputs));
        let checker_cursor = new_checker_cursor(&program, options.checks);
        let recorded = (0, Tick::START);
        let mut timeline = Self { program, case, options, now, addresses, snapshots, inputs, recorded, end: None, checker_cursor };
        timeline.process_tick(&mut ObserverChain::of(&mut NullObserver));
        timeline.assert_consistent();
        Ok(timeline)
    }

    /// Asserts the invariants that hold between calls from outside.
    fn assert_consistent(&self) {
        let position = self.position();
        assert!(position <= self.recorded, "the present {position:?} is later than all that was executed, {:?}", self.recorded);
        assert!(self.now.launch < self.case.launches.len(), "launch {} of {}", self.now.launch, self.case.launches.len());
        self.inputs.assert_applied(self.now.inputs, self.time());
    }

    /// The machine at the present time.
    pub fn machine(&self) -> &Machine {
        &self.now.machine
    }

    /// The present time.
    pub fn time(&self) -> Tick {
        self.now.time()
    }

    /// The latest time that was executed.
    pub fn recorded(&self) -> Tick {
        self.recorded.1
    }

    /// The end of the run, at [`Self::recorded`]; none before it was executed to its end.
    pub fn end(&self) -> Option<&End> {
        self.end.as_ref()
    }

    /// The case that runs.
    pub fn case(&self) -> &Arc<Case> {
        &self.case
    }

    /// The options of the run.
    pub fn options(&self) -> &RunOptions {
        &self.options
    }

    /// Index of the present launch in the case.
    pub fn launch(&self) -> usize {
        self.now.launch
    }

    /// Addresses of the buffers of [`Case::buffers`] that were allocated so far.
    pub fn addresses(&self) -> &[u64] {
        &self.addresses
    }

    /// The user's changes to the run, with their times.
    pub fn inputs(&self) -> &[(Tick, Input)] {
        self.inputs.all()
    }

    /// Times of the snapshots, ascending; the first is the beginning.
    pub fn snapshot_times(&self) -> impl DoubleEndedIterator<Item = Tick> + '_ {
        self.snapshots.times()
    }

    /// Sets the most bytes that snapshots may occupy.
    pub fn set_snapshot_memory(&mut self, bytes: u64) {
        self.snapshots.set_memory(bytes, self.now.time());
    }

    /// Executes until time `until` at most, and to the beginning of the next launch.
    pub fn run(&mut self, until: Tick, observer: &mut dyn Observer) -> Ran {
        let halted = self.advance(until, &mut ObserverChain::of(observer));
        let ran = self.conclude(halted);
        self.assert_consistent();
        ran
    }

    /// Like [`Self::run`], also observed by the checkers: to `until` at most, or to the checkers' position if that is later than the
    /// present. With `pauses`, the run pauses at new findings.
    pub fn run_checked(&mut self, until: Tick, observer: &mut dyn Observer, pauses: bool) -> Ran {
        let Some(mut checker_cursor) = self.checker_cursor.take() else { return self.run(until, observer) };
        let (here, checked) = (self.position(), checker_cursor.position());
        let ran = if here == checked && !checker_cursor.has_ended() {
            self.run_with_checkers(&mut checker_cursor, until, observer, pauses)
        } else {
            let is_checked_later = here < checked && here.0 == checked.0;
            self.run(if is_checked_later { until.min(checked.1) } else { until }, observer)
        };
        self.checker_cursor = Some(checker_cursor);
        ran
    }

    fn run_with_checkers(&mut self, checker_cursor: &mut CheckerCursor, until: Tick, observer: &mut dyn Observer, pauses: bool) -> Ran {
        checker_cursor.begin(self.machine());
        let halted = self.advance(until, &mut ObserverChain::with(observer, checker_cursor, self.time(), pauses));
        match &halted {
            HaltReason::Done => checker_cursor.end(self.machine(), None),
            HaltReason::Faulted(fault) => checker_cursor.end(self.machine(), Some(fault.id)),
            HaltReason::Reached | HaltReason::Paused => {}
        }
        let ran = self.conclude(halted);
        self.assert_consistent();
        checker_cursor.advance(self.position());
        if ran == Ran::Ended {
            checker_cursor.finish();
        }
        ran
    }

    /// The present position.
    fn position(&self) -> Position {
        (self.now.launch, self.time())
    }

    fn advance(&mut self, until: Tick, observers: &mut ObserverChain<'_>) -> HaltReason {
        loop {
            let now = self.time();
            if now >= until {
                return HaltReason::Reached;
            }
            let limit = self.options.step_limit.map(|limit| self.machine().start().saturating_add(limit)).filter(|limit| *limit > now);
            let stop = until.min(Snapshots::due(now)).min(self.inputs.next(self.now.inputs)).min(limit.unwrap_or(until));
            assert!(stop > now, "a run from {now} to {stop} does not go on");
            let (step, applied) = (self.now.machine.run(stop - now, observers), self.now.inputs);
            assert!((now..=stop).contains(&self.time()), "a run from {now} to {stop} has come to {}", self.time());
            let paused = self.process_tick(observers);
            match step {
                // An input at the time of a fault or hang may have made progress possible.
                Step::Trapped(_) | Step::Deadlock(_) | Step::Livelocked(_) if self.now.inputs > applied && !paused => {}
                Step::Trapped(_) | Step::Deadlock(_) | Step::Livelocked(_) if self.now.inputs > applied => return HaltReason::Paused,
                Step::Budget if paused => return HaltReason::Paused,
                Step::Budget => {}
                Step::Paused => return HaltReason::Paused,
                Step::Done => return HaltReason::Done,
                Step::Trapped(trap) => return self.faulted(|fault_context, machine| fault_context.trap(&trap, machine)),
                Step::Deadlock(deadlock) => return self.faulted(|fault_context, machine| fault_context.deadlock(&deadlock, machine)),
                Step::OverLimit(footprint) => {
                    let limit = self.options.memory_limit;
                    return self.faulted(|fault_context, _| fault_context.over_limit(footprint, limit));
                }
                Step::Livelocked(deadlock) => return self.faulted(|fault_context, machine| fault_context.livelock(&deadlock, machine)),
            }
            if let Some(limit) = self.options.step_limit.filter(|limit| self.time() - self.machine().start() >= *limit) {
                return self.faulted(|fault_context, machine| fault_context.unfinished(machine, limit));
            }
        }
    }

    fn conclude(&mut self, halted: HaltReason) -> Ran {
        match halted {
            HaltReason::Reached => Ran::Reached,
            HaltReason::Paused => Ran::Paused,
            HaltReason::Done if self.begin_next_launch() => Ran::Launched,
            HaltReason::Done => Ran::Ended,
            HaltReason::Faulted(fault) => {
                self.end.get_or_insert(End::Fault(fault));
                Ran::Ended
            }
        }
    }

    fn faulted(&self, fault: impl FnOnce(&FaultContext<'_>, &Machine) -> Fault) -> HaltReason {
        match self.job().fault_context(self.now.launch) {
            Some(fault_context) => HaltReason::Faulted(Box::new(fault(&fault_context, &self.now.machine))),
            None => HaltReason::Done,
        }
    }

    fn job(&self) -> Job<'_> {
        Job { program: &self.program, case: &self.case, options: &self.options, instrumentation: Instrumentation::RunsAndWrites }
    }

    /// The enabled checkers.
    pub fn checks(&self) -> Checks {
        self.checker_cursor.as_ref().map_or(Checks::NONE, CheckerCursor::checks)
    }

    /// Replaces the checkers by these, which have observed nothing yet.
    pub fn set_checks(&mut self, checks: Checks) {
        self.checker_cursor = new_checker_cursor(&self.program, checks);
    }

    /// The findings of the checkers, each with the time of the instruction at which it was noticed.
    pub fn findings(&self) -> impl Iterator<Item = (&Finding, Tick)> {
        self.checker_cursor.iter().flat_map(CheckerCursor::findings)
    }

    /// Outcomes that depended on the schedule, as observed by the checkers; none if all are off.
    pub fn unordered_accesses(&self) -> Option<&UnorderedAccesses> {
        self.checker_cursor.as_ref().map(CheckerCursor::unordered_accesses)
    }

    /// True if the checkers have not observed all of the recorded run.
    pub fn is_unchecked(&self) -> bool {
        let is_unchecked =
            |checker_cursor: &CheckerCursor| checker_cursor.position() < self.recorded || self.end.is_some() && !checker_cursor.has_ended();
        self.checker_cursor.as_ref().is_some_and(is_unchecked)
    }

    /// Goes to the position up to which the checkers have observed the run.
    pub fn go_to_checked(&mut self) {
        let Some(checked) = self.checker_cursor.as_ref().map(CheckerCursor::position) else { return };
        self.restore(checked.1);
        if self.position() < checked {
            self.run(checked.1, &mut NullObserver);
        }
        if self.position() != checked {
            self.set_checks(self.checks());
            self.now = self.snapshots.at_or_before(Tick::START).clone();
        }
        self.assert_consistent();
    }

    /// Runs the checkers on for at most `ticks` of the recorded run. The present must be at their position.
    pub fn extend_findings(&mut self, ticks: u64) {
        let until = self.time().saturating_add(ticks);
        let is_last = self.now.launch == self.recorded.0 && self.end.is_none();
        self.run_checked(if is_last { until.min(self.recorded.1) } else { until }, &mut NullObserver, false);
    }

    /// Executes the present launch again for an observer, from the last snapshot at or before `from` to `until`, or until the observer
    /// requests a pause. The present does not change.
    pub fn replay(&self, from: Tick, until: Tick, observer: &mut dyn Observer) {
        let mut past = self.snapshots.at_or_before(from).clone();
        while past.launch == self.now.launch {
            let now = past.time();
            while let Some(input) = self.inputs.at(now, past.inputs) {
                input.apply(&mut past.machine, &mut NullObserver);
                past.machine.canonicalize(&mut NullObserver);
                past.inputs += 1;
            }
            if now >= until {
                return;
            }
            let stop = until.min(self.inputs.next(past.inputs));
            assert!(stop > now, "a replay from {now} to {stop} does not go on");
            let step = past.machine.run(stop - now, observer);
            assert!(past.time() <= stop, "a replay to {stop} has come to {}", past.time());
            match step {
                Step::Budget => {}
                Step::Trapped(_) | Step::Deadlock(_) | Step::Livelocked(_) if self.inputs.at(past.time(), past.inputs).is_some() => {}
                Step::Trapped(_) | Step::Deadlock(_) | Step::Livelocked(_) | Step::OverLimit(_) | Step::Paused | Step::Done => return,
            }
            past.machine.canonicalize(observer);
        }
    }

    /// Restores the latest snapshot at or before `time`, unless the present is between the two.
    pub fn restore(&mut self, time: Tick) {
        let snapshot = self.snapshots.at_or_before(time);
        if self.now.time() > time || self.now.time() < snapshot.time() {
            self.now = snapshot.clone();
        }
        assert!(self.time() <= time, "the way to {time} begins at {}", self.time());
        self.assert_consistent();
    }

    /// Applies a user's change to the run now and drops the recording after it. False, without effect, if it would change nothing.
    pub fn input(&mut self, input: Input) -> bool {
        let (position, now) = (self.position(), self.time());
        let mut machine = self.now.machine.clone();
        let active_cursor =
            self.checker_cursor.as_mut().filter(|checker_cursor| checker_cursor.position() == position && !checker_cursor.has_ended());
        let mut null = NullObserver;
        let mut observers = match active_cursor {
            Some(checker_cursor) => ObserverChain::with(&mut null, checker_cursor, now, false),
            None => ObserverChain::of(&mut null),
        };
        if !observers.apply(&input, &mut machine) {
            return false;
        }
        machine.canonicalize(&mut NullObserver);
        assert_eq!(machine.tick(), now, "an input takes no time");
        self.inputs.truncate(self.now.inputs);
        self.inputs.push(now, input);
        self.now = Snapshot { machine, inputs: self.now.inputs + 1, ..self.now };
        self.snapshots.truncate_from(now);
        self.snapshots.insert(&self.now);
        self.recorded = position;
        self.end = None;
        if self.checker_cursor.as_ref().is_some_and(|checker_cursor| checker_cursor.position() > position || checker_cursor.has_ended()) {
            self.set_checks(self.checks());
        }
        assert_eq!(self.inputs.all().len(), self.now.inputs, "the input is the last one");
        assert_eq!(self.recorded, position, "an input is made where the run has come to");
        assert_eq!(self.snapshots.times().next_back(), Some(now), "what was recorded after it is dropped");
        self.assert_consistent();
        true
    }

    /// The fault that `trap`, at which `machine` stopped, is in the present launch.
    pub fn fault_of(&self, trap: &Trap, machine: &Machine) -> Option<Fault> {
        Some(self.job().fault_context(self.now.launch)?.trap(trap, machine))
    }

    /// The same run up to the present, without what follows it.
    pub fn fork(&self) -> Self {
        let (mut snapshots, mut inputs) = (self.snapshots.clone(), self.inputs.clone());
        snapshots.truncate_from(self.time());
        snapshots.insert(&self.now);
        inputs.truncate(self.now.inputs);
        let forked = Self {
            program: Arc::clone(&self.program),
            case: Arc::clone(&self.case),
            options: self.options.clone(),
            now: self.now.clone(),
            addresses: self.addresses.clone(),
            snapshots,
            inputs,
            recorded: self.position(),
            end: None,
            checker_cursor: new_checker_cursor(&self.program, self.checks()),
        };
        forked.assert_consistent();
        forked
    }

    /// Compares the machines of two snapshots of one launch; none if there are no such snapshots.
    pub fn compare<R>(&self, from: Tick, to: Tick, compare: impl FnOnce(&Machine, &Machine) -> R) -> Option<R> {
        let (from, to) = (self.snapshots.at(from)?, self.snapshots.at(to)?);
        (from.launch == to.launch).then(|| compare(&from.machine, &to.machine))
    }

    /// Canonicalizes, applies inputs of the present tick, and stores a snapshot if one is due. True if an observer requests a pause.
    fn process_tick(&mut self, observers: &mut ObserverChain<'_>) -> bool {
        let now = self.time();
        let paused = self.now.machine.canonicalize(observers);
        while let Some(input) = self.inputs.at(now, self.now.inputs) {
            observers.apply(input, &mut self.now.machine);
            self.now.machine.canonicalize(&mut NullObserver);
            self.now.inputs += 1;
        }
        self.recorded = self.recorded.max((self.now.launch, now));
        if self.snapshots.is_due(now) {
            self.snapshots.insert(&self.now);
            self.snapshots.thin(now);
        }
        paused
    }

    /// Begins the next launch after the last one has ended; false if there is none, or it cannot begin.
    fn begin_next_launch(&mut self) -> bool {
        let job = Job { program: &self.program, case: &self.case, options: &self.options, instrumentation: Instrumentation::RunsAndWrites };
        let Some(fault_context) = job.fault_context(self.now.launch + 1) else {
            self.end = Some(End::Done);
            return false;
        };
        let device = self.now.machine.clone().into_device();
        match job.prepare(&fault_context, device, self.now.time(), &mut self.addresses) {
            Ok(Ok(mut machine)) => {
                machine.canonicalize(&mut NullObserver);
                assert_eq!(machine.tick(), self.now.time(), "a launch begins where the one before has ended");
                self.now = Snapshot { machine, launch: self.now.launch + 1, inputs: self.now.inputs };
                self.snapshots.insert(&self.now);
                self.recorded = self.recorded.max(self.position());
                return true;
            }
            Ok(Err(RejectedLaunch { fault, .. })) => self.end = Some(End::Fault(fault)),
            Err(error) => self.end = Some(End::Broken(error.to_string())),
        }
        false
    }
}

fn new_checker_cursor(program: &Arc<Program>, checks: Checks) -> Option<CheckerCursor> {
    (checks != Checks::NONE).then(|| CheckerCursor::new(program, checks))
}
