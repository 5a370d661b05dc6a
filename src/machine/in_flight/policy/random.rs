//! Operations end at a random time between their issue and the wait for them.

use super::questions::{CompletionPolicy, PolicyRow};
use crate::base::Random;

/// An operation ends before one of this many time slices, on average.
const SLICES: u64 = 2;

/// The policy, with its random numbers.
#[derive(Clone, Debug)]
pub struct RandomEnds(Random);

/// Its row of the table of policies.
pub const ROW: PolicyRow =
    PolicyRow { name: "random", when: Some("any moment between"), note: Some("copies that end at random"), is_seeded: true };

impl RandomEnds {
    /// The policy with random numbers from `seed`.
    pub fn new(seed: u64) -> Self {
        Self(Random::new(seed))
    }
}

impl CompletionPolicy for RandomEnds {
    fn between_slices(&mut self, in_flight: &dyn Fn() -> usize) -> Option<usize> {
        let count = in_flight();
        (count > 0 && self.0.draw(SLICES) == 0).then(|| self.0.draw(count as u64) as usize)
    }

    fn state(&self) -> u64 {
        self.0.state()
    }

    fn boxed(&self) -> Box<dyn CompletionPolicy> {
        Box::new(self.clone())
    }
}
