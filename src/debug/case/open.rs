//! From file names to a program and a plan of launches.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::made_up::made_up;
use crate::base::{Diagnostic, Sources};
use crate::launch::{self, Known, LaunchFile, LaunchFileError, Overrides, Plan, ron_text};
use crate::program::{FuncId, Program};
use crate::sema;

/// What the command line asks for.
#[derive(Clone, Debug)]
pub struct Request {
    /// PTX files; the first that holds the kernel is used, or the one that the launch file names if there is none.
    pub modules: Vec<PathBuf>,
    /// Where the launch comes from.
    pub launch: LaunchChoice,
    /// What is said instead of the launch file.
    pub overrides: Overrides,
}

/// Where a launch comes from.
#[derive(Clone, Debug)]
pub enum LaunchChoice {
    /// A launch file.
    File(PathBuf),
    /// One word a parameter.
    Words(Vec<String>),
    /// The launch file beside the module, `kernel.ron` beside `kernel.ptx`, or else one that is made up.
    Beside,
}

/// A program and the launches of it.
#[derive(Debug)]
pub struct Opened {
    /// The program.
    pub program: Arc<Program>,
    /// Its launches.
    pub plan: Plan,
    /// The text of the launch file that was made up, if there was none.
    pub made_up: Option<String>,
    /// The launch file beside the module that holds nothing, so that a launch was made up.
    pub empty_beside: Option<PathBuf>,
}

/// A module that was read.
#[derive(Debug)]
pub struct Module {
    /// Its program; there is one if and only if no diagnostic is an error.
    pub program: Option<Arc<Program>>,
    /// Holds its text.
    pub sources: Sources,
    /// What is wrong with it.
    pub diagnostics: Vec<Diagnostic>,
}

/// Why there is nothing to run.
#[derive(Debug)]
pub enum OpenError {
    /// A file cannot be used at all, in one line.
    File(String),
    /// A module has errors.
    Module(Module),
    /// A launch file, or a word that stands for a parameter, has errors.
    Launch(Sources, Vec<Diagnostic>),
}

/// Opens what `request` names.
///
/// # Errors
/// Anything that keeps it from running, before anything runs.
pub fn open(request: &Request) -> Result<Opened, OpenError> {
    match &request.launch {
        LaunchChoice::File(path) => open_file(request, path),
        LaunchChoice::Words(words) => open_words(request, words),
        LaunchChoice::Beside => {
            let module = sole_module(request)?;
            let beside = module.with_extension("ron");
            if !beside.is_file() {
                open_made_up(request)
            } else if says_nothing(&beside) {
                open_made_up(request).map(|opened| Opened { empty_beside: Some(beside), ..opened })
            } else {
                open_file(request, &beside)
            }
        }
    }
}

/// Reads the module at `path`.
///
/// # Errors
/// The file cannot be read as text. What is wrong with the text are diagnostics.
pub fn read_module(path: &Path) -> Result<Module, OpenError> {
    let mut sources = Sources::default();
    let loaded = sema::load_file(&mut sources, path);
    let (program, diagnostics) = loaded.map_err(|error| OpenError::File(error.to_string()))?;
    Ok(Module { program, sources, diagnostics })
}

/// Whether the file at `path` holds white space and comments only, as the shell leaves a file that output is redirected to.
fn says_nothing(path: &Path) -> bool {
    ron_text::read_text(path).is_ok_and(|text| ron_text::is_blank(&text))
}

fn open_file(request: &Request, path: &Path) -> Result<Opened, OpenError> {
    let file = LaunchFile::read(path).map_err(|error| match error {
        LaunchFileError::Unreadable(message) => OpenError::File(message),
        LaunchFileError::Wrong(wrong) => OpenError::Launch(wrong.0, vec![wrong.1]),
    })?;
    let modules = match (request.modules.as_slice(), file.module()) {
        ([], Some(module)) => vec![file.folder.join(module)],
        ([], None) => return Err(OpenError::File(format!("{} names no module: give the PTX file as well", path.display()))),
        (given, _) => given.to_vec(),
    };
    let launches = file.launches();
    let kernel = request.overrides.kernel.as_deref().or(launches.first().and_then(|(_, launch)| launch.kernel.as_deref()));
    let (module, program) = choose_module(&modules, kernel)?;
    finish(&file, program, &module, &request.overrides, None)
}

