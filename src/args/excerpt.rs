//! The options of `ptxdbg litmus` that make a test of a piece of a kernel.

use std::path::PathBuf;

use clap::Args;

use super::run_file::{RunFile, compiler};
use crate::debug::excerpt::{ExcerptRequest, LineRange, ThreadName};
use crate::debug::{Overrides, Request, RunOptions};
use crate::launch::extents;

/// The options of `--from`.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "A piece of a kernel as a test")]
pub struct ExcerptArgs {
    /// Print a test of some lines of a kernel, as some of its threads execute them: `--from k.ptx --threads 0:0 1:0 --lines 14-20 >
    /// k.litmus`. The kernel runs once, as by ptxdbg itself: this is a file with PTX, a launch file or a bundle. Addresses and all that
    /// the lines do not load themselves are those of the run, and exists has its outcome. What has no counterpart in a test is refused
    #[arg(long, value_name = "KERNEL.ptx", requires_all = ["threads", "lines"],
        conflicts_with_all = ["files", "quiet", "witnesses", "dot", "format", "runs", "open", "kernels", "rounds"])]
    pub from: Option<PathBuf>,

    /// The threads of the test, each as its block and its number there: 0:0 1:32, or 1,0,0:32,0,0
    #[arg(long, value_name = "BLOCK:THREAD", num_args = 1.., requires = "from", value_parser = ThreadName::parse)]
    pub threads: Vec<ThreadName>,

    /// The lines of the PTX text: for all threads, or once for each
    #[arg(long, value_name = "A-B", num_args = 1.., requires = "from", value_parser = LineRange::parse)]
    pub lines: Vec<LineRange>,

    /// The launch file
    #[arg(short, long, value_name = "FILE.ron", requires = "from")]
    pub launch: Option<PathBuf>,

    /// The kernel, by its name in the module or in the source
    #[arg(short, long, value_name = "NAME", requires = "from")]
    pub kernel: Option<String>,

    /// One parameter, by name or in order, as ptxdbg takes it
    #[arg(short, long, value_name = "SPEC", requires = "from")]
    pub arg: Vec<String>,

    /// Blocks of the grid
    #[arg(long, value_name = "X[,Y,Z]", value_parser = extents, requires = "from")]
    pub grid: Option<[u32; 3]>,

    /// Threads of a block
    #[arg(long, value_name = "X[,Y,Z]", value_parser = extents, requires = "from")]
    pub block: Option<[u32; 3]>,
}

impl ExcerptArgs {
    /// What is opened and run, and what becomes a test; none without `--from`.
    ///
    /// # Errors
    /// A launch that is given twice, or a bundle that cannot be read: a message of one line.
    pub fn request(&self) -> Result<Option<(Request, RunOptions, ExcerptRequest)>, String> {
        let Some(path) = &self.from else { return Ok(None) };
        let RunFile { modules, launch, options } = RunFile::new(path, self.launch.as_ref())?;
        let overrides = Overrides {
            kernel: self.kernel.clone(),
            grid: self.grid,
            block: self.block,
            params: self.arg.clone(),
            compiler: compiler(None),
            ..Overrides::default()
        };
        let excerpt = ExcerptRequest { threads: self.threads.clone(), lines: self.lines.clone() };
        Ok(Some((Request { modules, launch, overrides }, RunOptions { checks: RunOptions::unwatched().checks, ..options }, excerpt)))
    }
}
