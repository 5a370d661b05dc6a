//! Warp collectives (PTX ISA, "Parallel Synchronization and Communication Instructions": `shfl`, `vote`, `match`).

use super::effects::{Effect, Effects};
use super::family::Family;
use crate::isa::{IntType, ReduxFn, ShuffleMode, VoteMode, Width};
use crate::program::operands::OperandVisitor;
use crate::program::{Bank, Dst, PredSrc, Program, Src};

/// Warp collectives.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs, reason = "operands have the letters of the PTX manual: d, a, b, c")]
#[rustfmt::skip]
pub enum WarpOp {
    /// `membermask` is absent in the pre-Volta forms without `.sync`.
    Shuffle { f: ShuffleMode, d: Dst, p: Dst, a: Src, b: Src, c: Src, mask: Option<Src> },
    Vote { f: VoteMode, d: Dst, p: PredSrc, mask: Option<Src> },
    /// `match.any` (d = lanes with the same value) or `match.all` (`all`; p = whether all agree).
    Match { all: bool, width: Width, d: Dst, p: Dst, a: Src, mask: Src },
    Redux { f: ReduxFn, ty: IntType, d: Dst, a: Src, mask: Src },
    /// `elect.sync d|p, mask`.
    Elect { d: Dst, p: Dst, mask: Src },
}

impl Family for WarpOp {
    fn operands(&self, visitor: &mut OperandVisitor<'_>) {
        match *self {
            Self::Shuffle { f: _, d, p, a, b, c, mask } => {
                mask.into_iter().for_each(|mask| visitor.read(Bank::B32, mask));
                visitor.one_bank(Bank::B32, d, [a, b, c]);
                visitor.write(Bank::Pred, p);
            }
            Self::Vote { f, d, p, mask } => {
                mask.into_iter().for_each(|mask| visitor.read(Bank::B32, mask));
                visitor.predicate(p);
                visitor.write(if f == VoteMode::Ballot { Bank::B32 } else { Bank::Pred }, d);
            }
            Self::Match { all: _, width, d, p, a, mask } => {
                visitor.read(width.bank(), a);
                visitor.read(Bank::B32, mask);
                visitor.write(Bank::B32, d);
                visitor.write(Bank::Pred, p);
            }
            Self::Redux { f: _, ty: _, d, a, mask } => visitor.one_bank(Bank::B32, d, [a, mask]),
            Self::Elect { d, p, mask } => {
                visitor.read(Bank::B32, mask);
                visitor.write(Bank::B32, d);
                visitor.write(Bank::Pred, p);
            }
        }
    }

    fn effects(&self, _: &Program) -> Effects {
        match self {
            Self::Shuffle { .. } | Self::Vote { .. } | Self::Match { .. } | Self::Redux { .. } => {
                Effects::of(&[Effect::Collective, Effect::Gathers])
            }
            Self::Elect { .. } => Effects::of(&[Effect::Collective, Effect::DependsOnContext]),
        }
    }

    fn has_member_mask(&self) -> bool {
        match self {
            Self::Shuffle { mask, .. } | Self::Vote { mask, .. } => mask.is_some(),
            Self::Match { .. } | Self::Redux { .. } | Self::Elect { .. } => true,
        }
    }

    fn synchronizes(&self) -> bool {
        true
    }
}
