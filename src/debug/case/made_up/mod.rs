//! A launch for a kernel that came without one: guesses are run without being watched, one after the other, until one fits.
//!
//! A dry run gives every buffer far more room than it has, and measures what the kernel reaches; the launch has as much. A fault of a dry
//! run that another guess avoids is the launch's, not the kernel's. The numbers of guesses and of instructions are bounded, so that
//! the debugger starts at once.

mod extents;

use std::collections::BTreeMap;
use std::sync::Arc;

use super::launcher::Job;
use super::run::RunOptions;
use super::{Blame, Fault};
use crate::check::faults::{MEMORY_OUT_OF_BOUNDS, UNSUPPORTED};
use crate::check::init::catalogue::MEMORY_UNINITIALIZED;
use crate::check::race::catalogue::{RACE_GLOBAL, RACE_SHARED_RAW, RACE_SHARED_WAR, RACE_SHARED_WAW};
use crate::check::{Checkers, Checks, FindingId};
use crate::isa::Space;
use crate::launch::{self, Case, Contents, Guess, Known, MadeUp, Number, Origins, Overrides, Plan, PlannedBuffer, PlannedLaunch, Study};
use crate::machine::{
    Account, CopyEvent, CopyStage, Device, Event, EventKind, EventMask, Home, LaneMask, Machine, MemoryLimit, Observer, Step, WgmmaChange,
    WgmmaEvent, lanes_of,
};
use crate::program::{FuncId, Pc, Program, map};

/// Warp-instructions of one dry run, and of all, at most.
const TICKS: u64 = 24_000;
const TICKS_IN_ALL: u64 = 72_000;
/// The same where no run comes to an end.
const TICKS_WITHOUT_END: u64 = 168_000;
/// Warp-instructions of one run that checkers watch.
const TICKS_CHECKED: u64 = 5_000;
/// Room of a buffer in a dry run.
const ROOM: u64 = 1 << 26;
const ROOM_OF_32_BITS: u64 = 1 << 24;
/// Blocks along an axis of a grid that is to write a whole output, at most.
const BLOCKS_MAX: u32 = 65_535;
/// A buffer is as long as a row or a square of the launch's size if it is not much longer than what is reached.
const SPARE: u64 = 4;
/// Elements of a buffer are a multiple of this.
const ROUNDED: u64 = 16;
/// Elements of a buffer at most whose need no run has shown.
const LEN_MAX: u64 = 1 << 22;
/// How much more a kernel may reach that the dry run did not see to its end.
const UNSEEN: u64 = 4;

/// Findings that a shape or a size may cause that does not fit the kernel's tiles.
const AVOIDABLE: [FindingId; 6] =
    [MEMORY_UNINITIALIZED, RACE_GLOBAL, RACE_SHARED_RAW, RACE_SHARED_WAR, RACE_SHARED_WAW, MEMORY_OUT_OF_BOUNDS];

/// What a dry run came to.
struct Tried {
    end: End,
    ticks: u64,
    /// Bytes of each buffer that the kernel reached.
    reached: Vec<u64>,
    /// One past the last byte of shared memory that it reached.
    shared: u64,
    /// Whether some block has finished.
    whole_block: bool,
}

enum End {
    /// All blocks have finished, or an instruction came that is not modelled.
    Done,
    /// There was more to run.
    Budget,
    Fault(Box<Fault>),
}

