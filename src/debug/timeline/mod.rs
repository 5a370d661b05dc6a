//! The recorded run: one machine that can be at any time that was executed.
//!
//! A run is a function of the program, the launches, the seed and the [`Input`]s: what the user did to it, and when. Going forward
//! executes; clones of the machine are kept on the way ([`snapshots`]). Going back takes the nearest earlier clone and executes again,
//! applying the same inputs at the same ticks, so the state at a tick is the same however it is reached. An input changes the run from
//! its tick on: what was recorded after it is dropped.
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
use crate::check::{Checks, Contention, Finding};
use crate::launch::Case;
use crate::machine::{Device, Instrumentation, Machine, NullObserver, Observer, Step, Tick};
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
    /// How far it was executed.
    recorded: Position,
    end: Option<End>,
    /// The checkers that watch it; none if all are off.
    checker_cursor: Option<CheckerCursor>,
}

/// Why the machine was left.
enum LeaveReason {
    /// The time has come.
    Reached,
    /// The observer asked for a pause.
    Paused,
    /// All blocks have finished.
    Done,
    /// A fault, or a hang.
    Faulted(Box<Fault>),
}

/// How a run ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// All launches have finished.
    Done,
    /// A fault, a hang, or a launch that the device refuses.
    Fault(Box<Fault>),
    /// A launch's data cannot be read.
    Broken(String),
}

/// Why [`Timeline::run`] returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ran {
    /// The time is the one asked for.
    Reached,
    /// The observer asked for a pause.
    Paused,
    /// The next launch is about to begin, and its buffers are made.
    Launched,
    /// The run has ended: see [`Timeline::end`].
    Ended,
}

/// Why there is no first machine.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A reason outside the kernel.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The device refuses the launch.
    #[error("{}", .0.message)]
    Refused(Box<Fault>),
}

