//! What a run does on the chosen lines.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::place::Place;
use super::refusal::ExcerptError;
use super::selection::Chosen;
use crate::check::Checks;
use crate::debug::run::{Job, RunOptions, Runner};
use crate::isa::Space;
use crate::launch::Case;
use crate::machine::{
    AccessEvent, AccessKind, Event, EventKind, EventMask, Instrumentation, Issue, LaneGroup, Machine, MemoryModel, NullObserver, Observer,
    Registers, Step, Warp,
};
use crate::program::operands::writes;
use crate::program::{Bank, FuncId, Pc, Program, Slot};

/// A register of the kernel.
pub(super) type Register = (Bank, Slot);

/// Ticks between two questions whether to go on.
const SLICE: u64 = 1 << 16;

/// The bits of a register of the kernel's frame in a lane; of a predicate 0 or 1.
pub(super) fn bits_of(registers: &Registers, (bank, slot): Register, lane: usize) -> u64 {
    let at = slot.index();
    match bank {
        Bank::B32 => registers.b32.get(at).map_or(0, |lanes| lanes[lane].into()),
        Bank::B64 => registers.b64.get(at).map_or(0, |lanes| lanes[lane]),
        Bank::Pred => registers.pred.get(at).is_some_and(|lanes| lanes.contains(lane)).into(),
    }
}

/// The registers that an instruction writes, each slot for itself.
pub(super) fn written(program: &Program, pc: Pc) -> Vec<Register> {
    let all = writes(&program.code[pc.index()], program);
    all.iter().flat_map(|register| (0..register.width).map(|part| (register.bank, register.slot.offset(part)))).collect()
}

/// An instruction as a thread has executed it.
pub(super) struct Executed {
    /// When it was executed last, in the order of all that were.
    pub last: u64,
    /// What it wrote then.
    pub values: Vec<(Register, u64)>,
    /// True if it wrote the same each time.
    pub is_same: bool,
}

/// A thread on its lines, from the first instruction on them to the first one elsewhere.
pub(super) struct Passage {
    /// The instruction at which it comes.
    pub entry: Pc,
    /// The machine before that.
    pub machine: Machine,
    /// What it executed.
    pub executed: BTreeMap<Pc, Executed>,
    is_over: bool,
}

/// A run, as far as the chosen threads are on their lines.
pub(super) struct Recording {
    /// In the order of the threads.
    pub passages: Vec<Passage>,
    /// What memory holds before the first access.
    pub first: BTreeMap<Place, u64>,
    /// And after the last one.
    pub last: BTreeMap<Place, u64>,
    /// Memory that others write between two accesses, and where.
    pub disturbed: BTreeMap<Place, Pc>,
}

/// Runs the case until all threads have left their lines.
pub(super) fn record(
    (program, case, options): (&Arc<Program>, &Case, &RunOptions),
    kernel: FuncId,
    threads: &[Chosen],
    interrupt: &dyn Fn() -> bool,
) -> Result<Recording, ExcerptError> {
    let options = RunOptions { memory: MemoryModel::default(), checks: Checks::NONE, ..options.clone() };
    let mut runner = Runner::new(Job { program, case, options: &options, instrumentation: Instrumentation::Nothing });
    runner.interrupt = interrupt;
    let mut recorder = Recorder::new(program, threads);
    let mut is_interrupted = false;
    while !recorder.is_complete()
        && runner.run_next(|machine, launch| {
            if machine.config().kernel == kernel && !recorder.run(machine, interrupt, &mut is_interrupted) {
                return None;
            }
            launch.run(machine, &mut NullObserver)
        })?
    {}
    if is_interrupted || runner.run.interrupted {
        return Err(ExcerptError::Interrupted);
    }
    let fault = runner.run.fault.as_ref().map_or(String::new(), |fault| format!(": {}", fault.message));
    let missing = recorder.passages.iter().zip(threads).enumerate().find_map(|(number, (passage, thread))| {
        let what = match passage {
            None => "does not come to",
            Some(passage) if !passage.is_over && !fault.is_empty() => "does not leave",
            Some(_) => return None,
        };
        let Chosen { block_number, number: of_block, lines, .. } = thread;
        Some(format!("P{number} (block {block_number}, thread {of_block}) {what} lines {lines} in the run{fault}"))
    });
    match missing {
        Some(message) => Err(ExcerptError::Refused(message)),
        None => Ok(Recording {
            passages: recorder.passages.into_iter().flatten().collect(),
            first: recorder.first,
            last: recorder.last,
            disturbed: recorder.disturbed,
        }),
    }
}