/// A launch of `kernel`, whose module is called `module`.
pub fn made_up(program: &Arc<Program>, kernel: FuncId, module: &str, known: &Known) -> MadeUp {
    let study = Study::new(program, kernel, module, known);
    let mut trials = Trials { program, study: &study, kernel, ticks: 0 };
    let first = trials.with_extents(study.first());
    trials.ticks = 0;
    let whole = |trials: &mut Trials<'_>, guess: Guess| match trials.covering(&guess) {
        Some(grid) => {
            let numbers = guess.extents.iter().map(|(index, (extent, why))| (*index, (Number::Integer((*extent).into()), why.to_string())));
            let numbers = known.numbers.clone().into_iter().chain(numbers).collect();
            made_up(program, kernel, module, &Known { grid: Some(grid), numbers, ..known.clone() })
        }
        None => study.launch(&trials.fitting(guess)),
    };
    let fault = match trials.settle(first.clone()) {
        Ok(guess) => return whole(&mut trials, guess),
        Err(fault) => fault,
    };
    // Where no guess fits, one is preferred whose fault a shape of the block does not explain.
    let mut best = first.clone();
    for guess in study.others(&first, &in_words(&fault)) {
        if trials.ticks >= TICKS_IN_ALL {
            break;
        }
        match trials.settle(guess.clone()) {
            Ok(guess) => return whole(&mut trials, guess),
            Err(other) => {
                let is_better = best == first && guess.block != first.block && of_shape(&fault) && !of_shape(&other);
                best = if is_better { guess } else { best };
            }
        }
    }
    // The best of those that do not fit, with what the kernel reached before it stopped.
    let tried = trials.run(&best);
    study.launch(&tried.map_or(best.clone(), |tried| trials.measured(best, &tried, true)))
}

/// Whether a fault is one that a block causes which is larger than the kernel's arrays.
fn of_shape(fault: &Fault) -> bool {
    fault.id == MEMORY_OUT_OF_BOUNDS && fault.message.starts_with("shared ")
}

/// `memory.out_of_bounds stops it at gemm.ptx:40`
fn in_words(fault: &Fault) -> String {
    let place = fault.site.as_ref().map_or(String::new(), |site| format!(" at {}", site.source.as_deref().unwrap_or(&site.place)));
    format!("{} stops the kernel{place}", fault.id.word())
}

/// What is said of a fault of a made-up launch that no value is known to have caused.
pub const MAY_BE: &str = "this launch is made up, and its values may be the cause ('info launch')";

/// What of a fault or finding at `pc` comes from values that are made up: `its address comes from n = 64, which is made up`. Empty if the
/// launch was written, or nothing does, unless that is worth a word `always`.
pub fn origin(program: &Program, launch: &PlannedLaunch, pc: Pc, always: bool) -> String {
    OriginTexts { program, known: BTreeMap::new() }.of(launch, pc, always)
}

/// The same for many findings: each kernel is followed once.
pub struct OriginTexts<'a> {
    pub program: &'a Program,
    pub known: BTreeMap<FuncId, Origins<'a>>,
}

impl OriginTexts<'_> {
    /// As [`origin`] says it.
    pub fn of(&mut self, launch: &PlannedLaunch, pc: Pc, always: bool) -> String {
        if launch.reasons.is_empty() {
            return String::new();
        }
        let program = self.program;
        let origins = self.known.entry(launch.kernel).or_insert_with(|| Origins::new(program, launch.kernel));
        in_one_line(program, launch, origins.of(pc), always)
    }
}

fn in_one_line(program: &Program, launch: &PlannedLaunch, (values, contents): (Vec<usize>, Vec<usize>), always: bool) -> String {
    let names = |index: &usize| program.functions[launch.kernel.index()].params.get(*index).map(|param| (*index, param.name.to_string()));
    let reason = |index: usize| launch.reasons.iter().find(|reason| reason.param == Some(index));
    let number = |index: &usize| reason(*index).filter(|reason| reason.what.contains(" = ")).map(|reason| reason.what.clone());
    let held = |index: &usize| {
        let (index, name) = names(index)?;
        Some(format!("what {} holds", reason(index).map_or(name, |reason| reason.what.clone())))
    };
    let parts: Vec<String> = values.iter().filter_map(number).chain(contents.iter().filter_map(held)).collect();
    match parts.as_slice() {
        [] if always => MAY_BE.to_string(),
        [] => String::new(),
        [one] => format!("its address comes from {one}, which is made up ('info launch')"),
        many => format!("its address comes from {}, which are made up ('info launch')", many.join(" and ")),
    }
}

