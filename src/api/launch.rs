//! What is to be launched, and its plan.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::{Error, problems};
use super::module::Module;
use super::run::Run;
use super::session::Session;
use crate::debug::open::{OpenedLaunch, open_driver, open_launch_file, open_words};
use crate::debug::{Interrupt, Opened, Overrides, RunOptions, Writer, last_writers};
use crate::launch::{DriverLaunch, LaunchFile, LaunchFileError};

/// What is to be launched, said piece by piece. Of what is not said a launch is made up: from the kernel's code, so that each thread has
/// something to do.
///
/// ```
/// # use ptxdbg::api::{Launch, Module, RunOptions};
/// # let module = Module::from_text("k.ptx", ".version 8.0\n.target sm_80\n.visible .entry k() { ret; }")?;
/// let planned = Launch::new().kernel("k").grid([2, 1, 1]).block([64, 1, 1]).plan(&module)?;
/// assert_eq!(planned.cases().collect::<Vec<_>>(), ["k"]);
/// assert_eq!(planned.run(0, &RunOptions::default())?.launches()[0].thread_instructions, 128);
/// # Ok::<(), ptxdbg::api::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Launch {
    source: Source,
    overrides: Overrides,
    /// Arguments given beside a launch file.
    misplaced: Vec<String>,
}

/// Where a launch comes from.
#[derive(Clone, Debug)]
enum Source {
    /// Words for some of the parameters.
    Words(Vec<String>),
    /// A launch file.
    File(PathBuf),
    /// The text of one.
    Text(String),
}

impl Default for Source {
    fn default() -> Self {
        Source::Words(Vec::new())
    }
}

impl Launch {
    /// A launch of which nothing is said yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// What the launch file at `path` says (`ptxdbg-launch(5)`). The module that it names does not count.
    pub fn from_file(path: impl Into<PathBuf>) -> Self {
        Self { source: Source::File(path.into()), ..Self::default() }
    }

    /// What this text of a launch file says. Data files are relative to the folder of the module.
    pub fn from_text(text: impl Into<String>) -> Self {
        Self { source: Source::Text(text.into()), ..Self::default() }
    }

    /// The kernel; without it the first one.
    #[must_use]
    pub fn kernel(mut self, name: impl Into<String>) -> Self {
        self.overrides.kernel = Some(name.into());
        self
    }

    /// Blocks in x, y and z.
    #[must_use]
    pub fn grid(mut self, blocks: [u32; 3]) -> Self {
        self.overrides.grid = Some(blocks);
        self
    }

    /// Threads of a block in x, y and z.
    #[must_use]
    pub fn block(mut self, threads: [u32; 3]) -> Self {
        self.overrides.block = Some(threads);
        self
    }

    /// Blocks of a cluster in x, y and z.
    #[must_use]
    pub fn cluster(mut self, blocks: [u32; 3]) -> Self {
        self.overrides.cluster = Some(blocks);
        self
    }

    /// Bytes of dynamic shared memory.
    #[must_use]
    pub fn dynamic_shared(mut self, bytes: u32) -> Self {
        self.overrides.dynamic_shared = Some(bytes);
        self
    }

    /// What a parameter is, as after `--arg`: `n=64`, `x=f32[64]=iota`, `x=@x.npy`. Files are relative to the current folder. It does not
    /// go with a launch file, which says what all parameters are.
    #[must_use]
    pub fn arg(mut self, word: impl Into<String>) -> Self {
        match &mut self.source {
            Source::Words(words) => words.push(word.into()),
            Source::File(_) | Source::Text(_) => self.misplaced.push(word.into()),
        }
        self
    }

    /// What a buffer must hold at the end, as after `--expect`: `out=1,2,3`, `out=@y.npy`.
    #[must_use]
    pub fn expect(mut self, word: impl Into<String>) -> Self {
        self.overrides.expect.push(word.into());
        self
    }

    /// How close it must be: an element may differ by `atol` and by `rtol` of the expected magnitude.
    #[must_use]
    pub fn tolerance(mut self, rtol: Option<f64>, atol: Option<f64>) -> Self {
        (self.overrides.tolerance.rtol, self.overrides.tolerance.atol) = (rtol, atol);
        self
    }

