//! Opens files, or an `asm` statement, as a program and a plan of cases; a case is launches in order on the same memory.

mod absent;
mod arguments;
pub mod asm;
mod driver;
mod expectations;
mod facts;
mod formals;
mod linked;
pub mod modules;
mod outside;
mod same_launch;

mod made_up;

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use self::driver::open_driver;
pub use self::facts::pointee_elements;
pub(in crate::debug) use self::formals::formals_of;
pub use self::formals::variables_of;
use self::made_up::made_up;
use self::modules::{Chosen, choose, choose_at, relocated};
pub use self::modules::{load_linked, read_text_module, read_text_module_at};
pub use self::same_launch::open_with_launch;
use crate::base::{Diagnostic, SourceFile, SourceId, Sources, Span, save};
use crate::container::{self, bundle, pipe};
use crate::launch::file::Param;
use crate::launch::foreign::foreign;
use crate::launch::nvcc::{self, Compiler};
use crate::launch::param_args;
use crate::launch::variable_args::{self, Names};
use crate::launch::{
    self, Basis, Content, LaunchFacts, LaunchFile, LaunchFileError, MadeUp, Origin, Overrides, Plan, Reason, Study, ValuePath, expect_args,
    relocate, ron_text,
};
use crate::program::map::Maps;
use crate::program::{FuncId, Program, is_called};
use crate::sema;

/// The subject of a reason about the choice of the kernel.
const KERNEL: &str = "kernel";
/// The subjects of reasons that are still shown if grid, block and parameters are given.
const SHOWN_SUBJECTS: [&str; 3] = [KERNEL, "cluster", "dynamic shared memory"];
/// Number of leading bytes that identify the format of a file.
const HEAD_BYTES: u64 = 20;

/// A request of the command line.
#[derive(Clone, Debug)]
pub struct Request {
    /// PTX files; the first that holds the kernel is used, or the one that the launch file names if there is none.
    pub modules: Vec<PathBuf>,
    /// The source of the launch.
    pub launch: LaunchChoice,
    /// The values that replace those of the launch file.
    pub overrides: Overrides,
}

/// The source of a launch.
#[derive(Clone, Debug)]
pub enum LaunchChoice {
    /// A launch file.
    File(PathBuf),
    /// The launch file named as the module (`kernel.ron` for `kernel.ptx`), or else a made-up launch, generated from the kernel.
    Sibling,
    /// A made-up launch, even if there is such a launch file.
    MadeUp,
}

/// A program and the launches of it.
#[derive(Clone, Debug)]
pub struct Opened {
    /// The program.
    pub program: Arc<Program>,
    /// Its launches.
    pub plan: Plan,
    /// The text of the launch file that was made up, if there was none.
    pub made_up: Option<String>,
    /// The launch file of the same name as the module if it is empty, so that a launch was made up.
    pub empty_sibling: Option<PathBuf>,
    /// The choices that neither the launch file nor the command line made, a line each.
    pub notes: Vec<String>,
    /// The launch file of the launches; none for an `asm` statement.
    pub launch: Option<OpenedLaunch>,
}

/// An equivalent launch file: one that has the effect of the command line.
#[derive(Clone, Debug)]
pub struct OpenedLaunch {
    /// The contents of the launch file.
    pub content: Content,
    /// The folder that its files are relative to.
    pub folder: PathBuf,
    /// The module.
    pub module: PathBuf,
    /// For a suite, the kernel whose launches are run.
    pub kernel: Option<String>,
    /// Folders that are searched for the source text of the module.
    pub folders: Vec<PathBuf>,
    /// The given parts of a launch whose other parts are made up.
    pub known: Option<LaunchFacts>,
}

impl OpenedLaunch {
    /// The text of an equivalent launch file at `path`.
    pub fn text_at(&self, path: &Path) -> String {
        format!("{}\n", self.in_folder(path.parent().unwrap_or(Path::new(""))).to_text())
    }

