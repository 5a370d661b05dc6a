//! Runs the launches of a case in order on the same memory, each up to its end, a fault or an interrupt.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::Arc;

use super::error::RunError;
use super::launcher::Job;
use super::options::RunOptions;
use super::parts;
use super::swapped_sections::SwappedSections;
use super::written::{Beside, Written, is_partial};
use crate::check::faults::TRAP;
use crate::check::{Checkers, Findings};
use crate::check::{ReversibleSections, UnorderedAccesses};
use crate::debug::fault::{Fault, FaultContext};
use crate::debug::fidelity::executed;
use crate::debug::findings::FindingText;
use crate::debug::stale::{self, StaleAccess};
use crate::debug::timeline::Input;
use crate::isa::Space;
use crate::launch::PlannedLaunch;
use crate::machine::{Device, Event, EventMask, Machine, NullObserver, Observer, PlainRead, Step, Tick};
use crate::program::Pc;

/// Warp-instructions between two checks of the step limit and for an interrupt: a fraction of a second.
const SLICE: u64 = 1 << 19;

/// A case that was run to its end or to its first fault.
pub struct CaseRun {
    /// The memory afterwards; none if the machine refused a launch.
    pub device: Option<Device>,
    /// Address of every allocated buffer.
    pub addresses: Vec<u64>,
    /// The launches that were run.
    pub launches: Vec<LaunchRun>,
    /// The fault that stopped it.
    pub fault: Option<Fault>,
    /// All findings: those of the checkers, in the order in which they were noticed, and the fault.
    pub findings: Vec<FindingText>,
    /// Outcomes that depended on the schedule, as observed by the race checker.
    pub unordered_accesses: UnorderedAccesses,
    /// Critical sections that were executed in one order only.
    pub reversible: Vec<ReversibleSections>,
    /// The pairs of critical sections that were executed in the opposite order.
    pub swapped_sections: SwappedSections,
    /// The bytes that the blocks of partial launches have written, if there are such launches.
    pub written: Option<Written>,
    /// The instructions that were executed, if the run counted them.
    pub executed: BTreeSet<Pc>,
    /// The loads that returned an older write than the newest, on weak memory, and did not read it again.
    pub stale: Vec<StaleAccess>,
    /// True if it was interrupted before its end.
    pub interrupted: bool,
}

/// One launch that was run.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct LaunchRun {
    /// The kernel.
    pub kernel: String,
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z.
    pub block: [u32; 3],
    /// Warp-instructions issued.
    pub ticks: u64,
    /// Instructions executed by single threads.
    pub thread_instructions: u64,
}

/// A case that is being run.
pub(in crate::debug) struct Runner<'a> {
    job: Job<'a>,
    /// The end of the last launch.
    time: Tick,
    pub interrupt: &'a dyn Fn() -> bool,
    /// Asked at each new finding: true if the findings so far decide what the run is for, so that it is interrupted.
    pub is_enough: &'a dyn Fn(&Findings) -> bool,
    /// The user's changes to the run, in order of time.
    pub inputs: &'a [(Tick, Input)],
    pub run: CaseRun,
}

impl<'a> Runner<'a> {
    pub fn new(job: Job<'a>) -> Self {
        let run = CaseRun {
            device: Some(Device::new(Arc::clone(job.program))),
            addresses: Vec::new(),
            launches: Vec::new(),
            fault: None,
            findings: Vec::new(),
            unordered_accesses: UnorderedAccesses::default(),
            reversible: Vec::new(),
            swapped_sections: SwappedSections::default(),
            written: None,
            executed: BTreeSet::new(),
            stale: Vec::new(),
            interrupted: false,
        };
        Self { job, time: Tick::START, interrupt: &|| false, is_enough: &|_| false, inputs: &[], run }
    }

