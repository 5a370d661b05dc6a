//! Operations end when a thread waits for them, so a missing wait changes results.

use super::questions::{CompletionPolicy, PolicyRow};

/// The policy.
#[derive(Clone, Debug)]
pub struct Lazy;

/// Its row of the table of policies.
pub const ROW: PolicyRow = PolicyRow { name: "lazy", when: Some("when a thread waits for them"), note: None, is_seeded: false };

impl CompletionPolicy for Lazy {
    fn boxed(&self) -> Box<dyn CompletionPolicy> {
        Box::new(self.clone())
    }
}
