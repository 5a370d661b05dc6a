//! The branches of the run.

use crate::command::handler::branches as handler;
use crate::command::spec::{ArgKind, ArgSpec, CommandSpec, PLAIN};

const NAME: ArgSpec = ArgSpec::new("NAME", ArgKind::Word);

pub const COMMANDS: &[CommandSpec] = &[
    CommandSpec {
        name: "branches",
        aliases: &["info branches"],
        summary: "List the runs that changes have left",
        help: "A change of a register or of memory, a restored file or a completed copy makes another run of what follows. The run as it \
            was is kept as a branch, 'main' at first, and a new one begins, 'edit1', 'edit2' and so on; the list says where each comes \
            from. 'switch' goes from one to the other and 'diff' compares them. A saved session has the present branch alone; a run \
            that begins anew has none.",
        examples: &["branches"],
        handler: handler::list,
        ..PLAIN
    },
    CommandSpec {
        name: "switch",
        args: &[NAME],
        summary: "Go to another branch of the run",
        help: "Goes to a branch, to the present time there, or to its end if that comes first. Breakpoints, marks and displays stay.",
        examples: &["switch main"],
        handler: handler::switch,
        ..PLAIN
    },
    CommandSpec {
        name: "diff",
        args: &[NAME.optional()],
        summary: "Compare another branch of the run with this one",
        help: "Runs a branch (A) and the present one (B) to their ends and shows the first store that differs, thread by thread in \
            program order, with the registers of that thread that hold other values before it, and the buffers that end otherwise. \
            Without a name it is the branch that the present one comes from.",
        examples: &["diff", "diff main"],
        handler: handler::diff,
        ..PLAIN
    },
];
