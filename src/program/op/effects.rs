//! The effects of operations, other than writing the registers that they name.

use crate::isa::ScalarType;

/// One thing that an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Its results depend on where, when and by which lanes it is executed, not on its operands alone.
    DependsOnPlace,
    /// It writes the carry flag of the lane, or reads it.
    UsesCarry,
    /// It changes the stack of the thread.
    ChangesStack,
    /// It reads memory.
    ReadsMemory,
    /// It writes memory.
    WritesMemory,
    /// Lanes of a warp execute it together: the result of one may depend on the operands of others.
    Collective,
    /// Each lane's result is computed from the operands of certain lanes, its own or others.
    Gathers,
    /// It may wait: for other threads, or for what is in flight.
    Blocks,
    /// It orders memory accesses of threads.
    Orders,
    /// The instruction after it need not be the next one.
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

    /// These.
    pub const fn of(effects: &[Effect]) -> Self {
        let (mut set, mut next) = (0, 0);
        while next < effects.len() {
            set |= 1 << effects[next] as u16;
            next += 1;
        }
        Self(set)
    }

    /// These, and `effect` if `holds`.
    #[must_use]
    pub const fn with(self, effect: Effect, holds: bool) -> Self {
        Self(self.0 | (holds as u16) << effect as u16)
    }

    /// Whether `effect` is among them.
    pub const fn has(self, effect: Effect) -> bool {
        self.0 >> effect as u16 & 1 != 0
    }

    /// Whether any of `others` is among them.
    pub const fn has_any(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }

    /// Whether it does nothing but compute values of registers, in each lane by itself: it may be left out where its results are not
    /// used, and where it is undefined which lanes execute it, only its results are undefined.
    pub const fn only_computes(self) -> bool {
        self.0 & !Self::of(&[Effect::DependsOnPlace, Effect::UsesCarry]).0 == 0
    }
}

/// The threads that an instruction waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// Other lanes of the own warp.
    OwnWarp,
    /// Threads of other warps as well.
    OtherWarps,
}

/// The purpose of the values that an operation reads, other than its guard and its addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Its results are computed from them.
    Result,
    /// They select which instruction is next.
    Target,
    /// They are stored to memory.
    Memory,
    /// They are parameters of its effect: how many bytes it copies, which threads it waits for.
    Parameter,
}

/// The kind of value that an operation takes its sources, or its results, to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperandKind {
    /// A number of this type.
    Number(ScalarType),
    /// An integer, or bits that are no floating-point number.
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
