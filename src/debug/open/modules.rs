//! Finds the modules of a path (a PTX text, a program, a library or a cache) and chooses the one with the wanted kernel.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::linked::{self, Linked};
use super::{KERNEL, Module, OpenError, absent, read_module_at};
use crate::base::{SourceId, Sources, counted};
use crate::container::bundle::{is_file, is_inside, launch_of};
use crate::container::{self, Outline, outline};
use crate::launch::Overrides;
use crate::launch::nvcc::{self, Compiler};
use crate::launch::{Basis, Reason};
use crate::program::map::Maps;
use crate::program::{Program, is_called, qualified_name};
use crate::sema;

pub use crate::container::{Kernel, Param, Problem};
pub use crate::program::demangled;

/// The newest architecture that is modelled completely: some instructions of later ones are recognized by name only.
const NEWEST_COMPLETE: u32 = 90;
/// Most names that a message lists.
const NAMED_MAX: usize = 12;

/// The options for reading a file: the compiler, and the architecture.
#[derive(Clone, Copy, Debug)]
pub struct Reading<'a> {
    /// The compiler of CUDA C++.
    pub compiler: &'a Compiler,
    /// The requested architecture, `sm_90`; none for the best one.
    pub arch: Option<&'a str>,
}

/// A file with its modules.
#[derive(Debug)]
pub struct ListedFile {
    /// The path as given, or as found in a folder.
    pub path: PathBuf,
    /// Its kind, with an article.
    pub what: &'static str,
    /// Its modules for the requested architecture, in order.
    pub modules: Vec<ListedModule>,
    /// Number of cubins in it.
    pub cubins: usize,
    /// The parts of it that cannot be read.
    pub problems: Vec<Problem>,
    /// The path of its launch file, which may not exist.
    pub launch_file: PathBuf,
    /// True if that launch file exists.
    pub has_launch_file: bool,
}

impl ListedFile {
    fn new(path: &Path, what: &'static str) -> Self {
        let launch_file = match is_inside(path) {
            // A bundle contains its launch file.
            true => launch_of(path.parent().unwrap_or(Path::new(""))),
            false => container::file_of(path).with_extension("ron"),
        };
        let has_launch_file = is_file(&launch_file);
        let (modules, problems) = (Vec::new(), Vec::new());
        Self { path: path.to_path_buf(), what, modules, cubins: 0, problems, launch_file, has_launch_file }
    }
}

/// A module as described by its directives, without its code.
#[derive(Debug)]
pub struct ListedModule {
    /// The path that denotes this module only.
    pub path: PathBuf,
    /// Its name in its file.
    pub name: String,
    /// The archive member that contains it.
    pub member: Option<String>,
    /// The source file that it was compiled from, if recorded.
    pub source: Option<String>,
    /// The compression or encoding; none for a PTX file.
    pub packing: Option<&'static str>,
    /// Its version, target and kernels.
    pub outline: Outline,
}

/// A module with its text.
pub(super) struct ModuleText {
    pub(super) module: ListedModule,
    pub(super) text: String,
}

/// The files that `path` denotes: itself, or those in the folder.
fn files(path: &Path) -> Result<Vec<PathBuf>, OpenError> {
    if !path.is_dir() {
        return Ok(vec![path.to_path_buf()]);
    }
    let files = container::files(path).map_err(OpenError::File)?;
    if files.is_empty() {
        let help =
            "Triton keeps it in ~/.triton/cache, Inductor where TORCHINDUCTOR_CACHE_DIR says; a cache of machine code alone has none";
        return Err(OpenError::File(format!("{} is a folder without PTX: no .ptx, .cubin or .fatbin is in it; {help}", path.display())));
    }
    Ok(files)
}

