//! Bundles: one file with all that a session needs, which opens on any machine at the time of the session.
//!
//! A bundle holds the text of the module, that of Triton's intermediate code if there is one, a launch file with the data files that it
//! names, the sources that `.loc` names if they can be read, a session file, and [`Manifest`]: the names of these members, and the options
//! of the run.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::relaunch::NO_LAUNCH;
use super::ron_text::{self, RonKind};
use super::run::{RESIDENT_MAX, RunOptions};
use super::session::Session;
use crate::base::{SourceFile, Sources, counted, source_paths};
use crate::check::Checks;
use crate::container::bundle::{self, Content as Packed, LAUNCH};
use crate::launch::rename_files;
use crate::machine::{CompletionChoice, DivergencePolicy, MemoryModel, Schedule};

pub use crate::container::bundle::{is_bundle, is_file, is_inside};

/// The version of the format that is written, and the only one that is read.
const VERSION: u32 = 1;
/// Names of members.
const MANIFEST: &str = "bundle.ron";
const SESSION: &str = "session.ron";
/// Bytes of a data file at most.
const DATA_BYTES_MAX: u64 = 4 << 30;
/// Bytes of a source file at most; longer ones are left out.
const SOURCE_BYTES_MAX: u64 = 1 << 20;

const KIND: RonKind = RonKind {
    code: "bundle",
    whole: "the first member of a bundle is one Bundle(version: .., module: .., ..)",
    empty: "'bundle FILE' writes a bundle",
    numbers: "seeds and counts are whole numbers that are not negative",
};

/// The members of a bundle, and the options of its run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename = "Bundle")]
pub struct Manifest {
    version: u32,
    /// The member that is the module, or the first of those that are linked.
    pub module: String,
    /// The members that are linked, in order; empty if there is one module.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modules: Vec<String>,
    /// The kernel that was chosen from a suite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// Seed of everything that is random.
    pub seed: u64,
    /// The order of warps, as `--schedule` takes it.
    pub schedule: String,
    /// The memory model, as `--memory` takes it; none if it is `sc`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<String>,
    /// When asynchronous copies complete, as `--async` takes it.
    pub copies: String,
    /// The divergence policy, as `--divergence` takes it.
    pub divergence: String,
    /// Blocks resident at once at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resident: Option<u32>,
    /// The checkers that ran, as `--checks` takes them.
    pub checks: String,
    /// The user's notes.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub notes: String,
}

impl Manifest {
    /// Reads the manifest of the bundle at `path`. All members are unpacked once, so that a damaged bundle is refused here.
    ///
    /// # Errors
    /// It is damaged, or not of this version, in one line with the place.
    pub fn read(path: &Path) -> Result<Self, String> {
        // Other files are compressed with zstd, too.
        let no_bundle = |why: String| {
            let name = path.display();
            if path.extension().is_some_and(|ending| ending == "ptxcap") {
                return format!("{why}: copy it anew, or capture it again");
            }
            format!("{why}; a bundle is what 'bundle FILE' in a session writes: if {name} is something else, unpack it (zstd -d {name})")
        };
        let members = bundle::members(path).map_err(|error| no_bundle(error.to_string()))?;
        let lacks = |name: &str| !members.iter().any(|(member, _)| member == name);
        if let Some(name) = [MANIFEST, LAUNCH, SESSION].into_iter().find(|name| lacks(name)) {
            return Err(no_bundle(format!("{}: it has no member '{name}'", path.display())));
        }
        let manifest_path = path.join(MANIFEST);
        let (text, mut sources) = (ron_text::read_text(&manifest_path)?, Sources::default());
        let source = sources.add(SourceFile::new(manifest_path.display().to_string(), text));
        let manifest = ron_text::parse::<Self>(&sources, source, &KIND).map_err(|error| {
            let at = sources.position(error.span);
            format!("{}:{}:{}: {}", manifest_path.display(), at.line, at.column, error.message)
        })?;
        if manifest.notes.chars().chain(path.to_string_lossy().chars()).any(char::is_control) {
            return Err(format!("{}: its notes, or its name, are of more than one line", path.display()));
        }
        if manifest.version != VERSION {
            let version = manifest.version;
            return Err(format!(
                "{}: it is of version {version}, and version {VERSION} is read: open it with the ptxdbg that wrote it",
                path.display()
            ));
        }
        if let Some(module) = [&manifest.module].into_iter().chain(&manifest.modules).find(|module| lacks(module)) {
            return Err(format!("{}: it has no member '{module}', which is to be its module", path.display()));
        }
        Ok(manifest)
    }

