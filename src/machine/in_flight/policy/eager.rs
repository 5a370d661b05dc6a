//! Operations end at issue.

use super::questions::{AtIssue, CompletionPolicy, PolicyRow};

/// The policy.
#[derive(Clone, Debug)]
pub struct Eager;

/// Its row of the table of policies.
pub const ROW: PolicyRow =
    PolicyRow { name: "eager", when: Some("as they are issued"), note: Some("copies that end at once"), is_seeded: false };

impl CompletionPolicy for Eager {
    fn at_issue(&self) -> AtIssue {
        AtIssue::Ends
    }

    fn boxed(&self) -> Box<dyn CompletionPolicy> {
        Box::new(self.clone())
    }
}
