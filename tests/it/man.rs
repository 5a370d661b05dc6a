//! Holds `man/ptxdbg.1` to the command line. `PTXDBG_BLESS=1 cargo test --test it man::` writes it anew.

#![cfg(feature = "tui")]

use std::path::Path;

use ptxdbg::args::capture::CaptureArgs;
use ptxdbg::args::compare::CompareArgs;
use ptxdbg::args::litmus::LitmusArgs;
use ptxdbg::args::shrink::ShrinkArgs;
use ptxdbg::command::table::TOPICS;
use ptxdbg::debug::settings::SETTINGS;
use ptxdbg::ui::tui::keymap::{Action, KeyMap};

/// How the screen is used, before its keys.
const SCREEN: &str = r#".SH SCREEN
On a terminal, panes stand above and the prompt below, both alive. A fifth of the rows, 5 to 12, is the prompt's: what was said, and the
line that is typed. For a kernel whose source is Python (Triton, Numba) and is found, the first layout is \fBtriton\fR: the source, its
variables and the findings; F3 shows the PTX. A terminal of fewer than 40 columns or 14 rows has the prompt alone. \fB\-\-plain\fR leaves the panes out; so does a
terminal that cannot move its cursor.
.SS The prompt
A line is edited as in Emacs and in readline: Ctrl\-A, Ctrl\-E, Ctrl\-K, Ctrl\-U, Ctrl\-W, Ctrl\-Y, Alt\-B, Alt\-F, Alt\-D, Ctrl\-R for the history, Tab
for what could stand there. An empty line does again what the line before did. Lines that are pasted are executed one by one. Ctrl\-C drops
the line, Ctrl\-D leaves, Ctrl\-L draws everything anew, Ctrl\-Z stops ptxdbg until the shell continues it.
.PP
While the kernel runs, the panes follow it and a line says how far it is: the time, blocks started of all, instructions a second, seconds.
Ctrl\-C stops it where it stands. What is typed meanwhile begins the next line, or is executed.
.PP
A line with a byte that is not UTF\-8 is not executed; the message says which byte, and at which column.
.PP
However ptxdbg ends, the terminal is given back as it was: a second process, the same program, waits for the end of the first and undoes what
that could not, after SIGKILL or an abort too.
.SS What was said
PageUp shows what was said in place of the panes, a page further back each time; PageDown goes forward, at the end back to the panes. So
does an empty line. Alt\-/ searches it, then \fBn\fR and \fBN\fR, and the wheel scrolls, as in browse mode. An answer that is longer than its
room is shown from its beginning, until the next command (\fBset pagination off\fR: not). When ptxdbg ends, the last 1,000 lines stay in
the terminal. \fBset transcript\fR \fIFILE\fR writes all lines, those so far too, to a file.
.SS Browse mode
\fBF2\fR gives nearly all rows, all keys and the mouse to the panes. A click on a line puts the cursor there; on its lanes, a warp, a block, an
element or a time, it goes there or looks at it. The wheel scrolls. A key of a command still executes it; what it asks is asked in the last
row. \fBq\fR, Escape or F2 goes back to the prompt, where the line that was begun still stands.
.SS Keys
At the prompt, keys that edit a line edit it; all others do what the key map says. While one browses, all do. \fBF1\fR shows them.
"#;

/// What `ptxdbg capture` is, before its options.
const CAPTURE: &str = r#".SH CAPTURE
\fBptxdbg capture\fR [\fIOPTIONS\fR] \fB\-\-\fR \fICOMMAND\fR runs a program on a machine with a GPU and writes a launch of it to a bundle: the PTX
of the kernel's module, the parameters, the variables of the module, and the memory that these lead to, before the launch and after it.
\fBptxdbg\fR \fIFILE.ptxcap\fR runs it on any machine, at the addresses of the device, and compares with what the GPU has left.
.PP
A library is loaded into the program with \fBLD_PRELOAD\fR that replaces the functions of the driver which load modules and launch kernels. It
waits for the device before the launch and after it. Memory is what a word of the parameters points into, as the driver knows its bounds, then
what the words in that point into, and so on. A kernel of a
graph is captured by launching the graph in parts: the nodes before it, it alone, the nodes after it. Textures, surfaces and kernels of graphs
within graphs are not captured. What was linked in the program is a bundle of several modules. Launches are counted over all processes. Kernels
without PTX are passed over; where nothing is captured, all kernels that were launched are listed, with the reason. The driver is that of CUDA
12.4 or later, the system Linux with glibc. For the time of the run CuPy keeps its cache in memory (\fBCUPY_CACHE_IN_MEMORY\fR), so that
it compiles where the PTX is seen. The exit status is that of the program (128 and the signal that ended it), or 2 where it cannot be run
or a bundle cannot be written. SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1 and SIGUSR2 are passed on to the program and to what it has started; what is
typed the terminal sends to them itself.
"#;

