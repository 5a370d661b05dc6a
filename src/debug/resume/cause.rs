//! The causes for which a run pauses, as machine data. Names and values are looked up only where the session stops: a run backwards
//! pauses often and stops once.

use crate::debug::WatchedAccessText;
use crate::debug::breakpoints::Event;
use crate::debug::eval_context::EvalContext;
use crate::debug::stop::Reason;
use crate::debug::watched_access::WatchedAccess;
use crate::machine::LaneMask;

/// Threads of one warp that may hit a breakpoint.
#[derive(Clone, Copy)]
pub(super) struct Threads {
    pub block: [u32; 3],
    pub warp: u32,
    pub lanes: LaneMask,
}

impl Threads {
    /// The cause for a stop at catchpoint `number`, or of `run-to`.
    pub(super) fn caught(self, number: Option<u32>, event: Event, described: Option<Box<str>>) -> Cause {
        Cause::Caught(Caught { number, event, threads: self, described })
    }
}

/// The cause for which a run pauses.
pub(super) enum Cause {
    /// A watched object was accessed.
    Accessed(WatchedAccess),
    /// A catchpoint, or `run-to`, caught an event.
    Caught(Caught),
    /// A reason that needs no names and values.
    Other(Reason),
}

/// An event at which a catchpoint, or `run-to`, stops.
pub(super) struct Caught {
    /// The catchpoint's number, or none for `run-to`.
    pub number: Option<u32>,
    /// The event.
    pub event: Event,
    /// The threads that it happened to.
    pub threads: Threads,
    /// A description of the event.
    pub described: Option<Box<str>>,
}

impl Cause {
    /// The breakpoint, watchpoint or catchpoint that was hit; none for other causes and for a condition that cannot be evaluated.
    pub(super) fn hit(&self) -> Option<u32> {
        match self {
            Self::Accessed(watched_access) => watched_access.number,
            Self::Caught(caught) => caught.number,
            Self::Other(Reason::BadCondition { .. }) => None,
            Self::Other(reason) => reason.number(),
        }
    }

    /// The cause with names and values as they are in `context`.
    pub fn described(self, context: &EvalContext<'_>) -> Reason {
        match self {
            Self::Accessed(watched_access) => {
                let text = Box::new(WatchedAccessText::new(context, &watched_access));
                Reason::Watchpoint { watched_access, text }
            }
            Self::Caught(Caught { number, event, threads: Threads { block, warp, lanes }, described }) => {
                Reason::Caught { number, event, block, warp, warp_name: context.roles.warp(warp), lanes, described }
            }
            Self::Other(reason) => reason,
        }
    }
}

impl From<Reason> for Cause {
    fn from(reason: Reason) -> Self {
        Self::Other(reason)
    }
}

/// True if a run stops only because the requested step or run is done.
pub(super) fn is_done(causes: &[Cause]) -> bool {
    matches!(causes, [Cause::Other(Reason::Done)])
}
