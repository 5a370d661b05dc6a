//! Asynchronous matrix multiplication of a warpgroup (PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions").

use super::effects::{Effect, Effects};
use super::family::Family;
use super::undefined::Undefined;
use crate::base::lanes::LaneMask;
use crate::program::operands::OperandVisitor;
use crate::program::{Bank, Program, WgmmaA, WgmmaId, WgmmaOp};

/// Asynchronous matrix multiplication of a warpgroup.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs, reason = "operands have the letters of the PTX manual: d, a, b, c")]
#[rustfmt::skip]
pub enum WarpgroupOp {
    /// `wgmma.mma_async`.
    Multiply { wgmma: WgmmaId },
    /// `wgmma.fence`.
    Fence,
    /// `wgmma.commit_group`.
    Commit,
    /// `wgmma.wait_group`: waits until at most `pending` of the warp's wgmma-groups have not completed.
    Wait { pending: u32 },
}

impl Family for WarpgroupOp {
    fn operands(&self, visitor: &mut OperandVisitor<'_>) {
        match *self {
            Self::Multiply { wgmma } => visitor.wgmma(wgmma),
            Self::Fence | Self::Commit | Self::Wait { pending: _ } => {}
        }
    }

    fn effects(&self, _: &Program) -> Effects {
        match self {
            Self::Multiply { wgmma: _ } => Effects::of(&[Effect::ReadsMemory, Effect::Collective, Effect::Asynchronous]),
            Self::Fence => Effects::of(&[Effect::Orders]),
            Self::Commit => Effects::of(&[Effect::Asynchronous]),
            Self::Wait { pending: _ } => Effects::of(&[Effect::Blocks, Effect::Orders]),
        }
    }

    fn in_flight_noun(&self) -> &'static str {
        match self {
            Self::Multiply { wgmma: _ } => "wgmma",
            Self::Fence | Self::Commit | Self::Wait { pending: _ } => "copy",
        }
    }

    fn accumulates(&self) -> bool {
        match self {
            Self::Multiply { wgmma: _ } => true,
            Self::Fence | Self::Commit | Self::Wait { pending: _ } => false,
        }
    }

    fn undefined_in(&self, undefined: &dyn Undefined, any: LaneMask) -> LaneMask {
        match *self {
            Self::Multiply { wgmma } => product(undefined, &undefined.program().wgmmas[wgmma], any),
            Self::Fence | Self::Commit | Self::Wait { .. } => any,
        }
    }
}

/// The lanes in which an operand of a `wgmma` is undefined; D is one only if it is accumulated (PTX ISA, "wgmma.mma_async": `scale-d`).
fn product(undefined: &dyn Undefined, op: &WgmmaOp, any: LaneMask) -> LaneMask {
    if (undefined.true_lanes(op.accumulate) | undefined.predicate(op.accumulate)).intersects(undefined.active()) {
        return any;
    }
    let a = match &op.a {
        WgmmaA::Shared(descriptor, _) => undefined.of(Bank::B64, *descriptor),
        WgmmaA::Registers(fragments) => fragments.iter().fold(LaneMask::NONE, |lanes, fragment| lanes | undefined.of(Bank::B32, *fragment)),
    };
    a | undefined.of(Bank::B64, op.b) | op.metadata.map_or(LaneMask::NONE, |(metadata, _)| undefined.of(Bank::B32, metadata))
}
