//! The command line of `ptxdbg capture`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::PossibleValue;
use clap::{CommandFactory, FromArgMatches, Parser, ValueEnum};

use super::ArgsMessage;
use super::values::bytes;
use crate::capture::{By, Request};

const EXIT_STATUS: &str = "\
The exit status is that of the program, or 2 where it cannot be run or a bundle cannot be written. What is said goes to standard
error. Signals that ask ptxdbg to end are passed on to the program, and what was captured by then is written.";

/// Run a program on a machine with a GPU, and write a launch of it to a bundle that opens on any machine
///
/// The bundle holds the kernel's PTX, its parameters, and the memory that they lead to, before and after the launch: ptxdbg FILE.ptxcap
/// runs it without a GPU and compares with what the GPU has left.
#[derive(Clone, Debug, Parser)]
#[command(name = "ptxdbg-capture", bin_name = "ptxdbg capture", after_help = EXIT_STATUS, max_term_width = 100)]
pub struct CaptureArgs {
    /// Which kernels: a name of the module or of the source, or one with * and ?; without it all that have PTX
    #[arg(short, long, value_name = "GLOB", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub kernel: Option<String>,

    /// Which launch of these kernels, from 1
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub nth: u64,

    /// All launches of these kernels, up to 100, each to a bundle of its own: FILE.1.ptxcap, FILE.2.ptxcap
    #[arg(long, conflicts_with = "nth")]
    pub all: bool,

    /// Memory that is kept of a launch at most; what is left out is named, and reading it there is a stop. A number of bytes, or of KiB,
    /// MiB, GiB or TiB with K, M, G or T after it
    #[arg(long, value_name = "BYTES", value_parser = bytes, default_value = "2G")]
    pub max_bytes: u64,

    /// How calls of the driver are seen: by a library that is loaded before the others (LD_PRELOAD), by CUPTI in one that the driver loads
    /// (CUDA_INJECTION64_PATH), or both: by CUPTI where a program's calls do not come to the first
    #[arg(long, value_name = "HOW", value_enum, default_value_t)]
    pub by: By,

    /// The bundle; without it KERNEL.ptxcap here
    #[arg(short, long, value_name = "FILE.ptxcap")]
    pub output: Option<PathBuf>,

    /// The program and its arguments; the options of capture stand before it
    #[arg(trailing_var_arg = true, required = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

impl ValueEnum for By {
    fn value_variants<'a>() -> &'a [Self] {
        &[By::Both, By::Preload, By::Cupti]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(match self {
            By::Both => "both",
            By::Preload => "preload",
            By::Cupti => "cupti",
        }))
    }
}

impl CaptureArgs {
    /// The command line that parsing, help and the manual page are made from.
    pub fn described() -> clap::Command {
        Self::command()
    }

    /// What is to be captured; `preload` is what `LD_PRELOAD` holds, `injection` what `CUDA_INJECTION64_PATH` does.
    pub fn request(self, preload: Option<OsString>, injection: Option<OsString>) -> Request {
        let nth = (!self.all).then_some(self.nth);
        let Self { kernel, max_bytes, by, output, command, .. } = self;
        Request { kernel, nth, max_bytes, output, command, by, preload, injection }
    }
}

/// The arguments of a process whose second word is `capture`; none of another one, nor where a file has this name.
///
/// # Errors
/// They are not of this form, or ask for help.
pub fn parse(raw_args: &[OsString]) -> Option<Result<CaptureArgs, ArgsMessage>> {
    super::subcommand(raw_args, "capture", CaptureArgs::command(), CaptureArgs::from_arg_matches)
}
