//! The type of an instruction's memory access.

use crate::isa::ScalarType;
use crate::program::{Pc, Program};

/// The type of a load, store or atomic as its opcode names it: the last of its words that is a type; none for other instructions.
pub fn access_type(program: &Program, pc: Pc) -> Option<ScalarType> {
    program.code.get(pc.index()).filter(|inst| inst.op.access().is_some())?;
    program.opcode(pc)?.matched.types.last().copied()
}
