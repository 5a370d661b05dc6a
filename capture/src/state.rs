//! What this process has seen, and the launch that is kept.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::ffi::CString;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::driver::{Driver, Handle, SUCCESS, Status, driver};
use crate::images::{self, Image};
use crate::launch::{Launch, ParamBytes};
use crate::memory::Memory;
use crate::output::{self, Kept};
use crate::parent::{self, Wanted};
use crate::pointers::Search;

/// A function that has been launched.
struct Function {
    name: String,
    /// How often it was launched.
    launches: u64,
    /// What is needed to keep a launch of it; none if it is not wanted, or has no PTX.
    source: Option<Source>,
}

/// Where a wanted kernel comes from.
#[derive(Clone)]
struct Source {
    /// The file of its module's image, in the folder.
    file: String,
    owner: Handle,
    is_library: bool,
    /// The variables of its module.
    variables: Vec<String>,
}

/// What this process has seen.
struct State {
    /// The process, of which a fork has a copy.
    process: u32,
    functions: HashMap<usize, Function>,
    /// How often the kernels of forgotten functions were launched, by their names.
    counts: BTreeMap<String, u64>,
    /// Launches of wanted kernels.
    launches: u64,
    /// The files of images that are written, by their numbers.
    files: HashMap<usize, String>,
}

// SAFETY: the handles of the driver are of the process and not of a thread.
unsafe impl Send for State {}

static STATE: Mutex<Option<State>> = Mutex::new(None);
/// Whether nothing more is wanted.
static IS_DONE: AtomicBool = AtomicBool::new(false);
thread_local! {
    /// Whether this thread is in a launch already.
    static IS_WITHIN: Cell<bool> = const { Cell::new(false) };
}
static GRAPH_IS_SAID: AtomicBool = AtomicBool::new(false);

fn locked() -> MutexGuard<'static, Option<State>> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Launches by `call`, and keeps the launch if it is wanted.
pub fn around(launch: &Launch, call: impl FnOnce() -> Status) -> Status {
    // A function of the driver may call another one.
    if !parent::is_there() || IS_DONE.load(Ordering::Relaxed) || IS_WITHIN.replace(true) {
        return call();
    }
    let status = looked_at(launch, call);
    IS_WITHIN.set(false);
    status
}

fn looked_at(launch: &Launch, call: impl FnOnce() -> Status) -> Status {
    let mut state = locked();
    let state = state.get_or_insert_with(State::new);
    let driver = driver();
    match state.wanted(driver, launch) {
        Some((wanted, name, source)) => state.keep(driver, launch, call, &wanted, &name, &source),
        None => call(),
    }
}

/// Says once that a graph is launched, whose kernels are not looked at.
pub fn graph_is_launched() {
    if parent::is_there() && !GRAPH_IS_SAID.swap(true, Ordering::Relaxed) {
        parent::report(&["graph"]);
    }
}

/// Forgets which functions are which: their handles may be given to others.
pub fn forget_functions() {
    if let Some(state) = locked().as_mut() {
        state.forget_functions();
    }
}

impl State {
    fn new() -> Self {
        let process = std::process::id();
        Self { process, functions: HashMap::new(), counts: BTreeMap::new(), launches: 0, files: HashMap::new() }
    }

    /// Forgets the functions, but not how often they were launched.
    fn forget_functions(&mut self) {
        for (_, Function { name, launches, .. }) in self.functions.drain() {
            *self.counts.entry(name).or_default() += launches;
        }
    }

    /// What a launch that is to be kept needs; none of others.
    fn wanted(&mut self, driver: &Driver, launch: &Launch) -> Option<(Wanted, String, Source)> {
        let handle = launch.function as usize;
        if !self.functions.contains_key(&handle) {
            let name = driver.name(launch.function)?;
            let source = self.source(driver, launch.function, &name);
            self.functions.insert(handle, Function { name, launches: 0, source });
        }
        let function = self.functions.get_mut(&handle)?;
        function.launches += 1;
        // Most launches are of kernels that are not wanted: nothing else is done for these.
        let source = function.source.clone()?;
        let name = function.name.clone();
        if driver.is_recording(launch.stream) {
            parent::report(&["recording", &name]);
            return None;
        }
        self.launches += 1;
        let wanted = parent::wanted()?;
        // One that could not be kept is followed by the next.
        (self.launches >= wanted.nth).then_some((wanted, name, source))
    }

