//! Scalar types, state spaces and other modifiers of PTX.

#![allow(missing_docs, reason = "variants are the words of PTX itself")]

use super::Mode;

/// A fundamental or packed type (PTX ISA, "Types").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[rustfmt::skip]
pub enum ScalarType {
    Pred,
    B2, B4, B8, B16, B32, B64, B128,
    U2, U4, U8, U16, U32, U64,
    S2, S4, S8, S16, S32, S64,
    F16, F16x2, BF16, BF16x2, TF32, F32, F32x2, F64,
    U16x2, S16x2,
    E4M3, E5M2, E4M3x2, E5M2x2, E4M3x4, E5M2x4,
    E2M1, E2M3, E3M2, E2M1x2, E2M3x2, E3M2x2, E2M1x4, E2M3x4, E3M2x4, UE8M0, UE8M0x2,
}

/// The kind of number a [`ScalarType`] holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TypeKind {
    /// A truth value.
    Predicate,
    /// Untyped bits.
    Untyped,
    /// Unsigned integer, or a vector of two.
    Unsigned,
    /// Two's complement integer, or a vector of two.
    Signed,
    /// Floating point of any format, or a vector of some.
    Float,
}

impl ScalarType {
    /// Every type, in the order of declaration.
    #[rustfmt::skip]
    pub const ALL: &'static [(ScalarType, &'static str, u32, TypeKind)] = {
        use ScalarType::*;
        use TypeKind::*;
        &[
            (Pred, "pred", 1, Predicate),
            (B2, "b2", 2, Untyped), (B4, "b4", 4, Untyped), (B8, "b8", 8, Untyped), (B16, "b16", 16, Untyped),
            (B32, "b32", 32, Untyped), (B64, "b64", 64, Untyped), (B128, "b128", 128, Untyped),
            (U2, "u2", 2, Unsigned), (U4, "u4", 4, Unsigned), (U8, "u8", 8, Unsigned), (U16, "u16", 16, Unsigned),
            (U32, "u32", 32, Unsigned), (U64, "u64", 64, Unsigned),
            (S2, "s2", 2, Signed), (S4, "s4", 4, Signed), (S8, "s8", 8, Signed), (S16, "s16", 16, Signed),
            (S32, "s32", 32, Signed), (S64, "s64", 64, Signed),
            (F16, "f16", 16, Float), (F16x2, "f16x2", 32, Float), (BF16, "bf16", 16, Float), (BF16x2, "bf16x2", 32, Float),
            (TF32, "tf32", 32, Float), (F32, "f32", 32, Float), (F32x2, "f32x2", 64, Float), (F64, "f64", 64, Float),
            (U16x2, "u16x2", 32, Unsigned), (S16x2, "s16x2", 32, Signed),
            (E4M3, "e4m3", 8, Float), (E5M2, "e5m2", 8, Float), (E4M3x2, "e4m3x2", 16, Float), (E5M2x2, "e5m2x2", 16, Float),
            (E4M3x4, "e4m3x4", 32, Float), (E5M2x4, "e5m2x4", 32, Float),
            (E2M1, "e2m1", 4, Float), (E2M3, "e2m3", 6, Float), (E3M2, "e3m2", 6, Float), (E2M1x2, "e2m1x2", 8, Float),
            (E2M3x2, "e2m3x2", 16, Float), (E3M2x2, "e3m2x2", 16, Float), (E2M1x4, "e2m1x4", 16, Float),
            (E2M3x4, "e2m3x4", 32, Float), (E3M2x4, "e3m2x4", 32, Float), (UE8M0, "ue8m0", 8, Float), (UE8M0x2, "ue8m0x2", 16, Float),
        ]
    };

    /// The type named `word`, without a dot.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|row| row.1 == word).map(|row| row.0)
    }

    /// The name in PTX, without the dot.
    pub fn word(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    /// Width in bits; 1 for a predicate.
    pub fn bits(self) -> u32 {
        Self::ALL[self as usize].2
    }

    /// Width in bytes in memory, rounded up; 1 for a predicate.
    pub fn bytes(self) -> u32 {
        self.bits().div_ceil(8)
    }

    /// The kind of number it holds.
    pub fn kind(self) -> TypeKind {
        Self::ALL[self as usize].3
    }
}

