//! Statements for insertion, and opcodes with other modifiers.

use crate::check::{BarrierLevel, CopyKind};
use crate::isa::{Ordering, Scope};
use crate::program::Program;

/// Modifiers that replace those of an opcode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Modifiers {
    /// Semantics: `.relaxed` and what orders.
    semantics: Option<&'static str>,
    /// Scope.
    scope: Option<&'static str>,
}

/// Modifiers of a load or a store that are removed for a strong access.
const REMOVED_MODIFIERS: &[&str] = &[
    "weak", "volatile", "relaxed", "acquire", "release", "mmio", "ca", "cg", "cs", "cv", "lu", "wb", "wt", "nc", "cta", "cluster", "gpu",
    "sys",
];

/// Parts of an opcode before its semantics.
const STEMS: &[&str] = &[
    "ld",
    "st",
    "atom",
    "red",
    "mbarrier",
    "arrive",
    "arrive_drop",
    "expect_tx",
    "complete_tx",
    "noComplete",
    "test_wait",
    "try_wait",
    "parity",
];

impl Modifiers {
    /// Other semantics.
    pub fn semantics(ordering: Ordering) -> Self {
        let has_modifier = matches!(ordering, Ordering::Relaxed | Ordering::Acquire | Ordering::Release | Ordering::AcqRel);
        Self { semantics: has_modifier.then(|| ordering.word()), scope: None }
    }

    /// Another scope.
    pub fn scope(scope: Scope) -> Self {
        Self { semantics: None, scope: (scope != Scope::None).then(|| scope.word()) }
    }

    /// True if the modifiers order other accesses.
    pub fn orders(self) -> bool {
        self.semantics.is_some_and(|semantics| semantics != "relaxed") || self.semantics.is_none()
    }

    /// Both; none if they exclude each other.
    pub fn with(self, other: Self) -> Option<Self> {
        let one = |a: Option<&'static str>, b: Option<&'static str>| match (a, b) {
            (Some(a), Some(b)) if a != b => match (a, b) {
                ("relaxed", strong) | (strong, "relaxed") => Some(Some(strong)),
                ("acquire", "release") | ("release", "acquire") => Some(Some("acq_rel")),
                ("gpu", "cta" | "cluster") | ("cta" | "cluster", "gpu") => Some(Some("gpu")),
                _ => None,
            },
            (a, b) => Some(a.or(b)),
        };
        Some(Self { semantics: one(self.semantics, other.semantics)?, scope: one(self.scope, other.scope)? })
    }
}

/// True if the module has the instructions of the memory consistency model (PTX ISA 6.0, sm_70).
fn has_memory_model(program: &Program) -> bool {
    program.version >= (6, 0) && program.target.0 >= 70
}

/// `opcode` with other modifiers; none if it cannot have them.
pub(super) fn rewritten(opcode: &str, modifiers: Modifiers, program: &Program) -> Option<String> {
    let words: Vec<&str> = opcode.split('.').collect();
    let (stem, rest) = words.split_first()?;
    match *stem {
        "membar" | "fence" => rewritten_fence(stem, rest, modifiers),
        "ld" | "st" if !has_memory_model(program) => {
            let is_relaxed = modifiers.semantics.is_none_or(|semantics| semantics == "relaxed");
            let remaining = rest.iter().copied().filter(|word| !REMOVED_MODIFIERS.contains(word));
            is_relaxed.then(|| [*stem, "volatile"].into_iter().chain(remaining).collect::<Vec<_>>().join("."))
        }
        "ld" | "st" | "atom" | "red" | "mbarrier" => rewritten_access(stem, &words, modifiers),
        _ => None,
    }
}

fn rewritten_fence(stem: &str, rest: &[&str], modifiers: Modifiers) -> Option<String> {
    let scope = modifiers.scope.filter(|_| modifiers.semantics.is_none())?;
    let scope = if stem == "membar" && matches!(scope, "gpu" | "cluster") { "gl" } else { scope };
    let is_scope = |word: &str| matches!(word, "cta" | "cluster" | "gpu" | "gl" | "sys");
    (rest.iter().any(|word| is_scope(word)) && !rest.contains(&"proxy")).then(|| {
        let words = rest.iter().map(|word| if is_scope(word) { scope } else { word });
        std::iter::once(stem).chain(words).collect::<Vec<_>>().join(".")
    })
}

