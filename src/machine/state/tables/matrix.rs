//! The tables of matrix multiplications: the register and the lane of each element, computed once per launch for each kind.

use crate::isa::{FactorInB, Fragment, Layout, Matrix, MatrixFamily, ScalarType, Sparsity};
use crate::machine::state::lanes::{LANES, PerLane};
use crate::machine::state::tables::pairs;
use crate::num::{self, matrix::Accumulator, matrix::Element, matrix::Product, matrix::Rule};
use crate::program::{MatrixId, MatrixOp, MultiplyKind, MultiplyMode, Program};

/// The tables of all multiplications of a program.
pub struct MatrixTables {
    /// For each matrix instruction, the index of its tables in `kinds`; `usize::MAX` for other instructions than multiplications.
    kind_of: Vec<usize>,
    kinds: Vec<(MultiplyKind, MultiplyTables)>,
}

/// The tables of a kind of multiplication.
pub struct MultiplyTables {
    /// The number of independent products that the warp computes: 1, or 4 for `mma.m8n8k4` of `.f16`.
    pub tiles: usize,
    /// The positions of the elements of A.
    pub a: ElementTable,
    /// The positions of the elements of B.
    pub b: ElementTable,
    /// The positions of the elements of C.
    pub c: ElementTable,
    /// The positions of the elements of D.
    pub d: ElementTable,
    /// The arithmetic.
    pub arithmetic: Arithmetic,
}

/// The arithmetic of a multiplication.
pub enum Arithmetic {
    /// Arithmetic on elements of up to 32 bits.
    Narrow(Product),
    /// Arithmetic on `.f64`: the extents M, N and K, and the rounding.
    Double([usize; 3], num::Rounding),
}

/// The positions of the elements of a fragment.
pub struct ElementTable {
    /// For each element of a lane, register by register, and each lane: the index of the element in the matrix, row by row, tile by tile.
    pub index: Vec<u16>,
    /// Elements per register.
    pub per_register: usize,
    /// Bits of an element.
    pub bits: u32,
    /// Elements of all tiles of the matrix.
    pub size: usize,
    /// How the lanes hold them.
    pub order: LaneOrder,
}

/// How the lanes hold the elements of a fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneOrder {
    /// As [`pairs`] of columns, of which there are as many.
    Pairs(usize),
    /// Rows of one of eight columns.
    ColumnsOfB,
    /// As the index says.
    Other,
}

impl MatrixTables {
    /// The tables of `program`.
    pub fn new(program: &Program) -> Self {
        let mut tables = Self { kind_of: Vec::new(), kinds: Vec::new() };
        for op in &program.matrices {
            let MatrixOp::Multiply(multiply) = op else {
                tables.kind_of.push(usize::MAX);
                continue;
            };
            let existing = tables.kinds.iter().position(|(kind, _)| *kind == multiply.kind);
            tables.kind_of.push(existing.unwrap_or(tables.kinds.len()));
            if existing.is_none() {
                tables.kinds.push((multiply.kind, MultiplyTables::new(&multiply.kind)));
            }
        }
        tables
    }

    /// The tables of a multiplication.
    pub fn get(&self, id: MatrixId) -> &MultiplyTables {
        &self.kinds[self.kind_of[id.index()]].1
    }
}

impl MultiplyTables {
    fn new(kind: &MultiplyKind) -> Self {
        let [a, b, c, d] = [Matrix::A, Matrix::B, Matrix::C, Matrix::D].map(|matrix| ElementTable::new(kind, matrix));
        let [m, n, k] = [kind.shape.m, kind.shape.n, kind.fragment(Matrix::A).columns()].map(|extent| extent as usize);
        let arithmetic = match kind.mode {
            MultiplyMode::Round(rounding) if kind.types[0] == ScalarType::F64 => Arithmetic::Double([m, n, k], rounding),
            MultiplyMode::Round(_) | MultiplyMode::Saturate | MultiplyMode::Xor | MultiplyMode::And => {
                Arithmetic::Narrow(product(kind, [m, n, k]))
            }
        };
        Self { tiles: (d.size / (m * n).max(1)).max(1), a, b, c, d, arithmetic }
    }
}

