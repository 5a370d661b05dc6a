//! Registers, memory, code, and positions of threads.

use crate::command::handler::{descriptor, fragment, looking as handler, views};
use crate::command::outcome::View;
use crate::command::spec::{ArgKind, ArgSpec, CommandSpec, PLAIN, Repeat, Suffix};
use crate::debug::view::{self, SymbolKind};

const THREADS: ArgSpec = ArgSpec::new("THREADS", ArgKind::ThreadFilter).optional();
const LOCATION: ArgSpec = ArgSpec::new("LOCATION", ArgKind::Location).optional();
const EXPRESSION: ArgSpec = ArgSpec::new("EXPRESSION", ArgKind::Expression);

pub const COMMANDS: &[CommandSpec] = &[
    CommandSpec {
        name: "print",
        aliases: &["p", "inspect", "pr", "pri"],
        args: &[EXPRESSION],
        suffix: Suffix::Format,
        summary: "Show the value of an expression",
        help: "Names in an expression are registers and predicates of the focused lane (%r1, %p1), special registers (%tid.x), \
            parameters, variables and buffers; C's operators and casts work on them; *(f32*)%rd1 is memory. %r1@* is the register in all \
            lanes of the warp, %r1@0-7 in some; any(), all(), min(), max(), sum() and uniform() answer over lanes. \
            Where a parameter and a buffer have one name it is the buffer's, and the parameter is &NAME. threadIdx, blockIdx, \
            blockDim, gridDim, warpSize and laneid are known where nothing else has their names. A variable of a Triton program with \
            NAME.ttgir beside NAME.ptx is the block's tensor: qk@* is the warp's part of it, qk[0, 5] and qk[0:4, 2] are elements (without \
            the end), and qk - @ref.npy computes with an array of NumPy. A dot stands for an element that a load has left out, ? for one \
            that no register holds now. 'help expressions' says more.\n\n\
            Formats: x hex, d signed, u unsigned, o octal, t binary, f float, a address, c character.",
        examples: &["print %r1", "p/x %r1", "p %r1@*", "p %r1 * 4 + 1", "p qk[0, 5]"],
        handler: handler::print,
        ..PLAIN
    },
    CommandSpec {
        name: "x",
        args: &[ArgSpec::new("ADDRESS", ArgKind::Expression).optional()],
        suffix: Suffix::Examine,
        summary: "Show memory",
        help: "Shows memory from an address on. After the slash come the number of units, the format (as for print) and the unit: b 1 \
            byte, h 2, w 4, g 8; a character (c) is a byte. Without a unit, elements are those of the variable or buffer that the address \
            is in. Without an address goes on where it ended. A 32-bit value that is an address of the block's shared memory alone is \
            taken as one.",
        examples: &["x/8xw out", "x/4fw out"],
        repeats: Repeat::Continue,
        handler: handler::examine,
        ..PLAIN
    },
    CommandSpec {
        name: "display",
        args: &[ArgSpec::new("EXPRESSION", ArgKind::Expression).optional()],
        suffix: Suffix::Format,
        summary: "Show an expression at every stop",
        help: "Shows the expression now and whenever the program stops. Without one, shows all displays. What names variables of the \
            source is shown where they are in scope.",
        examples: &["display %r1", "display/x %r1"],
        handler: handler::display,
        ..PLAIN
    },
    CommandSpec {
        name: "undisplay",
        aliases: &["delete display"],
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
    CommandSpec {
        name: "list",
        aliases: &["l"],
        args: &[LOCATION],
        summary: "Show lines of PTX, or of the source",
        help: "Shows lines around a location, or around where the focused lane stands; again, or with '+', the lines that follow, \
            and 'list -' those before. A line of a file of the source, gemm.cu:10, lists that file where it is at hand: where .file \
            says it is, beside the PTX, in a folder of -I, or in the comments of 'nvcc -src-in-ptx'. Above lines of PTX stands the \
            line of the source that they come from. A number alone is a line of PTX; where the source is at hand, it must have an \
            instruction (k.ptx:12 lists any line). 'set listsize' says how many. Before the text stand '●' for a breakpoint, '▶' \
            for the focused lane, 'asm' where the compiler put the text of an asm statement, and in brackets the lanes of the \
            focused warp that stand there, with those that a predicate turns off after 'off'. '↔ fma with 10' after it says that the \
            line is rounded once with line 10; so do '↔ mul with 10' of a product that is scaled, and '↔ inverse with 10' of a \
            reciprocal that is computed from the operand of line 10.",
        examples: &["list", "list 37", "list 10,20", "list 10,", "list gemm.cu:10"],
        repeats: Repeat::Continue,
        handler: handler::list,
        ..PLAIN
    },
    CommandSpec {
        name: "disassemble",
        aliases: &["disas"],
        args: &[ArgSpec::new("FUNCTION", ArgKind::Location).optional()],
        suffix: Suffix::Format,
        summary: "Show the instructions of a function",
        help: "Shows all instructions of the function that the focused lane is in, or of the one at a location, with their numbers; => \
            stands before the one that is executed next. START,END shows those from number START to before END, START,+N \
            shows N; START is a number, $pc or a location. After /s or /m, lines of the source stand above what was made of them.",
        examples: &["disassemble", "disassemble /s", "disassemble 10,20", "disassemble $pc,+8"],
        handler: handler::disassemble,
        ..PLAIN
    },
    CommandSpec {
        name: "explain",
        args: &[LOCATION],
        summary: "Say what an instruction does, with the values it has now",
        help: "Says in words what the instruction does that the focused lane executes next, or the one at a location; with the present \
            values of its operands and the result they will give.",
        examples: &["explain", "explain 37"],
        handler: views::explain,
        ..PLAIN
    },
    CommandSpec {
        name: "cfg",
        args: &[ArgSpec::new("FUNCTION", ArgKind::Location).optional()],
        summary: "Show the control-flow graph, with the lanes in each block",
        help: "Lists the basic blocks of the present function, or of another: their lines, where they lead, loops, where divergent lanes \
            meet, and how many lanes of the focused warp stand in each. Where the warps have a stack, lanes meet where ptxas has them \
            meet with SSY and PBK; else at the immediate post-dominator.",
        examples: &["cfg"],
        handler: views::control_flow,
        ..PLAIN
    },
    CommandSpec {
        name: "info may-read",
        aliases: &["info may"],
        args: &[ArgSpec::new("LOCATION", ArgKind::Expression).optional()],
        summary: "Say which writes a load may return on weak memory",
        help: "Lists the writes of a location that are kept, oldest first, and says of each whether a load of it by the focused thread may \
            return it: because no write comes after it, or because the thread need not know the one that does, with the link that is \
            missing (a release, an acquire, a fence, a scope); or why it may not. The location is an element of memory, flag[0] or \
            *(u32*)%rd1, or the line of an instruction, whose address the registers have now; without one it is what the focused lane \
            accesses next. Runs have weak memory with --memory weak; 'help memory-model' says more.",
        examples: &["info may-read", "info may-read flag[0]", "info may-read 37"],
        handler: views::may_read,
        ..PLAIN
    },
    CommandSpec {
        name: "info divergence",
        summary: "Show the lane groups of the focused warp, and where they meet",
        help: "Lists the groups of lanes that stand at different places, and where they will meet again. Where the warps have a stack, as \
            for targets below sm_70 or with --divergence stack, that is the innermost place noted for them that all come to, and each \
            group says which lanes it waits for, to have their turn or to come to the meeting point.",
        examples: &["info divergence"],
        handler: views::divergence,
        ..PLAIN
    },
    CommandSpec {
        name: "info registers",
        aliases: &["info r", "info reg", "info all-registers", "info float", "info vector"],
        args: &[ArgSpec::new("REGISTERS", ArgKind::Registers).optional()],
        suffix: Suffix::Format,
        summary: "List the registers of the focused lane",
        help: "Lists the registers that code of the selected frame names, with their types and values; with names, those; with a \
            name that ends with *, all that begin so. With @* after it, their values in all lanes of the warp.",
        examples: &["info registers", "info registers %r1 %r2", "info registers/x %rd*", "info registers %r*@*"],
        handler: views::registers,
        ..PLAIN
    },
    CommandSpec {
        name: "info fragment",
        args: &[
            ArgSpec::new("REGISTERS", ArgKind::Expression).optional(),
            ArgSpec::new("FRAGMENT", ArgKind::Word).after("as").optional(),
            ArgSpec::new("ROW,COLUMN", ArgKind::Word).after("at").optional(),
            ArgSpec::new("N", ArgKind::Number).after("lane").optional(),
        ],
        suffix: Suffix::Format,
        summary: "Show registers of the warp as the matrix they hold",
        help: "Shows what registers hold in all lanes of the focused warp as a matrix of mma, mma.sp, wmma or wgmma, and for each element \
            the lane that holds it and its number there, counted from the first register's low bits on. A fragment is named by \
            instruction, shape, matrix (a, b, c or d) and type. With at, only one element and the lane that holds it; with lane, only what \
            that lane holds. Of a sparse matrix the columns are those that are kept. Without registers, shows the fragments of the mma, \
            wmma or wgmma that the focused lane executes next; 'info fragment a' shows one of them.",
        examples: &[
            "info fragment",
            "info fragment a",
            "info fragment %r4..%r7 as mma.m16n8k16.a.f16",
            "info fragment %f1, %f2, %f3, %f4 as mma.m16n8k16.d.f32 at 3,5",
            "info fragment/x {%r8, %r9} as mma.m16n8k16.b.bf16 lane 7",
        ],
        handler: fragment::fragment,
        ..PLAIN
    },
    CommandSpec {
        name: "info descriptor",
        args: &[ArgSpec::new("DESCRIPTOR", ArgKind::Expression).optional(), ArgSpec::new("MAJOR", ArgKind::Word).after("as").optional()],
        summary: "Decode a matrix descriptor of wgmma",
        help: "Shows what the 64 bits of a matrix descriptor say: where the operand starts in shared memory, its leading and stride \
            offsets, the base offset and the swizzle; and the addresses of its first chunks of 16 bytes. The operand lies along K \
            unless 'as mn' says that it is transposed, as imm-trans does. Without a descriptor, decodes those of the wgmma that the \
            focused lane executes next.",
        examples: &["info descriptor", "info descriptor %rd5", "info descriptor %rd6 as mn", "info descriptor 0x4000004000010040"],
        handler: descriptor::descriptor,
        ..PLAIN
    },
    CommandSpec {
        name: "info locals",
        suffix: Suffix::Format,
        summary: "List the local variables of the selected frame",
        help: "Lists the variables of the source in scope in the selected frame, innermost scope first, with what holds them, their types \
            and their values, if the module has debug data (nvcc -G, clang -g); those that another one of the same name hides, too. If it \
            has none, lists the .local variables of the function.",
        examples: &["info locals"],
        handler: views::locals,
        ..PLAIN
    },
    CommandSpec {
        name: "info args",
        suffix: Suffix::Format,
        summary: "List the parameters of the selected frame",
        help: "Lists the parameters of the selected frame's function with their values: those of the source where the module has debug \
            data of them, those of the module where it has none.",
        examples: &["info args"],
        handler: views::arguments,
        ..PLAIN
    },
    CommandSpec {
        name: "info scope",
        args: &[LOCATION],
        summary: "List the variables in the scope of an instruction",
        help: "Lists the variables and parameters of the source that are in scope at an instruction, innermost scope first, with their \
            declarations and where they are: a register, memory, or nowhere. Without a location, at the instruction of the selected frame.",
        examples: &["info scope", "info scope 40"],
        handler: views::scope,
        ..PLAIN
    },
    CommandSpec {
        name: "info warps",
        args: &[THREADS],
        summary: "List warps: where they stand and what they do",
        help: "Lists the warps of the focused block, or of others: their lanes, where they stand, whether they wait. Equal rows are one.",
        examples: &["info warps", "info warps block 1,0,0"],
        handler: |context, call| views::threads(context, call, |eval_context, filter| view::warps(eval_context, filter).map(View::Warps)),
        ..PLAIN
    },
    CommandSpec {
        name: "info blocks",
        args: &[THREADS],
        summary: "List the blocks: waiting, on the machine, finished",
        help: "Lists the blocks on the machine and counts those that have not started and those that have finished.",
        examples: &["info blocks"],
        handler: |context, call| views::threads(context, call, |eval_context, filter| Ok(View::Blocks(view::blocks(eval_context, filter)))),
        ..PLAIN
    },
    CommandSpec {
        name: "info lanes",
        aliases: &["info lane"],
        args: &[THREADS],
        summary: "List the lanes of the focused warp",
        help: "Lists the lanes of the focused warp with their threads and where they stand. Equal rows are one; lanes that a \
            predicate turns off have a row of their own; a line below counts them over the block, as far as its warps stand near, and \
            names the elements that they leave out: of a Triton program those of the tensor, '24 of 1024 masked: columns 1000-1023'.",
        examples: &["info lanes"],
        handler: views::lanes,
        ..PLAIN
    },
    CommandSpec {
        name: "info threads",
        args: &[THREADS],
        summary: "List threads by where they stand",
        help: "Lists the threads on the machine, in ranges that stand at the same place.",
        examples: &["info threads", "info threads block 0 warp 1"],
        handler: |context, call| {
            views::threads(context, call, |eval_context, filter| Ok(View::Threads(view::threads(eval_context, filter))))
        },
        ..PLAIN
    },
    CommandSpec {
        name: "info barriers",
        args: &[THREADS],
        summary: "List the barriers in use: which threads have arrived, which are missing",
        help: "Lists the barriers of the focused block that threads wait at.",
        examples: &["info barriers"],
        handler: |context, call| {
            views::threads(context, call, |eval_context, filter| view::barriers(eval_context, filter).map(View::Barriers))
        },
        ..PLAIN
    },
    CommandSpec {
        name: "info mbarriers",
        aliases: &["info mbarrier"],
        args: &[ArgSpec::new("MBARRIER", ArgKind::Mbarrier).optional()],
        summary: "List the mbarriers of the block: phases, arrivals, bytes, waiting threads",
        help: "Lists the mbarriers of the focused block and of the other blocks of its cluster: how many phases have ended and the parity \
            of the present one, the arrivals that came of those it wants, its transaction bytes, and the threads that wait for a phase of \
            which parity. With a name as it is listed, the name of an array of them, or an address: one in full, with the arrivals of this \
            phase and the phases before.",
        examples: &["info mbarriers", "info mbarriers full[1]"],
        handler: views::mbarriers,
        ..PLAIN
    },
    CommandSpec {
        name: "info async",
        aliases: &["info copy", "info copies"],
        args: &[THREADS],
        summary: "List what is in flight: asynchronous copies, wgmma, and their groups",
        help: "Lists the copies in flight that threads of the focused block have issued or that reach its shared memory, or those of \
            other threads: what kind, the thread that issued it, where and when, from where to where, and what will say that it has ended: \
            an mbarrier, or a group. Then the matrix multiplications (wgmma): the operands that each will read and the registers that \
            it will write. Below them the groups of each warp that have something in flight: open, or committed, and whether \
            a thread waits for them.",
        examples: &["info async", "info async warp 0"],
        handler: |context, call| {
            views::threads(context, call, |eval_context, filter| Ok(View::InFlight(view::copies(eval_context, filter))))
        },
        ..PLAIN
    },
    CommandSpec {
        name: "info pipeline",
        summary: "Show over time when each stage was filled, full, read and empty",
        help: "Shows the mbarriers of the focused block that copies complete on as stages of a pipeline, for the latest part of the run: \
            filled from the first copy of a phase to the phase's end, full until a thread goes on that waited for it, read until the \
            mbarrier that says so has ended its phase, empty until the next copy. Every change is seen, so time is not to scale.",
        examples: &["info pipeline"],
        handler: views::pipeline,
        ..PLAIN
    },
    CommandSpec {
        name: "info shared",
        summary: "List the shared variables of the focused block",
        help: "Lists the shared variables with their addresses, sizes and first values.",
        examples: &["info shared"],
        handler: |context, _| views::of_eval_context(context, |eval_context| View::Shared(view::shared(eval_context))),
        ..PLAIN
    },
    CommandSpec {
        name: "info allocations",
        summary: "List the buffers in global memory",
        help: "Lists the buffers of the launch and the module's variables in global memory: addresses, sizes and first values.",
        examples: &["info allocations"],
        handler: |context, _| views::of_eval_context(context, |eval_context| View::Allocations(view::allocations(eval_context))),
        ..PLAIN
    },
    CommandSpec {
        name: "info symbols",
        args: &[ArgSpec::new("NAME", ArgKind::Symbol).optional()],
        summary: "List functions, labels and variables",
        help: "Lists the names of the module, or those that contain a text.",
        examples: &["info symbols"],
        handler: views::symbols,
        ..PLAIN
    },
    CommandSpec {
        name: "info functions",
        args: &[ArgSpec::new("NAME", ArgKind::Symbol).optional()],
        summary: "List kernels and functions",
        help: "Lists the kernels and functions of the module, or those whose names contain a text.",
        examples: &["info functions"],
        handler: |context, call| views::symbols_of(context, call, |kind| matches!(kind, SymbolKind::Kernel | SymbolKind::Function)),
        ..PLAIN
    },
    CommandSpec {
        name: "info variables",
        args: &[ArgSpec::new("NAME", ArgKind::Symbol).optional()],
        summary: "List the variables of the module",
        help: "Lists the variables of the module with their types and addresses, or those whose names contain a text. 'info locals' and \
            'info scope' list those of the source.",
        examples: &["info variables"],
        handler: |context, call| views::symbols_of(context, call, |kind| matches!(kind, SymbolKind::Variable { .. })),
        ..PLAIN
    },
    CommandSpec {
        name: "info types",
        args: &[ArgSpec::new("NAME", ArgKind::Symbol).optional()],
        summary: "List the types of the source",
        help: "Lists the types that the debug data names, or those whose names contain a text. 'ptype NAME' shows one with its members.",
        examples: &["info types"],
        handler: views::types,
        ..PLAIN
    },
    CommandSpec {
        name: "info address",
        args: &[ArgSpec::new("NAME", ArgKind::Symbol)],
        summary: "Show where a function, a label, a variable or a buffer is",
        help: "Shows the kind, the type and the address of what has this name.",
        examples: &["info address out"],
        handler: views::address,
        ..PLAIN
    },
    CommandSpec {
        name: "info symbol",
        aliases: &["info sym"],
        args: &[ArgSpec::new("ADDRESS", ArgKind::Expression)],
        summary: "Name what lies at an address",
        help: "Names the variable, buffer or function that holds an address, and how far in it the address is. 'info symbols' searches \
            names.",
        examples: &["info symbol %rd1"],
        handler: handler::symbol_at,
        ..PLAIN
    },
    CommandSpec {
        name: "whatis",
        args: &[EXPRESSION],
        summary: "Show the type of an expression",
        help: "Says the type of an expression: that of the source where the module has debug data, that of PTX where it has none. Of an \
            array of the module also what that is from, as 'type' does.",
        examples: &["whatis %r1", "whatis As"],
        handler: handler::what_is,
        ..PLAIN
    },
    CommandSpec {
        name: "ptype",
        args: &[EXPRESSION],
        summary: "Show a type in full",
        help: "Says the type of an expression, or a type of the source that is named, with the members of a structure and the names of an \
            enumeration. Typedefs are followed.",
        examples: &["ptype %r1"],
        handler: handler::type_in_full,
        ..PLAIN
    },
    CommandSpec {
        name: "type",
        args: &[ArgSpec::new("VARIABLE", ArgKind::Symbol).optional(), ArgSpec::new("TYPE", ArgKind::Rest).optional()],
        summary: "Show or change what a variable is taken for",
        help: "Compilers of CUDA declare arrays in shared, constant, local and __device__ memory by the byte. They are taken for what all \
            instructions that access them agree on: the type of an element, and rows as long as indices are multiplied with. Where \
            accesses disagree, as in a union, a structure of several types or memory that is used anew, they stay bytes.\n\n\
            With a variable, says its type and what that is from. With a type as well, takes the variable for that from now on, in \
            expressions, watchpoints, histories, panes and findings: a type of PTX or C and extents, of which the first may be left out. \
            'type VARIABLE auto' goes back to what accesses show. A buffer of the launch is taken for another type so, and 'auto' is the \
            launch's own. Without arguments, lists all arrays that are declared by the byte. Sessions that are saved keep what was given.",
        examples: &["type As", "type As f32[16][16]", "type smem half[][64]", "type As auto", "type x f32[64][64]", "type"],
        handler: handler::array_type,
        ..PLAIN
    },
    CommandSpec {
        name: "info kernels",
        summary: "List the kernels of the module",
        help: "Lists the kernels and marks the one that runs.",
        examples: &["info kernels"],
        handler: views::kernels,
        ..PLAIN
    },
    CommandSpec {
        name: "info launch",
        summary: "Show how the kernel was launched",
        help: "Shows kernel, grid, block, shared memory and parameters. Of a made-up launch it also says why its values are what they are.",
        examples: &["info launch"],
        handler: views::launch,
        ..PLAIN
    },
    CommandSpec {
        name: "info target",
        summary: "Show what the module was made for, and what it runs on here",
        help: "Shows the module's target, PTX version and width of addresses, how lanes that have diverged take turns, the instructions \
            that are not modelled, and whose special functions it gets: modules for any target get those of sm_90.",
        examples: &["info target"],
        handler: views::target,
        ..PLAIN
    },
    CommandSpec {
        name: "info source",
        args: &[LOCATION],
        summary: "Show the current source file, and the lines of an instruction",
        help: "Shows the file of the source that the instruction comes from which the focused lane executes next, or the one at a \
            location; with the lines, as 'info line' does.",
        examples: &["info source", "info source 37"],
        handler: views::source_file,
        ..PLAIN
    },
    CommandSpec {
        name: "info line",
        args: &[LOCATION],
        summary: "Show the lines of PTX and of the source that an instruction came from",
        help: "Shows them for the instruction that the focused lane executes next, or for the one at a location.",
        examples: &["info line", "info line 37"],
        handler: views::source,
        ..PLAIN
    },
    CommandSpec {
        name: "info output",
        summary: "Show what the kernel has printed",
        help: "Shows what printf has written up to the present time, in the order of execution. A terminal gets control characters as \
            escapes, a file or a pipe all bytes as they are.",
        examples: &["info output"],
        handler: views::output,
        ..PLAIN
    },
    CommandSpec {
        name: "info fidelity",
        summary: "Say how far the run so far can be trusted",
        help: "Of the opcodes that the launch has executed so far: which do bit for bit what hardware was recorded to do, and in which \
               recording; which follow the manual alone; which are approximations, and whether what they computed may have decided an \
               address, a branch or a synchronization.",
        examples: &["info fidelity"],
        handler: views::fidelity,
        ..PLAIN
    },
];
