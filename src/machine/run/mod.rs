//! The run of a machine: the scheduler, progress when all warps wait, the detection of livelocks, and snapshots.

pub(super) mod cluster;
pub(super) mod context_switches;
pub(super) mod deadlock;
pub(super) mod delayed;
pub(super) mod ends;
pub(super) mod footprint;
pub(super) mod grid_part;
pub(super) mod livelock;
pub(super) mod progress;
pub(super) mod schedule;
pub(super) mod snapshot;
pub(super) mod spinning;
