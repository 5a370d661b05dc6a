//! The recorded run: one machine that can be at any time that was executed.
//!
//! A run is a function of the program, the launches, the seed and the [`Input`]s: what the user did to it, and when. Going forward
//! executes; clones of the machine are kept on the way ([`snapshots`]). Going back takes the nearest earlier clone and executes again,
//! applying the same inputs at the same ticks, so the state at a tick is the same however it is reached. An input changes the run from
//! its tick on: what was recorded after it is dropped.
//!
//! Breakpoints, focus and marks are not part of a timeline.

mod checking;
mod input;
mod snapshots;

use std::sync::Arc;

use checking::{Audience, Checking, Position};
pub use input::Input;
use input::Inputs;
use snapshots::{Snapshot, Snapshots};

use super::fault::{Blame, Fault};
use super::run::{Job, Refused, RunError, RunOptions};
use crate::check::{Checks, Finding};
use crate::launch::Case;
use crate::machine::{Account, Device, Machine, Observer, Step, Tick, Unobserved};
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
    checking: Option<Checking>,
}

/// Why the machine was left.
enum Halted {
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
        let job = Job { program: &program, case: &case, options: &options, account: Account::RunsAndWrites };
        let blame = job.blame(0).ok_or(RunError::NoLaunch)?;
        let prepared = job.prepare(&blame, Device::new(Arc::clone(&program)), Tick::START, &mut addresses)?;
        let machine = prepared.map_err(|refused| StartError::Refused(refused.fault))?;
        let now = Snapshot { machine, launch: 0, inputs: 0 };
        let (snapshots, inputs) = (Snapshots::default(), Inputs::from(inputs));
        let checking = checking_of(&program, options.checks);
        let recorded = (0, Tick::START);
        let mut timeline = Self { program, case, options, now, addresses, snapshots, inputs, recorded, end: None, checking };
        timeline.arrive(&mut Audience::of(&mut Unobserved));
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
        let halted = self.advance(until, &mut Audience::of(observer));
        let ran = self.conclude(halted);
        self.assert_consistent();
        ran
    }

    /// The same before the eyes of the checkers as well: to `until` at most, or to where they have looked to if that lies ahead. With
    /// `pauses`, to where one of them finds something.
    pub fn run_checked(&mut self, until: Tick, observer: &mut dyn Observer, pauses: bool) -> Ran {
        let Some(mut checking) = self.checking.take() else { return self.run(until, observer) };
        let (here, seen) = (self.position(), checking.seen());
        let ran = if here == seen && !checking.has_ended() {
            self.run_beside(&mut checking, until, observer, pauses)
        } else {
            let ahead = here < seen && here.0 == seen.0;
            self.run(if ahead { until.min(seen.1) } else { until }, observer)
        };
        self.checking = Some(checking);
        ran
    }

    fn run_beside(&mut self, checking: &mut Checking, until: Tick, observer: &mut dyn Observer, pauses: bool) -> Ran {
        checking.begin(self.machine());
        let halted = self.advance(until, &mut Audience::with(observer, checking, self.time(), pauses));
        match &halted {
            Halted::Done => checking.end(self.machine(), None),
            Halted::Faulted(fault) => checking.end(self.machine(), Some(fault.id)),
            Halted::Reached | Halted::Paused => {}
        }
        let ran = self.conclude(halted);
        self.assert_consistent();
        checking.advance(self.position());
        if ran == Ran::Ended {
            checking.finish();
        }
        ran
    }

    /// Where the run stands.
    fn position(&self) -> Position {
        (self.now.launch, self.time())
    }

    fn advance(&mut self, until: Tick, audience: &mut Audience<'_>) -> Halted {
        loop {
            let now = self.time();
            if now >= until {
                return Halted::Reached;
            }
            let stop = until.min(Snapshots::due(now)).min(self.inputs.next(self.now.inputs));
            assert!(stop > now, "a run from {now} to {stop} does not go on");
            let (step, applied) = (self.now.machine.run(stop - now, audience), self.now.inputs);
            assert!((now..=stop).contains(&self.time()), "a run from {now} to {stop} has come to {}", self.time());
            let paused = self.arrive(audience);
            match step {
                // What the user did where threads could not go on may have set them going.
                Step::Trapped(_) | Step::Stuck(_) | Step::Livelocked(_) if self.now.inputs > applied && !paused => {}
                Step::Trapped(_) | Step::Stuck(_) | Step::Livelocked(_) if self.now.inputs > applied => return Halted::Paused,
                Step::Budget if paused => return Halted::Paused,
                Step::Budget => {}
                Step::Paused => return Halted::Paused,
                Step::Done => return Halted::Done,
                Step::Trapped(trap) => return self.faulted(|blame, _| blame.trap(&trap)),
                Step::Stuck(stuck) => return self.faulted(|blame, _| blame.deadlock(&stuck)),
                Step::OverLimit(footprint) => {
                    let limit = self.options.memory_limit;
                    return self.faulted(|blame, _| blame.over_limit(footprint, limit));
                }
                Step::Livelocked(stuck) => return self.faulted(|blame, _| blame.livelock(&stuck)),
            }
            if let Some(limit) = self.options.step_limit.filter(|limit| self.time() - self.machine().start() >= *limit) {
                return self.faulted(|blame, machine| blame.unfinished(machine, limit));
            }
        }
    }

    fn conclude(&mut self, halted: Halted) -> Ran {
        match halted {
            Halted::Reached => Ran::Reached,
            Halted::Paused => Ran::Paused,
            Halted::Done if self.begin_next_launch() => Ran::Launched,
            Halted::Done => Ran::Ended,
            Halted::Faulted(fault) => {
                self.end.get_or_insert(End::Fault(fault));
                Ran::Ended
            }
        }
    }

    fn faulted(&self, fault: impl FnOnce(&Blame<'_>, &Machine) -> Fault) -> Halted {
        match self.job().blame(self.now.launch) {
            Some(blame) => Halted::Faulted(Box::new(fault(&blame, &self.now.machine))),
            None => Halted::Done,
        }
    }

    fn job(&self) -> Job<'_> {
        Job { program: &self.program, case: &self.case, options: &self.options, account: Account::RunsAndWrites }
    }

    /// Which checkers watch.
    pub fn checks(&self) -> Checks {
        self.checking.as_ref().map_or(Checks::NONE, Checking::checks)
    }

    /// Lets these checkers watch instead of those that do. They have seen nothing yet.
    pub fn set_checks(&mut self, checks: Checks) {
        self.checking = checking_of(&self.program, checks);
    }

    /// What the checkers have found, and for each finding the time of the instruction at which it was noticed.
    pub fn findings(&self) -> impl Iterator<Item = (&Finding, Tick)> {
        self.checking.iter().flat_map(Checking::findings)
    }

    /// Whether the checkers have not seen all that was executed.
    pub fn is_unchecked(&self) -> bool {
        let unseen = |checking: &Checking| checking.seen() < self.recorded || self.end.is_some() && !checking.has_ended();
        self.checking.as_ref().is_some_and(unseen)
    }

    /// Goes to where the checkers have looked to.
    pub fn go_where_checked(&mut self) {
        let Some(seen) = self.checking.as_ref().map(Checking::seen) else { return };
        self.approach(seen.1);
        if self.position() < seen {
            self.run(seen.1, &mut Unobserved);
        }
        if self.position() != seen {
            self.set_checks(self.checks());
            self.now = self.snapshots.before(Tick::START).clone();
        }
        self.assert_consistent();
    }

    /// Has the checkers look at what they have not seen of what was executed, `ticks` at most. The run stands where they look.
    pub fn check_on(&mut self, ticks: u64) {
        let until = self.time().saturating_add(ticks);
        let is_last = self.now.launch == self.recorded.0 && self.end.is_none();
        self.run_checked(if is_last { until.min(self.recorded.1) } else { until }, &mut Unobserved, false);
    }

    /// Executes the time from `from` to `until` once more for an observer, and the time from the snapshot before it; the present stays
    /// as it is. Only of the present launch, and only to where the observer asks for a pause.
    pub fn replay(&self, from: Tick, until: Tick, observer: &mut dyn Observer) {
        let mut past = self.snapshots.before(from).clone();
        while past.launch == self.now.launch {
            let now = past.time();
            while let Some(input) = self.inputs.at(now, past.inputs) {
                input.apply(&mut past.machine, &mut Unobserved);
                past.machine.settle(&mut Unobserved);
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
                Step::Trapped(_) | Step::Stuck(_) | Step::Livelocked(_) if self.inputs.at(past.time(), past.inputs).is_some() => {}
                Step::Trapped(_) | Step::Stuck(_) | Step::Livelocked(_) | Step::OverLimit(_) | Step::Paused | Step::Done => return,
            }
            past.machine.settle(observer);
        }
    }

    /// Goes to the latest kept time at or before `time`, unless the present lies between the two.
    pub fn approach(&mut self, time: Tick) {
        let kept = self.snapshots.before(time);
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
        let watching = self.checking.as_mut().filter(|checking| checking.seen() == position && !checking.has_ended());
        let mut nobody = Unobserved;
        let mut audience = match watching {
            Some(checking) => Audience::with(&mut nobody, checking, now, false),
            None => Audience::of(&mut nobody),
        };
        if !audience.apply(&input, &mut machine) {
            return false;
        }
        machine.settle(&mut Unobserved);
        assert_eq!(machine.tick(), now, "an input takes no time");
        self.inputs.truncate(self.now.inputs);
        self.inputs.push(now, input);
        self.now = Snapshot { machine, inputs: self.now.inputs + 1, ..self.now };
        self.snapshots.forget_from(now);
        self.snapshots.keep(&self.now);
        self.recorded = position;
        self.end = None;
        if self.checking.as_ref().is_some_and(|checking| checking.seen() > position || checking.has_ended()) {
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

    /// Settles, applies the inputs of the present time, and keeps a snapshot if one is due. True if the audience asks for a pause.
    fn arrive(&mut self, audience: &mut Audience<'_>) -> bool {
        let now = self.time();
        let paused = self.now.machine.settle(audience);
        while let Some(input) = self.inputs.at(now, self.now.inputs) {
            audience.apply(input, &mut self.now.machine);
            self.now.machine.settle(&mut Unobserved);
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
        let job = Job { program: &self.program, case: &self.case, options: &self.options, account: Account::RunsAndWrites };
        let Some(blame) = job.blame(self.now.launch + 1) else {
            self.end = Some(End::Done);
            return false;
        };
        let device = self.now.machine.clone().into_device();
        match job.prepare(&blame, device, self.now.time(), &mut self.addresses) {
            Ok(Ok(mut machine)) => {
                machine.settle(&mut Unobserved);
                assert_eq!(machine.tick(), self.now.time(), "a launch begins where the one before has ended");
                self.now = Snapshot { machine, launch: self.now.launch + 1, inputs: self.now.inputs };
                self.snapshots.keep(&self.now);
                self.recorded = self.recorded.max(self.position());
                return true;
            }
            Ok(Err(Refused { fault, .. })) => self.end = Some(End::Fault(fault)),
            Err(error) => self.end = Some(End::Broken(error.to_string())),
        }
        false
    }
}

fn checking_of(program: &Arc<Program>, checks: Checks) -> Option<Checking> {
    (checks != Checks::NONE).then(|| Checking::new(program, checks))
}
