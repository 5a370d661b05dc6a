//! Barriers and warp collectives.

use super::family::{Decoded, Decoding};
use crate::base::Diagnostic;
use crate::isa::{BarrierFn, IntType, ParallelDecode, ReduxFn};
use crate::program::{Dst, MoveOp, Op, PredSrc, SyncOp, WarpOp};

/// Barriers of a block.
const BARRIERS: u64 = 16;

/// Lanes of a warp.
const WARP_SIZE: u64 = 32;

impl Decoding<'_, '_> {
    /// Barriers and warp collectives.
    pub(super) fn parallel(&mut self, decode: ParallelDecode) -> Decoded {
        match decode {
            ParallelDecode::Barrier(f) => self.barrier(f),
            ParallelDecode::WarpSync => Ok(Op::Sync(SyncOp::WarpSync { mask: self.src(0)? })),
            ParallelDecode::ActiveMask => Ok(Op::Move(MoveOp::ActiveMask { d: self.dst(0)? })),
            ParallelDecode::Shuffle(f) => {
                let mask = if self.matched.has("sync") { Some(self.src(4)?) } else { None };
                let (d, p) = (self.dst(0)?, self.second_dst(0));
                Ok(Op::Warp(WarpOp::Shuffle { f, d, p, a: self.src(1)?, b: self.src(2)?, c: self.src(3)?, mask }))
            }
            ParallelDecode::Vote(f) => {
                let mask = if self.matched.has("sync") { Some(self.src(2)?) } else { None };
                Ok(Op::Warp(WarpOp::Vote { f, d: self.dst(0)?, p: self.pred(1)?, mask }))
            }
            ParallelDecode::Match => {
                let (all, width) = (self.matched.has("all"), self.width(self.ty())?);
                Ok(Op::Warp(WarpOp::Match { all, width, d: self.dst(0)?, p: self.second_dst(0), a: self.src(1)?, mask: self.src(2)? }))
            }
            ParallelDecode::ReduxFloat { max } => {
                let (abs, nan) = (self.matched.has("abs"), self.matched.has("NaN"));
                let f = if max { ReduxFn::MaxF32 { abs, nan } } else { ReduxFn::MinF32 { abs, nan } };
                Ok(Op::Warp(WarpOp::Redux { f, ty: IntType::U32, d: self.dst(0)?, a: self.src(1)?, mask: self.src(2)? }))
            }
            ParallelDecode::Redux(f) => {
                Ok(Op::Warp(WarpOp::Redux { f, ty: self.int_type()?, d: self.dst(0)?, a: self.src(1)?, mask: self.src(2)? }))
            }
            ParallelDecode::Elect => Ok(Op::Warp(WarpOp::Elect { d: self.dst(0)?, p: self.second_dst(0), mask: self.src(1)? })),
        }
    }

    /// `bar` and `barrier`: in reductions the destination is first and the predicate last.
    fn barrier(&mut self, f: BarrierFn) -> Decoded {
        let is_reduction = matches!(f, BarrierFn::RedPopc | BarrierFn::RedAnd | BarrierFn::RedOr);
        let first = usize::from(is_reduction);
        let (d, p) = if is_reduction { (self.dst(0)?, self.pred(3)?) } else { (Dst::SINK, PredSrc::Const(true)) };
        let aligned = self.matched.form.opcode == "bar" || self.matched.has("aligned");
        self.check_barrier(first)?;
        Ok(Op::Sync(SyncOp::Barrier { f, aligned, id: self.src(first)?, count: self.optional_src(first + 1)?, d, p }))
    }

    /// Checks constant barrier numbers and thread counts.
    fn check_barrier(&self, first: usize) -> Result<(), Diagnostic> {
        if self.constant_value(first).is_some_and(|id| id >= BARRIERS) {
            return Err(Diagnostic::error("operand", self.operand_span(first), "a block has barriers 0 to 15"));
        }
        match self.constant_value(first + 1) {
            Some(0) if self.matched.has("arrive") => {
                let message = format!("'{}' needs the number of threads that the barrier waits for", self.instruction.opcode.text);
                Err(Diagnostic::error("operand", self.operand_span(first + 1), message).with_help("a multiple of 32, not 0"))
            }
            Some(count) if count % WARP_SIZE != 0 => {
                let message = format!("{count} threads are not a whole number of warps");
                Err(Diagnostic::error("operand", self.operand_span(first + 1), message).with_help("the count is a multiple of 32"))
            }
            _ => Ok(()),
        }
    }
}
