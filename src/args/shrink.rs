//! The command line of `ptxdbg shrink`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{CommandFactory, FromArgMatches, Parser};

use super::ArgsMessage;

const EXIT_STATUS: &str = "\
Exit status:
  0  the bundle is written
  2  the command line or a file could not be used
130  Ctrl-C ended it before the end; nothing is written";

/// Write a bundle anew with only the memory that its run needs
///
/// Kept are the pages that the run reads, and of the memory that is expected after it those that the run writes or that differ from the
/// memory before. The run of the new bundle is tried: it finds the same and leaves the same. Another run, with another seed or changed
/// parameters, that reads a page which is not there stops (memory.not_captured).
#[derive(Clone, Debug, Parser)]
#[command(name = "ptxdbg-shrink", bin_name = "ptxdbg shrink", after_help = EXIT_STATUS, max_term_width = 100)]
pub struct ShrinkArgs {
    /// The bundle
    #[arg(value_name = "FILE.ptxcap")]
    pub file: PathBuf,

    /// The new bundle; without it FILE.small.ptxcap beside it
    #[arg(short, long, value_name = "OUT.ptxcap")]
    pub output: Option<PathBuf>,
}

impl ShrinkArgs {
    /// The command line that parsing, help and the manual page are made from.
    pub fn described() -> clap::Command {
        Self::command()
    }

    /// Where the new bundle goes.
    pub fn output(&self) -> PathBuf {
        let ending = self.file.extension().map_or_else(|| "ptxcap".to_string(), |ending| ending.to_string_lossy().into_owned());
        self.output.clone().unwrap_or_else(|| self.file.with_extension(format!("small.{ending}")))
    }
}

/// The arguments of a process whose second word is `shrink`; none of another one, nor where a file has this name.
///
/// # Errors
/// They are not of this form, or ask for help.
pub fn parse(raw_args: &[OsString]) -> Option<Result<ShrinkArgs, ArgsMessage>> {
    super::subcommand(raw_args, "shrink", ShrinkArgs::command(), ShrinkArgs::from_arg_matches)
}
