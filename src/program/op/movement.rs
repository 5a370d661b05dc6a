//! Moves, packing, addresses and special registers (PTX ISA, "Data Movement and Conversion Instructions": `mov`, `cvta`, `isspacep`).

use super::effects::{Effect, Effects, OperandKinds};
use super::family::Family;
use super::undefined::Undefined;
use crate::base::lanes::LaneMask;
use crate::isa::{Space, Width};
use crate::program::operands::{OperandVisitor, Use};
use crate::program::{Bank, Dst, ListId, Program, Src};

/// Moves, packing, addresses and special registers.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs, reason = "operands have the letters of the PTX manual: d, a, b, c")]
#[rustfmt::skip]
pub enum MoveOp {
    /// `mov`, `cvta` of address spaces that do not change the value, and address constants.
    Move { width: Width, d: Dst, a: Src },
    /// A 128-bit `mov`: both halves.
    Move128 { d: Dst, a: Src },
    /// `mov.bN d, {..}`: `parts` are [`Program::sources`](crate::program::Program) of `part` bits each, lowest first, into a register of
    /// `parts * part` bits.
    Pack { part: u8, parts: ListId, d: Dst },
    /// `mov.bN {..}, a`: the reverse, into [`Program::dests`](crate::program::Program).
    Unpack { part: u8, parts: ListId, a: Src },
    /// d = address of the current frame in local memory + `offset`; 64-bit if `wide`. A generic address if `generic`, otherwise a local
    /// one.
    FrameAddress { wide: bool, generic: bool, d: Dst, offset: i32 },
    /// A special register whose value changes while a block runs (`%clock`, `%clock64`, `%globaltimer`, …), or one of 64 bits.
    ReadSpecial { register: u16, width: Width, d: Dst },
    /// `cvta`: from `space` to generic, or back if `to_space`.
    ConvertAddress { space: Space, to_space: bool, wide: bool, d: Dst, a: Src },
    IsSpace { space: Space, wide: bool, p: Dst, a: Src },
    /// `mov.v2`, `mov.v4`: `d` are [`Program::dests`](crate::program::Program), `a` [`Program::sources`](crate::program::Program).
    Vector { width: Width, d: ListId, a: ListId },
    /// `createpolicy.fractional` with a fraction in a register; `priorities` is the upper byte of the result.
    CachePolicy { priorities: u8, d: Dst, fraction: Src },
    ActiveMask { d: Dst },
}

impl Family for MoveOp {
    fn operands(&self, visitor: &mut OperandVisitor<'_>) {
        match *self {
            Self::Move { width, d, a } => visitor.one_bank(width.bank(), d, [a]),
            Self::CachePolicy { priorities: _, d, fraction } => {
                visitor.read(Bank::B32, fraction);
                visitor.write(Bank::B64, d);
            }
            Self::Move128 { d, a } => {
                visitor.source(Use::Read, Bank::B64, a, 2);
                visitor.dest(Bank::B64, d, 2);
            }
            Self::Pack { part, parts, d } => {
                let parts = visitor.sources(parts);
                parts.iter().for_each(|part_source| visitor.read(Bank::of_wide(part == 64), *part_source));
                let (bank, width) = Bank::of_bits(usize::from(part) * parts.len());
                visitor.dest(bank, d, width);
            }
            Self::Unpack { part, parts, a } => {
                let parts = visitor.dests(parts);
                let (bank, width) = Bank::of_bits(usize::from(part) * parts.len());
                visitor.source(Use::Read, bank, a, width);
                parts.iter().for_each(|d| visitor.write(Bank::of_wide(part == 64), *d));
            }
            Self::Vector { width, d, a } => {
                visitor.sources(a).iter().for_each(|a| visitor.read(width.bank(), *a));
                visitor.dests(d).iter().for_each(|d| visitor.write(width.bank(), *d));
            }
            Self::FrameAddress { wide: is_wide, generic: _, d, offset: _ } => visitor.write(Bank::of_wide(is_wide), d),
            Self::ReadSpecial { register: _, width, d } => visitor.write(width.bank(), d),
            Self::ActiveMask { d } => visitor.write(Bank::B32, d),
            Self::ConvertAddress { space: _, to_space: _, wide: is_wide, d, a } => visitor.one_bank(Bank::of_wide(is_wide), d, [a]),
            Self::IsSpace { space: _, wide: is_wide, p, a } => {
                visitor.read(Bank::of_wide(is_wide), a);
                visitor.write(Bank::Pred, p);
            }
        }
    }

    fn effects(&self, _: &Program) -> Effects {
        match self {
            Self::FrameAddress { .. } | Self::ReadSpecial { .. } | Self::ActiveMask { .. } => Effects::of(&[Effect::DependsOnContext]),
            Self::Move { .. }
            | Self::Move128 { .. }
            | Self::Pack { .. }
            | Self::Unpack { .. }
            | Self::ConvertAddress { .. }
            | Self::IsSpace { .. }
            | Self::Vector { .. }
            | Self::CachePolicy { .. } => Effects::NONE,
        }
    }

    fn operand_kinds(&self) -> Option<OperandKinds> {
        match self {
            Self::Vector { .. } => OperandKinds::INTEGERS,
            Self::Move { .. }
            | Self::Move128 { .. }
            | Self::Pack { .. }
            | Self::Unpack { .. }
            | Self::FrameAddress { .. }
            | Self::ReadSpecial { .. }
            | Self::ConvertAddress { .. }
            | Self::IsSpace { .. }
            | Self::CachePolicy { .. }
            | Self::ActiveMask { .. } => None,
        }
    }

    fn undefined_in(&self, undefined: &dyn Undefined, any: LaneMask) -> LaneMask {
        match *self {
            Self::Pack { part, parts, .. } => undefined.all_of(Bank::of_wide(part == 64), parts),
            Self::Vector { width, a, .. } => undefined.all_of(width.bank(), a),
            Self::Move { .. }
            | Self::Move128 { .. }
            | Self::Unpack { .. }
            | Self::FrameAddress { .. }
            | Self::ReadSpecial { .. }
            | Self::ConvertAddress { .. }
            | Self::IsSpace { .. }
            | Self::CachePolicy { .. }
            | Self::ActiveMask { .. } => any,
        }
    }
}
