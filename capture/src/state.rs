//! What this process has seen, and the launch that is kept.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::ffi::CString;
use std::fs;
use std::hash::{BuildHasherDefault, Hasher};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::counters::{Counters, counters};
use crate::driver::{Driver, Handle, KernelNode, SUCCESS, Status, driver};
use crate::graphs::{Graph, Part};
use crate::images::{self, Image};
use crate::launch::{Launch, ParamBytes};
use crate::memory::Memory;
use crate::output::{self, Kept};
use crate::parent::{self, Wanted};
use crate::pointers::Search;

/// What is known by handles, which are looked up at each launch.
type Handles<V> = HashMap<usize, V, BuildHasherDefault<HandleHasher>>;

/// A hash of a handle: they are addresses.
#[derive(Default)]
struct HandleHasher(u64);

impl Hasher for HandleHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_usize(usize::from(*byte)));
    }

    fn write_usize(&mut self, number: usize) {
        self.0 = (self.0 ^ number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(26);
    }
}

/// A function that has been launched.
struct Function {
    name: String,
    /// How often kernels of this name were launched.
    launches: Arc<AtomicU64>,
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
    functions: Handles<Function>,
    /// How often kernels were launched, by their names.
    counts: BTreeMap<String, Arc<AtomicU64>>,
    /// Executable graphs.
    graphs: Handles<Graph>,
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
    static UNWANTED_HERE: RefCell<Unwanted> = const { RefCell::new(Unwanted { epoch: 0, functions: [const { None }; UNWANTED] }) };
}
/// Changes where handles may be given to other functions.
static EPOCH: AtomicUsize = AtomicUsize::new(0);
/// Whether a thread keeps a launch, which has the lock as long.
static IS_KEEPING: AtomicBool = AtomicBool::new(false);
static KEEPING: Mutex<()> = Mutex::new(());
/// How many streams are being recorded.
static RECORDED: AtomicUsize = AtomicUsize::new(0);

fn locked() -> MutexGuard<'static, Option<State>> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Functions of which no launch is wanted, as this thread knows them: each at the place that its handle chooses, with its count.
struct Unwanted {
    epoch: usize,
    functions: [Option<(usize, Arc<AtomicU64>)>; UNWANTED],
}

/// How many of them are known at most.
const UNWANTED: usize = 32;

/// The place of a function.
fn place(function: Handle) -> usize {
    (function as usize >> 4 ^ function as usize >> 9) % UNWANTED
}

/// Whether no launch of the function is wanted, as far as this thread knows; counts the launch then.
fn is_unwanted(function: Handle) -> bool {
    let known = UNWANTED_HERE.try_with(|unwanted| {
        let unwanted = unwanted.try_borrow().ok()?;
        let (known, launches) = unwanted.functions.get(place(function))?.as_ref()?;
        if *known != function as usize || unwanted.epoch != EPOCH.load(Ordering::Acquire) {
            return None;
        }
        launches.fetch_add(1, Ordering::Relaxed);
        Some(())
    });
    known.is_ok_and(|known| known.is_some())
}

/// Remembers that no launch of the function is wanted.
fn remember_unwanted(function: Handle, launches: &Arc<AtomicU64>) {
    let epoch = EPOCH.load(Ordering::Acquire);
    // A thread that ends knows nothing more.
    let _ = UNWANTED_HERE.try_with(|unwanted| {
        let Ok(mut unwanted) = unwanted.try_borrow_mut() else { return };
        if unwanted.epoch != epoch {
            *unwanted = Unwanted { epoch, functions: [const { None }; UNWANTED] };
        }
        if let Some(known) = unwanted.functions.get_mut(place(function)) {
            *known = Some((function as usize, Arc::clone(launches)));
        }
    });
}

/// Launches `function` by `call`, and keeps the launch if it is wanted.
pub fn around(function: Handle, launch: impl FnOnce() -> Launch, call: impl FnOnce() -> Status) -> Status {
    if !looks_on(|| is_unwanted(function)) {
        return call();
    }
    let (driver, launch) = (driver(), &launch());
    let chosen = locked().get_or_insert_with(State::new).chosen(driver, launch.function, Some(launch.stream));
    let status = match chosen {
        Some(chosen) => alone(|| keep(driver, launch, call, &chosen)),
        None => call(),
    };
    IS_WITHIN.set(false);
    status
}