    /// Prepares the next launch and calls `run`, which returns its fault; false if there is no next launch, or the case was stopped by a
    /// fault or interrupted.
    pub fn run_next(&mut self, run: impl FnOnce(&mut Machine, &RunningLaunch<'_>) -> Option<Fault>) -> Result<bool, RunError> {
        let (Some(fault_context), None) = (self.job.fault_context(self.run.launches.len()), &self.run.fault) else { return Ok(false) };
        if self.run.interrupted {
            return Ok(false);
        }
        let Some(device) = self.run.device.take() else { return Ok(false) };
        let PlannedLaunch { grid, block, .. } = *fault_context.launch;
        let prepared = self.job.prepare(&fault_context, device, self.time, &mut self.run.addresses)?;
        self.run.launches.push(LaunchRun { kernel: fault_context.kernel_name(), grid, block, ticks: 0, thread_instructions: 0 });
        match prepared {
            Ok(mut machine) => {
                let launch = RunningLaunch {
                    fault_context: &fault_context,
                    options: self.job.options,
                    interrupt: self.interrupt,
                    interrupted: Cell::new(false),
                    is_enough: self.is_enough,
                    inputs: self.inputs,
                    is_last: self.job.fault_context(self.run.launches.len()).is_none(),
                };
                self.run.fault = run(&mut machine, &launch);
                self.run.interrupted = launch.interrupted.get();
                self.finish(machine);
            }
            Err(refused) => (self.run.device, self.run.fault) = (Some(refused.device), Some(*refused.fault)),
        }
        Ok(true)
    }

    fn finish(&mut self, machine: Machine) {
        if let Some(ran) = self.run.launches.last_mut() {
            ran.ticks = machine.tick() - self.time;
            ran.thread_instructions = machine.thread_instructions();
        }
        self.run.executed.append(&mut executed(&machine));
        self.run.stale.append(&mut stale::accesses(&machine, self.run.launches.len().saturating_sub(1)));
        self.time = machine.tick();
        self.run.device = Some(machine.into_device());
    }
}

/// A launch that has begun and not ended.
pub(in crate::debug) struct RunningLaunch<'a> {
    fault_context: &'a FaultContext<'a>,
    options: &'a RunOptions,
    interrupt: &'a dyn Fn() -> bool,
    interrupted: Cell<bool>,
    is_enough: &'a dyn Fn(&Findings) -> bool,
    inputs: &'a [(Tick, Input)],
    /// True if no launch follows.
    is_last: bool,
}

