//! Completion policies, which choose when asynchronous operations end: copies and matrix multiplications.
//!
//! The ISA guarantees completion only when a thread waits for an operation; before that, a *policy* chooses. It is queried at three times:
//! at issue, between two time slices, and when a thread waits for the operation. A policy is one file of this folder and a row of
//! [`POLICIES`]; its random numbers are part of the machine, of its snapshots and of its digest.

mod by_hand;
mod eager;
mod lazy;
mod questions;
mod random;

pub use questions::{AtIssue, CompletionPolicy, PolicyRow, WhenAwaited};

/// All policies, in the order in which they are listed, each as a function of the seed. Policies without random numbers ignore the seed.
pub const POLICIES: [fn(u64) -> CompletionPolicyKind; 4] =
    [|_| CompletionPolicyKind::Eager, |_| CompletionPolicyKind::Lazy, CompletionPolicyKind::Random, |_| CompletionPolicyKind::ByHand];

/// The policy of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub enum CompletionPolicyKind {
    /// Operations end at issue.
    Eager,
    /// Operations end when a thread waits for them.
    #[default]
    Lazy,
    /// Operations end at a random time between issue and wait, drawn from this seed.
    Random(u64),
    /// Operations end by a command of the user; a thread that waits for one waits until then.
    ByHand,
}

impl CompletionPolicyKind {
    /// The policy at the start of a launch.
    pub fn start(self) -> Box<dyn CompletionPolicy> {
        match self {
            CompletionPolicyKind::Eager => Box::new(eager::Eager),
            CompletionPolicyKind::Lazy => Box::new(lazy::Lazy),
            CompletionPolicyKind::Random(seed) => Box::new(random::RandomEnds::new(seed)),
            CompletionPolicyKind::ByHand => Box::new(by_hand::ByHand),
        }
    }

    /// Its row of the table of policies.
    pub fn row(self) -> &'static PolicyRow {
        match self {
            CompletionPolicyKind::Eager => &eager::ROW,
            CompletionPolicyKind::Lazy => &lazy::ROW,
            CompletionPolicyKind::Random(_) => &random::ROW,
            CompletionPolicyKind::ByHand => &by_hand::ROW,
        }
    }

    /// Its seed, if it has one.
    pub fn seed(self) -> Option<u64> {
        match self {
            CompletionPolicyKind::Random(seed) => Some(seed),
            CompletionPolicyKind::Eager | CompletionPolicyKind::Lazy | CompletionPolicyKind::ByHand => None,
        }
    }

    /// True if operations end at issue.
    pub fn ends_at_issue(self) -> bool {
        self.start().at_issue() == AtIssue::Ends
    }
}

/// A policy with an optional seed, as the user writes it.
#[derive(Clone, Copy, Debug)]
pub struct CompletionChoice {
    choice: fn(u64) -> CompletionPolicyKind,
    seed: Option<u64>,
}

impl CompletionChoice {
    /// Parses a policy with an optional seed: `lazy`, `random:7`.
    ///
    /// # Errors
    /// The possible values, or the invalid seed, in one line.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (name, seed) = text.split_once(':').map_or((text, None), |(name, seed)| (name, Some(seed)));
        let fits = |row: &PolicyRow| row.name == name && (seed.is_none() || row.is_seeded);
        let choice = POLICIES.into_iter().find(|choice| fits(choice(0).row()));
        let choice = choice.ok_or_else(|| {
            let names = POLICIES
                .map(|choice| choice(0).row())
                .map(|row| if row.is_seeded { format!("{0}, {0}:SEED", row.name) } else { row.name.to_string() });
            format!("the policies are {} and {}", names[..names.len() - 1].join(", "), names[names.len() - 1])
        })?;
        let parsed = seed.map(|seed| seed.parse().map_err(|_| format!("'{seed}' is not a seed")));
        Ok(Self { choice, seed: parsed.transpose()? })
    }

    /// The policy of a run, with `seed` unless the user has given another seed.
    pub fn policy(self, seed: u64) -> CompletionPolicyKind {
        (self.choice)(self.seed.unwrap_or(seed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_policy_is_listed_with_its_choice() {
        for policy in POLICIES.map(|choice| choice(7)) {
            let (row, start) = (policy.row(), policy.start());
            assert_eq!((policy.seed(), start.state()), (row.is_seeded.then_some(7), policy.seed().unwrap_or(0)), "{}", row.name);
            let waits = start.when_awaited() == WhenAwaited::WaitsForUser;
            assert_eq!(waits, row.when.is_none(), "{}: the clause is missing where the user ends operations", row.name);
        }
        assert_eq!(CompletionPolicyKind::default().row().note, None);
    }

    #[test]
    fn the_state_of_a_policy_goes_into_its_copies() {
        let mut policy = CompletionPolicyKind::Random(3).start();
        let mut copy = policy.clone();
        let ends: Vec<_> = (0..50).map(|_| policy.between_slices(&|| 5)).collect();
        assert_eq!(ends, (0..50).map(|_| copy.between_slices(&|| 5)).collect::<Vec<_>>());
        assert!(ends.contains(&None) && ends.iter().flatten().all(|place| *place < 5));
        assert_eq!((policy.state(), CompletionPolicyKind::Random(3).start().between_slices(&|| 0)), (copy.state(), None));
    }

    #[test]
    fn only_the_random_policy_counts_what_is_in_flight() {
        for policy in POLICIES.map(|choice| choice(0)).into_iter().filter(|policy| policy.seed().is_none()) {
            assert_eq!(policy.start().between_slices(&|| unreachable!("{policy:?} counts")), None);
        }
    }
}
