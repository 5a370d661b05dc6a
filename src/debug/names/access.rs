//! The type in which an instruction takes what it accesses.

use crate::isa::ScalarType;
use crate::program::{Pc, Program};

/// The type of a load, store or atomic as its opcode names it: the last of its words that is a type; none of another instruction.
pub fn access_type(program: &Program, pc: Pc) -> Option<ScalarType> {
    program.code.get(pc.index()).filter(|inst| inst.op.access().is_some())?;
    program.opcode(pc)?.matched.types.last().copied()
}