/// Launches a graph: by `whole`, or in parts, each by `part`, where a kernel of it is to be kept.
pub fn around_graph(executable: Handle, stream: Handle, whole: impl FnOnce() -> Status, part: impl Fn(Handle) -> Status) -> Status {
    if !looks_on(|| false) {
        return whole();
    }
    let driver = driver();
    let cut = locked().get_or_insert_with(State::new).cut(driver, executable, stream);
    let status = match cut {
        Some(cut) => alone(|| launch_parts(driver, cut, stream, part)),
        None => whole(),
    };
    IS_WITHIN.set(false);
    status
}

/// Whether a launch is looked at, which lasts until `IS_WITHIN` is false again: not if it is unwanted. A function of the driver may call
/// another one.
fn looks_on(is_unwanted: impl FnOnce() -> bool) -> bool {
    if !parent::is_there() || IS_DONE.load(Ordering::Relaxed) || IS_WITHIN.get() {
        return false;
    }
    // What is kept must not be changed by the launch of another thread. No lock is held by a launch: it may wait for others.
    if IS_KEEPING.load(Ordering::Acquire) {
        drop(KEEPING.lock());
    }
    let looks_on = !is_unwanted();
    IS_WITHIN.set(looks_on);
    looks_on
}

/// Does `what` while other threads launch nothing.
fn alone(what: impl FnOnce() -> Status) -> Status {
    let _keeping = KEEPING.lock();
    IS_KEEPING.store(true, Ordering::Release);
    let status = what();
    IS_KEEPING.store(false, Ordering::Release);
    status
}

/// Does `what` with this process's state, where it looks on.
fn with_state(what: impl FnOnce(&mut State, &Driver)) {
    if parent::is_there() && !IS_DONE.load(Ordering::Relaxed) && !IS_WITHIN.get() {
        what(locked().get_or_insert_with(State::new), driver());
    }
}

/// The program has made `graph` executable, or has changed what is executable to it.
pub fn graph_is_made(executable: Handle, graph: Handle) {
    with_state(|state, driver| {
        let made = Graph::new(driver, graph).map(|mut known| {
            let is_wanted = known
                .kernels
                .iter()
                .any(|(_, function)| state.function(driver, *function).is_some_and(|function| function.source.is_some()));
            if is_wanted {
                known.copy(driver, graph);
            }
            known
        });
        match made {
            Ok(known) => _ = state.graphs.insert(executable as usize, known),
            Err(why) => parent::report(&["say", &format!("the kernels of a graph are not captured: {why}")]),
        }
    });
}

/// The program has changed an executable graph by a function that is not followed.
pub fn graph_is_changed(executable: Handle, function: &str) {
    with_state(|state, _| {
        if let Some(graph) = state.graphs.get_mut(&(executable as usize)) {
            graph.change(function);
        }
    });
}

/// The program has changed a kernel of an executable graph.
pub fn kernel_is_changed(executable: Handle, node: Handle, kernel: &KernelNode) {
    with_state(|state, driver| {
        if let Some(graph) = state.graphs.get_mut(&(executable as usize)) {
            graph.change_kernel(driver, node, kernel);
        }
    });
}

/// A stream begins to be recorded, or ends to be.
pub fn records(is_begun: bool) {
    let change = |count: usize| if is_begun { count.checked_add(1) } else { count.checked_sub(1) };
    let _ = RECORDED.fetch_update(Ordering::AcqRel, Ordering::Acquire, change);
}

/// Forgets an executable graph.
pub fn forget_graph(executable: Handle) {
    if !IS_WITHIN.get()
        && let Some(state) = locked().as_mut()
    {
        state.graphs.remove(&(executable as usize));
    }
}

/// Forgets which functions are which: their handles may be given to others.
pub fn forget_functions() {
    if let Some(state) = locked().as_mut() {
        state.forget_functions();
    }
}

/// A launch that is to be kept.
struct Chosen {
    wanted: Wanted,
    counters: &'static Counters,
    name: String,
    source: Source,
    /// Its number among the launches of wanted kernels.
    number: u64,
    /// The number of nodes, of a graph that it is in.
    graph: Option<usize>,
}

