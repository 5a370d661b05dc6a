//! The names of synchronization in the language that a kernel was written in.

use std::path::Path;

use crate::isa::AtomicFn;
use crate::program::{Pc, Program};

/// The language of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// CUDA C++.
    Cuda,
    /// Triton's Python.
    Triton,
    /// PTX, by hand.
    Ptx,
}

/// A construct for synchronization or memory access that advice names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Construct {
    /// The barrier of all threads of a block.
    BlockBarrier,
    /// The barrier of all threads of a warp.
    WarpBarrier,
    /// The barrier of all threads of a cluster.
    ClusterBarrier,
    /// A barrier of some warps of a block.
    NamedBarrier,
    /// A fence for the whole grid.
    Fence,
    /// A load that acquires.
    Acquire,
    /// A store that releases.
    Release,
    /// A load or a store that is strong.
    Strong,
    /// The scope of the grid.
    GridScope,
    /// The atomic for an update or a test that no single atomic operation does.
    CompareAndSwap,
    /// The atomics for a relational comparison.
    MinOrMax,
    /// An addition.
    Add,
    /// A minimum.
    Min,
    /// A maximum.
    Max,
    /// A conjunction of bits.
    And,
    /// A disjunction of bits.
    Or,
    /// Bits that differ.
    Xor,
    /// The commit of a group of `cp.async`.
    CommitGroup,
    /// The wait for groups of `cp.async`.
    WaitGroup,
    /// The wait for groups of bulk copies.
    BulkWaitGroup,
    /// The wait for a phase of an mbarrier.
    PhaseWait,
    /// The same with acquire semantics.
    PhaseAcquire,
    /// An arrival at an mbarrier that releases.
    PhaseRelease,
    /// The initialization of an mbarrier.
    PhaseInit,
    /// A fence between the generic and the async proxy.
    ProxyFence,
    /// A load by the generic proxy.
    GenericLoad,
}

/// Each construct in CUDA C++, in Triton, and in PTX.
const CONSTRUCTS: &[(Construct, [&str; 3])] = &[
    (Construct::BlockBarrier, ["__syncthreads()", "tl.debug_barrier()", "bar.sync"]),
    (Construct::WarpBarrier, ["__syncwarp()", "tl.debug_barrier()", "bar.warp.sync"]),
    (Construct::ClusterBarrier, ["cluster.sync()", "a barrier of the cluster", "barrier.cluster.arrive and barrier.cluster.wait"]),
    (Construct::NamedBarrier, ["a named barrier (bar.sync ID, COUNT)", "a barrier of the warps concerned", "bar.sync ID, COUNT"]),
    (Construct::Fence, ["__threadfence()", "an atomic with sem=\"acq_rel\"", "fence.acq_rel.gpu"]),
    (Construct::Acquire, ["cuda::atomic_ref::load(cuda::memory_order_acquire)", "tl.atomic_add(…, 0, sem=\"acquire\")", "ld.acquire"]),
    (Construct::Release, ["cuda::atomic_ref::store(…, cuda::memory_order_release)", "tl.atomic_xchg(…, sem=\"release\")", "st.release"]),
    (Construct::Strong, ["cuda::atomic_ref::load(cuda::memory_order_relaxed)", "tl.atomic_add(…, 0, sem=\"relaxed\")", "ld.relaxed"]),
    (Construct::GridScope, ["cuda::thread_scope_device", "scope=\"gpu\"", ".gpu"]),
    (Construct::CompareAndSwap, ["atomicCAS()", "tl.atomic_cas()", "atom.cas"]),
    (Construct::MinOrMax, ["atomicMax() or atomicMin()", "tl.atomic_max() or tl.atomic_min()", "atom.max or atom.min"]),
    (Construct::Add, ["atomicAdd()", "tl.atomic_add()", "atom.add"]),
    (Construct::Min, ["atomicMin()", "tl.atomic_min()", "atom.min"]),
    (Construct::Max, ["atomicMax()", "tl.atomic_max()", "atom.max"]),
    (Construct::And, ["atomicAnd()", "tl.atomic_and()", "atom.and"]),
    (Construct::Or, ["atomicOr()", "tl.atomic_or()", "atom.or"]),
    (Construct::Xor, ["atomicXor()", "tl.atomic_xor()", "atom.xor"]),
    (Construct::CommitGroup, ["__pipeline_commit()", "a commit of the group of copies", "cp.async.commit_group"]),
    (Construct::WaitGroup, ["__pipeline_wait_prior()", "a wait for the copies, as a smaller num_stages gives", "cp.async.wait_group"]),
    (
        Construct::BulkWaitGroup,
        ["cuda::ptx::cp_async_bulk_wait_group()", "a wait for the stores of descriptors", "cp.async.bulk.wait_group"],
    ),
    (Construct::PhaseWait, ["cuda::barrier::wait() or cuda::ptx::mbarrier_try_wait()", "a wait for the load", "mbarrier.try_wait"]),
    (
        Construct::PhaseAcquire,
        ["cuda::ptx::mbarrier_try_wait(cuda::ptx::sem_acquire, …)", "an acquiring wait", "mbarrier.try_wait.acquire"],
    ),
    (Construct::PhaseRelease, ["cuda::ptx::mbarrier_arrive(cuda::ptx::sem_release, …)", "a releasing arrival", "mbarrier.arrive.release"]),
    (Construct::PhaseInit, ["init() of the barrier", "the initialization of the barrier", "mbarrier.init"]),
    (
        Construct::ProxyFence,
        ["cuda::ptx::fence_proxy_async()", "a fence of the async proxy, which the compiler inserts", "fence.proxy.async"],
    ),
    (
        Construct::GenericLoad,
        ["a plain load (no __ldg(), const __restrict__ or texture)", "tl.load() after another launch", "a plain ld.global"],
    ),
];