struct Trials<'a> {
    program: &'a Arc<Program>,
    study: &'a Study<'a>,
    kernel: FuncId,
    /// Warp-instructions run so far.
    ticks: u64,
}

impl Trials<'_> {
    /// The guess as it is measured, with smaller numbers if the kernel runs long; or what stops the kernel.
    fn settle(&mut self, mut guess: Guess) -> Result<Guess, Box<Fault>> {
        loop {
            let Some(tried) = self.run(&guess) else { return Ok(guess) };
            self.ticks += tried.ticks;
            match tried.end {
                End::Fault(fault) => return Err(fault),
                End::Done => return Ok(self.measured(guess, &tried, false)),
                End::Budget => match self.study.smaller(&guess).filter(|_| self.ticks < TICKS_IN_ALL) {
                    // A block that has finished shows all of shared memory; the others are like it.
                    Some(_) if tried.whole_block => return Ok(self.measured(guess, &tried, true)),
                    Some(smaller) => guess = smaller,
                    None => return Ok(self.ending(&guess).unwrap_or_else(|| self.measured(guess, &tried, true))),
                },
            }
        }
    }

    /// A guess with which a kernel that runs long comes to its end.
    fn ending(&mut self, long: &Guess) -> Option<Guess> {
        let others = self.study.ending(long).into_iter().chain(self.study.blocks(long, "the kernel runs very long"));
        for guess in others {
            if self.ticks >= TICKS_WITHOUT_END {
                return None;
            }
            let tried = self.run(&guess)?;
            self.ticks += tried.ticks;
            let cut_off = !matches!(tried.end, End::Done);
            if !cut_off || (tried.whole_block && matches!(tried.end, End::Budget)) {
                return Some(self.measured(guess, &tried, cut_off));
            }
        }
        None
    }

    /// `guess`, or another one with which the checkers find no memory that is read unwritten or written twice.
    fn fitting(&mut self, guess: Guess) -> Guess {
        let doubt = if self.study.may_misfit() { self.doubt(&guess) } else { None };
        let Some(doubt) = doubt else { return guess };
        for other in self.study.fitting(&guess, &doubt) {
            if self.ticks >= TICKS_IN_ALL {
                break;
            }
            if let Ok(other) = self.settle(other)
                && self.doubt(&other).is_none()
            {
                return other;
            }
        }
        guess
    }

    /// The grid whose blocks together write the whole of the largest output that is given, and why; none where nothing is given, or no
    /// dimension of the grid takes the kernel further.
    fn covering(&mut self, guess: &Guess) -> Option<([u32; 3], String)> {
        let outputs = self.study.outputs();
        if outputs.is_empty() {
            return None;
        }
        let (content, plan) = self.planned(guess)?;
        let launch::Content::Launch(made) = &content else { return None };
        let defines = |param: &&launch::file::Param| param.buffer().is_some();
        let buffer_of = |index: usize| made.params.get(..index).map(|before| before.iter().filter(defines).count());
        let buffers = &plan.cases.first()?.buffers;
        let at = outputs.into_iter().filter_map(buffer_of).max_by_key(|at| buffers.get(*at).map_or(0, |buffer| buffer.bytes))?;
        let output = buffers.get(at)?;
        let row = output.shape.last().map_or(output.bytes, |extent| extent * u64::from(output.element.bytes())).max(1);
        let dimensions = self.study.block_dimensions();
        let mut reached = |grid: [u32; 3]| {
            let tried = self.run(&Guess { grid, ..guess.clone() })?;
            self.ticks += tried.ticks;
            matches!(tried.end, End::Done).then(|| tried.reached.get(at).copied())?
        };
        let one = reached([1; 3])?;
        let mut steps = Vec::new();
        for axis in (0..3).filter(|axis| dimensions[*axis]) {
            let mut grid = [1; 3];
            grid[axis] = 2;
            steps.push((reached(grid)?.saturating_sub(one), axis));
        }
        let grid = blocks_for(output.bytes, row, one, &mut steps)?;
        Some((grid, format!("as many blocks as write the whole of {}", output.name)))
    }

    /// What the checkers find in a run of `guess` that another shape or size may avoid.
    fn doubt(&mut self, guess: &Guess) -> Option<String> {
        let (_, plan) = self.planned(guess)?;
        let case = plan.cases.first()?;
        let options = RunOptions { memory_limit: MemoryLimit(u64::MAX), ..RunOptions::default() };
        let blame = Blame { program: self.program, launch: case.launches.first()?, index: 0 };
        let job = Job { program: self.program, case, options: &options, account: Account::Nothing };
        let mut machine = job.prepare(&blame, Device::new(Arc::clone(self.program)), 0, &mut Vec::new()).ok()?.ok()?;
        let mut checkers = Checkers::new(self.program, Checks::ALL);
        checkers.begin(0, &machine.launch_start());
        machine.run(TICKS_CHECKED, &mut checkers);
        self.ticks += machine.tick();
        let found = checkers.findings().list().iter().find(|finding| AVOIDABLE.contains(&finding.id))?;
        Some(format!("there is {} at {}", found.id.word(), self.program.place(found.second.place.pc)))
    }

    /// The launch of `guess`; none if it cannot be one.
    fn planned(&self, guess: &Guess) -> Option<(launch::Content, Plan)> {
        let file = launch::file_of(self.study.launch(guess).content);
        let plan = launch::plan(&file, self.program, "", &Overrides::default()).ok()?;
        Some((file.content, plan))
    }

    /// Runs `guess`; none if it cannot be run at all.
    fn run(&self, guess: &Guess) -> Option<Tried> {
        self.run_within(guess, TICKS, &[])
    }

    /// Runs `guess` for so many warp-instructions at most, and until it reaches a byte beyond the `bounds` of a buffer.
    fn run_within(&self, guess: &Guess, ticks: u64, bounds: &[u64]) -> Option<Tried> {
        let (_, mut plan) = self.planned(guess)?;
        let case = plan.cases.first_mut()?;
        let room = if self.program.address_bits == 32 { ROOM_OF_32_BITS } else { ROOM };
        case.buffers.iter_mut().for_each(|buffer| with_room(buffer, room));
        self.run_case(case, ticks, bounds)
    }

    /// Block after block, so that of a run that is cut off some have come to their ends; all at once where blocks wait for others.
    fn run_case(&self, case: &Case, ticks: u64, bounds: &[u64]) -> Option<Tried> {
        let one_by_one = self.run_resident(case, Some(1), ticks, bounds)?;
        let stuck = matches!(&one_by_one.end, End::Fault(fault) if fault.site.is_none());
        if stuck { self.run_resident(case, None, ticks, bounds) } else { Some(one_by_one) }
    }

    fn run_resident(&self, case: &Case, resident: Option<u32>, ticks: u64, bounds: &[u64]) -> Option<Tried> {
        let options = RunOptions { checks: Checks::NONE, memory_limit: MemoryLimit(u64::MAX), resident, ..RunOptions::default() };
        let blame = Blame { program: self.program, launch: case.launches.first()?, index: 0 };
        let mut addresses = Vec::new();
        let job = Job { program: self.program, case, options: &options, account: Account::Nothing };
        let device = Device::new(Arc::clone(self.program));
        let mut machine = match job.prepare(&blame, device, 0, &mut addresses).ok()? {
            Ok(machine) => machine,
            Err(refused) => {
                return Some(Tried { end: End::Fault(refused.fault), ticks: 0, reached: Vec::new(), shared: 0, whole_block: false });
            }
        };
        let ranges: Vec<(u64, u64)> =
            addresses.iter().zip(&case.buffers).map(|(start, buffer)| (*start, start.saturating_add(buffer.bytes))).collect();
        let mut gauge = Gauge { reached: vec![0; ranges.len()], ranges, bounds, last: 0, shared: 0, is_beyond: false };
        let end = run(&mut machine, &blame, &mut gauge, ticks);
        let whole_block = machine.blocks_started() > machine.resident_blocks().count() as u64;
        Some(Tried { end, ticks: machine.tick(), reached: gauge.reached, shared: gauge.shared, whole_block })
    }

    /// `guess` with as much memory as the kernel reached; of a run that was cut off, with more.
    fn measured(&self, mut guess: Guess, tried: &Tried, cut_off: bool) -> Guess {
        let function = &self.program.functions[self.kernel.index()];
        if self.study.measures_shared() && (!cut_off || tried.whole_block) {
            let fixed = map::SHARED_RESERVED + u64::from(function.shared_bytes);
            guess.dynamic_shared = tried.shared.saturating_sub(fixed).next_multiple_of(16) as u32;
        }
        let made = self.study.launch(&guess).content;
        let launch::Content::Launch(made) = &made else { return guess };
        let defined = made.params.iter().enumerate().filter_map(|(index, param)| Some((index, param, param.buffer()?)));
        let lens: Vec<(usize, u64)> = defined
            .zip(&tried.reached)
            .filter(|((_, param, _), _)| matches!(param, launch::file::Param::Buffer(_)))
            .map(|((index, _, buffer), reached)| {
                let reached = reached.div_ceil(u64::from(buffer.elem.bytes()));
                (
                    index,
                    if cut_off {
                        rounded(reached * UNSEEN, guess.size).clamp(buffer.len.unwrap_or(1), LEN_MAX)
                    } else {
                        rounded(reached, guess.size)
                    },
                )
            })
            .collect();
        guess.lens.extend(lens.into_iter().filter(|(_, len)| *len > 0));
        guess
    }
}

