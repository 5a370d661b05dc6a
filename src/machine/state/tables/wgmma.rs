//! The tables of asynchronous matrix multiplications, computed once a launch.

use super::accumulators;
use crate::isa::{Matrix, ScalarType};
use crate::machine::state::tables::matrix::{ElementTable, accumulator, element};
use crate::num::matrix::{Product, Rule};
use crate::program::{Pc, Program, WgmmaId, WgmmaOp};

/// The tables of all multiplications of a program.
pub struct WgmmaTables {
    /// For each the place of its tables in `kinds`.
    of: Vec<usize>,
    kinds: Vec<WgmmaTable>,
    /// For each instruction, whether it uses registers that some `wgmma` has for A or D; nothing for a program without any.
    uses: Vec<bool>,
}

/// The tables of one warp's part of a multiplication.
pub struct WgmmaTable {
    /// Shape, types and rule.
    pub product: Product,
    /// The positions of the elements of A, if it is in registers.
    pub a: ElementTable,
    /// Of D.
    pub d: ElementTable,
}

impl WgmmaTables {
    /// The tables of `program`.
    pub fn new(program: &Program) -> Self {
        let mut tables = Self { of: Vec::new(), kinds: Vec::new(), uses: accumulators::uses(program) };
        for op in &program.wgmmas {
            let product = product(op);
            let known = tables.kinds.iter().position(|kind| kind.product == product);
            tables.of.push(known.unwrap_or(tables.kinds.len()));
            if known.is_none() {
                let [a, d] = [Matrix::A, Matrix::D].map(|matrix| ElementTable::of(&op.fragment(matrix), ROWS));
                tables.kinds.push(WgmmaTable { product, a, d });
            }
        }
        tables
    }

    /// The tables of one multiplication.
    pub fn get(&self, id: WgmmaId) -> &WgmmaTable {
        &self.kinds[self.of[id.index()]]
    }

    /// Whether the instruction at `pc`, which is no `wgmma`, uses a register that some `wgmma` of its function has for A or D.
    #[inline(always)]
    pub fn uses(&self, pc: Pc) -> bool {
        self.uses.get(pc.index()).copied().unwrap_or(false)
    }
}

/// Shape, types and rule of one warp's part.
#[expect(clippy::wildcard_enum_match_arm, reason = "the rows of the table have the named types and floating-point ones")]
fn product(op: &WgmmaOp) -> Product {
    let [d, a, b] = op.types;
    let rule = match a {
        ScalarType::B32 => Rule::And,
        ScalarType::S8 | ScalarType::U8 => Rule::Integer { saturate: op.saturate },
        ScalarType::E4M3 | ScalarType::E5M2 => Rule::FusedNarrow,
        _ => Rule::Fused,
    };
    let (m, n, k) = (ROWS as usize, op.shape.n as usize, op.kept() as usize);
    Product { m, n, k, a: element(a), b: element(b), c: accumulator(d), d: accumulator(d), rule }
}

/// Rows of D that each warp of a warpgroup computes.
pub const ROWS: u32 = 16;
