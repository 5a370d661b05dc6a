//! Commands of the user, the shell, and texts with values.

use crate::command::handler::scripting as handler;
use crate::command::spec::{ArgKind, ArgSpec, CommandSpec, PLAIN, Suffix};

const NAME: ArgSpec = ArgSpec::new("NAME", ArgKind::Name);

pub const COMMANDS: &[CommandSpec] = &[
    CommandSpec {
        name: "define",
        args: &[NAME],
        summary: "Make a command of several lines",
        help: "The lines that follow, up to one that says 'end', are executed when NAME is typed. In them $arg0, $arg1 and so on \
            stand for \
            the words after the name, and $argc for their number.",
        examples: &["define both"],
        handler: handler::define,
        ..PLAIN
    },
    CommandSpec {
        name: "document",
        args: &[NAME],
        summary: "Say what a command of one's own does, for help",
        help: "The lines that follow, up to one that says 'end', are what 'help NAME' says about a command of 'define'.",
        examples: &["document both"],
        handler: handler::document,
        ..PLAIN
    },
    CommandSpec {
        name: "alias",
        args: &[ArgSpec::new("NAME = COMMAND", ArgKind::Rest)],
        summary: "Give the beginning of a line another name",
        help: "A line that begins with NAME is executed as if it began with the command instead. The command may have arguments, and \
            those of the line follow.",
        examples: &["alias px = print/x"],
        handler: handler::alias,
        ..PLAIN
    },
    CommandSpec {
        name: "show user",
        summary: "Show the commands and aliases of one's own",
        help: "Shows what 'define' and 'alias' have made, as it would be typed.",
        examples: &["show user"],
        handler: handler::user_commands,
        ..PLAIN
    },
    CommandSpec {
        name: "shell",
        args: &[ArgSpec::new("COMMAND", ArgKind::Rest)],
        summary: "Run a command of the shell",
        help: "Runs the command with sh -c, without input, and shows what it writes. '!COMMAND' does the same, and so do 'make' and \
            'pwd' \
            alone. Ctrl-C ends it. What is debugged stays as it was read.",
        examples: &["shell ls"],
        handler: handler::shell,
        ..PLAIN
    },
    CommandSpec {
        name: "echo",
        args: &[ArgSpec::new("TEXT", ArgKind::Rest).optional()],
        summary: "Print a text",
        help: "Prints a text, for scripts. \\n is a line feed and \\t a tab, as in C; a line feed is added where the text ends with \
            none.",
        examples: &["echo before the loop"],
        handler: handler::echo,
        ..PLAIN
    },
    CommandSpec {
        name: "printf",
        args: &[ArgSpec::new("MESSAGE", ArgKind::Message)],
        summary: "Print a text with values",
        help: "Prints a text with values of expressions as C's printf does: \"FORMAT\", VALUE, VALUE. A number of one kind \
            is converted to that of its conversion, %s is a string where the value is one, and %v shows any value as print does. A line \
            feed is added where the text ends with none.",
        examples: &["printf \"r1 is %d\\n\", %r1"],
        handler: handler::printf,
        ..PLAIN
    },
    CommandSpec {
        name: "output",
        args: &[ArgSpec::new("EXPRESSION", ArgKind::Expression)],
        suffix: Suffix::Format,
        summary: "Print a value alone, without its name",
        help: "As print, without the expression before the value and what is noted after it.",
        examples: &["output %r1", "output/x %r1"],
        handler: crate::command::handler::looking::output,
        ..PLAIN
    },
    CommandSpec {
        name: "thread apply",
        args: &[ArgSpec::new("THREADS COMMAND", ArgKind::Rest)],
        summary: "Do a command for several threads",
        help: "Executes a command that shows something for each of these threads that is on the machine, as if the focus were there. \
            THREADS \
            is 'all' for those of the focused block, their numbers and ranges of them such as 0-31 40, or words as for break: \
            'warp 1 lane 0-3', 'block 1,0,0'. Threads for which it says the same are named together.",
        examples: &["thread apply 0-3 print %r1", "thread apply warp 1 lane 0-3 p %r1", "thread apply all bt"],
        handler: handler::apply,
        ..PLAIN
    },
];
