//! A launch for a kernel that came without one: guesses are run without being watched, one after the other, until one fits.
//!
//! A dry run gives every buffer far more room than it has, and measures what the kernel reaches; the launch has as much. A fault of a dry
//! run that another guess avoids is the launch's, not the kernel's. The numbers of guesses and of instructions are bounded, so that
//! the debugger starts at once.

mod bounded;
mod extents;
mod fitting;
mod gauge;

use std::sync::Arc;

use crate::check::Checks;
use crate::check::faults::{DEADLOCK, MEMORY_OUT_OF_BOUNDS, UNSUPPORTED};
use crate::debug::fault::{Fault, FaultContext};
use crate::debug::run::{Job, RunOptions};
use crate::launch::{self, Case, Contents, Guess, Known, MadeUp, Number, Overrides, Plan, PlannedBuffer, Study};
use crate::machine::{Device, Instrumentation, Machine, MemoryLimit, Step, Tick};
use crate::program::{FuncId, Program, map};
use gauge::Gauge;

/// Warp-instructions of one dry run, and of all, at most.
const TICKS: u64 = 24_000;
const TICKS_IN_ALL: u64 = 72_000;
/// The same where no run comes to an end.
const TICKS_WITHOUT_END: u64 = 168_000;
/// Warp-instructions of one run that shows what a block writes of an output that is given.
const TICKS_OF_BLOCK: u64 = 1_000_000;
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