    /// Where a function comes from, if a launch of it is to be kept.
    fn source(&mut self, driver: &Driver, function: Handle, name: &str) -> Option<Source> {
        let answer = parent::ask(&["kernel", name])?;
        if answer.first().is_none_or(|answer| answer != "take") {
            return None;
        }
        let Some(image) = images::of_function(driver, function) else {
            parent::report(&["say", &format!("{name}: the module that it is in was loaded in a way that is not looked at")]);
            return None;
        };
        let file = self.file(&image)?;
        let architecture = driver.architecture().map_or(String::new(), |number| number.to_string());
        let variables = parent::ask(&["module", &file, name, &architecture])?;
        let (first, variables) = variables.split_first()?;
        (first == "ptx").then(|| Source { file, owner: image.owner, is_library: image.is_library, variables: variables.to_vec() })
    }

    /// The file of an image, which is written the first time.
    fn file(&mut self, image: &Image) -> Option<String> {
        if let Some(file) = self.files.get(&image.number) {
            return Some(file.clone());
        }
        let folder = parent::wanted()?.folder;
        let file = format!("{}-module{}", std::process::id(), image.number);
        let beside = image.path.as_ref().map(|path| path.display().to_string());
        let written = image.write(&folder.join(&file)).and_then(|()| match (&image.ptx, beside) {
            (Some(ptx), _) => fs::write(folder.join(format!("{file}.ptx")), ptx),
            (None, Some(path)) => fs::write(folder.join(format!("{file}.path")), path),
            (None, None) => Ok(()),
        });
        if let Err(error) = written {
            parent::report(&["say", &format!("the image of a module cannot be kept: {error}")]);
            return None;
        }
        self.files.insert(image.number, file.clone());
        Some(file)
    }

    /// Launches by `call`, and keeps memory before and after it.
    fn keep(
        &self,
        driver: &Driver,
        launch: &Launch,
        call: impl FnOnce() -> Status,
        wanted: &Wanted,
        name: &str,
        source: &Source,
    ) -> Status {
        let folder = wanted.folder.join(format!("{}-launch{}", std::process::id(), self.launches));
        let mut search = Search::new(driver);
        let before = self.keep_before(driver, launch, wanted, source, &folder, &mut search);
        let (params, mut memory) = match before {
            Ok(before) => before,
            Err(error) => {
                parent::report(&["say", &format!("{name}: {error}")]);
                return call();
            }
        };
        // A launch that fails leaves a context that answers nothing.
        let architecture = driver.architecture();
        let status = call();
        let waited = if status == SUCCESS { driver.synchronize() } else { status };
        let is_cut = search.is_cut();
        let kept = if waited == SUCCESS { memory.keep_after() } else { Ok(()) }.and_then(|()| {
            let (number, module) = (self.launches, &*source.file);
            let regions = &memory.regions;
            output::write(
                &folder,
                &Kept { kernel: name, number, module, architecture, launch, params: &params, regions, is_cut, status: waited },
            )
        });
        match kept {
            Ok(()) => {
                let answer = parent::ask(&["kept", &folder.display().to_string()]);
                let goes_on = answer.is_some_and(|answer| answer.first().is_some_and(|answer| answer == "more"));
                IS_DONE.store(!goes_on, Ordering::Relaxed);
            }
            Err(error) => parent::report(&["say", &format!("{name}: {error}")]),
        }
        status
    }

    /// Keeps memory before the launch, found from its parameters and from the variables of its module.
    fn keep_before<'a>(
        &self,
        driver: &'a Driver,
        launch: &Launch,
        wanted: &Wanted,
        source: &Source,
        folder: &'a Path,
        search: &mut Search<'_>,
    ) -> io::Result<(ParamBytes, Memory<'a>)> {
        let params = launch.param_bytes(driver).map_err(io::Error::other)?;
        let status = driver.synchronize();
        if status != SUCCESS {
            return Err(io::Error::other(format!("waiting for what was launched before, the driver answers {status}")));
        }
        fs::create_dir_all(folder)?;
        let mut memory = Memory::new(driver, folder, wanted.bytes);
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
        memory.keep_found(search)?;
        Ok((params, memory))
    }
}

/// Says how often each kernel was launched, as the process ends.
extern "C" fn at_the_end() {
    if !parent::is_there() {
        return;
    }
    // A thread that ends with the process may hold it.
    let Ok(mut state) = STATE.try_lock() else { return };
    let Some(state) = state.as_mut().filter(|state| state.process == std::process::id()) else { return };
    state.forget_functions();
    for (name, count) in &state.counts {
        parent::report(&["seen", &count.to_string(), name]);
    }
}

#[used]
#[unsafe(link_section = ".fini_array")]
static AT_THE_END: extern "C" fn() = at_the_end;
