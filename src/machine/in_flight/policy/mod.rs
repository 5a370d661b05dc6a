//! When asynchronous operations end: copies and matrix multiplications.
//!
//! The ISA leaves that open until a thread waits for them, and a *policy* chooses within what it promises. It is asked three questions:
//! when an operation is issued, between two turns of warps, and when a thread waits for the operation. A policy is one file of this folder
//! and a row of [`POLICIES`]; what it draws from is part of the machine, of its snapshots and of its digest.

mod by_hand;
mod eager;
mod lazy;
mod questions;
mod random;

pub use questions::{AtIssue, CompletionPolicy, PolicyRow, WhenAwaited};

/// All policies, in the order in which they are listed: each as a launch has it that draws from a seed. Those that draw from nothing
/// leave the seed.
pub const POLICIES: [fn(u64) -> CompletionPolicyKind; 4] =
    [|_| CompletionPolicyKind::Eager, |_| CompletionPolicyKind::Lazy, CompletionPolicyKind::Random, |_| CompletionPolicyKind::ByHand];

/// The policy of a launch, as launches and saved sessions name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub enum CompletionPolicyKind {
    /// Operations end as they are issued.
    Eager,
    /// They end when a thread waits for them.
    #[default]
    Lazy,
    /// They end at any moment between, drawn from this seed.
    Random(u64),
    /// They end when the user says so; a thread that waits for one waits until then.
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

    /// Its seed, if it draws from one.
    pub fn seed(self) -> Option<u64> {
        match self {
            CompletionPolicyKind::Random(seed) => Some(seed),
            CompletionPolicyKind::Eager | CompletionPolicyKind::Lazy | CompletionPolicyKind::ByHand => None,
        }
    }

    /// Whether nothing is ever in flight.
    pub fn ends_at_issue(self) -> bool {
        self.start().at_issue() == AtIssue::Ends
    }
}

/// When asynchronous copies end: a policy, and the seed that is given for it.
#[derive(Clone, Copy, Debug)]
pub struct CompletionChoice {
    choice: fn(u64) -> CompletionPolicyKind,
    seed: Option<u64>,
}

impl CompletionChoice {
    /// The choice that is typed so: `lazy`, `random:7`.
    ///
    /// # Errors
    /// The possible values, or what is no seed, in one line.
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

    /// The policy of a run, which draws from `seed` unless a seed of its own is given.
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
        let ends: Vec<_> = (0..50).map(|_| policy.between_turns(&|| 5)).collect();
        assert_eq!(ends, (0..50).map(|_| copy.between_turns(&|| 5)).collect::<Vec<_>>());
        assert!(ends.contains(&None) && ends.iter().flatten().all(|place| *place < 5));
        assert_eq!((policy.state(), CompletionPolicyKind::Random(3).start().between_turns(&|| 0)), (copy.state(), None));
    }

    #[test]
    fn only_the_random_policy_counts_what_is_in_flight() {
        for policy in POLICIES.map(|choice| choice(0)).into_iter().filter(|policy| policy.seed().is_none()) {
            assert_eq!(policy.start().between_turns(&|| unreachable!("{policy:?} counts")), None);
        }
    }
}