/// Calls `visit` for each module of the file at `path`, except those for other architectures.
pub(super) fn visit_file(path: &Path, reading: Reading<'_>, mut visit: impl FnMut(ModuleText)) -> Result<ListedFile, OpenError> {
    let (file, wanted) = container::split(path).map_or((path, None), |(file, name)| (file, Some(name)));
    let mut listed = ListedFile::new(path, "PTX");
    let opened = if nvcc::is_cuda(file) { None } else { container::open(file).map_err(|problem| OpenError::File(problem.to_string()))? };
    // `FILE/NAME` also denotes a file that is a single module if NAME is the file's own name.
    let is_own_name = |name: &str| file.file_name().is_some_and(|own| own == name);
    let Some(mut container) = opened else {
        let path = if wanted.is_some_and(is_own_name) { file } else { path };
        let text = text_of(path, reading.compiler)?;
        let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let module = ListedModule { path: path.to_path_buf(), name, member: None, source: None, packing: None, outline: outline(&text) };
        if is_for(&module.outline.target, reading.arch) {
            visit(ModuleText { module, text });
        }
        return Ok(listed);
    };
    (listed.what, listed.cubins) = (container.what(), container.cubins());
    listed.problems = container.problems().to_vec();
    if container.modules().is_empty() && listed.problems.is_empty() {
        return Err(OpenError::File(absent::without_ptx(path, &container)));
    }
    let wanted = wanted.filter(|name| !(container.modules().len() == 1 && is_own_name(name)));
    let mut is_there = wanted.is_none();
    for index in 0..container.modules().len() {
        let module = container.modules()[index].clone();
        let is_wanted = wanted.is_none_or(|wanted| wanted == module.name);
        is_there |= is_wanted;
        if !is_wanted || !module.target.is_empty() && !is_for(&module.target, reading.arch) {
            continue;
        }
        match container.text(index) {
            Ok(text) => {
                let (path, packing) = (container.module_path(index), Some(module.packing.name()));
                let container::Module { name, member, source, .. } = module;
                visit(ModuleText { module: ListedModule { path, name, member, source, packing, outline: outline(&text) }, text });
            }
            Err(problem) => listed.problems.push(problem),
        }
    }
    if let (false, Some(wanted)) = (is_there, wanted) {
        return Err(OpenError::File(format!("{} has no module {wanted}: ptxdbg --list {0} names them", file.display())));
    }
    Ok(listed)
}

/// The text of a file that is PTX, or CUDA C++.
fn text_of(path: &Path, compiler: &Compiler) -> Result<String, OpenError> {
    if nvcc::is_cuda(path) {
        return nvcc::compile(path, compiler).map_err(OpenError::File);
    }
    super::refuse_foreign(path)?;
    sema::read_file(path).map_err(|error| OpenError::File(absent::unreadable(path, &error)))
}

/// True if `target` is the architecture `wanted` or a variant of it (`sm_90a` of `sm_90`).
fn is_for(target: &str, wanted: Option<&str>) -> bool {
    wanted.is_none_or(|wanted| target == wanted || target.trim_end_matches(['a', 'f']) == wanted)
}

/// Sort key of a target, greater is better: the newest completely modelled one, otherwise the oldest later one.
fn rank(target: &str) -> (bool, i64, bool) {
    let number = number_of(target);
    let is_complete = number <= NEWEST_COMPLETE;
    (is_complete, if is_complete { i64::from(number) } else { -i64::from(number) }, target.ends_with(['a', 'f']))
}

/// The distinct targets, sorted by number.
fn distinct_targets<'a>(targets: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let targets: BTreeSet<(u32, &str)> = targets.map(|target| (number_of(target), target)).collect();
    targets.into_iter().map(|(_, target)| target).collect()
}

/// 90 of `sm_90a`; 0 of what is no target.
fn number_of(target: &str) -> u32 {
    target.trim_start_matches("sm_").trim_end_matches(['a', 'f']).parse().unwrap_or(0)
}

/// Lists the modules of `paths` without reading their code.
///
/// # Errors
/// A file cannot be read at all, or there is no module for the requested architecture.
pub fn list(paths: &[PathBuf], reading: Reading<'_>) -> Result<Vec<ListedFile>, OpenError> {
    let mut listed = Vec::new();
    for path in paths {
        for file in files(path)? {
            let (mut modules, mut wrong) = (Vec::new(), None);
            let found = visit_file(&file, reading, |part| {
                // Compiled text and text from a container are PTX.
                if part.module.packing.is_none() && !nvcc::is_cuda(&file) {
                    wrong = absent::check_is_ptx(&file, &part.text).err();
                }
                modules.push(part.module);
            });
            match found.and_then(|found| wrong.map_or(Ok(found), |wrong| Err(OpenError::File(wrong)))) {
                Ok(found) => listed.push(ListedFile { modules, ..found }),
                // A cache may also contain files of machine code.
                Err(OpenError::File(why)) if path.is_dir() => {
                    let problems = vec![Problem::new(file.display().to_string(), why)];
                    listed.push(ListedFile { modules, problems, ..ListedFile::new(&file, "a file") });
                }
                Err(error) => return Err(error),
            }
        }
    }
    if let (Some(arch), true) = (reading.arch, listed.iter().all(|file| file.modules.is_empty() && file.problems.is_empty())) {
        return Err(no_module_for(paths, arch, reading));
    }
    Ok(listed)
}