/// Observes the chosen threads.
struct Recorder<'a> {
    program: &'a Program,
    threads: &'a [Chosen],
    passages: Vec<Option<Passage>>,
    first: BTreeMap<Place, u64>,
    last: BTreeMap<Place, u64>,
    disturbed: BTreeMap<Place, Pc>,
    /// Writes of others since the last access.
    others: BTreeMap<Place, Pc>,
    /// Threads at an instruction on their lines, before which the machine has stopped.
    stopped: Vec<usize>,
    /// True while that instruction is executed.
    executes: bool,
    /// What it accesses: the block slot of shared memory is not yet a block.
    accesses: Vec<Access>,
    /// Instructions executed on the lines.
    time: u64,
}

/// Memory that an instruction accesses.
struct Access {
    space: Space,
    /// The block of the thread, and the block slot of the block that owns shared memory.
    block: [u32; 3],
    slot: u32,
    address: u64,
    bytes: u32,
    /// The instruction, if it is not on the lines of a chosen thread.
    other: Option<Pc>,
}

impl Access {
    fn place(&self, machine: &Machine) -> Option<Place> {
        let block = match self.space {
            Space::Global => None,
            Space::Shared => Some(self.block),
            Space::SharedCluster => Some(machine.block_in(self.slot)?.index),
            Space::Generic | Space::Const | Space::Local | Space::Param | Space::ParamFunc => return None,
        };
        Some(Place { block, address: self.address, bytes: self.bytes })
    }
}

impl<'a> Recorder<'a> {
    fn new(program: &'a Program, threads: &'a [Chosen]) -> Self {
        let (first, last, disturbed, others) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let passages = threads.iter().map(|_| None).collect();
        Self {
            program,
            threads,
            passages,
            first,
            last,
            disturbed,
            others,
            stopped: Vec::new(),
            executes: false,
            accesses: Vec::new(),
            time: 0,
        }
    }

    fn is_complete(&self) -> bool {
        self.passages.iter().all(|passage| passage.as_ref().is_some_and(|passage| passage.is_over))
    }

    /// Runs until all threads have left their lines, which is false, or the launch ends or stops.
    fn run(&mut self, machine: &mut Machine, interrupt: &dyn Fn() -> bool, is_interrupted: &mut bool) -> bool {
        loop {
            match machine.run(SLICE, self) {
                Step::Paused if self.stopped.is_empty() => {}
                Step::Paused => {
                    let before = machine.clone();
                    self.enter(machine);
                    self.executes = true;
                    let step = machine.run(1, self);
                    self.executes = false;
                    self.stopped.clear();
                    self.note(&before, machine);
                    if !matches!(step, Step::Budget | Step::Paused) {
                        return true;
                    }
                }
                Step::Budget => {}
                Step::Done | Step::OverLimit(_) | Step::Trapped(_) | Step::Deadlock(_) | Step::Livelocked(_) => return true,
            }
            *is_interrupted = interrupt();
            if *is_interrupted || self.is_complete() {
                return false;
            }
        }
    }

    /// Begins the passages of the stopped threads that have none.
    fn enter(&mut self, machine: &Machine) {
        for number in self.stopped.clone() {
            if let (passage @ None, Some(entry)) = (&mut self.passages[number], pc_of(machine, &self.threads[number])) {
                *passage = Some(Passage { entry, machine: machine.clone(), executed: BTreeMap::new(), is_over: false });
            }
        }
    }