/// `reached` elements, or a row or a square of `size` if that is not much more.
fn rounded(reached: u64, size: u64) -> u64 {
    let natural = [size, size * size].into_iter().find(|len| (reached..=reached * SPARE).contains(len));
    natural.unwrap_or_else(|| reached.next_multiple_of(ROUNDED))
}

/// The grid whose blocks together reach `bytes` in rows of `row`, where one block reaches `one`, and a second one along an axis as much
/// more as `steps` say.
fn blocks_for(bytes: u64, row: u64, one: u64, steps: &mut Vec<(u64, usize)>) -> Option<[u32; 3]> {
    assert!(row > 0, "a row has bytes");
    steps.retain(|(step, _)| *step > 0);
    steps.sort_unstable();
    let mut grid = [1; 3];
    let mut put = |axis: usize, blocks: u64| {
        grid[axis] = u32::try_from(blocks).ok().filter(|blocks| *blocks <= BLOCKS_MAX)?;
        Some(())
    };
    match steps[..] {
        [(step, axis)] => put(axis, 1 + bytes.saturating_sub(one).div_ceil(step))?,
        // Along the one go the columns of a matrix, along the other its rows.
        [(columns, across), (rows, down)] => {
            let (within, whole) = (one.saturating_sub(1) % row + 1, one.next_multiple_of(row));
            put(across, 1 + (row - within).div_ceil(columns))?;
            put(down, 1 + bytes.saturating_sub(whole).div_ceil(rows))?;
        }
        _ => return None,
    }
    Some(grid)
}

