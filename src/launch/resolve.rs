//! Launch file + program → plan. All mistakes of a launch file beyond its syntax are found here, at once, before anything runs; each
//! has its span in the text.

mod blocks;
mod buffer;
mod ignored;
mod image;
mod memory;
mod param;
mod tensor_map;
mod variable;

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::block_list::{BlockRange, blocks_of};
use super::bounds::{self, Shape};
use super::data::DataFiles;
use super::expect_args::ToleranceArgs;
use super::file::{Content, Init, Launch, Parts};
use super::nvcc::Compiler;
use super::plan::{Case, Plan, PlannedBuffer, PlannedImage, PlannedLaunch};
use super::read::{LaunchFile, Origin};
use super::value_path::ValuePath;
use crate::base::{Diagnostic, file_name};
use crate::program::{FuncId, Function, Program, demangled, shown_name};

/// Values of the command line that override the launch file.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// The kernel; selects the launches of a suite.
    pub kernel: Option<String>,
    /// The architecture of the module that is chosen from a file with several: `sm_90`.
    pub arch: Option<String>,
    /// Blocks in x, y and z.
    pub grid: Option<[u32; 3]>,
    /// Threads of a block in x, y and z.
    pub block: Option<[u32; 3]>,
    /// Blocks of a cluster in x, y and z.
    pub cluster: Option<[u32; 3]>,
    /// The blocks that run; empty if the launch file decides.
    pub blocks: Vec<BlockRange>,
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: Option<u32>,
    /// Arguments for parameters: `n=40`, `@x.npy`.
    pub params: Vec<String>,
    /// Arguments with expected contents of buffers: `out=@y.npy`.
    pub expect: Vec<String>,
    /// The tolerance of these.
    pub tolerance: ToleranceArgs,
    /// Folders in which the source of a module is looked for.
    pub folders: Vec<PathBuf>,
    /// The compiler of CUDA C++.
    pub compiler: Compiler,
}

impl Overrides {
    /// Overrides grids, blocks, clusters, dynamic shared memory and the blocks that run in `content`. Blocks outside of the grid, which are
    /// an error of the plan, are left out.
    pub fn apply(&self, content: &mut Content) {
        let triple = |[x, y, z]: [u32; 3]| (x, y, z);
        for launch in content.launches_mut() {
            launch.grid = self.grid.map_or(launch.grid, triple);
            launch.block = self.block.map_or(launch.block, triple);
            launch.cluster = self.cluster.map(triple).or(launch.cluster);
            launch.dynamic_shared = self.dynamic_shared.unwrap_or(launch.dynamic_shared);
            if !self.blocks.is_empty() {
                let (x, y, z) = launch.grid;
                let blocks = blocks_of(&self.blocks, [x, y, z]).unwrap_or_default();
                launch.blocks = Some(blocks.into_iter().map(|[x, y, z]| (x, y, z)).collect());
            }
        }
    }
}

/// Resolves `file` for `program`, whose module is called `module` in messages.
///
/// # Errors
/// All mistakes, in the order of the text.
pub fn plan(file: &LaunchFile, program: &Program, module: &str, overrides: &Overrides) -> Result<Plan, Vec<Diagnostic>> {
    let mut resolver = Resolver { file, program, overrides, files: DataFiles::default(), errors: Vec::new() };
    if file.module().is_some() && !file.modules().is_empty() {
        resolver.error(&ValuePath::default().field("modules"), "a launch file has either 'module' or 'modules'");
    }
    let cases = match &file.content {
        Content::Sequence(list) => vec![resolver.sequence(module, &file.launches(), list.printed.as_ref())],
        Content::Launch(_) | Content::Suite(_) => resolver.suite(&file.launches()),
    };
    if resolver.errors.is_empty() { Ok(Plan { cases }) } else { Err(resolver.errors) }
}

struct Resolver<'a> {
    file: &'a LaunchFile,
    program: &'a Program,
    overrides: &'a Overrides,
    files: DataFiles,
    errors: Vec<Diagnostic>,
}

/// The buffers of one case that are defined so far.
#[derive(Default)]
struct Scope {
    buffers: Vec<PlannedBuffer>,
    by_name: BTreeMap<String, usize>,
    places: Vec<ValuePath>,
    /// Textures, samplers and surfaces whose handles are in structures, memory and variables, which later launches can use as well.
    images: Vec<PlannedImage>,
    /// Values inside buffers that are resolved when all buffers of the launch are known.
    unresolved: Vec<UnresolvedParts>,
}

/// Values inside a buffer, as the launch file has them.
struct UnresolvedParts {
    buffer: usize,
    place: ValuePath,
    parts: Parts,
}

