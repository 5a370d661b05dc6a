//! The smallest launch: one warp, and an address for its results.

use ptxdbg::machine::{
    CompletionPolicyKind, DivergencePolicy, FastPaths, Instrumentation, LaunchConfig, MemoryLimit, MemoryModel, Schedule, Tick,
};
use ptxdbg::program::FuncId;

/// One block of one warp of a kernel whose only parameter is an address.
pub fn one_warp(kernel: FuncId, out: u64) -> LaunchConfig {
    LaunchConfig {
        kernel,
        grid: [1, 1, 1],
        block: [32, 1, 1],
        only: Vec::new(),
        cluster: [1, 1, 1],
        explicit_cluster: false,
        dynamic_shared: 0,
        params: out.to_le_bytes().to_vec(),
        cooperative: false,
        resident: None,
        schedule: Schedule::InOrder,
        seed: 0,
        start: Tick::START,
        instrumentation: Instrumentation::Nothing,
        fast_paths: FastPaths::default(),
        images: Vec::new(),
        copies: CompletionPolicyKind::Lazy,
        memory_limit: MemoryLimit::default(),
        memory: MemoryModel::default(),
        divergence: DivergencePolicy::Independent,
    }
}
