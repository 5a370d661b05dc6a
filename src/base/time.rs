//! The time of a run.

/// Time: warp-instructions issued since the first launch.
pub type Tick = u64;
