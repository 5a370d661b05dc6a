//! Registers, memory, code, and who stands where.

use crate::command::handler::looking as handler;
use crate::command::spec::{ArgKind, ArgSpec, CommandSpec, PLAIN, Repeat, Suffix};

const THREADS: ArgSpec = ArgSpec::new("THREADS", ArgKind::ThreadFilter).optional();
const LOCATION: ArgSpec = ArgSpec::new("LOCATION", ArgKind::Location).optional();
const EXPRESSION: ArgSpec = ArgSpec::new("EXPRESSION", ArgKind::Expression);

pub const COMMANDS: &[CommandSpec] = &[
    CommandSpec {
        name: "print",
        aliases: &["p", "inspect"],
        args: &[EXPRESSION],
        suffix: Suffix::Format,
        summary: "Show the value of an expression",
        help: "Names in an expression are registers and predicates of the focused lane (%r1, %p1), special registers (%tid.x), parameters, \
            variables and buffers; C's operators work on them. %r1@* is the register in all lanes of the warp, %r1@0-7 in some; any(), all(), \
            min(), max(), sum() and uniform() answer over lanes.\n\n\
            Formats: x hex, d signed, u unsigned, o octal, t binary, f float, a address, c character.",
        examples: &["print %r1", "p/x %r1", "p %r1@*", "p %r1 * 4 + 1"],
        handler: handler::print,
        ..PLAIN
    },
    CommandSpec {
        name: "display",
        args: &[ArgSpec::new("EXPRESSION", ArgKind::Expression).optional()],
        suffix: Suffix::Format,
        summary: "Show an expression at every stop",
        help: "Shows the expression now and whenever the program stops. Without one, shows all displays.",
        examples: &["display %r1", "display/x %r1"],
        handler: handler::display,
        ..PLAIN
    },
    CommandSpec {
        name: "undisplay",
        args: &[ArgSpec::new("N", ArgKind::Numbers).optional()],
        summary: "Delete displays",
        help: "Deletes these displays; without numbers, all of them.",
        examples: &["undisplay 1"],
        handler: handler::undisplay,
        ..PLAIN
    },
    CommandSpec {
        name: "info display",
        summary: "List the displays",
        help: "Lists the displays with their numbers.",
        examples: &["info display"],
        handler: handler::displays,
        ..PLAIN
    },
];
