//! Makes up a launch for a kernel without a launch file: guesses are run without checkers, one after the other, until one fits.
//!
//! A dry run gives every buffer far more memory than it needs and measures how much the kernel accesses; the made-up launch gets that
//! much. A fault of a dry run that another guess avoids is attributed to the launch, not to the kernel. The numbers of guesses and of
//! instructions are bounded, so that the debugger starts without delay.

mod bounded;
mod extents;
mod fitting;
mod reach;

use std::sync::Arc;

use crate::check::Checks;
use crate::check::faults::{DEADLOCK, MEMORY_OUT_OF_BOUNDS, UNSUPPORTED};
use crate::debug::fault::{Fault, FaultContext};
use crate::debug::run::{Job, RunOptions};
use crate::launch::{self, Case, Contents, Guess, LaunchFacts, MadeUp, Number, Overrides, Plan, PlannedBuffer, Study};
use crate::machine::{Device, Instrumentation, Machine, MemoryLimit, Step, Tick};
use crate::program::{FuncId, Program, map};
use reach::ReachObserver;

/// Most warp-instructions of one dry run, and of all.
const TICKS: u64 = 24_000;
const TICKS_IN_ALL: u64 = 72_000;
/// Most warp-instructions of all dry runs if none of them finishes.
const TICKS_UNFINISHED: u64 = 168_000;
/// Most warp-instructions of a run that measures how much of a given output a block writes.
const TICKS_OF_BLOCK: u64 = 1_000_000;
/// Bytes of a buffer in a dry run, with 64-bit and with 32-bit addresses.
const DRY_RUN_BYTES: u64 = 1 << 26;
const DRY_RUN_BYTES_32: u64 = 1 << 24;
/// Most blocks along an axis of a grid that is chosen to write a whole output.
const BLOCKS_MAX: u32 = 65_535;
/// A length is rounded up to a row or a square of the launch's size if that is at most this many times longer.
const NATURAL_FACTOR: u64 = 4;
/// Other lengths are rounded up to a multiple of this.
const LEN_MULTIPLE: u64 = 16;
/// Most elements of a buffer whose accesses were not measured to the end.
const LEN_MAX: u64 = 1 << 22;
/// A measured length is multiplied by this if the dry run was cut off.
const CUT_OFF_FACTOR: u64 = 4;

/// The result of a dry run.
struct TrialResult {
    end: End,
    ticks: u64,
    /// Bytes of each buffer up to the end of the furthest access.
    reached: Vec<u64>,
    /// Bytes of all accesses to each buffer together.
    accessed: Vec<u64>,
    /// One past the last accessed byte of shared memory.
    shared: u64,
    /// True if at least one block has finished.
    block_finished: bool,
}

enum End {
    /// All blocks have finished, or an instruction is not modelled.
    Done,
    /// The budget of warp-instructions was used up.
    Budget,
    Fault(Box<Fault>),
}

/// Makes up a launch of `kernel`, whose module is called `module`.
pub fn made_up(program: &Arc<Program>, kernel: FuncId, module: &str, known: &LaunchFacts) -> MadeUp {
    let study = Study::new(program, kernel, module, known);
    let mut trials = Trials { program, study: &study, kernel, ticks: 0 };
    let first = trials.with_extents(study.first());
    trials.ticks = 0;
    let fault = match trials.try_guess(first.clone()) {
        Ok(guess) => return trials.final_launch(guess, module),
        Err(fault) => fault,
    };
    // If no guess fits, one is preferred whose fault is not explained by the block size.
    let mut best = first.clone();
    for guess in study.others(&first, &describe(&fault), fault.id == DEADLOCK) {
        if trials.ticks >= TICKS_IN_ALL {
            break;
        }
        match trials.try_guess(guess.clone()) {
            Ok(guess) => return trials.final_launch(guess, module),
            Err(other) => {
                let is_better = best == first && guess.block != first.block && is_shape_fault(&fault) && !is_shape_fault(&other);
                best = if is_better { guess } else { best };
            }
        }
    }
    // The best guess that does not fit, with the memory that the kernel accessed before it stopped.
    let result = trials.run(&best);
    study.launch(&result.map_or(best.clone(), |result| trials.measured(best, &result, true)))
}

