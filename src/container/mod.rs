//! Files with embedded PTX: programs, libraries and objects of Linux and Windows, archives, fat binaries, cubins, and dumps of programs
//! that print PTX.
//!
//! A [`Container`] has [`Module`]s, whose texts are decompressed on request. The kind of a file is determined by its first bytes. A part
//! that cannot be read is a [`Problem`] with its location, and does not affect other parts. A [`bundle`] has everything needed to
//! reproduce a session.

pub mod bundle;

mod archive;
mod dump;
mod fat_binary;
mod folder;
mod input;
mod outline;
mod packing;
pub mod pipe;
mod problem;
mod sections;
mod tokens;

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::base::file_name;
use crate::base::save::cause;

use fat_binary::Kind;
use sections::Machine;

pub use folder::files;
pub use input::Input;
pub use outline::{Kernel, Outline, Param, first_token, outline};
pub use packing::Packing;
pub use problem::Problem;

/// Bytes by which the kind of a file is determined.
const HEAD_BYTES: u64 = 128;
/// Bytes of a text in which `.version` is searched.
const TEXT_HEAD_BYTES: u64 = 64 << 10;
/// Maximum bytes of a dump.
const DUMP_BYTES: u64 = 256 << 20;
/// Maximum bytes of all cubins of a file in which PTX text is searched.
const CUBIN_BYTES: u64 = 64 << 20;

/// Sections with fat binaries of nvcc and clang; for Windows programs, the first 8 bytes of the name.
const FAT_BINARIES: &[&str] = &[".nv_fatbin", ".nv_fatb"];
/// Such sections with relocatable device code.
const RELOCATABLE: &[&str] = &["__nv_relfatbin", "__nv_rel"];
/// Section of a cubin with the PTX from which it was assembled: lines that end with a zero, without comments and `.loc`.
const CUBIN_TEXT: &str = ".nv_debug_ptx_txt";

/// Magic of an ELF file.
const ELF: &[u8] = b"\x7fELF";
/// Magics of other files with sections: programs of Windows, and its objects for x86-64 in both forms.
const WINDOWS: &[&[u8]] = &[b"MZ", b"\x64\x86", b"\0\0\xff\xff"];
/// Maximum nesting of archives: a crafted file may contain itself.
const ARCHIVE_DEPTH_MAX: usize = 8;
/// Digits of the hash at the start of a file of CuPy's cache: MD5 or SHA-1.
const HASH_DIGITS: &[usize] = &[32, 40];

/// A file with embedded PTX.
pub struct Container {
    path: PathBuf,
    input: Input,
    /// A noun for it, with an article.
    what: &'static str,
    modules: Vec<Module>,
    problems: Vec<Problem>,
    /// Cubins, with their compression.
    cubins: Vec<Module>,
    /// The targets of code for link-time optimization.
    lto_targets: Vec<String>,
    /// True if it has sections for device code, or is itself device code.
    has_device_sections: bool,
}

/// PTX in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// The name under which `cuobjdump` extracts it: `app.2.sm_90a.ptx`.
    pub name: String,
    /// The architecture it was compiled for: `sm_90a`; empty if only its text has it.
    pub target: String,
    /// The archive member that contains it.
    pub member: Option<String>,
    /// The name of its source file, if known; in a dump the kernel's name.
    pub source: Option<String>,
    /// Its compression.
    pub packing: Packing,
    /// True if it is the text in a cubin.
    pub is_of_cubin: bool,
    /// Byte range in the file.
    pub bytes: Range<u64>,
    /// Bytes when decompressed, as its header says.
    size: u64,
    /// File, member, section and offset, for messages.
    place: String,
}

/// A location in a file, for messages.
#[derive(Clone, Copy)]
struct Location<'a> {
    member: Option<&'a str>,
    section: Option<&'a str>,
}

/// The file at `path`, if it has embedded PTX; `None` if it is a PTX text or in a bundle, or if it does not exist or cannot be opened,
/// which is reported when its text is read.
///
/// # Errors
/// It cannot be read.
pub fn open(path: &Path) -> Result<Option<Container>, Problem> {
    if let Some(bytes) = pipe::read(path).map_err(|error| Problem::new(path.display().to_string(), cause(&error)))? {
        return of_input(path, Input::of_bytes(bytes));
    }
    let input = Some(path).filter(|path| path.is_file()).and_then(|path| Input::open(path).ok());
    input.map_or(Ok(None), |input| of_input(path, input))
}

