//! What this process has seen, and the launch that is kept.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::counters::counters;
use crate::driver::{Driver, Handle, KernelNode, SUCCESS, Status, driver};
use crate::graphs::{Graph, Part};
use crate::images::{self, Image};
use crate::keeping::{Chosen, Keeping, Source};
use crate::launch::Launch;
use crate::parent;

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

/// A launch that is looked at, from before it to its answer.
pub struct Entered(Option<(Alone, Keeping)>);

/// Looks at a launch of `function`, and keeps what is before it if it is wanted; none if it is not looked at.
pub fn enter(function: Handle, launch: impl FnOnce() -> Launch) -> Option<Entered> {
    if !looks_on(|| is_unwanted(function)) {
        return None;
    }
    let (driver, launch) = (driver(), launch());
    let chosen = locked().get_or_insert_with(State::new).chosen(driver, launch.function, Some(launch.stream));
    let keeping = chosen.and_then(|chosen| {
        let alone = Alone::new();
        Some((alone, Keeping::begin(driver, &launch, chosen)?))
    });
    Some(Entered(keeping))
}

impl Entered {
    /// Keeps what is after the launch, which has answered `status`.
    pub fn leave(self, status: Status) {
        if let Some((alone, keeping)) = self.0 {
            keeping.end(status);
            drop(alone);
        }
        IS_WITHIN.set(false);
    }
}

/// Launches `function` by `call`, and keeps the launch if it is wanted.
pub fn around(function: Handle, launch: impl FnOnce() -> Launch, call: impl FnOnce() -> Status) -> Status {
    let Some(entered) = enter(function, launch) else { return call() };
    let status = call();
    entered.leave(status);
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
        Some(cut) => {
            let _alone = Alone::new();
            launch_parts(driver, cut, stream, part)
        }
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

/// While it lives, other threads launch nothing.
struct Alone {
    _keeping: MutexGuard<'static, ()>,
}

impl Alone {
    fn new() -> Self {
        let keeping = KEEPING.lock().unwrap_or_else(PoisonError::into_inner);
        IS_KEEPING.store(true, Ordering::Release);
        Self { _keeping: keeping }
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        IS_KEEPING.store(false, Ordering::Release);
    }
}

/// Nothing more is wanted.
pub fn finish() {
    IS_DONE.store(true, Ordering::Relaxed);
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
        let has_images = first == "ptx with images";
        let (owner, is_library, variables) = (image.owner, image.is_library, variables.to_vec());
        (has_images || first == "ptx").then_some(Source { file, owner, is_library, has_images, variables })
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
fn launch_parts(driver: &'static Driver, mut cut: Cut, stream: Handle, launch: impl Fn(Handle) -> Status) -> Status {
    for part in cut.parts {
        let call = || launch(part.executable());
        let kept = part.kept.and_then(|number| cut.chosen.get_mut(number)?.take());
        let status = match (kept, part.launch(driver, stream)) {
            (Some(kept), Some(own)) => {
                let keeping = Keeping::begin(driver, &own, Chosen { graph: Some(cut.nodes), ..kept });
                let status = call();
                if let Some(keeping) = keeping {
                    keeping.end(status);
                }
                status
            }
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