    /// The command-line options that repeat the run.
    pub fn options(&self) -> Vec<ManifestOption> {
        let option = |field, name: &str, value: String| ManifestOption { field, argument: format!("--{name}={value}"), value };
        let always = [
            option("seed", "seed", self.seed.to_string()),
            option("schedule", "schedule", self.schedule.clone()),
            option("copies", "async", self.copies.clone()),
            option("divergence", "divergence", self.divergence.clone()),
            option("checks", "checks", self.checks.clone()),
        ];
        let memory = self.memory.clone().map(|memory| option("memory", "memory", memory));
        let resident = self.resident.map(|blocks| option("resident", "resident", blocks.to_string()));
        let kernel = self.kernel.clone().map(|kernel| option("kernel", "kernel", kernel));
        always.into_iter().chain(memory).chain(resident).chain(kernel).collect()
    }

    /// The options as the engine takes them; the bundle is at `path`.
    ///
    /// # Errors
    /// One cannot be used, in one line.
    pub fn run_options(&self, path: &Path) -> Result<RunOptions, String> {
        let wrong = |field: &str, value: &str, why: String| {
            let option = self.options().into_iter().find(|option| option.field == field);
            option.map_or_else(|| format!("{field} '{value}': {why}"), |option| Self::wrong_option(path, &option, &why))
        };
        if self.resident.is_some_and(|blocks| !(1..=RESIDENT_MAX).contains(&blocks)) {
            return Err(wrong("resident", "", format!("it is 1 to {RESIDENT_MAX}")));
        }
        let copies = CompletionChoice::parse(&self.copies).map_err(|why| wrong("copies", &self.copies, why))?;
        Ok(RunOptions {
            schedule: Schedule::parse(&self.schedule).map_err(|why| wrong("schedule", &self.schedule, why))?,
            seed: self.seed,
            memory: match &self.memory {
                None => MemoryModel::default(),
                Some(memory) => MemoryModel::parse(memory).map_err(|why| wrong("memory", memory, why))?,
            },
            copies: copies.policy(self.seed),
            divergence: Some(DivergencePolicy::parse(&self.divergence).map_err(|why| wrong("divergence", &self.divergence, why))?),
            resident: self.resident,
            checks: Checks::parse(&self.checks).map_err(|why| wrong("checks", &self.checks, why))?,
            ..RunOptions::default()
        })
    }

    /// The modules of the bundle at `path` that its launch file does not name.
    pub fn module_paths(&self, path: &Path) -> Vec<PathBuf> {
        if self.modules.is_empty() { vec![path.join(&self.module)] } else { Vec::new() }
    }

    /// The message for an option of the bundle at `path` that cannot be used; `why` is the command line's message.
    pub fn wrong_option(path: &Path, option: &ManifestOption, why: &str) -> String {
        let ManifestOption { field, value, .. } = option;
        format!("{}: {field}: '{value}' cannot be used: {why}", path.join(MANIFEST).display())
    }

    /// The members of the bundle at `path` that are in no folder of it.
    ///
    /// # Errors
    /// It is damaged, in one line.
    pub fn top_members(path: &Path) -> Result<Vec<PathBuf>, String> {
        let members = bundle::members(path).map_err(|error| error.to_string())?;
        Ok(members.iter().filter(|(name, _)| !name.contains('/')).map(|(name, _)| path.join(name)).collect())
    }

    /// The member of the bundle at `path` that is its launch file.
    pub fn launch_of(path: &Path) -> PathBuf {
        bundle::launch_of(path)
    }

    /// The member that is its session file.
    pub fn session_of(path: &Path) -> PathBuf {
        path.join(SESSION)
    }
}

/// An option of the run, as a field of the manifest and as an argument of the command line.
#[derive(Clone, Debug)]
pub struct ManifestOption {
    /// The field of the manifest.
    pub field: &'static str,
    /// Its value.
    pub value: String,
    /// The argument of the command line.
    pub argument: String,
}

