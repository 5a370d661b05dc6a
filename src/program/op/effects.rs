//! The effects of operations, other than writing the registers that they name.

use crate::isa::ScalarType;

/// An effect of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Its results depend on the thread, the time or the active lanes, not on its operands alone.
    DependsOnContext,
    /// It writes the carry flag of the lane, or reads it.
    UsesCarry,
    /// It changes the stack of the thread.
    ChangesStack,
    /// It reads memory.
    ReadsMemory,
    /// It writes memory.
    WritesMemory,
    /// A warp collective: the result of a lane may depend on the operands of other lanes.
    Collective,
    /// The result of each lane is computed from the operands of some lanes, which need not include it.
    Gathers,
    /// It may block: until other threads arrive, or operations in flight complete.
    Blocks,
    /// It orders memory accesses of threads.
    Orders,
    /// It changes the control flow: the next instruction need not be the following one.
    Branches,
    /// It may still be in flight when the next instruction is executed.
    Asynchronous,
    /// It ends the run.
    Stops,
}

/// A set of [`Effect`]s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effects(u16);

impl Effects {
    /// No effect: its results are computed from its operands, in each lane by itself.
    pub const NONE: Self = Self(0);

    /// The set of `effects`.
    pub const fn of(effects: &[Effect]) -> Self {
        let (mut set, mut next) = (0, 0);
        while next < effects.len() {
            set |= 1 << effects[next] as u16;
            next += 1;
        }
        Self(set)
    }

    /// The set with `effect` added if `condition`.
    #[must_use]
    pub const fn with(self, effect: Effect, condition: bool) -> Self {
        Self(self.0 | (condition as u16) << effect as u16)
    }

    /// True if `effect` is in the set.
    pub const fn has(self, effect: Effect) -> bool {
        self.0 >> effect as u16 & 1 != 0
    }

    /// True if any of `others` is in the set.
    pub const fn has_any(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }

    /// True if the operation only computes values of registers, in each lane separately: it can be removed if its results are not used,
    /// and if it is undefined which lanes execute it, only its results are undefined.
    pub const fn only_computes(self) -> bool {
        self.0 & !Self::of(&[Effect::DependsOnContext, Effect::UsesCarry]).0 == 0
    }
}

/// The threads that an instruction waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitsFor {
    /// Other lanes of the same warp.
    SameWarp,
    /// Threads of other warps as well.
    OtherWarps,
}

/// The purpose of the values that an operation reads, other than its guard and its addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Inputs of its results.
    Result,
    /// They select the branch target.
    Target,
    /// They are stored to memory.
    Memory,
    /// Parameters of its effect: a number of bytes to copy, threads to wait for.
    Parameter,
}

/// The kind of value that the sources, or the results, of an operation are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperandKind {
    /// A number of this type.
    Number(ScalarType),
    /// An integer, or other bits that are not a floating-point number.
    Integer,
}

/// The kinds of the sources and the results of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperandKinds {
    /// The sources.
    pub sources: OperandKind,
    /// The results.
    pub results: OperandKind,
}

impl OperandKinds {
    /// Sources and results of one type.
    pub(super) fn both(ty: ScalarType) -> Option<Self> {
        Some(Self { sources: OperandKind::Number(ty), results: OperandKind::Number(ty) })
    }

    /// Sources and results that are integers.
    pub(super) const INTEGERS: Option<Self> = Some(Self { sources: OperandKind::Integer, results: OperandKind::Integer });
}
