//! Asynchronous matrix multiplications of a warpgroup (PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions"). They are rare, so an
//! instruction holds an index into a table of their operands.

use super::operands::OperandVisitor;
use super::{Bank, Dst, PredSrc, Src};
use crate::base::define_id;
use crate::isa::{Fragment, Major, Matrix, MatrixFamily, ScalarType, Shape};

define_id!(
    /// A `wgmma.mma_async`: an index into [`Program::wgmmas`](super::Program).
    WgmmaId, "wgmma"
);

/// `wgmma.mma_async`: D = A * B + D, of 64 rows, 16 of which belong to each warp of the warpgroup.
#[derive(Clone, Debug, PartialEq)]
pub struct WgmmaOp {
    /// Rows and columns.
    pub shape: Shape,
    /// Types of the elements of D, A and B. `.b1` is represented as `B32`, and K then counts 32-bit words.
    pub types: [ScalarType; 3],
    /// The registers of the warp's part of D, 32 bits each.
    pub d: Box<[Dst]>,
    /// A.
    pub a: WgmmaA,
    /// The descriptor of B, a 64-bit value.
    pub b: Src,
    /// Majorness of B in shared memory.
    pub b_major: Major,
    /// The metadata operand of a sparse A, a 32-bit value, and the sparsity selector: which lanes provide it.
    pub metadata: Option<(Src, u32)>,
    /// `scale-d`: true if D is added.
    pub accumulate: PredSrc,
    /// `imm-scale-a` is -1.
    pub negate_a: bool,
    /// `imm-scale-b` is -1.
    pub negate_b: bool,
    /// `.satfinite`.
    pub saturate: bool,
}

/// Operand A of a `wgmma`.
#[derive(Clone, Debug, PartialEq)]
pub enum WgmmaA {
    /// In shared memory: its descriptor, a 64-bit value, and its majorness.
    Shared(Src, Major),
    /// In four registers of 32 bits.
    Registers(Box<[Src]>),
}

impl WgmmaOp {
    /// The register fragment of A or D; for a sparse A only its stored columns.
    pub fn fragment(&self, matrix: Matrix) -> Fragment {
        let [d, a, _] = self.types;
        let shape = Shape { k: self.stored_k(), ..self.shape };
        Fragment { family: MatrixFamily::Wgmma, shape, matrix, ty: if matrix == Matrix::A { a } else { d }, swapped: false }
    }

    /// Stored elements of a row of A: half of K if it is sparse.
    pub fn stored_k(&self) -> u32 {
        if self.metadata.is_some() { self.shape.k / 2 } else { self.shape.k }
    }
}

impl OperandVisitor<'_> {
    /// `wgmma.mma_async`: the accumulators are read as well, unless `scale-d` is the constant false.
    pub(super) fn wgmma(&mut self, wgmma: WgmmaId) {
        let op = &self.program.wgmmas[wgmma];
        match &op.a {
            WgmmaA::Shared(descriptor, _) => self.read(Bank::B64, *descriptor),
            WgmmaA::Registers(fragments) => fragments.iter().for_each(|fragment| self.read(Bank::B32, *fragment)),
        }
        self.read(Bank::B64, op.b);
        op.metadata.iter().for_each(|(metadata, _)| self.read(Bank::B32, *metadata));
        self.predicate(op.accumulate);
        if op.accumulate != PredSrc::Const(false) {
            op.d.iter().for_each(|d| self.read(Bank::B32, Src::reg(d.0)));
        }
        op.d.iter().for_each(|d| self.write(Bank::B32, *d));
    }
}
