//! What observers see of a run. The machine reports; it never asks an observer what to do.

use super::lanes::{LaneMask, PerLane};
use super::trap::Place;
use crate::isa::Space;

/// How an access touches memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
    /// It reads.
    Read,
    /// It writes.
    Write,
    /// It reads and writes indivisibly.
    Atomic,
}

/// One access by the lanes of a warp, reported just before it happens.
#[derive(Clone, Copy, Debug)]
pub struct AccessEvent<'a> {
    /// Where and when.
    pub place: Place,
    /// The lanes.
    pub lanes: LaneMask,
    /// How.
    pub kind: AccessKind,
    /// The space the lanes' addresses are in, never `Generic`.
    pub space: Space,
    /// Address of each lane in that space; only those of `lanes` mean something.
    pub addresses: &'a PerLane<u64>,
    /// Bytes a lane.
    pub bytes: u32,
}

/// Something that watches a run. With `ACTIVE` false, reporting costs nothing.
pub trait Observer {
    /// Whether events are wanted at all.
    const ACTIVE: bool = true;

    /// Memory is about to be accessed.
    fn access(&mut self, event: &AccessEvent<'_>);
}

/// The observer that looks away.
pub struct Unobserved;

impl Observer for Unobserved {
    const ACTIVE: bool = false;

    fn access(&mut self, _event: &AccessEvent<'_>) {}
}
