//! Many instructions: which warp runs next, what happens when all wait, and machines as snapshots.

pub(super) mod cluster;
pub(super) mod deadlock;
pub(super) mod ends;
pub(super) mod footprint;
pub(super) mod held;
pub(super) mod livelock;
pub(super) mod progress;
pub(super) mod schedule;
pub(super) mod snapshot;
pub(super) mod switched;
