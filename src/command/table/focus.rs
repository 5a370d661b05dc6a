//! Which thread one looks at.

use crate::command::handler::{focus as handler, views};
use crate::command::spec::{ArgKind, ArgSpec, CommandSpec, PLAIN, Repeat};

const COORDINATES: ArgSpec = ArgSpec::new("X,Y,Z", ArgKind::Coordinates).optional();
const NUMBER: ArgSpec = ArgSpec::new("N", ArgKind::Coordinates).optional();
const STEPS: ArgSpec = ArgSpec::new("N", ArgKind::Count).optional();

pub const COMMANDS: &[CommandSpec] = &[
    CommandSpec {
        name: "block",
        args: &[COORDINATES],
        summary: "Look at a block",
        help: "Moves the focus to a block, to the same warp and lane as before if it has them. More can follow: 'block 1,0,0 thread 5'. \
            Without coordinates, says where the focus is.",
        examples: &["block 1,0,0", "block 1 thread 5"],
        handler: handler::by_name,
        ..PLAIN
    },
    CommandSpec {
        name: "thread",
        aliases: &["t"],
        args: &[COORDINATES],
        summary: "Look at a thread of the focused block",
        help: "Moves the focus to a thread, given as threadIdx. Without coordinates, says where the focus is.",
        examples: &["thread 33", "thread 1,2"],
        handler: handler::by_name,
        ..PLAIN
    },
    CommandSpec {
        name: "warp",
        args: &[NUMBER],
        summary: "Look at a warp of the focused block",
        help: "Moves the focus to a warp: to the same lane if it still runs, else to the lowest that does.",
        examples: &["warp 1", "warp 1 lane 5"],
        handler: handler::by_name,
        ..PLAIN
    },
    CommandSpec {
        name: "lane",
        args: &[NUMBER],
        summary: "Look at a lane of the focused warp",
        help: "Moves the focus to a lane, 0 to 31.",
        examples: &["lane 5"],
        handler: handler::by_name,
        ..PLAIN
    },
    CommandSpec {
        name: "cluster",
        args: &[COORDINATES],
        summary: "Look at a cluster",
        help: "Moves the focus to the first block of a cluster.",
        examples: &["cluster 0,0,0"],
        handler: handler::by_name,
        ..PLAIN
    },
    CommandSpec {
        name: "cuda",
        args: &[ArgSpec::new("THREADS", ArgKind::Coordinates).optional()],
        summary: "Look at a thread, as cuda-gdb says it",
        help: "'cuda block 1 thread 5' moves the focus; 'cuda block thread', with no numbers, says where it is. There is one device, \
            without SMs: 'device 0 sm 1' before the rest changes nothing, and a warp is one of the block.",
        examples: &["cuda block 1 thread 5", "cuda device 0 sm 0 warp 1 lane 3", "cuda kernel block thread"],
        handler: handler::cuda,
        ..PLAIN
    },
    CommandSpec {
        name: "role",
        args: &[ArgSpec::new("ROLE", ArgKind::Role).optional(), ArgSpec::new("WARPS", ArgKind::Rest).optional()],
        summary: "Name warps, such as producer and consumer",
        help: "Gives warps of every block a name that stands before their number from then on. 'role auto' names them by the branch at \
            which the warps of the focused block part: a guess, which ends with a question mark where it is one. Without arguments, \
            lists the roles; 'role clear' forgets them. Sessions that are saved keep them.",
        examples: &["role producer warp 0", "role consumer warps 1-3", "role auto", "role", "role clear"],
        handler: handler::role,
        ..PLAIN
    },
    CommandSpec {
        name: "backtrace",
        aliases: &["bt", "where", "info stack"],
        args: &[ArgSpec::new("full | N", ArgKind::Rest).optional()],
        summary: "Show the calls that the focused lane is inside of",
        help: "Lists the frames, innermost first: function with its arguments, line of the source, place in the PTX. A function that the \
            compiler put in the place of its call has a frame as well, with the instruction in the innermost one. With a number, lists \
            that many; a negative number counts from the outermost. 'full' adds the variables of each.",
        examples: &["backtrace", "bt 3", "bt -1", "bt full"],
        handler: views::backtrace,
        ..PLAIN
    },
    CommandSpec {
        name: "frame",
        aliases: &["f"],
        args: &[ArgSpec::new("N | function NAME", ArgKind::Rest).optional()],
        summary: "Look at a frame of the backtrace",
        help: "Selects a frame by its number, or the innermost of a function: registers, locals and the list are its. Without a number, \
            shows the selected one.",
        examples: &["frame 1", "frame function gemm", "frame"],
        handler: handler::frame,
        ..PLAIN
    },
    CommandSpec {
        name: "info frame",
        args: &[ArgSpec::new("N", ArgKind::Number).optional()],
        summary: "Show the selected frame in full",
        help: "Shows the function of the selected frame, or of frame N, with its arguments and its line, the instruction, what called it \
            or what it is inlined into, its memory and the names of its variables.",
        examples: &["info frame"],
        handler: views::frame,
        ..PLAIN
    },
    CommandSpec {
        name: "up",
        args: &[STEPS],
        summary: "Look at the caller",
        help: "Selects the frame that called the selected one, or the N-th from it.",
        examples: &["up"],
        repeats: Repeat::Same,
        handler: handler::up,
        ..PLAIN
    },
    CommandSpec {
        name: "down",
        aliases: &["dow"],
        args: &[STEPS],
        summary: "Look at the called frame",
        help: "Undoes up.",
        examples: &["down"],
        repeats: Repeat::Same,
        handler: handler::down,
        ..PLAIN
    },
];
