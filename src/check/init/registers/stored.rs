//! Undefined values that instructions store.

use smallvec::SmallVec;

use super::origin::Origin;
use crate::machine::IssuePoint;
use crate::program::operands::{RegisterOperand, Use, registers_of};
use crate::program::{Bank, Inst, MatrixOp, MemoryOp, Op, Program, RowsAccess, Src, SrcKind};

/// An undefined value that an instruction stores.
#[derive(Clone)]
pub(in crate::check::init) struct StoredValue {
    /// The instruction.
    pub point: IssuePoint,
    /// The elements of each lane.
    pub elements: Vec<StoredElement>,
}

/// A register that is stored and is undefined in some lanes.
#[derive(Clone)]
pub(in crate::check::init) struct StoredElement {
    /// The memory of its bytes.
    pub bytes: ElementBytes,
    /// The register.
    pub register: RegisterOperand,
    /// The lanes, with the origins and the bits of the register that are undefined.
    pub origins: Vec<(usize, Origin, u64)>,
}

/// The memory of the bytes of a register that an instruction stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::check::init) enum ElementBytes {
    /// All bytes that the lane accesses.
    All,
    /// The offset from the lane's address, and the number of bytes.
    At(u32, u32),
    /// Two 16-bit elements of the matrix of `stmatrix` with this number, in rows to which the addresses of other lanes point.
    Rows {
        /// The matrix.
        matrix: usize,
        /// True if the rows in memory are columns of the matrix.
        transposed: bool,
    },
}

impl ElementBytes {
    /// The undefined bits of what is stored, `bits` of the register.
    pub fn bits(self, bits: u64) -> u64 {
        match self {
            Self::At(_, bytes @ 1..8) => bits & ((1 << (8 * bytes)) - 1),
            Self::At(..) => bits,
            // An atomic makes another value of it, and of a matrix two elements are stored in different places.
            Self::All | Self::Rows { .. } => u64::MAX,
        }
    }

    /// The bytes that `lane` stores from the register by an access of `bytes` bytes a lane: the lane whose address they are relative to,
    /// their offset, and their number (PTX ISA, "stmatrix").
    pub fn of_lane(self, lane: usize, bytes: u32) -> SmallVec<[(usize, u32, u32); 2]> {
        match self {
            Self::All => smallvec::smallvec![(lane, 0, bytes)],
            Self::At(skip, bytes) => smallvec::smallvec![(lane, skip, bytes)],
            Self::Rows { matrix, transposed } => {
                let half = |half: usize| {
                    let (row, column) = (lane / 4, 2 * (lane % 4) + half);
                    let (row, column) = if transposed { (column, row) } else { (row, column) };
                    (ROWS * matrix + row, 2 * column as u32, 2)
                };
                SmallVec::from_iter([half(0), half(1)])
            }
        }
    }
}

/// Rows of a matrix of `stmatrix`.
const ROWS: usize = 8;

/// The registers that are stored, and the bytes of each.
type StoredRegisters = SmallVec<[(ElementBytes, RegisterOperand); 4]>;

/// The registers that an instruction stores by an access of its lanes, and the bytes of each.
pub(super) fn stored_registers(inst: &Inst, program: &Program) -> Option<StoredRegisters> {
    let elements = |(bits, reg_bits): (u8, u8), sources: &[Src]| {
        let ((bank, width), bytes) = (Bank::of_element(bits, reg_bits), u32::from(bits) / 8);
        let register = |(source, number): (&Src, u32)| match source.kind() {
            SrcKind::Reg(slot) => Some((ElementBytes::At(bytes * number, bytes), RegisterOperand { bank, slot, width })),
            SrcKind::Const(_) | SrcKind::Special(_) => None,
        };
        Some(sources.iter().zip(0..).filter_map(register).collect())
    };
    if let Op::Memory(MemoryOp::Store { bits, reg_bits, a, .. }) = inst.op {
        return elements((bits, reg_bits), &[a]);
    }
    if let Op::Memory(MemoryOp::StoreVector { bits, reg_bits, parts, .. }) = inst.op {
        return elements((bits, reg_bits), &program.sources[parts]);
    }
    if let Op::Matrix { matrix } = inst.op {
        let MatrixOp::StoreRows(RowsAccess { registers, transposed, .. }) = program.matrices[matrix] else { return None };
        let rows = |(matrix, source): (usize, &Src)| match source.kind() {
            SrcKind::Reg(slot) => Some((ElementBytes::Rows { matrix, transposed }, RegisterOperand { bank: Bank::B32, slot, width: 1 })),
            SrcKind::Const(_) | SrcKind::Special(_) => None,
        };
        return Some(program.sources[registers].iter().enumerate().filter_map(rows).collect());
    }
    let is_atomic = matches!(inst.op, Op::Atomic(_));
    is_atomic.then(|| {
        let mut read = SmallVec::new();
        registers_of(inst, program, |used, register| {
            if used == Use::Read {
                read.push((ElementBytes::All, register));
            }
        });
        read
    })
}