impl RunningLaunch<'_> {
    /// Index of the launch in the case.
    pub fn index(&self) -> usize {
        self.fault_context.index
    }

    /// True if some of its blocks do not run.
    pub fn is_partial(&self) -> bool {
        is_partial(self.fault_context.launch)
    }

    /// Runs until all blocks have finished or the run is interrupted; returns the fault that stopped it, if any.
    pub fn run(&self, machine: &mut Machine, observer: &mut dyn Observer) -> Option<Fault> {
        self.run_until(machine, observer, &Cell::new(false))
    }

    /// Like [`Self::run`] without an observer; blocks may run side by side.
    pub fn run_unobserved(&self, machine: &mut Machine) -> Option<Fault> {
        if self.run_in_parts(machine, None) { None } else { self.run(machine, &mut NullObserver) }
    }

    /// Runs the launch in parts side by side, if that is possible; false, with nothing changed, if it is not.
    fn run_in_parts(&self, machine: &mut Machine, checkers: Option<&mut Checkers>) -> bool {
        let parts = parts::Launch { options: self.options, index: self.index(), interrupt: self.interrupt };
        self.inputs.is_empty() && parts.run(machine, checkers)
    }

    /// Like [`Self::run`], or until `is_decided`.
    fn run_until(&self, machine: &mut Machine, observer: &mut dyn Observer, is_decided: &Cell<bool>) -> Option<Fault> {
        let (start, fault_context) = (machine.start(), self.fault_context);
        let RunOptions { step_limit, memory_limit, .. } = *self.options;
        let mut inputs = self.inputs.get(self.inputs.partition_point(|(time, _)| *time < start)..).unwrap_or_default();
        loop {
            while let Some(((_, input), later)) = inputs.split_first().filter(|((time, _), _)| *time <= machine.tick()) {
                machine.canonicalize(observer);
                input.apply(machine, observer);
                machine.canonicalize(&mut NullObserver);
                inputs = later;
            }
            let slice = step_limit.map_or(SLICE, |limit| limit.saturating_sub(machine.tick() - start).min(SLICE));
            let slice = inputs.first().map_or(slice, |(time, _)| slice.min(*time - machine.tick()));
            let step = machine.run(slice, observer);
            // An input at the time of a fault or hang may make progress possible.
            if inputs.first().is_some_and(|(time, _)| *time == machine.tick()) && !matches!(step, Step::Done) {
                continue;
            }
            match step {
                Step::Done => {
                    // What the user has changed at the end of a launch that others follow belongs to the beginning of the next one.
                    for (_, input) in inputs.iter().filter(|_| self.is_last) {
                        input.apply(machine, observer);
                    }
                    return None;
                }
                Step::Trapped(trap) if self.options.host.as_ref().is_some_and(|host| host.fetch_page(machine, &trap)) => continue,
                Step::Trapped(trap) => return Some(fault_context.trap(&trap, machine)),
                Step::Deadlock(deadlock) => return Some(fault_context.deadlock(&deadlock, machine)),
                Step::Livelocked(deadlock) => return Some(fault_context.livelock(&deadlock, machine)),
                Step::OverLimit(footprint) => return Some(fault_context.over_limit(footprint, memory_limit)),
                Step::Budget | Step::Paused => {}
            }
            if let Some(limit) = step_limit.filter(|limit| machine.tick() - start >= *limit) {
                return Some(fault_context.unfinished(machine, limit));
            }
            if is_decided.get() || (self.interrupt)() {
                self.interrupted.set(true);
                return None;
            }
        }
    }

    /// Like [`Self::run`], observed by `checkers` and by a record of what is written, if there is one.
    pub fn run_checked(&self, machine: &mut Machine, checkers: &mut Checkers, written: Option<&mut Written>) -> Option<Fault> {
        if written.is_none() && self.run_in_parts(machine, Some(checkers)) {
            return None;
        }
        checkers.begin(self.index(), &machine.launch_start());
        let is_decided = Cell::new(false);
        let mut asking = Asking { checkers, is_enough: self.is_enough, is_decided: &is_decided };
        let fault = match written {
            Some(written) => self.run_until(machine, &mut Beside(&mut asking, written), &is_decided),
            None => self.run_until(machine, &mut asking, &is_decided),
        };
        // For the checkers, an interrupted launch ends like a trap: operations in flight are not reported.
        let cut = self.interrupted.get().then_some(TRAP);
        checkers.end(&machine.launch_end(), fault.as_ref().map(|fault| fault.id).or(cut));
        fault
    }
}

/// Checkers that ask at each new finding whether the findings so far decide what the run is for.
struct Asking<'a> {
    checkers: &'a mut Checkers,
    is_enough: &'a dyn Fn(&Findings) -> bool,
    is_decided: &'a Cell<bool>,
}

impl Observer for Asking<'_> {
    #[inline]
    fn mask(&self) -> EventMask {
        self.checkers.mask()
    }

    fn event(&mut self, event: &Event<'_>) -> bool {
        let is_new = self.checkers.event(event);
        if is_new && (self.is_enough)(self.checkers.findings()) {
            self.is_decided.set(true);
        }
        is_new
    }

    fn observes(&self, space: Space) -> bool {
        self.checkers.observes(space)
    }

    fn plain_read(&mut self, read: &PlainRead<'_>) -> bool {
        self.checkers.plain_read(read)
    }
}
