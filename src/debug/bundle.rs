//! Bundles of a session: what it follows from, in one file that opens on any machine, at the time where the session stood.
//!
//! A bundle holds the text of the module, a launch file with the data files that it names, the sources that `.loc` names where they are
//! at hand, a session file, and [`Manifest`], which says what these are called and how the run was made.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::relaunch::NO_LAUNCH;
use super::ron_text::{self, RonKind};
use super::run::{RESIDENT_MAX, RunOptions};
use super::session::Session;
use crate::base::{SourceFile, Sources, counted, original_places};
use crate::check::Checks;
use crate::container::bundle::{self, Content as Packed, LAUNCH};
use crate::launch::rename_files;
use crate::machine::{CompletionChoice, DivergencePolicy, Schedule};

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

/// What a bundle holds, and how it was run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename = "Bundle")]
pub struct Manifest {
    version: u32,
    /// The member that is the module, or the first of those that are linked.
    pub module: String,
    /// The members that are linked, in order; nothing where there is one module.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modules: Vec<String>,
    /// The kernel that was chosen of a suite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// Seed of everything that is random.
    pub seed: u64,
    /// The order of warps, as `--schedule` takes it.
    pub schedule: String,
    /// When asynchronous copies end, as `--async` takes it.
    pub copies: String,
    /// Which lanes of a warp ran when they had diverged, as `--divergence` takes it.
    pub divergence: String,
    /// Blocks resident at once at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resident: Option<u32>,
    /// The checkers that watched, as `--checks` takes them.
    pub checks: String,
    /// What the user wrote about it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub notes: String,
}

impl Manifest {
    /// Reads what the bundle at `path` holds; all of it is unpacked once, so that a damaged one is refused here.
    ///
    /// # Errors
    /// It is damaged, or not of this version, in one line with the place.
    pub fn read(path: &Path) -> Result<Self, String> {
        // Other things are packed with zstd, too.
        let no_bundle = |why: String| {
            let name = path.display();
            format!("{why}; a bundle is what 'bundle FILE' in a session writes: if {name} is something else, unpack it (zstd -d {name})")
        };
        let members = bundle::members(path).map_err(|error| no_bundle(error.to_string()))?;
        let lacks = |name: &str| !members.iter().any(|(member, _)| member == name);
        if let Some(name) = [MANIFEST, LAUNCH, SESSION].into_iter().find(|name| lacks(name)) {
            return Err(no_bundle(format!("{}: it has no member '{name}'", path.display())));
        }
        let place = path.join(MANIFEST);
        let (text, mut sources) = (ron_text::read_text(&place)?, Sources::default());
        let source = sources.add(SourceFile::new(place.display().to_string(), text));
        let manifest = ron_text::parse::<Self>(&sources, source, &KIND).map_err(|error| {
            let at = sources.position(error.span);
            format!("{}:{}:{}: {}", place.display(), at.line, at.column, error.message)
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

    /// The options of the command line that run it so.
    pub fn options(&self) -> Vec<ManifestOption> {
        let option = |field, name: &str, value: String| ManifestOption { field, word: format!("--{name}={value}"), value };
        let said = [
            option("seed", "seed", self.seed.to_string()),
            option("schedule", "schedule", self.schedule.clone()),
            option("copies", "async", self.copies.clone()),
            option("divergence", "divergence", self.divergence.clone()),
            option("checks", "checks", self.checks.clone()),
        ];
        let resident = self.resident.map(|blocks| option("resident", "resident", blocks.to_string()));
        let kernel = self.kernel.clone().map(|kernel| option("kernel", "kernel", kernel));
        said.into_iter().chain(resident).chain(kernel).collect()
    }

    /// The same as a run takes them; the bundle is at `path`.
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
            copies: copies.policy(self.seed),
            divergence: Some(DivergencePolicy::parse(&self.divergence).map_err(|why| wrong("divergence", &self.divergence, why))?),
            resident: self.resident,
            checks: Checks::parse(&self.checks).map_err(|why| wrong("checks", &self.checks, why))?,
            ..RunOptions::default()
        })
    }