/// [`open`] for `input`, which is called `path` in messages.
///
/// # Errors
/// It cannot be read.
pub fn of_input(path: &Path, input: Input) -> Result<Option<Container>, Problem> {
    let (modules, problems, cubins) = (Vec::new(), Vec::new(), Vec::new());
    let (lto_targets, has_device_sections) = (Vec::new(), false);
    let path_of = path.to_path_buf();
    let mut container = Container { path: path_of, input, what: "a text", modules, problems, cubins, lto_targets, has_device_sections };
    let wrong = |why| Problem::new(path.display().to_string(), why);
    let head = container.input.head(HEAD_BYTES).map_err(wrong)?;
    let whole = 0..container.input.length();
    let nowhere = Location { member: None, section: None };
    if head.starts_with(archive::THIN) {
        return Err(wrong("a thin archive names objects and holds none: give the objects".to_string()));
    } else if head.starts_with(archive::MAGIC) {
        container.what = "an archive";
        container.archive(whole, None);
    } else if is_object(&head) {
        container.what = "an object";
        container.part(whole, nowhere);
    } else if let Some(digits) = hash_digits(&head) {
        let rest = digits as u64..whole.end;
        if head[digits..].starts_with(ELF) {
            container.part(rest, nowhere);
        } else {
            container.push_text(rest, nowhere, None);
        }
        container.what = "a file of CuPy's cache";
    } else if !container.add_dump().map_err(wrong)? {
        return Ok(None);
    }
    if container.modules.is_empty() {
        container.add_cubin_texts();
    }
    container.name_modules();
    Ok(Some(container))
}

/// True if a file with this head is read by its sections, or as a fat binary.
fn is_object(head: &[u8]) -> bool {
    head.starts_with(ELF) || head.starts_with(&fat_binary::MAGIC) || WINDOWS.iter().any(|magic| head.starts_with(magic))
}

/// The number of digits of a hash before a cubin or PTX.
fn hash_digits(head: &[u8]) -> Option<usize> {
    let is_hash = |digits: &usize| head.get(..*digits).is_some_and(|hash| hash.iter().all(u8::is_ascii_hexdigit));
    let begins = |rest: &[u8]| rest.starts_with(ELF) || rest.starts_with(b"//") || rest.trim_ascii_start().starts_with(b".version");
    HASH_DIGITS.iter().copied().find(|digits| is_hash(digits) && begins(&head[*digits..]))
}