impl Chosen {
    /// Ends keeping it, with nothing more to do or for the next.
    fn end(&self, is_done: bool) {
        if is_done {
            IS_DONE.store(true, Ordering::Relaxed);
        }
        if is_done || self.wanted.nth > 0 {
            self.counters.end(is_done);
        }
    }

    /// Says why it is not kept.
    fn fail(&self, why: &dyn std::fmt::Display) {
        parent::report(&["say", &format!("{}: {why}", self.name)]);
        self.end(false);
    }
}

impl State {
    fn new() -> Self {
        let process = std::process::id();
        Self { process, functions: Handles::default(), counts: BTreeMap::new(), graphs: Handles::default(), files: HashMap::new() }
    }

    /// Forgets the functions, but not how often they were launched.
    fn forget_functions(&mut self) {
        EPOCH.fetch_add(1, Ordering::AcqRel);
        self.functions.clear();
    }

    /// What is known of a function.
    fn function(&mut self, driver: &Driver, function: Handle) -> Option<&mut Function> {
        let handle = function as usize;
        if !self.functions.contains_key(&handle) {
            let name = driver.name(function)?;
            let source = self.source(driver, function, &name);
            let launches = Arc::clone(self.counts.entry(name.clone()).or_default());
            self.functions.insert(handle, Function { name, launches, source });
        }
        self.functions.get_mut(&handle)
    }