fn rewritten_access(stem: &str, words: &[&str], modifiers: Modifiers) -> Option<String> {
    let split = words.iter().take_while(|word| STEMS.contains(word)).count();
    let (head, tail) = words.split_at(split);
    let has = |list: &[&'static str]| list.iter().copied().find(|word| tail.contains(word));
    let own_semantics = has(&["relaxed", "acquire", "release", "acq_rel"]);
    let own_scope = has(&["cta", "cluster", "gpu", "sys"]);
    let wanted = match (own_semantics, modifiers.semantics) {
        (Some("acquire"), Some("release")) | (Some("release"), Some("acquire")) if stem == "atom" => "acq_rel",
        (entry, wanted) => wanted.or(entry).unwrap_or(if stem == "mbarrier" { "release" } else { "relaxed" }),
    };
    let fits = match stem {
        "ld" => matches!(wanted, "relaxed" | "acquire"),
        "st" | "red" => matches!(wanted, "relaxed" | "release"),
        _ => true,
    };
    let scope = modifiers.scope.or(own_scope).unwrap_or(if stem == "mbarrier" { "cta" } else { "gpu" });
    let is_access = stem == "ld" || stem == "st";
    let is_removed = |word: &&str| {
        if is_access {
            REMOVED_MODIFIERS.contains(word)
        } else {
            matches!(*word, "relaxed" | "acquire" | "release" | "acq_rel") || own_scope == Some(*word)
        }
    };
    let remaining = tail.iter().copied().filter(|word| !is_removed(word));
    fits.then(|| head.iter().copied().chain([wanted, scope]).chain(remaining).collect::<Vec<_>>().join("."))
}

/// A barrier of this level.
pub(super) fn barrier(level: BarrierLevel) -> String {
    match level {
        BarrierLevel::Warp => "bar.warp.sync 0xffffffff;",
        BarrierLevel::Block => "bar.sync 0;",
        BarrierLevel::Cluster => "barrier.cluster.arrive; barrier.cluster.wait;",
    }
    .into()
}

/// Memory fences, the weakest first. Where one thread reads a flag and another one has the fence, after a barrier of both, only those of
/// `fence.sc` are ordered.
pub(super) fn fences(scope: Scope, program: &Program) -> Vec<String> {
    let wide = scope.max(Scope::Cta).word();
    match (has_memory_model(program), scope) {
        (true, _) => vec![format!("fence.acq_rel.{wide};"), format!("fence.sc.{wide};")],
        (false, Scope::Gpu | Scope::Cluster) => vec!["membar.gl;".into()],
        (false, Scope::Cta | Scope::Sys | Scope::None) => vec![format!("membar.{wide};")],
    }
}

/// A wait for all operations of this kind that the thread has issued.
pub(super) fn wait_all(kind: CopyKind) -> String {
    match kind {
        CopyKind::CpAsync => "cp.async.wait_all;",
        CopyKind::Bulk => "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;",
        CopyKind::Wgmma => "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;",
    }
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(version: (u8, u8), target: u32) -> Program {
        Program { version, target: (target, None), ..Program::default() }
    }

    /// The orders of modifiers are those of the manual: `ld{.sem}{.scope}{.ss}`, `atom{.sem}{.scope}{.space}.op`,
    /// `mbarrier.try_wait.parity{.sem.scope}`.
    #[test]
    fn opcodes_get_the_modifiers_where_the_manual_has_them() {
        let new = with((8, 0), 90);
        let acquire = Modifiers::semantics(Ordering::Acquire);
        let relaxed = Modifiers::semantics(Ordering::Relaxed);
        let release = Modifiers::semantics(Ordering::Release);
        let gpu = Modifiers::scope(Scope::Gpu);
        for (opcode, modifiers, expected) in [
            ("ld.global.u32", relaxed, Some("ld.relaxed.gpu.global.u32")),
            ("ld.volatile.global.v2.f32", acquire, Some("ld.acquire.gpu.global.v2.f32")),
            ("ld.global.nc.f32", relaxed, Some("ld.relaxed.gpu.global.f32")),
            ("ld.global.cg.u32", relaxed, Some("ld.relaxed.gpu.global.u32")),
            ("ld.relaxed.cta.u32", gpu, Some("ld.relaxed.gpu.u32")),
            ("ld.global.u32", release, None),
            ("st.global.u32", acquire, None),
            ("st.release.cta.global.u32", gpu, Some("st.release.gpu.global.u32")),
            ("atom.global.add.u32", release, Some("atom.release.gpu.global.add.u32")),
            ("atom.acquire.gpu.global.cas.b32", release, Some("atom.acq_rel.gpu.global.cas.b32")),
            ("red.global.add.u32", acquire, None),
            ("fence.acq_rel.cta", gpu, Some("fence.acq_rel.gpu")),
            ("membar.cta", gpu, Some("membar.gl")),
            ("fence.proxy.async", gpu, None),
            ("mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64", acquire, Some("mbarrier.try_wait.parity.acquire.cta.shared::cta.b64")),
            ("mbarrier.arrive.shared.b64", release, Some("mbarrier.arrive.release.cta.shared.b64")),
            ("bar.sync", gpu, None),
        ] {
            assert_eq!(rewritten(opcode, modifiers, &new).as_deref(), expected, "{opcode}");
        }
    }

    #[test]
    fn before_the_memory_model_there_are_volatile_and_membar() {
        let old = with((5, 0), 60);
        let semantics = |ordering| rewritten("ld.global.u32", Modifiers::semantics(ordering), &old);
        assert_eq!(semantics(Ordering::Relaxed).as_deref(), Some("ld.volatile.global.u32"));
        assert_eq!(semantics(Ordering::Acquire), None);
        assert_eq!(fences(Scope::Gpu, &old), ["membar.gl;"]);
        assert_eq!(fences(Scope::Cta, &old), ["membar.cta;"]);
    }

    #[test]
    fn changes_of_one_opcode_are_made_together_or_not_at_all() {
        let acquire = Modifiers::semantics(Ordering::Acquire);
        let both = acquire.with(Modifiers::scope(Scope::Gpu)).and_then(|both| rewritten("ld.global.u32", both, &with((8, 0), 90)));
        assert_eq!(both.as_deref(), Some("ld.acquire.gpu.global.u32"));
        assert_eq!(acquire.with(Modifiers::semantics(Ordering::Relaxed)), Some(acquire));
        assert_eq!(Modifiers::scope(Scope::Sys).with(Modifiers::scope(Scope::Gpu)), None);
    }
}
