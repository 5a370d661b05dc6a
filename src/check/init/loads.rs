//! The registers and lanes that receive the values that an access reads.

use smallvec::SmallVec;

use super::registers::ALL_BITS;
use crate::machine::AccessEvent;
use crate::program::operands::{RegisterOperand, writes};
use crate::program::{Bank, Dst, MatrixOp, MemoryOp, Op, Program, RowsAccess};

/// A register of a lane, and the offset in the access of the first undefined byte that it receives.
pub(super) type Receiver = (RegisterOperand, usize, u32);

/// The registers that receive bytes of `undefined_bytes`, a bit mask, which `lane` reads by an access.
pub(super) fn receivers(program: &Program, event: &AccessEvent<'_>, lane: usize, undefined_bytes: u64) -> SmallVec<[Receiver; 8]> {
    let inst = &program.code[event.point.pc.index()];
    if let Op::Memory(MemoryOp::Load { bits, reg_bits, d, .. }) = inst.op {
        return elements(&[d], (bits, reg_bits), lane, undefined_bytes);
    }
    if let Op::Memory(MemoryOp::LoadVector { bits, reg_bits, parts, .. }) = inst.op {
        return elements(&program.dests[parts], (bits, reg_bits), lane, undefined_bytes);
    }
    if let Op::Matrix { matrix } = inst.op
        && let MatrixOp::LoadRows(rows) = &program.matrices[matrix]
    {
        return halves(program, rows, lane, undefined_bytes);
    }
    writes(inst, program).into_iter().map(|register| (register, lane, undefined_bytes.trailing_zeros())).collect()
}

/// The undefined bits of the register that receives the element with byte `offset` of an access, of which `byte` has the undefined bits.
/// Operations that make something else of the bytes leave no bit defined.
pub(super) fn register_bits(program: &Program, event: &AccessEvent<'_>, offset: u32, byte: impl Fn(u32) -> u8) -> u64 {
    let Op::Memory(MemoryOp::Load { bits, signed, reg_bits, .. } | MemoryOp::LoadVector { bits, signed, reg_bits, .. }) =
        program.code[event.point.pc.index()].op
    else {
        return ALL_BITS;
    };
    let bytes = u32::from(bits).div_ceil(8).max(1);
    if bytes > 8 {
        return ALL_BITS;
    }
    let start = offset / bytes * bytes;
    let undefined = (0..bytes).fold(0, |all, at| all | u64::from(byte(start + at)) << (8 * at));
    let loaded = if bytes == 8 { ALL_BITS } else { (1 << (8 * bytes)) - 1 };
    let is_sign = signed && undefined >> (8 * bytes - 1) & 1 == 1;
    match undefined == loaded && bits >= reg_bits {
        true => ALL_BITS,
        false if is_sign => undefined | !loaded,
        false => undefined,
    }
}

/// The registers that receive 16-bit elements of the row of `lane` by `ldmatrix`: lane l receives two elements of row l / 4, or of column
/// l / 4 if transposed.
fn halves(program: &Program, access: &RowsAccess, lane: usize, undefined_bytes: u64) -> SmallVec<[Receiver; 8]> {
    let Some(d) = program.dests[access.registers].get(lane / ROWS) else { return SmallVec::new() };
    let (register, row) = (RegisterOperand { bank: Bank::B32, slot: d.0, width: 1 }, lane % ROWS);
    let bytes = |half: usize| undefined_bytes >> (2 * half) & 3;
    let holder = |half: usize| if access.transposed { half * 4 + row / 2 } else { row * 4 + half / 2 };
    let undefined_halves = (0..ROWS).filter(|half| bytes(*half) != 0);
    undefined_halves.map(|half| (register, holder(half), bytes(half).trailing_zeros() + 2 * half as u32)).collect()
}

/// Rows of a matrix of `ldmatrix`, and 16-bit elements of a row.
const ROWS: usize = 8;

/// The registers that receive undefined bytes by a load of one element or a vector.
fn elements(dests: &[Dst], (bits, reg_bits): (u8, u8), lane: usize, undefined_bytes: u64) -> SmallVec<[Receiver; 8]> {
    let (bank, width) = Bank::of_element(bits, reg_bits);
    let bytes = u32::from(bits).div_ceil(8);
    let all = u64::MAX >> (64 - bytes.clamp(1, 64));
    let gets = |(d, index): (&Dst, u32)| {
        let part = undefined_bytes.checked_shr(index * bytes).unwrap_or(0) & all;
        let register = RegisterOperand { bank, slot: d.0, width };
        (part != 0 && !d.is_sink()).then(|| (register, lane, index * bytes + part.trailing_zeros()))
    };
    dests.iter().zip(0..).filter_map(gets).collect()
}
