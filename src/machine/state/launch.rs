//! How a grid is launched, and what is worked out once for the whole launch.

use crate::machine::in_flight::policy::CompletionPolicyKind;
use crate::machine::state::footprint::MemoryLimit;
use crate::machine::state::place::Tick;
use crate::program::{FuncId, Image};

/// The order in which warps run. Any order is one the hardware could choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub enum Schedule {
    /// Warps take turns in order.
    #[default]
    InOrder,
    /// The next warp, and the length of its turn, are drawn from the seed.
    Random,
}

/// Which lanes of a warp run when their pcs differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub enum DivergencePolicy {
    /// Threads are scheduled independently (sm_70 and later): every group of lanes gets its turn, and lanes reconverge wherever they reach
    /// the same pc. A waiting lane does not block its warp.
    #[default]
    Independent,
    /// The warp has a stack (before sm_70): one side of a branch runs to the reconvergence point, then the next side, and then all
    /// lanes together. Reconvergence points are where ptxas pushes them for those machines (`cfg::pushed_targets`). The side that falls
    /// through runs first, except for sides that only end. A side that waits keeps the other sides waiting, so lanes that wait for other
    /// lanes of their warp hang. Lanes arrive at a barrier for themselves, not for all of their warp as on those machines: a barrier that
    /// only some lanes reach is reported as a deadlock.
    Stack,
}

impl DivergencePolicy {
    /// How the machines work for which a module with `.target sm_NN` is meant.
    pub fn of_target(sm: u32) -> Self {
        if sm < 70 { Self::Stack } else { Self::Independent }
    }
}

/// What a launch counts, in addition to running.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Instrumentation {
    /// Nothing: that is fastest.
    #[default]
    Nothing,
    /// How often each instruction has run.
    Runs,
    /// That, and which registers were written, for a debugger to show.
    RunsAndWrites,
}

/// A launch of one kernel.
#[derive(Clone, Debug)]
pub struct LaunchConfig {
    /// The kernel.
    pub kernel: FuncId,
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y, z.
    pub block: [u32; 3],
    /// Blocks of a cluster in x, y, z.
    pub cluster: [u32; 3],
    /// Whether the launch or the kernel says how large a cluster is (`%is_explicit_cluster`).
    pub explicit_cluster: bool,
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: u32,
    /// The parameter bank, laid out as the kernel's parameters say.
    pub params: Vec<u8>,
    /// Whether the whole grid must be resident.
    pub cooperative: bool,
    /// Blocks resident at once at most; without it as many as fit a bound on memory.
    pub resident: Option<u32>,
    /// The order of warps.
    pub schedule: Schedule,
    /// Seed of everything that is random.
    pub seed: u64,
    /// Which lanes of a warp run when their pcs differ.
    pub divergence: DivergencePolicy,
    /// The tick of its first instruction: later launches of a case continue to count where the one before ended.
    pub start: Tick,
    /// What it counts.
    pub instrumentation: Instrumentation,
    /// Textures, samplers and surfaces, in order of handle.
    pub images: Vec<Image>,
    /// When asynchronous copies end.
    pub copies: CompletionPolicyKind,
    /// Bytes of simulated state at most.
    pub memory_limit: MemoryLimit,
}

/// Why a launch is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LaunchError {
    /// The function is no kernel, or is only declared.
    #[error("'{0}' is not a kernel with a body")]
    NotAKernel(String),
    /// A dimension is zero or too large.
    #[error("{what} is {value:?}; {limit}")]
    Dimension {
        /// `grid`, `block` or `cluster`.
        what: &'static str,
        /// What was asked for.
        value: [u32; 3],
        /// What is allowed.
        limit: String,
    },
    /// More shared memory than a block can have.
    #[error("the block needs {bytes} bytes of shared memory; at most {limit} fit")]
    SharedMemory {
        /// Static, dynamic and reserved bytes.
        bytes: u64,
        /// The most there is.
        limit: u64,
    },
    /// The parameter bank has the wrong size.
    #[error("the kernel takes {wanted} bytes of parameters, {given} are given")]
    Params {
        /// Bytes the kernel declares.
        wanted: u32,
        /// Bytes given.
        given: usize,
    },
}

impl LaunchConfig {
    /// Blocks of a cluster.
    pub fn blocks_of_cluster(&self) -> u32 {
        self.cluster.iter().product()
    }
}