/// File extensions of other languages, for which PTX names are used.
const OTHERS: [&str; 6] = ["cl", "clcpp", "rs", "jl", "f90", "cuf"];

/// Triton's name for the shared memory of a kernel.
const TRITON_SHARED: &str = "global_smem";

impl Language {
    /// The language of the instruction at `pc`: by the file that `.loc` names, or else by the compiler that made the module.
    pub fn of(program: &Program, pc: Pc) -> Self {
        let line = program.source_line(pc);
        let file = line.and_then(|line| program.source_files.iter().find(|(number, _)| *number == line.file));
        let is_mangled = program.functions.iter().any(|function| function.is_kernel && function.name.starts_with("_Z"));
        if let Some((_, name)) = file {
            let end = Path::new(name).extension().map(|end| end.to_string_lossy().into_owned()).unwrap_or_default();
            return match end.as_str() {
                // Other languages of Python decorate the names of kernels as C++ does.
                "py" if !is_mangled => Language::Triton,
                "py" => Language::Ptx,
                end if OTHERS.contains(&end) => Language::Ptx,
                _ => Language::Cuda,
            };
        }
        if program.variables.iter().any(|variable| &*variable.name == TRITON_SHARED) {
            return Language::Triton;
        }
        let is_compiled = program.spans.first().is_some_and(|span| {
            let text = program.sources_text.file(span.source).text();
            text.lines().take(8).any(|line| line.contains("NVIDIA NVVM Compiler"))
        });
        if is_mangled || is_compiled { Language::Cuda } else { Language::Ptx }
    }

    /// The name of `construct`.
    pub fn name(self, construct: Construct) -> &'static str {
        let row = CONSTRUCTS.iter().find(|(of, _)| *of == construct);
        row.map_or("", |(_, names)| names[self as usize])
    }

    /// A wait for all groups of `cp.async` but the latest `pending`.
    pub fn waiting_for(self, pending: usize) -> String {
        match self {
            Language::Cuda => format!("__pipeline_wait_prior({pending})"),
            Language::Triton => format!("a wait that leaves {pending} groups of copies, as num_stages={} gives", pending + 1),
            Language::Ptx => format!("cp.async.wait_group {pending}"),
        }
    }

    /// The atomic that does `f`; a loop around a compare-and-swap where there is none.
    pub fn atomic(self, f: Option<AtomicFn>) -> &'static str {
        self.name(match f {
            Some(AtomicFn::Add | AtomicFn::Inc | AtomicFn::Dec) => Construct::Add,
            Some(AtomicFn::Min) => Construct::Min,
            Some(AtomicFn::Max) => Construct::Max,
            Some(AtomicFn::And) => Construct::And,
            Some(AtomicFn::Or) => Construct::Or,
            Some(AtomicFn::Xor) => Construct::Xor,
            Some(AtomicFn::Cas | AtomicFn::Exch) | None => Construct::CompareAndSwap,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_term_has_a_name_in_every_language() {
        for (index, (construct, names)) in CONSTRUCTS.iter().enumerate() {
            assert!(names.iter().all(|name| !name.is_empty()), "{construct:?}");
            assert!(CONSTRUCTS[..index].iter().all(|(other, _)| other != construct), "{construct:?} stands twice");
        }
        assert_eq!(Language::Triton.name(Construct::BlockBarrier), "tl.debug_barrier()");
        assert_eq!(Language::Ptx.atomic(Some(AtomicFn::Xor)), "atom.xor");
        assert_eq!(Language::Cuda.atomic(None), "atomicCAS()");
    }
}
