//! Launch configurations, and their plans.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;

use super::error::{Error, problems};
use super::module::Module;
use super::prompt::Prompt;
use super::run::Run;
use super::session::Session;
use crate::base::cores;
use crate::debug::bundle::{Manifest, is_bundle};
use crate::debug::fix::{FixReports, fix_case};
use crate::debug::open::{OpenedLaunch, open, open_arguments, open_driver, open_launch_file, pointee_elements};
use crate::debug::{LaunchChoice, Opened, Overrides, Request, RunOptions, Writer, last_writers};
use crate::launch::{Case, DriverLaunch, Element, LaunchFile, LaunchFileError};

/// A builder of a launch. Values that are not set are made up: derived from the kernel's code, so that each thread has something to do.
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
    /// Arguments in addition to a launch file, which is an error.
    misplaced: Vec<String>,
}

/// The source of a launch.
#[derive(Clone, Debug)]
enum Source {
    /// Arguments for some of the parameters.
    Arguments(Vec<String>),
    /// A launch file.
    File(PathBuf),
    /// The text of a launch file.
    Text(String),
}

impl Default for Source {
    fn default() -> Self {
        Source::Arguments(Vec::new())
    }
}

impl Launch {
    /// A launch with nothing set.
    pub fn new() -> Self {
        Self::default()
    }

    /// The launch file at `path` (`ptxdbg-launch(5)`). The module that it names is ignored.
    pub fn from_file(path: impl Into<PathBuf>) -> Self {
        Self { source: Source::File(path.into()), ..Self::default() }
    }

    /// The text of a launch file. Data files are relative to the folder of the module.
    pub fn from_text(text: impl Into<String>) -> Self {
        Self { source: Source::Text(text.into()), ..Self::default() }
    }

    /// The kernel; by default the first one.
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

    /// The value of a parameter, as after `--arg`: `n=64`, `x=f32[64]=iota`, `x=@x.npy`. Files are relative to the current folder. It
    /// cannot be combined with a launch file, which has all parameters.
    #[must_use]
    pub fn arg(mut self, word: impl Into<String>) -> Self {
        match &mut self.source {
            Source::Arguments(words) => words.push(word.into()),
            Source::File(_) | Source::Text(_) => self.misplaced.push(word.into()),
        }
        self
    }

    /// The expected contents of a buffer at the end, as after `--expect`: `out=1,2,3`, `out=@y.npy`.
    #[must_use]
    pub fn expect(mut self, word: impl Into<String>) -> Self {
        self.overrides.expect.push(word.into());
        self
    }

    /// The tolerance: an element may differ by the sum of `atol` and `rtol` times the expected magnitude.
    #[must_use]
    pub fn tolerance(mut self, rtol: Option<f64>, atol: Option<f64>) -> Self {
        (self.overrides.tolerance.rtol, self.overrides.tolerance.atol) = (rtol, atol);
        self
    }

    /// The launch of a kernel of `module`.
    ///
    /// # Errors
    /// There is no such kernel, or an argument or the launch file does not match it.
    pub fn plan(&self, module: &Module) -> Result<Planned, Error> {
        if let Some(word) = self.misplaced.first() {
            return Err(Error::File(format!("argument '{word}': a launch file says what all parameters are")));
        }
        let (path, program) = (module.path().to_path_buf(), Arc::clone(module.program()));
        let file = match &self.source {
            Source::Arguments(words) => return Ok(Planned::of_module(open_arguments(path, program, words, &self.overrides)?, module)),
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
        Ok(Planned::of_module(open_launch_file(path, program, file, &self.overrides)?, module))
    }
}

impl DriverLaunch {
    /// The launch of a kernel of `module`, ready to be run.
    ///
    /// # Errors
    /// There is no such kernel, or the launch does not match it.
    pub fn planned(&self, module: &Module) -> Result<Planned, Error> {
        Ok(Planned::of_module(open_driver(Arc::clone(module.program()), self)?, module))
    }
}

/// Launches of a module, ready to be run or debugged. Each launch of a suite is a case; a sequence is one case.
#[derive(Clone, Debug)]
pub struct Planned {
    opened: Opened,
    /// The session file of a bundle.
    position: Option<PathBuf>,
    /// Keeps the folder of the files that it reads.
    folder: Option<Arc<TempDir>>,
    /// The text of Triton's intermediate code, if the module was given one.
    tensors: Option<Arc<str>>,
}

impl Planned {
    fn of(opened: Opened) -> Self {
        Self { opened, position: None, folder: None, tensors: None }
    }

    fn of_module(opened: Opened, module: &Module) -> Self {
        Self { tensors: module.tensors().map(Arc::from), ..Self::of(opened) }
    }

    /// Keeps a folder alive whose files it reads.
    pub(super) fn reading(self, folder: Arc<TempDir>) -> Self {
        Self { folder: Some(folder), ..self }
    }