impl Container {
    /// A noun for the file, with an article.
    pub fn what(&self) -> &'static str {
        self.what
    }

    /// Its modules, in the order of the file.
    pub fn modules(&self) -> &[Module] {
        &self.modules
    }

    /// The parts of it that cannot be read.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// The number of its cubins.
    pub fn cubins(&self) -> usize {
        self.cubins.len()
    }

    /// The architectures for which it has code for link-time optimization.
    pub fn lto_targets(&self) -> &[String] {
        &self.lto_targets
    }

    /// True if it has sections for device code, or is itself device code.
    pub fn has_device_sections(&self) -> bool {
        self.has_device_sections
    }

    /// The path that selects module `index`: that of the file if it is the only one, else its name below that path.
    pub fn module_path(&self, index: usize) -> PathBuf {
        match self.modules.as_slice() {
            [_] => self.path.clone(),
            modules => self.path.join(&modules[index].name),
        }
    }

    /// The text of module `index`.
    ///
    /// # Errors
    /// It is damaged.
    pub fn text(&mut self, index: usize) -> Result<String, Problem> {
        let module = self.modules[index].clone();
        let wrong = |why| Problem::new(module.place.clone(), why);
        let mut bytes = self.unpacked(&module).map_err(wrong)?;
        if module.is_of_cubin {
            bytes = cubin_text(&mut Input::of_bytes(bytes)).map_err(wrong)?.unwrap_or_default();
        }
        while bytes.last() == Some(&0) {
            bytes.pop();
        }
        String::from_utf8(bytes).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            wrong(format!("it is not text: byte {:#04x} at offset {at} of the module", error.as_bytes()[at]))
        })
    }

    fn unpacked(&mut self, module: &Module) -> Result<Vec<u8>, String> {
        let bytes = self.input.read(module.bytes.clone())?;
        module.packing.unpack(bytes, module.size)
    }

    fn problem(&mut self, location: Location<'_>, at: Option<u64>, what: impl Into<String>) {
        let place = self.place(location, at);
        self.problems.push(Problem::new(place, what));
    }

    /// `libboth.a(scale.o): section .nv_fatbin, offset 0x5f0`
    fn place(&self, location: Location<'_>, at: Option<u64>) -> String {
        let member = location.member.map_or(String::new(), |member| format!("({member})"));
        let section = location.section.map(|section| format!("section {section}"));
        let offset = at.map(|at| format!("offset {at:#x}"));
        let within: Vec<String> = section.into_iter().chain(offset).collect();
        let within = if within.is_empty() { String::new() } else { format!(": {}", within.join(", ")) };
        format!("{}{member}{within}", self.path.display())
    }

    /// The archive in `region`, which is the member `outer` of another one.
    fn archive(&mut self, region: Range<u64>, outer: Option<&str>) {
        let (members, problems) = archive::members(&mut self.input, region);
        for archive::Member { name, bytes } in members {
            let name = outer.map_or(name.clone(), |outer| format!("{outer}({name})"));
            let location = Location { member: Some(&name), section: None };
            let is_deep = name.matches('(').count() >= ARCHIVE_DEPTH_MAX;
            match self.input.read(bytes.start..bytes.end.min(bytes.start + HEAD_BYTES)) {
                Ok(head) if is_object(&head) => self.part(bytes, location),
                Ok(head) if head.starts_with(archive::MAGIC) && is_deep => {
                    self.problem(location, Some(bytes.start), "an archive so deep in others is not looked into");
                }
                Ok(head) if head.starts_with(archive::MAGIC) => self.archive(bytes, Some(&name)),
                // Other members, such as an index or a text, have no PTX.
                Ok(_) => {}
                Err(why) => self.problem(location, Some(bytes.start), why),
            }
        }
        for (at, why) in problems {
            self.problem(Location { member: outer, section: None }, Some(at), why);
        }
    }

    /// An object, a program, a library, a cubin or a fat binary in `region`.
    fn part(&mut self, region: Range<u64>, location: Location<'_>) {
        let start = region.start;
        match self.input.read(start..region.end.min(start + 4)) {
            Ok(head) if head == fat_binary::MAGIC => {
                self.has_device_sections = true;
                self.what = if location.member.is_none() { "a fat binary" } else { self.what };
                return self.fat_binaries(region, location);
            }
            Ok(_) | Err(_) => {}
        }
        let object = match sections::object(&mut self.input, region.clone()) {
            Ok(Some(object)) => object,
            Ok(None) => {
                self.problem(location, Some(start), "it begins like an object, and is of no kind that is known here");
                return self.without_sections(region, location);
            }
            Err(why) => {
                self.problem(location, Some(start), why);
                return self.without_sections(region, location);
            }
        };
        if object.machine == Machine::Cubin {
            self.has_device_sections = true;
            self.what = if location.member.is_none() { "a cubin" } else { self.what };
            let cubin = self.module(region, location, None);
            return self.cubins.push(cubin);
        }
        let mut walked: Vec<Range<u64>> = Vec::new();
        for names in [FAT_BINARIES, RELOCATABLE] {
            for section in object.sections.iter().filter(|section| names.contains(&section.name.as_str())) {
                self.has_device_sections = true;
                let location = Location { section: Some(&section.name), ..location };
                let begin = start.saturating_add(section.bytes.start);
                let end = start.saturating_add(section.bytes.end);
                // Overlapping sections of a crafted file could be read arbitrarily often.
                if walked.iter().any(|other| begin < other.end && other.start < end) {
                    return self.problem(location, Some(begin), "the section overlaps another one with fat binaries: the rest is not read");
                }
                walked.push(begin..end);
                if begin > region.end || end > region.end {
                    let said = section.bytes.end - section.bytes.start;
                    let left = region.end.saturating_sub(begin);
                    self.problem(location, Some(begin), format!("the section says that it has {said} bytes, and {left} are left"));
                }
                self.fat_binaries(begin.min(region.end)..end.min(region.end), location);
            }
        }
    }

    /// The fat binaries in an object without readable sections: it may be truncated, and its section table is at its end.
    fn without_sections(&mut self, region: Range<u64>, location: Location<'_>) {
        match fat_binary::starts(&mut self.input, region) {
            Ok(found) => found.into_iter().for_each(|region| self.fat_binaries(region, location)),
            Err(why) => self.problem(location, None, why),
        }
    }

    fn fat_binaries(&mut self, region: Range<u64>, location: Location<'_>) {
        let (entries, problems) = fat_binary::entries(&mut self.input, region);
        for entry in entries {
            let module = Module {
                name: entry.source.as_deref().map_or(String::new(), stem),
                target: entry.target,
                source: entry.source,
                packing: entry.packing,
                size: entry.size,
                place: self.place(location, Some(entry.header)),
                ..self.module(entry.payload, location, None)
            };
            match entry.kind {
                Kind::Ptx => self.modules.push(module),
                Kind::Cubin => self.cubins.push(module),
                Kind::LtoIr => self.lto_targets.push(module.target),
                Kind::Other => {}
            }
        }
        for (at, why) in problems {
            self.problem(location, Some(at), why);
        }
    }

    /// A module with the uncompressed content `bytes`.
    fn module(&self, bytes: Range<u64>, location: Location<'_>, source: Option<String>) -> Module {
        Module {
            name: String::new(),
            target: String::new(),
            member: location.member.map(str::to_string),
            source,
            packing: Packing::Plain,
            is_of_cubin: false,
            size: bytes.end - bytes.start,
            place: self.place(location, (bytes.start > 0).then_some(bytes.start)),
            bytes,
        }
    }

    fn push_text(&mut self, bytes: Range<u64>, location: Location<'_>, source: Option<String>) {
        let module = self.module(bytes, location, source);
        self.modules.push(module);
    }

    /// Adds the modules of a dump; false if the file is not one.
    fn add_dump(&mut self) -> Result<bool, String> {
        let head = self.input.head(TEXT_HEAD_BYTES)?;
        let is_binary = head.contains(&0);
        if is_binary || dump::is_ptx(&String::from_utf8_lossy(&head)) || self.input.length() > DUMP_BYTES {
            return Ok(false);
        }
        let Ok(text) = String::from_utf8(self.input.read(0..self.input.length())?) else { return Ok(false) };
        for found in dump::modules(&text) {
            let bytes = found.bytes.start as u64..found.bytes.end as u64;
            self.push_text(bytes, Location { member: None, section: None }, Some(found.name));
        }
        Ok(!self.modules.is_empty())
    }

    /// Adds the PTX texts in cubins; many large ones are not decompressed for it.
    fn add_cubin_texts(&mut self) {
        let bytes = self.cubins.iter().fold(0, |bytes: u64, cubin| bytes.saturating_add(cubin.size));
        let is_single = matches!(self.cubins.as_slice(), [_]);
        if bytes > CUBIN_BYTES && !is_single {
            return;
        }
        for cubin in self.cubins.clone() {
            match self.unpacked(&cubin).and_then(|bytes| cubin_text(&mut Input::of_bytes(bytes))) {
                Ok(Some(text)) => {
                    let target = outline::outline(&String::from_utf8_lossy(&text)).target;
                    self.modules.push(Module { target, is_of_cubin: true, ..cubin });
                }
                Ok(None) => {}
                Err(why) => self.problems.push(Problem::new(cubin.place.clone(), why)),
            }
        }
    }

    /// Sets the unique names of the modules: those of `cuobjdump`, with a number if it uses a name twice.
    fn name_modules(&mut self) {
        let mut taken = BTreeSet::new();
        let stem = self.path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        for index in 0..self.modules.len() {
            if self.modules[index].target.is_empty() {
                self.modules[index].target = self.text(index).map(|text| outline::outline(&text).target).unwrap_or_default();
            }
            let module = &mut self.modules[index];
            // The name in an entry takes precedence over that of the file.
            let (first, own) = if module.name.is_empty() { (&stem, None) } else { (&module.name, Some(&module.name)) };
            let numbered = || format!("{first}.{}.{}.ptx", index + 1, module.target);
            let name = own.map(|own| format!("{own}.{}.ptx", module.target)).filter(|name| !taken.contains(name)).unwrap_or_else(numbered);
            taken.insert(name.clone());
            module.name = name;
        }
    }
}

