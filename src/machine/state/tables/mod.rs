//! Tables of instructions, computed once per launch.

pub(in crate::machine) mod accumulators;
pub(in crate::machine) mod matrix;
pub(in crate::machine) mod pairs;
pub(in crate::machine) mod straight;
pub(in crate::machine) mod wgmma;