/// Gives a buffer `room` bytes, of which the first hold what they would hold. A data file that is large or cannot be read keeps its size.
fn with_room(buffer: &mut PlannedBuffer, room: u64) {
    let mut bytes = Vec::new();
    match buffer.contents {
        Contents::File(_) if buffer.bytes > ROOM => return,
        Contents::Made(..) | Contents::File(_) | Contents::Bytes(_) => {
            let filled = buffer.contents.fill(buffer.bytes, &mut |_, piece: &[u8]| -> Result<(), launch::DataError> {
                bytes.extend_from_slice(piece);
                Ok(())
            });
            if filled.is_err() {
                return;
            }
            buffer.contents = Contents::Bytes(bytes);
        }
        Contents::Byte(_) | Contents::Uninit => {}
    }
    buffer.bytes = room.max(buffer.bytes);
}

fn run(machine: &mut Machine, blame: &Blame<'_>, gauge: &mut Gauge<'_>, ticks: u64) -> End {
    let fault = match machine.run(ticks, gauge) {
        Step::Done => return End::Done,
        Step::Budget | Step::Paused | Step::OverLimit(_) => return End::Budget,
        Step::Trapped(trap) => blame.trap(&trap),
        Step::Stuck(stuck) => blame.deadlock(&stuck),
        Step::Livelocked(stuck) => blame.livelock(&stuck),
    };
    if fault.id == UNSUPPORTED { End::Done } else { End::Fault(Box::new(fault)) }
}

