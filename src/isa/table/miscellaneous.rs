//! PTX ISA, "Miscellaneous Instructions".

use super::super::form::{Row, row};
use crate::isa::ControlDecode::{Breakpoint, Trap};
use crate::isa::Decode::{Control, Nop};

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("trap                   ", (1, 0), 0, Control(Trap), "stops the grid with an error"),
    row("brkpt                  ", (1, 0), 11, Control(Breakpoint), "stops for the debugger"),
    row("nanosleep.u32          a:u32", (6, 2), 70, Nop, "waits about a nanoseconds"),
    row("pmevent                a:u32:imm:0-15", (1, 4), 0, Nop, "triggers a performance counter"),
    row("pmevent.mask           a:u32:imm:0-65535", (3, 0), 20, Nop, "triggers performance counters"),
    row("setmaxnreg(-inc|-dec).sync.aligned.u32  a:u32:imm:24-256:*8", (8, 0), 90, Nop, "takes or gives back registers").only(&["90a", "100f", "101f", "110f", "120f"]),
];
