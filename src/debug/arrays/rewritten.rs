//! Registers that several instructions write: in hand-written code, and in compiled code at joins.

use crate::flow::cells::Cells;
use crate::isa::IntBinary;
use crate::program::operands;
use crate::program::{BitsOp, FuncId, IntegerOp, Op, Program};

/// The number of instructions that write a register.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rewritten {
    /// At most one.
    #[default]
    Never,
    /// Several.
    Several,
    /// Several, at least one of which multiplies: across basic blocks the strides are unknown.
    Multiplied,
}

/// The number of instructions that write each register of `program`, by its cell.
pub fn rewritten(program: &Program, cells: &Cells) -> Vec<Rewritten> {
    let mut written = vec![Rewritten::Never; cells.count()];
    let mut counts = vec![(0_u8, false); cells.count()];
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
                let (count, multiplied) = &mut counts[cell];
                *count = count.saturating_add(1);
                *multiplied |= multiplies;
                written[cell] = match (*count, *multiplied) {
                    (0 | 1, _) => Rewritten::Never,
                    (_, false) => Rewritten::Several,
                    (_, true) => Rewritten::Multiplied,
                };
            }
        }
    }
    written
}
