//! The arguments of the command line.
//!
//! The doc comments below are the help texts; `man/ptxdbg.1` is generated from them, and a test checks that it is up to date.

pub mod capture;
pub mod compare;
pub mod excerpt;
mod help;
pub mod litmus;
mod run_file;
pub mod shell;
pub mod shrink;
mod values;

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::builder::PossibleValue;
use clap::error::{ContextKind, ContextValue};
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, ValueEnum};

use crate::base::{Severity, Shard, cores};
use crate::check::Checks;
use crate::debug::bundle::{Manifest, is_bundle};
use crate::debug::open::modules::Reading;
use crate::debug::settings::ThemeName;
use crate::debug::{LaunchChoice, Overrides, RESIDENT_MAX, Request, RunOptions};
use crate::launch::block_list::BlockRange;
use crate::launch::expect_args::ToleranceArgs;
use crate::launch::extents;
use crate::launch::nvcc::Compiler;
use crate::machine::{CompletionChoice, DivergencePolicy, FastPaths, MemoryLimit, MemoryModel, Schedule};
use crate::ui::tour::Story;
use help::{ARG_HELP, ASM_HELP, EXIT_STATUS, checks_help, completion_help, memory_help, schedule_help};
pub use shell::Shell;

/// A debugger for NVIDIA PTX kernels that needs no GPU
///
/// Reads PTX, runs it with the exact results of the hardware, and says where a kernel does something wrong. Without a launch
/// file the one beside the kernel is used, kernel.ron beside kernel.ptx; if there is none, a launch is made up and printed.
#[derive(Clone, Debug, Parser)]
#[command(name = "ptxdbg", version, after_help = EXIT_STATUS, max_term_width = 100, allow_negative_numbers = true)]
pub struct Args {
    /// PTX files; programs, libraries, objects, archives, fat binaries and cubins with PTX in them; caches of Triton and Inductor; or CUDA
    /// C++ that nvcc compiles first. The first one that holds the kernel is run; lib.so/lib.2.sm_90.ptx is one module of several. Or a
    /// bundle, which 'bundle FILE' wrote in a session: it is run as it was there
    #[arg(value_name = "KERNEL.ptx|APP|LIB.so|FOLDER|KERNEL.cu")]
    pub kernels: Vec<PathBuf>,

    /// The launch file; several are allowed with --verify
    #[arg(short, long, value_name = "FILE.ron")]
    pub launch: Vec<PathBuf>,

    /// The kernel to run, by its name in the module or in the source (scale, lin::scale, or with template arguments), looked for in all
    /// modules of a file; without it the first one
    #[arg(short, long, value_name = "NAME")]
    pub kernel: Option<String>,

    /// The architecture whose PTX is taken of a file with several, sm_90 or sm_90a; without it the newest up to sm_90a, else the oldest
    #[arg(long, value_name = "sm_NN", value_parser = values::arch, conflicts_with = "asm")]
    pub arch: Option<String>,

    /// Print the kernels of the files, with their parameters and shared memory, and stop
    #[arg(long, conflicts_with_all = ["asm", "verify", "check", "batch", "save_launch", "command", "eval"])]
    pub list: bool,

    /// Blocks of the grid
    #[arg(long, value_name = "X[,Y,Z]", value_parser = extents)]
    pub grid: Option<[u32; 3]>,

    /// Threads of a block
    #[arg(long, value_name = "X[,Y,Z]", value_parser = extents)]
    pub block: Option<[u32; 3]>,

    /// Blocks of a cluster
    #[arg(long, value_name = "X[,Y,Z]", value_parser = extents)]
    pub cluster: Option<[u32; 3]>,

    /// Only these blocks run, on the memory from before the launch, and of what is expected only what they write is compared: 17 or 17,0,0,
    /// a range 0-3 or 0,0,0:3,1,0, several with semicolons between them. With a block run the others of its cluster
    #[arg(long, value_name = "X[,Y,Z]", value_delimiter = ';', conflicts_with = "asm")]
    pub blocks: Vec<BlockRange>,

