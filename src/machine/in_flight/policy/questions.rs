//! The interface of completion policies, and the row that describes one.

/// The treatment of an operation at issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtIssue {
    /// It ends before the next instruction.
    Ends,
    /// It is in flight.
    StaysInFlight,
}

/// The treatment of an operation for which a thread waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenAwaited {
    /// It ends, and the thread continues.
    Ends,
    /// The thread waits until the user ends it.
    WaitsForUser,
}

/// Chooses when asynchronous operations end.
pub trait CompletionPolicy: std::fmt::Debug + Send + Sync {
    /// The treatment of an operation at issue.
    fn at_issue(&self) -> AtIssue {
        AtIssue::StaysInFlight
    }

    /// The operation that completes before the next time slice, if any: its index among the operations in flight. `in_flight` returns their
    /// number, and is called only if the policy needs it.
    fn between_slices(&mut self, _in_flight: &dyn Fn() -> usize) -> Option<usize> {
        None
    }

    /// The treatment of an operation for which a thread waits.
    fn when_awaited(&self) -> WhenAwaited {
        WhenAwaited::Ends
    }

    /// Its state, for a digest; 0 for a policy without state.
    fn state(&self) -> u64 {
        0
    }

    /// A copy, for a snapshot.
    fn boxed(&self) -> Box<dyn CompletionPolicy>;
}

impl Clone for Box<dyn CompletionPolicy> {
    fn clone(&self) -> Self {
        self.as_ref().boxed()
    }
}

/// The name and the description of a policy.
#[derive(Debug)]
pub struct PolicyRow {
    /// Its name.
    pub name: &'static str,
    /// The time at which operations end, as a clause: `as they are issued`; none if the user ends them.
    pub when: Option<&'static str>,
    /// The note on a launch under it; none for the default.
    pub note: Option<&'static str>,
    /// True if it has a seed.
    pub is_seeded: bool,
}