/// `a` of `src/a.cu`; empty if there is no name in it.
fn stem(source: &str) -> String {
    let name = file_name(source);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    if stem.chars().all(|c| c == '.') { String::new() } else { stem.to_string() }
}

/// The PTX text in the cubin `input`, if it has it.
fn cubin_text(input: &mut Input) -> Result<Option<Vec<u8>>, String> {
    let whole = 0..input.length();
    let Some(object) = sections::object(input, whole)? else { return Err("it is no cubin".to_string()) };
    let Some(section) = object.sections.into_iter().find(|section| section.name == CUBIN_TEXT) else { return Ok(None) };
    let mut bytes = input.read(section.bytes).map_err(|why| format!("section {CUBIN_TEXT}: {why}"))?;
    bytes.iter_mut().filter(|byte| **byte == 0).for_each(|byte| *byte = b'\n');
    Ok(Some(bytes).filter(|text| !text.is_empty()))
}

/// The container and the module name of a path such as `app/app.2.sm_90a.ptx`, where `app` is a file: `app` and `app.2.sm_90a.ptx`.
pub fn split(path: &Path) -> Option<(&Path, &str)> {
    let (parent, name) = (path.parent()?, path.file_name()?.to_str()?);
    // Members of a bundle are read as if the bundle were a folder.
    let is_file = parent.is_file() && !bundle::is_bundle(parent);
    (is_file || pipe::cached(parent).is_some()).then_some((parent, name))
}

/// The container, if `path` refers to a module in one; else `path`.
pub fn file_of(path: &Path) -> &Path {
    split(path).map_or(path, |(file, _)| file)
}

/// The folder of the file with the module at `path`.
pub fn folder_of(path: &Path) -> &Path {
    file_of(path).parent().unwrap_or(Path::new(""))
}
