//! Numbers that follow from the arrays that are given: the extents for which a kernel uses these arrays to their ends, and no memory
//! beyond.

use std::collections::BTreeMap;

use super::{End, TrialResult, Trials};
use crate::launch::{Guess, ONE_OF_SEVERAL};

/// Ways to give the numbers extents, at most.
const WAYS_MAX: usize = 256;
/// Warp-instructions of one run, and of all.
const TICKS: u64 = 200_000;
const TICKS_IN_ALL: u64 = 2_000_000;

/// How a run uses the arrays, the best first: of two that use all of them, the shorter one does nothing twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    /// All to their ends, in this many warp-instructions.
    Whole(u64),
    /// No memory beyond them, as far as the run was followed.
    Within,
}

impl Trials<'_> {
    /// `guess` with the numbers that follow from the arrays that are given; the same if there are none, or none fit.
    pub(super) fn with_extents(&mut self, guess: Guess) -> Guess {
        let known = self.study.known();
        let all = [known.extents.as_slice(), known.totals.as_slice()].concat();
        let found = self.search(&guess, &known.extents);
        let found = found.or_else(|| if known.totals.is_empty() { None } else { self.search(&guess, &all) });
        found.unwrap_or(guess)
    }

    /// `guess` with the best of the ways to give its free numbers these `extents`.
    fn search(&mut self, guess: &Guess, extents: &[u64]) -> Option<Guess> {
        let free = self.study.free_extents();
        let ways = u32::try_from(free.len()).ok().and_then(|free| extents.len().checked_pow(free));
        let ways = ways.filter(|ways| *ways <= WAYS_MAX && !free.is_empty() && !extents.is_empty())?;
        let end = self.ticks + TICKS_IN_ALL;
        let mut fits = Vec::new();
        for way in 0..ways {
            let tried = Guess { extents: assigned(way, &free, extents), ..guess.clone() };
            fits.extend(self.fit(&tried).map(|fit| (fit, tried)));
            if self.ticks >= end {
                return None;
            }
        }
        let is_whole = |fit: &Fit| matches!(fit, Fit::Whole(_));
        let is_sole = fits.iter().filter(|(fit, _)| is_whole(fit)).count() <= 1;
        let best = fits.iter().map(|(fit, _)| *fit).min()?;
        let mut found: Vec<Guess> = fits.into_iter().filter(|(fit, _)| *fit == best).map(|(_, guess)| guess).collect();
        let why = if found.len() > 1 || !is_sole { ONE_OF_SEVERAL } else { "with it the arrays fit" };
        let mut first = found.swap_remove(0);
        first.extents.values_mut().for_each(|extent| extent.1 = why);
        Some(first)
    }

    /// How a run of `guess` on the grid that writes the whole output uses the arrays that are given; none if it goes beyond one of them.
    fn fit(&mut self, guess: &Guess) -> Option<Fit> {
        let (_, plan) = self.planned(guess)?;
        let is_given = |name: &str| {
            let params = self.study.known().params.values();
            params.filter_map(|param| param.buffer()).any(|buffer| buffer.name == name)
        };
        let most = |given: bool, bytes: u64| if given { bytes } else { u64::MAX };
        let bounds: Vec<u64> = plan.cases.first()?.buffers.iter().map(|buffer| most(is_given(&buffer.name), buffer.bytes)).collect();
        let grid = self.covering(guess, TICKS, &bounds).map_or(guess.grid, |covering| covering.0);
        let tried = self.run_within(&Guess { grid, ..guess.clone() }, TICKS, &bounds)?;
        self.ticks += tried.ticks;
        used(&tried, &bounds)
    }
}

/// The extents that way number `way` gives to the numbers `free`: the last one changes first.
fn assigned(way: usize, free: &[usize], extents: &[u64]) -> BTreeMap<usize, (u64, &'static str)> {
    let digit = |place: usize| way / extents.len().pow((free.len() - 1 - place) as u32) % extents.len();
    free.iter().enumerate().map(|(place, index)| (*index, (extents[digit(place)], ""))).collect()
}

/// How a run used arrays of as many bytes as `bounds` say; `u64::MAX` stands for one that may be of any size.
fn used(tried: &TrialResult, bounds: &[u64]) -> Option<Fit> {
    let mut given = tried.reached.iter().zip(bounds).filter(|(_, bound)| **bound < u64::MAX);
    if given.clone().any(|(reached, bound)| reached > bound) {
        return None;
    }
    match tried.end {
        End::Fault(_) => None,
        End::Done => given.all(|(reached, bound)| reached == bound).then_some(Fit::Whole(tried.ticks)),
        End::Budget => Some(Fit::Within),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_gets_every_extent() {
        let of = |way| assigned(way, &[3, 5], &[40, 56]).values().map(|(extent, _)| *extent).collect::<Vec<_>>();
        assert_eq!([0, 1, 2, 3].map(of), [vec![40, 40], vec![40, 56], vec![56, 40], vec![56, 56]]);
    }

    #[test]
    fn an_array_is_used_to_its_end_and_not_beyond() {
        let tried = |end, reached: &[u64]| TrialResult { end, ticks: 1, reached: reached.to_vec(), shared: 0, whole_block: true };
        let bounds = [16, u64::MAX, 8];
        assert_eq!(used(&tried(End::Done, &[16, 99, 8]), &bounds), Some(Fit::Whole(1)));
        assert_eq!(used(&tried(End::Done, &[12, 99, 8]), &bounds), None);
        assert_eq!(used(&tried(End::Budget, &[12, 99, 8]), &bounds), Some(Fit::Within));
        assert_eq!(used(&tried(End::Budget, &[20, 99, 8]), &bounds), None);
    }
}
