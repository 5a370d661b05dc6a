//! Barriers and fences (PTX ISA, "Parallel Synchronization and Communication Instructions": `bar`, `bar.warp.sync`, `fence`).

use super::effects::{Awaited, Effect, Effects, Purpose};
use super::family::Family;
use crate::isa::{BarrierFn, FenceKind, Ordering, Scope};
use crate::program::operands::Walk;
use crate::program::{Bank, Dst, PredSrc, Program, Src};

/// Barriers and fences.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs, reason = "operands have the letters of the PTX manual: d, a, b, c")]
#[rustfmt::skip]
pub enum SyncOp {
    /// `bar`, `barrier`. `count` is absent where the whole block takes part; reductions read `p` and write `d` (a predicate for
    /// And and Or, 32 bits for Popc).
    Barrier { f: BarrierFn, aligned: bool, id: Src, count: Option<Src>, d: Dst, p: PredSrc },
    /// `bar.warp.sync`.
    WarpSync { mask: Src },
    /// `fence`, `membar`; of a proxy fence without a semantics both ways.
    Fence { kind: FenceKind, ordering: Ordering, scope: Scope },
}

impl Family for SyncOp {
    fn operands(&self, walk: &mut Walk<'_>) {
        match *self {
            Self::Barrier { f, aligned: _, id, count, d, p } => {
                walk.read(Bank::B32, id);
                count.into_iter().for_each(|count| walk.read(Bank::B32, count));
                walk.predicate(p);
                match f {
                    BarrierFn::Sync | BarrierFn::Arrive => {}
                    BarrierFn::RedPopc => walk.write(Bank::B32, d),
                    BarrierFn::RedAnd | BarrierFn::RedOr => walk.write(Bank::Pred, d),
                }
            }
            Self::WarpSync { mask } => walk.read(Bank::B32, mask),
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

    fn awaits(&self) -> Option<Awaited> {
        match self {
            Self::Barrier { f: BarrierFn::Arrive, .. } | Self::Fence { .. } => None,
            Self::Barrier { f: BarrierFn::Sync | BarrierFn::RedPopc | BarrierFn::RedAnd | BarrierFn::RedOr, .. } => {
                Some(Awaited::OtherWarps)
            }
            Self::WarpSync { mask: _ } => Some(Awaited::OwnWarp),
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
