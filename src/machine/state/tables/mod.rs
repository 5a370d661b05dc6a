//! Tables of matrix instructions, made once for a launch.

pub(in crate::machine) mod accumulators;
pub(in crate::machine) mod matrix;
pub(in crate::machine) mod wgmma;