    /// The text of an equivalent launch file of the same name as the module.
    pub fn sibling_text(&self) -> String {
        self.text_at(&container::file_of(&self.module).with_extension("ron"))
    }

    /// Writes an equivalent launch file to `path`; returns a message about it.
    ///
    /// # Errors
    /// There is a file of another kind at `path`, or it cannot be written; a message of one line.
    pub fn save(&self, path: &Path) -> Result<String, String> {
        launch::may_replace(path)?;
        let cannot = |error| format!("cannot write {}: {}", path.display(), save::cause(&error));
        save::save(path, &[self.text_at(path).as_bytes()]).map_err(cannot)?;
        Ok(format!("launch written to {}\n", path.display()))
    }

    /// The content of an equivalent launch file in `folder`.
    pub fn in_folder(&self, folder: &Path) -> Content {
        let mut content = self.content.clone();
        relocate(&mut content, &self.folder, folder);
        let module = launch::relative(&self.module, folder).display().to_string();
        match &mut content {
            Content::Launch(launch) if launch.modules.is_empty() => launch.module = Some(module),
            Content::Suite(list) | Content::Sequence(list) if list.modules.is_empty() => list.module = Some(module),
            Content::Launch(_) | Content::Suite(_) | Content::Sequence(_) => {}
        }
        content
    }
}

/// A module that was read.
#[derive(Debug)]
pub struct Module {
    /// Its program; there is one if and only if no diagnostic is an error.
    pub program: Option<Arc<Program>>,
    /// Holds its text.
    pub sources: Sources,
    /// Its errors and warnings.
    pub diagnostics: Vec<Diagnostic>,
}

/// The reason that nothing can be run.
#[derive(Debug)]
pub enum OpenError {
    /// A file cannot be used at all, in one line.
    File(String),
    /// A module has errors.
    Module(Module),
    /// A launch file, or an argument for a parameter, has errors.
    Launch(Sources, Vec<Diagnostic>),
}

/// Opens what `request` names.
///
/// # Errors
/// Anything that prevents a run; nothing has run then.
pub fn open(request: &Request) -> Result<Opened, OpenError> {
    match &request.launch {
        LaunchChoice::File(path) => open_file(request, path),
        LaunchChoice::MadeUp => open_made_up(request),
        LaunchChoice::Sibling if sole_module(request)?.is_dir() => {
            let Chosen { path, .. } = choose(&request.modules, request.overrides.kernel.as_deref(), &request.overrides)?;
            open_sibling(&Request { modules: vec![path], ..request.clone() })
        }
        LaunchChoice::Sibling => open_sibling(request),
    }
}

fn open_sibling(request: &Request) -> Result<Opened, OpenError> {
    let module = sole_module(request)?;
    let sibling = container::file_of(module).with_extension("ron");
    if !bundle::is_file(&sibling) || is_for_other_kernel(&sibling, &request.overrides) {
        open_made_up(request)
    } else if is_blank_file(&sibling) {
        open_made_up(request).map(|opened| Opened { empty_sibling: Some(sibling), ..opened })
    } else {
        open_file(request, &sibling)
    }
}

/// Reads the module at `path`.
///
/// # Errors
/// As those of [`read_module_with`].
pub fn read_module(path: &Path) -> Result<Module, OpenError> {
    read_module_with(path, &Compiler::default())
}

/// Reads the module at `path`, or the best one if that is a file or a folder with several; CUDA C++ is compiled first.
///
/// # Errors
/// The file cannot be read as text, is not PTX according to its name or its first bytes, or cannot be compiled. Errors in the text are
/// diagnostics of the module.
pub fn read_module_with(path: &Path, compiler: &Compiler) -> Result<Module, OpenError> {
    read_module_at(path, compiler, &Maps::default())
}

