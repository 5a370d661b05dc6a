//! Matrix instructions of a warp (PTX ISA, "Warp Level Matrix Instructions"). There are few of them, so what they do lies in a table
//! beside the code.

use super::op::{Effect, Effects, Family};
use super::operands::Walk;
use super::{Access, Address, Bank, Dst, ListId, Program, Src};
use crate::base::define_id;
use crate::isa::{Fragment, Matrix, MatrixFamily, Rounding, ScalarType, Shape};

define_id!(
    /// A matrix instruction: an index into [`Program::matrices`](super::Program).
    MatrixId, "matrix"
);

/// What a matrix instruction does. Registers of a fragment are in the order of the manual.
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
    /// What is multiplied, and how.
    pub kind: MultiplyKind,
    /// D, in [`Program::dests`](super::Program).
    pub d: ListId,
    /// A, in [`Program::sources`](super::Program).
    pub a: ListId,
    /// B.
    pub b: ListId,
    /// C.
    pub c: ListId,
    /// What says which columns a sparse A keeps, a 32-bit value, and which lanes have it.
    pub metadata: Option<(Src, u32)>,
}

/// What a multiplication does beyond its registers: instructions of one kind share their tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MultiplyKind {
    /// Which instruction.
    pub family: MatrixFamily,
    /// Rows and columns.
    pub shape: Shape,
    /// Types of the elements of D, A, B and C. `B1` has none in [`ScalarType`]: it is `B32`, and K counts words.
    pub types: [ScalarType; 4],
    /// A is `.col`.
    pub a_by_columns: bool,
    /// B is `.row`.
    pub b_by_rows: bool,
    /// The words that change the result.
    pub mode: MultiplyMode,
}

/// The words of a multiplication that change its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MultiplyMode {
    /// `.rn` and kin, of `.f64`; nearest where there is none.
    Round(Rounding),
    /// `.satfinite`.
    Saturate,
    /// `.xor.popc`.
    Xor,
    /// `.and.popc`.
    And,
}

impl MultiplyKind {
    /// One of its fragments.
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

/// A fragment that goes between registers and memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FragmentAccess {
    /// The fragment.
    pub fragment: Fragment,
    /// Its registers.
    pub registers: ListId,
    /// The space, and how it is accessed.
    pub access: Access,
    /// Where the matrix starts.
    pub address: Address,
    /// `.col`: columns lie one after the other in memory, not rows.
    pub by_columns: bool,
    /// Bits of an element in memory.
    pub bits: u32,
    /// Elements from one row, or column, to the next, a 32-bit value; as many as it has where it is left out.
    pub stride: Option<Src>,
}

/// Matrices of 8 by 8 halves that go between registers and shared memory, row by row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowsAccess {
    /// One for each matrix.
    pub registers: ListId,
    /// The space, and how it is accessed.
    pub access: Access,
    /// Of each lane that has a row, its address.
    pub address: Address,
    /// `.trans`.
    pub transposed: bool,
}

impl MatrixOp {
    /// What it does beside writing registers.
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
    fn operands(&self, walk: &mut Walk<'_>) {
        let op = &walk.program.matrices[*self];
        match op {
            MatrixOp::Multiply(multiply) => {
                let [d, a, b, c] = multiply.kind.types;
                walk.read_fragment(multiply.a, a);
                walk.read_fragment(multiply.b, b);
                walk.read_fragment(multiply.c, c);
                multiply.metadata.iter().for_each(|(metadata, _)| walk.read(Bank::of_wide(false), *metadata));
                walk.write_fragment(multiply.d, d);
            }
            MatrixOp::Load(access) => {
                walk.address(access.address);
                access.stride.iter().for_each(|stride| walk.read(Bank::of_wide(false), *stride));
                walk.write_fragment(access.registers, access.fragment.ty);
            }
            MatrixOp::Store(access) => {
                walk.address(access.address);
                access.stride.iter().for_each(|stride| walk.read(Bank::of_wide(false), *stride));
                walk.read_fragment(access.registers, access.fragment.ty);
            }
            MatrixOp::LoadRows(access) => {
                walk.address(access.address);
                walk.write_fragment(access.registers, ScalarType::B32);
            }
            MatrixOp::StoreRows(access) => {
                walk.address(access.address);
                walk.read_fragment(access.registers, ScalarType::B32);
            }
            MatrixOp::Transpose { d, a } => {
                walk.read(Bank::of_wide(false), *a);
                walk.write(Bank::of_wide(false), *d);
            }
        }
    }

    fn effects(&self, program: &Program) -> Effects {
        program.matrices[*self].effects()
    }
}

impl Walk<'_> {
    fn read_fragment(&mut self, list: ListId, ty: ScalarType) {
        let sources: &[Src] = self.sources(list);
        sources.iter().for_each(|source| self.read(Bank::of_wide(ty == ScalarType::F64), *source));
    }

    fn write_fragment(&mut self, list: ListId, ty: ScalarType) {
        let dests: &[Dst] = self.dests(list);
        dests.iter().for_each(|d| self.write(Bank::of_wide(ty == ScalarType::F64), *d));
    }
}