    /// What a launch that is to be kept needs; none of others. It is put on `stream`, if it is not a part of a graph.
    fn chosen(&mut self, driver: &Driver, function: Handle, stream: Option<Handle>) -> Option<Chosen> {
        // Most launches are of kernels that are not wanted: nothing else is done for these.
        let handle = function;
        let function = self.function(driver, function)?;
        function.launches.fetch_add(1, Ordering::Relaxed);
        let Some(source) = function.source.clone() else {
            remember_unwanted(handle, &function.launches);
            return None;
        };
        if stream.is_some_and(|stream| driver.is_recording(stream)) {
            // It is launched with the graph.
            function.launches.fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        let name = function.name.clone();
        let wanted = parent::wanted()?;
        let Some(counters) = counters(&wanted.folder) else {
            parent::report(&["say", "launches cannot be counted: the folder that they are kept in cannot be used"]);
            return None;
        };
        if counters.is_done() {
            IS_DONE.store(true, Ordering::Relaxed);
            return None;
        }
        let number = counters.count();
        // One that could not be kept is followed by the next.
        let is_it = number >= wanted.nth && (wanted.nth == 0 || counters.begin());
        let chosen = is_it.then_some(Chosen { wanted, counters, name, source, number, graph: None })?;
        if RECORDED.load(Ordering::Acquire) > 0 {
            // To wait for the device would end that.
            chosen.fail(&format_args!("launch {number} is not captured, as another stream is being recorded for a graph"));
            return None;
        }
        Some(chosen)
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
        if let Err(error) = image.write(&folder, &file) {
            parent::report(&["say", &format!("the image of a module cannot be kept: {error}")]);
            return None;
        }
        self.files.insert(image.number, file.clone());
        Some(file)
    }

    /// The parts in which a graph is launched, if kernels of it are to be kept.
    fn cut(&mut self, driver: &Driver, executable: Handle, stream: Handle) -> Option<Cut> {
        // It becomes a part of another graph.
        if driver.is_recording(stream) {
            return None;
        }
        let Some(graph) = self.graphs.remove(&(executable as usize)) else {
            parent::report(&["say", "a graph was made in a way that is not looked at: its kernels are not captured"]);
            return None;
        };
        let cut = self.cut_known(driver, &graph);
        self.graphs.insert(executable as usize, graph);
        cut
    }

    fn cut_known(&mut self, driver: &Driver, graph: &Graph) -> Option<Cut> {
        if graph.has_children {
            parent::report(&["say", "the program launches graphs with graphs in them: kernels of those are not captured"]);
        }
        let kernels = graph.kernels.iter();
        let (kept, chosen): (Vec<usize>, Vec<Chosen>) =
            kernels.filter_map(|(at, function)| Some((*at, self.chosen(driver, *function, None)?))).unzip();
        if kept.is_empty() {
            return None;
        }
        match graph.parts(driver, &kept) {
            Ok(parts) => Some(Cut { parts, chosen: chosen.into_iter().map(Some).collect(), nodes: graph.len() }),
            Err(why) => {
                chosen.iter().for_each(|chosen| chosen.fail(&why));
                None
            }
        }
    }
}

/// A graph in parts.
struct Cut {
    parts: Vec<Part>,
    /// The kernels of it that are to be kept.
    chosen: Vec<Option<Chosen>>,
    /// How many nodes the graph has.
    nodes: usize,
}

/// Launches the parts of a graph, each by `launch`, and keeps those that are to be.
fn launch_parts(driver: &Driver, mut cut: Cut, stream: Handle, launch: impl Fn(Handle) -> Status) -> Status {
    for part in cut.parts {
        let call = || launch(part.executable());
        let kept = part.kept.and_then(|number| cut.chosen.get_mut(number)?.take());
        let status = match (kept, part.launch(driver, stream)) {
            (Some(kept), Some(own)) => keep(driver, &own, call, &Chosen { graph: Some(cut.nodes), ..kept }),
            (Some(kept), None) => {
                kept.fail(&"the driver does not say what the graph launches");
                call()
            }
            (None, _) => call(),
        };
        if status != SUCCESS {
            cut.chosen
                .iter()
                .flatten()
                .for_each(|kept| kept.fail(&format_args!("its graph cannot be launched: the driver answers {status}")));
            return status;
        }
    }
    SUCCESS
}

/// Launches by `call`, and keeps memory before and after it.
fn keep(driver: &Driver, launch: &Launch, call: impl FnOnce() -> Status, chosen: &Chosen) -> Status {
    let folder = chosen.wanted.folder.join(format!("{}-launch{}", std::process::id(), chosen.number));
    let mut search = Search::new(driver);
    let before = keep_before(driver, launch, chosen, &folder, &mut search);
    let (params, mut memory) = match before {
        Ok(before) => before,
        Err(error) => {
            chosen.fail(&error);
            return call();
        }
    };
    // A launch that fails leaves a context that answers nothing.
    let architecture = driver.architecture();
    let status = call();
    let waited = if status == SUCCESS { driver.synchronize() } else { status };
    let is_cut = search.is_cut();
    let kept = if waited == SUCCESS { memory.keep_after() } else { Ok(()) }.and_then(|()| {
        let Chosen { name: kernel, number, source, graph, .. } = chosen;
        let (number, graph, module) = (*number, *graph, &*source.file);
        let regions = &memory.regions;
        output::write(
            &folder,
            &Kept { kernel, number, module, architecture, launch, params: &params, regions, is_cut, graph, status: waited },
        )
    });
    match kept {
        Ok(()) => {
            let answer = parent::ask(&["kept", &folder.display().to_string()]);
            let goes_on = answer.is_some_and(|answer| answer.first().is_some_and(|answer| answer == "more"));
            chosen.end(!goes_on);
        }
        Err(error) => chosen.fail(&error),
    }
    status
}

/// Keeps memory before the launch, found from its parameters and from the variables of its module.
fn keep_before<'a>(
    driver: &'a Driver,
    launch: &Launch,
    chosen: &Chosen,
    folder: &'a Path,
    search: &mut Search<'_>,
) -> io::Result<(ParamBytes, Memory<'a>)> {
    let params = launch.param_bytes(driver).map_err(io::Error::other)?;
    let status = driver.synchronize();
    if status != SUCCESS {
        return Err(io::Error::other(format!("waiting for what was launched before, the driver answers {status}")));
    }
    fs::create_dir_all(folder)?;
    let mut memory = Memory::new(driver, folder, chosen.wanted.bytes);
    let source = &chosen.source;
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

/// Says how often each kernel was launched, as the process ends.
extern "C" fn at_the_end() {
    if !parent::is_there() {
        return;
    }
    // A thread that ends with the process may hold it.
    let Ok(mut state) = STATE.try_lock() else { return };
    let Some(state) = state.as_mut().filter(|state| state.process == std::process::id()) else { return };
    for (name, count) in &state.counts {
        parent::report(&["seen", &count.load(Ordering::Relaxed).to_string(), name]);
    }
}

#[used]
#[unsafe(link_section = ".fini_array")]
static AT_THE_END: extern "C" fn() = at_the_end;