    /// Bytes of dynamic shared memory
    #[arg(long, value_name = "BYTES")]
    pub dynamic_shared: Option<u32>,

    /// One parameter, by name or in order
    #[arg(short, long, value_name = "SPEC", help = ARG_HELP)]
    pub arg: Vec<String>,

    /// What a buffer or a variable must hold at the end, by name: out=@y.npy, out=1,2,3; several are allowed
    #[arg(long, value_name = "NAME=@FILE", conflicts_with = "asm")]
    pub expect: Vec<String>,

    /// How far an element may be from what --expect says, as a part of that; without --expect, a number from what the launch file or the
    /// bundle expects. Without it and --atol the bits must be the same, or the tolerance of the launch file counts
    #[arg(long, value_name = "R", value_parser = values::bound)]
    pub rtol: Option<f64>,

    /// The same as a number; of both the sum counts, as with NumPy's allclose
    #[arg(long, value_name = "A", value_parser = values::bound)]
    pub atol: Option<f64>,

    /// Write the launch that would run to a launch file, and stop
    #[arg(long, value_name = "FILE.ron", conflicts_with_all = ["asm", "verify", "check"])]
    pub save_launch: Option<PathBuf>,

    /// More arguments for the nvcc that compiles KERNEL.cu, such as '-arch=sm_90 -Iinclude'; it is the one that the environment variable
    /// NVCC or CUDACXX names, or else the one that is found
    #[arg(long, value_name = "ARGS", allow_hyphen_values = true)]
    pub nvcc: Option<String>,