/// True if the fault can be caused by a block that is larger than the kernel's shared arrays.
fn is_shape_fault(fault: &Fault) -> bool {
    fault.id == MEMORY_OUT_OF_BOUNDS && fault.message.starts_with("shared ")
}

/// `memory.out_of_bounds stops it at gemm.ptx:40`
fn describe(fault: &Fault) -> String {
    let place = fault.site.as_ref().map_or(String::new(), |site| format!(" at {}", site.source.as_deref().unwrap_or(&site.place)));
    format!("{} stops the kernel{place}", fault.id.word())
}

/// The dry runs for one kernel.
struct Trials<'a> {
    program: &'a Arc<Program>,
    study: &'a Study<'a>,
    kernel: FuncId,
    /// Warp-instructions run so far.
    ticks: u64,
}

impl Trials<'_> {
    /// The launch of `guess`, on the grid that writes the whole of a given output.
    fn final_launch(&mut self, guess: Guess, module: &str) -> MadeUp {
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
        // Another block size fits the tiles better and needs another grid.
        self.on_covering_grid(&Guess { block, ..guess }, module).unwrap_or(made)
    }

    fn on_covering_grid(&mut self, guess: &Guess, module: &str) -> Option<MadeUp> {
        let grid = self.covering(guess, TICKS_OF_BLOCK, &[])?;
        let known = self.study.known();
        let extents = guess.extents.iter().map(|(index, (extent, why))| (*index, (Number::Integer((*extent).into()), why.to_string())));
        let numbers = known.numbers.clone().into_iter().chain(extents).collect();
        Some(made_up(self.program, self.kernel, module, &LaunchFacts { grid: Some(grid), numbers, ..known.clone() }))
    }

    /// The guess with measured memory, with smaller sizes if the kernel runs long; or the fault that stops the kernel.
    fn try_guess(&mut self, mut guess: Guess) -> Result<Guess, Box<Fault>> {
        loop {
            let Some(result) = self.run(&guess) else { return Ok(guess) };
            self.ticks += result.ticks;
            match result.end {
                End::Fault(fault) => return Err(fault),
                End::Done => return Ok(self.measured(guess, &result, false)),
                End::Budget => match self.study.smaller(&guess).filter(|_| self.ticks < TICKS_IN_ALL) {
                    // A finished block shows how much shared memory the others need.
                    Some(_) if result.block_finished => return Ok(self.measured(guess, &result, true)),
                    Some(smaller) => guess = smaller,
                    // Given arrays and numbers determine how long it runs.
                    None if self.finishes(&guess, &result) => return Ok(self.measured(guess, &result, true)),
                    None => return Ok(self.finishing(&guess).unwrap_or_else(|| self.measured(guess, &result, true))),
                },
            }
        }
    }

    /// True if parameters are given and a block finishes with a larger budget.
    fn finishes(&self, guess: &Guess, result: &TrialResult) -> bool {
        let is_given = !self.study.known().params.is_empty();
        let longer = || self.run_within(guess, TICKS_OF_BLOCK, &[]);
        is_given && (result.block_finished || longer().is_some_and(|result| matches!(result.end, End::Done) || result.block_finished))
    }

    /// A guess with which a kernel that runs long finishes.
    fn finishing(&mut self, long: &Guess) -> Option<Guess> {
        let others = self.study.ending(long).into_iter().chain(self.study.other_block_shapes(long, launch::RUNS_LONG));
        for guess in others {
            if self.ticks >= TICKS_UNFINISHED {
                return None;
            }
            let result = self.run(&guess)?;
            self.ticks += result.ticks;
            let cut_off = !matches!(result.end, End::Done);
            if !cut_off || (result.block_finished && matches!(result.end, End::Budget)) {
                return Some(self.measured(guess, &result, cut_off));
            }
        }
        None
    }

    /// The grid whose blocks together write the whole of the largest given output, and the reason; none if no output is given or more
    /// blocks do not write more of it. A run ends after `ticks`, and at an access beyond the `bounds` of a buffer.
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
            let result = self.run_within(&Guess { grid, ..guess.clone() }, ticks, bounds)?;
            self.ticks += result.ticks;
            matches!(result.end, End::Done).then(|| result.reached.get(at).copied())?
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
    fn dry_run_bytes(&self) -> u64 {
        if self.program.address_bits == 32 { DRY_RUN_BYTES_32 } else { DRY_RUN_BYTES }
    }

    /// The launch of `guess` and its plan; none if the launch is invalid.
    fn planned(&self, guess: &Guess) -> Option<(launch::Content, Plan)> {
        let file = launch::file_of(self.study.launch(guess).content);
        let plan = launch::plan(&file, self.program, "", &Overrides::default()).ok()?;
        Some((file.content, plan))
    }

    /// Runs `guess`; none if the launch is invalid.
    fn run(&self, guess: &Guess) -> Option<TrialResult> {
        self.run_within(guess, TICKS, &[])
    }

    /// Runs `guess` for at most `ticks` warp-instructions, and until an access beyond the `bounds` of a buffer.
    fn run_within(&self, guess: &Guess, ticks: u64, bounds: &[u64]) -> Option<TrialResult> {
        let (_, mut plan) = self.planned(guess)?;
        let case = plan.cases.first_mut()?;
        case.buffers.iter_mut().for_each(|buffer| enlarge(buffer, self.dry_run_bytes()));
        self.run_case(case, ticks, bounds)
    }

    /// Runs one block after the other, so that some blocks finish even if the run is cut off; all at once if blocks wait for each other.
    fn run_case(&self, case: &Case, ticks: u64, bounds: &[u64]) -> Option<TrialResult> {
        let one_by_one = self.run_resident(case, Some(1), ticks, bounds)?;
        let deadlock = matches!(&one_by_one.end, End::Fault(fault) if fault.site.is_none());
        if deadlock { self.run_resident(case, None, ticks, bounds) } else { Some(one_by_one) }
    }

    fn run_resident(&self, case: &Case, resident: Option<u32>, ticks: u64, bounds: &[u64]) -> Option<TrialResult> {
        let options = RunOptions { checks: Checks::NONE, memory_limit: MemoryLimit(u64::MAX), resident, ..RunOptions::unwatched() };
        let fault_context = FaultContext::new(self.program, case.launches.first()?, &case.buffers, 0);
        let mut addresses = Vec::new();
        let job = Job { program: self.program, case, options: &options, instrumentation: Instrumentation::Nothing };
        let device = Device::new(Arc::clone(self.program));
        let mut machine = match job.prepare(&fault_context, device, Tick::START, &mut addresses).ok()? {
            Ok(machine) => machine,
            Err(refused) => {
                return Some(TrialResult {
                    end: End::Fault(refused.fault),
                    ticks: 0,
                    reached: Vec::new(),
                    accessed: Vec::new(),
                    shared: 0,
                    block_finished: false,
                });
            }
        };
        let ranges: Vec<(u64, u64)> =
            addresses.iter().zip(&case.buffers).map(|(start, buffer)| (*start, start.saturating_add(buffer.bytes))).collect();
        let none = vec![0; ranges.len()];
        let mut reach =
            ReachObserver { reached: none.clone(), accessed: none, ranges, bounds, last: 0, shared: 0, is_out_of_bounds: false };
        let end = run(&mut machine, &fault_context, &mut reach, ticks);
        let block_finished = machine.blocks_started() > machine.resident_blocks().count() as u64;
        Some(TrialResult {
            end,
            ticks: machine.tick().0,
            reached: reach.reached,
            accessed: reach.accessed,
            shared: reach.shared,
            block_finished,
        })
    }

    /// `guess` with as much memory as the kernel accessed, and more if the run was cut off.
    fn measured(&self, mut guess: Guess, result: &TrialResult, cut_off: bool) -> Guess {
        let function = &self.program.functions[self.kernel.index()];
        if self.study.measures_shared() && (!cut_off || result.block_finished) {
            let fixed = map::SHARED_RESERVED + u64::from(function.shared_bytes);
            guess.dynamic_shared = result.shared.saturating_sub(fixed).next_multiple_of(16) as u32;
        }
        let made = self.study.launch(&guess).content;
        let launch::Content::Launch(made) = &made else { return guess };
        let defined = made.params.iter().enumerate().filter_map(|(index, param)| Some((index, param, param.buffer()?)));
        let lens: Vec<(usize, u64)> = defined
            .zip(result.reached.iter().zip(&result.accessed))
            .filter(|((_, param, _), _)| matches!(param, launch::file::Param::Buffer(_)))
            .map(|((index, _, buffer), (reached, accessed))| {
                // A counter that loses updates shows less of a list than one that does not.
                let needed = if self.study.is_appended(index) { reached.max(accessed) } else { reached };
                let reached = needed.div_ceil(u64::from(buffer.elem.bytes()));
                let least = buffer.len.unwrap_or(1);
                (
                    index,
                    if cut_off {
                        rounded(reached * CUT_OFF_FACTOR, guess.size).clamp(least, LEN_MAX.max(least))
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

/// `reached` elements, rounded up to a row or a square of `size` if that is not much more.
fn rounded(reached: u64, size: u64) -> u64 {
    let natural = [size, size * size].into_iter().find(|len| (reached..=reached * NATURAL_FACTOR).contains(len));
    natural.unwrap_or_else(|| reached.next_multiple_of(LEN_MULTIPLE))
}

/// The grid whose blocks together cover `bytes` bytes in rows of `row` bytes. One block covers `one` bytes; each entry of `steps` has the
/// bytes that a second block adds along an axis.
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
        // One axis covers the columns of a matrix, the other its rows.
        [(columns, across), (rows, down)] => {
            let (within, whole) = (one.saturating_sub(1) % row + 1, one.next_multiple_of(row));
            put(across, 1 + (row - within).div_ceil(columns))?;
            put(down, 1 + bytes.saturating_sub(whole).div_ceil(rows))?;
        }
        _ => return None,
    }
    Some(grid)
}

/// Enlarges a buffer to `size` bytes; its initial contents stay. A data file that is large or cannot be read keeps its size.
fn enlarge(buffer: &mut PlannedBuffer, size: u64) {
    if buffer.variable.is_some() {
        return;
    }
    let mut bytes = Vec::new();
    match buffer.contents {
        Contents::File(_) if buffer.bytes > DRY_RUN_BYTES => return,
        Contents::Generated(..) | Contents::File(_) | Contents::Bytes(_) => {
            let filled = buffer.contents.fill(buffer.bytes, &mut |_, chunk: &[u8]| -> Result<(), launch::DataError> {
                bytes.extend_from_slice(chunk);
                Ok(())
            });
            if filled.is_err() {
                return;
            }
            buffer.contents = Contents::Bytes(bytes);
        }
        Contents::Byte(_) | Contents::Uninit | Contents::Pages(_) => {}
    }
    buffer.bytes = size.max(buffer.bytes);
}

fn run(machine: &mut Machine, fault_context: &FaultContext<'_>, reach: &mut ReachObserver<'_>, ticks: u64) -> End {
    let fault = match machine.run(ticks, reach) {
        Step::Done => return End::Done,
        Step::Budget | Step::Paused | Step::OverLimit(_) => return End::Budget,
        Step::Trapped(trap) => fault_context.trap(&trap, machine),
        Step::Deadlock(deadlock) => fault_context.deadlock(&deadlock, machine),
        Step::Livelocked(deadlock) => fault_context.livelock(&deadlock, machine),
    };
    if fault.id == UNSUPPORTED { End::Done } else { End::Fault(Box::new(fault)) }
}