impl Session {
    /// Writes a bundle of this session to `path`, with the user's notes and the files `others`; returns a line about it.
    ///
    /// # Errors
    /// The session is of an `asm` statement, `path` is a file that is no bundle, or a file cannot be read or written, in one line.
    pub fn bundle(&self, path: &Path, notes: &str, others: &[PathBuf]) -> Result<String, String> {
        if path.exists() && !is_bundle(path) {
            return Err(format!("{} is there and is no bundle, so it is left as it is: choose another name", path.display()));
        }
        let mut members = self.members(notes)?;
        for other in others {
            let name = other.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
            if !members.iter().any(|(member, _)| *member == name) {
                members.push((name, Packed::File(other.clone(), DATA_BYTES_MAX)));
            }
        }
        bundle::write(path, &members).map_err(|error| error.to_string())?;
        Ok(format!("{} written to {}\n", counted(members.len() as u64, "file"), path.display()))
    }

    fn members(&self, notes: &str) -> Result<Vec<(String, Packed)>, String> {
        let opened = self.opened_launch.as_ref().ok_or(NO_LAUNCH)?;
        let program = self.program();
        let modules: Vec<&SourceFile> = program.modules.iter().map(|module| &**program.sources_text.file(*module)).collect();
        let names = module_names(&modules);
        let data = RefCell::new(Vec::new());
        let mut content = opened.content.clone();
        content.name_modules(&[]);
        rename_files(&mut content, &|file: &mut String| {
            let path = opened.folder.join(&*file);
            let mut data = data.borrow_mut();
            let known = data.iter().position(|known| *known == path);
            let number = known.unwrap_or_else(|| {
                data.push(path.clone());
                data.len() - 1
            });
            *file = data_name(number, &path);
        });
        content.name_modules(&names);
        let manifest = ron_text::to_text(&self.manifest(&names, notes)) + "\n";
        let text = |name: &str, text: String| (name.to_string(), Packed::Bytes(text.into_bytes()));
        let mut members = vec![text(MANIFEST, manifest), text(LAUNCH, content.to_text() + "\n"), text(SESSION, self.saved().to_text())];
        members.extend(names.iter().zip(&modules).map(|(name, module)| text(name, module.text().to_string())));
        if let ([name], Some(tensors)) = (&names[..], self.tensor_text()) {
            members.push(text(&Path::new(name).with_extension("ttgir").to_string_lossy(), tensors));
        }
        let data = data.into_inner().into_iter().enumerate();
        members.extend(data.map(|(number, path)| (data_name(number, &path), Packed::File(path, DATA_BYTES_MAX))));
        self.add_sources(&modules, &opened.folders, &mut members);
        Ok(members)
    }

    /// Adds the sources that `.file` names and that can be read.
    fn add_sources(&self, modules: &[&SourceFile], folders: &[PathBuf], members: &mut Vec<(String, Packed)>) {
        for (_, name) in &self.program().source_files {
            let file_name = Path::new(name).file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
            if file_name.is_empty() || members.iter().any(|(member, _)| *member == file_name) {
                continue;
            }
            let places = modules.iter().flat_map(|module| source_paths(name, Path::new(module.name()), folders));
            let found = places.filter(|path| is_file(path)).find_map(|path| bundle::read(&path, SOURCE_BYTES_MAX).ok()?);
            members.extend(found.map(|text| (file_name, Packed::Bytes(text))));
        }
    }

    fn manifest(&self, modules: &[String], notes: &str) -> Manifest {
        let options = self.timeline.options();
        let seed = options.copies.seed().map_or(String::new(), |seed| format!(":{seed}"));
        Manifest {
            version: VERSION,
            module: modules.first().cloned().unwrap_or_default(),
            modules: if modules.len() > 1 { modules.to_vec() } else { Vec::new() },
            kernel: self.opened_launch.as_ref().and_then(|opened| opened.kernel.clone()),
            seed: options.seed,
            schedule: options.schedule.to_string(),
            memory: options.memory.seed().map(|_| options.memory.to_string()),
            copies: format!("{}{seed}", options.copies.row().name),
            divergence: options.divergence_of(self.program()).word().to_string(),
            resident: options.resident,
            checks: self.checks().to_string(),
            notes: notes.to_string(),
        }
    }
}

/// The names of modules in a bundle: the file name of a single module, `modules/0/a.ptx` of linked ones.
fn module_names(modules: &[&SourceFile]) -> Vec<String> {
    match modules {
        [sole] => vec![sole.short_name().to_string()],
        several => several.iter().enumerate().map(|(number, module)| format!("modules/{number}/{}", module.short_name())).collect(),
    }
}

/// `data/0/x.npy`: the name of a data file in a bundle.
fn data_name(number: usize, path: &Path) -> String {
    let name = path.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
    format!("data/{number}/{name}")
}
