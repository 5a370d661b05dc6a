//! Resolved operands: register slots, constants, special registers and addresses.

use super::Slot;
use crate::isa::{FloatType, IntType, ScalarType, Space, Width};

/// A register class, and the bank that holds its registers for one lane: one slot per register.
///
/// 8- and 16-bit registers are zero-extended to a 32-bit slot; a `.b128` takes two adjacent 64-bit slots, low half first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub enum Bank {
    /// Registers of up to 32 bits.
    B32,
    /// Registers of 64 bits, and halves of 128-bit registers.
    B64,
    /// Predicates.
    Pred,
}

impl Bank {
    /// The bank of 64-bit values if `is_wide`, otherwise of 32-bit values.
    pub fn of_wide(is_wide: bool) -> Self {
        if is_wide { Bank::B64 } else { Bank::B32 }
    }

    /// The bank of a value of `bits`, and the slots it takes there.
    pub fn of_bits(bits: usize) -> (Self, u32) {
        (Self::of_wide(bits >= 64), if bits >= 128 { 2 } else { 1 })
    }

    /// The bank and the slots of the register that holds a memory element of `bits`, which may be narrower than the register.
    pub fn of_element(bits: u8, reg_bits: u8) -> (Self, u32) {
        Self::of_bits(usize::from(bits.max(reg_bits)))
    }
}

impl ScalarType {
    /// The bank of registers that are declared with this type.
    pub fn bank(self) -> Bank {
        if self == ScalarType::Pred { Bank::Pred } else { Bank::of_wide(self.bits() > 32) }
    }
}

impl Width {
    /// The bank of registers of this width.
    pub fn bank(self) -> Bank {
        Bank::of_wide(self == Width::B64)
    }
}

impl IntType {
    /// The bank of registers of this type.
    pub fn bank(self) -> Bank {
        Bank::of_wide(matches!(self, IntType::U64 | IntType::S64))
    }

    /// The bank of a product of twice the width of this type.
    pub fn twice_bank(self) -> Bank {
        Bank::of_wide(!matches!(self, IntType::U16 | IntType::S16))
    }
}

impl FloatType {
    /// The bank of registers of this type.
    pub fn bank(self) -> Bank {
        Bank::of_wide(self == FloatType::F64)
    }
}

/// A destination: a register slot of the current frame; the bank follows from the operation. [`Dst::SINK`] is the bit bucket `_`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Dst(pub Slot);

impl Dst {
    /// The destination `_`: the result is discarded.
    pub const SINK: Dst = Dst(Slot(u32::MAX));

    /// True if the result is discarded.
    #[inline(always)]
    pub fn is_sink(self) -> bool {
        self == Self::SINK
    }
}

impl std::fmt::Debug for Dst {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.is_sink() { write!(f, "_") } else { write!(f, "d{}", self.0.0) }
    }
}

/// A source: a [`SrcKind`] packed into 32 bits; the bank follows from the operation.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Src(u32);

/// The kinds of sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SrcKind {
    /// A slot of the current function's frame.
    Reg(Slot),
    /// An entry of `Program::consts32`, `consts64`, the same for all lanes.
    Const(u32),
    /// An entry of `Program::specials`: a 32-bit special register that does not change while a block runs.
    Special(u32),
}

impl Src {
    const INDEX_BITS: u32 = 30;
    /// One past the largest index a [`Src`] can hold.
    pub const INDEX_END: u32 = 1 << Self::INDEX_BITS;

    /// Packs `kind`, whose index must be below [`Src::INDEX_END`].
    #[inline]
    pub const fn new(kind: SrcKind) -> Self {
        let (tag, index) = match kind {
            SrcKind::Reg(slot) => (0, slot.0),
            SrcKind::Const(index) => (1, index),
            SrcKind::Special(index) => (2, index),
        };
        debug_assert!(index < Self::INDEX_END);
        Self(tag << Self::INDEX_BITS | index)
    }

    /// A register slot.
    #[inline]
    pub const fn reg(slot: Slot) -> Self {
        Self::new(SrcKind::Reg(slot))
    }

    /// The next slot or constant: the high half of 128 bits.
    #[inline(always)]
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }

    /// Unpacks it.
    #[inline(always)]
    pub fn kind(self) -> SrcKind {
        let index = self.0 & (Self::INDEX_END - 1);
        match self.0 >> Self::INDEX_BITS {
            0 => SrcKind::Reg(Slot(index)),
            1 => SrcKind::Const(index),
            _ => SrcKind::Special(index),
        }
    }
}

impl std::fmt::Debug for Src {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.kind() {
            SrcKind::Reg(slot) => write!(f, "r{}", slot.0),
            SrcKind::Const(index) => write!(f, "c{index}"),
            SrcKind::Special(index) => write!(f, "s{index}"),
        }
    }
}

/// A predicate source: a slot, perhaps negated, or a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PredSrc {
    /// Always this value.
    Const(bool),
    /// The predicate slot, negated if `negate`.
    Reg {
        /// Slot in the predicate bank.
        slot: Slot,
        /// `!p`.
        negate: bool,
    },
}

/// The base of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Base {
    /// A 32-bit value, zero-extended.
    Narrow(Src),
    /// A 64-bit value.
    Wide(Src),
    /// The current frame in local memory, which holds the `.local` variables and call parameters of a function.
    Frame,
}

/// The address operand of a memory instruction: base plus signed byte offset, in the space the instruction names.
///
/// An absolute address (a variable, a kernel parameter, a number) is a constant base.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    /// The base.
    pub base: Base,
    /// Bytes added to it.
    pub offset: i32,
}

/// The memory location of a variable or parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Location {
    /// The space.
    pub space: Space,
    /// Address in that space; for `Local` and `ParamFunc`, offset from the frame's base.
    pub address: u64,
}

/// Number of slots a frame needs in each bank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slots {
    /// 32-bit slots.
    pub b32: u32,
    /// 64-bit slots.
    pub b64: u32,
    /// Predicate slots.
    pub pred: u32,
}

impl Slots {
    /// The slots of a bank.
    pub fn of(self, bank: Bank) -> u32 {
        match bank {
            Bank::B32 => self.b32,
            Bank::B64 => self.b64,
            Bank::Pred => self.pred,
        }
    }
}