    /// Opens `path` as the command line does: a module with its sibling launch file or a made-up launch, a launch file with the module
    /// that it names, or a [bundle](Self::bundle) with its run options.
    ///
    /// # Errors
    /// It cannot be read, or has mistakes.
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

    /// The text of an equivalent launch file for the module's folder: to be edited, and to be saved with a result.
    pub fn launch_file(&self) -> Option<String> {
        self.opened.launch.as_ref().map(OpenedLaunch::sibling_text)
    }

    /// Runs case number `case`, from 0, on fresh memory, to its end or its first fault.
    ///
    /// # Errors
    /// There is no such case, or a reason outside the kernel; mistakes of the kernel are findings.
    pub fn run(&self, case: usize, options: &RunOptions) -> Result<Run, Error> {
        self.run_until(case, options, || false)
    }

    /// [`Self::run`], until `interrupt`, which is called many times a second, returns true.
    ///
    /// # Errors
    /// As of [`Self::run`].
    pub fn run_until(&self, case: usize, options: &RunOptions, interrupt: impl Fn() -> bool) -> Result<Run, Error> {
        Ok(Run::of_case(&self.opened.program, self.case(case)?, options, interrupt)?)
    }

    /// The last thread that writes each of `ranges` of global memory (address and bytes) when case number `case` runs; `None` if no
    /// kernel does. The case is run again for it, exactly as by [`Self::run`].
    ///
    /// # Errors
    /// As of [`Self::run`].
    pub fn last_writers(&self, case: usize, options: &RunOptions, ranges: &[(u64, u64)]) -> Result<Vec<Option<Writer>>, Error> {
        Ok(last_writers(&self.opened.program, self.case(case)?, options, ranges)?)
    }

    /// Tries the remedies of the finding of this number, from 1, or of all findings, in copies of the program: a change is accepted if the
    /// finding is gone and there is no new one, in this order and in others that show it. `None` if there is no such finding. Findings
    /// have the numbers of a run without other orders (`orders` is 0).
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
        Ok(fix_case(&self.opened.program, self.case(case)?, options, (finding, cores()), &mut || true)?)
    }

    /// A session of case number `case`, from 0, stopped before its first instruction; for a bundle, at the position where it was written.
    ///
    /// # Errors
    /// There is no such case, the device rejects its first launch, or its buffers cannot be filled.
    pub fn session(self, case: usize, options: &RunOptions) -> Result<Session, Error> {
        let (position, tensors) = (self.position.clone(), self.tensors.clone());
        let session = Session::new(self, case, options)?.described(tensors.as_deref());
        match position {
            Some(position) => session.at(&position),
            None => Ok(session),
        }
    }

    /// [`Self::session`] with answers as text.
    ///
    /// # Errors
    /// As of [`Self::session`].
    pub fn prompt(self, case: usize, options: &RunOptions) -> Result<Prompt, Error> {
        Ok(self.session(case, options)?.into_prompt())
    }

    /// Writes everything needed to run case number `case` to `path`: a bundle, which [`Self::open`] and `ptxdbg FILE` open on any
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
    /// As of [`Self::session`]; a file of another kind exists at `path`, or it cannot be written.
    pub fn bundle(&self, case: usize, options: &RunOptions, path: impl AsRef<Path>, notes: &str) -> Result<(), Error> {
        self.bundle_with(case, options, path, notes, &[])
    }

    /// As [`Self::bundle`], with these files in it besides.
    ///
    /// # Errors
    /// As of [`Self::bundle`]; one of the files cannot be read.
    pub fn bundle_with(
        &self,
        case: usize,
        options: &RunOptions,
        path: impl AsRef<Path>,
        notes: &str,
        others: &[PathBuf],
    ) -> Result<(), Error> {
        let session = self.clone().session(case, options)?;
        session.engine().bundle(path.as_ref(), notes, others).map(drop).map_err(Error::File)
    }

    /// The elements that the kernel of the first launch takes a parameter to point to, where they are known, by the index of the parameter.
    pub fn param_elements(&self) -> Vec<Option<Element>> {
        let Some(launch) = self.opened.plan.cases.first().and_then(|case| case.launches.first()) else { return Vec::new() };
        let module = self.opened.launch.as_ref().map_or(Path::new(""), |launch| &launch.module);
        pointee_elements(&self.opened.program, launch, module)
    }

    fn case(&self, case: usize) -> Result<&Case, Error> {
        let cases = &self.opened.plan.cases;
        cases.get(case).ok_or(Error::NoCase { case, cases: cases.len() })
    }

    /// The plan and the folder for a session of case number `case`.
    pub(super) fn into_parts(self, case: usize, options: &RunOptions) -> Result<(Opened, Option<Arc<TempDir>>), Error> {
        self.case(case)?;
        if options.host.is_some() {
            return Err(Error::File("a session has memory of its own: DriverLaunch::captured copies that of the process".to_string()));
        }
        Ok((self.opened, self.folder))
    }
}
