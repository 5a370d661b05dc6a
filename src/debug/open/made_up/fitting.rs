//! Blocks that fit the tiles in shared memory, and strides at which no rows overlap: checkers watch short runs.

use std::sync::Arc;

use super::{End, TICKS_IN_ALL, Trials, describe, of_shape, with_room};
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

/// Warp-instructions of one run that checkers watch, for each warp of a block, and of all that try blocks.
const TICKS_CHECKED: u64 = 1_500;
const WARPS_MIN: u64 = 4;
const TICKS_OF_BLOCKS: u64 = 200_000;
/// Warp-instructions of the run that shows what memory a block reaches that fits.
const TICKS_OF_SHAPE: u64 = 200_000;
/// Of the instructions that one block has executed, how many of a hundred another one must.
const EXECUTED_AS_WELL: usize = 90;

/// What checkers find in a run.
pub(super) struct CheckedTrial {
    /// What another block may avoid.
    of_block: Option<String>,
    /// A race in shared memory.
    of_race: Option<String>,
    /// What larger strides may avoid.
    of_strides: Option<String>,
    /// Instructions of the kernel that some lane executed.
    executed: usize,
    ticks: u64,
}

impl Trials<'_> {
    /// `guess`, or another one with a block that fits the tiles in shared memory, and with strides at which no rows overlap.
    pub(super) fn fitting(&mut self, guess: Guess) -> Guess {
        let Some(checked) = self.study.may_misfit().then(|| self.run_checked(&guess)).flatten() else { return guess };
        let guess = if self.study.has_free_block() { self.with_fitting_block(guess, &checked) } else { guess };
        let Some(doubt) = &checked.of_strides else { return guess };
        for other in self.study.larger(&guess, doubt) {
            if self.ticks >= TICKS_IN_ALL {
                break;
            }
            if let Ok(other) = self.try_guess(other)
                && self.run_checked(&other).is_some_and(|checked| checked.of_strides.is_none())
            {
                return other;
            }
        }
        guess
    }

    /// `guess` if its block leaves no part of a tile unwritten and goes beyond none, or with the first block that does so and executes no
    /// less of the code. A race may be the kernel's own: blocks without one are preferred, but not those that can have none.
    fn with_fitting_block(&mut self, guess: Guess, checked: &CheckedTrial) -> Guess {
        let Some(doubt) = checked.of_block.as_ref().or(checked.of_race.as_ref()) else {
            // The extents of arrays decide what fits them; dynamic shared memory has those that the launch gives it.
            let has_extents = self.program.functions[self.kernel.index()].shared_bytes > 0;
            return Guess { block_fits: has_extents, ..guess };
        };
        let mut racy = checked.of_block.is_none().then(|| guess.clone());
        let mut ticks = 0;
        for other in self.study.other_block_shapes(&guess, doubt) {
            if ticks >= TICKS_OF_BLOCKS || racy.is_some() && warps(&other) == 1 {
                continue;
            }
            let Some(tried) = self.run_checked(&other) else { continue };
            ticks += tried.ticks;
            if tried.of_block.is_some() || tried.executed * 100 < checked.executed * EXECUTED_AS_WELL {
                continue;
            }
            match (&tried.of_race, self.with_room_reached(other)) {
                (None, Some(other)) => return Guess { block_fits: true, ..other },
                (Some(_), Some(other)) => drop(racy.get_or_insert(other)),
                (_, None) => {}
            }
        }
        racy.map_or(guess, |racy| Guess { block_fits: true, ..racy })
    }

    /// `guess` with as much memory as it reaches; none if it ends with a fault.
    fn with_room_reached(&mut self, guess: Guess) -> Option<Guess> {
        let tried = self.run_within(&guess, TICKS_OF_SHAPE, &[])?;
        let cut_off = match tried.end {
            End::Done => false,
            End::Budget => true,
            End::Fault(_) => return None,
        };
        Some(self.measured(guess, &tried, cut_off))
    }

    /// What the checkers find in a run of the first blocks of `guess`, whose buffers have more room than they need.
    fn run_checked(&mut self, guess: &Guess) -> Option<CheckedTrial> {
        let (_, mut plan) = self.planned(guess)?;
        let case = plan.cases.first_mut()?;
        case.buffers.iter_mut().for_each(|buffer| with_room(buffer, self.room()));
        let options = RunOptions { memory_limit: MemoryLimit(u64::MAX), resident: Some(1), ..RunOptions::unwatched() };
        let fault_context = FaultContext { program: self.program, launch: case.launches.first()?, buffers: &case.buffers, index: 0 };
        let job = Job { program: self.program, case, options: &options, instrumentation: Instrumentation::Runs };
        let mut machine = job.prepare(&fault_context, Device::new(Arc::clone(self.program)), Tick::START, &mut Vec::new()).ok()?.ok()?;
        let mut checkers = Checkers::new(self.program, Checks::ALL);
        checkers.begin(0, &machine.launch_start());
        let ticks = TICKS_CHECKED * warps(guess).max(WARPS_MIN);
        let mut step = machine.run(ticks, &mut checkers);
        while matches!(step, Step::Paused) && machine.tick().0 < ticks {
            step = machine.run(ticks - machine.tick().0, &mut checkers);
        }
        // Reads of what nothing has written are findings only when their values are used.
        checkers.end(&machine.launch_end(), None);
        self.ticks += machine.tick().0;
        let trapped = match &step {
            Step::Trapped(trap) => Some(fault_context.trap(trap, &machine)).filter(of_shape).map(|fault| describe(&fault)),
            _ => None,
        };
        let tally = machine.coverage().map(Coverage::tally);
        let code = &self.program.functions[self.kernel.index()].code;
        let executed = code.clone().map(Pc).filter(|pc| tally.as_ref().is_some_and(|tally| tally.lanes(*pc) > 0)).count();
        Some(CheckedTrial {
            of_block: trapped.or_else(|| self.doubt(&checkers, is_of_block)),
            of_race: self.doubt(&checkers, |finding| {
                [RACE_SHARED_RAW, RACE_SHARED_WAR, RACE_SHARED_WAW, RACE_SAME_VALUE].contains(&finding.id) && is_shared(finding)
            }),
            of_strides: self.doubt(&checkers, |finding| [RACE_GLOBAL, RACE_SAME_VALUE].contains(&finding.id) && !is_shared(finding)),
            executed,
            ticks: machine.tick().0,
        })
    }

    /// The first finding that is of a kind: `there is race.global at a.ptx:12`.
    fn doubt(&self, checkers: &Checkers, is_of_kind: impl Fn(&Finding) -> bool) -> Option<String> {
        // What is read before it is written counts here though the run may end before the value is used.
        let found = checkers.findings().list().iter().chain(checkers.reads_of_unwritten()).find(|finding| is_of_kind(finding))?;
        Some(format!("there is {} at {}", found.id.word(), self.program.place(found.second.place.pc)))
    }
}

/// Warps of a block.
fn warps(guess: &Guess) -> u64 {
    guess.block.iter().map(|extent| u64::from(*extent)).product::<u64>().div_ceil(LANES as u64)
}

fn is_shared(finding: &Finding) -> bool {
    finding.memory.is_some_and(|memory| matches!(memory.space, Space::Shared | Space::SharedCluster))
}

/// Whether a finding is one that a block causes which is smaller or larger than the tiles in shared memory.
fn is_of_block(finding: &Finding) -> bool {
    is_shared(finding) && [MEMORY_UNINITIALIZED, MEMORY_OUT_OF_BOUNDS].contains(&finding.id)
}
