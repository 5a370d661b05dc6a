//! Matrix instructions of a warp (PTX ISA, "Warp Level Matrix Instructions"). They are rare, so an instruction holds an index into a table
//! of their operands.

use super::op::{Effect, Effects, Family};
use super::operands::OperandVisitor;
use super::{Access, Address, Bank, Dst, ListId, Program, Src};
use crate::base::define_id;
use crate::isa::{Fragment, Matrix, MatrixFamily, Rounding, ScalarType, Shape};

define_id!(
    /// A matrix instruction: an index into [`Program::matrices`](super::Program).
    MatrixId, "matrix"
);

/// The operation of a matrix instruction. Registers of a fragment are in the order of the manual.
#[derive(Clone, Debug, PartialEq)]
pub enum MatrixOp {
    /// `mma`, `mma.sp`, `wmma.mma`.
    Multiply(MatrixMultiply),
    /// `wmma.load`: into [`Program::dests`](super::Program).
    Load(FragmentAccess),
    /// `wmma.store`: from [`Program::sources`](super::Program).
    Store(FragmentAccess),
    /// `ldmatrix`: a matrix for each register of [`Program::dests`](super::Program).
    LoadRows(RowsAccess),
    /// `stmatrix`: a matrix from each register of [`Program::sources`](super::Program).
    StoreRows(RowsAccess),
    /// `movmatrix`.
    Transpose {
        /// The transposed matrix.
        d: Dst,
        /// A matrix of 8 by 8 halves.
        a: Src,
    },
}

/// D = A * B + C.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MatrixMultiply {
    /// Shape, types and modifiers.
    pub kind: MultiplyKind,
    /// D, in [`Program::dests`](super::Program).
    pub d: ListId,
    /// A, in [`Program::sources`](super::Program).
    pub a: ListId,
    /// B.
    pub b: ListId,
    /// C.
    pub c: ListId,
    /// The metadata operand of a sparse A, a 32-bit value, and the sparsity selector: which lanes provide it.
    pub metadata: Option<(Src, u32)>,
}

/// Everything of a multiplication except its registers: instructions of one kind share their lookup tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MultiplyKind {
    /// The instruction.
    pub family: MatrixFamily,
    /// Rows and columns.
    pub shape: Shape,
    /// Types of the elements of D, A, B and C. `.b1` is represented as `B32`, and K then counts 32-bit words.
    pub types: [ScalarType; 4],
    /// A is `.col`.
    pub a_by_columns: bool,
    /// B is `.row`.
    pub b_by_rows: bool,
    /// The modifier that changes the result.
    pub mode: MultiplyMode,
}

/// The modifiers of a multiplication that change its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MultiplyMode {
    /// `.rn`, `.rz`, `.rm`, `.rp` of `.f64`; to nearest without a modifier.
    Round(Rounding),
    /// `.satfinite`.
    Saturate,
    /// `.xor.popc`.
    Xor,
    /// `.and.popc`.
    And,
}

impl MultiplyKind {
    /// The fragment of one of its matrices.
    pub fn fragment(&self, matrix: Matrix) -> Fragment {
        let [d, a, b, c] = self.types;
        let (ty, swapped) = match matrix {
            Matrix::A => (a, self.a_by_columns),
            Matrix::B => (b, self.b_by_rows),
            Matrix::C => (c, false),
            Matrix::D => (d, false),
        };
        Fragment { family: self.family, shape: self.shape, matrix, ty, swapped }
    }
}

/// A fragment that is loaded or stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FragmentAccess {
    /// The fragment.
    pub fragment: Fragment,
    /// Its registers.
    pub registers: ListId,
    /// The space, and how it is accessed.
    pub access: Access,
    /// Address of the matrix.
    pub address: Address,
    /// `.col`: the matrix is column-major in memory.
    pub by_columns: bool,
    /// Bits of an element in memory.
    pub bits: u32,
    /// Elements from one row, or column, to the next, a 32-bit value. Without it rows or columns are contiguous.
    pub stride: Option<Src>,
}

/// Matrices of 8 by 8 halves that are loaded from or stored to shared memory, row by row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowsAccess {
    /// One for each matrix.
    pub registers: ListId,
    /// The space, and how it is accessed.
    pub access: Access,
    /// The address of a row, in each lane that provides one.
    pub address: Address,
    /// `.trans`.
    pub transposed: bool,
}

impl MatrixOp {
    /// Its effects other than writing registers.
    pub fn effects(&self) -> Effects {
        match self {
            Self::Multiply(_) | Self::Transpose { .. } => Effects::of(&[Effect::Collective]),
            Self::Load(_) | Self::LoadRows(_) => Effects::of(&[Effect::Collective, Effect::ReadsMemory]),
            Self::Store(_) | Self::StoreRows(_) => Effects::of(&[Effect::Collective, Effect::WritesMemory]),
        }
    }
}

impl Family for MatrixId {
    /// The registers of fragments are 64 bits wide for elements of `.f64`, and 32 otherwise.
    fn operands(&self, visitor: &mut OperandVisitor<'_>) {
        let op = &visitor.program.matrices[*self];
        match op {
            MatrixOp::Multiply(multiply) => {
                let [d, a, b, c] = multiply.kind.types;
                visitor.read_fragment(multiply.a, a);
                visitor.read_fragment(multiply.b, b);
                visitor.read_fragment(multiply.c, c);
                multiply.metadata.iter().for_each(|(metadata, _)| visitor.read(Bank::of_wide(false), *metadata));
                visitor.write_fragment(multiply.d, d);
            }
            MatrixOp::Load(access) => {
                visitor.address(access.address);
                access.stride.iter().for_each(|stride| visitor.read(Bank::of_wide(false), *stride));
                visitor.write_fragment(access.registers, access.fragment.ty);
            }
            MatrixOp::Store(access) => {
                visitor.address(access.address);
                access.stride.iter().for_each(|stride| visitor.read(Bank::of_wide(false), *stride));
                visitor.read_fragment(access.registers, access.fragment.ty);
            }
            MatrixOp::LoadRows(access) => {
                visitor.address(access.address);
                visitor.write_fragment(access.registers, ScalarType::B32);
            }
            MatrixOp::StoreRows(access) => {
                visitor.address(access.address);
                visitor.read_fragment(access.registers, ScalarType::B32);
            }
            MatrixOp::Transpose { d, a } => {
                visitor.read(Bank::of_wide(false), *a);
                visitor.write(Bank::of_wide(false), *d);
            }
        }
    }

    fn effects(&self, program: &Program) -> Effects {
        program.matrices[*self].effects()
    }
}

impl OperandVisitor<'_> {
    fn read_fragment(&mut self, list: ListId, ty: ScalarType) {
        let sources: &[Src] = self.sources(list);
        sources.iter().for_each(|source| self.read(Bank::of_wide(ty == ScalarType::F64), *source));
    }

    fn write_fragment(&mut self, list: ListId, ty: ScalarType) {
        let dests: &[Dst] = self.dests(list);
        dests.iter().for_each(|d| self.write(Bank::of_wide(ty == ScalarType::F64), *d));
    }
}
