//! The interface of completion policies, and the row that describes one.

/// Whether an operation ends as it is issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtIssue {
    /// It ends before the next instruction.
    Ends,
    /// It is in flight from now on.
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

/// When asynchronous operations end.
pub trait CompletionPolicy: std::fmt::Debug + Send + Sync {
    /// Whether an operation ends as it is issued.
    fn at_issue(&self) -> AtIssue {
        AtIssue::StaysInFlight
    }

    /// The operation that completes before the next turn of a warp, if one does: its index among as many as `in_flight` counts. The count
    /// is made only for a policy that asks for it.
    fn between_turns(&mut self, _in_flight: &dyn Fn() -> usize) -> Option<usize> {
        None
    }

    /// The treatment of an operation for which a thread waits.
    fn when_awaited(&self) -> WhenAwaited {
        WhenAwaited::Ends
    }

    /// Its state, for a fingerprint; 0 of a policy without any.
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

/// A policy as it is chosen and described.
#[derive(Debug)]
pub struct PolicyRow {
    /// Its name.
    pub name: &'static str,
    /// When operations end, as a clause: `as they are issued`; nothing where the user says when.
    pub when: Option<&'static str>,
    /// The note on a launch under it; none for the default.
    pub note: Option<&'static str>,
    /// Whether it draws from a seed.
    pub is_seeded: bool,
}