    /// The launch of a kernel of `module`.
    ///
    /// # Errors
    /// There is no such kernel, or an argument or the launch file cannot be meant for it.
    pub fn plan(&self, module: &Module) -> Result<Planned, Error> {
        if let Some(word) = self.misplaced.first() {
            return Err(Error::File(format!("argument '{word}': a launch file says what all parameters are")));
        }
        let (path, program) = (module.path().to_path_buf(), Arc::clone(module.program()));
        let file = match &self.source {
            Source::Words(words) => return Ok(Planned { opened: open_words(path, program, words, &self.overrides)? }),
            Source::File(file) => LaunchFile::read(file),
            Source::Text(text) => {
                let folder = path.parent().unwrap_or(Path::new(""));
                LaunchFile::parse("the launch", folder, text.clone()).map_err(LaunchFileError::Wrong)
            }
        };
        let file = file.map_err(|error| match error {
            LaunchFileError::Unreadable(message) => Error::File(message),
            LaunchFileError::Wrong(wrong) => Error::Rejected(problems(&wrong.0, &wrong.1)),
        })?;
        Ok(Planned { opened: open_launch_file(path, program, file, &self.overrides)? })
    }
}

impl DriverLaunch {
    /// The launch of a kernel of `module`, ready to be run.
    ///
    /// # Errors
    /// There is no such kernel, or the launch cannot be meant for it.
    pub fn planned(&self, module: &Module) -> Result<Planned, Error> {
        Ok(Planned { opened: open_driver(Arc::clone(module.program()), self)? })
    }
}

/// Launches of a module, ready to be run or debugged. Of a launch file that is a suite each launch is a case of its own; a sequence is
/// one case.
#[derive(Debug)]
pub struct Planned {
    opened: Opened,
}

impl Planned {
    /// The names of the cases, in order; there is at least one.
    pub fn cases(&self) -> impl ExactSizeIterator<Item = &str> {
        self.opened.plan.cases.iter().map(|case| case.name.as_str())
    }

    /// The text of the launch file that says the same, in the module's folder: to be edited, and to be kept with a result.
    pub fn launch_file(&self) -> Option<String> {
        self.opened.launch.as_ref().map(OpenedLaunch::sibling_text)
    }

    /// Runs case number `case`, from 0, on fresh memory, to its end or its first fault.
    ///
    /// # Errors
    /// There is no such case, or a reason outside the kernel; what the kernel does wrong is among the findings.
    pub fn run(&self, case: usize, options: &RunOptions) -> Result<Run, Error> {
        self.run_until(case, options, || false)
    }

    /// The same, up to where `interrupt`, which is asked many times a second, says so.
    ///
    /// # Errors
    /// As of [`Self::run`].
    pub fn run_until(&self, case: usize, options: &RunOptions, interrupt: Interrupt) -> Result<Run, Error> {
        let cases = &self.opened.plan.cases;
        let planned = cases.get(case).ok_or(Error::NoCase { case, cases: cases.len() })?;
        Ok(Run::of_case(&self.opened.program, planned, options, interrupt)?)
    }

    /// The last thread that writes each of `ranges` of global memory, addresses and bytes, when case number `case` runs; none where no
    /// kernel does. The case is run once more for it, exactly as [`Self::run`] runs it.
    ///
    /// # Errors
    /// As of [`Self::run`].
    pub fn last_writers(&self, case: usize, options: &RunOptions, ranges: &[(u64, u64)]) -> Result<Vec<Option<Writer>>, Error> {
        let cases = &self.opened.plan.cases;
        let planned = cases.get(case).ok_or(Error::NoCase { case, cases: cases.len() })?;
        Ok(last_writers(&self.opened.program, planned, options, ranges)?)
    }

    /// A session about case number `case`, from 0, that stands before its first instruction.
    ///
    /// # Errors
    /// There is no such case, the device refuses its first launch, or its buffers cannot be filled.
    pub fn session(self, case: usize, options: &RunOptions) -> Result<Session, Error> {
        let cases = self.opened.plan.cases.len();
        if case >= cases {
            return Err(Error::NoCase { case, cases });
        }
        Ok(Session::of_opened(self.opened, case, options)?)
    }
}