fn open_words(request: &Request, words: &[String]) -> Result<Opened, OpenError> {
    sole_module(request)?;
    let (module, program) = choose_module(&request.modules, request.overrides.kernel.as_deref())?;
    let kernel = first_kernel(&program, &module, request.overrides.kernel.as_deref())?;
    let file = launch::from_words(&program.functions[kernel.index()], words, Path::new(""));
    let file = file.map_err(|(sources, errors)| OpenError::Launch(sources, errors))?;
    finish(&file, program, &module, &request.overrides, None)
}

fn open_made_up(request: &Request) -> Result<Opened, OpenError> {
    let (module, program) = choose_module(&request.modules, request.overrides.kernel.as_deref())?;
    let kernel = first_kernel(&program, &module, request.overrides.kernel.as_deref())?;
    let name = module.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut sources = Sources::default();
    let beside = launch::triton::known(&module, &program.functions[kernel.index()], &mut sources);
    let beside = beside.map_err(|errors| OpenError::Launch(sources, errors))?;
    let made_up = made_up(&program, kernel, &name, &with_overrides(beside, &request.overrides));
    let text = made_up.content.to_text();
    let file = LaunchFile::parse("the generated launch", Path::new(""), text.clone());
    let file = file.map_err(|wrong| OpenError::Launch(wrong.0, vec![wrong.1]))?;
    let mut opened = finish(&file, program, &module, &Overrides::default(), Some(text))?;
    for launch in opened.plan.cases.iter_mut().flat_map(|case| &mut case.launches) {
        launch.reasons.clone_from(&made_up.reasons);
    }
    Ok(opened)
}

/// What is known of a made-up launch: what the command line says goes before what `known` says.
fn with_overrides(known: Known, overrides: &Overrides) -> Known {
    let said = |extents: Option<[u32; 3]>, option: &str| extents.map(|extents| (extents, format!("{option} says so")));
    Known {
        grid: said(overrides.grid, "--grid").or(known.grid),
        block: said(overrides.block, "--block").or(known.block),
        cluster: said(overrides.cluster, "--cluster").or(known.cluster),
        dynamic_shared: overrides.dynamic_shared.map(|bytes| (bytes, "--dynamic-shared says so".to_string())).or(known.dynamic_shared),
        ..known
    }
}

fn finish(
    file: &LaunchFile,
    program: Arc<Program>,
    module: &Path,
    overrides: &Overrides,
    made_up: Option<String>,
) -> Result<Opened, OpenError> {
    let plan = launch::plan(file, &program, &module.to_string_lossy(), overrides);
    let plan = plan.map_err(|errors| OpenError::Launch(file.sources.clone(), errors))?;
    Ok(Opened { program, plan, made_up, empty_beside: None })
}

fn sole_module(request: &Request) -> Result<&Path, OpenError> {
    request.modules.first().map(PathBuf::as_path).ok_or_else(|| OpenError::File("no PTX file is given".to_string()))
}

/// The first of `paths` that holds `kernel`; the first of all if none does, or no kernel is named.
fn choose_module(paths: &[PathBuf], kernel: Option<&str>) -> Result<(PathBuf, Arc<Program>), OpenError> {
    let mut first = None;
    for path in paths {
        let module = read_module(path)?;
        let Some(program) = module.program.clone() else { return Err(OpenError::Module(module)) };
        let holds = kernel.is_none_or(|kernel| program.function(kernel).is_some());
        if holds {
            return Ok((path.clone(), program));
        }
        first.get_or_insert((path.clone(), program));
    }
    first.ok_or_else(|| OpenError::File("no PTX file is given".to_string()))
}

/// The kernel called `name`, or the first one that has a body.
fn first_kernel(program: &Program, module: &Path, name: Option<&str>) -> Result<FuncId, OpenError> {
    let has_body = |id: &FuncId| !program.functions[id.index()].code.is_empty();
    let first = program.kernels().find(has_body).filter(|_| name.is_none());
    first.map_or_else(|| launch::choose_kernel(program, name), Ok).map_err(|(message, help)| {
        let message = if message == help { message } else { format!("{message}; {help}") };
        OpenError::File(format!("{}: {message}", module.display()))
    })
}
