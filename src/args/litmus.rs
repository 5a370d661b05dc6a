//! The command line of `ptxdbg litmus`.

use std::ffi::OsString;
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::{CommandFactory, FromArgMatches, Parser};

use super::excerpt::ExcerptArgs;
use super::{ArgsMessage, Format};

const EXIT_STATUS: &str = "\
Exit status:
  0  the answers are yes: what exists does, what is forbidden does not
  1  some answer is no
  2  the command line or a file could not be used
With --open it is that of the session.";

/// Say which outcomes of litmus tests the memory model allows
///
/// A test is a file in the PTX format of herd, as Dat3M uses it: first values and aliases, threads with their blocks and GPUs, their
/// instructions in columns, and a question (exists, ~exists, forall). All executions that the axioms of PTX 7.5 allow are enumerated. Said
/// are the answer, every outcome, whether a sequentially consistent execution has it, and an execution that shows what is asked.
#[derive(Clone, Debug, Parser)]
#[command(name = "ptxdbg-litmus", bin_name = "ptxdbg litmus", after_help = EXIT_STATUS, max_term_width = 100)]
pub struct LitmusArgs {
    /// Tests; a folder stands for the .litmus files in it and in its folders
    #[arg(value_name = "FILE.litmus", required_unless_present = "from")]
    pub files: Vec<PathBuf>,

    /// The answers alone, a line for each test
    #[arg(short, long, conflicts_with = "witnesses")]
    pub quiet: bool,

    /// An execution of every outcome, not only of one that is asked for
    #[arg(short, long)]
    pub witnesses: bool,

    /// Write the executions that are shown to this folder, too, as graphs for Graphviz: NAME.OUTCOME.dot
    #[arg(long, value_name = "FOLDER")]
    pub dot: Option<PathBuf>,

    /// human, or json: an object for each test, a line each, with all outcomes and executions
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = Format::Human)]
    pub format: Format,

    /// Runs on weak memory, in which the outcomes are counted
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(..=1_000_000))]
    pub runs: u64,

    /// Debug a run of the test as a kernel that leaves this outcome, by its number in the list; by default the one that is asked for.
    /// Options of the session follow after `--`: `ptxdbg litmus mp.litmus --open -- -e 'info may-read x'`
    #[arg(long, value_name = "OUTCOME", num_args = 0..=1, require_equals = true,
        conflicts_with_all = ["quiet", "witnesses", "dot", "format"])]
    pub open: Option<Option<NonZeroUsize>>,

    /// Write each test as a kernel to this folder, with its launch: NAME.ptx and NAME.ron
    #[arg(long, value_name = "FOLDER")]
    pub kernels: Option<PathBuf>,

    /// Options of the session that --open begins
    #[arg(last = true, value_name = "OPTIONS", requires = "open")]
    pub session: Vec<OsString>,

    /// How often the body of a loop is executed at most
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=16))]
    pub rounds: u32,

    /// The options of `--from`.
    #[command(flatten)]
    pub excerpt: ExcerptArgs,
}

impl LitmusArgs {
    /// The command line that parsing, help and the manual page are made from.
    pub fn described() -> clap::Command {
        Self::command()
    }

    /// The tests, those of folders in the order of their names.
    ///
    /// # Errors
    /// A folder that cannot be read, or has no test.
    pub fn tests(&self) -> Result<Vec<PathBuf>, String> {
        let mut tests = Vec::new();
        for file in &self.files {
            if file.is_dir() {
                let before = tests.len();
                of_folder(file, &mut tests).map_err(|error| format!("{}: {error}", file.display()))?;
                if tests.len() == before {
                    return Err(format!("{}: no .litmus file is in it", file.display()));
                }
            } else {
                tests.push(file.clone());
            }
        }
        Ok(tests)
    }
}

fn of_folder(folder: &Path, tests: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut entries = std::fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>()?;
    entries.sort();
    for path in entries {
        // A link to a folder may lead back to this one.
        if path.is_dir() && !path.is_symlink() {
            of_folder(&path, tests)?;
        } else if path.extension().is_some_and(|ending| ending == "litmus") {
            tests.push(path);
        }
    }
    Ok(())
}

/// The arguments of a process whose second word is `litmus`; none of another one, nor where a file has this name.
///
/// # Errors
/// They are not of this form, or ask for help.
pub fn parse(raw_args: &[OsString]) -> Option<Result<LitmusArgs, ArgsMessage>> {
    super::subcommand(raw_args, "litmus", LitmusArgs::command(), LitmusArgs::from_arg_matches)
}