    /// An asm statement of CUDA instead of a file, executed by the lanes of one warp
    #[arg(long, value_names = ["STATEMENT|TEMPLATE", "OPERANDS"], num_args = 1..=2, help = ASM_HELP,
        conflicts_with_all = ["kernels", "launch", "kernel", "grid", "block", "cluster", "dynamic_shared", "verify"])]
    pub asm: Vec<String>,

    /// Debugger commands from a file, before the prompt; several -x and -e are executed in the order given
    #[arg(short = 'x', long, value_name = "FILE")]
    pub command: Vec<PathBuf>,

    /// A debugger command, before the prompt
    #[arg(short, long, value_name = "CMD")]
    pub eval: Vec<String>,

    /// What `command` and `eval` name, in the order given
    #[arg(skip)]
    pub scripts: Vec<ScriptSource>,

    /// The session file of the bundle that is run without commands
    #[arg(skip)]
    pub session: Option<PathBuf>,

    /// No prompt: execute the commands given, or else run the kernel, print the result and what differs from what the launch file expects,
    /// and exit
    #[arg(long)]
    pub batch: bool,

    /// A prompt without the screen around it
    #[arg(long, conflicts_with = "batch")]
    pub plain: bool,

    /// The layout of the screen: the name of a shipped or of an own one, or a file
    #[arg(long, value_name = "NAME|FILE", conflicts_with_all = ["batch", "plain"])]
    pub layout: Option<String>,

    /// The colours of the screen; where no colour is used it has none
    #[arg(long, value_name = "NAME", value_enum, default_value_t = ThemeName::Dark, conflicts_with_all = ["batch", "plain"])]
    pub theme: ThemeName,

    /// A folder to look for the source files in that .loc names, for the screen and for names of parameters; several are looked at in the
    /// order given
    #[arg(short = 'I', long = "include", value_name = "DIR")]
    pub include: Vec<PathBuf>,

    /// Answer yes to what a command asks, such as whether recorded history may be dropped
    #[arg(long)]
    pub yes: bool,

    /// Read neither the start-up file nor the key map, ptxdbg/init and ptxdbg/keys.ron in $XDG_CONFIG_HOME or in ~/.config
    #[arg(long)]
    pub no_init: bool,

    /// Run every launch of every launch file and compare with what it expects
    #[arg(long, conflicts_with = "check")]
    pub verify: bool,

    /// With --verify: ignore tolerances, compare bit for bit
    #[arg(long, requires = "verify")]
    pub exact: bool,

    /// Findings that are warnings make the exit status 1 too, and fail with --verify
    #[arg(long)]
    pub strict: bool,

    /// Parse and validate the files, run nothing
    #[arg(long)]
    pub check: bool,

    /// Try what findings advise, in copies of the program, and say below each finding what holds
    #[arg(long, conflicts_with_all = ["check", "asm"])]
    pub fix: bool,

    /// With --fix: write the PTX with all changes that hold, of linked modules each that changed to this folder
    #[arg(long, value_name = "FILE", requires = "fix")]
    pub ptx: Option<PathBuf>,

    /// Seed of everything that is random
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,

    /// The order in which warps run.
    #[arg(long, value_name = "NAME", value_parser = Schedule::parse, default_value_t = Schedule::InOrder, help = schedule_help())]
    pub schedule: Schedule,

    /// What loads return.
    #[arg(long, value_name = "MODEL", value_parser = MemoryModel::parse, default_value_t = MemoryModel::default(), help = memory_help())]
    pub memory: MemoryModel,

    /// Blocks on the machine at once, at most, up to the 4224 of an H200; without it as many as a bound on memory allows
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(RESIDENT_MAX)))]
    pub resident: Option<u32>,

    /// Stop a launch after this many warp-instructions
    #[arg(long, value_name = "N")]
    pub step_limit: Option<u64>,

    /// Stop a run that holds more simulated state than this: global memory that was written, registers, call frames, local and shared
    /// memory of the blocks on the machine; a number of bytes, or of KiB, MiB, GiB or TiB with K, M, G or T after it
    #[arg(long, value_name = "BYTES", value_parser = values::bytes, default_value = "8G")]
    pub memory_limit: u64,

    /// When asynchronous copies end.
    #[arg(long = "async", value_name = "POLICY", value_parser = CompletionChoice::parse, default_value = "lazy", help = completion_help())]
    pub completion: CompletionChoice,

    /// Which lanes of a warp run when they have diverged at a branch; without it as on the machines of the module's .target, stack below
    /// sm_70
    #[arg(long, value_name = "POLICY", value_enum)]
    pub divergence: Option<DivergencePolicy>,

    /// Launches of --verify, orders of explore and runs of fix that run at the same time, and in --batch and --verify parts of a grid whose
    /// blocks do not meet; without it as many as the machine has cores. What is printed is the same for every number. --memory-limit holds
    /// for each of them
    #[arg(long, value_name = "N", value_parser = values::jobs)]
    pub jobs: Option<NonZeroUsize>,

    /// With --verify, and with --batch and commands: run part I of N alone, of the launches or of the orders of explore, as one of N
    /// machines. What they print with --format json --merge puts together
    #[arg(long, value_name = "I/N", value_parser = Shard::parse, conflicts_with_all = ["asm", "check", "list", "save_launch", "ptx"])]
    pub shard: Option<Shard>,

    /// Put together what all shards of a run printed with --format json, as the whole run prints it: alone the shards of --verify; those of
    /// explore with the words of the call in place of --shard, which reads the kernel again and takes the orders from the files
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = ["asm", "check", "list", "save_launch", "shard", "verify"])]
    pub merge: Vec<PathBuf>,

    /// With --batch and --verify: as many more runs at most for critical sections of one lock that a run had in one order only, which are
    /// run the other way round; 0 for none. It costs nothing where there are none, and holds for --schedule in-order
    #[arg(long, value_name = "N", default_value_t = RunOptions::ORDERS)]
    pub orders: u32,

    /// How diagnostics and results are printed
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = Format::Human)]
    pub format: Format,

    /// Findings that are printed at most; the others are counted by id
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub max_findings: usize,

    /// When to use colour; auto looks at the terminal and at NO_COLOR
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Color::Auto)]
    pub color: Color,

    /// Print what a shell completes for ptxdbg, and stop: 'ptxdbg --completions bash > ~/.local/share/bash-completion/completions/ptxdbg'
    #[arg(long, value_name = "SHELL", value_enum)]
    pub completions: Option<Shell>,

    /// Write the manual pages to the folder man1 and man5 of DIR, such as ~/.local/share/man, and stop
    #[arg(long, value_name = "DIR")]
    pub install_man: Option<PathBuf>,

    /// Begin a tour, which needs no file: it says what to type next and why. race, divergence, pipeline, hang or wrong-lane
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "race", value_parser = values::story)]
    pub tour: Option<&'static Story>,

    /// The checkers that watch the run.
    #[arg(long, value_name = "LIST", value_parser = Checks::parse, default_value = "all", help = checks_help())]
    pub checks: Checks,
}

