//! Why a run pauses, in terms of the machine. Names and values are looked up only where the session stops: a run back decides on many
//! pauses and stops at one.

use crate::debug::WatchedAccessText;
use crate::debug::breakpoints::Event;
use crate::debug::scene::Scene;
use crate::debug::stop::Reason;
use crate::debug::watched_access::WatchedAccess;
use crate::machine::LaneMask;

/// Threads of one warp that a breakpoint may be hit by.
#[derive(Clone, Copy)]
pub(super) struct Threads {
    pub block: [u32; 3],
    pub warp: u32,
    pub lanes: LaneMask,
}

impl Threads {
    /// The cause that catchpoint `number`, or `run-to`, gives.
    pub(super) fn caught(self, number: Option<u32>, event: Event, described: Option<Box<str>>) -> Cause {
        Cause::Caught(Caught { number, event, threads: self, described })
    }
}

/// Why a run pauses.
pub(super) enum Cause {
    /// A watched place was touched.
    Accessed(WatchedAccess),
    /// Something caught.
    Caught(Caught),
    /// What needs no more words.
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
    /// More about it, in words.
    pub described: Option<Box<str>>,
}

impl Cause {
    /// The breakpoint, watchpoint or catchpoint that was hit; none for other causes, one whose condition cannot be evaluated among them.
    pub(super) fn hit(&self) -> Option<u32> {
        match self {
            Self::Accessed(watched_access) => watched_access.number,
            Self::Caught(caught) => caught.number,
            Self::Other(Reason::BadCondition { .. }) => None,
            Self::Other(reason) => reason.number(),
        }
    }

    /// The cause with names and values as they are in `scene`.
    pub fn described(self, scene: &Scene<'_>) -> Reason {
        match self {
            Self::Accessed(watched_access) => {
                let text = Box::new(WatchedAccessText::new(scene, &watched_access));
                Reason::Watchpoint { watched_access, text }
            }
            Self::Caught(Caught { number, event, threads: Threads { block, warp, lanes }, described }) => {
                Reason::Caught { number, event, block, warp, warp_name: scene.roles.warp(warp), lanes, described }
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

/// Whether a run stops for no other cause than that what was asked for is done.
pub(super) fn is_done(causes: &[Cause]) -> bool {
    matches!(causes, [Cause::Other(Reason::Done)])
}
