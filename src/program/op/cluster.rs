//! The blocks of a cluster (PTX ISA, "mapa", "getctarank", "barrier.cluster").

use super::effects::{Effect, Effects, OperandKinds, WaitsFor};
use super::family::Family;
use crate::program::operands::OperandVisitor;
use crate::program::{Bank, Dst, Program, Src};

/// The blocks of a cluster.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs, reason = "operands have the letters of the PTX manual: d, a, b, c")]
#[rustfmt::skip]
pub enum ClusterOp {
    /// `mapa`: the address `a` in the block of rank `b`; of shared memory, or generic.
    MapShared { wide: bool, generic: bool, d: Dst, a: Src, b: Src },
    /// `getctarank`: the rank of the block whose shared memory the address `a` is in.
    Rank { wide: bool, generic: bool, d: Dst, a: Src },
    /// `barrier.cluster.arrive`; `relaxed` orders nothing.
    Arrive { relaxed: bool, aligned: bool },
    Wait { aligned: bool },
}

impl Family for ClusterOp {
    fn operands(&self, visitor: &mut OperandVisitor<'_>) {
        match *self {
            Self::MapShared { wide: is_wide, generic: _, d, a, b } => {
                visitor.read(Bank::of_wide(is_wide), a);
                visitor.read(Bank::B32, b);
                visitor.write(Bank::of_wide(is_wide), d);
            }
            Self::Rank { wide: is_wide, generic: _, d, a } => {
                visitor.read(Bank::of_wide(is_wide), a);
                visitor.write(Bank::B32, d);
            }
            Self::Arrive { relaxed: _, aligned: _ } | Self::Wait { aligned: _ } => {}
        }
    }

    fn effects(&self, _: &Program) -> Effects {
        match self {
            Self::MapShared { .. } | Self::Rank { .. } => Effects::NONE,
            Self::Arrive { relaxed, aligned: _ } => Effects::NONE.with(Effect::Orders, !relaxed).with(Effect::Collective, true),
            Self::Wait { aligned: _ } => Effects::of(&[Effect::Blocks, Effect::Orders]),
        }
    }

    fn operand_kinds(&self) -> Option<OperandKinds> {
        match self {
            Self::MapShared { .. } | Self::Rank { .. } => OperandKinds::INTEGERS,
            Self::Arrive { .. } | Self::Wait { .. } => None,
        }
    }

    fn waits_for(&self) -> Option<WaitsFor> {
        match self {
            Self::Wait { aligned: _ } => Some(WaitsFor::OtherWarps),
            Self::MapShared { .. } | Self::Rank { .. } | Self::Arrive { .. } => None,
        }
    }
}
