//! Video instructions (PTX ISA, "Video Instructions"). All operands are 32-bit registers.

use super::effects::{Effects, OperandKinds};
use super::family::Family;
use crate::isa::{VideoMadSpec, VideoSimdSpec, VideoSpec};
use crate::program::operands::OperandVisitor;
use crate::program::{Bank, Dst, Program, Src};

/// Video instructions.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs, reason = "operands have the letters of the PTX manual: d, a, b, c")]
#[rustfmt::skip]
pub enum VideoOp {
    Scalar { spec: VideoSpec, d: Dst, a: Src, b: Src, c: Src },
    Mad { spec: VideoMadSpec, d: Dst, a: Src, b: Src, c: Src },
    Simd { spec: VideoSimdSpec, d: Dst, a: Src, b: Src, c: Src },
}

impl Family for VideoOp {
    fn operands(&self, visitor: &mut OperandVisitor<'_>) {
        match *self {
            Self::Scalar { spec: _, d, a, b, c } | Self::Mad { spec: _, d, a, b, c } | Self::Simd { spec: _, d, a, b, c } => {
                visitor.one_bank(Bank::B32, d, [a, b, c]);
            }
        }
    }

    /// All of them only compute.
    fn effects(&self, _: &Program) -> Effects {
        Effects::NONE
    }

    fn operand_kinds(&self) -> Option<OperandKinds> {
        OperandKinds::INTEGERS
    }
}
