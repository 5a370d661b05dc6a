//! Changing registers, memory and settings.

use crate::command::handler::changing as handler;
use crate::command::spec::{ArgKind, ArgSpec, CommandSpec, PLAIN};

pub const COMMANDS: &[CommandSpec] = &[
    CommandSpec {
        name: "set",
        args: &[ArgSpec::new("SETTING VALUE | PLACE = VALUE", ArgKind::Assignment)],
        summary: "Change a setting, a register or memory",
        help: "'set SETTING VALUE' changes a setting; 'show' lists them.\n\n\
            'set PLACE = VALUE' writes a register of the focused lane (%r1), of several lanes (%r1@0..7) or of all (%r1@*), a variable, \
            or memory. In 'set x@* = i' all lanes get the i of the focused lane, in 'set x@* = i@*' each its own. A parameter of the \
            kernel is the same for all threads, and is changed for all of them. 'set x += 1' computes with the old value. \
            'set $x = VALUE' keeps a value as $x for later expressions. What was recorded after the present time may be different now: \
            it is kept as a branch ('branches').",
        examples: &["set listsize 20", "set %r1 = 5", "set $old = %r1"],
        handler: handler::set,
        ..PLAIN
    },
    CommandSpec {
        name: "set var",
        aliases: &["set variable"],
        args: &[ArgSpec::new("PLACE = VALUE", ArgKind::Assignment)],
        summary: "Change a register or memory",
        help: "As 'set PLACE = VALUE', for names that are those of settings too.",
        examples: &["set var %r1 = 5"],
        handler: handler::set_variable,
        ..PLAIN
    },
    CommandSpec {
        name: "set seed",
        args: &[ArgSpec::new("VALUE", ArgKind::Word)],
        summary: "Run with another seed, from the beginning",
        help: "Changes the seed of everything that is random, as --seed does, and begins anew: breakpoints, displays and settings \
            stay, marks \
            and what was recorded are dropped, after a question.",
        examples: &["set seed 5"],
        handler: handler::set_run_option,
        ..PLAIN
    },
    CommandSpec {
        name: "set schedule",
        args: &[ArgSpec::new("VALUE", ArgKind::Word)],
        summary: "Run with another order of warps, from the beginning",
        help: "Changes the order in which warps run, as --schedule does: in-order, random, pct:DEPTH and the others. The run begins \
            anew, as \
            with 'set seed'.",
        examples: &["set schedule random"],
        handler: handler::set_run_option,
        ..PLAIN
    },
    CommandSpec {
        name: "set async",
        args: &[ArgSpec::new("VALUE", ArgKind::Word)],
        summary: "Run with other ends of asynchronous copies, from the beginning",
        help: "Changes when asynchronous copies end, as --async does: eager, lazy, random or by-hand. The run begins anew, as with \
            'set seed'.",
        examples: &["set async random:3"],
        handler: handler::set_run_option,
        ..PLAIN
    },
    CommandSpec {
        name: "show version",
        summary: "Show the version of ptxdbg",
        help: "Shows the version of ptxdbg.",
        examples: &["show version"],
        handler: handler::version,
        ..PLAIN
    },
    CommandSpec {
        name: "show",
        args: &[ArgSpec::new("SETTING", ArgKind::Setting).optional()],
        summary: "Show the settings",
        help: "Shows the value of a setting, or of all, and what else it can be. 'help SETTING' says what it does.",
        examples: &["show", "show listsize"],
        handler: handler::show,
        ..PLAIN
    },
    CommandSpec {
        name: "show values",
        args: &[ArgSpec::new("N", ArgKind::Number).optional()],
        summary: "Show the values that print has kept",
        help: "Shows the last ten values of the history, or ten around value N. In expressions, $ is the last, $$ the one before it, $$3 \
            the third before it, and $3 the third of all.",
        examples: &["show values", "show values 12"],
        handler: handler::show_values,
        ..PLAIN
    },
    CommandSpec {
        name: "show convenience",
        aliases: &["show conv"],
        summary: "Show the variables of one's own",
        help: "Shows the variables that 'set $NAME = VALUE' has made, and those that commands set: $_ is the last address that x has \
            shown and $__ what lies there, $bpnum the number of the last breakpoint.",
        examples: &["show convenience"],
        handler: handler::show_convenience,
        ..PLAIN
    },
    CommandSpec {
        name: "dump",
        args: &[ArgSpec::new("FILE", ArgKind::File), ArgSpec::new("MEMORY", ArgKind::Expression)],
        summary: "Write memory to a file",
        help: "Writes a buffer, a variable, a range of memory or a tensor of a Triton program to a file: with its type and shape to \
            FILE.npy, as bare bytes to any other name. NumPy has no type for bf16, fp8 and packed values: of these, the file has the bits.",
        examples: &["dump out.npy out", "dump row.npy out[3]", "dump head.bin out[0..7]"],
        handler: handler::dump,
        ..PLAIN
    },
    CommandSpec {
        name: "restore",
        args: &[ArgSpec::new("FILE", ArgKind::File), ArgSpec::new("MEMORY", ArgKind::Expression)],
        summary: "Read memory from a file",
        help: "Writes what a file holds to a buffer, a variable or a range of memory. As with set, what \
            follows is kept as a branch.",
        examples: &["restore out.npy out"],
        handler: handler::restore,
        ..PLAIN
    },
];
