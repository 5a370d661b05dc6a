//! From file names, or from an `asm` statement, to a program and a plan of cases, each some launches in order on the same memory.

mod absent;
pub mod asm;
mod driver;
mod give;
mod linked;
pub mod modules;
mod outside;

mod made_up;

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use self::driver::open_driver;
use self::made_up::made_up;
use self::modules::{Chosen, apart, choose, choose_at};
pub use self::modules::{read_text_module, read_text_module_at};
use super::arrays;
use crate::base::{Diagnostic, SourceFile, SourceId, Sources, Span, save};
use crate::container::{self, bundle, pipe};
use crate::launch::file::{Launch, Param};
use crate::launch::foreign::foreign;
use crate::launch::given::{self, Formal, Own};
use crate::launch::nvcc::{self, Compiler};
use crate::launch::variables::{self, Names, VariableFormal};
use crate::launch::{
    self, Basis, Content, Element, Kind, Known, LaunchFile, LaunchFileError, MadeUp, Origin, Overrides, Plan, Reason, Study, ValuePath,
    memory_words, relocate, ron_text, wanted,
};
use crate::program::map::Maps;
use crate::program::{FuncId, Program, is_called};
use crate::sema;

/// The subject of a reason about the kernel.
const KERNEL: &str = "kernel";
/// The subjects of reasons that remain where grid, block and parameters are given.
const LEFT: [&str; 3] = [KERNEL, "cluster", "dynamic shared memory"];
/// Bytes by which a file that holds no PTX is known.
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
    /// The launch file of the launches; none of an `asm` statement.
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
    /// The kernel whose launches alone are run, of a suite.
    pub kernel: Option<String>,
    /// Folders in which the text is looked for that the module was made from.
    pub folders: Vec<PathBuf>,
    /// The given parameters of a launch of which the rest is made up.
    pub known: Option<Known>,
}

impl OpenedLaunch {
    /// The text of the launch file at `path` that says the same.
    pub fn text_at(&self, path: &Path) -> String {
        format!("{}\n", self.in_folder(path.parent().unwrap_or(Path::new(""))).to_text())
    }

    /// The text of an equivalent launch file of the same name as the module.
    pub fn sibling_text(&self) -> String {
        self.text_at(&container::file_of(&self.module).with_extension("ron"))
    }

    /// Writes the launch file that says the same to `path`; returns a line on it.
    ///
    /// # Errors
    /// There is a file of another kind, or it cannot be written, in one line.
    pub fn save(&self, path: &Path) -> Result<String, String> {
        launch::may_replace(path)?;
        let cannot = |error| format!("cannot write {}: {}", path.display(), save::cause(&error));
        save::save(path, &[self.text_at(path).as_bytes()]).map_err(cannot)?;
        Ok(format!("launch written to {}\n", path.display()))
    }