impl Timeline {
    /// A run of `case` about to execute its first instruction, to which the user will do what `inputs` say, in order of time.
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
        let checker_cursor = checking_of(&program, options.checks);
        let recorded = (0, Tick::START);
        let mut timeline = Self { program, case, options, now, addresses, snapshots, inputs, recorded, end: None, checker_cursor };
        timeline.arrive(&mut ObserverChain::of(&mut NullObserver));
        timeline.assert_consistent();
        Ok(timeline)
    }

    /// What holds between any two calls from outside.
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

    /// How the run ends, at [`Self::recorded`], once it has been run to its end.
    pub fn end(&self) -> Option<&End> {
        self.end.as_ref()
    }

    /// The case that runs.
    pub fn case(&self) -> &Arc<Case> {
        &self.case
    }

    /// How it is run.
    pub fn options(&self) -> &RunOptions {
        &self.options
    }

    /// Which launch of the case runs.
    pub fn launch(&self) -> usize {
        self.now.launch
    }

    /// Addresses of the buffers of [`Case::buffers`] that were made so far.
    pub fn addresses(&self) -> &[u64] {
        &self.addresses
    }

    /// What the user did to the run, and when.
    pub fn inputs(&self) -> &[(Tick, Input)] {
        self.inputs.all()
    }

    /// Times of the snapshots, ascending; the first is the beginning.
    pub fn snapshot_times(&self) -> impl DoubleEndedIterator<Item = Tick> + '_ {
        self.snapshots.times()
    }

    /// Bytes that snapshots may take.
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

    /// The same, seen by the checkers as well: to `until` at most, or to where they have looked to if that lies ahead. With
    /// `pauses`, to where one of them finds something.
    pub fn run_checked(&mut self, until: Tick, observer: &mut dyn Observer, pauses: bool) -> Ran {
        let Some(mut checker_cursor) = self.checker_cursor.take() else { return self.run(until, observer) };
        let (here, seen) = (self.position(), checker_cursor.seen());
        let ran = if here == seen && !checker_cursor.has_ended() {
            self.run_beside(&mut checker_cursor, until, observer, pauses)
        } else {
            let ahead = here < seen && here.0 == seen.0;
            self.run(if ahead { until.min(seen.1) } else { until }, observer)
        };
        self.checker_cursor = Some(checker_cursor);
        ran
    }

    fn run_beside(&mut self, checker_cursor: &mut CheckerCursor, until: Tick, observer: &mut dyn Observer, pauses: bool) -> Ran {
        checker_cursor.begin(self.machine());
        let halted = self.advance(until, &mut ObserverChain::with(observer, checker_cursor, self.time(), pauses));
        match &halted {
            LeaveReason::Done => checker_cursor.end(self.machine(), None),
            LeaveReason::Faulted(fault) => checker_cursor.end(self.machine(), Some(fault.id)),
            LeaveReason::Reached | LeaveReason::Paused => {}
        }
        let ran = self.conclude(halted);
        self.assert_consistent();
        checker_cursor.advance(self.position());
        if ran == Ran::Ended {
            checker_cursor.finish();
        }
        ran
    }

    /// Where the run stands.
    fn position(&self) -> Position {
        (self.now.launch, self.time())
    }

    fn advance(&mut self, until: Tick, observers: &mut ObserverChain<'_>) -> LeaveReason {
        loop {
            let now = self.time();
            if now >= until {
                return LeaveReason::Reached;
            }
            let stop = until.min(Snapshots::due(now)).min(self.inputs.next(self.now.inputs));
            assert!(stop > now, "a run from {now} to {stop} does not go on");
            let (step, applied) = (self.now.machine.run(stop - now, observers), self.now.inputs);
            assert!((now..=stop).contains(&self.time()), "a run from {now} to {stop} has come to {}", self.time());
            let paused = self.arrive(observers);
            match step {
                // What the user did where threads could not go on may have set them going.
                Step::Trapped(_) | Step::Deadlock(_) | Step::Livelocked(_) if self.now.inputs > applied && !paused => {}
                Step::Trapped(_) | Step::Deadlock(_) | Step::Livelocked(_) if self.now.inputs > applied => return LeaveReason::Paused,
                Step::Budget if paused => return LeaveReason::Paused,
                Step::Budget => {}
                Step::Paused => return LeaveReason::Paused,
                Step::Done => return LeaveReason::Done,
                Step::Trapped(trap) => return self.faulted(|fault_context, machine| fault_context.trap(&trap, machine)),
                Step::Deadlock(deadlock) => return self.faulted(|fault_context, _| fault_context.deadlock(&deadlock)),
                Step::OverLimit(footprint) => {
                    let limit = self.options.memory_limit;
                    return self.faulted(|fault_context, _| fault_context.over_limit(footprint, limit));
                }
                Step::Livelocked(deadlock) => return self.faulted(|fault_context, _| fault_context.livelock(&deadlock)),
            }
            if let Some(limit) = self.options.step_limit.filter(|limit| self.time() - self.machine().start() >= *limit) {
                return self.faulted(|fault_context, machine| fault_context.unfinished(machine, limit));
            }
        }
    }

    fn conclude(&mut self, halted: LeaveReason) -> Ran {
        match halted {
            LeaveReason::Reached => Ran::Reached,
            LeaveReason::Paused => Ran::Paused,
            LeaveReason::Done if self.begin_next_launch() => Ran::Launched,
            LeaveReason::Done => Ran::Ended,
            LeaveReason::Faulted(fault) => {
                self.end.get_or_insert(End::Fault(fault));
                Ran::Ended
            }
        }
    }

    fn faulted(&self, fault: impl FnOnce(&FaultContext<'_>, &Machine) -> Fault) -> LeaveReason {
        match self.job().fault_context(self.now.launch) {
            Some(fault_context) => LeaveReason::Faulted(Box::new(fault(&fault_context, &self.now.machine))),
            None => LeaveReason::Done,
        }
    }

    fn job(&self) -> Job<'_> {
        Job { program: &self.program, case: &self.case, options: &self.options, instrumentation: Instrumentation::RunsAndWrites }
    }

    /// Which checkers watch.
    pub fn checks(&self) -> Checks {
        self.checker_cursor.as_ref().map_or(Checks::NONE, CheckerCursor::checks)
    }

    /// Lets these checkers watch instead of those that do. They have seen nothing yet.
    pub fn set_checks(&mut self, checks: Checks) {
        self.checker_cursor = checking_of(&self.program, checks);
    }

    /// What the checkers have found, and for each finding the time of the instruction at which it was noticed.
    pub fn findings(&self) -> impl Iterator<Item = (&Finding, Tick)> {
        self.checker_cursor.iter().flat_map(CheckerCursor::findings)
    }

    /// What was left to chance, as far as the checkers saw it; none if all are off.
    pub fn contention(&self) -> Option<&Contention> {
        self.checker_cursor.as_ref().map(CheckerCursor::contention)
    }

    /// Whether the checkers have not seen all that was executed.
    pub fn is_unchecked(&self) -> bool {
        let unseen =
            |checker_cursor: &CheckerCursor| checker_cursor.seen() < self.recorded || self.end.is_some() && !checker_cursor.has_ended();
        self.checker_cursor.as_ref().is_some_and(unseen)
    }

    /// Goes to where the checkers have looked to.
    pub fn go_where_checked(&mut self) {
        let Some(seen) = self.checker_cursor.as_ref().map(CheckerCursor::seen) else { return };
        self.restore(seen.1);
        if self.position() < seen {
            self.run(seen.1, &mut NullObserver);
        }
        if self.position() != seen {
            self.set_checks(self.checks());
            self.now = self.snapshots.at_or_before(Tick::START).clone();
        }
        self.assert_consistent();
    }

    /// Has the checkers look at what they have not seen of what was executed, `ticks` at most. The run stands where they look.
    pub fn check_on(&mut self, ticks: u64) {
        let until = self.time().saturating_add(ticks);
        let is_last = self.now.launch == self.recorded.0 && self.end.is_none();
        self.run_checked(if is_last { until.min(self.recorded.1) } else { until }, &mut NullObserver, false);
    }

    /// Executes the time from `from` to `until` once more for an observer, and the time from the snapshot before it; the present stays
    /// as it is. Only of the present launch, and only to where the observer asks for a pause.
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

    /// Goes to the latest kept time at or before `time`, unless the present lies between the two.
    pub fn restore(&mut self, time: Tick) {
        let kept = self.snapshots.at_or_before(time);
        if self.now.time() > time || self.now.time() < kept.time() {
            self.now = kept.clone();
        }
        assert!(self.time() <= time, "the way to {time} begins at {}", self.time());
        self.assert_consistent();
    }

    /// Does something to the run now. What was recorded after now is dropped. False, and nothing happens, if it would change nothing.
    pub fn input(&mut self, input: Input) -> bool {
        let (position, now) = (self.position(), self.time());
        let mut machine = self.now.machine.clone();
        let watching =
            self.checker_cursor.as_mut().filter(|checker_cursor| checker_cursor.seen() == position && !checker_cursor.has_ended());
        let mut null = NullObserver;
        let mut observers = match watching {
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
        self.snapshots.forget_from(now);
        self.snapshots.keep(&self.now);
        self.recorded = position;
        self.end = None;
        if self.checker_cursor.as_ref().is_some_and(|checker_cursor| checker_cursor.seen() > position || checker_cursor.has_ended()) {
            self.set_checks(self.checks());
        }
        assert_eq!(self.inputs.all().len(), self.now.inputs, "the input is the last one");
        assert_eq!(self.recorded, position, "an input is made where the run has come to");
        assert_eq!(self.snapshots.times().next_back(), Some(now), "what was recorded after it is dropped");
        self.assert_consistent();
        true
    }

    /// Compares the machines of two kept times of one launch; none if they are not.
    pub fn compare<R>(&self, from: Tick, to: Tick, compare: impl FnOnce(&Machine, &Machine) -> R) -> Option<R> {
        let (from, to) = (self.snapshots.at(from)?, self.snapshots.at(to)?);
        (from.launch == to.launch).then(|| compare(&from.machine, &to.machine))
    }

    /// Canonicalizes, applies present inputs, and keeps a snapshot if one is due. True if an observer asks for a pause.
    fn arrive(&mut self, observers: &mut ObserverChain<'_>) -> bool {
        let now = self.time();
        let paused = self.now.machine.canonicalize(observers);
        while let Some(input) = self.inputs.at(now, self.now.inputs) {
            observers.apply(input, &mut self.now.machine);
            self.now.machine.canonicalize(&mut NullObserver);
            self.now.inputs += 1;
        }
        self.recorded = self.recorded.max((self.now.launch, now));
        if self.snapshots.is_due(now) {
            self.snapshots.keep(&self.now);
            self.snapshots.thin(now);
        }
        paused
    }

    /// Starts the next launch where the last one has ended; false if there is none, or it cannot be started.
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
                self.snapshots.keep(&self.now);
                self.recorded = self.recorded.max(self.position());
                return true;
            }
            Ok(Err(RejectedLaunch { fault, .. })) => self.end = Some(End::Fault(fault)),
            Err(error) => self.end = Some(End::Broken(error.to_string())),
        }
        false
    }
}

fn checking_of(program: &Arc<Program>, checks: Checks) -> Option<CheckerCursor> {
    (checks != Checks::NONE).then(|| CheckerCursor::new(program, checks))
}