/// The error that there is no module for `arch`.
fn no_module_for(paths: &[PathBuf], arch: &str, reading: Reading<'_>) -> OpenError {
    let all = list(paths, Reading { arch: None, ..reading }).unwrap_or_default();
    let targets = distinct_targets(all.iter().flat_map(|file| &file.modules).map(|module| module.outline.target.as_str()));
    let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    OpenError::File(format!("{} has no PTX for {arch}: there is {}", names.join(", "), targets.join(", ")))
}

/// Reads all modules of the file or the folder at `path`.
///
/// # Errors
/// A file cannot be used at all. Errors in a module are its diagnostics.
pub fn read_all(path: &Path, reading: Reading<'_>) -> Result<(Vec<Module>, Vec<Problem>), OpenError> {
    let (mut modules, mut problems) = (Vec::new(), Vec::new());
    for file in files(path)? {
        let text = |part: ModuleText| vec![(part.module.path.display().to_string(), part.text)];
        let found = visit_file(&file, reading, |part| modules.push(load_linked(text(part), &Maps::default())));
        problems.extend(found?.problems);
    }
    match reading.arch {
        Some(arch) if modules.is_empty() && problems.is_empty() => Err(no_module_for(&[path.to_path_buf()], arch, reading)),
        Some(_) | None => Ok((modules, problems)),
    }
}

/// Reads PTX from memory; messages call it `name`.
pub fn read_text_module(name: &Path, text: String) -> Module {
    read_text_module_at(name, text, &Maps::default())
}

/// Like [`read_text_module`], with the address maps `maps` for variables and windows.
pub fn read_text_module_at(name: &Path, text: String, maps: &Maps) -> Module {
    load_linked(vec![(name.display().to_string(), text)], maps)
}

/// `program` with its variables and windows moved out of the `occupied` address ranges.
pub fn relocated(program: Arc<Program>, occupied: &[Range<u64>]) -> Arc<Program> {
    let maps = Maps::avoiding(occupied);
    if maps.of_width(program.address_bits) == program.map {
        return program;
    }
    let text = |module: &SourceId| {
        let file = program.sources_text.file(*module);
        (file.name().to_string(), file.text().to_string())
    };
    let (moved, _) = sema::load_linked(&mut Sources::default(), program.modules.iter().map(text).collect(), &maps);
    // If there is not enough free space for all of it, the overlap is reported as an error of the launch.
    moved.unwrap_or(program)
}

/// Reads the modules at `paths` and links them; CUDA C++ is compiled first.
///
/// # Errors
/// A file that is not text, is not PTX, or cannot be compiled. Errors in a text are diagnostics of the module.
pub fn read_linked(paths: &[PathBuf], compiler: &Compiler, maps: &Maps) -> Result<Module, OpenError> {
    let mut texts = Vec::new();
    for path in paths {
        let mut parts = Vec::new();
        let listed = visit_file(path, Reading { compiler, arch: None }, |part| parts.push(part))?;
        let part = sole_part(path, parts, &listed)?;
        texts.push((part.module.path.display().to_string(), part.text));
    }
    Ok(load_linked(texts, maps))
}

/// The only module of a file.
fn sole_part(path: &Path, parts: Vec<ModuleText>, listed: &ListedFile) -> Result<ModuleText, OpenError> {
    let count = parts.len();
    let first = parts.first().map(|part| part.module.path.display().to_string()).unwrap_or_default();
    match (<[ModuleText; 1]>::try_from(parts), listed.problems.first()) {
        (Ok([part]), _) => Ok(part),
        (Err(_), Some(problem)) if count == 0 => Err(OpenError::File(problem.to_string())),
        (Err(_), _) => Err(OpenError::File(format!(
            "{} has {}, and one is linked: name it, such as {first}",
            path.display(),
            counted(count as u64, "module")
        ))),
    }
}

/// Loads texts, each with its name, as one module; several are linked.
pub fn load_linked(texts: Vec<(String, String)>, maps: &Maps) -> Module {
    let mut sources = Sources::default();
    let (program, diagnostics) = sema::load_linked(&mut sources, texts, maps);
    Module { program, sources, diagnostics }
}

