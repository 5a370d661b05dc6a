//! The command line of `ptxdbg compare`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{CommandFactory, FromArgMatches, Parser};

use super::run_file::{RunFile, compiler};
use super::values::{bound, bytes};
use super::{ArgsMessage, Format};
use crate::debug::{LaunchChoice, Overrides, RESIDENT_MAX, Request, RunOptions};
use crate::launch::Tolerance;
use crate::launch::block_list::BlockRange;
use crate::launch::expect_args::ToleranceArgs;
use crate::launch::extents;
use crate::machine::{CompletionChoice, DivergencePolicy, MemoryLimit, Schedule};

const EXIT_STATUS: &str = "\
Exit status:
  0  both do the same
  1  they differ, or one of them stops before its end
  2  the command line or a file could not be used, or they are not runs of one launch
130  Ctrl-C ended it before the end";

/// Run two bundles, two programs of one kernel, or one in two orders, and find the first store that differs
///
/// Of one program, in two orders or on two captures, the n-th store of a thread in A is compared with the n-th of this thread in B: where
/// it goes, how many bytes, and the value. Compilers order stores in other ways: of two programs, the stores of a thread to each address of
/// global memory are compared in order. Addresses are relative to their buffer or variable. Of what differs, the first in the time of A is
/// said, with both instructions; if all stores are the same, the memory at the end is compared.
#[derive(Clone, Debug, Parser)]
#[command(name = "ptxdbg-compare", bin_name = "ptxdbg compare", after_help = EXIT_STATUS, max_term_width = 100)]
pub struct CompareArgs {
    /// A, and B if it is another file: bundles, launch files, or what holds PTX. One without a launch of its own has that of the other
    #[arg(value_name = "FILE", required = true, num_args = 1..=2)]
    pub files: Vec<PathBuf>,

    /// The launch file of both, or that of A and then that of B
    #[arg(short, long, value_name = "FILE.ron")]
    pub launch: Vec<PathBuf>,

    /// The kernel, by its name in the module or in the source
    #[arg(short, long, value_name = "NAME")]
    pub kernel: Option<String>,

    /// One parameter, by name or in order, as ptxdbg takes it
    #[arg(short, long, value_name = "SPEC")]
    pub arg: Vec<String>,

    /// Blocks of the grid
    #[arg(long, value_name = "X[,Y,Z]", value_parser = extents)]
    pub grid: Option<[u32; 3]>,

    /// Threads of a block
    #[arg(long, value_name = "X[,Y,Z]", value_parser = extents)]
    pub block: Option<[u32; 3]>,

    /// Only these blocks run
    #[arg(long, value_name = "X[,Y,Z]", value_delimiter = ';')]
    pub blocks: Vec<BlockRange>,

    /// The order in which warps run: of both, or that of A and then that of B
    #[arg(long, value_name = "NAME", value_parser = Schedule::parse)]
    pub schedule: Vec<Schedule>,

    /// The seed of everything that is random: of both, or that of A and then that of B
    #[arg(long, value_name = "N")]
    pub seed: Vec<u64>,

    /// When asynchronous copies end: of both, or that of A and then that of B
    #[arg(long = "async", value_name = "POLICY", value_parser = CompletionChoice::parse)]
    pub completion: Vec<CompletionChoice>,

    /// Which lanes of a warp run when they have diverged: of both, or that of A and then that of B
    #[arg(long, value_name = "POLICY", value_enum)]
    pub divergence: Vec<DivergencePolicy>,

    /// Blocks on the machine at once, at most: of both, or that of A and then that of B
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(RESIDENT_MAX)))]
    pub resident: Vec<u32>,

    /// How far a float of B may be from that of A, as a part of that; without it and --atol the tolerance of the launch file counts
    #[arg(long, value_name = "R", value_parser = bound)]
    pub rtol: Option<f64>,

    /// The same as a number; of both the sum counts
    #[arg(long, value_name = "A", value_parser = bound)]
    pub atol: Option<f64>,

    /// Stop a launch after this many warp-instructions
    #[arg(long, value_name = "N")]
    pub step_limit: Option<u64>,

    /// Stop a run that holds more simulated state than this
    #[arg(long, value_name = "BYTES", value_parser = bytes, default_value = "8G")]
    pub memory_limit: u64,

    /// A folder to look for the source files in that .loc names
    #[arg(short = 'I', long = "include", value_name = "DIR")]
    pub include: Vec<PathBuf>,

    /// More arguments for the nvcc that compiles KERNEL.cu
    #[arg(long, value_name = "ARGS", allow_hyphen_values = true)]
    pub nvcc: Option<String>,

    /// How the result is printed: human or json
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = Format::Human)]
    pub format: Format,
}