/// What a dry run came to.
struct TrialResult {
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
    let fault = match trials.try_guess(first.clone()) {
        Ok(guess) => return trials.whole(guess, module),
        Err(fault) => fault,
    };
    // Where no guess fits, one is preferred whose fault a shape of the block does not explain.
    let mut best = first.clone();
    for guess in study.others(&first, &describe(&fault), fault.id == DEADLOCK) {
        if trials.ticks >= TICKS_IN_ALL {
            break;
        }
        match trials.try_guess(guess.clone()) {
            Ok(guess) => return trials.whole(guess, module),
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
fn describe(fault: &Fault) -> String {
    let place = fault.site.as_ref().map_or(String::new(), |site| format!(" at {}", site.source.as_deref().unwrap_or(&site.place)));
    format!("{} stops the kernel{place}", fault.id.word())
}

struct Trials<'a> {
    program: &'a Arc<Program>,
    study: &'a Study<'a>,
    kernel: FuncId,
    /// Warp-instructions run so far.
    ticks: u64,
}

impl Trials<'_> {
    /// The launch of `guess`, on the grid that writes the whole of an output that is given.
    fn whole(&mut self, guess: Guess, module: &str) -> MadeUp {
        let covering = self.on_covering_grid(&guess, module);
        let Some(made) = covering.or_else(|| self.on_bounded_grid(&guess)) else {
            let study = self.study;
            let mut made = study.launch(&self.fitting(guess));
            let grid = made.reasons.iter_mut().filter(|reason| reason.what == "grid" && !study.outputs().is_empty());
            grid.for_each(|reason| reason.why += ": what a block writes of the output is not known, so that --grid is needed");
            return made;
        };
        let launch::Content::Launch(launch) = &made.content else { return made };
        let block = launch.block.into();
        if block == guess.block {
            return made;
        }
        // Another block fits the tiles better, and another grid goes with it.
        self.on_covering_grid(&Guess { block, ..guess }, module).unwrap_or(made)
    }

    fn on_covering_grid(&mut self, guess: &Guess, module: &str) -> Option<MadeUp> {
        let grid = self.covering(guess, TICKS_OF_BLOCK, &[])?;
        let known = self.study.known();
        let extents = guess.extents.iter().map(|(index, (extent, why))| (*index, (Number::Integer((*extent).into()), why.to_string())));
        let numbers = known.numbers.clone().into_iter().chain(extents).collect();
        Some(made_up(self.program, self.kernel, module, &Known { grid: Some(grid), numbers, ..known.clone() }))
    }

    /// The guess as it is measured, with smaller numbers if the kernel runs long; or what stops the kernel.
    fn try_guess(&mut self, mut guess: Guess) -> Result<Guess, Box<Fault>> {
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
                    // Arrays and numbers that are given say how long it runs.
                    None if self.has_end(&guess, &tried) => return Ok(self.measured(guess, &tried, true)),
                    None => return Ok(self.ending(&guess).unwrap_or_else(|| self.measured(guess, &tried, true))),
                },
            }
        }
    }

    /// Whether a block of a kernel of which something is given comes to its end.
    fn has_end(&self, guess: &Guess, tried: &TrialResult) -> bool {
        let is_given = !self.study.known().params.is_empty();
        let longer = || self.run_within(guess, TICKS_OF_BLOCK, &[]);
        is_given && (tried.whole_block || longer().is_some_and(|tried| matches!(tried.end, End::Done) || tried.whole_block))
    }

    /// A guess with which a kernel that runs long comes to its end.
    fn ending(&mut self, long: &Guess) -> Option<Guess> {
        let others = self.study.ending(long).into_iter().chain(self.study.other_block_shapes(long, launch::RUNS_LONG));
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

    /// The grid whose blocks together write the whole of the largest output that is given, and why; none where nothing is given, or no
    /// dimension of the grid takes the kernel further. A run ends after `ticks`, and at a byte beyond the `bounds` of a buffer.
    fn covering(&mut self, guess: &Guess, ticks: u64, bounds: &[u64]) -> Option<([u32; 3], String)> {
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
        let dimensions = self.study.ctaid_axes();
        let mut reached = |grid: [u32; 3]| {
            let tried = self.run_within(&Guess { grid, ..guess.clone() }, ticks, bounds)?;
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

    /// Bytes of a buffer in a dry run.
    fn room(&self) -> u64 {
        if self.program.address_bits == 32 { ROOM_OF_32_BITS } else { ROOM }
    }

    /// The launch of `guess`; none if it cannot be one.
    fn planned(&self, guess: &Guess) -> Option<(launch::Content, Plan)> {
        let file = launch::file_of(self.study.launch(guess).content);
        let plan = launch::plan(&file, self.program, "", &Overrides::default()).ok()?;
        Some((file.content, plan))
    }

    /// Runs `guess`; none if it cannot be run at all.
    fn run(&self, guess: &Guess) -> Option<TrialResult> {
        self.run_within(guess, TICKS, &[])
    }

    /// Runs `guess` for at most `ticks` warp-instructions, and until it reaches a byte beyond the `bounds` of a buffer.
    fn run_within(&self, guess: &Guess, ticks: u64, bounds: &[u64]) -> Option<TrialResult> {
        let (_, mut plan) = self.planned(guess)?;
        let case = plan.cases.first_mut()?;
        case.buffers.iter_mut().for_each(|buffer| with_room(buffer, self.room()));
        self.run_case(case, ticks, bounds)
    }

    /// Block after block, so that of a run that is cut off some have come to their ends; all at once where blocks wait for others.
    fn run_case(&self, case: &Case, ticks: u64, bounds: &[u64]) -> Option<TrialResult> {
        let one_by_one = self.run_resident(case, Some(1), ticks, bounds)?;
        let deadlock = matches!(&one_by_one.end, End::Fault(fault) if fault.site.is_none());
        if deadlock { self.run_resident(case, None, ticks, bounds) } else { Some(one_by_one) }
    }

    fn run_resident(&self, case: &Case, resident: Option<u32>, ticks: u64, bounds: &[u64]) -> Option<TrialResult> {
        let options = RunOptions { checks: Checks::NONE, memory_limit: MemoryLimit(u64::MAX), resident, ..RunOptions::unwatched() };
        let fault_context = FaultContext { program: self.program, launch: case.launches.first()?, buffers: &case.buffers, index: 0 };
        let mut addresses = Vec::new();
        let job = Job { program: self.program, case, options: &options, instrumentation: Instrumentation::Nothing };
        let device = Device::new(Arc::clone(self.program));
        let mut machine = match job.prepare(&fault_context, device, Tick::START, &mut addresses).ok()? {
            Ok(machine) => machine,
            Err(refused) => {
                return Some(TrialResult { end: End::Fault(refused.fault), ticks: 0, reached: Vec::new(), shared: 0, whole_block: false });
            }
        };
        let ranges: Vec<(u64, u64)> =
            addresses.iter().zip(&case.buffers).map(|(start, buffer)| (*start, start.saturating_add(buffer.bytes))).collect();
        let mut gauge = Gauge { reached: vec![0; ranges.len()], ranges, bounds, last: 0, shared: 0, is_beyond: false };
        let end = run(&mut machine, &fault_context, &mut gauge, ticks);
        let whole_block = machine.blocks_started() > machine.resident_blocks().count() as u64;
        Some(TrialResult { end, ticks: machine.tick().0, reached: gauge.reached, shared: gauge.shared, whole_block })
    }

    /// `guess` with as much memory as the kernel reached; of a run that was cut off, with more.
    fn measured(&self, mut guess: Guess, tried: &TrialResult, cut_off: bool) -> Guess {
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
    if buffer.variable.is_some() {
        return;
    }
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
        Contents::Byte(_) | Contents::Uninit | Contents::Pages(_) => {}
    }
    buffer.bytes = room.max(buffer.bytes);
}

fn run(machine: &mut Machine, fault_context: &FaultContext<'_>, gauge: &mut Gauge<'_>, ticks: u64) -> End {
    let fault = match machine.run(ticks, gauge) {
        Step::Done => return End::Done,
        Step::Budget | Step::Paused | Step::OverLimit(_) => return End::Budget,
        Step::Trapped(trap) => fault_context.trap(&trap, machine),
        Step::Deadlock(deadlock) => fault_context.deadlock(&deadlock),
        Step::Livelocked(deadlock) => fault_context.livelock(&deadlock),
    };
    if fault.id == UNSUPPORTED { End::Done } else { End::Fault(Box::new(fault)) }
}
