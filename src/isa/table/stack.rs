//! PTX ISA, "Stack Manipulation Instructions".

use super::super::form::{Row, row};
use crate::isa::Decode::Stack;
use crate::isa::StackDecode::{Alloca, Restore, Save};

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("stacksave(.u32|.u64)       d", (7, 3), 52, Stack(Save), "the stack pointer"),
    row("stackrestore(.u32|.u64)    a:reg", (7, 3), 52, Stack(Restore), "sets the stack pointer"),
    row("alloca(.u32|.u64)          d, a[, b:imm]", (7, 3), 52, Stack(Alloca), "takes memory from the stack"),
];
