//! The tables of asynchronous matrix multiplications, computed once per launch.

use super::accumulators;
use crate::isa::{Matrix, ScalarType};
use crate::machine::state::tables::matrix::{ElementTable, accumulator, element};
use crate::num::matrix::{Product, Rule};
use crate::program::{Pc, Program, WgmmaId, WgmmaOp};

/// The tables of all multiplications of a program.
pub struct WgmmaTables {
    /// For each multiplication, the index of its tables in `kinds`.
    kind_of: Vec<usize>,
    kinds: Vec<WgmmaTable>,
    /// For each instruction, true if it uses operand registers of a `wgmma`; empty for a program without `wgmma`.
    uses_operands: Vec<bool>,
}

/// The tables of one warp's part of a multiplication.
pub struct WgmmaTable {
    /// The shape, the types and the arithmetic.
    pub product: Product,
    /// The positions of the elements of A, if it is in registers.
    pub a: ElementTable,
    /// The positions of the elements of D.
    pub d: ElementTable,
}

impl WgmmaTables {
    /// The tables of `program`.
    pub fn new(program: &Program) -> Self {
        let mut tables = Self { kind_of: Vec::new(), kinds: Vec::new(), uses_operands: accumulators::operand_uses(program) };
        for op in &program.wgmmas {
            let product = product(op);
            let existing = tables.kinds.iter().position(|kind| kind.product == product);
            tables.kind_of.push(existing.unwrap_or(tables.kinds.len()));
            if existing.is_none() {
                let [a, d] = [Matrix::A, Matrix::D].map(|matrix| ElementTable::of(&op.fragment(matrix), ROWS));
                tables.kinds.push(WgmmaTable { product, a, d });
            }
        }
        tables
    }

    /// The tables of a multiplication.
    pub fn get(&self, id: WgmmaId) -> &WgmmaTable {
        &self.kinds[self.kind_of[id.index()]]
    }

    /// True if the instruction at `pc`, which is no `wgmma`, uses an operand register (A or D) of a `wgmma` of its function.
    #[inline(always)]
    pub fn uses_operands(&self, pc: Pc) -> bool {
        self.uses_operands.get(pc.index()).copied().unwrap_or(false)
    }
}

/// The shape, the types and the arithmetic of one warp's part.
#[expect(clippy::wildcard_enum_match_arm, reason = "the rows of the table have the named types and floating-point ones")]
fn product(op: &WgmmaOp) -> Product {
    let [d, a, b] = op.types;
    let rule = match a {
        ScalarType::B32 => Rule::And,
        ScalarType::S8 | ScalarType::U8 => Rule::Integer { saturate: op.saturate },
        ScalarType::E4M3 | ScalarType::E5M2 => Rule::Fused13Bits,
        _ => Rule::Fused,
    };
    let (m, n, k) = (ROWS as usize, op.shape.n as usize, op.stored_k() as usize);
    Product { m, n, k, a: element(a), b: element(b), c: accumulator(d), d: accumulator(d), rule }
}

/// The rows of D that each warp of a warpgroup computes.
pub const ROWS: u32 = 16;
