//! Guesses size parameters from the arrays that the user gave: the extents with which a kernel accesses these arrays up to their ends
//! and not beyond.

use std::collections::BTreeMap;

use super::{End, TrialResult, Trials};
use crate::launch::{Guess, ONE_OF_SEVERAL};

/// Most assignments of extents to parameters that are result.
const ASSIGNMENTS_MAX: usize = 256;
/// Most warp-instructions of one run, and of all.
const TICKS: u64 = 200_000;
const TICKS_IN_ALL: u64 = 2_000_000;

/// How far a run accesses the given arrays, the best first: of two that cover all of them, the shorter run does no work twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    /// All up to their ends, in this many warp-instructions.
    Complete(u64),
    /// Not beyond their ends; the run was cut off.
    CutOff,
}

impl Trials<'_> {
    /// `guess` with the extents that fit the given arrays; unchanged if there are no arrays or no extents fit.
    pub(super) fn with_extents(&mut self, guess: Guess) -> Guess {
        let known = self.study.known();
        let all = [known.extents.as_slice(), known.totals.as_slice()].concat();
        let found = self.search(&guess, &known.extents);
        let found = found.or_else(|| if known.totals.is_empty() { None } else { self.search(&guess, &all) });
        found.unwrap_or(guess)
    }

    /// `guess` with the best assignment of `extents` to its free parameters.
    fn search(&mut self, guess: &Guess, extents: &[u64]) -> Option<Guess> {
        let free = self.study.free_extents();
        let count = u32::try_from(free.len()).ok().and_then(|free| extents.len().checked_pow(free));
        let count = count.filter(|count| *count <= ASSIGNMENTS_MAX && !free.is_empty() && !extents.is_empty())?;
        let end = self.ticks + TICKS_IN_ALL;
        let mut fits = Vec::new();
        for number in 0..count {
            let candidate = Guess { extents: assignment(number, &free, extents), ..guess.clone() };
            fits.extend(self.fit(&candidate).map(|fit| (fit, candidate)));
            if self.ticks >= end {
                return None;
            }
        }
        let is_complete = |fit: &Fit| matches!(fit, Fit::Complete(_));
        let is_sole = fits.iter().filter(|(fit, _)| is_complete(fit)).count() <= 1;
        let best = fits.iter().map(|(fit, _)| *fit).min()?;
        let mut found: Vec<Guess> = fits.into_iter().filter(|(fit, _)| *fit == best).map(|(_, guess)| guess).collect();
        let why = if found.len() > 1 || !is_sole { ONE_OF_SEVERAL } else { "with it the arrays fit" };
        let mut first = found.swap_remove(0);
        first.extents.values_mut().for_each(|extent| extent.1 = why);
        Some(first)
    }

    /// How far a run of `guess`, on the grid that writes the whole output, accesses the given arrays; none if it goes beyond one of them.
    fn fit(&mut self, guess: &Guess) -> Option<Fit> {
        let (_, plan) = self.planned(guess)?;
        let is_given = |name: &str| {
            let params = self.study.known().params.values();
            params.filter_map(|param| param.buffer()).any(|buffer| buffer.name == name)
        };
        let bound = |given: bool, bytes: u64| if given { bytes } else { u64::MAX };
        let bounds: Vec<u64> = plan.cases.first()?.buffers.iter().map(|buffer| bound(is_given(&buffer.name), buffer.bytes)).collect();
        let grid = self.covering(guess, TICKS, &bounds).map_or(guess.grid, |covering| covering.0);
        let result = self.run_within(&Guess { grid, ..guess.clone() }, TICKS, &bounds)?;
        self.ticks += result.ticks;
        fit_of(&result, &bounds)
    }
}

/// Assignment number `number` of `extents` to the parameters `free`: the last parameter varies fastest.
fn assignment(number: usize, free: &[usize], extents: &[u64]) -> BTreeMap<usize, (u64, &'static str)> {
    let digit = |position: usize| number / extents.len().pow((free.len() - 1 - position) as u32) % extents.len();
    free.iter().enumerate().map(|(position, index)| (*index, (extents[digit(position)], ""))).collect()
}

/// How far a run accessed arrays of `bounds` bytes; `u64::MAX` marks an array of any size.
fn fit_of(result: &TrialResult, bounds: &[u64]) -> Option<Fit> {
    let mut given = result.reached.iter().zip(bounds).filter(|(_, bound)| **bound < u64::MAX);
    if given.clone().any(|(reached, bound)| reached > bound) {
        return None;
    }
    match result.end {
        End::Fault(_) => None,
        End::Done => given.all(|(reached, bound)| reached == bound).then_some(Fit::Complete(result.ticks)),
        End::Budget => Some(Fit::CutOff),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_gets_every_extent() {
        let of = |number| assignment(number, &[3, 5], &[40, 56]).values().map(|(extent, _)| *extent).collect::<Vec<_>>();
        assert_eq!([0, 1, 2, 3].map(of), [vec![40, 40], vec![40, 56], vec![56, 40], vec![56, 56]]);
    }

    #[test]
    fn an_array_is_used_to_its_end_and_not_beyond() {
        let result = |end, reached: &[u64]| {
            let (reached, accessed) = (reached.to_vec(), reached.to_vec());
            TrialResult { end, ticks: 1, reached, accessed, shared: 0, block_finished: true }
        };
        let bounds = [16, u64::MAX, 8];
        assert_eq!(fit_of(&result(End::Done, &[16, 99, 8]), &bounds), Some(Fit::Complete(1)));
        assert_eq!(fit_of(&result(End::Done, &[12, 99, 8]), &bounds), None);
        assert_eq!(fit_of(&result(End::Budget, &[12, 99, 8]), &bounds), Some(Fit::CutOff));
        assert_eq!(fit_of(&result(End::Budget, &[20, 99, 8]), &bounds), None);
    }
}
