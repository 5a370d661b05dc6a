//! PTX ISA, "Control Flow Instructions".

use super::super::form::{Row, row};
use crate::isa::ControlDecode::{Branch, BranchIndexed, Call, Exit, Return};
use crate::isa::Decode::Control;

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("bra[.uni]          a:label", (1, 0), 0, Control(Branch), "branch"),
    row("brx.idx[.uni]      a:u32, b:label", (6, 0), 30, Control(BranchIndexed), "branch by a table"),
    row("call[.uni]         ...", (1, 0), 0, Control(Call), "call"),
    row("ret[.uni]          ", (1, 0), 0, Control(Return), "return"),
    row("exit               ", (1, 0), 0, Control(Exit), "end of the thread"),
];
