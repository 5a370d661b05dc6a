//! Instructions of one statement of the source.

use super::finding::Side;
use crate::program::{Pc, Program};

/// True if two accesses are one statement of the source: unrolled copies, or several accesses of one expression.
pub(super) fn is_same_statement(program: &Program, one: &Side, other: &Side) -> bool {
    one.action == other.action && is_same_line(program, one.point.pc, other.point.pc)
}

/// True if two instructions come from one line of the source, inlined by the same calls.
pub(super) fn is_same_line(program: &Program, one: Pc, other: Pc) -> bool {
    one == other || lines(program, one).is_some_and(|lines| Some(lines) == self::lines(program, other))
}

/// The file and line of an instruction, and of the calls that it was inlined by; none without a line.
fn lines(program: &Program, pc: Pc) -> Option<Vec<(u32, u32)>> {
    program.source_line(pc).filter(|source| source.line > 0)?;
    Some(program.source_places(pc).map(|source| (source.file, source.line)).collect())
}
