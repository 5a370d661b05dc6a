//! Running backwards, and going to any time.

use crate::command::handler::finding_events;
use crate::command::handler::reversing as handler;
use crate::command::handler::running::{self, Step};
use crate::command::spec::{ArgKind, ArgSpec, CommandSpec, PLAIN, Repeat};
use crate::debug::stop::Direction;

const UNIT: ArgSpec = ArgSpec::new("UNIT", ArgKind::Choice(&["lane", "warp", "block", "grid"])).optional();
const COUNT: ArgSpec = ArgSpec::new("N", ArgKind::Count).optional();
const PLACE: ArgSpec = ArgSpec::new("PLACE", ArgKind::Expression);

pub const COMMANDS: &[CommandSpec] = &[
    CommandSpec {
        name: "reverse-stepi",
        aliases: &["rsi"],
        args: &[UNIT, COUNT],
        summary: "Take one instruction back, or N of them",
        help: "Goes back to before the last instruction that the focused warp executed; with a unit, that its lane, its block or the \
            grid executed. Registers, memory and all other warps are as they were.",
        examples: &["reverse-stepi", "rsi 10", "rsi lane"],
        repeats: Repeat::Same,
        handler: |context, call| running::step(context, call, Step::Instruction, false, Direction::Backward),
        ..PLAIN
    },
    CommandSpec {
        name: "reverse-nexti",
        aliases: &["rni"],
        args: &[UNIT, COUNT],
        summary: "Take one instruction back, a call as one",
        help: "As reverse-stepi, but a call counts as one instruction.",
        examples: &["reverse-nexti"],
        repeats: Repeat::Same,
        handler: |context, call| running::step(context, call, Step::Instruction, true, Direction::Backward),
        ..PLAIN
    },
    CommandSpec {
        name: "reverse-step",
        aliases: &["rs"],
        args: &[UNIT, COUNT],
        summary: "Go back to the start of the line before, into calls",
        help: "Goes back to where the focused lane began the line before this one; in the middle of a line, to where it began this one.",
        examples: &["reverse-step", "rs 3"],
        repeats: Repeat::Same,
        handler: |context, call| running::step(context, call, Step::Line, false, Direction::Backward),
        ..PLAIN
    },
    CommandSpec {
        name: "reverse-next",
        aliases: &["rn"],
        args: &[UNIT, COUNT],
        summary: "Go back to the start of the line before, over calls",
        help: "As reverse-step, but a call belongs to the line it stands on.",
        examples: &["reverse-next"],
        repeats: Repeat::Same,
        handler: |context, call| running::step(context, call, Step::Line, true, Direction::Backward),
        ..PLAIN
    },
    CommandSpec {
        name: "reverse-continue",
        aliases: &["rc"],
        args: &[COUNT],
        summary: "Run backwards until something stops",
        help: "Goes back to the last moment at which a breakpoint, a watchpoint or a catchpoint would have stopped; to the beginning if \
            there is none. A watchpoint stops before the write, with the old value in place.",
        examples: &["reverse-continue", "rc"],
        repeats: Repeat::Same,
        handler: |context, call| running::continue_run(context, call, Direction::Backward),
        ..PLAIN
    },
    CommandSpec {
        name: "reverse-finish",
        aliases: &["rfin"],
        summary: "Go back to the call of the selected frame",
        help: "Goes back to before the call that led to the function of the selected frame.",
        examples: &["reverse-finish"],
        handler: |context, _| running::finish(context, Direction::Backward),
        ..PLAIN
    },
    CommandSpec {
        name: "goto",
        args: &[ArgSpec::new("TICK", ArgKind::Tick)],
        summary: "Go to any time: a tick, start, end or a mark",
        help: "Goes to a tick: the number of warp-instructions issued before. 'start' is tick 0, 'end' the end of the run; +N and -N \
            count from now; a name is a mark. A tick that was not reached yet is run to; no breakpoint stops on the way. \
            If the focused thread is not there at that time, the focus moves to one that is.",
        examples: &["goto 1,234", "goto start", "goto before-loop"],
        handler: handler::goto,
        ..PLAIN
    },
    CommandSpec {
        name: "goto launch",
        args: &[ArgSpec::new("N", ArgKind::Count)],
        summary: "Go to the beginning of a launch",
        help: "Goes to before the first instruction of launch number N of those that run in order on the same memory; 'info launch' \
            says how \
            many there are. Launches before it are run where they were not yet.",
        examples: &["goto launch 1"],
        handler: handler::goto_launch,
        ..PLAIN
    },
    CommandSpec {
        name: "mismatches",
        aliases: &["info mismatches"],
        args: &[ArgSpec::new("COUNT", ArgKind::Count).optional()],
        summary: "List what is not as the launch expects at the end, and what wrote it",
        help: "Compares the memory at the end of the run with what the launch file expects, in a bundle of 'ptxdbg capture' with what \
            the \
            GPU left: the first COUNT elements of each buffer that differ (3 without it), what they hold and should, and the \
            thread, instruction and time that wrote each last; then how many elements differ, by how much at most, and which \
            tolerance accepts it. Enter on an empty line \
            goes to where the first was written.",
        examples: &["mismatches", "mismatches 20"],
        handler: handler::mismatches,
        ..PLAIN
    },
    CommandSpec {
        name: "goto mismatch",
        args: &[ArgSpec::new("N", ArgKind::Count)],
        summary: "Go to where an element was written that is not as expected",
        help: "Goes to the last write to an element of the list of 'mismatches', and looks at the thread that writes it: its instruction \
            is executed next. 'explain' and 'last' say where the value comes from.",
        examples: &["goto mismatch 1"],
        handler: handler::goto_mismatch,
        ..PLAIN
    },
    CommandSpec {
        name: "mark",
        args: &[ArgSpec::new("NAME", ArgKind::Name)],
        summary: "Name the present time, to come back with goto",
        help: "Gives the present time and focus a name. 'goto NAME' comes back. A mark that exists moves here.",
        examples: &["mark before-loop"],
        handler: handler::mark,
        ..PLAIN
    },
    CommandSpec {
        name: "checkpoint",
        summary: "Name the present time by a number, to come back with restart",
        help: "As 'mark', with the next free name of checkpoint-1, checkpoint-2 and so on. Nothing is copied: every time of a run can be \
            returned to.",
        examples: &["checkpoint"],
        handler: handler::checkpoint,
        ..PLAIN
    },
    CommandSpec {
        name: "delete checkpoint",
        args: &[ArgSpec::new("N", ArgKind::Numbers)],
        summary: "Forget checkpoints",
        help: "Deletes checkpoints by their numbers: 'info checkpoints' lists them. The times that they name can still be gone to.",
        examples: &["delete checkpoint 1"],
        handler: handler::delete_checkpoints,
        ..PLAIN
    },
    CommandSpec {
        name: "restart",
        args: &[ArgSpec::new("N", ArgKind::Count)],
        summary: "Go back to a checkpoint",
        help: "Goes to the time of 'checkpoint' number N, as 'goto checkpoint-N' does. 'run' starts from the beginning.",
        examples: &["restart 1"],
        handler: handler::restart,
        ..PLAIN
    },
    CommandSpec {
        name: "info marks",
        aliases: &["info checkpoints"],
        summary: "List the marks",
        help: "Lists the marks with their times.",
        examples: &["info marks"],
        handler: handler::marks,
        ..PLAIN
    },
    CommandSpec {
        name: "when",
        aliases: &["info time"],
        summary: "Say what time it is, and how far the run was recorded",
        help: "Shows the present tick, the furthest that was executed, and whether the kernel has ended there.",
        examples: &["when"],
        handler: handler::when,
        ..PLAIN
    },
    CommandSpec {
        name: "back",
        summary: "Go to the position visited before",
        help: "Goes to where the last stop but one was, as the back button of a browser does. 'forward' undoes it.",
        examples: &["back"],
        repeats: Repeat::Same,
        handler: handler::back,
        ..PLAIN
    },
    CommandSpec {
        name: "forward",
        summary: "Undo back",
        help: "Goes to the position that the last 'back' left.",
        examples: &["forward"],
        repeats: Repeat::Same,
        handler: handler::forward,
        ..PLAIN
    },
    CommandSpec {
        name: "find",
        args: &[ArgSpec::new("QUERY", ArgKind::Rest)],
        summary: "Find which threads did something in the run, when, where and how often",
        help: "Searches the run as far as it was executed: 'find writes|reads|atomics|branches|barriers|findings [of PLACE] [by THREADS] \
            [between T1 T2] [where EXPRESSION] [count|first|last|by line|by lane|by value]'. Writes are those of stores, atomics and \
            copies that \
            end, reads those of loads, atomics and copies. PLACE is memory: a variable, a buffer, an element or a range. Times are \
            those of \
            goto; the second is left out of what is searched. The expression is evaluated for each lane before it does what is \
            looked for; what copies do has none. A count is of threads, and of the instructions of warps in brackets. Findings are of \
            a place if their bytes are, by threads if one of their sides is; they are counted by the line and the lanes of the later \
            side.\n\n\
            Without a last word the first 1000 are listed. Enter on an empty line goes to the only one.",
        examples: &[
            "find writes of out",
            "find writes of out[3] last",
            "find reads by warp 0 count",
            "find branches by line",
            "find writes of out where %r1 > 3 by lane",
            "find barriers between 0 100",
            "find findings of out",
        ],
        handler: finding_events::find,
        ..PLAIN
    },
    CommandSpec {
        name: "last",
        args: &[PLACE],
        summary: "Find the thread that wrote the present value of a register or of memory",
        help: "Finds the last write to a place before the present time, and shows its tick, thread, instruction, and the value before \
            and after. A place is a register of the focused lane, a predicate, a variable, or memory at an address. Of a local variable \
            of the source it is the last change in this call, whichever register held it. Enter on an empty line goes there.",
        examples: &["last %r7", "last %p1"],
        handler: handler::last,
        ..PLAIN
    },
    CommandSpec {
        name: "first",
        args: &[PLACE],
        summary: "Find the first write to a register or to memory",
        help: "As last, but the first write since the beginning.",
        examples: &["first %r7"],
        handler: handler::first,
        ..PLAIN
    },
    CommandSpec {
        name: "history",
        args: &[PLACE.optional()],
        summary: "List all writes to a register or to memory",
        help: "Lists all writes to a place up to the furthest that was executed: tick, thread, old value and new. Of a local variable of \
            the source these are its changes in this call.",
        examples: &["history %r7"],
        handler: handler::history,
        ..PLAIN
    },
];