    /// The same as it is said in a launch file in `folder`.
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
    if !bundle::is_file(&sibling) || words_are_of_another_kernel(&sibling, &request.overrides) {
        open_made_up(request)
    } else if says_nothing(&sibling) {
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

/// Reads the module at `path`, of a file or a folder with several the best; CUDA C++ is compiled first.
///
/// # Errors
/// The file cannot be read as text, holds something else than PTX by its name or its first bytes, or cannot be compiled. What is wrong with
/// the text are diagnostics.
pub fn read_module_with(path: &Path, compiler: &Compiler) -> Result<Module, OpenError> {
    read_module_at(path, compiler, &Maps::default())
}

/// The same, with variables and windows where `maps` say.
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

/// Refuses a file that holds something else than PTX by its name or its first bytes.
fn refuse_foreign(path: &Path) -> Result<(), OpenError> {
    foreign(path, &head(path)).map_or(Ok(()), |kind| Err(OpenError::File(kind.message(path))))
}

/// The first bytes of the file at `path`; none of what cannot be read, which is said when all of it is.
fn head(path: &Path) -> Vec<u8> {
    if let Some(kept) = pipe::kept(path) {
        return kept.iter().copied().take(HEAD_BYTES as usize).collect();
    }
    let mut head = Vec::new();
    let file = std::fs::File::open(path).ok().filter(|file| file.metadata().is_ok_and(|metadata| metadata.is_file()));
    let read = file.map(|file| file.take(HEAD_BYTES).read_to_end(&mut head));
    read.filter(Result::is_ok).map_or(Vec::new(), |_| head)
}

/// Whether words give parameters of a kernel that is chosen, and the launch file at `path` is of another one.
fn words_are_of_another_kernel(path: &Path, overrides: &Overrides) -> bool {
    let Some(chosen) = overrides.kernel.as_deref().filter(|_| !overrides.params.is_empty()) else { return false };
    let is_of_another = |file: LaunchFile| {
        let mut kernels = file.launches().into_iter().map(|(_, launch)| launch.kernel.as_deref());
        kernels.all(|kernel| kernel.is_some_and(|kernel| !is_called(kernel, chosen)))
    };
    LaunchFile::read(path).is_ok_and(is_of_another)
}

/// Whether the file at `path` holds white space and comments only, as the shell leaves a file that output is redirected to.
fn says_nothing(path: &Path) -> bool {
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

/// The same with what is worth saying of how the module was chosen.
fn with_choice(mut opened: Opened, Chosen { reasons, problems, .. }: Chosen) -> Opened {
    let unread = problems.into_iter().map(|problem| Reason {
        what: format!("not read: {}", problem.place),
        why: problem.what,
        param: None,
        basis: Basis::Derived,
    });
    let all: Vec<Reason> = reasons.into_iter().chain(unread).collect();
    opened.notes.splice(0..0, all.iter().map(said));
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
    let program = apart(program, &file.occupied());
    let overrides = &with_full_name(overrides, &program);
    change(&mut file, overrides, &program, &module).map_err(|errors| OpenError::Launch(file.sources.clone(), errors))?;
    finish(file, program, module, overrides)
}

/// The same with the full name of the kernel, as launch files name it, where one is meant by the name that the source has for it.
fn with_full_name(overrides: &Overrides, program: &Program) -> Overrides {
    let full = |name: String| match program.kernels_called(&name).as_slice() {
        [sole] => program.functions[sole.index()].name.to_string(),
        // A kernel that does not exist, or one of several, is an error of the launch.
        _ => name,
    };
    let kernel = overrides.kernel.clone().map(full);
    Overrides { kernel, ..overrides.clone() }
}

/// Puts into the launch file what the words of the command line say of parameters, and of what buffers must hold at the end.
fn change(file: &mut LaunchFile, overrides: &Overrides, program: &Arc<Program>, module: &Path) -> Result<(), Vec<Diagnostic>> {
    if overrides.params.is_empty() && overrides.expect.is_empty() {
        return Ok(());
    }
    let sole = sole_launch(file, overrides);
    let found = sole.and_then(|number| {
        let launch = file.launches().get(number)?.1;
        let alone = overrides.kernel.as_deref().filter(|_| matches!(file.content, Content::Launch(_)));
        let kernel = launch::choose_kernel(program, alone.or(launch.kernel.as_deref())).ok()?;
        Some((number, formals_of(program, kernel, (module, &overrides.folders), launch)))
    });
    let named = add_words(&mut file.sources, "--arg", &overrides.params);
    // A kernel that does not exist is an error of the launch, found when that is resolved.
    if let (Some((number, formals)), false) = (&found, named.is_empty()) {
        let (mut words, variables) = (texts(&named, &overrides.params), variables_of(program));
        let memory = file.launches().get(*number).map(|(_, launch)| launch.memory.clone()).unwrap_or_default();
        let given_memory = memory_words::take(&mut words, formals, &memory, Path::new(""))?;
        let names = Names { params: formals, variables: &variables };
        let given = given::read(&words, names, Path::new(""))?;
        let given_variables = variables::read(&words, names, Path::new(""))?;
        give::params(file, *number, given);
        give::memory(file, *number, given_memory);
        give::variables(file, *number, given_variables);
    } else if let (None, Some(word)) = (sole, named.first()) {
        let span = Span::new(*word, 0, overrides.params[0].len() as u32);
        let message = format!("the launch file has {} launches, and a parameter is changed of one alone", file.launches().len());
        return Err(vec![Diagnostic::error("arg", span, message).with_help("choose a kernel that has one launch there: -k NAME")]);
    }
    let (launch, formals) = found.as_ref().map_or((0, &[][..]), |(number, formals)| (*number, formals));
    expect(file, overrides, (launch, formals), program)
}

/// The number of the launch that words are about: the sole one, or the sole one of the kernel that is chosen.
fn sole_launch(file: &LaunchFile, overrides: &Overrides) -> Option<usize> {
    let is_suite = matches!(file.content, Content::Suite(_));
    let wanted = overrides.kernel.as_deref().filter(|_| is_suite);
    let launches = file.launches();
    let mut chosen = launches.iter().enumerate().filter(|(_, (_, launch))| launch.is_of(wanted));
    let sole = chosen.next().map(|(number, _)| number);
    sole.filter(|_| chosen.next().is_none())
}

/// The variables of the module that words can be for; those that nvcc declares by the byte have the types that their accesses show.
pub(in crate::debug) fn variables_of(program: &Program) -> Vec<VariableFormal> {
    let typed = arrays::infer(program).into_iter().filter_map(|(id, known)| match known {
        arrays::Known::Typed(inferred) => Some((id, Element::from_name(inferred.ty.ty.word())?)),
        arrays::Known::Bytes(_) => None,
    });
    variables::formals(program, &typed.collect())
}

/// The parameters of `kernel` under the names of the launch's buffers, of the files beside the module, and of the kernel.
pub(in crate::debug) fn formals_of(
    program: &Program,
    kernel: FuncId,
    (module, folders): (&Path, &[PathBuf]),
    launch: &Launch,
) -> Vec<Formal> {
    // Files beside the module that are damaged are no matter of a launch that is there.
    let known = launch::beside::known(module, program, kernel, folders, &mut Sources::default()).unwrap_or_default();
    let mut formals = Study::new(program, kernel, "", &known).formals();
    for (formal, param) in formals.iter_mut().zip(&launch.params) {
        if let Some(buffer) = param.buffer() {
            formal.names.insert(0, buffer.name.clone());
        }
        formal.own = own_in(param, formal.own);
    }
    formals
}

/// What is known of a parameter that is `param` in a launch: the launch says more than code that gives widths only.
fn own_in(param: &Param, own: Own) -> Own {
    let says_type = |element: &Element| element.kind() != Kind::Bits;
    match (own, param.buffer(), param.scalar()) {
        (Own::Pointer(_) | Own::Moved(_), Some(buffer), _) if says_type(&buffer.elem) => Own::Pointer(Some(buffer.elem)),
        (Own::Scalar(element), _, Some((said, _))) if says_type(&said) && said.bytes() == element.bytes() => Own::Scalar(said),
        (own, _, _) => own,
    }
}

/// A launch with the parameters that words of the command line give; what they do not say is made up.
fn open_made_up(request: &Request) -> Result<Opened, OpenError> {
    sole_module(request)?;
    let overrides = &request.overrides;
    let words = &overrides.params;
    let chosen = choose(&request.modules, overrides.kernel.as_deref(), overrides)?;
    let opened = open_words(chosen.path.clone(), Arc::clone(&chosen.program), words, overrides)?;
    Ok(with_choice(opened, chosen))
}

/// A launch of `program`, the module at `module`, with the parameters that `words` give; what they do not say is made up.
///
/// # Errors
/// There is no such kernel, or a word stands for none of its parameters.
pub fn open_words(module: PathBuf, program: Arc<Program>, words: &[String], overrides: &Overrides) -> Result<Opened, OpenError> {
    let kernel = first_kernel(&program, &module, overrides.kernel.as_deref())?;
    let mut sources = Sources::default();
    let beside = launch::beside::known(&module, &program, kernel, &overrides.folders, &mut sources);
    let beside = beside.map_err(|errors| OpenError::Launch(sources, errors))?;
    let mut known = with_overrides(beside, overrides);
    let has_words = !words.is_empty() || !overrides.expect.is_empty();
    let formals = if has_words { Study::new(&program, kernel, "", &known).formals() } else { Vec::new() };
    let mut sources = Sources::default();
    let whole = sources.add(SourceFile::new("the command line", words.join(" ")));
    let named = add_words(&mut sources, "--arg", words);
    let variables = if words.is_empty() { Vec::new() } else { variables_of(&program) };
    let texts = texts(&named, words);
    let names = Names { params: &formals, variables: &variables };
    let given = given::read(&texts, names, Path::new(""));
    let given = given.map_err(|errors| OpenError::Launch(sources.clone(), errors))?;
    let given_variables = variables::read(&texts, names, Path::new(""));
    known.variables = given_variables.map_err(|errors| OpenError::Launch(sources.clone(), errors))?;
    let sources_of: BTreeMap<usize, SourceId> = given.iter().map(|(index, (_, source))| (*index, *source)).collect();
    let mut origins: Vec<_> = given.iter().map(|(index, (_, source))| (ValuePath::default().param(*index), *source)).collect();
    origins.extend(known.variables.iter().map(|given| (given.place(&ValuePath::default()), given.source)));
    known.params.extend(given.into_iter().map(|(index, (param, _))| (index, param)));
    for (index, buffer) in overrides.expect.iter().filter_map(|word| wanted::output(word, &formals, Path::new(""))) {
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
    let expected = expect(&mut file, overrides, (0, &formals), &program);
    expected.map_err(|errors| OpenError::Launch(file.sources.clone(), errors))?;
    let mut opened = finish(file, program, module, &Overrides { folders: overrides.folders.clone(), ..Overrides::default() })?;
    if is_whole {
        // Grid, block and parameters are given; what is left is said in a line.
        made.reasons.retain(|reason| reason.basis != Basis::Given && LEFT.iter().any(|what| reason.what.starts_with(what)));
    }
    opened.notes = made.reasons.iter().filter(|reason| is_whole || reason.what.starts_with(KERNEL)).map(said).collect();
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
fn said(reason: &Reason) -> String {
    format!("{}: {}", reason.what, reason.why)
}

/// The reason for a kernel that is chosen because it is the first of its module.
fn first_of_several(program: &Program, kernel: FuncId, named: Option<&str>) -> Option<Reason> {
    const NAMED: usize = 8;
    let others: Vec<FuncId> = program.kernels().filter(|other| *other != kernel && named.is_none()).collect();
    let name = |id: &FuncId| program.kernel_word(*id);
    let (last, list) = (others.last()?, others.iter().take(NAMED).map(name).collect::<Vec<_>>().join(", "));
    let more = if others.len() > NAMED { format!(" and {} more", others.len() - NAMED) } else { String::new() };
    let why = format!("the first of the module; others: {list}{more} (-k {})", name(if others.len() == 1 { last } else { &others[0] }));
    Some(Reason { what: format!("{KERNEL} {}", name(&kernel)), why, param: None, basis: Basis::Derived })
}

/// What is known of a launch and contradicts itself; `place` is where the parameter of an index is given.
pub(in crate::debug) fn contradictions(program: &Program, kernel: FuncId, known: &Known, place: impl Fn(usize) -> Span) -> Vec<Diagnostic> {
    let found = Study::new(program, kernel, "", known).contradictions();
    found.into_iter().map(|(index, message, help)| Diagnostic::error("arg", place(index), message).with_help(help)).collect()
}

/// A launch of `kernel` with all that is known of it, and with what follows from the arrays that are.
pub(in crate::debug) fn made_up_with(program: &Arc<Program>, kernel: FuncId, known: &mut Known) -> MadeUp {
    let arrays = given::arrays(known.params.values(), Path::new(""));
    (known.row, known.length) = (given::row(&arrays), given::length(&arrays));
    (known.extents, known.totals) = (given::extents(&arrays), given::totals(&arrays));
    made_up(program, kernel, "", known)
}

/// Puts what the command line expects of buffers into `file`.
fn expect(
    file: &mut LaunchFile,
    overrides: &Overrides,
    (launch, formals): (usize, &[Formal]),
    program: &Program,
) -> Result<(), Vec<Diagnostic>> {
    let named = add_words(&mut file.sources, "--expect", &overrides.expect);
    let variables = if named.is_empty() { Vec::new() } else { variables_of(program) };
    let params = wanted::Named { launch, formals, variables: &variables, folder: Path::new("") };
    wanted::expect(file, &texts(&named, &overrides.expect), overrides.tolerance, params)
}

/// Each word as a source that is called after `option`.
fn add_words(sources: &mut Sources, option: &str, words: &[String]) -> Vec<SourceId> {
    let named = |(index, word): (usize, &String)| SourceFile::new(format!("{option} {}", index + 1), word.as_str());
    words.iter().enumerate().map(|word| sources.add(named(word))).collect()
}

fn texts<'a>(named: &[SourceId], words: &'a [String]) -> Vec<(SourceId, &'a str)> {
    named.iter().copied().zip(words.iter().map(String::as_str)).collect()
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

/// Gives each launch the names that the source has for its kernel's parameters.
pub(in crate::debug) fn name_params(plan: &mut Plan, program: &Program, (module, folders): (&Path, &[PathBuf])) {
    let mut known = BTreeMap::new();
    for launch in plan.cases.iter_mut().flat_map(|case| &mut case.launches) {
        let names = known.entry(launch.kernel).or_insert_with(|| launch::beside::names(module, program, launch.kernel, folders));
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
