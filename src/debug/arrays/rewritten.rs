//! Registers that code writes at several places, as people do and compilers do where paths meet.

use crate::flow::cells::Cells;
use crate::isa::IntBinary;
use crate::program::operands;
use crate::program::{BitsOp, FuncId, IntegerOp, Op, Program};

/// How often code writes a register.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rewritten {
    /// At most once.
    #[default]
    Never,
    /// At several places.
    Moved,
    /// At several places, one of which multiplies: over blocks nothing can be said of strides.
    Multiplied,
}

/// How often each register of `program` is written, by its cell.
pub fn rewritten(program: &Program, cells: &Cells) -> Vec<Rewritten> {
    let mut written = vec![Rewritten::Never; cells.count()];
    let mut seen = vec![(0_u8, false); cells.count()];
    for (index, function) in program.functions.iter().enumerate() {
        for inst in function.code.clone().filter_map(|pc| program.code.get(pc as usize)) {
            let multiplies = matches!(
                inst.op,
                Op::Integer(
                    IntegerOp::MulWide { .. }
                        | IntegerOp::MadWide { .. }
                        | IntegerOp::Ternary { .. }
                        | IntegerOp::Binary { f: IntBinary::MulLo, .. }
                ) | Op::Bits(BitsOp::Shift { .. })
            );
            for register in operands::writes(inst, program) {
                let cell = cells.frame(FuncId::new(index)).cell(register.bank, register.slot) as usize;
                let (count, multiplied) = &mut seen[cell];
                *count = count.saturating_add(1);
                *multiplied |= multiplies;
                written[cell] = match (*count, *multiplied) {
                    (0 | 1, _) => Rewritten::Never,
                    (_, false) => Rewritten::Moved,
                    (_, true) => Rewritten::Multiplied,
                };
            }
        }
    }
    written
}
