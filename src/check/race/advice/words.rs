//! The words of the language that a kernel was written in.

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

/// What advice names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Term {
    /// The barrier of all threads of a block.
    BlockBarrier,
    /// That of a warp.
    WarpBarrier,
    /// That of a cluster.
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
    /// An atomic that replaces what an update or a test needs where no single operation is named.
    CompareAndSwap,
    /// Those of a comparison by magnitude.
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
}

/// Each term in CUDA C++, in Triton, and in PTX.
const TERMS: &[(Term, [&str; 3])] = &[
    (Term::BlockBarrier, ["__syncthreads()", "tl.debug_barrier()", "bar.sync"]),
    (Term::WarpBarrier, ["__syncwarp()", "tl.debug_barrier()", "bar.warp.sync"]),
    (Term::ClusterBarrier, ["cluster.sync()", "a barrier of the cluster", "barrier.cluster.arrive and barrier.cluster.wait"]),
    (Term::NamedBarrier, ["a named barrier (bar.sync ID, COUNT)", "a barrier of the warps concerned", "bar.sync ID, COUNT"]),
    (Term::Fence, ["__threadfence()", "an atomic with sem=\"acq_rel\"", "fence.acq_rel.gpu"]),
    (Term::Acquire, ["cuda::atomic_ref::load(cuda::memory_order_acquire)", "tl.atomic_add(…, 0, sem=\"acquire\")", "ld.acquire"]),
    (Term::Release, ["cuda::atomic_ref::store(…, cuda::memory_order_release)", "tl.atomic_xchg(…, sem=\"release\")", "st.release"]),
    (Term::Strong, ["cuda::atomic_ref::load(cuda::memory_order_relaxed)", "tl.atomic_add(…, 0, sem=\"relaxed\")", "ld.relaxed"]),
    (Term::GridScope, ["cuda::thread_scope_device", "scope=\"gpu\"", ".gpu"]),
    (Term::CompareAndSwap, ["atomicCAS()", "tl.atomic_cas()", "atom.cas"]),
    (Term::MinOrMax, ["atomicMax() or atomicMin()", "tl.atomic_max() or tl.atomic_min()", "atom.max or atom.min"]),
    (Term::Add, ["atomicAdd()", "tl.atomic_add()", "atom.add"]),
    (Term::Min, ["atomicMin()", "tl.atomic_min()", "atom.min"]),
    (Term::Max, ["atomicMax()", "tl.atomic_max()", "atom.max"]),
    (Term::And, ["atomicAnd()", "tl.atomic_and()", "atom.and"]),
    (Term::Or, ["atomicOr()", "tl.atomic_or()", "atom.or"]),
    (Term::Xor, ["atomicXor()", "tl.atomic_xor()", "atom.xor"]),
];

impl Language {
    /// That of the instruction at `pc`: by the file that `.loc` names, or else by the compiler that made the module.
    pub fn of(program: &Program, pc: Pc) -> Self {
        let line = program.source_lines.get(pc.index()).copied().flatten();
        let file = line.and_then(|line| program.source_files.iter().find(|(number, _)| *number == line.file));
        if let Some((_, name)) = file {
            return if Path::new(name).extension().is_some_and(|end| end == "py") { Language::Triton } else { Language::Cuda };
        }
        let is_mangled = program.functions.iter().any(|function| function.is_kernel && function.name.starts_with("_Z"));
        let is_compiled = program.spans.first().is_some_and(|span| {
            let text = program.sources_text.file(span.source).text();
            text.lines().take(8).any(|line| line.contains("NVIDIA NVVM Compiler"))
        });
        if is_mangled || is_compiled { Language::Cuda } else { Language::Ptx }
    }

    /// The word for `term`.
    pub fn word(self, term: Term) -> &'static str {
        let row = TERMS.iter().find(|(own, _)| *own == term);
        row.map_or("", |(_, words)| words[self as usize])
    }

    /// The atomic that does `f`; a loop around a compare-and-swap where there is none.
    pub fn atomic(self, f: Option<AtomicFn>) -> &'static str {
        self.word(match f {
            Some(AtomicFn::Add | AtomicFn::Inc | AtomicFn::Dec) => Term::Add,
            Some(AtomicFn::Min) => Term::Min,
            Some(AtomicFn::Max) => Term::Max,
            Some(AtomicFn::And) => Term::And,
            Some(AtomicFn::Or) => Term::Or,
            Some(AtomicFn::Xor) => Term::Xor,
            Some(AtomicFn::Cas | AtomicFn::Exch) | None => Term::CompareAndSwap,
        })
    }
}

/// `k.cu:64` where `.loc` says so, or else `k.ptx:12`.
pub(in crate::check::race) fn line(program: &Program, pc: Pc) -> String {
    let own = program.source_lines.get(pc.index()).copied().flatten();
    let callers = program.call_sites.get(&pc).into_iter().flatten().copied();
    let places = own.into_iter().chain(callers).filter(|place| place.line > 0);
    let named = places.filter_map(|place| {
        let (_, name) = program.source_files.iter().find(|(number, _)| *number == place.file)?;
        Some((Path::new(name), place.line))
    });
    let named: Vec<(&Path, u32)> = named.collect();
    // What a header has put in place stands in the line of the kernel that calls it.
    let is_header = |path: &Path| path.extension().is_some_and(|end| end == "h" || end == "hpp");
    let place = named.iter().find(|(path, _)| !is_header(path)).or(named.first());
    let short = |path: &Path| path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    place.map_or_else(|| program.place(pc), |(path, line)| format!("{}:{line}", short(path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_term_has_a_word_in_every_language() {
        for (index, (term, words)) in TERMS.iter().enumerate() {
            assert!(words.iter().all(|word| !word.is_empty()), "{term:?}");
            assert!(TERMS[..index].iter().all(|(other, _)| other != term), "{term:?} stands twice");
        }
        assert_eq!(Language::Triton.word(Term::BlockBarrier), "tl.debug_barrier()");
        assert_eq!(Language::Ptx.atomic(Some(AtomicFn::Xor)), "atom.xor");
        assert_eq!(Language::Cuda.atomic(None), "atomicCAS()");
    }
}