impl Args {
    /// The options of runs.
    pub fn run_options(&self) -> RunOptions {
        let copies = self.completion.policy(self.seed);
        let Args { divergence, seed, memory, resident, step_limit, memory_limit, checks, orders, .. } = *self;
        let schedule = self.schedule.clone();
        let memory_limit = MemoryLimit(memory_limit);
        RunOptions {
            schedule,
            seed,
            memory,
            copies,
            divergence,
            resident,
            step_limit,
            memory_limit,
            checks,
            orders,
            fast_paths: FastPaths::default(),
            jobs: 1,
            short: RunOptions::SHORT,
            host: None,
        }
    }

    /// The request to open these modules.
    pub fn request(&self, modules: Vec<PathBuf>, launch: LaunchChoice) -> Request {
        let overrides = Overrides {
            kernel: self.kernel.clone(),
            arch: self.arch.clone(),
            grid: self.grid,
            block: self.block,
            cluster: self.cluster,
            blocks: self.blocks.clone(),
            dynamic_shared: self.dynamic_shared,
            params: self.arg.clone(),
            expect: self.expect.clone(),
            tolerance: ToleranceArgs { rtol: self.rtol, atol: self.atol },
            folders: self.include.clone(),
            compiler: self.compiler(),
        };
        Request { modules, launch, overrides }
    }

    /// How files are read that the command line names.
    pub fn reading<'a>(&'a self, compiler: &'a Compiler) -> Reading<'a> {
        Reading { compiler, arch: self.arch.as_deref() }
    }

    /// The compiler of CUDA C++.
    pub fn compiler(&self) -> Compiler {
        run_file::compiler(self.nvcc.as_deref())
    }

    /// Runs at the same time.
    pub fn job_count(&self) -> usize {
        self.jobs.map_or_else(cores, NonZeroUsize::get)
    }

    /// The lowest severity with which a finding makes the exit status 1.
    pub fn failing(&self) -> Severity {
        if self.strict { Severity::Warning } else { Severity::Error }
    }
}

/// The source of debugger commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScriptSource {
    /// A file.
    File(PathBuf),
    /// The command itself.
    Line(String),
}

impl ValueEnum for DivergencePolicy {
    fn value_variants<'a>() -> &'a [Self] {
        &[DivergencePolicy::Independent, DivergencePolicy::Stack]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let help = match self {
            DivergencePolicy::Independent => "All get their turns, as on sm_70 and later: a lane may wait for another one of its warp",
            DivergencePolicy::Stack => {
                "One side of the branch up to where the sides meet, then the other, as on sm_60 and earlier: a lane that waits for another \
                 one of its warp hangs"
            }
        };
        Some(PossibleValue::new(self.word()).help(help))
    }
}

impl ValueEnum for ThemeName {
    fn value_variants<'a>() -> &'a [Self] {
        &[ThemeName::Dark, ThemeName::Light, ThemeName::None]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let (name, help) = match self {
            ThemeName::Dark => ("dark", "For light text on a dark ground"),
            ThemeName::Light => ("light", "For dark text on a light ground"),
            ThemeName::None => ("none", "No colours"),
        };
        Some(PossibleValue::new(name).help(help))
    }
}

/// How diagnostics and results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Text for people
    Human,
    /// One JSON object a line
    Json,
    /// One SARIF 2.1.0 document: findings for editors and continuous integration
    Sarif,
    /// One document of JUnit's XML: a test case for each case, with --verify and --batch
    Junit,
}

/// When colour is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// If standard output is a terminal and NO_COLOR is not set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// The output if the arguments are wrong, or ask for help or the version.
pub struct ArgsMessage {
    /// Lines to print.
    pub text: String,
    /// True if they describe a mistake in the arguments; false for the help or the version.
    pub is_error: bool,
    /// The format that the arguments select, even if others are wrong.
    pub format: Format,
}

