//! What stepping passes over.

use crate::command::handler::skipping as handler;
use crate::command::spec::{ArgKind, ArgSpec, CommandSpec, PLAIN};

const FUNCTION: ArgSpec = ArgSpec::new("FUNCTION", ArgKind::Rest).optional();
const NUMBERS: ArgSpec = ArgSpec::new("N", ArgKind::Numbers).optional();

pub const COMMANDS: &[CommandSpec] = &[
    CommandSpec {
        name: "skip",
        args: &[FUNCTION],
        summary: "Pass over a function or a file when stepping",
        help: "step does not stop in a function that is skipped, or in code of a file that is: of code that was inlined, the line of the \
            call is the one that is stepped. Breakpoints stop there all the same. Without a name, skips the function of the selected \
            frame. In a name * stands for any letters. -fi FILE and -gfi PATTERN skip files as 'skip file' does; headers of toolkits \
            and the packages of Triton and Numba are skipped from the start ('info skip', 'skip delete').",
        examples: &["skip", "skip app::square", "skip -gfi */include/*", "skip cub::*"],
        handler: handler::skip,
        ..PLAIN
    },
    CommandSpec {
        name: "skip file",
        args: &[ArgSpec::new("FILE", ArgKind::Rest).optional()],
        summary: "Pass over the code of a file when stepping",
        help: "Skips a file of the source, named by the last parts of its path; without a name, that of the selected frame.",
        examples: &["skip file vec.h", "skip file"],
        handler: handler::file,
        ..PLAIN
    },
    CommandSpec {
        name: "skip function",
        args: &[FUNCTION],
        summary: "Pass over a function when stepping",
        help: "Skips a function, by any of its names; without one, that of the selected frame.",
        examples: &["skip function app::square", "skip function"],
        handler: handler::function,
        ..PLAIN
    },
    CommandSpec {
        name: "skip delete",
        args: &[NUMBERS],
        summary: "Step into something again that was skipped",
        help: "Deletes these entries of 'info skip'; without numbers, all of them, also those that were there from the start.",
        examples: &["skip delete 1", "skip delete"],
        handler: handler::delete,
        ..PLAIN
    },
    CommandSpec {
        name: "skip enable",
        args: &[NUMBERS],
        summary: "Skip something again",
        help: "Undoes 'skip disable'; without numbers, for all.",
        examples: &["skip enable 1"],
        handler: |context, call| handler::enable(context, call, true),
        ..PLAIN
    },
    CommandSpec {
        name: "skip disable",
        args: &[NUMBERS],
        summary: "Keep entries of 'info skip' without effect",
        help: "Without numbers, disables all of them.",
        examples: &["skip disable 1-3"],
        handler: |context, call| handler::enable(context, call, false),
        ..PLAIN
    },
    CommandSpec {
        name: "info skip",
        summary: "List what stepping passes over",
        help: "Lists the files and functions that are skipped, with their numbers.",
        examples: &["info skip"],
        handler: handler::list,
        ..PLAIN
    },
];
