//! Tables of matrix instructions, computed once per launch.

pub(in crate::machine) mod accumulators;
pub(in crate::machine) mod matrix;
pub(in crate::machine) mod wgmma;
