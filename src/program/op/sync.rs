//! Barriers and fences (PTX ISA, "Parallel Synchronization and Communication Instructions": `bar`, `bar.warp.sync`, `fence`).

use super::effects::{Effect, Effects, Purpose, WaitsFor};
use super::family::Family;
use crate::isa::{BarrierFn, FenceKind, Ordering, Scope};
use crate::program::operands::OperandVisitor;
use crate::program::{Bank, Dst, PredSrc, Program, Src};

/// Barriers and fences.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs, reason = "operands have the letters of the PTX manual: d, a, b, c")]
#[rustfmt::skip]
pub enum SyncOp {
    /// `bar`, `barrier`. `count` is absent if all threads of the block participate; reductions read `p` and write `d` (a predicate for
    /// And and Or, 32 bits for Popc).
    Barrier { f: BarrierFn, aligned: bool, id: Src, count: Option<Src>, d: Dst, p: PredSrc },
    /// `bar.warp.sync`.
    WarpSync { mask: Src },
    /// `fence`, `membar`. A proxy fence without semantics is bidirectional.
    Fence { kind: FenceKind, ordering: Ordering, scope: Scope },
}

impl Family for SyncOp {
    fn operands(&self, visitor: &mut OperandVisitor<'_>) {
        match *self {
            Self::Barrier { f, aligned: _, id, count, d, p } => {
                visitor.read(Bank::B32, id);
                count.into_iter().for_each(|count| visitor.read(Bank::B32, count));
                visitor.predicate(p);
                match f {
                    BarrierFn::Sync | BarrierFn::Arrive => {}
                    BarrierFn::RedPopc => visitor.write(Bank::B32, d),
                    BarrierFn::RedAnd | BarrierFn::RedOr => visitor.write(Bank::Pred, d),
                }
            }
            Self::WarpSync { mask } => visitor.read(Bank::B32, mask),
            Self::Fence { kind: _, ordering: _, scope: _ } => {}
        }
    }

    fn effects(&self, _: &Program) -> Effects {
        match self {
            Self::Barrier { f, .. } => match f {
                BarrierFn::Arrive => Effects::of(&[Effect::Orders]),
                BarrierFn::Sync => Effects::of(&[Effect::Blocks, Effect::Orders]),
                BarrierFn::RedPopc | BarrierFn::RedAnd | BarrierFn::RedOr => {
                    Effects::of(&[Effect::Collective, Effect::Blocks, Effect::Orders])
                }
            },
            Self::WarpSync { mask: _ } => Effects::of(&[Effect::Blocks, Effect::Orders]),
            Self::Fence { .. } => Effects::of(&[Effect::Orders]),
        }
    }

    fn waits_for(&self) -> Option<WaitsFor> {
        match self {
            Self::Barrier { f: BarrierFn::Arrive, .. } | Self::Fence { .. } => None,
            Self::Barrier { f: BarrierFn::Sync | BarrierFn::RedPopc | BarrierFn::RedAnd | BarrierFn::RedOr, .. } => {
                Some(WaitsFor::OtherWarps)
            }
            Self::WarpSync { mask: _ } => Some(WaitsFor::SameWarp),
        }
    }

    fn has_member_mask(&self) -> bool {
        match self {
            Self::WarpSync { mask: _ } => true,
            Self::Barrier { .. } | Self::Fence { .. } => false,
        }
    }

    fn purpose(&self) -> Purpose {
        match self {
            Self::Barrier { .. } | Self::WarpSync { mask: _ } => Purpose::Parameter,
            Self::Fence { .. } => Purpose::Result,
        }
    }

    fn synchronizes(&self) -> bool {
        match self {
            Self::Barrier { .. } | Self::WarpSync { mask: _ } => true,
            Self::Fence { .. } => false,
        }
    }
}