/// What one side is opened with.
pub struct SideRequest {
    /// Its files and its launch.
    pub request: Request,
    /// The options of its run.
    pub options: RunOptions,
    /// True if it has no launch of its own: that of the other side is its launch, if that has one.
    pub has_launch_of_other: bool,
    /// Its file.
    pub path: PathBuf,
}

impl CompareArgs {
    /// The command line that parsing, help and the manual page are made from.
    pub fn described() -> clap::Command {
        Self::command()
    }

    /// The tolerance of floats, if one is given.
    pub fn tolerance(&self) -> Option<Tolerance> {
        ToleranceArgs { rtol: self.rtol, atol: self.atol }.tolerance()
    }

    /// What both sides are opened with.
    ///
    /// # Errors
    /// Too many values of an option, one file without two of something, or a bundle that cannot be read: a message of one line.
    pub fn sides(&self) -> Result<[SideRequest; 2], String> {
        let counts = [
            ("--launch", self.launch.len()),
            ("--schedule", self.schedule.len()),
            ("--seed", self.seed.len()),
            ("--async", self.completion.len()),
            ("--divergence", self.divergence.len()),
            ("--resident", self.resident.len()),
        ];
        if let Some((option, count)) = counts.iter().find(|(_, count)| *count > 2) {
            return Err(format!("{option} is given {count} times: once for both, or once for A and once for B"));
        }
        let [a, b] = match self.files.as_slice() {
            [sole] if counts.iter().all(|(_, count)| *count < 2) => {
                return Err(format!(
                    "{} is compared with nothing: give B, or two of --schedule, --seed, --async, --divergence, --resident or --launch",
                    sole.display()
                ));
            }
            [sole] => [sole, sole],
            [a, b] => [a, b],
            files => return Err(format!("{} files are given, and two are compared", files.len())),
        };
        Ok([self.side(0, a)?, self.side(1, b)?])
    }

    fn side(&self, side: usize, path: &Path) -> Result<SideRequest, String> {
        let launch = of_side(&self.launch, side);
        let RunFile { modules, launch: choice, options } = RunFile::new(path, launch)?;
        let has_sibling = side == 0 && path.with_extension("ron").is_file();
        let has_launch_of_other = matches!(choice, LaunchChoice::Sibling) && !has_sibling;
        Ok(SideRequest {
            request: self.request(modules, choice),
            options: self.options(side, options),
            has_launch_of_other,
            path: path.to_path_buf(),
        })
    }

    /// The options of a side: those of its bundle, if nothing else is given, without checkers.
    fn options(&self, side: usize, own: RunOptions) -> RunOptions {
        let seed = of_side(&self.seed, side).copied().unwrap_or(own.seed);
        RunOptions {
            schedule: of_side(&self.schedule, side).cloned().unwrap_or(own.schedule),
            seed,
            memory: own.memory,
            copies: of_side(&self.completion, side).map_or(own.copies, |choice| choice.policy(seed)),
            divergence: of_side(&self.divergence, side).copied().or(own.divergence),
            resident: of_side(&self.resident, side).copied().or(own.resident),
            step_limit: self.step_limit,
            memory_limit: MemoryLimit(self.memory_limit),
            ..RunOptions::unwatched()
        }
    }

    fn request(&self, modules: Vec<PathBuf>, launch: LaunchChoice) -> Request {
        let overrides = Overrides {
            kernel: self.kernel.clone(),
            grid: self.grid,
            block: self.block,
            blocks: self.blocks.clone(),
            params: self.arg.clone(),
            folders: self.include.clone(),
            compiler: compiler(self.nvcc.as_deref()),
            ..Overrides::default()
        };
        Request { modules, launch, overrides }
    }
}

/// The value of an option for a side: the only one, or that of A or B.
fn of_side<T>(values: &[T], side: usize) -> Option<&T> {
    values.get(side.min(values.len().saturating_sub(1)))
}

/// The arguments of a process whose second word is `compare`; none of another one, nor where a file has this name.
///
/// # Errors
/// They are not of this form, or ask for help.
pub fn parse(raw_args: &[OsString]) -> Option<Result<CompareArgs, ArgsMessage>> {
    super::subcommand(raw_args, "compare", CompareArgs::command(), CompareArgs::from_arg_matches)
}