/// Like [`read_module_with`], with the address maps `maps` for variables and windows.
///
/// # Errors
/// As those of [`read_module_with`].
pub fn read_module_at(path: &Path, compiler: &Compiler, maps: &Maps) -> Result<Module, OpenError> {
    if nvcc::is_cuda(path) {
        let text = nvcc::compile(path, compiler).map_err(OpenError::File)?;
        return Ok(read_text_module_at(&path.with_extension("ptx"), text, maps));
    }
    if modules::has_several(path)? {
        let overrides = Overrides { compiler: compiler.clone(), ..Overrides::default() };
        let Chosen { program, .. } = choose_at(&[path.to_path_buf()], None, &overrides, maps)?;
        return Ok(Module { sources: program.sources_text.clone(), program: Some(program), diagnostics: Vec::new() });
    }
    refuse_foreign(path)?;
    let mut sources = Sources::default();
    let loaded = sema::load_file_at(&mut sources, path, maps);
    let (program, diagnostics) = loaded.map_err(|error| OpenError::File(absent::unreadable(path, &error)))?;
    Ok(Module { program, sources, diagnostics })
}

/// Refuses a file that is not PTX according to its name or its first bytes.
fn refuse_foreign(path: &Path) -> Result<(), OpenError> {
    foreign(path, &head(path)).map_or(Ok(()), |kind| Err(OpenError::File(kind.message(path))))
}

/// The first bytes of the file at `path`; empty if it cannot be read, which is reported when the whole file is read.
fn head(path: &Path) -> Vec<u8> {
    if let Some(kept) = pipe::cached(path) {
        return kept.iter().copied().take(HEAD_BYTES as usize).collect();
    }
    let mut head = Vec::new();
    let file = std::fs::File::open(path).ok().filter(|file| file.metadata().is_ok_and(|metadata| metadata.is_file()));
    let read = file.map(|file| file.take(HEAD_BYTES).read_to_end(&mut head));
    read.filter(Result::is_ok).map_or(Vec::new(), |_| head)
}

/// True if arguments give parameters of a chosen kernel and the launch file at `path` is for another kernel.
fn is_for_other_kernel(path: &Path, overrides: &Overrides) -> bool {
    let Some(chosen) = overrides.kernel.as_deref().filter(|_| !overrides.params.is_empty()) else { return false };
    let is_of_another = |file: LaunchFile| {
        let mut kernels = file.launches().into_iter().map(|(_, launch)| launch.kernel.as_deref());
        kernels.all(|kernel| kernel.is_some_and(|kernel| !is_called(kernel, chosen)))
    };
    LaunchFile::read(path).is_ok_and(is_of_another)
}

/// True if the file at `path` has white space and comments only: the shell makes an empty file when output is redirected.
fn is_blank_file(path: &Path) -> bool {
    ron_text::read_text(path).is_ok_and(|text| ron_text::is_blank(&text))
}

fn open_file(request: &Request, path: &Path) -> Result<Opened, OpenError> {
    let mut file = LaunchFile::read(path).map_err(|error| match error {
        LaunchFileError::Unreadable(message) => OpenError::File(message),
        LaunchFileError::Wrong(wrong) => OpenError::Launch(wrong.0, wrong.1),
    })?;
    outside::refuse_outside(&file, path).map_err(OpenError::File)?;
    let maps = Maps::avoiding(&file.occupied());
    if request.modules.is_empty() && file.module().is_none() && !file.modules().is_empty() {
        let paths: Vec<PathBuf> = file.modules().iter().map(|module| file.folder.join(module)).collect();
        let module = modules::read_linked(&paths, &request.overrides.compiler, &maps)?;
        let Some(program) = module.program.clone() else { return Err(OpenError::Module(module)) };
        return open_launch_file(paths[0].clone(), program, file, &request.overrides);
    }
    let modules = match (request.modules.as_slice(), file.module()) {
        ([], Some(module)) => vec![file.folder.join(module)],
        ([], None) => return Err(OpenError::File(format!("{} names no module: give the PTX file as well", path.display()))),
        (given, _) => {
            file.content.name_modules(&[]);
            given.to_vec()
        }
    };
    let launches = file.launches();
    let kernel = request.overrides.kernel.as_deref().or(launches.first().and_then(|(_, launch)| launch.kernel.as_deref()));
    let chosen = choose_at(&modules, kernel, &request.overrides, &maps)?;
    let opened = open_launch_file(chosen.path.clone(), Arc::clone(&chosen.program), file, &request.overrides)?;
    Ok(with_choice(opened, chosen))
}

