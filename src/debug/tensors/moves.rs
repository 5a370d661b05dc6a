//! Moves: instructions that copy registers, whole or in parts, and constants.

use crate::isa::Width;
use crate::program::{Bank, Inst, ListId, MoveOp, Op, Program, Slot, Src, SrcKind};

/// Bits that a move copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moved {
    /// The register that they come to, and the first bit there.
    pub to: (Bank, Slot),
    /// The first bit there.
    pub to_shift: u32,
    /// What they come from.
    pub from: Source,
    /// The first bit there.
    pub from_shift: u32,
    /// Their number.
    pub bits: u32,
}

/// What a move copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A register.
    Register(Bank, Slot),
    /// A constant.
    Constant(u64),
}

/// What an instruction copies; empty if it is no move.
pub fn moves(inst: &Inst, program: &Program) -> Vec<Moved> {
    let Op::Move(op) = &inst.op else { return Vec::new() };
    let source = |bank: Bank, source: Src| match source.kind() {
        SrcKind::Reg(slot) => Some(Source::Register(bank, slot)),
        SrcKind::Const(index) if bank == Bank::B64 => program.consts64.get(index as usize).copied().map(Source::Constant),
        SrcKind::Const(index) => program.consts32.get(index as usize).map(|bits| Source::Constant(u64::from(*bits))),
        SrcKind::Special(_) => None,
    };
    let whole = |width: Width, to: Slot, from: Src| {
        let bank = width.bank();
        let bits = match width {
            Width::B16 => 16,
            Width::B32 => 32,
            Width::B64 => 64,
        };
        Some(Moved { to: (bank, to), to_shift: 0, from: source(bank, from)?, from_shift: 0, bits })
    };
    let sources = |list: ListId| program.sources[list].iter().copied();
    let dests = |list: ListId| program.dests[list].iter().copied();
    match *op {
        MoveOp::Move { width, d, a } => whole(width, d.0, a).into_iter().collect(),
        MoveOp::Vector { width, d, a } => dests(d).zip(sources(a)).filter_map(|(d, a)| whole(width, d.0, a)).collect(),
        MoveOp::Pack { part, parts, d } => {
            let bits = u32::from(part);
            let to = (Bank::of_bits(usize::from(part) * program.sources[parts].len()).0, d.0);
            let one = |(from, number): (Src, u32)| {
                Some(Moved { to, to_shift: number * bits, from: source(Bank::of_wide(part == 64), from)?, from_shift: 0, bits })
            };
            sources(parts).zip(0..).filter_map(one).collect()
        }
        MoveOp::Unpack { part, parts, a } => {
            let bits = u32::from(part);
            let from = source(Bank::of_bits(usize::from(part) * program.dests[parts].len()).0, a);
            let one = |(to, number): (crate::program::Dst, u32)| {
                let to = (Bank::of_wide(part == 64), to.0);
                Some(Moved { to, to_shift: 0, from: from?, from_shift: number * bits, bits })
            };
            dests(parts).zip(0..).filter_map(one).collect()
        }
        MoveOp::Move128 { .. }
        | MoveOp::FrameAddress { .. }
        | MoveOp::ReadSpecial { .. }
        | MoveOp::ConvertAddress { .. }
        | MoveOp::IsSpace { .. }
        | MoveOp::CachePolicy { .. }
        | MoveOp::ActiveMask { .. } => Vec::new(),
    }
}
