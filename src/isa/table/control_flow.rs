//! PTX ISA, "Control Flow Instructions".

use super::super::form::{Row, row};
use crate::isa::Decode::{Branch, BranchIndexed, Call, Exit, Return};

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("bra[.uni]          a:label", (1, 0), 0, Branch, "branch"),
    row("brx.idx[.uni]      a:u32, b:label", (6, 0), 30, BranchIndexed, "branch by a table"),
    row("call[.uni]         ...", (1, 0), 0, Call, "call"),
    row("ret[.uni]          ", (1, 0), 0, Return, "return"),
    row("exit               ", (1, 0), 0, Exit, "end of the thread"),
];