/// `opened` with the reasons for the choice of the module added to its notes.
fn with_choice(mut opened: Opened, Chosen { reasons, problems, .. }: Chosen) -> Opened {
    let unread = problems.into_iter().map(|problem| Reason {
        what: format!("not read: {}", problem.place),
        why: problem.what,
        param: None,
        basis: Basis::Derived,
    });
    let all: Vec<Reason> = reasons.into_iter().chain(unread).collect();
    opened.notes.splice(0..0, all.iter().map(reason_text));
    if opened.made_up.is_some() {
        for launch in opened.plan.cases.iter_mut().flat_map(|case| &mut case.launches) {
            launch.reasons.splice(0..0, all.iter().cloned());
        }
    }
    opened
}

/// Opens the launches of `file` for `program`, the module at `module`, with the parameters of the command line.
///
/// # Errors
/// It does not fit the program.
pub fn open_launch_file(module: PathBuf, program: Arc<Program>, mut file: LaunchFile, overrides: &Overrides) -> Result<Opened, OpenError> {
    let program = relocated(program, &file.occupied());
    let overrides = &with_full_name(overrides, &program);
    let applied = arguments::apply_arguments(&mut file, overrides, &program, &module);
    let note = applied.map_err(|errors| OpenError::Launch(file.sources.clone(), errors))?;
    let mut opened = finish(file, program, module, overrides)?;
    opened.notes.extend(note);
    Ok(opened)
}

/// `overrides` with the full name of the kernel, as launch files use it, instead of its name in the source.
fn with_full_name(overrides: &Overrides, program: &Program) -> Overrides {
    let full = |name: String| match program.kernels_called(&name).as_slice() {
        [sole] => program.functions[sole.index()].name.to_string(),
        // A kernel that does not exist, or one of several, is an error of the launch.
        _ => name,
    };
    let kernel = overrides.kernel.clone().map(full);
    Overrides { kernel, ..overrides.clone() }
}

/// A launch with the parameters given as arguments; everything else is made up.
fn open_made_up(request: &Request) -> Result<Opened, OpenError> {
    sole_module(request)?;
    let overrides = &request.overrides;
    let args = &overrides.params;
    let chosen = choose(&request.modules, overrides.kernel.as_deref(), overrides)?;
    let opened = open_arguments(chosen.path.clone(), Arc::clone(&chosen.program), args, overrides)?;
    Ok(with_choice(opened, chosen))
}

