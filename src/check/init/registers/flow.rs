//! In which lanes the result of an instruction depends on what nobody has written.
//!
//! Where a defined operand decides alone (`and` with 0, the side that `selp` does not take, the bytes that `prmt` does not pick) the result
//! is defined. Of values packed into one register it is undefined only if all of them are, and a field that `bfi` puts into a register
//! counts for all of it: rather a mistake goes unseen than that a right kernel is accused.

use crate::isa::{BitField32, BoolOp, IntBinary, IntTernary, IntType};
use crate::machine::{FrameBase, LaneMask, PerLane, Warp};
use crate::program::{
    Bank, BitsOp, CompareOp, ConvertOp, IntegerOp, ListId, MoveOp, Op, PredSrc, Program, SelectOp, Src, SrcKind, WarpOp, WarpgroupOp,
    WgmmaA, WgmmaOp,
};

/// The operands of an instruction about to be executed.
pub(super) struct Operands<'a, U> {
    /// The program.
    pub program: &'a Program,
    /// The warp.
    pub warp: &'a Warp,
    /// Where its registers are.
    pub frame: FrameBase,
    /// The lanes that execute it.
    pub active: LaneMask,
    /// The lanes in which a slot of a bank is undefined.
    pub undefined: U,
}

impl<U: Fn(Bank, u32) -> LaneMask> Operands<'_, U> {
    /// The active lanes in which the result is undefined, if in `any` of them some operand is.
    pub fn result(&self, op: &Op, any: LaneMask) -> LaneMask {
        let lanes = match op {
            Op::Integer(op) => self.integer(op, any),
            Op::Bits(op) => self.bits(op, any),
            Op::Select(op) => self.select(op),
            Op::Compare(op) => self.compare(op, any),
            Op::Move(op) => self.moved(op, any),
            Op::Convert(op) => self.converted(op, any),
            Op::Wgmma(op) => self.multiplied(op, any),
            Op::Nop
            | Op::Unsupported { .. }
            | Op::Float(_)
            | Op::Video(_)
            | Op::Cluster(_)
            | Op::Memory(_)
            | Op::Atomic(_)
            | Op::Async(_)
            | Op::TensorMap(_)
            | Op::Stack(_)
            | Op::Control(_)
            | Op::Sync(_)
            | Op::Mbarrier(_)
            | Op::Warp(_)
            | Op::Image { .. }
            | Op::Matrix { .. } => any,
        };
        lanes & self.active
    }

    fn integer(&self, op: &IntegerOp, any: LaneMask) -> LaneMask {
        match *op {
            IntegerOp::Binary { f, ty, a, b, .. } => self.int_binary(f, ty, a, b),
            IntegerOp::MulWide { ty, a, b, .. } => self.either(ty.bank(), a, b, 0),
            IntegerOp::MadWide { ty, a, b, c, .. } => self.of(ty.twice_bank(), c) | self.either(ty.bank(), a, b, 0),
            IntegerOp::Ternary { f: IntTernary::MadLo | IntTernary::Mad24Lo, ty, a, b, c, .. } => {
                self.of(ty.bank(), c) | self.either(ty.bank(), a, b, 0)
            }
            IntegerOp::Unary { .. }
            | IntegerOp::BitCount { .. }
            | IntegerOp::Ternary { .. }
            | IntegerOp::Carry { .. }
            | IntegerOp::Dot { .. } => any,
        }
    }

    fn bits(&self, op: &BitsOp, any: LaneMask) -> LaneMask {
        match *op {
            BitsOp::Lop3 { lut, a, b, c, .. } => self.lop3(lut, [a, b, c]),
            BitsOp::Field32 { f: BitField32::Prmt, a, b, c, .. } => self.permuted(a, b, c),
            BitsOp::Insert { width, a, c, e, .. } => self.of(width.bank(), a) | self.of(Bank::B32, c) | self.of(Bank::B32, e),
            BitsOp::Shift { .. } | BitsOp::Lop3Pred { .. } | BitsOp::Field32 { .. } | BitsOp::Extract { .. } => any,
        }
    }

    fn select(&self, op: &SelectOp) -> LaneMask {
        match *op {
            SelectOp::Select { width, a, b, p, .. } => {
                let (bank, chosen) = (width.bank(), self.truth(p));
                self.predicate(p) | chosen & self.of(bank, a) | !chosen & self.of(bank, b)
            }
            SelectOp::SelectSign { width, a, b, c, .. } => {
                let bank = width.bank();
                self.of(Bank::B32, c) | self.of(bank, a) & self.of(bank, b)
            }
            SelectOp::PredBinary { f, a, b, .. } => self.bool_binary(f, a, b),
            SelectOp::PredMove { a, .. } => self.predicate(a),
        }
    }

    fn compare(&self, op: &CompareOp, any: LaneMask) -> LaneMask {
        match *op {
            CompareOp::SetpInt { combine, ty, c, a, b, .. } => {
                let bank = ty.bank();
                self.compared(self.of(bank, a) | self.of(bank, b), combine, c)
            }
            CompareOp::SetpFloat { combine, ty, c, a, b, .. } => {
                let bank = ty.bank();
                self.compared(self.of(bank, a) | self.of(bank, b), combine, c)
            }
            CompareOp::SetInt { .. } | CompareOp::SetFloat { .. } => any,
        }
    }

    fn moved(&self, op: &MoveOp, any: LaneMask) -> LaneMask {
        match *op {
            MoveOp::Pack { part, parts, .. } => self.all_of(Bank::of_wide(part == 64), parts),
            MoveOp::Vector { width, a, .. } => self.all_of(width.bank(), a),
            MoveOp::Move { .. }
            | MoveOp::Move128 { .. }
            | MoveOp::Unpack { .. }
            | MoveOp::FrameAddress { .. }
            | MoveOp::ReadSpecial { .. }
            | MoveOp::ConvertAddress { .. }
            | MoveOp::IsSpace { .. }
            | MoveOp::CachePolicy { .. }
            | MoveOp::ActiveMask { .. } => any,
        }
    }

    fn converted(&self, op: &ConvertOp, any: LaneMask) -> LaneMask {
        match *op {
            ConvertOp::Pair { a, b, .. } => self.of(Bank::B32, a) & self.of(Bank::B32, b),
            ConvertOp::Single { .. } | ConvertOp::Pack { .. } => any,
        }
    }

    fn multiplied(&self, op: &WarpgroupOp, any: LaneMask) -> LaneMask {
        match *op {
            WarpgroupOp::Multiply { wgmma } => self.product(&self.program.wgmmas[wgmma], any),
            WarpgroupOp::Fence | WarpgroupOp::Commit | WarpgroupOp::Wait { .. } => any,
        }
    }

    /// The lanes in which an operand of a `wgmma` is undefined; of D only where it is added (PTX ISA, "wgmma.mma_async": `scale-d`).
    fn product(&self, op: &WgmmaOp, any: LaneMask) -> LaneMask {
        if (self.truth(op.accumulate) | self.predicate(op.accumulate)).meets(self.active) {
            return any;
        }
        let a = match &op.a {
            WgmmaA::Shared(descriptor, _) => self.of(Bank::B64, *descriptor),
            WgmmaA::Registers(fragments) => fragments.iter().fold(LaneMask::NONE, |lanes, fragment| lanes | self.of(Bank::B32, *fragment)),
        };
        a | self.of(Bank::B64, op.b) | op.metadata.map_or(LaneMask::NONE, |(metadata, _)| self.of(Bank::B32, metadata))
    }

    /// The active lanes that bring something undefined to an exchange, and those in which another of its operands is undefined, if in
    /// `any` of them some operand is.
    pub fn offered(&self, op: &Op, any: LaneMask) -> (LaneMask, LaneMask) {
        let Op::Warp(WarpOp::Shuffle { a, b, c, mask, .. }) = *op else { return (any, LaneMask::NONE) };
        if any.is_empty() {
            return (LaneMask::NONE, LaneMask::NONE);
        }
        let mask = mask.map_or(LaneMask::NONE, |mask| self.of(Bank::B32, mask));
        (self.of(Bank::B32, a) & self.active, (self.of(Bank::B32, b) | self.of(Bank::B32, c) | mask) & self.active)
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

    /// The lanes in which a predicate is true.
    fn truth(&self, source: PredSrc) -> LaneMask {
        match source {
            PredSrc::Const(truth) => {
                if truth {
                    LaneMask::ALL
                } else {
                    LaneMask::NONE
                }
            }
            PredSrc::Reg { slot, negate } => {
                let bits = self.warp.registers.pred.get((self.frame.pred + slot) as usize).copied().unwrap_or(LaneMask::NONE);
                if negate { !bits } else { bits }
            }
        }
    }

    /// The lanes in which a defined operand has a value.
    fn is(&self, bank: Bank, source: Src, value: u64) -> LaneMask {
        let values = self.values(bank, source);
        let same = values.map_or(LaneMask::NONE, |values| LaneMask::ALL.filter(|lane| values[lane] == value));
        same & !self.of(bank, source)
    }

    /// The values of an operand, unless it is a special register.
    fn values(&self, bank: Bank, source: Src) -> Option<PerLane<u64>> {
        let Warp { registers, .. } = self.warp;
        match (source.kind(), bank) {
            (SrcKind::Reg(slot), Bank::B64) => registers.b64.get((self.frame.b64 + slot) as usize).copied(),
            (SrcKind::Reg(slot), _) => registers.b32.get((self.frame.b32 + slot) as usize).map(|register| register.map(u64::from)),
            (SrcKind::Const(index), Bank::B64) => self.program.consts64.get(index as usize).map(|constant| [*constant; 32]),
            (SrcKind::Const(index), _) => self.program.consts32.get(index as usize).map(|constant| [u64::from(*constant); 32]),
            (SrcKind::Special(_), _) => None,
        }
    }

    /// `prmt` in its plain form: each nibble of the selector picks a byte, the lower four of `a` and the upper ones of `b`.
    fn permuted(&self, a: Src, b: Src, selector: Src) -> LaneMask {
        let selectors = self.values(Bank::B32, selector).unwrap_or([0x7654_3210; 32]);
        let picks = |upper: u64| LaneMask::ALL.filter(|lane| (0..4).any(|nibble| selectors[lane] >> (4 * nibble + 2) & 1 == upper));
        self.of(Bank::B32, selector) | picks(0) & self.of(Bank::B32, a) | picks(1) & self.of(Bank::B32, b)
    }

    /// An operation of two operands that is decided if one of them is `neutral`.
    fn either(&self, bank: Bank, a: Src, b: Src, decides: u64) -> LaneMask {
        (self.of(bank, a) | self.of(bank, b)) & !self.is(bank, a, decides) & !self.is(bank, b, decides)
    }

    fn int_binary(&self, f: IntBinary, ty: IntType, a: Src, b: Src) -> LaneMask {
        let bank = ty.bank();
        let ones = match ty {
            IntType::U16 | IntType::S16 => 0xffff,
            IntType::U64 | IntType::S64 => u64::MAX,
            IntType::U32 | IntType::S32 | IntType::U16x2 | IntType::S16x2 => 0xffff_ffff,
        };
        if f.cancels() && a == b {
            return LaneMask::NONE;
        }
        match f.decided_by() {
            Some(bit) => self.either(bank, a, b, if bit { ones } else { 0 }),
            None => self.of(bank, a) | self.of(bank, b),
        }
    }

    /// Operands that the table does not depend on count for nothing, and neither do the same register's different ways.
    fn lop3(&self, lut: u8, [a, b, c]: [Src; 3]) -> LaneMask {
        let at = |x: u8, y: u8, z: u8| lut >> (x << 2 | y << 1 | z) & 1;
        let pairs = [(0, 0), (0, 1), (1, 0), (1, 1)];
        let by_a = pairs.iter().any(|(y, z)| at(0, *y, *z) != at(1, *y, *z));
        let by_b = pairs.iter().any(|(x, z)| at(*x, 0, *z) != at(*x, 1, *z));
        let by_c = pairs.iter().any(|(x, y)| at(*x, *y, 0) != at(*x, *y, 1));
        if a == b && b == c && at(0, 0, 0) == at(1, 1, 1) {
            return LaneMask::NONE;
        }
        let operands = [(by_a, a), (by_b, b), (by_c, c)].into_iter().filter(|(counts, _)| *counts);
        operands.fold(LaneMask::NONE, |lanes, (_, source)| lanes | self.of(Bank::B32, source))
    }

    fn bool_binary(&self, f: BoolOp, a: PredSrc, b: PredSrc) -> LaneMask {
        let (x, y) = (self.predicate(a), self.predicate(b));
        let decided = match f {
            BoolOp::And => !self.truth(a) & !x | !self.truth(b) & !y,
            BoolOp::Or => self.truth(a) & !x | self.truth(b) & !y,
            BoolOp::Xor => LaneMask::NONE,
        };
        (x | y) & !decided
    }

    /// `setp`, whose comparison is undefined in `compared`, and then combined with `c`.
    fn compared(&self, compared: LaneMask, combine: BoolOp, c: PredSrc) -> LaneMask {
        let (unknown, truth) = (self.predicate(c), self.truth(c));
        let decided = match combine {
            BoolOp::And => !truth & !unknown,
            BoolOp::Or => truth & !unknown,
            BoolOp::Xor => LaneMask::NONE,
        };
        (compared | unknown) & !decided
    }

    fn all_of(&self, bank: Bank, list: ListId) -> LaneMask {
        let sources = &self.program.sources[list];
        sources.iter().fold(LaneMask::ALL, |lanes, source| lanes & self.of(bank, *source))
    }
}