/// What `ptxdbg compare` is, before its options.
const COMPARE: &str = r#".SH COMPARE
\fBptxdbg compare\fR \fIA\fR [\fIB\fR] runs two bundles, two programs of one kernel, or one in two orders, without checkers, and says where
they first store something else: the thread, both instructions with their times, the addresses and the values. B is a bundle or a launch file of its own, or
PTX that is run with the launch of A, as \fBptxdbg compare gemm.ptxcap changed.ptx\fR. With one file, two of \fB\-\-schedule\fR, \fB\-\-seed\fR,
\fB\-\-async\fR, \fB\-\-divergence\fR or \fB\-\-resident\fR are compared.
.PP
Where both programs have the same text, the n\-th store of a thread in A is compared with the n\-th of this thread in B: the address, the bytes of an element and
the value; stores to shared memory count, too. Compilers order stores to different addresses in other ways: of two programs, the n\-th store of a thread
to an address in global memory is compared with its n\-th store there. An address is an offset in a buffer, which the other side has by its number and
size or by its name, or in a variable. Of an atomic and of a surface the address is compared, of a bulk or tensor copy to global memory the first
address and what it reads when it is issued. What is said is the first difference in the time of A; a thread that stores less than in B comes last. If all stores
are the same, the memory at the end is compared, which atomics and the order of threads decide.
.PP
The runs are not kept: each is digested by thread, and the stores of threads that differ are compared in further runs, some millions at a time.
"#;

/// What `ptxdbg litmus` is, before its options.
const LITMUS: &str = r#".SH LITMUS
\fBptxdbg litmus\fR \fIFILE.litmus\fR says which outcomes of a few instructions of some threads the memory model allows. The file has the PTX
format of herd, as Dat3M uses it: first values and further addresses of the same memory, threads with their blocks and GPUs, instructions in
columns, and a question. All executions that the axioms of PTX 7.5 allow are enumerated, with proxies, aliases and barriers. Each outcome
is a row: \fBsequentially consistent\fR if a run in some order of the threads shows it, \fBweak\fR if not, \fBby load buffering\fR if a read
must return what a later write of its own thread leads to; and the number of runs on weak memory, in orders drawn from seeds, that left it. Those that the question asks for are marked, and an execution shows the first of
them: what reads returned, and \fBrf\fR from a write to a read that returns it, \fBco\fR to a write that overwrites it, \fBfr\fR from a read to the
write that overwrites what it returned, \fBsw\fR from the beginning of a synchronization to its end. \fBdocs/memory\-model.md\fR has the rules.
\fB\-\-open\fR looks for a run of the test as a kernel that leaves an outcome, each thread a warp of its own, and begins a session in it.
.PP
\fB\-\-from\fR \fIKERNEL.ptx\fR prints what some threads of a kernel do on some of its lines as such a test. The kernel runs once: addresses, the
registers with which the threads come to their lines and what memory holds before are those of the run, and \fBexists\fR has its outcome. An
instruction that a test does not have is refused with its line.
"#;

/// What `ptxdbg shrink` is, before its options.
const SHRINK: &str = r#".SH SHRINK
\fBptxdbg shrink\fR \fIFILE.ptxcap\fR writes a bundle anew with only the memory that its run needs: the pages of 4,096 bytes that it reads,
critical sections in the other order included, and of the memory that is expected those that it writes or that differ from the memory before. The
new bundle is run before it is written: it finds the same, leaves the same, and differs in the same elements from what is expected. Memory that is
not there reads as unknown: where another run comes to it, with another seed or changed parameters, it stops as \fBmemory.not_captured\fR.
Variables, generated contents and memory that is compared as a multiset stay as they are. A bundle whose session has changed the run is refused.
"#;

