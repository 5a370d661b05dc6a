//! Chooses a block size that fits the tiles in shared memory, and strides with which rows do not overlap, by short runs with checkers.

use std::sync::Arc;

use super::{End, TICKS_IN_ALL, Trials, describe, enlarge, is_shape_fault};
use crate::check::faults::MEMORY_OUT_OF_BOUNDS;
use crate::check::init::catalogue::MEMORY_UNINITIALIZED;
use crate::check::race::catalogue::{RACE_GLOBAL, RACE_SAME_VALUE, RACE_SHARED_RAW, RACE_SHARED_WAR, RACE_SHARED_WAW};
use crate::check::{Checkers, Checks, Finding};
use crate::debug::fault::FaultContext;
use crate::debug::run::{Job, RunOptions};
use crate::isa::Space;
use crate::launch::Guess;
use crate::machine::{Coverage, Device, Instrumentation, LANES, MemoryLimit, Step, Tick};
use crate::program::Pc;

/// Most warp-instructions of one run with checkers, per warp of a block.
const TICKS_CHECKED: u64 = 1_500;

/// Smallest number of warps that this budget is computed for.
const WARPS_MIN: u64 = 4;

/// Most warp-instructions of all runs that try block sizes.
const TICKS_OF_BLOCKS: u64 = 200_000;

/// Most warp-instructions of the run that measures the memory of a block size that fits.
const TICKS_OF_SHAPE: u64 = 200_000;

/// Another block size must execute at least this percentage of the instructions that the first one executed.
const EXECUTED_PERCENT: usize = 90;

/// The findings of one run with checkers.
pub(super) struct CheckedTrial {
    /// A finding that another block size may avoid.
    tile_problem: Option<String>,
    /// A race in shared memory.
    race: Option<String>,
    /// A finding that larger strides may avoid.
    stride_problem: Option<String>,
    /// Number of instructions of the kernel that some lane executed.
    executed: usize,
    ticks: u64,
}