/// The module that was chosen, and the reasons for the choice.
pub struct Chosen {
    /// The path that denotes this module only.
    pub path: PathBuf,
    /// The module.
    pub program: Arc<Program>,
    /// The choices that no argument made.
    pub reasons: Vec<Reason>,
    /// The other files that cannot be read.
    pub problems: Vec<Problem>,
}

/// Chooses the first of `paths` that contains `kernel`, and among several modules of a file or a folder the one for the best
/// architecture; the first path if none contains it or no kernel is named.
///
/// # Errors
/// A file cannot be used, a module has errors, or several kernels have that name.
pub fn choose(paths: &[PathBuf], kernel: Option<&str>, overrides: &Overrides) -> Result<Chosen, OpenError> {
    choose_at(paths, kernel, overrides, &Maps::default())
}

/// Like [`choose`], with the address maps `maps` for variables and windows.
///
/// # Errors
/// As those of [`choose`].
pub fn choose_at(paths: &[PathBuf], kernel: Option<&str>, overrides: &Overrides, maps: &Maps) -> Result<Chosen, OpenError> {
    let reading = Reading { compiler: &overrides.compiler, arch: overrides.arch.as_deref() };
    let mut first = None;
    for path in paths {
        let is_text = reading.arch.is_none() && !has_several(path)?;
        let found = if is_text { read_one(path, kernel, reading.compiler, maps)? } else { search(path, kernel, reading, maps)? };
        match found {
            (chosen, true) => return Ok(chosen),
            (chosen, false) => {
                first.get_or_insert(chosen);
            }
        }
    }
    first.ok_or_else(|| OpenError::File("no PTX file is given".to_string()))
}

/// True if `path` is a folder, or a file that may contain several modules.
///
/// # Errors
/// It cannot be read.
pub fn has_several(path: &Path) -> Result<bool, OpenError> {
    if path.is_dir() || container::split(path).is_some() {
        return Ok(true);
    }
    if nvcc::is_cuda(path) {
        return Ok(false);
    }
    let opened = container::open(path).map_err(|problem| OpenError::File(problem.to_string()))?;
    Ok(opened.is_some())
}

/// The module at `path`, and true if it contains `kernel`.
fn read_one(path: &Path, kernel: Option<&str>, compiler: &Compiler, maps: &Maps) -> Result<(Chosen, bool), OpenError> {
    let module = read_module_at(path, compiler, maps)?;
    let Some(program) = module.program.clone() else { return Err(OpenError::Module(module)) };
    let holds = kernel.is_none_or(|kernel| program.function(kernel).is_some() || !program.kernels_called(kernel).is_empty());
    Ok((Chosen { path: path.to_path_buf(), program, reasons: Vec::new(), problems: Vec::new() }, holds))
}

/// The search for a kernel among modules.
#[derive(Default)]
struct Search {
    /// The best module so far, and true if it contains the kernel.
    best: Option<(bool, ModuleText)>,
    /// The kernels that match the name, with the targets of their modules.
    matching: BTreeMap<String, BTreeSet<String>>,
    /// The source names of all kernels.
    kernels: BTreeSet<String>,
    /// The targets of the modules that contain the kernel.
    holding: Vec<String>,
    problems: Vec<Problem>,
}

impl Search {
    fn add(&mut self, part: ModuleText, kernel: Option<&str>) {
        let outline = &part.module.outline;
        for found in &outline.kernels {
            self.kernels.insert(source_name(found));
        }
        let meant: Vec<&Kernel> = outline.kernels.iter().filter(|found| kernel.is_none_or(|name| is_called(&found.name, name))).collect();
        let holds = !meant.is_empty();
        for found in meant.iter().filter(|_| kernel.is_some()) {
            self.matching.entry(found.name.clone()).or_default().insert(outline.target.clone());
        }
        if holds && kernel.is_some() {
            self.holding.push(outline.target.clone());
        }
        let is_exact = |outline: &Outline| outline.kernels.iter().any(|found| Some(found.name.as_str()) == kernel);
        let value = |holds: bool, outline: &Outline| (holds, is_exact(outline), !outline.kernels.is_empty(), rank(&outline.target));
        let is_better = self.best.as_ref().is_none_or(|(held, best)| value(holds, outline) > value(*held, &best.module.outline));
        if is_better {
            self.best = Some((holds, part));
        }
    }
}

fn source_name(kernel: &Kernel) -> String {
    qualified_name(&kernel.name).unwrap_or_else(|| kernel.name.clone())
}