impl ElementTable {
    fn new(kind: &MultiplyKind, matrix: Matrix) -> Self {
        let fragment = kind.fragment(matrix);
        Self::of(&fragment, fragment.rows())
    }

    /// The positions of the elements that a register of a lane holds.
    pub fn held(&self, register: usize, lane: usize) -> impl Iterator<Item = usize> {
        let elements = register * self.per_register..(register + 1) * self.per_register;
        elements.filter_map(move |element| self.index.get(element * LANES + lane).map(|position| usize::from(*position)))
    }

    /// The positions in a fragment of which a warp holds `rows` rows.
    pub fn of(fragment: &Fragment, rows: u32) -> Self {
        let columns = fragment.columns();
        let layout = Layout::of(fragment);
        let elements = layout.as_ref().map_or(0, Layout::elements);
        let element_lanes = (0..elements).flat_map(|element| (0..LANES as u32).map(move |lane| (element, lane)));
        let positions = element_lanes.filter_map(|(element, lane)| layout.as_ref().map(|layout| layout.position(lane, element)));
        let index: Vec<u16> = positions.map(|at| ((at.tile * rows + at.row) * columns + at.column) as u16).collect();
        let tiles = layout.as_ref().map_or(1, |layout| layout.extent()[0]);
        let size = (tiles * rows * columns) as usize;
        let (per_register, bits, columns) = (fragment.per_register() as usize, fragment.ty.bits(), columns as usize);
        let is_whole = index.len() == size && per_register * bits as usize == 32;
        let are_pairs = is_whole && size == 16 * columns && bits >= 8;
        let is_pair = |(at, position): (usize, &u16)| usize::from(*position) == pairs::index(columns, bits, at / LANES, at % LANES);
        let is_in_b = |(at, position): (usize, &u16)| usize::from(*position) == pairs::index_in_b(bits, at / LANES, at % LANES);
        let order = match () {
            () if are_pairs && index.iter().enumerate().all(is_pair) => LaneOrder::Pairs(columns),
            () if is_whole && index.iter().enumerate().all(is_in_b) => LaneOrder::ColumnsOfB,
            () => LaneOrder::Other,
        };
        Self { index, per_register, bits, size, order }
    }

    /// The elements in registers, row by row. If several registers hold an element, the first is used.
    pub fn elements(&self, registers: &[&PerLane<u32>]) -> Vec<u32> {
        let mut elements = Vec::new();
        match self.order {
            LaneOrder::Pairs(columns) => pairs::rows(registers, columns, self.bits, &mut elements),
            LaneOrder::ColumnsOfB => pairs::rows_of_b(registers, self.bits, &mut elements),
            LaneOrder::Other => self.set_by_index(registers, &mut elements),
        }
        elements
    }

    fn set_by_index(&self, registers: &[&PerLane<u32>], elements: &mut Vec<u32>) {
        elements.resize(self.size, 0);
        let mask = u32::MAX >> (32 - self.bits);
        for (number, positions) in self.index.as_chunks::<LANES>().0.iter().enumerate().rev() {
            let Some(words) = registers.get(number / self.per_register) else { continue };
            let shift = (number % self.per_register) as u32 * self.bits;
            for (position, word) in positions.iter().zip(words.iter()) {
                elements[usize::from(*position)] = *word >> shift & mask;
            }
        }
    }

