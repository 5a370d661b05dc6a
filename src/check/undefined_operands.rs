//! The operands of an instruction about to be executed, from which its family computes the lanes in which its result is undefined.

use crate::machine::{FrameBase, LaneMask, PerLane, Warp};
use crate::program::{Bank, Op, PredSrc, Program, Slot, Src, SrcKind, Undefined, WarpOp};

/// The operands of an instruction about to be executed.
pub(super) struct Operands<'a, U> {
    /// The program.
    pub program: &'a Program,
    /// The warp.
    pub warp: &'a Warp,
    /// The frame of its registers.
    pub frame: FrameBase,
    /// The lanes that execute it.
    pub active: LaneMask,
    /// The lanes in which a slot of a bank is undefined.
    pub undefined: U,
}

impl<U: Fn(Bank, Slot) -> LaneMask> Operands<'_, U> {
    /// The active lanes in which the result is undefined, if an operand is undefined in the lanes `any`.
    pub fn result(&self, op: &Op, any: LaneMask) -> LaneMask {
        op.undefined_in(self, any) & self.active
    }

    /// The active lanes that contribute an undefined value to a collective, and those in which another operand is undefined, if an operand
    /// is undefined in the lanes `any`.
    pub fn contributed(&self, op: &Op, any: LaneMask) -> (LaneMask, LaneMask) {
        let Op::Warp(WarpOp::Shuffle { a, b, c, mask, .. }) = *op else { return (any, LaneMask::NONE) };
        if any.is_empty() {
            return (LaneMask::NONE, LaneMask::NONE);
        }
        let mask = mask.map_or(LaneMask::NONE, |mask| self.of(Bank::B32, mask));
        (self.of(Bank::B32, a) & self.active, (self.of(Bank::B32, b) | self.of(Bank::B32, c) | mask) & self.active)
    }
}

impl<U: Fn(Bank, Slot) -> LaneMask> Undefined for Operands<'_, U> {
    fn program(&self) -> &Program {
        self.program
    }

    fn active(&self) -> LaneMask {
        self.active
    }

    fn of(&self, bank: Bank, source: Src) -> LaneMask {
        match source.kind() {
            SrcKind::Reg(slot) => (self.undefined)(bank, slot),
            SrcKind::Const(_) | SrcKind::Special(_) => LaneMask::NONE,
        }
    }

    fn predicate(&self, source: PredSrc) -> LaneMask {
        match source {
            PredSrc::Reg { slot, .. } => (self.undefined)(Bank::Pred, slot),
            PredSrc::Const(_) => LaneMask::NONE,
        }
    }

    fn true_lanes(&self, source: PredSrc) -> LaneMask {
        match source {
            PredSrc::Const(truth) => LaneMask::all_if(truth),
            PredSrc::Reg { slot, negate } => {
                let bits = self.warp.registers.pred.get(slot.in_frame(self.frame.pred).index()).copied().unwrap_or(LaneMask::NONE);
                if negate { !bits } else { bits }
            }
        }
    }

    fn values(&self, bank: Bank, source: Src) -> Option<PerLane<u64>> {
        let Warp { registers, .. } = self.warp;
        match (source.kind(), bank) {
            (SrcKind::Reg(slot), Bank::B64) => registers.b64.get(slot.in_frame(self.frame.b64).index()).copied(),
            (SrcKind::Reg(slot), _) => registers.b32.get(slot.in_frame(self.frame.b32).index()).map(|register| register.map(u64::from)),
            (SrcKind::Const(index), Bank::B64) => self.program.consts64.get(index as usize).map(|constant| [*constant; 32]),
            (SrcKind::Const(index), _) => self.program.consts32.get(index as usize).map(|constant| [u64::from(*constant); 32]),
            (SrcKind::Special(_), _) => None,
        }
    }
}