impl Resolver<'_> {
    fn error(&mut self, place: &ValuePath, message: impl Into<String>) {
        self.errors.push(Diagnostic::error("launch", self.file.span(place), message));
    }

    fn error_with_help(&mut self, place: &ValuePath, message: impl Into<String>, help: impl Into<String>) {
        self.errors.push(Diagnostic::error("launch", self.file.span(place), message).with_help(help));
    }

    /// One case for each launch, or for each launch of the kernel that the command line names.
    fn suite(&mut self, launches: &[(ValuePath, &Launch)]) -> Vec<Case> {
        if launches.is_empty() {
            self.error(&ValuePath::default().field("launches"), "there is no launch");
        }
        let is_single = matches!(self.file.content, Content::Launch(_));
        let kernel = self.overrides.kernel.as_deref().filter(|_| !is_single);
        let is_chosen = |launch: &Launch| launch.is_of(kernel);
        if let Some(kernel) = kernel.filter(|_| !launches.iter().any(|(_, launch)| is_chosen(launch))) {
            self.error(&ValuePath::default(), format!("no launch here is of kernel '{}'", shown_name(kernel)));
        }
        let printed = match &self.file.content {
            Content::Suite(list) => list.printed.as_ref(),
            _ => None,
        };
        if printed.is_some() {
            self.error(&ValuePath::default().field("printed"), "the launches of a Suite are independent: say what each one prints in it");
        }
        let names = case_names(launches);
        let chosen = launches.iter().zip(names).filter(|((_, launch), _)| is_chosen(launch));
        chosen.map(|((place, launch), name)| self.case(name, &[(place.clone(), launch)], launch.printed.as_ref(), place)).collect()
    }

    fn sequence(&mut self, module: &str, launches: &[(ValuePath, &Launch)], printed: Option<&Init>) -> Case {
        let whole = ValuePath::default();
        if launches.is_empty() {
            self.error(&whole.field("launches"), "there is no launch");
        }
        let kernel = self.overrides.kernel.as_deref();
        let begin = launches.iter().position(|(_, launch)| launch.is_of(kernel));
        if let Some(kernel) = kernel.filter(|_| begin.is_none() && !launches.is_empty()) {
            self.error(&whole, format!("no launch here is of kernel '{}'", shown_name(kernel)));
        }
        for (place, launch) in launches {
            if launch.printed.is_some() {
                self.error(&place.field("printed"), "what a Sequence prints is compared as a whole: say it beside 'launches'");
            }
        }
        let name = file_name(module);
        let name = name.strip_suffix(".ptx").unwrap_or(name).to_string();
        Case { begin: begin.unwrap_or(0), ..self.case(name, launches, printed, &whole) }
    }

    fn case(&mut self, name: String, launches: &[(ValuePath, &Launch)], printed: Option<&Init>, place: &ValuePath) -> Case {
        let mut scope = Scope::default();
        let mut planned = Vec::new();
        for (index, (place, launch)) in launches.iter().enumerate() {
            planned.extend(self.launch(index, place, launch, &mut scope));
        }
        self.check_total(&scope);
        let printed = printed.and_then(|printed| self.printed(&place.field("printed"), printed));
        let name = partial_name(name, &planned);
        let tolerance_of_bytes = self.overrides.tolerance.tolerance().unwrap_or_default();
        Case { name, launches: planned, buffers: scope.buffers, tolerance_of_bytes, printed, begin: 0 }
    }

    fn launch(&mut self, index: usize, place: &ValuePath, launch: &Launch, scope: &mut Scope) -> Option<PlannedLaunch> {
        if !launch.modules.is_empty() && !matches!(self.file.content, Content::Launch(_)) {
            self.error(&place.field("modules"), "the modules are the same for all launches: name them beside 'launches'");
        }
        if launch.module.is_some() && !matches!(self.file.content, Content::Launch(_)) {
            self.error(&place.field("module"), "the module is the same for all launches: name it beside 'launches'");
        }
        let kernel = self.kernel(place, launch)?;
        let function = &self.program.functions[kernel.index()];
        let shape = self.shape(place, launch, function);
        let mut images = Vec::new();
        self.memory(index, place, launch, scope);
        let params = self.params(index, place, launch, function, scope, &mut images);
        images.extend(self.bound_images(index, place, launch, scope));
        images.extend(self.images_of_handles(index, place, launch, scope));
        let variables = self.variables(index, place, launch, scope);
        let variable_types = self.variable_types(place, launch);
        self.expected_variables(index, place, launch, scope);
        self.resolve_parts(index, scope);
        images.extend(scope.images.iter().cloned());
        self.ignored(place, launch, scope);
        Some(PlannedLaunch {
            kernel,
            grid: shape.grid,
            block: shape.block,
            blocks: self.blocks(place, launch, &shape),
            cluster: shape.cluster,
            dynamic_shared: shape.dynamic_shared,
            cooperative: launch.cooperative,
            params,
            images,
            variables,
            variable_types,
            param_size: function.param_bytes,
            bounds: bounds::violation(function, &shape),
            findings: launch.findings.clone(),
            names: BTreeMap::new(),
            is_from_args: matches!(self.file.origin, Origin::Arguments(_)),
            reasons: Vec::new(),
        })
    }

    /// The kernel that the launch names, or the sole one of the module.
    fn kernel(&mut self, place: &ValuePath, launch: &Launch) -> Option<FuncId> {
        let is_single = matches!(self.file.content, Content::Launch(_));
        let name = self.overrides.kernel.as_ref().filter(|_| is_single).or(launch.kernel.as_ref());
        match choose_kernel(self.program, name.map(String::as_str)) {
            Ok(kernel) => Some(kernel),
            Err((message, help)) => {
                self.error_with_help(&place.field("kernel"), message, help);
                None
            }
        }
    }

    fn shape(&mut self, place: &ValuePath, launch: &Launch, function: &Function) -> Shape {
        let triple = |(x, y, z)| [x, y, z];
        let required = function.limits.required_cluster;
        let cluster = self.overrides.cluster.or(launch.cluster.map(triple)).or(required).unwrap_or([1; 3]);
        let grid = self.overrides.grid.unwrap_or(triple(launch.grid));
        let block = self.overrides.block.unwrap_or(triple(launch.block));
        for (field, extents) in [("grid", grid), ("block", block), ("cluster", cluster)] {
            if extents.contains(&0) {
                self.error(&place.field(field), format!("no extent of the {field} can be 0"));
            }
        }
        let dynamic_shared = self.overrides.dynamic_shared.unwrap_or(launch.dynamic_shared);
        let at_least_one = |extents: [u32; 3]| extents.map(|extent| extent.max(1));
        Shape {
            grid: at_least_one(grid),
            block: at_least_one(block),
            cluster: at_least_one(cluster),
            dynamic_shared,
            cooperative: launch.cooperative,
        }
    }
}