/// `-ex` of gdb, which has a command as `-e` has.
fn of_gdb(arg: &OsString) -> OsString {
    if arg == "-ex" { "-e".into() } else { arg.clone() }
}

/// Parses the arguments of a process, the first of which is its name.
///
/// # Errors
/// They are wrong, or ask for help or the version.
pub fn parse(raw: &[OsString]) -> Result<Args, ArgsMessage> {
    let format = format_of(raw.iter().map(|arg| arg.to_string_lossy().into_owned()));
    let of_error = |error: clap::Error| ArgsMessage { text: error.render().to_string(), is_error: error.use_stderr(), format };
    let args = command().try_get_matches_from(raw.iter().map(of_gdb)).and_then(|matches| with_scripts(&matches)).map_err(of_error)?;
    let wrong = |message: String| ArgsMessage { text: format!("ptxdbg: {message}\n"), is_error: true, format };
    let is_named_so = |path: &&PathBuf| path.extension().is_some_and(|ending| ending == "ptxcap") && path.is_file() && !is_bundle(path);
    if let Some(path) = args.kernels.iter().find(is_named_so) {
        let what = if path.metadata().is_ok_and(|file| file.len() == 0) { "the file is empty" } else { "this is no bundle" };
        return Err(wrong(format!("{}: {what}: 'ptxdbg capture' and 'bundle FILE' in a session write bundles", path.display())));
    }
    let Some(path) = args.kernels.iter().find(|path| is_bundle(path)) else { return Ok(args) };
    if let Some(word) = args.kernels.iter().find(|path| !path.exists()) {
        let (word, bundle) = (word.display(), path.display());
        return Err(wrong(format!(
            "there is no file '{word}'; a command of the debugger is given with -e: ptxdbg --batch {bundle} -e {word}"
        )));
    }
    if args.kernels.len() > 1 {
        return Err(wrong(format!("{} is a bundle, which holds its module: give one bundle, and no other file", path.display())));
    }
    let manifest = Manifest::read(path).map_err(wrong)?;
    let options = manifest.options();
    for option in &options {
        let why = command().try_get_matches_from(["ptxdbg", &option.argument]).err();
        if let Some(why) = why {
            return Err(wrong(Manifest::wrong_option(path, option, &reason_of(&why))));
        }
    }
    // The arguments of the user come last, so they override those of the bundle.
    let (program, given) = raw.split_at(raw.len().min(1));
    let combined = program.iter().cloned().chain(options.into_iter().map(|option| option.argument.into())).chain(given.iter().cloned());
    let matches = command().args_override_self(true).try_get_matches_from(combined).map_err(of_error)?;
    let mut args = with_scripts(&matches).map_err(of_error)?;
    // The launch file names modules that are linked.
    args.kernels = manifest.module_paths(path);
    if args.launch.is_empty() {
        args.launch = vec![Manifest::launch_of(path)];
    }
    // A run without commands begins at its start.
    if args.batch && args.scripts.is_empty() {
        args.session = Some(Manifest::session_of(path));
    } else {
        let notes = Some(&manifest.notes).filter(|notes| !notes.is_empty()).map(|notes| format!("echo {notes}"));
        let position = format!("load session {}", Manifest::session_of(path).display());
        let first = notes.into_iter().chain([position]).map(ScriptSource::Line);
        args.scripts = first.chain(args.scripts).collect();
    }
    Ok(args)
}

/// The arguments of a process whose second word is `name`; none of another one, nor where a file has this name.
fn subcommand<T>(
    raw: &[OsString],
    name: &str,
    command: clap::Command,
    read: impl FnOnce(&ArgMatches) -> Result<T, clap::Error>,
) -> Option<Result<T, ArgsMessage>> {
    let words = raw.get(1..).filter(|words| words.first().is_some_and(|word| word == name) && !PathBuf::from(name).is_file())?;
    let format = format_of(words.iter().map(|word| word.to_string_lossy().into_owned()));
    let of_error = |error: clap::Error| ArgsMessage { text: error.render().to_string(), is_error: error.use_stderr(), format };
    Some(command.try_get_matches_from(words).and_then(|matches| read(&matches)).map_err(of_error))
}