    /// The modules of the bundle at `path`, as far as its launch file does not name them.
    pub fn module_paths(&self, path: &Path) -> Vec<PathBuf> {
        if self.modules.is_empty() { vec![path.join(&self.module)] } else { Vec::new() }
    }

    /// What is said of an option that cannot be used, of the bundle at `path`; `why` is what the command line says of it.
    pub fn wrong_option(path: &Path, option: &ManifestOption, why: &str) -> String {
        let ManifestOption { field, value, .. } = option;
        format!("{}: {field}: '{value}' cannot be used: {why}", path.join(MANIFEST).display())
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

/// What a bundle says of how it was run, as the command line takes it.
#[derive(Clone, Debug)]
pub struct ManifestOption {
    /// What says it.
    pub field: &'static str,
    /// What it says.
    pub value: String,
    /// The word of the command line.
    pub word: String,
}

impl Session {
    /// Writes what this session follows from to a bundle at `path`, with what the user says of it; returns a line on it.
    ///
    /// # Errors
    /// It is about a statement, there is a file of another kind, or a file cannot be read or written, in one line.
    pub fn bundle(&self, path: &Path, notes: &str) -> Result<String, String> {
        if path.exists() && !is_bundle(path) {
            return Err(format!("{} is there and is no bundle, so it is left as it is: choose another name", path.display()));
        }
        let members = self.members(notes)?;
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
            let place = opened.folder.join(&*file);
            let mut data = data.borrow_mut();
            let known = data.iter().position(|known| *known == place);
            let number = known.unwrap_or_else(|| {
                data.push(place.clone());
                data.len() - 1
            });
            *file = data_name(number, &place);
        });
        content.name_modules(&names);
        let manifest = ron_text::to_text(&self.manifest(&names, notes)) + "\n";
        let text = |name: &str, text: String| (name.to_string(), Packed::Bytes(text.into_bytes()));
        let mut members = vec![text(MANIFEST, manifest), text(LAUNCH, content.to_text() + "\n"), text(SESSION, self.saved().to_text())];
        members.extend(names.iter().zip(&modules).map(|(name, module)| text(name, module.text().to_string())));
        let data = data.into_inner().into_iter().enumerate();
        members.extend(data.map(|(number, place)| (data_name(number, &place), Packed::File(place, DATA_BYTES_MAX))));
        self.add_sources(&modules, &opened.folders, &mut members);
        Ok(members)
    }

    /// Adds the sources that `.file` names, as far as they are at hand.
    fn add_sources(&self, modules: &[&SourceFile], folders: &[PathBuf], members: &mut Vec<(String, Packed)>) {
        for (_, name) in &self.program().source_files {
            let short = Path::new(name).file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
            if short.is_empty() || members.iter().any(|(member, _)| *member == short) {
                continue;
            }
            let places = modules.iter().flat_map(|module| original_places(name, Path::new(module.name()), folders));
            let found = places.filter(|place| is_file(place)).find_map(|place| bundle::read(&place, SOURCE_BYTES_MAX).ok()?);
            members.extend(found.map(|text| (short, Packed::Bytes(text))));
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
            copies: format!("{}{seed}", options.copies.row().name),
            divergence: options.divergence_of(self.program()).word().to_string(),
            resident: options.resident,
            checks: self.checks().to_string(),
            notes: notes.to_string(),
        }
    }
}

/// The names of modules in a bundle: that of its file for a sole one, and `modules/0/a.ptx` of those that are linked.
fn module_names(modules: &[&SourceFile]) -> Vec<String> {
    match modules {
        [sole] => vec![sole.short_name().to_string()],
        several => several.iter().enumerate().map(|(number, module)| format!("modules/{number}/{}", module.short_name())).collect(),
    }
}

/// `data/0/x.npy`: the name of a data file in a bundle.
fn data_name(number: usize, place: &Path) -> String {
    let name = place.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
    format!("data/{number}/{name}")
}
