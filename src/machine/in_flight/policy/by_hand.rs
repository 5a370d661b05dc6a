//! Operations end by a command of the user; a thread that waits for one waits until then.

use super::questions::{CompletionPolicy, PolicyRow, WhenAwaited};

/// The policy.
#[derive(Clone, Debug)]
pub struct ByHand;

/// Its row of the table of policies.
pub const ROW: PolicyRow = PolicyRow { name: "by-hand", when: None, note: Some("copies that end by hand"), is_seeded: false };

impl CompletionPolicy for ByHand {
    fn when_awaited(&self) -> WhenAwaited {
        WhenAwaited::WaitsForUser
    }

    fn boxed(&self) -> Box<dyn CompletionPolicy> {
        Box::new(self.clone())
    }
}