/// The name of a case, with the number of blocks that run if not all do.
fn partial_name(name: String, launches: &[PlannedLaunch]) -> String {
    let run = |launch: &PlannedLaunch| if launch.blocks.is_empty() { launch.block_count() } else { launch.blocks.len() as u64 };
    if launches.iter().all(|launch| launch.blocks.is_empty()) {
        return name;
    }
    let (run, all) = (launches.iter().map(run).sum::<u64>(), launches.iter().map(PlannedLaunch::block_count).sum::<u64>());
    format!("{name}, only {run} of {all} blocks")
}

/// The kernel called `name`, mangled or as in the source, or the sole one.
///
/// # Errors
/// The mistake, and a fix.
pub fn choose_kernel(program: &Program, name: Option<&str>) -> Result<FuncId, (String, String)> {
    let kernels: Vec<FuncId> = program.kernels().collect();
    let names: Vec<String> = kernels.iter().map(|id| as_in_source(program, *id)).collect();
    let list = match names.len() {
        0 => "the module has no kernel".to_string(),
        count if count > 12 => format!("the module has {count} kernels, among them {}", names[..12].join(", ")),
        _ => format!("the module has {}", names.join(", ")),
    };
    match (name, kernels.as_slice()) {
        (Some(name), _) => match program.function(name) {
            Some(id) if !program.functions[id.index()].is_kernel => Err((format!("'{name}' is a function, not a kernel"), list)),
            Some(id) if program.functions[id.index()].code.is_empty() => Err((format!("kernel '{name}' has no body"), list)),
            Some(id) => Ok(id),
            None => choose_by_plain_name(program, name, list),
        },
        (None, [sole]) => Ok(*sole),
        (None, []) => Err((list, "a kernel is declared with .entry".to_string())),
        (None, _) => Err(("several kernels and none chosen".to_string(), list)),
    }
}

/// The demangled name of a kernel.
fn as_in_source(program: &Program, kernel: FuncId) -> String {
    let name = &program.functions[kernel.index()].name;
    demangled(name).unwrap_or_else(|| name.to_string())
}

/// The one kernel that the source calls `name`; `list` is a sentence with all kernels.
fn choose_by_plain_name(program: &Program, name: &str, list: String) -> Result<FuncId, (String, String)> {
    match program.kernels_called(name).as_slice() {
        [] => Err((format!("there is no kernel '{name}'"), list)),
        [sole] if program.functions[sole.index()].code.is_empty() => Err((format!("kernel '{name}' has no body"), list)),
        [sole] => Ok(*sole),
        several => {
            let names: Vec<String> = several.iter().map(|id| as_in_source(program, *id)).collect();
            Err((format!("{} kernels are called '{name}'", several.len()), format!("say which one: {}", names.join(", "))))
        }
    }
}

/// The kernel of each launch; numbered if a kernel has several.
fn case_names(launches: &[(ValuePath, &Launch)]) -> Vec<String> {
    let name = |launch: &Launch| launch.kernel.clone().unwrap_or_else(|| "launch".to_string());
    let mut total: BTreeMap<String, usize> = BTreeMap::new();
    for (_, launch) in launches {
        *total.entry(name(launch)).or_default() += 1;
    }
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let numbered = |(_, launch): &(ValuePath, &Launch)| {
        let name = name(launch);
        let number = seen.entry(name.clone()).or_default();
        *number += 1;
        if total.get(&name) == Some(&1) { name } else { format!("{name}#{number}") }
    };
    launches.iter().map(numbered).collect()
}