/// The mistake in the value of an option, without the option's name.
fn reason_of(error: &clap::Error) -> String {
    if let Some(source) = std::error::Error::source(error) {
        return source.to_string();
    }
    match error.get(ContextKind::ValidValue) {
        Some(ContextValue::Strings(known)) => format!("one of {} is meant", known.join(", ")),
        Some(_) | None => "it is none that is known here".to_string(),
    }
}

/// The format that arguments select, even if others are wrong.
fn format_of(args: impl Iterator<Item = String>) -> Format {
    let mut args = args.peekable();
    let mut format = Format::Human;
    while let Some(arg) = args.next() {
        let value = match arg.strip_prefix("--format") {
            Some("") => args.peek().cloned(),
            Some(rest) => rest.strip_prefix('=').map(str::to_string),
            None => None,
        };
        format = value.and_then(|value| Format::from_str(&value, false).ok()).unwrap_or(format);
    }
    format
}

/// The arguments, with `-x` and `-e` in their common order.
fn with_scripts(matches: &ArgMatches) -> Result<Args, clap::Error> {
    let args = Args::from_arg_matches(matches)?;
    let indices = |name: &str| matches.indices_of(name).into_iter().flatten().collect::<Vec<usize>>();
    let files = indices("command").into_iter().zip(args.command.iter().cloned().map(ScriptSource::File));
    let lines = indices("eval").into_iter().zip(args.eval.iter().cloned().map(ScriptSource::Line));
    let mut scripts: Vec<(usize, ScriptSource)> = files.chain(lines).collect();
    scripts.sort_by_key(|(index, _)| *index);
    Ok(Args { scripts: scripts.into_iter().map(|(_, script)| script).collect(), ..args })
}

/// The definition from which the parser, the help and the manual page are generated.
pub fn command() -> clap::Command {
    Args::command()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::options::OPTIONS;

    #[test]
    fn the_description_is_sound() {
        command().debug_assert();
    }

    #[test]
    fn every_option_is_known_to_apropos() {
        let listed: Vec<&str> = OPTIONS.iter().map(|(option, _)| option.split(' ').next().unwrap_or(option)).collect();
        let options: Vec<String> = command().get_arguments().filter_map(|arg| Some(format!("--{}", arg.get_long()?))).collect();
        assert_eq!(listed, options);
    }

    #[test]
    fn the_options_of_the_library_are_those_of_a_command_line_without() {
        let args = parse(&["ptxdbg", "k.ptx"].map(OsString::from)).map_err(|message| message.text);
        assert_eq!(args.map(|args| format!("{:?}", args.run_options())), Ok(format!("{:?}", RunOptions::default())));
    }

    #[test]
    fn scripts_keep_their_order() {
        let matches = command().try_get_matches_from(["ptxdbg", "-e", "run", "-x", "a", "k.ptx", "-e", "bt"]);
        let scripts = matches.and_then(|matches| with_scripts(&matches)).map(|args| args.scripts);
        let line = |text: &str| ScriptSource::Line(text.to_string());
        assert_eq!(scripts.ok(), Some(vec![line("run"), ScriptSource::File("a".into()), line("bt")]));
    }

    #[test]
    fn options_that_exclude_each_other_are_refused() {
        for wrong in [
            &["--exact"][..],
            &["--check", "--verify"],
            &["--check", "--list"],
            &["--arch", "hopper"],
            &["--resident", "0"],
            &["--resident", "4225"],
            &["--jobs", "0"],
            &["--jobs", "1025"],
            &["--shard", "3/2"],
            &["--shard", "1/2", "--merge", "a.json"],
            &["--verify", "--merge", "a.json"],
        ] {
            let raw = std::iter::once("ptxdbg").chain(wrong.iter().copied());
            assert!(Args::try_parse_from(raw).is_err(), "{wrong:?}");
        }
    }
}