/// Measures what a kernel reaches.
struct Gauge<'a> {
    /// Start and end of each buffer.
    ranges: Vec<(u64, u64)>,
    /// Bytes of each that the kernel may reach; none says that it may reach all.
    bounds: &'a [u64],
    /// The bytes of each that were reached.
    reached: Vec<u64>,
    /// The buffer that was reached last.
    last: usize,
    shared: u64,
    /// Whether it reached more.
    is_beyond: bool,
}

impl Gauge<'_> {
    fn global(&mut self, start: u64, bytes: u64) {
        let holds = |range: &(u64, u64)| (range.0..range.1).contains(&start);
        if !self.ranges.get(self.last).is_some_and(holds) {
            let Some(found) = self.ranges.iter().position(holds) else { return };
            self.last = found;
        }
        let end = start + bytes - self.ranges[self.last].0;
        self.reached[self.last] = self.reached[self.last].max(end);
        self.is_beyond |= self.bounds.get(self.last).is_some_and(|bound| end > *bound);
    }

    fn place(&mut self, home: Home, address: u64, bytes: u64) {
        match home {
            Home::Global if bytes > 0 => self.global(address, bytes),
            Home::Global => {}
            Home::Block { .. } => self.shared = self.shared.max(address + bytes),
        }
    }

    fn lanes(&mut self, space: Space, addresses: &[u64], lanes: LaneMask, bytes: u64) {
        match space {
            Space::Global => lanes_of(lanes).for_each(|lane| self.global(addresses[lane], bytes)),
            Space::Shared | Space::SharedCluster => {
                let end = lanes_of(lanes).map(|lane| addresses[lane] + bytes).max();
                self.shared = self.shared.max(end.unwrap_or(0));
            }
            Space::Generic | Space::Const | Space::Local | Space::Param | Space::ParamFunc => {}
        }
    }
}

impl Observer for Gauge<'_> {
    fn mask(&self) -> EventMask {
        EventMask::of(&[EventKind::Access, EventKind::Copy, EventKind::Mbarrier, EventKind::Wgmma])
    }

    fn event(&mut self, event: &Event<'_>) -> bool {
        match event {
            Event::Access(access) => self.lanes(access.space, &access.addresses[..], access.lanes, u64::from(access.bytes)),
            Event::Copy(CopyEvent { copy, lanes, stage: CopyStage::Issued, .. }) => {
                copy.work.reads(*lanes, |place, bytes| self.place(place.home, place.address, bytes));
                copy.work.writes(*lanes, |place, bytes| self.place(place.home, place.address, bytes));
            }
            Event::Mbarrier(object) => self.shared = self.shared.max(u64::from(object.address) + 8),
            Event::Wgmma(WgmmaEvent { change: WgmmaChange::Issued { wgmma, .. }, .. }) => {
                let end = wgmma.reads().map(|(_, end)| u64::from(end)).max();
                self.shared = self.shared.max(end.unwrap_or(0));
            }
            _ => {}
        }
        self.is_beyond
    }
}