    /// Notes what the memory that was accessed held before and holds now.
    fn note(&mut self, before: &Machine, machine: &Machine) {
        let mut accesses = std::mem::take(&mut self.accesses);
        // Those of one instruction come together: what others write with it is written after what is noted here.
        accesses.sort_by_key(|access| access.other.is_some());
        for access in accesses {
            let Some(place) = access.place(before) else { continue };
            if let Some(pc) = access.other {
                self.note_other(place, pc);
                continue;
            }
            let value = |machine: &Machine| place.read(machine).unwrap_or(0);
            if let Some(pc) = self.others.remove(&place) {
                self.disturbed.entry(place).or_insert(pc);
            }
            self.first.entry(place).or_insert_with(|| value(before));
            self.last.insert(place, value(machine));
        }
    }

    fn note_other(&mut self, by: Place, pc: Pc) {
        let known: Vec<Place> = self.first.keys().copied().filter(|place| place.overlaps(&by)).collect();
        self.others.extend(known.into_iter().map(|place| (place, pc)));
    }

    /// The chosen threads among the lanes of an issue.
    fn chosen_in(&self, issue: &Issue) -> Vec<usize> {
        let point = issue.point;
        let is_in =
            |thread: &Chosen| (thread.block, thread.warp) == (point.block, point.warp.number()) && issue.lanes.contains(thread.lane);
        (0..self.threads.len()).filter(|number| is_in(&self.threads[*number])).collect()
    }

    /// True if the machine is to stop: a thread is on its lines.
    fn before(&mut self, issue: &Issue) -> bool {
        let mut stopped = Vec::new();
        for number in self.chosen_in(issue) {
            let is_on = self.threads[number].has(issue.point.pc);
            match &mut self.passages[number] {
                Some(passage) if passage.is_over => {}
                Some(passage) if !is_on => passage.is_over = true,
                _ if is_on => stopped.push(number),
                _ => {}
            }
        }
        if self.executes {
            return false;
        }
        self.stopped = stopped;
        !self.stopped.is_empty()
    }

    fn after(&mut self, issue: &Issue, warp: &Warp) {
        let pc = issue.point.pc;
        self.time += 1;
        for number in self.stopped.clone() {
            let lane = self.threads[number].lane;
            let Some(passage) = self.passages[number].as_mut().filter(|_| issue.active.contains(lane)) else { continue };
            let registers = written(self.program, pc).into_iter();
            let values: Vec<(Register, u64)> = registers.map(|register| (register, bits_of(&warp.registers, register, lane))).collect();
            let is_same = passage.executed.get(&pc).is_none_or(|before| before.is_same && before.values == values);
            passage.executed.insert(pc, Executed { last: self.time, values, is_same });
        }
    }

    fn access(&mut self, event: &AccessEvent<'_>) {
        let is_of = |number: &usize| {
            let thread = &self.threads[*number];
            self.executes && (thread.block, thread.warp) == (event.point.block, event.point.warp.number())
        };
        let own: Vec<usize> = self.stopped.iter().filter(|number| is_of(number)).map(|number| self.threads[*number].lane).collect();
        for lane in event.lanes.iter() {
            let (address, bytes, is_own) = (event.addresses[lane], event.bytes, own.contains(&lane));
            // Of the accesses of others, writes to memory that the lines have accessed matter, or do so now.
            let is_near = || self.first.keys().any(|place| place.address < address.saturating_add(bytes.into()) && address < place.end());
            if is_own || event.kind != AccessKind::Read && (self.executes || is_near()) {
                let other = (!is_own).then_some(event.point.pc);
                let (space, block, slot) = (event.space, event.point.block, event.owner.0);
                self.accesses.push(Access { space, block, slot, address, bytes, other });
            }
        }
    }
}

/// The instruction that a thread executes next.
fn pc_of(machine: &Machine, thread: &Chosen) -> Option<Pc> {
    let warp = machine.block(thread.block)?.warps.get(thread.warp as usize)?;
    warp.groups.iter().find(|group| group.mask.contains(thread.lane)).map(LaneGroup::current_pc)
}

impl Observer for Recorder<'_> {
    fn mask(&self) -> EventMask {
        EventMask::of(&[EventKind::Before, EventKind::After, EventKind::Access])
    }

    fn event(&mut self, event: &Event<'_>) -> bool {
        match event {
            Event::Before(issue, ..) => return self.before(issue),
            Event::After(issue, warp) if self.executes => self.after(issue, warp),
            Event::Access(access) => self.access(access),
            _ => {}
        }
        false
    }
}