/// A launch of `program`, the module at `module`, with the parameters given in `args`; everything else is made up.
///
/// # Errors
/// There is no such kernel, or an argument is for none of its parameters.
pub fn open_arguments(module: PathBuf, program: Arc<Program>, args: &[String], overrides: &Overrides) -> Result<Opened, OpenError> {
    let kernel = first_kernel(&program, &module, overrides.kernel.as_deref())?;
    let mut sources = Sources::default();
    let beside = facts::facts(&module, &program, kernel, &overrides.folders, &mut sources);
    let beside = beside.map_err(|errors| OpenError::Launch(sources, errors))?;
    let mut known = with_overrides(beside, overrides);
    let has_args = !args.is_empty() || !overrides.expect.is_empty();
    let formals = if has_args { Study::new(&program, kernel, "", &known).formals() } else { Vec::new() };
    let mut sources = Sources::default();
    let whole = sources.add(SourceFile::new("the command line", args.join(" ")));
    let named = arguments::add_arguments(&mut sources, "--arg", args);
    let variables = if args.is_empty() { Vec::new() } else { variables_of(&program) };
    let texts = arguments::texts(&named, args);
    let names = Names { params: &formals, variables: &variables };
    let given = param_args::read(&texts, names, Path::new(""));
    let given = given.map_err(|errors| OpenError::Launch(sources.clone(), errors))?;
    let initialized_variables = variable_args::read(&texts, names, Path::new(""));
    known.variables = initialized_variables.map_err(|errors| OpenError::Launch(sources.clone(), errors))?;
    let sources_of: BTreeMap<usize, SourceId> = given.iter().map(|(index, (_, source))| (*index, *source)).collect();
    let mut origins: Vec<_> = given.iter().map(|(index, (_, source))| (ValuePath::default().param(*index), *source)).collect();
    origins.extend(known.variables.iter().map(|given| (given.place(&ValuePath::default()), given.source)));
    known.params.extend(given.into_iter().map(|(index, (param, _))| (index, param)));
    for (index, buffer) in overrides.expect.iter().filter_map(|arg| expect_args::output(arg, &formals, Path::new(""))) {
        known.params.entry(index).or_insert(Param::Buffer(buffer));
    }
    let wrong = contradictions(&program, kernel, &known, |index| {
        let source = sources_of.get(&index).copied().unwrap_or(whole);
        Span::new(source, 0, sources.file(source).text().len() as u32)
    });
    if !wrong.is_empty() {
        return Err(OpenError::Launch(sources, wrong));
    }
    let mut made = made_up_with(&program, kernel, &mut known);
    let taken = first_of_several(&program, kernel, overrides.kernel.as_deref());
    made.reasons.splice(0..0, taken);
    let is_whole = known.params.len() == program.functions[kernel.index()].params.len() && known.grid.is_some() && known.block.is_some();
    let is_whole = is_whole && Study::new(&program, kernel, "", &known).constants().is_empty();
    let (origin, expected) = (Origin::Arguments(whole), Vec::new());
    let mut file = LaunchFile { content: made.content, folder: PathBuf::new(), sources, origin, given: origins, expected };
    arguments::place_blocks(&mut file, &overrides.blocks);
    let expected =
        arguments::expect(&mut file, overrides, (0, &formals), &program).and_then(|()| expectations::loosen(&mut file, overrides));
    expected.map_err(|errors| OpenError::Launch(file.sources.clone(), errors))?;
    let (folders, blocks) = (overrides.folders.clone(), overrides.blocks.clone());
    let mut opened = finish(file, program, module, &Overrides { folders, blocks, ..Overrides::default() })?;
    if is_whole {
        // Grid, block and parameters are given; the other choices are reported in a line each.
        made.reasons.retain(|reason| reason.basis != Basis::Given && SHOWN_SUBJECTS.iter().any(|what| reason.what.starts_with(what)));
    }
    opened.notes = made.reasons.iter().filter(|reason| is_whole || reason.what.starts_with(KERNEL)).map(reason_text).collect();
    for launch in opened.plan.cases.iter_mut().flat_map(|case| &mut case.launches) {
        launch.reasons.clone_from(&made.reasons);
    }
    if is_whole {
        return Ok(opened);
    }
    let text = |launch: &OpenedLaunch| launch.in_folder(container::folder_of(&launch.module)).to_text();
    opened.made_up = opened.launch.as_ref().map(text);
    opened.launch.iter_mut().for_each(|launch| launch.known = Some(known.clone()));
    Ok(opened)
}

/// `dynamic shared memory = 4096: as much as the kernel reaches`
fn reason_text(reason: &Reason) -> String {
    format!("{}: {}", reason.what, reason.why)
}