/// The module of the file or the folder at `path` that contains `kernel`, for the best architecture, and true if it contains it.
fn search(path: &Path, kernel: Option<&str>, reading: Reading<'_>, maps: &Maps) -> Result<(Chosen, bool), OpenError> {
    let mut search = Search::default();
    let mut modules = 0;
    for file in files(path)? {
        let visit = |part| {
            modules += 1;
            search.add(part, kernel);
        };
        match visit_file(&file, reading, visit) {
            Ok(listed) => search.problems.extend(listed.problems),
            Err(OpenError::File(why)) if path.is_dir() => search.problems.push(Problem::new(file.display().to_string(), why)),
            Err(error) => return Err(error),
        }
    }
    let Search { best, matching, kernels, holding, problems } = search;
    let said = || problems.iter().map(|problem| format!("\n{problem}")).collect::<String>();
    let Some((holds, part)) = best else {
        return Err(match reading.arch {
            Some(arch) if problems.is_empty() => no_module_for(&[path.to_path_buf()], arch, reading),
            Some(_) | None => OpenError::File(format!("{} has no PTX that can be read{}", path.display(), said())),
        });
    };
    if kernels.is_empty() {
        return Err(OpenError::File(format!("{} has {} without a kernel{}", path.display(), counted(modules, "module"), said())));
    }
    if let Some(name) = kernel.filter(|name| !holds || matching.len() > 1 && !matching.contains_key(*name)) {
        return Err(OpenError::File(format!("{}: {}{}", path.display(), wrong_name(name, &matching, &kernels), said())));
    }
    let Linked { texts, mut reasons } = linked::with_dependencies(part.text, &part.module, reading)?;
    let module = part.module;
    let read = load_linked(texts, maps);
    let Some(program) = read.program.clone() else { return Err(OpenError::Module(read)) };
    if modules > 1 {
        let target = &module.outline.target;
        // A cache has one module of a kernel for each configuration.
        let again = match holding.iter().filter(|other| *other == target).count() {
            0 | 1 => String::new(),
            count => format!(", and the first of {count} that hold the kernel for it"),
        };
        let why = format!("for {target}, the best of {}{again} (--arch, --list)", counted(modules, "module"));
        let what = format!("{KERNEL}s of {}", if path.is_dir() { module.path.display().to_string() } else { module.name.clone() });
        reasons.insert(0, Reason { what, why, param: None, basis: Basis::Derived });
    }
    Ok((Chosen { path: module.path, program, reasons, problems }, true))
}

/// `there is no kernel 'x'; there are a, b`, or `2 kernels are called 'x': a, b`
fn wrong_name(name: &str, matching: &BTreeMap<String, BTreeSet<String>>, kernels: &BTreeSet<String>) -> String {
    let list = |names: Vec<String>| {
        let more = if names.len() > NAMED_MAX { format!(" and {} more (--list)", names.len() - NAMED_MAX) } else { String::new() };
        format!("{}{more}", names[..names.len().min(NAMED_MAX)].join(", "))
    };
    if matching.is_empty() {
        return format!("there is no kernel '{name}'; there are {}", list(kernels.iter().cloned().collect()));
    }
    let full = |mangled: &String| demangled(mangled).unwrap_or_else(|| mangled.clone());
    format!("{} kernels are called '{name}': {}", matching.len(), list(matching.keys().map(full).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_target_that_is_modelled_whole_is_the_best() {
        let mut targets = ["sm_120", "sm_52", "sm_90a", "sm_100", "sm_80", "sm_90", "sm_100a", ""];
        targets.sort_by_key(|target| rank(target));
        assert_eq!(targets, ["sm_120", "sm_100", "sm_100a", "", "sm_52", "sm_80", "sm_90", "sm_90a"]);
    }

    #[test]
    fn targets_are_in_order_of_their_numbers() {
        let targets = ["sm_120", "sm_90a", "sm_100", "sm_90", "sm_100", "sm_75"];
        assert_eq!(distinct_targets(targets.into_iter()), ["sm_75", "sm_90", "sm_90a", "sm_100", "sm_120"]);
    }

    #[test]
    fn a_wanted_architecture_means_its_variants_too() {
        assert!(is_for("sm_90a", Some("sm_90")) && is_for("sm_90", Some("sm_90")) && is_for("sm_90", None));
        assert!(!is_for("sm_90", Some("sm_90a")) && !is_for("sm_80", Some("sm_90")));
    }
}
