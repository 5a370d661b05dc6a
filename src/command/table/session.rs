//! Scripts, saving, leaving.

use crate::command::handler::{export, session as handler};
use crate::command::spec::{ArgKind, ArgSpec, CommandSpec, PLAIN};

const FILE: ArgSpec = ArgSpec::new("FILE", ArgKind::File);

pub const COMMANDS: &[CommandSpec] = &[
    CommandSpec {
        name: "source",
        args: &[FILE],
        summary: "Execute the commands of a file",
        help: "Executes the lines of a file as if they were typed. Lines that start with # are comments. The first error ends it.",
        examples: &["source setup.ptxdbg"],
        handler: handler::source,
        ..PLAIN
    },
    CommandSpec {
        name: "save session",
        args: &[FILE],
        summary: "Write breakpoints, marks, displays and the position to a file",
        help: "Writes what one has set up: breakpoints, marks, displays, settings, time and focus. 'load session' brings it back, in \
            another run of the same kernel too: a run is the same every time. The file is replaced when all is written, or stays as it \
            was.",
        examples: &["save session bug.ron"],
        handler: handler::save,
        ..PLAIN
    },
    CommandSpec {
        name: "load session",
        args: &[FILE],
        summary: "Read breakpoints, marks, displays and the position from a file",
        help: "Brings back what 'save session' wrote. What is set up now is replaced. Another module, grid or seed is refused; where \
            parameters, buffers or data files are others than when the session was saved, a warning names them.",
        examples: &["load session bug.ron"],
        handler: handler::load,
        ..PLAIN
    },
    CommandSpec {
        name: "bundle",
        args: &[FILE, ArgSpec::new("NOTES", ArgKind::Rest).optional().after("--notes")],
        summary: "Write all that this session follows from to one file",
        help: "Writes one file with the PTX, the launch and its data files, sources that are at hand, seed and policies, checkers, \
            breakpoints, marks and the position, and the words of NOTES. 'ptxdbg FILE' opens it on any machine, at the same time: the \
            run \
            is the same there. The members are those of a tar archive that is packed with zstd, and FILE/launch.ron and the like can be \
            named wherever a file is read.",
        examples: &["bundle bug.ptxcap", "bundle bug.ptxcap --notes the second tile is wrong"],
        handler: handler::bundle,
        ..PLAIN
    },
    CommandSpec {
        name: "launch",
        args: &[ArgSpec::new("CHANGES", ArgKind::Rest).optional()],
        summary: "Show the launch, or change it and start anew",
        help: "Without words: the text of a launch file that does what is debugged. With words: changes that, and the run begins anew, \
            with the breakpoints, displays and settings that there are. grid=4,2, block=256, cluster=2 and dynamic_shared=4096 change \
            the shape; n=64, x=@x.npy, x=f32[16,64]=random and all else that --arg takes change a parameter or a __constant__ or \
            __device__ variable, by its name. Blanks around = do not count.",
        examples: &["launch", "launch n=64", "launch grid=4,2 x=@x.npy"],
        handler: handler::launch,
        ..PLAIN
    },
    CommandSpec {
        name: "save launch",
        args: &[FILE],
        summary: "Write the launch to a launch file",
        help: "Writes a launch file that starts what is debugged: a launch that was made up, one from --arg, or a launch file with what \
            the command line and 'launch' have changed. Beside the kernel, as kernel.ron, it is used when ptxdbg is started again. A \
            file that is there and is no launch file is left as it is.",
        examples: &["save launch gemm.ron"],
        handler: handler::save_launch,
        ..PLAIN
    },
    CommandSpec {
        name: "export cfg",
        args: &[FILE],
        summary: "Write the control-flow graph as a picture or for Graphviz",
        help: "Writes the control flow of the present function, its basic blocks with their lines, instructions and the lanes of the \
            focused warp, back edges dashed: to FILE.svg as a picture, to FILE.dot for Graphviz.",
        examples: &["export cfg flow.svg", "export cfg flow.dot"],
        handler: export::control_flow,
        ..PLAIN
    },
    CommandSpec {
        name: "export screen",
        args: &[FILE],
        summary: "Write what the screen shows, for a report",
        help: "Writes the panes as they are now and the last lines below them: to FILE.svg as a picture with colours, to FILE.txt as \
            text. A plain prompt and scripts have no screen.",
        examples: &["export screen bug.svg", "export screen bug.txt"],
        handler: export::screen,
        ..PLAIN
    },
    CommandSpec {
        name: "export trace",
        args: &[FILE],
        summary: "Write the run as a trace for Perfetto or Chrome",
        help: "Writes the run as far as it was executed to FILE.json, in Chrome's format, which ui.perfetto.dev opens: a process for \
            each \
            block with a track for each warp, named by its role, on which slices are lines of code and waits at barriers; copies as \
            slices with flows from the warp that issued them; phases of mbarriers as counters. A tick is a microsecond.",
        examples: &["export trace run.json"],
        handler: export::trace,
        ..PLAIN
    },
    CommandSpec {
        name: "export registers",
        args: &[FILE],
        summary: "Write the registers of the warp as a table or an array",
        help: "Writes the registers of the selected frame in all lanes of the focused warp: to FILE.csv a line for each register with a \
            column for each lane, empty where it has never been written; to FILE.npy a structured array of NumPy with a field for each \
            register and a record for each lane, 0 where it has never been written.",
        examples: &["export registers warp.csv", "export registers warp.npy"],
        handler: export::registers,
        ..PLAIN
    },
    CommandSpec {
        name: "export memory",
        args: &[FILE, ArgSpec::new("MEMORY", ArgKind::Expression)],
        summary: "Write memory as a table or as an array of NumPy",
        help: "Writes a buffer, a variable or a range of memory to FILE.csv, a line for each row, or as 'dump' does to FILE.npy.",
        examples: &["export memory out.csv out", "export memory out.npy out[0..7]"],
        handler: export::memory,
        ..PLAIN
    },
    CommandSpec {
        name: "layout",
        aliases: &["la"],
        args: &[ArgSpec::new("LAYOUT", ArgKind::Layout).optional()],
        summary: "Show other panes, or the same ones elsewhere",
        help: "Lays the screen out as one of the shipped layouts, as one of the user's own in ptxdbg/layouts of the configuration \
            folder, or as a file says. 'layout next' and 'layout prev' go through them; without a name, lists them. A plain \
            prompt and scripts have no screen.",
        examples: &["layout compact", "layout next", "layout my.ron"],
        handler: handler::layout,
        ..PLAIN
    },
    CommandSpec {
        name: "save layout",
        args: &[FILE],
        summary: "Write the layout of the screen to a file",
        help: "Writes the layout that is shown to a file, or, where a name is given, under that name to the user's own layouts.",
        examples: &["save layout my.ron", "save layout mine"],
        handler: handler::save_layout,
        ..PLAIN
    },
    CommandSpec {
        name: "quit",
        aliases: &["q", "exit"],
        summary: "Leave",
        help: "Leaves ptxdbg. So does Ctrl-D.",
        examples: &["quit"],
        handler: handler::quit,
        ..PLAIN
    },
];
