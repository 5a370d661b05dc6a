//! Races and other findings, and the checkers that look for them.

use crate::command::handler::race as handler;
use crate::command::spec::{ArgKind, ArgSpec, CommandSpec, PLAIN};

/// The text of `help race` before the list of commands.
pub const ABOUT: &str = "\
Four checkers watch a run. race reports accesses to the same memory, one of which writes, that nothing orders: plain and atomic accesses, \
cp.async, bulk and tensor copies, wgmma; in shared memory, that of the cluster, and global memory; and what may come to the shared memory \
of another block of the cluster when that has exited. init reports memory and registers that are used before anything was written to \
them, and what shfl takes from a lane that does not take part. sync reports barriers that lanes disagree about or that cannot be \
complete, masks, mbarriers, groups of copies. memory stands for wrong addresses: the run itself stops there, so it is always on.\n\n\
The race checker goes by the happens-before relation of the PTX memory model, kept in vector clocks: program order, barriers with the \
threads that take part, releases and acquires with their scopes and fences, atomics that are strong to each other, mbarriers, the waits \
for copies, cluster barriers, the proxies and their fences, the ends of launches. So it reports a race for this input whatever the \
order was in which warps happened to run, and nothing that the model orders. It goes by the byte: neighbours do not clash.\n\n\
What it cannot see is what did not happen: code that this input does not reach, and another order of events where the kernel \
decides by one that it does not control, such as which thread comes first to a lock. A run that ends says so: 'every order' where \
nothing that is left to chance decides a branch, an address, a synchronization or what is stored, so that the findings are those \
of every order, and 'one order' with what depends on it. Where a block waits for one that starts later, without a cooperative \
launch, 'every order' holds while all blocks are resident at once, and says so. Of more than 64 warps that touch the same bytes of \
global memory unordered, eight in large runs, it reports the newest, and surfaces are left out. The words of cooperative groups in \
reserved shared memory are the toolkit's own and not compared, which 'every order' says.\n\n\
What is found is an error, a warning (the result may depend on the order, without a data race) or a note: plain stores of one \
instruction, or copies of one statement, that write the same bytes, and what the letter of PTX does not order but only NVIDIA's \
compiler or library can change. The exit status counts errors, with --strict warnings as well. What the same statements do again \
and again, and what the same fix orders, is one finding with a count.\n\n\
A finding names both sides: 'goto finding 1 first' stands at one of them, 'explain finding 1' says what was ordered between them, what \
was not, and what to insert, and 'fix 1' tries that. 'set stop-on' says which findings stop a run, 'suppress' hides one, 'check off \
race' switches a checker off. Switched on later, a checker looks through the recorded run from its beginning.";

const NUMBER: ArgSpec = ArgSpec::new("N", ArgKind::Count);
const CHECKERS: ArgSpec = ArgSpec::new("CHECKERS", ArgKind::Rest);

pub const COMMANDS: &[CommandSpec] = &[
    CommandSpec {
        name: "findings",
        aliases: &["info findings"],
        summary: "List what was found wrong",
        help: "Lists what the checkers have found in all that was executed, and what stopped the run: what is wrong, and both sides of it. \
            Of a run of one launch that is over it says whether that holds for every order.",
        examples: &["findings", "info findings"],
        handler: handler::findings,
        ..PLAIN
    },
    CommandSpec {
        name: "finding",
        args: &[NUMBER],
        summary: "Show all of a finding",
        help: "Shows a finding by its number in the list: both sides with their threads, times and values, the memory by name, why it is \
            wrong, and how to fix it.",
        examples: &["finding 1"],
        handler: handler::finding,
        ..PLAIN
    },
    CommandSpec {
        name: "goto finding",
        args: &[NUMBER, ArgSpec::new("", ArgKind::Choice(&["first", "second"])).optional()],
        summary: "Go to a side of a finding",
        help: "Goes to the time of the first or of the second side of a finding and looks at the thread that did it: its instruction is \
            executed next. Without a word it is the second, where the finding was noticed.",
        examples: &["goto finding 1 first", "goto finding 1"],
        handler: handler::goto_finding,
        ..PLAIN
    },
    CommandSpec {
        name: "explain finding",
        args: &[NUMBER],
        summary: "Say what was ordered between the sides of a finding, and what was not",
        help: "Says step by step what orders the threads between the two sides of a finding, where that ends, and what to insert. Of \
            threads that wait forever it lists which threads wait for what, and where all warps of their blocks are.",
        examples: &["explain finding 1"],
        handler: handler::explain_finding,
        ..PLAIN
    },
    CommandSpec {
        name: "fix",
        args: &[NUMBER.optional(), ArgSpec::new("FILE", ArgKind::File).optional().after("--ptx")],
        summary: "Try what a finding advises",
        help: "Makes what the finding of this number advises in a copy of the program, a barrier, a fence, other semantics or scopes, the \
            number of a wait, an atomic, and runs that from the beginning: in the order of this run, and under seeds 1 to 8 of the random \
            schedule as far as the finding shows there. A change holds if the finding is gone and no new one has come; it is printed \
            with what it leaves in the buffers. What does not hold is never advised: a line says what was tried, and why each failed. \
            Without a number it does this for all findings of the run, each in the program with the changes that held before, and runs \
            all of them together in the end: 'but' says what there is still. --ptx writes the changed PTX to a file, which must \
            not be there, or be written by 'fix' before; of several linked modules to a folder, each that changed under its name. The \
            session stays where it is.",
        examples: &["fix 1", "fix", "fix 1 --ptx fixed.ptx"],
        handler: handler::fix,
        ..PLAIN
    },
    CommandSpec {
        name: "suppress",
        args: &[ArgSpec::new("ID | FILE:LINE | SYMBOL", ArgKind::Rest).optional()],
        summary: "Hide findings, by id, by line, or by what they are about",
        help: "Findings with this id, or of this family of ids ('race' is all races), with a side on this line of the PTX or of the \
            source, or about this variable or buffer are neither listed nor stop a run. Session files keep it. Without a word, lists \
            what is suppressed.",
        examples: &["suppress race.global", "suppress k.cu:12", "suppress tile", "suppress"],
        handler: handler::suppress,
        ..PLAIN
    },
    CommandSpec {
        name: "unsuppress",
        args: &[ArgSpec::new("ID | FILE:LINE | SYMBOL", ArgKind::Rest).optional()],
        summary: "Undo suppress",
        help: "Shows again what 'suppress' hides; without a word, all of it.",
        examples: &["unsuppress race.global", "unsuppress"],
        handler: handler::unsuppress,
        ..PLAIN
    },
    CommandSpec {
        name: "check on",
        args: &[CHECKERS],
        summary: "Switch checkers on",
        help: "Switches on race, memory, neighbour, init, sync or all of them. What was executed so far is looked through from the \
               beginning.",
        examples: &["check on race", "check on race init", "check on all"],
        handler: |context, call| handler::switch(context, call, true),
        ..PLAIN
    },
    CommandSpec {
        name: "check off",
        args: &[CHECKERS],
        summary: "Switch checkers off",
        help: "Switches checkers off; what they have found is forgotten. Without checkers a run is several times as fast. Wrong addresses \
            stop a run always.",
        examples: &["check off init", "check off all"],
        handler: |context, call| handler::switch(context, call, false),
        ..PLAIN
    },
    CommandSpec {
        name: "info checks",
        summary: "List the checkers, and what each has found",
        help: "Lists the checkers: whether each is on, how many findings it has made, what it looks for.",
        examples: &["info checks"],
        handler: handler::checks,
        ..PLAIN
    },
];
