//! The registers and lanes that get the values that an access reads.

use smallvec::SmallVec;

use crate::machine::AccessEvent;
use crate::program::operands::{RegisterOperand, writes};
use crate::program::{Bank, Dst, MatrixOp, MemoryOp, Op, Program, RowsAccess};

/// A register of a lane, and the byte of what an access reads, counted from where it starts, from which it gets something undefined.
pub(super) type Given = (RegisterOperand, usize, u32);

/// The registers that get some byte of `lacks`, as bits, that `lane` reads by an access.
pub(super) fn given(program: &Program, event: &AccessEvent<'_>, lane: usize, lacks: u64) -> SmallVec<[Given; 8]> {
    let inst = &program.code[event.place.pc.index()];
    if let Op::Memory(MemoryOp::Load { bits, reg_bits, d, .. }) = inst.op {
        return elements(&[d], (bits, reg_bits), lane, lacks);
    }
    if let Op::Memory(MemoryOp::LoadVector { bits, reg_bits, parts, .. }) = inst.op {
        return elements(&program.dests[parts], (bits, reg_bits), lane, lacks);
    }
    if let Op::Matrix { matrix } = inst.op
        && let MatrixOp::LoadRows(rows) = &program.matrices[matrix]
    {
        return halves(program, rows, lane, lacks);
    }
    writes(inst, program).into_iter().map(|register| (register, lane, lacks.trailing_zeros())).collect()
}

/// The registers that `ldmatrix` gives halves of the row of `lane` to: lane l holds two halves of row l / 4, or transposed of column l / 4.
fn halves(program: &Program, access: &RowsAccess, lane: usize, lacks: u64) -> SmallVec<[Given; 8]> {
    let Some(d) = program.dests[access.registers].get(lane / ROWS) else { return SmallVec::new() };
    let (register, row) = (RegisterOperand { bank: Bank::B32, slot: d.0, width: 1 }, lane % ROWS);
    let bytes = |half: usize| lacks >> (2 * half) & 3;
    let holder = |half: usize| if access.transposed { half * 4 + row / 2 } else { row * 4 + half / 2 };
    let lacking = (0..ROWS).filter(|half| bytes(*half) != 0);
    lacking.map(|half| (register, holder(half), bytes(half).trailing_zeros() + 2 * half as u32)).collect()
}

/// Rows of a matrix of `ldmatrix`, and halves of a row.
const ROWS: usize = 8;

/// The registers of a load of one element or several.
fn elements(dests: &[Dst], (bits, reg_bits): (u8, u8), lane: usize, lacks: u64) -> SmallVec<[Given; 8]> {
    let (bank, width) = Bank::of_element(bits, reg_bits);
    let bytes = u32::from(bits).div_ceil(8);
    let all = u64::MAX >> (64 - bytes.clamp(1, 64));
    let gets = |(d, index): (&Dst, u32)| {
        let part = lacks.checked_shr(index * bytes).unwrap_or(0) & all;
        let register = RegisterOperand { bank, slot: d.0, width };
        (part != 0 && !d.is_sink()).then(|| (register, lane, index * bytes + part.trailing_zeros()))
    };
    dests.iter().zip(0..).filter_map(gets).collect()
}