impl Trials<'_> {
    /// `guess`, with a block size that fits the tiles in shared memory and strides with which rows do not overlap.
    pub(super) fn fitting(&mut self, guess: Guess) -> Guess {
        let Some(checked) = self.study.may_misfit().then(|| self.run_checked(&guess)).flatten() else { return guess };
        let guess = if self.study.has_free_block() { self.with_fitting_block(guess, &checked) } else { guess };
        let Some(problem) = &checked.stride_problem else { return guess };
        for other in self.study.larger(&guess, problem) {
            if self.ticks >= TICKS_IN_ALL {
                break;
            }
            if let Ok(other) = self.try_guess(other)
                && self.run_checked(&other).is_some_and(|checked| checked.stride_problem.is_none())
            {
                return other;
            }
        }
        guess
    }

    /// `guess` if its block writes its tiles completely and stays within them; otherwise with the first block size that does so and
    /// executes about as much of the code. A race may be a mistake of the kernel: block sizes without one are preferred, except blocks
    /// of a single warp, which cannot have one.
    fn with_fitting_block(&mut self, guess: Guess, checked: &CheckedTrial) -> Guess {
        let Some(problem) = checked.tile_problem.as_ref().or(checked.race.as_ref()) else {
            // Static shared arrays have extents that a block fits or not; dynamic shared memory is as large as the launch makes it.
            let has_extents = self.program.functions[self.kernel.index()].shared_bytes > 0;
            return Guess { block_fits: has_extents, ..guess };
        };
        let mut racy = checked.tile_problem.is_none().then(|| guess.clone());
        let mut ticks = 0;
        for other in self.study.other_block_shapes(&guess, problem) {
            if ticks >= TICKS_OF_BLOCKS || racy.is_some() && warps(&other) == 1 {
                continue;
            }
            let Some(other_checked) = self.run_checked(&other) else { continue };
            ticks += other_checked.ticks;
            if other_checked.tile_problem.is_some() || other_checked.executed * 100 < checked.executed * EXECUTED_PERCENT {
                continue;
            }
            match (&other_checked.race, self.with_measured_memory(other)) {
                (None, Some(other)) => return Guess { block_fits: true, ..other },
                (Some(_), Some(other)) => drop(racy.get_or_insert(other)),
                (_, None) => {}
            }
        }
        racy.map_or(guess, |racy| Guess { block_fits: true, ..racy })
    }

    /// `guess` with as much memory as it accesses; none if it ends with a fault.
    fn with_measured_memory(&mut self, guess: Guess) -> Option<Guess> {
        let tried = self.run_within(&guess, TICKS_OF_SHAPE, &[])?;
        let cut_off = match tried.end {
            End::Done => false,
            End::Budget => true,
            End::Fault(_) => return None,
        };
        Some(self.measured(guess, &tried, cut_off))
    }

    /// Runs the first blocks of `guess` with checkers; the buffers are larger than needed.
    fn run_checked(&mut self, guess: &Guess) -> Option<CheckedTrial> {
        let (_, mut plan) = self.planned(guess)?;
        let case = plan.cases.first_mut()?;
        case.buffers.iter_mut().for_each(|buffer| enlarge(buffer, self.dry_run_bytes()));
        let options = RunOptions { memory_limit: MemoryLimit(u64::MAX), resident: Some(1), ..RunOptions::unwatched() };
        let fault_context = FaultContext::new(self.program, case.launches.first()?, &case.buffers, 0);
        let job = Job { program: self.program, case, options: &options, instrumentation: Instrumentation::Runs };
        let mut machine = job.prepare(&fault_context, Device::new(Arc::clone(self.program)), Tick::START, &mut Vec::new()).ok()?.ok()?;
        let mut checkers = Checkers::new(self.program, Checks::ALL);
        checkers.begin(0, &machine.launch_start());
        let ticks = TICKS_CHECKED * warps(guess).max(WARPS_MIN);
        let mut step = machine.run(ticks, &mut checkers);
        while matches!(step, Step::Paused) && machine.tick().0 < ticks {
            step = machine.run(ticks - machine.tick().0, &mut checkers);
        }
        // A read of uninitialized memory becomes a finding only when the value is used.
        checkers.end(&machine.launch_end(), None);
        self.ticks += machine.tick().0;
        let trapped = match &step {
            Step::Trapped(trap) => Some(fault_context.trap(trap, &machine)).filter(is_shape_fault).map(|fault| describe(&fault)),
            _ => None,
        };
        let tally = machine.coverage().map(Coverage::tally);
        let code = &self.program.functions[self.kernel.index()].code;
        let executed = code.clone().map(Pc).filter(|pc| tally.as_ref().is_some_and(|tally| tally.lanes(*pc) > 0)).count();
        Some(CheckedTrial {
            tile_problem: trapped.or_else(|| self.first_finding(&checkers, is_tile_problem)),
            race: self.first_finding(&checkers, |finding| {
                [RACE_SHARED_RAW, RACE_SHARED_WAR, RACE_SHARED_WAW, RACE_SAME_VALUE].contains(&finding.id) && is_shared(finding)
            }),
            stride_problem: self
                .first_finding(&checkers, |finding| [RACE_GLOBAL, RACE_SAME_VALUE].contains(&finding.id) && !is_shared(finding)),
            executed,
            ticks: machine.tick().0,
        })
    }

    /// The first finding that `is_of_kind` accepts, in words: `there is race.global at a.ptx:12`.
    fn first_finding(&self, checkers: &Checkers, is_of_kind: impl Fn(&Finding) -> bool) -> Option<String> {
        // Reads of uninitialized memory count here at once: the run may end before the value is used.
        let found = checkers.findings().list().iter().chain(checkers.reads_of_unwritten()).find(|finding| is_of_kind(finding))?;
        Some(format!("there is {} at {}", found.id.word(), self.program.place(found.second.point.pc)))
    }
}

/// Number of warps of a block.
fn warps(guess: &Guess) -> u64 {
    guess.block.iter().map(|extent| u64::from(*extent)).product::<u64>().div_ceil(LANES as u64)
}

fn is_shared(finding: &Finding) -> bool {
    finding.memory.is_some_and(|memory| matches!(memory.space, Space::Shared | Space::SharedCluster))
}

/// True if the finding can be caused by a block that is smaller or larger than the tiles in shared memory.
fn is_tile_problem(finding: &Finding) -> bool {
    is_shared(finding) && [MEMORY_UNINITIALIZED, MEMORY_OUT_OF_BOUNDS].contains(&finding.id)
}