/// The reason for a kernel that is chosen because it is the first of its module.
fn first_of_several(program: &Program, kernel: FuncId, named: Option<&str>) -> Option<Reason> {
    const NAMED: usize = 8;
    let others: Vec<FuncId> = program.kernels().filter(|other| *other != kernel && named.is_none()).collect();
    let name = |id: &FuncId| program.shortest_name(*id);
    let (last, list) = (others.last()?, others.iter().take(NAMED).map(name).collect::<Vec<_>>().join(", "));
    let more = if others.len() > NAMED { format!(" and {} more", others.len() - NAMED) } else { String::new() };
    let why = format!("the first of the module; others: {list}{more} (-k {})", name(if others.len() == 1 { last } else { &others[0] }));
    Some(Reason { what: format!("{KERNEL} {}", name(&kernel)), why, param: None, basis: Basis::Derived })
}

/// Errors for given parameters that contradict each other; `span_of` maps the index of a parameter to its argument.
pub(in crate::debug) fn contradictions(
    program: &Program,
    kernel: FuncId,
    known: &LaunchFacts,
    span_of: impl Fn(usize) -> Span,
) -> Vec<Diagnostic> {
    let found = Study::new(program, kernel, "", known).contradictions();
    found.into_iter().map(|(index, message, help)| Diagnostic::error("arg", span_of(index), message).with_help(help)).collect()
}

/// Makes up a launch of `kernel` from the given parts and from the sizes of the given arrays.
pub(in crate::debug) fn made_up_with(program: &Arc<Program>, kernel: FuncId, known: &mut LaunchFacts) -> MadeUp {
    let arrays = param_args::arrays(known.params.values(), Path::new(""));
    (known.row, known.length) = (param_args::row(&arrays), param_args::length(&arrays));
    (known.extents, known.totals) = (param_args::extents(&arrays), param_args::totals(&arrays));
    made_up(program, kernel, "", known)
}

/// `known` with the values of command-line options, which take precedence.
fn with_overrides(known: LaunchFacts, overrides: &Overrides) -> LaunchFacts {
    let reason_text = |extents: Option<[u32; 3]>, option: &str| extents.map(|extents| (extents, format!("{option} says so")));
    LaunchFacts {
        grid: reason_text(overrides.grid, "--grid").or(known.grid),
        block: reason_text(overrides.block, "--block").or(known.block),
        cluster: reason_text(overrides.cluster, "--cluster").or(known.cluster),
        dynamic_shared: overrides.dynamic_shared.map(|bytes| (bytes, "--dynamic-shared says so".to_string())).or(known.dynamic_shared),
        ..known
    }
}

fn finish(mut file: LaunchFile, program: Arc<Program>, module: PathBuf, overrides: &Overrides) -> Result<Opened, OpenError> {
    let plan = launch::plan(&file, &program, &module.to_string_lossy(), overrides);
    let mut plan = plan.map_err(|errors| OpenError::Launch(file.sources.clone(), errors))?;
    name_params(&mut plan, &program, (&module, &overrides.folders));
    overrides.apply(&mut file.content);
    let launch = OpenedLaunch {
        content: file.content,
        folder: file.folder,
        module,
        kernel: overrides.kernel.clone(),
        folders: overrides.folders.clone(),
        known: None,
    };
    Ok(Opened { program, plan, made_up: None, empty_sibling: None, notes: Vec::new(), launch: Some(launch) })
}

/// Sets the source names of the kernel's parameters in each launch.
pub(in crate::debug) fn name_params(plan: &mut Plan, program: &Program, (module, folders): (&Path, &[PathBuf])) {
    let mut known = BTreeMap::new();
    for launch in plan.cases.iter_mut().flat_map(|case| &mut case.launches) {
        let names = known.entry(launch.kernel).or_insert_with(|| launch::sibling_files::names(module, program, launch.kernel, folders));
        launch.names.clone_from(names);
    }
}

fn sole_module(request: &Request) -> Result<&Path, OpenError> {
    request.modules.first().map(PathBuf::as_path).ok_or_else(|| OpenError::File("no PTX file is given".to_string()))
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
