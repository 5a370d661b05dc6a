//! How much is done for one test.

use std::cell::Cell;
use std::fmt;

/// Candidate executions, and orders of writes and fences in them, that are tried.
const STEPS_MAX: u64 = 1 << 19;

/// Why a test is not judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TooLarge {
    /// An execution has too many events.
    Events,
    /// A thread has too many paths through its branches.
    Paths,
    /// A value is made of too many others.
    Values,
    /// Arrivals at barriers can meet in too many ways.
    Meetings,
    /// There are too many candidate executions.
    Executions,
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Events => "an execution has more than 64 events: shorten it, or say --rounds 1",
            Self::Paths => {
                "a thread has more than 4096 paths through its branches, or more than 256 branches in one: shorten it, or say --rounds 1"
            }
            Self::Values => "a value is computed from more than 4096 others: compute less from what is read",
            Self::Meetings => "arrivals at its barriers can meet in more than 4096 ways: give barriers different numbers, or fewer threads",
            Self::Executions => {
                "more than 524,288 candidate executions would have to be tried: take accesses or threads away, or say --rounds 1"
            }
        })
    }
}

/// What was tried so far.
#[derive(Debug, Default)]
pub struct Effort(Cell<u64>);

impl Effort {
    /// Tries one more.
    ///
    /// # Errors
    /// That is one too many.
    pub fn spend(&self) -> Result<(), TooLarge> {
        self.0.set(self.0.get() + 1);
        if self.0.get() > STEPS_MAX { Err(TooLarge::Executions) } else { Ok(()) }
    }
}
