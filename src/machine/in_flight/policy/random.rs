//! Operations end at any moment between their issue and the wait for them, drawn from a seed.

use super::questions::{CompletionPolicy, PolicyRow};
use crate::machine::state::random::Random;

/// An operation ends before one of this many scheduling turns, on average.
const TURNS: u64 = 2;

/// The policy, and what it draws from.
#[derive(Clone, Debug)]
pub struct RandomEnds(Random);

/// Its row of the table of policies.
pub const ROW: PolicyRow =
    PolicyRow { name: "random", when: Some("any moment between"), note: Some("copies that end at random"), is_seeded: true };

impl RandomEnds {
    /// The policy that draws from `seed`.
    pub fn new(seed: u64) -> Self {
        Self(Random::new(seed))
    }
}

impl CompletionPolicy for RandomEnds {
    fn between_turns(&mut self, in_flight: &dyn Fn() -> usize) -> Option<usize> {
        let count = in_flight();
        (count > 0 && self.0.draw(TURNS) == 0).then(|| self.0.draw(count as u64) as usize)
    }

    fn state(&self) -> u64 {
        self.0.state()
    }

    fn boxed(&self) -> Box<dyn CompletionPolicy> {
        Box::new(self.clone())
    }
}
