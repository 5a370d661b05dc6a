//! Running forwards.

use crate::command::handler::running::{self as handler, Step};
use crate::command::spec::{ArgKind, ArgSpec, CommandSpec, PLAIN, Repeat};
use crate::debug::stop::Direction;

const UNIT: ArgSpec = ArgSpec::new("UNIT", ArgKind::Choice(&["lane", "warp", "block", "grid"])).optional();
const LINE_UNIT: ArgSpec = ArgSpec::new("UNIT", ArgKind::Choice(&["lane", "warp", "block", "grid", "program"])).optional();
const STRATEGY: ArgSpec = ArgSpec::new("WAY", ArgKind::Choice(&["random", "pct", "systematic"])).optional();
const BOUND: ArgSpec = ArgSpec::new("DEPTH | K | continue", ArgKind::Word).optional();
const COUNT: ArgSpec = ArgSpec::new("N", ArgKind::Count).optional();
const MEMORY: ArgSpec = ArgSpec::new("MODEL", ArgKind::Word).optional().after("--memory");

pub const COMMANDS: &[CommandSpec] = &[
    CommandSpec {
        name: "run",
        aliases: &["r"],
        summary: "Run from the beginning",
        help: "Goes to the beginning and runs until something stops the kernel: a breakpoint, a fault, its end. Breakpoints, marks and \
            displays stay.",
        examples: &["run"],
        handler: handler::run,
        ..PLAIN
    },
    CommandSpec {
        name: "start",
        aliases: &["starti"],
        summary: "Go to the beginning, before the first instruction",
        help: "Goes to time 0, where nothing has been executed, and looks at the first thread. What was recorded stays; 'back' leads to \
            where one was.",
        examples: &["start"],
        handler: handler::start,
        ..PLAIN
    },
    CommandSpec {
        name: "continue",
        aliases: &["c", "cont"],
        args: &[COUNT],
        summary: "Run until something stops the kernel",
        help: "Runs all warps, in the order that the seed gives, until a breakpoint, a watchpoint, a catchpoint, a fault or the end of \
            the kernel stops them. With a number, lets all stops but the N-th pass. The focus moves to the thread that stopped.",
        examples: &["continue", "c 3"],
        repeats: Repeat::Same,
        handler: |context, call| handler::continue_run(context, call, Direction::Forward),
        ..PLAIN
    },
    CommandSpec {
        name: "stepi",
        aliases: &["si"],
        args: &[UNIT, COUNT],
        summary: "Execute one instruction, or N of them",
        help: "Executes the next instruction of the focused warp, for those of its lanes that stand there. Other warps stand still, \
            unless the focused one needs them: a warp that waits at a barrier lets others run just as far as it takes, and the answer \
            says how far.\n\n\
            A unit says whose instruction is meant: the focused lane's, its warp's, any of its block's, or any of the grid's. Without \
            one 'set step-unit' decides. 'set divergent-step' decides what becomes of the focus when other lanes of the warp run first.",
        examples: &["stepi", "si 10", "stepi lane", "si grid 100"],
        repeats: Repeat::Same,
        handler: |context, call| handler::step(context, call, Step::Instruction, false, Direction::Forward),
        ..PLAIN
    },
    CommandSpec {
        name: "nexti",
        aliases: &["ni"],
        args: &[UNIT, COUNT],
        summary: "Execute one instruction, a call as one",
        help: "As stepi, but a call counts as one instruction: what is called runs to its return.",
        examples: &["nexti", "ni 4"],
        repeats: Repeat::Same,
        handler: |context, call| handler::step(context, call, Step::Instruction, true, Direction::Forward),
        ..PLAIN
    },
    CommandSpec {
        name: "step",
        aliases: &["s"],
        args: &[LINE_UNIT, COUNT],
        summary: "Execute up to another line, into calls",
        help: "Executes until the focused lane stands on another line: of the source language where .loc names lines, else of PTX ('set \
            step-by ptx' steps lines of PTX always). Steps into calls, up to the body of the function, and after a return on to the next \
            line. If other lanes of a diverged warp run first, the step ends where they stand and focuses one of them; after 'set \
            divergent-step wait' it goes on until the focused lane has run. 'step program' and 'next program' take every warp of the \
            block to another line, one after the other.",
        examples: &["step", "s 3", "step lane"],
        repeats: Repeat::Same,
        handler: |context, call| handler::step(context, call, Step::Line, false, Direction::Forward),
        ..PLAIN
    },
    CommandSpec {
        name: "next",
        aliases: &["n"],
        args: &[LINE_UNIT, COUNT],
        summary: "Execute up to another line, over calls",
        help: "As step, but a call belongs to the line it stands on.",
        examples: &["next", "n 2", "next program"],
        repeats: Repeat::Same,
        handler: |context, call| handler::step(context, call, Step::Line, true, Direction::Forward),
        ..PLAIN
    },
    CommandSpec {
        name: "finish",
        aliases: &["fin"],
        summary: "Run until the selected frame returns",
        help: "Runs until the function of the selected frame has returned to its caller. The kernel itself has no caller: there continue \
            runs to the end.",
        examples: &["finish"],
        handler: |context, _| handler::finish(context, Direction::Forward),
        ..PLAIN
    },
    CommandSpec {
        name: "until",
        aliases: &["u"],
        args: &[ArgSpec::new("LOCATION", ArgKind::Location).optional()],
        summary: "Run to a line after the present one: to the end of a loop",
        help: "As next, but never goes back in the text: at the jump at the end of a loop it runs the loop to its end.\n\n\
            With a location, runs until the focused lane stands there or the present frame returns. A number alone is a line of the PTX \
            text, which must have an instruction; k.cu:15 is one of the source.",
        examples: &["until", "until 37"],
        repeats: Repeat::Same,
        handler: handler::until,
        ..PLAIN
    },
    CommandSpec {
        name: "advance",
        args: &[ArgSpec::new("LOCATION", ArgKind::Location)],
        summary: "Run until the focused lane stands at a location",
        help: "Runs until the focused lane stands at the location. Other threads do not stop it; breakpoints do. A line of the \
            PTX text must have an instruction.",
        examples: &["advance 37"],
        handler: handler::advance,
        ..PLAIN
    },
    CommandSpec {
        name: "complete",
        args: &[ArgSpec::new("COPY|TEXT", ArgKind::Rest).optional()],
        summary: "End an asynchronous copy, or list what completes a line",
        help: "With a number ends the copy of this number now: its bytes are written, and its group or mbarrier is notified. Or ends a \
            matrix multiplication (wgmma), after those that its warp issued before it. 'info async' lists those in \
            flight. Under --async by-hand nothing else ends copies; under lazy and random it ends one before its time. As with set, \
            what was recorded after the current time is kept as a branch.\n\n\
            With the beginning of a line lists what it can go on with, as Tab does.",
        examples: &["complete 3", "complete info b"],
        handler: handler::complete,
        ..PLAIN
    },
    CommandSpec {
        name: "explore",
        args: &[STRATEGY, BOUND, COUNT, MEMORY],
        summary: "Run the kernel under many orders and say what differs",
        help: "Runs the launch from its beginning in N other orders (20 without a number): seeds of the schedule and of the ends of \
            asynchronous copies. Results are judged by what the launch expects, within its tolerances: how many orders are right and how \
            many are wrong, the worst of them, and the options that replay it. Where nothing is expected, every byte of the buffers is \
            compared with this run's, and each outcome is a line. The checkers that are on watch all orders; what they find in any is \
            listed below, one finding for one cause, and so are hangs and faults, each with the options that replay it where this run's \
            own order does not show it. An outcome that depends on the order means a race or a missing wait; one that does not proves \
            nothing. Orders run at the same time on all cores ('set jobs', --jobs); what is printed does not depend on that. The \
            session stays where it is. 'explore pct DEPTH N' draws priorities instead: the warp with the highest runs, and DEPTH - 1 \
            times, at moments drawn from the seed, the one that runs is lowered below all others. An order shows a bug that takes DEPTH \
            orderings between threads with a probability of at least 1/(n k^(DEPTH-1)) for n warps and k warp-instructions, which is \
            printed; without a DEPTH it is 3. A warp that spins gives way to others, which the bound does not count. \
            'explore systematic K N' tries one after the other all orders that differ in what depends on the order: in that of atomics, \
            strong accesses, barriers and mbarriers on one place, and of plain accesses that race; of orders that differ in \
            nothing else one is tried. At most K times (2 without a number) an order takes the turn from a warp that could run on; most \
            known bugs take no more than 2. It ends when all such orders were tried, which it says, or after N of them (1000 without a \
            number), or with Ctrl-C, and 'explore systematic continue N' goes on. Copies end, and the lanes of a warp that has diverged \
            take turns, as in this run. '--memory weak' runs the other orders on weak memory, each with a seed of its own (help \
            memory-model), and says which results sequentially consistent memory never gives. An order is replayed by \
            --schedule switch:TICK:BLOCK:WARP,...: where the turn goes to another warp than it would have gone to. Of orders that show the \
            same the one with the fewest switches is named.",
        examples: &[
            "explore",
            "explore 100",
            "explore pct",
            "explore pct 2 1000",
            "explore systematic",
            "explore systematic 3 500",
            "explore systematic continue",
            "explore 100 --memory weak",
        ],
        handler: handler::explore,
        ..PLAIN
    },
    CommandSpec {
        name: "run-to",
        args: &[ArgSpec::new("EVENT", ArgKind::Event)],
        summary: "Run until the focused warp reaches an event",
        help: "Runs until the focused warp is about to do it: barrier (with a number, that one), call, exit, atomic, printf; or until it \
            has happened to it: divergence, reconvergence, mbarrier, async. As catch, but once, and for the focused warp only.",
        examples: &["run-to divergence", "run-to barrier 0"],
        repeats: Repeat::Same,
        handler: handler::run_to,
        ..PLAIN
    },
];