    /// The registers that hold elements, which are row by row.
    pub fn registers(&self, elements: &[u32]) -> Vec<PerLane<u32>> {
        let positions = self.index.as_chunks::<LANES>().0;
        let mut registers = vec![[0; LANES]; positions.len() / self.per_register];
        if let (LaneOrder::Pairs(columns), 16..) = (self.order, self.bits) {
            pairs::set_registers(elements, columns, self.bits, &mut registers);
            return registers;
        }
        for (number, positions) in positions.iter().enumerate() {
            let shift = (number % self.per_register) as u32 * self.bits;
            for (position, word) in positions.iter().zip(&mut registers[number / self.per_register]) {
                *word |= elements[usize::from(*position)] << shift;
            }
        }
        registers
    }
}

fn product(kind: &MultiplyKind, [m, n, k]: [usize; 3]) -> Product {
    let [d, a, b, c] = kind.types;
    let is_quads = kind.family == MatrixFamily::Mma && (m, n, k) == (8, 8, 4);
    let rule = match (a, kind.mode) {
        (_, MultiplyMode::Xor) => Rule::Xor,
        (_, MultiplyMode::And) => Rule::And,
        (ScalarType::F16, _) if is_quads => Rule::Chain,
        (ScalarType::TF32, _) if kind.family == MatrixFamily::Wmma => Rule::FusedHalves,
        (ScalarType::F16 | ScalarType::BF16 | ScalarType::TF32, _) => Rule::Fused,
        (ScalarType::E4M3 | ScalarType::E5M2, _) => Rule::ConvertedToHalves,
        (_, mode) => Rule::Integer { saturate: mode == MultiplyMode::Saturate },
    };
    Product { m, n, k, a: element(a), b: element(b), c: accumulator(c), d: accumulator(d), rule }
}

/// The arithmetic type of an element of A or B.
#[expect(clippy::wildcard_enum_match_arm, reason = "the rows of the table have the named types and one more")]
pub fn element(ty: ScalarType) -> Element {
    match ty {
        ScalarType::F16 => Element::F16,
        ScalarType::BF16 => Element::Bf16,
        ScalarType::TF32 => Element::Tf32,
        ScalarType::E4M3 => Element::E4m3,
        ScalarType::E5M2 => Element::E5m2,
        ScalarType::S8 => Element::S8,
        ScalarType::U8 => Element::U8,
        ScalarType::S4 => Element::S4,
        ScalarType::U4 => Element::U4,
        _ => Element::B1,
    }
}

/// The arithmetic type of an element of C or D.
#[expect(clippy::wildcard_enum_match_arm, reason = "the rows of the table have the named types and one more")]
pub fn accumulator(ty: ScalarType) -> Accumulator {
    match ty {
        ScalarType::F16 => Accumulator::F16,
        ScalarType::F32 => Accumulator::F32,
        _ => Accumulator::S32,
    }
}

/// For each element of a sparse A, the row of B by which it is multiplied, from the lanes' metadata and the selector. Rows that consist of
/// halves of two rows are appended to B.
pub fn sparse_rows(sparsity: Sparsity, (metadata, selector): (&PerLane<u32>, u32), product: &Product, b: &mut Vec<u32>) -> Vec<u16> {
    let register = |lane: u32| metadata[lane as usize % LANES];
    let elements = (0..product.m as u32).flat_map(|row| (0..product.k as u32).map(move |element| (row, element)));
    let row_of_b = |(row, element)| match sparsity.factor_in_b(row, element, selector, register) {
        FactorInB::Row(row) => row as u16,
        FactorInB::Halves([(row, 0), (other, 1)]) if row == other => row as u16,
        FactorInB::Halves(halves) => {
            let columns: Vec<u32> = (0..product.n).map(|column| merge_halves(b, halves, product.n, column)).collect();
            b.extend(columns);
            (b.len() / product.n - 1) as u16
        }
    };
    elements.map(row_of_b).collect()
}

/// An element that consists of halves of two rows.
fn merge_halves(b: &[u32], halves: [(u32, u32); 2], n: usize, column: usize) -> u32 {
    let [low, high] = halves.map(|(row, half)| b.get(row as usize * n + column).map_or(0, |element| element >> (16 * half) & 0xffff));
    low | high << 16
}
