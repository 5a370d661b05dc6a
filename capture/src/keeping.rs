//! A launch that is kept, from before it to its answer.

use std::ffi::{CString, c_int};
use std::fmt::Display;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::counters::Counters;
use crate::driver::{Driver, Handle, SUCCESS, Status};
use crate::launch::{Launch, ParamBytes};
use crate::memory::Memory;
use crate::output::{self, Kept};
use crate::parent::{self, Wanted};
use crate::pointers::Search;
use crate::state;
use crate::textures::Textures;

/// The status of a launch that has not ended; the driver has none below 0.
const UNFINISHED: Status = -1;

/// Where a wanted kernel comes from.
#[derive(Clone)]
pub struct Source {
    /// The file of its module's image, in the folder.
    pub file: String,
    /// The module or library.
    pub owner: Handle,
    /// Whether it is a library.
    pub is_library: bool,
    /// Whether its module reads textures or surfaces.
    pub has_images: bool,
    /// The variables of its module.
    pub variables: Vec<String>,
}

/// A launch that is to be kept.
pub struct Chosen {
    /// What is wanted.
    pub wanted: Wanted,
    /// The counters of all processes.
    pub counters: &'static Counters,
    /// The kernel.
    pub name: String,
    /// Where it comes from.
    pub source: Source,
    /// Its number among the launches of wanted kernels.
    pub number: u64,
    /// The number of nodes, of a graph that it is in.
    pub graph: Option<usize>,
}

impl Chosen {
    /// Ends keeping it, with nothing more to do or for the next.
    fn end(&self, is_done: bool) {
        if is_done {
            state::finish();
        }
        if is_done || self.wanted.nth > 0 {
            self.counters.end(is_done);
        }
    }

    /// Says why it is not kept.
    pub fn fail(&self, why: &dyn Display) {
        parent::report(&["say", &format!("{}: {why}", self.name)]);
        self.end(false);
    }
}

/// A launch that is being kept.
pub struct Keeping {
    driver: &'static Driver,
    chosen: Chosen,
    launch: Launch,
    folder: PathBuf,
    params: ParamBytes,
    memory: Memory,
    textures: Textures,
    is_cut: bool,
    architecture: Option<c_int>,
}

impl Keeping {
    /// Keeps memory before the launch; where it cannot, says so.
    pub fn begin(driver: &'static Driver, launch: &Launch, chosen: Chosen) -> Option<Self> {
        let folder = chosen.wanted.folder.join(format!("{}-launch{}", std::process::id(), chosen.number));
        let mut search = Search::new(driver);
        match before(driver, launch, &chosen, &folder, &mut search) {
            Ok((params, memory, textures)) => {
                let is_cut = search.is_cut();
                // A launch that fails leaves a context that answers nothing.
                let architecture = driver.architecture();
                let keeping = Self { driver, chosen, launch: *launch, folder, params, memory, textures, is_cut, architecture };
                // A launch that hangs has no end: what it began with is there when the program is ended.
                if keeping.describe(output::BEGUN, UNFINISHED).is_ok() {
                    parent::report(&["begun", &keeping.folder.display().to_string()]);
                }
                Some(keeping)
            }
            Err(error) => {
                chosen.fail(&said(&error));
                None
            }
        }
    }

    /// Keeps memory after the launch, which has answered `status`.
    pub fn end(mut self, status: Status) {
        let waited = if status == SUCCESS { self.driver.synchronize() } else { status };
        match self.write(waited) {
            Ok(()) => {
                let answer = parent::ask(&["kept", &self.folder.display().to_string()]);
                let goes_on = answer.is_some_and(|answer| answer.first().is_some_and(|answer| answer == "more"));
                self.chosen.end(!goes_on);
            }
            Err(error) => self.chosen.fail(&said(&error)),
        }
    }

    fn write(&mut self, status: Status) -> io::Result<()> {
        if status == SUCCESS {
            self.memory.keep_after()?;
            self.textures.keep_after()?;
        }
        self.describe(output::NAME, status)
    }

    /// Says what is kept, in this file of the folder.
    fn describe(&self, file: &str, status: Status) -> io::Result<()> {
        let Chosen { name, number, source, graph, .. } = &self.chosen;
        let kept = Kept {
            kernel: name,
            number: *number,
            module: &source.file,
            architecture: self.architecture,
            launch: &self.launch,
            params: &self.params,
            regions: &self.memory.regions,
            textures: &self.textures,
            is_cut: self.is_cut,
            graph: *graph,
            status,
        };
        output::write(&self.folder, file, &kept)
    }
}

/// What is said of an error: those of the system do not say where.
fn said(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(_) => format!("what is kept of it cannot be written to the folder of the bundle: {error}"),
        None => error.to_string(),
    }
}

/// Keeps memory before the launch, found from its parameters, from the variables of its module, and from the textures of the program.
fn before(
    driver: &'static Driver,
    launch: &Launch,
    chosen: &Chosen,
    folder: &Path,
    search: &mut Search<'_>,
) -> io::Result<(ParamBytes, Memory, Textures)> {
    let params = launch.param_bytes(driver).map_err(io::Error::other)?;
    let status = driver.synchronize();
    if status != SUCCESS {
        return Err(io::Error::other(format!("waiting for what was launched before, the driver answers {status}")));
    }
    fs::create_dir_all(folder)?;
    let source = &chosen.source;
    let textures = if source.has_images { Textures::keep(driver, folder, chosen.wanted.bytes)? } else { Textures::default() };
    let mut memory = Memory::new(driver, folder, chosen.wanted.bytes - textures.bytes());
    for name in &source.variables {
        let place = CString::new(name.as_str()).ok().and_then(|name| driver.variable(source.owner, source.is_library, &name));
        if let Some((address, bytes)) = place {
            memory.keep_variable(search, name, address, bytes)?;
        }
    }
    for (_, bytes) in &params {
        // Structures may be packed.
        search.look(bytes, size_of::<u32>());
    }
    textures.addresses().for_each(|address| search.look(&address.to_le_bytes(), size_of::<u64>()));
    memory.keep_found(search)?;
    Ok((params, memory, textures))
}