/// What the command line does not know: the page's last sections, after the keys.
const ENDING: &str = r#".SH OUTPUT FOR PROGRAMS
\fB\-\-format json\fR writes one object a line, each with a \fBkind\fR: \fBdiagnostic\fR, \fBcase\fR (of \fB\-\-verify\fR: name, passed, failures,
findings; a case that passed without findings is left out), \fBrun\fR (launches, findings, printed, interrupted, buffers), \fBcomparison\fR (of a run whose
launch file expects something: name, compared, passed, failures, and of some blocks alone part: bytes, updated_bytes, blocks, grid_blocks; not compared
is a run that stopped before its end), \fBcompared\fR (of \fBptxdbg compare\fR: files, equal, sides, difference, threads, bytes, interrupted), \fBfidelity\fR,
\fBverdict\fR, \fBmade_up\fR, \fBcertificate\fR, \fBerror\fR (a message: why nothing, or no more, was done; standard error has it too),
\fBkernel\fR (of \fB\-\-list\fR: file, module, member, source, packing, version, target, name, demangled, params, shared, dynamic_shared, launch_file,
has_launch_file), \fBunread\fR (a part of a file that cannot be read: place, message). A finding has these fields:
.TP
\fBid\fR, \fBseverity\fR, \fBnumber\fR, \fBmessage\fR
Which mistake, error or warning, its place in the list, and what is wrong in one line.
.TP
\fBkernel\fR, \fBlaunch\fR, \fBcount\fR
Where it was found, the launches counted from 0, and how often the same two instructions did it.
.TP
\fBfirst\fR, \fBsecond\fR
The earlier and the later side; null where there is none. A side has a site, an action (read, write, atomic, synchronize, use, or null of
what was stopped before it did anything), the number of the asynchronous copy that did it, and the value that the memory held after it. A site has
place, statement, source, lines (file and line: the PTX, then the source, then the calls that were put in place, outwards), inline_asm, block,
warp, lanes (a bit each), thread, time.
.TP
\fBmemory\fR
name, region (all elements that the counted pairs touched, of an array of several dimensions; or null), symbol, space, block, address, bytes;
or null.
.TP
\fBwhy\fR, \fBfix\fR, \fBchain\fR
The edge that is missing, what to insert, and the steps from one side to the other, each with a site and a text.
.TP
\fBsource_lines\fR, \fBwaiting\fR, \fBwaiting_more\fR
The lines of the source that .loc gives for it; of a hang, which threads wait where for what, and how many more.
.PP
\fB\-\-format sarif\fR writes one SARIF 2.1.0 document with a result for each finding, value that is not the expected one, and diagnostic;
cases that stopped before their end are not compared and named by the property notCompared of the run. Its properties certificates and madeUp say
what holds for every order, and which launch was made up; what keeps ptxdbg from doing what was asked is a notification of an invocation.
.PP
With \fB\-\-batch \-e\fR \fB\-\-format json\fR writes one object for each command, of kind \fBcommand\fR: command, ok, answers (what it said, as data),
text (what the prompt would print) and error; \fBdocs/commands.schema.json\fR has the schema.
.PP
With \fB\-\-shard\fR the last line of \fB\-\-verify\fR is of kind \fBshard\fR: shard, shards, run (digits that are those of the whole run), cases,
max_findings, lines (cases that printed something, with the number of lines of each), opcodes and influences (for each row of the fidelity the first
case that has it), interrupted. \fBexplore\fR answers with an \fBexploration\fR: shard, shards, run, interrupted, and orders, each with its number, how it
was judged, and keys of its memory, its fault and its findings, which are the same where these are. \fB\-\-merge\fR takes both, and refuses files that are
not all shards of one run.
.PP
\fB\-\-format junit\fR writes one document of test cases, one for each case of \fB\-\-verify\fR and \fB\-\-batch\fR and each module of \fB\-\-check\fR; what
is not as expected is a failure of type expect, a finding one with its id as the type.
.SH PTX IN OTHER FILES
What a file is, its first bytes say. PTX is taken out of ELF programs, libraries and objects, those of Windows (PE and COFF), archives, fat
binaries (plain, LZ4 or zstd), cubins that were compiled with \fB\-lineinfo\fR or \fB\-G\fR, what CuPy keeps in its cache, and texts with what Numba
prints under \fBNUMBA_DUMP_ASSEMBLY=1\fR. In a fat binary without PTX the texts in its cubins are taken. A folder stands for the .ptx, .cubin and .fatbin
files in it and in its folders: Triton's cache, or Inductor's.
.PP
A file may hold many modules, named as \fBcuobjdump \-all \-xptx\fR names them: \fBlib.so/lib.2.sm_90a.ptx\fR is the second one of \fBlib.so\fR, and may
stand wherever a PTX file may. \fB\-k\fR looks for its kernel in all of them; of those that hold it the module for the newest architecture up to
sm_90a is taken, or else for the oldest after it, unless \fB\-\-arch\fR says which. \fB\-\-check\fR reads them all.
.PP
A cubin's text has neither comments nor .loc. What cannot be read is said with its place in the file; the rest is used, and \fB\-\-list\fR and
\fB\-\-check\fR end with 2.
.SH TEXT
Names, comments, messages and all that is printed are shown without what would act on a terminal: control characters (C0, DEL, C1) but line
feeds and tabs, and the bidirectional controls of Unicode, stand there as \fB\ex1b\fR or \fB\eu{202e}\fR. In JSON and SARIF they are escaped
as JSON does. What a kernel prints with printf is the exception: a file or a pipe gets it byte for byte.
.SH SCRIPTS
Commands come from \fB\-x\fR and \fB\-e\fR in the order given, and then from the prompt, or from standard input if that is not a terminal. Each
is written after \fB(ptxdbg)\fR before its answer. In a file, a line that cannot be done ends the script; lines of standard input are
taken as typed, and the next is done all the same. Lines that start with # are comments. A script that is not UTF\-8 is refused; a line of
standard input that is not is reported, and the next is done. Ctrl\-C stops the kernel and ends the script.
.SH FILES
.TP
\fB$XDG_CONFIG_HOME/ptxdbg/init\fR, \fB~/.config/ptxdbg/init\fR
Commands that are executed before the prompt is shown first, not with \fB\-\-no\-init\fR and not where there is no prompt.
.TP
\fB$XDG_CONFIG_HOME/ptxdbg/keys.ron\fR, \fB~/.config/ptxdbg/keys.ron\fR
Keys of your own, which win over those above: \fBKeyMap(commands: {"F5": "stepi 10"}, screen: {"F6": Zoom})\fR. See \fBptxdbg\-layout\fR(5). Not
with \fB\-\-no\-init\fR.
.TP
\fB$XDG_CONFIG_HOME/ptxdbg/layouts/\fINAME\fB.ron\fR, \fB~/.config/ptxdbg/layouts/\fINAME\fB.ron\fR
Layouts of your own, for \fB\-\-layout\fR and \fBlayout\fR. \fBsave layout\fR \fINAME\fR writes there. See \fBptxdbg\-layout\fR(5).
.TP
\fB$XDG_STATE_HOME/ptxdbg/history\fR, \fB~/.local/state/ptxdbg/history\fR
The lines typed at the prompt, each written as it is typed; the last 10,000 are read. A file that is not a regular file or cannot be read is
said, and left alone.
.PP
What \fBsave session\fR, \fBsave layout\fR and \fBdump\fR write goes to a temporary file beside the one named, which takes its name when all of it
is on the disk: a full disk leaves the old file as it was. Permissions and symbolic links are kept; devices and pipes are written to.
.SH ENVIRONMENT
.TP
\fBTERM\fR
A terminal called dumb, cons25 or emacs, or not called anything, gets plain lines.
.TP
\fBNO_COLOR\fR
If it is set to anything, no colours are used, unless \fB\-\-color always\fR is given.
.TP
\fBXDG_CONFIG_HOME\fR, \fBXDG_STATE_HOME\fR
Where files of the user are.
.SH EXIT STATUS
.TP
\fB0\fR
All is well. Standard error is empty, or has warnings.
.TP
\fB1\fR
Something is wrong with the kernel: a diagnostic of severity error, a finding, or a value that is not what the launch file expects.
.TP
\fB2\fR
The command line, a file or a command could not be used, or the output could not be written. Where the reader of a pipe is gone, nothing is
said.
.TP
\fB130\fR
Ctrl\-C ended \fB\-\-batch\fR, \fB\-\-verify\fR or a script before the end. What was found up to there is printed.
.SH EXAMPLES
.TP
\fBptxdbg kernel.ptx\fR
Debug a kernel at the prompt.
.TP
\fBptxdbg \-\-batch kernel.ptx \-e "break 37" \-e run \-e backtrace\fR
Say which thread comes to line 37 first, and from where.
.TP
\fBptxdbg \-\-check kernel.ptx\fR
Report all mistakes in a file.
.TP
\fBptxdbg \-\-asm \(aqasm("add.s32 %0, %1, %2;" : "=r"(x) : "r"(3), "r"(a));\(aq \-a 4\fR
Step through an asm statement of CUDA with 4 for a.
.TP
\fBptxdbg \-\-batch kernel.ptx\fR
Run a kernel as kernel.ron says, or as well as can be guessed.
.TP
\fBptxdbg \-\-list libtorchvision.so\fR
List the kernels of a library.
.TP
\fBptxdbg \-\-batch ./app \-k \(aqscale<float>\(aq \-\-arch sm_80\fR
Run a kernel out of a program.
.TP
\fBptxdbg \-\-verify \-l a.ron \-\-format sarif > findings.sarif\fR
Write what is wrong for an editor or for continuous integration.
.TP
\fBptxdbg \-\-verify \-l a.ron \-l b.ron\fR
Run all launches of both files and compare the buffers.
.SH SEE ALSO
\fBptxdbg\-launch\fR(5), \fBptxdbg\-layout\fR(5)
"#;

#[test]
fn the_manual_page_is_what_the_command_line_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("man/ptxdbg.1");
    let page = manual_page().unwrap();
    if std::env::var_os("PTXDBG_BLESS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(written, page, "the command line has changed: run PTXDBG_BLESS=1 cargo test --test it man::");
}

fn manual_page() -> std::io::Result<String> {
    let man = clap_mangen::Man::new(ptxdbg::args::command()).date("");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    Ok(String::from_utf8_lossy(&page).into_owned()
        + &command_list()
        + SCREEN
        + &key_list()
        + CAPTURE
        + &options_of(CaptureArgs::described())?
        + COMPARE
        + &options_of(CompareArgs::described())?
        + LITMUS
        + &options_of(LitmusArgs::described())?
        + SHRINK
        + &options_of(ShrinkArgs::described())?
        + ENDING)
}

/// The options of a subcommand.
fn options_of(command: clap::Command) -> std::io::Result<String> {
    let mut options = Vec::new();
    clap_mangen::Man::new(command).render_options_section(&mut options)?;
    let text = String::from_utf8_lossy(&options).into_owned();
    Ok(text.lines().skip_while(|line| !line.starts_with(".TP")).map(|line| format!("{line}\n")).collect())
}

/// All commands by topic, from the table.
fn command_list() -> String {
    let mut text =
        ".SH COMMANDS\nA command can be shortened as long as it is the only one that begins so; \\fBhelp\\fR explains each.\n".to_string();
    for topic in TOPICS {
        text += &format!(".SS {}\n", topic.summary);
        text += &topic
            .about
            .split("\n\n")
            .filter(|paragraph| !paragraph.is_empty())
            .map(|about| format!("{}\n.PP\n", escaped(about)))
            .collect::<String>();
        for spec in topic.commands {
            let also = if spec.aliases.is_empty() { String::new() } else { format!(" ({})", spec.aliases.join(", ")) };
            text += &format!(".TP\n\\fB{}\\fR{}\n{}.\n", escaped(&spec.usage()), escaped(&also), escaped(spec.summary));
        }
    }
    text += ".SS Settings\n";
    for setting in SETTINGS {
        text += &format!(".TP\n\\fBset {}\\fR {}\n{}\n", escaped(setting.name), setting.kind.describe(), escaped(setting.help));
    }
    text
}

/// The keys as shipped: those of commands, then those of the screen.
fn key_list() -> String {
    let map = KeyMap::shipped();
    let row = |(action, keys): (&Action, Vec<String>)| {
        let does = match action {
            Action::Command(line) => format!("\\fB{}\\fR", escaped(line)),
            Action::Move(movement) => escaped(movement.about()),
        };
        format!(".TP\n\\fB{}\\fR\n{does}\n", escaped(&keys.join(", ")))
    };
    map.by_action().into_iter().map(row).collect::<String>() + ".TP\n\\fBF2\\fR\nbrowse mode, and back\n"
}

/// As the manual's formatter takes it literally.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('-', "\\-")
}
