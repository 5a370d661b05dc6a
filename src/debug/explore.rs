//! Running a case under many orders: seeds of the schedule and of the ends of asynchronous copies.
//!
//! What the ISA leaves open must not show: a case whose outcome depends on the seed has a race, or misses a wait. Outcomes are
//! compared as a whole: how the case ended, and every byte of its buffers.

use std::sync::Arc;

use super::run::{CaseRun, RunError, RunOptions, run_case};
use super::session::{InterruptCheck, Session};
use crate::check::Checks;
use crate::debug::value::element_text;
use crate::launch::{Case, PlannedBuffer};
use crate::machine::{CompletionPolicyKind, DivergencePolicy, Schedule};

/// Warp-instructions that a launch may take, in multiples of what was recorded so far, before it counts as one that hangs.
const HANG_FACTOR: u64 = 64;

/// The same at least.
const STEPS: u64 = 1 << 24;

/// What the seeds led to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explored {
    /// The outcomes, that of the run with the session's own options first.
    pub outcomes: Vec<Outcome>,
    /// Seeds that were tried.
    pub tried: u64,
    /// The user interrupted it.
    pub interrupted: bool,
    /// What the session was given besides the order; a replay must be given the same.
    divergence: Option<DivergencePolicy>,
    resident: Option<u32>,
}

/// An outcome, and the seeds that lead to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// How the case ended.
    pub end: String,
    /// Where the buffers first differ from those of the first outcome.
    pub difference: Option<String>,
    /// The seeds; empty for the session's own order, if no seed led to the same.
    pub seeds: Vec<u64>,
    buffers: Vec<Vec<u8>>,
}

impl Session {
    /// Runs the case from the beginning with the seeds 1 to `count`.
    ///
    /// # Errors
    /// Reasons outside the kernel.
    pub fn explore(&mut self, count: u64, interrupt: &mut dyn InterruptCheck) -> Result<Explored, RunError> {
        let program = Arc::clone(self.program());
        // The memory at the end of the launches is compared.
        let options = RunOptions { checks: Checks::NONE, ..*self.timeline.options() };
        let limit = options.step_limit.unwrap_or_else(|| self.recorded().0.saturating_mul(HANG_FACTOR).max(STEPS));
        let own = run_case(&program, self.case(), &RunOptions { step_limit: Some(limit), ..options })?;
        let first = outcome(self.case(), &own, None);
        let RunOptions { divergence, resident, .. } = options;
        let mut explored = Explored { outcomes: vec![first], tried: 0, interrupted: false, divergence, resident };
        for seed in 1..=count {
            if !interrupt.should_continue(self) {
                explored.interrupted = true;
                break;
            }
            let order = RunOptions {
                schedule: Schedule::Random,
                seed,
                copies: CompletionPolicyKind::Random(seed),
                step_limit: Some(limit),
                ..options
            };
            let run = run_case(&program, self.case(), &order)?;
            let next = outcome(self.case(), &run, explored.outcomes.first());
            explored.add(seed, next);
        }
        Ok(explored)
    }
}

impl Explored {
    /// The command-line options that replay what `seed` led to: `--schedule random --seed 3 --async random:3`.
    pub fn replay(&self, seed: u64) -> String {
        let divergence = match self.divergence {
            None => "",
            Some(DivergencePolicy::Independent) => " --divergence independent",
            Some(DivergencePolicy::Stack) => " --divergence stack",
        };
        let resident = self.resident.map_or(String::new(), |blocks| format!(" --resident {blocks}"));
        format!("--schedule random --seed {seed} --async random:{seed}{divergence}{resident}")
    }

    fn add(&mut self, seed: u64, outcome: Outcome) {
        self.tried += 1;
        match self.outcomes.iter_mut().find(|known| known.end == outcome.end && known.buffers == outcome.buffers) {
            Some(known) => known.seeds.push(seed),
            None => self.outcomes.push(Outcome { seeds: vec![seed], ..outcome }),
        }
    }
}

fn outcome(case: &Case, run: &CaseRun, first: Option<&Outcome>) -> Outcome {
    let end = match &run.fault {
        None => "finished".to_string(),
        Some(fault) => {
            let site = fault.site.as_ref().or_else(|| fault.waiting.first().map(|waiting| &waiting.site));
            format!("{}{}", fault.id.word(), site.map_or(String::new(), |site| format!(" at {}", site.place)))
        }
    };
    let bytes = |(index, buffer): (usize, &PlannedBuffer)| {
        let mut bytes = vec![0; usize::try_from(buffer.bytes).unwrap_or(0)];
        let address = run.addresses.get(index).copied();
        let read = run.device.as_ref().zip(address).map(|(device, address)| device.read(address, &mut bytes));
        if matches!(read, Some(Ok(()))) { bytes } else { Vec::new() }
    };
    let buffers: Vec<Vec<u8>> = case.buffers.iter().enumerate().map(bytes).collect();
    let difference = first.and_then(|first| difference(case, &first.buffers, &buffers));
    Outcome { end, difference, seeds: Vec::new(), buffers }
}

/// The first element of a buffer that differs: `out[3] is 0x00000007, not 0x00000005`.
fn difference(case: &Case, first: &[Vec<u8>], other: &[Vec<u8>]) -> Option<String> {
    let differs = |(buffer, (a, b)): &(&crate::launch::PlannedBuffer, (&Vec<u8>, &Vec<u8>))| {
        let size = buffer.element.bytes().max(1) as usize;
        a.chunks(size).zip(b.chunks(size)).position(|(a, b)| a != b)
    };
    let mut pairs = case.buffers.iter().zip(first.iter().zip(other));
    pairs.find_map(|pair| {
        let index = differs(&pair)?;
        let (buffer, (a, b)) = pair;
        let size = buffer.element.bytes().max(1) as usize;
        let text = |bytes: &[u8]| {
            bytes.chunks(size).nth(index).map_or(String::new(), |bytes| element_text(buffer.element, buffer.element.read(bytes)))
        };
        Some(format!("{}[{index}] is {}, not {}", buffer.name, text(b), text(a)))
    })
}
