//! What is to be launched, and its plan.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;

use super::error::{Error, problems};
use super::module::Module;
use super::prompt::Prompt;
use super::run::Run;
use super::session::Session;
use crate::debug::bundle::{Manifest, is_bundle};
use crate::debug::fix::{FixReports, fix_case};
use crate::debug::open::{OpenedLaunch, open, open_driver, open_launch_file, open_words};
use crate::debug::{Interrupt, LaunchChoice, Opened, Overrides, Request, RunOptions, Writer, last_writers};
use crate::launch::{Case, DriverLaunch, LaunchFile, LaunchFileError};

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
            Source::Words(words) => return Ok(Planned::of(open_words(path, program, words, &self.overrides)?)),
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
        Ok(Planned::of(open_launch_file(path, program, file, &self.overrides)?))
    }
}

impl DriverLaunch {
    /// The launch of a kernel of `module`, ready to be run.
    ///
    /// # Errors
    /// There is no such kernel, or the launch cannot be meant for it.
    pub fn planned(&self, module: &Module) -> Result<Planned, Error> {
        Ok(Planned::of(open_driver(Arc::clone(module.program()), self)?))
    }
}

/// Launches of a module, ready to be run or debugged. Of a launch file that is a suite each launch is a case of its own; a sequence is
/// one case.
#[derive(Clone, Debug)]
pub struct Planned {
    opened: Opened,
    /// The session file of a bundle.
    position: Option<PathBuf>,
    /// Holds the files that it reads.
    folder: Option<Arc<TempDir>>,
}

impl Planned {
    fn of(opened: Opened) -> Self {
        Self { opened, position: None, folder: None }
    }

    /// The same, which reads files in a folder.
    pub(super) fn reading(self, folder: Arc<TempDir>) -> Self {
        Self { folder: Some(folder), ..self }
    }

    /// What the command line opens at `path`, and how it runs that: a module with the launch file beside it or a launch that is made up, a
    /// launch file with the module that it names, or a [bundle](Self::bundle) with how it was run.
    ///
    /// # Errors
    /// It cannot be read, or holds mistakes.
    pub fn open(path: impl AsRef<Path>) -> Result<(Self, RunOptions), Error> {
        let path = path.as_ref();
        let request = |modules, launch, overrides| Request { modules, launch, overrides };
        if is_bundle(path) {
            let manifest = Manifest::read(path).map_err(Error::File)?;
            let options = manifest.run_options(path).map_err(Error::File)?;
            let overrides = Overrides { kernel: manifest.kernel.clone(), ..Overrides::default() };
            let planned = Self::of(open(&request(manifest.module_paths(path), LaunchChoice::File(Manifest::launch_of(path)), overrides))?);
            return Ok((Self { position: Some(Manifest::session_of(path)), ..planned }, options));
        }
        let path = path.to_path_buf();
        let (modules, launch) = if path.extension().is_some_and(|extension| extension == "ron") {
            (Vec::new(), LaunchChoice::File(path))
        } else {
            (vec![path], LaunchChoice::Sibling)
        };
        Ok((Self::of(open(&request(modules, launch, Overrides::default()))?), RunOptions::default()))
    }

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
        Ok(Run::of_case(&self.opened.program, self.case(case)?, options, interrupt)?)
    }

    /// The last thread that writes each of `ranges` of global memory, addresses and bytes, when case number `case` runs; none where no
    /// kernel does. The case is run once more for it, exactly as [`Self::run`] runs it.
    ///
    /// # Errors
    /// As of [`Self::run`].
    pub fn last_writers(&self, case: usize, options: &RunOptions, ranges: &[(u64, u64)]) -> Result<Vec<Option<Writer>>, Error> {
        Ok(last_writers(&self.opened.program, self.case(case)?, options, ranges)?)
    }

    /// Tries what the finding of this number, from 1, proposes, or what all findings do, in copies of the program: a change holds if the
    /// finding is gone and no new one has come, in this order and in others that show it. None where there is no such finding. Findings
    /// have the numbers of a run that looks at no other order (`orders` is 0).
    ///
    /// ```
    /// use ptxdbg::api::{Module, Planned, RunOptions, text};
    ///
    /// let (planned, options) = Planned::open("fixtures/gallery/shared_raw.ron")?;
    /// let fixed = planned.fix(0, &options, Some(1))?.unwrap();
    /// assert!(text::fixes(&fixed).contains("the finding is gone"));
    /// // The module with the change is a module as any other.
    /// Module::from_text(&fixed.texts[0].name, fixed.texts[0].text.as_str())?;
    /// # Ok::<(), ptxdbg::api::Error>(())
    /// ```
    ///
    /// # Errors
    /// As of [`Self::run`].
    pub fn fix(&self, case: usize, options: &RunOptions, finding: Option<usize>) -> Result<Option<FixReports>, Error> {
        Ok(fix_case(&self.opened.program, self.case(case)?, options, finding, &mut || true)?)
    }

    /// A session about case number `case`, from 0, that stands before its first instruction; of a bundle where it was written.
    ///
    /// # Errors
    /// There is no such case, the device refuses its first launch, or its buffers cannot be filled.
    pub fn session(self, case: usize, options: &RunOptions) -> Result<Session, Error> {
        let position = self.position.clone();
        let session = Session::new(self, case, options)?;
        match position {
            Some(position) => session.at(&position),
            None => Ok(session),
        }
    }

    /// The same, whose answers are text.
    ///
    /// # Errors
    /// As of [`Self::session`].
    pub fn prompt(self, case: usize, options: &RunOptions) -> Result<Prompt, Error> {
        Ok(self.session(case, options)?.into_prompt())
    }

    /// Writes all that a run of case number `case` starts from to `path`: a bundle, which [`Self::open`] and `ptxdbg FILE` open on any
    /// machine. `notes` is shown there.
    ///
    /// ```
    /// use ptxdbg::api::{Planned, RunOptions};
    ///
    /// let (planned, _) = Planned::open("fixtures/debug/ring_sum.ron")?;
    /// let folder = tempfile::tempdir().unwrap();
    /// let path = folder.path().join("ring_sum.ptxcap");
    /// planned.bundle(0, &RunOptions { seed: 7, ..RunOptions::default() }, &path, "the last index is wrong")?;
    /// let (opened, options) = Planned::open(&path)?;
    /// assert_eq!(options.seed, 7);
    /// assert_eq!(opened.run(0, &options)?.summary, planned.run(0, &options)?.summary);
    /// # Ok::<(), ptxdbg::api::Error>(())
    /// ```
    ///
    /// # Errors
    /// As of [`Self::session`]; a file of another kind is there, or it cannot be written.
    pub fn bundle(&self, case: usize, options: &RunOptions, path: impl AsRef<Path>, notes: &str) -> Result<(), Error> {
        let session = self.clone().session(case, options)?;
        session.engine().bundle(path.as_ref(), notes).map(drop).map_err(Error::File)
    }

    fn case(&self, case: usize) -> Result<&Case, Error> {
        let cases = &self.opened.plan.cases;
        cases.get(case).ok_or(Error::NoCase { case, cases: cases.len() })
    }

    /// What a session about case number `case` is made of.
    pub(super) fn into_parts(self, case: usize, options: &RunOptions) -> Result<(Opened, Option<Arc<TempDir>>), Error> {
        self.case(case)?;
        if options.host.is_some() {
            return Err(Error::File("a session has memory of its own: DriverLaunch::captured copies that of the process".to_string()));
        }
        Ok((self.opened, self.folder))
    }
}
