//! Fragments: the instruction, shape, matrix and element type of a matrix in registers; `mma.m16n8k16.a.f16` in commands.

use crate::isa::ScalarType;
use crate::isa::table::forms;

/// The shape of a multiplication: A has `m` rows of `k`, B has `k` rows of `n`, C and D have `m` rows of `n`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Shape {
    /// Rows of A, C and D.
    pub m: u32,
    /// Columns of B, C and D.
    pub n: u32,
    /// Columns of A, rows of B.
    pub k: u32,
}

impl Shape {
    /// Reads `m16n8k16`.
    pub fn from_word(word: &str) -> Option<Shape> {
        let (m, rest) = word.strip_prefix('m')?.split_once('n')?;
        let (n, k) = rest.split_once('k')?;
        Some(Shape { m: m.parse().ok()?, n: n.parse().ok()?, k: k.parse().ok()? })
    }
}

impl std::fmt::Display for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "m{}n{}k{}", self.m, self.n, self.k)
    }
}

/// A matrix of D = A * B + C.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Matrix {
    /// The left factor.
    A,
    /// The right factor.
    B,
    /// The addend.
    C,
    /// The result.
    D,
}

impl Matrix {
    /// The letters of the manual.
    pub const WORDS: &'static [(&'static str, Matrix)] = &[("a", Matrix::A), ("b", Matrix::B), ("c", Matrix::C), ("d", Matrix::D)];
}

/// Instructions with the same fragment layouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MatrixFamily {
    /// `mma`.
    Mma,
    /// `mma.sp`: only half of the columns of A are stored.
    MmaSparse,
    /// `wmma`. The layouts are not in the manual: they are those of the vendor's assembler for sm_90a.
    Wmma,
    /// `wgmma`: a lane is one of the 128 threads of a warpgroup.
    Wgmma,
}

impl MatrixFamily {
    /// The names of families in commands, before the shape.
    pub const WORDS: &'static [(&'static str, MatrixFamily)] =
        &[("mma.sp", MatrixFamily::MmaSparse), ("mma", MatrixFamily::Mma), ("wmma", MatrixFamily::Wmma), ("wgmma", MatrixFamily::Wgmma)];

    /// True if some instruction of the family has this shape, such as `m16n8k16`.
    pub fn has_shape(self, word: &str) -> bool {
        let opcode = match self {
            MatrixFamily::Mma | MatrixFamily::MmaSparse => "mma",
            MatrixFamily::Wmma => "wmma",
            MatrixFamily::Wgmma => "wgmma",
        };
        let mut slots = forms(opcode).iter().flat_map(|form| &form.slots);
        slots.any(|slot| slot.modifiers.iter().any(|known| known.text.split('.').any(|part| part == word)))
    }
}

/// A matrix in the registers of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fragment {
    /// Its instructions.
    pub family: MatrixFamily,
    /// The shape of the multiplication.
    pub shape: Shape,
    /// The matrix of the multiplication.
    pub matrix: Matrix,
    /// The type of its elements; `.b1` is represented as `B32`, and columns then count 32-bit words.
    pub ty: ScalarType,
    /// True if A is `.col`, or B is `.row`. It affects the layout of `mma.m8n8k4` of `.f16` only.
    pub swapped: bool,
}

impl Fragment {
    /// Rows of the matrix.
    pub fn rows(&self) -> u32 {
        if self.matrix == Matrix::B { self.shape.k } else { self.shape.m }
    }

    /// Columns of the matrix; for a sparse A only the stored ones.
    pub fn columns(&self) -> u32 {
        match (self.matrix, self.family) {
            (Matrix::A, MatrixFamily::MmaSparse) => self.shape.k / 2,
            (Matrix::A, _) => self.shape.k,
            _ => self.shape.n,
        }
    }

    /// Elements in one register: 1, or as many as fit in 32 bits.
    pub fn per_register(&self) -> u32 {
        (32 / self.ty.bits()).max(1)
    }

    /// The same fragment with 32-bit words as elements, into which elements of less than a byte are packed along K.
    #[must_use]
    pub fn in_32_bit_words(self) -> Fragment {
        let bits = self.ty.bits();
        if bits >= 8 {
            return self;
        }
        Fragment { shape: Shape { k: self.shape.k * bits / 32, ..self.shape }, ty: ScalarType::B32, ..self }
    }
}
