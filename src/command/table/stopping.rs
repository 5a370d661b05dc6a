//! Breakpoints, watchpoints and catchpoints.

use crate::command::handler::stopping as handler;
use crate::command::spec::{ArgKind, ArgSpec, CommandSpec, PLAIN};
use crate::debug::breakpoints::{Trigger, WatchMode};

const THREADS: ArgSpec = ArgSpec::new("THREADS", ArgKind::ThreadFilter).optional();
const CONDITION: ArgSpec = ArgSpec::new("CONDITION", ArgKind::Expression).after("if").optional();
const PLACE: ArgSpec = ArgSpec::new("PLACE", ArgKind::Expression);
const NUMBERS: ArgSpec = ArgSpec::new("N", ArgKind::Numbers).optional();
const LOCATION: ArgSpec = ArgSpec::new("LOCATION", ArgKind::Location).optional();

pub const COMMANDS: &[CommandSpec] = &[
    CommandSpec {
        name: "break",
        aliases: &["b", "br", "brk", "hbreak"],
        args: &[LOCATION, THREADS, CONDITION],
        summary: "Stop where threads are about to execute an instruction",
        help: "A location is a line of the PTX file (37) or of a source file (saxpy.cu:12), a label, a kernel or function, the number of \
            an instruction (*0x12, *saxpy+4), or all instructions of a form (op atom.*). Without one it is where the focused lane \
            stands. A name that several functions have, as the instances of a template, means all of them: one breakpoint at each. \
            Of a module for debuggers (nvcc -G) the name of a function means where its body begins.\n\n\
            At an instruction it stops each warp that comes there, as gdb stops each thread. On a line of a source file it stops once \
            for each block and visit: where the first thread of the block comes to the line for the nth time, and not again for the \
            others that come there for the nth time; so does 'reverse-continue', and hits and ignored hits count visits. With a \
            condition each warp that comes to the line is asked, and each in which it is true stops, once a visit.\n\n\
            In optimized code (nvcc -lineinfo) the compiler moves, merges and repeats what a line does: a breakpoint may stop where the \
            line is only prepared, or for one iteration of a loop in several. 'info breakpoints' lists the instructions; a debug build \
            (nvcc -G) stops once each time.\n\n\
            THREADS limits it to some threads, as 'block 1,0,0 warp 2 lane 0-7'. A condition is evaluated for each lane: the warp \
            stops where it is true for one of them, and the focus moves to that lane. The threads of a breakpoint set without THREADS \
            are all of the grid.",
        examples: &["break 37", "break 37 warp 1 lane 0-7", "b 37 if %r1 > 100", "break op atom.*"],
        handler: |context, call| handler::breakpoint(context, call, false),
        ..PLAIN
    },
    CommandSpec {
        name: "tbreak",
        aliases: &["tb", "thbreak"],
        args: &[LOCATION, THREADS, CONDITION],
        summary: "Set a breakpoint that stops once",
        help: "As break, but the breakpoint is deleted when it stops.",
        examples: &["tbreak 37"],
        handler: |context, call| handler::breakpoint(context, call, true),
        ..PLAIN
    },
    CommandSpec {
        name: "rbreak",
        args: &[ArgSpec::new("PATTERN", ArgKind::Rest)],
        summary: "Set breakpoints on all functions whose names match",
        help: "Sets a breakpoint at the beginning of each kernel and function whose name contains the pattern. In a pattern .* and * \
            stand for any letters, . and ? for one; ^ and $ hold it to the beginning and the end of the name.",
        examples: &["rbreak ^take$"],
        handler: handler::break_functions,
        ..PLAIN
    },
    CommandSpec {
        name: "clear",
        args: &[LOCATION],
        summary: "Delete the breakpoints at a location",
        help: "Deletes the breakpoints that stop at the location; without one, those where the focused lane stands. 'delete' takes \
            numbers.",
        examples: &["clear", "clear 37"],
        handler: handler::clear,
        ..PLAIN
    },
    CommandSpec {
        name: "watch",
        args: &[PLACE, THREADS, CONDITION],
        summary: "Stop when a variable, a register or memory changes",
        help: "Stops after the instruction that writes another value to the place, and says which lane wrote it, the old value and the \
            new. A place is a register of the focused lane (%r1), of several (%r1@0..7) or of all (%r1@*), a variable, or memory after \
            an address. Backwards it stops before the write.\n\n\
            A local variable of the source (x, s.field, a[3], x@0..7) is followed through the registers and the memory that the compiler \
            keeps it in, in the call where the watchpoint is made. When that returns, the watchpoint stops once more and is deleted, as \
            in gdb; so is one on what a reference of a function refers to (r, r.x). A tensor of Triton stops where all \
            elements that a lane of the warp holds are given anew.\n\n\
            For a register, and for shared or local memory, THREADS says whose it is: 'warp 3 lane 2' is that lane of the focused \
            block, 'warp 3' all lanes of the warp. The block need not have started. For other memory THREADS are those that must write. \
            The address is taken when the watchpoint is made; with '-l' or '-location' before the place, one on a reference stays when its \
            function returns.",
        examples: &["watch %r1", "watch x", "watch %r1 if %r1 > 100", "watch %r1 block 1,0,0 warp 3 lane 2"],
        handler: |context, call| handler::watch(context, call, WatchMode::Change),
        ..PLAIN
    },
    CommandSpec {
        name: "rwatch",
        args: &[PLACE, THREADS, CONDITION],
        summary: "Stop when a register or memory is read",
        help: "As watch, but stops where the place is read. A wgmma has read its operands in shared memory when it ends, an \
            asynchronous copy its source when it is done with it or ends: there it stops, and names the instruction that issued it.",
        examples: &["rwatch %r1"],
        handler: |context, call| handler::watch(context, call, WatchMode::Read),
        ..PLAIN
    },
    CommandSpec {
        name: "awatch",
        args: &[PLACE, THREADS, CONDITION],
        summary: "Stop when a register or memory is read or written",
        help: "As watch, but stops at every access, also where the value does not change.",
        examples: &["awatch %r1"],
        handler: |context, call| handler::watch(context, call, WatchMode::Access),
        ..PLAIN
    },
    CommandSpec {
        name: "catch",
        args: &[ArgSpec::new("EVENT", ArgKind::Event), THREADS, CONDITION],
        summary: "Stop when something happens",
        help: "Stops before a barrier (with a number, that one), a call, an exit, an atomic operation or a printf is executed; after a \
            divergence or a reconvergence; where a launch begins after another; and where a fault or a finding is.\n\n\
            'catch mbarrier' stops after whatever is done to an mbarrier; its name, and one of phase (a phase has ended), arrive \
            (a thread arrives, expects or brings bytes) and wait (a thread tests whether a phase has ended) narrow it down. 'catch \
            async' stops when an asynchronous copy is issued or ends; issue or complete narrow it down.",
        examples: &["catch divergence", "catch barrier 0 block 1,0,0", "catch mbarrier full[1] phase", "catch async complete"],
        handler: |context, call| handler::catch(context, call, false),
        ..PLAIN
    },
    CommandSpec {
        name: "tcatch",
        args: &[ArgSpec::new("EVENT", ArgKind::Event), THREADS, CONDITION],
        summary: "Set a catchpoint that stops once",
        help: "As catch, but the catchpoint is deleted when it stops.",
        examples: &["tcatch exit"],
        handler: |context, call| handler::catch(context, call, true),
        ..PLAIN
    },
    CommandSpec {
        name: "dprintf",
        args: &[ArgSpec::new("LOCATION", ArgKind::Location), THREADS, ArgSpec::new("MESSAGE", ArgKind::Message).after(",")],
        summary: "Print a line where threads pass, without stopping",
        help: "Writes a line for each group of lanes that reaches the location, and continues. The format is printf's. THREADS limits \
            it to some threads; where they name lanes, each of these lanes writes a line of its own: 'lane 0-31' is once a lane.",
        examples: &["dprintf 37,\"r1 is %d\\n\",%r1", "dprintf 37 warp 1 lane 0-3,\"r1 is %d\\n\",%r1"],
        handler: handler::logpoint,
        ..PLAIN
    },
    CommandSpec {
        name: "commands",
        args: &[NUMBERS],
        summary: "Give commands that are executed when a breakpoint stops",
        help: "The lines that follow, up to one that says 'end', are executed whenever one of these breakpoints stops; without a number \
            it is the last that was made. 'silent' as the first line keeps the stop itself from being printed. No lines at all take them \
            away.",
        examples: &["commands 1"],
        handler: handler::commands,
        ..PLAIN
    },
    CommandSpec {
        name: "condition",
        aliases: &["cond"],
        args: &[ArgSpec::new("N", ArgKind::Number), ArgSpec::new("CONDITION", ArgKind::Expression).optional()],
        summary: "Change when a breakpoint stops",
        help: "Gives a breakpoint a condition; without one, takes it away.",
        examples: &["condition 1 %r1 > 100", "condition 1"],
        handler: handler::condition,
        ..PLAIN
    },
    CommandSpec {
        name: "ignore",
        args: &[ArgSpec::new("N", ArgKind::Number), ArgSpec::new("COUNT", ArgKind::Number)],
        summary: "Let a breakpoint pass some times",
        help: "The next COUNT times that the breakpoint would stop, it does not.",
        examples: &["ignore 1 10"],
        handler: handler::ignore,
        ..PLAIN
    },
    CommandSpec {
        name: "enable",
        aliases: &["en"],
        args: &[NUMBERS],
        summary: "Look at breakpoints again",
        help: "Undoes disable; without numbers, for all.",
        examples: &["enable 1", "enable 1-3"],
        handler: |context, call| handler::enable(context, call, true),
        ..PLAIN
    },
    CommandSpec {
        name: "disable",
        aliases: &["dis"],
        args: &[NUMBERS],
        summary: "Keep breakpoints, but do not stop at them",
        help: "Breakpoints that are disabled cost nothing and keep their numbers; without numbers, all of them.",
        examples: &["disable 1"],
        handler: |context, call| handler::enable(context, call, false),
        ..PLAIN
    },
    CommandSpec {
        name: "delete",
        aliases: &["d", "del", "delete breakpoints"],
        args: &[NUMBERS],
        summary: "Delete breakpoints",
        help: "Deletes these breakpoints, watchpoints and catchpoints; without numbers, all of them.",
        examples: &["delete 1", "d 2 4-6"],
        handler: handler::delete,
        ..PLAIN
    },
    CommandSpec {
        name: "info breakpoints",
        aliases: &["info break", "info b"],
        args: &[NUMBERS],
        summary: "List breakpoints, watchpoints and catchpoints",
        help: "Lists them, or those of these numbers, with their numbers, what they wait for, and how often they fired.",
        examples: &["info breakpoints", "info breakpoints 1-3"],
        handler: |context, call| handler::list(context, call, |_| true),
        ..PLAIN
    },
    CommandSpec {
        name: "info watchpoints",
        args: &[NUMBERS],
        summary: "List watchpoints",
        help: "As 'info breakpoints', of watchpoints alone.",
        examples: &["info watchpoints"],
        handler: |context, call| {
            handler::list_of_kind(context, call, "watchpoints", |breakpoint| matches!(breakpoint.trigger, Trigger::Watch(..)))
        },
        ..PLAIN
    },
    CommandSpec {
        name: "info dprintf",
        args: &[NUMBERS],
        summary: "List the places where a message is printed",
        help: "As 'info breakpoints', of what 'dprintf' has set alone.",
        examples: &["info dprintf"],
        handler: |context, call| handler::list(context, call, |breakpoint| breakpoint.message.is_some()),
        ..PLAIN
    },
];
