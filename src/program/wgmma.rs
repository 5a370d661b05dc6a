//! Asynchronous matrix multiplications of a warpgroup (PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions"). There are few of
//! them, so what they do lies in a table beside the code.

use super::operands::Walk;
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
    /// Types of the elements of D, A and B. `.b1` is `B32`, and K counts words.
    pub types: [ScalarType; 3],
    /// The registers of the warp's part of D, 32 bits each.
    pub d: Box<[Dst]>,
    /// A.
    pub a: WgmmaA,
    /// The descriptor of B, a 64-bit value.
    pub b: Src,
    /// How B lies.
    pub b_major: Major,
    /// What says which columns a sparse A keeps, a 32-bit value, and which lanes have it.
    pub metadata: Option<(Src, u32)>,
    /// `scale-d`: whether D is added.
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
    /// In shared memory: its descriptor, a 64-bit value, and how it lies.
    Shared(Src, Major),
    /// In four registers of 32 bits.
    Registers(Box<[Src]>),
}

impl WgmmaOp {
    /// A or D, as its registers hold it; of a sparse A the columns are those that are kept.
    pub fn fragment(&self, matrix: Matrix) -> Fragment {
        let [d, a, _] = self.types;
        let shape = Shape { k: self.kept(), ..self.shape };
        Fragment { family: MatrixFamily::Wgmma, shape, matrix, ty: if matrix == Matrix::A { a } else { d }, swapped: false }
    }

    /// Elements of a row of A.
    pub fn kept(&self) -> u32 {
        if self.metadata.is_some() { self.shape.k / 2 } else { self.shape.k }
    }
}

impl Walk<'_> {
    /// `wgmma.mma_async`: the accumulators are read as well, unless it is known that they are not added.
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
