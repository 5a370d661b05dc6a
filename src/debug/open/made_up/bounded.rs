//! Grid sizes derived from a scalar parameter `n` that the user gave: with `if (i < n)`, blocks past the end access no memory.

use super::{BLOCKS_MAX, End, TICKS_OF_BLOCK, TrialResult, Trials, enlarge};
use crate::launch::{Basis, Element, Guess, Kind, MadeUp, Number};

/// Threads of a warp.
const WARP_THREADS: u64 = 32;

/// Most runs that measure how much memory the blocks access.
const ROUNDS_MAX: usize = 5;

/// An integer parameter that the user gave.
struct GivenNumber {
    name: String,
    number: u64,
}

impl Trials<'_> {
    /// The launch of `guess` on the grid whose last block along each axis is the last one that accesses memory, because a given number
    /// bounds the indices; none if no number does.
    pub(super) fn on_bounded_grid(&mut self, guess: &Guess) -> Option<MadeUp> {
        let study = self.study;
        let is_free = study.known().grid.is_none() && guess.cluster == [1; 3];
        let numbers = if is_free { self.given_numbers() } else { Vec::new() };
        let axes = study.ctaid_axes();
        let (mut bounded, mut why) = (guess.clone(), Vec::new());
        for axis in (0..3).filter(|axis| axes[*axis]) {
            let found = numbers.iter().find_map(|given| {
                let blocks = block_counts(given.number, guess.block, axis);
                let blocks = blocks.into_iter().find(|blocks| self.ends_after(&bounded, axis, *blocks))?;
                Some((blocks, format!("{} = {}", given.name, given.number)))
            });
            if let Some((blocks, number)) = found {
                bounded.grid[axis] = blocks;
                why.push(number);
            }
        }
        if why.is_empty() {
            return None;
        }
        let block = bounded.block;
        let guess = self.with_measured_blocks(bounded)?;
        let fitting = Some(self.fitting(guess)).filter(|fitting| fitting.block == block)?;
        let mut made = study.launch(&fitting);
        let grid = made.reasons.iter_mut().filter(|reason| reason.what == "grid");
        let why = format!("as many blocks as {} asks for", why.join(" and "));
        grid.for_each(|reason| (reason.why, reason.basis) = (why.clone(), Basis::Derived));
        Some(made)
    }

    /// `guess` with as much memory as its first and its last block access; none if this does not converge. A longer array of indices can
    /// lead to further accesses, so the measurement is repeated.
    fn with_measured_blocks(&mut self, mut guess: Guess) -> Option<Guess> {
        let last = guess.grid.map(|blocks| blocks - 1);
        for _ in 0..ROUNDS_MAX {
            let (first, last) = (self.run(&guess)?, self.run_block(&guess, last)?);
            self.ticks += first.ticks + last.ticks;
            let reached = first.reached.iter().zip(&last.reached).map(|(first, last)| *first.max(last)).collect();
            let all = TrialResult { reached, shared: first.shared.max(last.shared), ..last };
            let measured = self.measured(guess.clone(), &all, false);
            if measured == guess {
                return Some(guess);
            }
            guess = measured;
        }
        None
    }

    /// The distinct positive integers among the given parameters.
    fn given_numbers(&self) -> Vec<GivenNumber> {
        let formals = self.study.formals();
        let mut numbers: Vec<GivenNumber> = Vec::new();
        for (index, param) in &self.study.known().params {
            let Some((element, Number::Integer(number))) = param.scalar() else { continue };
            let (Ok(number), Some(formal)) = (u64::try_from(number), formals.get(*index)) else { continue };
            let is_count = Element::kind(element) != Kind::Float && number > 0;
            if is_count && numbers.iter().all(|known| known.number != number) {
                numbers.push(GivenNumber { name: formal.short().to_string(), number });
            }
        }
        numbers
    }

    /// True if the last of `blocks` blocks along `axis` accesses memory and the block after it would access none.
    fn ends_after(&mut self, guess: &Guess, axis: usize, blocks: u32) -> bool {
        let mut grid = guess.grid;
        grid[axis] = blocks + 1;
        let guess = Guess { grid, ..guess.clone() };
        let mut reaches = |at: u32| {
            let mut block = [0; 3];
            block[axis] = at;
            let result = self.run_block(&guess, block)?;
            self.ticks += result.ticks;
            Some(result.reached.iter().any(|bytes| *bytes > 0))
        };
        reaches(blocks) == Some(false) && reaches(blocks - 1) == Some(true)
    }

    /// Runs one block of `guess` to its end; none if it does not finish.
    fn run_block(&self, guess: &Guess, block: [u32; 3]) -> Option<TrialResult> {
        let (_, mut plan) = self.planned(guess)?;
        let case = plan.cases.first_mut()?;
        case.buffers.iter_mut().for_each(|buffer| enlarge(buffer, self.dry_run_bytes()));
        case.launches.first_mut()?.blocks = vec![block];
        self.run_case(case, TICKS_OF_BLOCK, &[]).filter(|result| matches!(result.end, End::Done))
    }
}

/// Candidate block counts for `number` elements: one thread, one warp or one block per element.
fn block_counts(number: u64, block: [u32; 3], axis: usize) -> Vec<u32> {
    let threads = u64::from(block[axis].max(1));
    let all = [number.div_ceil(threads), number.div_ceil((threads / WARP_THREADS).max(1)), number];
    let mut blocks: Vec<u32> = all.into_iter().filter_map(|blocks| u32::try_from(blocks).ok()).collect();
    blocks.retain(|blocks| (1..BLOCKS_MAX).contains(blocks));
    blocks.dedup();
    blocks
}