/// A state space as instructions and declarations name it (PTX ISA, "State Spaces").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub enum Space {
    /// No space is named: a generic address.
    #[default]
    Generic,
    /// Visible to the whole grid.
    Global,
    /// Read-only, 64 KiB windows.
    Const,
    /// The shared memory of the executing block (`.shared`, `.shared::cta`).
    Shared,
    /// The shared memory of any block of the cluster (`.shared::cluster`).
    SharedCluster,
    /// Private to a thread.
    Local,
    /// Kernel parameters (`.param` in an entry, `.param::entry`).
    Param,
    /// Call parameters of device functions (`.param` in a function, `.param::func`); stored in the caller's and the callee's frames.
    ParamFunc,
}

impl Space {
    /// The name in PTX, without the dot; `generic` without one.
    pub fn word(self) -> &'static str {
        match self {
            Space::Generic => "generic",
            Space::Global => "global",
            Space::Const => "const",
            Space::Shared => "shared",
            Space::SharedCluster => "shared::cluster",
            Space::Local => "local",
            Space::Param | Space::ParamFunc => "param",
        }
    }

    /// True if each thread has memory of its own there, which no other thread sees.
    pub fn is_of_thread(self) -> bool {
        matches!(self, Space::Local | Space::ParamFunc)
    }
}

/// Modifiers of floating-point instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct FloatMode {
    /// Rounding, `.ftz` and `.sat`.
    pub modifiers: Mode,
    /// True without a rounding modifier: a multiplication and an addition may be contracted.
    pub contract: bool,
}

/// The Boolean operator of `setp`, `set` and predicate instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[rustfmt::skip]
pub enum BoolOp { And, Or, Xor }

/// Memory ordering of an access (PTX ISA, "Memory Consistency Model").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[rustfmt::skip]
pub enum Ordering { #[default] Weak, Volatile, Relaxed, Acquire, Release, AcqRel, SeqCst, Mmio }

impl Ordering {
    /// The name in PTX, without the dot.
    pub fn word(self) -> &'static str {
        match self {
            Ordering::Weak => "weak",
            Ordering::Volatile => "volatile",
            Ordering::Relaxed => "relaxed",
            Ordering::Acquire => "acquire",
            Ordering::Release => "release",
            Ordering::AcqRel => "acq_rel",
            Ordering::SeqCst => "sc",
            Ordering::Mmio => "mmio",
        }
    }

    /// True if it releases (PTX ISA, "Release and Acquire Patterns").
    pub fn releases(self) -> bool {
        matches!(self, Ordering::Release | Ordering::AcqRel | Ordering::SeqCst)
    }

    /// True if it acquires.
    pub fn acquires(self) -> bool {
        matches!(self, Ordering::Acquire | Ordering::AcqRel | Ordering::SeqCst)
    }
}

/// The kind of a fence: the accesses or proxies that it orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum FenceKind {
    /// Accesses to memory.
    #[default]
    Memory,
    /// The initialization of mbarriers.
    MbarrierInit,
    /// Accesses through different virtual addresses of the same memory.
    ProxyAlias,
    /// Accesses by threads and by the async proxy.
    ProxyAsync,
    /// The same in global memory only.
    ProxyAsyncGlobal,
    /// The same in shared memory only.
    ProxyAsyncShared,
    /// Changes of a tensor map and its use.
    ProxyTensorMap,
}

/// The scope of an ordering, narrowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[rustfmt::skip]
pub enum Scope { #[default] None, Cta, Cluster, Gpu, Sys }

impl Scope {
    /// The name in PTX, without the dot; `none` without one.
    pub fn word(self) -> &'static str {
        match self {
            Scope::None => "none",
            Scope::Cta => "cta",
            Scope::Cluster => "cluster",
            Scope::Gpu => "gpu",
            Scope::Sys => "sys",
        }
    }
}
