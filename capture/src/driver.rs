//! The driver's binary interface, as far as it is used: types, constants, and the functions that are called.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr;
use std::sync::OnceLock;

use crate::symbols;

/// What a function of the driver answers: 0 is success.
pub type Status = c_int;
/// A context, module, library, function, kernel or stream.
pub type Handle = *mut c_void;

/// Success.
pub const SUCCESS: Status = 0;
/// What a launch answers that lacks an argument.
pub const INVALID_VALUE: Status = 1;
/// What is answered where the driver lacks a function.
pub const NOT_FOUND: Status = 500;

/// The default stream of a thread, where it is named.
pub const STREAM_PER_THREAD: usize = 2;

/// What `cuLaunchKernelEx` takes.
#[repr(C)]
pub struct LaunchConfig {
    /// Blocks in x, y and z.
    pub grid: [c_uint; 3],
    /// Threads of a block in x, y and z.
    pub block: [c_uint; 3],
    /// Bytes of dynamic shared memory.
    pub shared: c_uint,
    /// The stream.
    pub stream: Handle,
    /// What else is said.
    pub attributes: *const Attribute,
    /// How many of them there are.
    pub count: c_uint,
}

/// An attribute of a launch.
#[repr(C)]
pub struct Attribute {
    /// Which one: [`Attribute::COOPERATIVE`], [`Attribute::CLUSTER`], or another one.
    pub id: c_int,
    padding: c_uint,
    /// Its value; the numbers are in the first words.
    pub value: [c_uint; 16],
}

impl Attribute {
    /// Whether the whole grid is resident at once.
    pub const COOPERATIVE: c_int = 2;
    /// Blocks of a cluster in x, y and z.
    pub const CLUSTER: c_int = 4;
}

/// Attributes of a pointer.
const POINTER_MEMORY_TYPE: c_int = 2;
const POINTER_RANGE_START: c_int = 11;
const POINTER_RANGE_BYTES: c_int = 12;
/// The type of memory that is an array of texels.
const MEMORY_ARRAY: c_uint = 3;
/// Attributes of a device: its compute capability.
const DEVICE_MAJOR: c_int = 75;
const DEVICE_MINOR: c_int = 76;

/// A kernel of a graph, as `cuGraphKernelNodeGetParams_v2` gives it; the first version lacks the last two fields.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct KernelNode {
    function: Handle,
    /// Blocks in x, y and z.
    pub grid: [c_uint; 3],
    /// Threads of a block in x, y and z.
    pub block: [c_uint; 3],
    /// Bytes of dynamic shared memory.
    pub shared: c_uint,
    /// A pointer to each parameter.
    pub params: *const *const c_void,
    /// The bytes of all parameters instead.
    pub extra: *const *const c_void,
    kernel: Handle,
    context: Handle,
}

impl Default for KernelNode {
    fn default() -> Self {
        let (none, params, extra) = (ptr::null_mut(), ptr::null(), ptr::null());
        Self { function: none, grid: [0; 3], block: [0; 3], shared: 0, params, extra, kernel: none, context: none }
    }
}

impl KernelNode {
    /// Bytes that the first version has.
    const FIRST: usize = std::mem::offset_of!(KernelNode, kernel);

    /// A copy of what the program gives, in the first version or in the second.
    ///
    /// # Safety
    /// It has as many bytes.
    pub unsafe fn given(node: *const c_void, is_first: bool) -> Self {
        let mut copy = Self::default();
        let bytes = if is_first { Self::FIRST } else { size_of::<Self>() };
        // SAFETY: the caller says so.
        unsafe { ptr::copy_nonoverlapping(node.cast::<u8>(), (&raw mut copy).cast(), bytes) };
        copy
    }

    /// The function, or the kernel in its place.
    pub fn function(&self) -> Handle {
        if self.function.is_null() { self.kernel } else { self.function }
    }
}

/// What an edge of a graph says beside its nodes.
type EdgeData = [u8; 8];
type Edges = unsafe extern "C" fn(Handle, *mut Handle, *mut Handle, *mut EdgeData, *mut usize) -> Status;

type ParamInfo = unsafe extern "C" fn(Handle, usize, *mut usize, *mut usize) -> Status;
type HandleOf = unsafe extern "C" fn(*mut Handle, Handle) -> Status;
type NameOf = unsafe extern "C" fn(*mut *const c_char, Handle) -> Status;
type GlobalOf = unsafe extern "C" fn(*mut u64, *mut usize, Handle, *const c_char) -> Status;

/// The functions of the driver that are called; those that an older driver lacks are none.
pub struct Driver {
    ctx_synchronize: Option<unsafe extern "C" fn() -> Status>,
    ctx_device: Option<unsafe extern "C" fn(*mut c_int) -> Status>,
    device_attribute: Option<unsafe extern "C" fn(*mut c_int, c_int, c_int) -> Status>,
    stream_is_capturing: Option<unsafe extern "C" fn(Handle, *mut c_int) -> Status>,
    pointer_attributes: Option<unsafe extern "C" fn(c_uint, *const c_int, *const *mut c_void, u64) -> Status>,
    copy_to_host: Option<unsafe extern "C" fn(*mut c_void, u64, usize) -> Status>,
    function_name: Option<NameOf>,
    kernel_name: Option<NameOf>,
    function_param: Option<ParamInfo>,
    kernel_param: Option<ParamInfo>,
    function_module: Option<HandleOf>,
    kernel_library: Option<HandleOf>,
    kernel_function: Option<HandleOf>,
    library_module: Option<HandleOf>,
    module_global: Option<GlobalOf>,
    library_global: Option<GlobalOf>,
    graph_clone: Option<HandleOf>,
    graph_nodes: Option<unsafe extern "C" fn(Handle, *mut Handle, *mut usize) -> Status>,
    graph_edges: Option<Edges>,
    graph_instantiate: Option<unsafe extern "C" fn(*mut Handle, Handle, u64) -> Status>,
    graph_destroy: Option<unsafe extern "C" fn(Handle) -> Status>,
    executable_destroy: Option<unsafe extern "C" fn(Handle) -> Status>,
    node_kind: Option<unsafe extern "C" fn(Handle, *mut c_int) -> Status>,
    node_of_clone: Option<unsafe extern "C" fn(*mut Handle, Handle, Handle) -> Status>,
    node_destroy: Option<unsafe extern "C" fn(Handle) -> Status>,
    kernel_node: Option<unsafe extern "C" fn(Handle, *mut KernelNode) -> Status>,
    kernel_node_set: Option<unsafe extern "C" fn(Handle, *const KernelNode) -> Status>,
    kernel_attribute: Option<unsafe extern "C" fn(Handle, c_int, *mut [c_uint; 16]) -> Status>,
}

/// The function of the driver called `name`.
pub fn function<F: Copy>(name: &CStr) -> Option<F> {
    const { assert!(size_of::<F>() == size_of::<*mut c_void>(), "a function is a pointer") };
    let found = symbols::of_driver(name);
    // SAFETY: the field that takes it has the type that the driver's reference gives the function of this name.
    (!found.is_null()).then(|| unsafe { std::mem::transmute_copy::<*mut c_void, F>(&found) })
}

/// The driver of this process.
pub fn driver() -> &'static Driver {
    static DRIVER: OnceLock<Driver> = OnceLock::new();
    DRIVER.get_or_init(|| Driver {
        ctx_synchronize: function(c"cuCtxSynchronize"),
        ctx_device: function(c"cuCtxGetDevice"),
        device_attribute: function(c"cuDeviceGetAttribute"),
        stream_is_capturing: function(c"cuStreamIsCapturing"),
        pointer_attributes: function(c"cuPointerGetAttributes"),
        copy_to_host: function(c"cuMemcpyDtoH_v2"),
        function_name: function(c"cuFuncGetName"),
        kernel_name: function(c"cuKernelGetName"),
        function_param: function(c"cuFuncGetParamInfo"),
        kernel_param: function(c"cuKernelGetParamInfo"),
        function_module: function(c"cuFuncGetModule"),
        kernel_library: function(c"cuKernelGetLibrary"),
        kernel_function: function(c"cuKernelGetFunction"),
        library_module: function(c"cuLibraryGetModule"),
        module_global: function(c"cuModuleGetGlobal_v2"),
        library_global: function(c"cuLibraryGetGlobal"),
        graph_clone: function(c"cuGraphClone"),
        graph_nodes: function(c"cuGraphGetNodes"),
        graph_edges: function(c"cuGraphGetEdges_v2"),
        graph_instantiate: function(c"cuGraphInstantiateWithFlags"),
        graph_destroy: function(c"cuGraphDestroy"),
        executable_destroy: function(c"cuGraphExecDestroy"),
        node_kind: function(c"cuGraphNodeGetType"),
        node_of_clone: function(c"cuGraphNodeFindInClone"),
        node_destroy: function(c"cuGraphDestroyNode"),
        kernel_node: function(c"cuGraphKernelNodeGetParams_v2"),
        kernel_node_set: function(c"cuGraphKernelNodeSetParams_v2"),
        kernel_attribute: function(c"cuGraphKernelNodeGetAttribute"),
    })
}

/// What is asked of the driver; none where it refuses or lacks the function.
impl Driver {
    /// Waits for all work of the current context.
    pub fn synchronize(&self) -> Status {
        // SAFETY: the function takes nothing.
        self.ctx_synchronize.map_or(NOT_FOUND, |synchronize| unsafe { synchronize() })
    }

    /// The compute capability of the current device: 90 is 9.0.
    pub fn architecture(&self) -> Option<c_int> {
        let (device, attribute) = (self.ctx_device?, self.device_attribute?);
        let mut number = 0;
        // SAFETY: the results are written to variables that live on.
        (unsafe { device(&mut number) } == SUCCESS).then_some(())?;
        let of = |which| {
            let mut value = 0;
            // SAFETY: as above.
            (unsafe { attribute(&mut value, which, number) } == SUCCESS).then_some(value)
        };
        Some(of(DEVICE_MAJOR)? * 10 + of(DEVICE_MINOR)?)
    }

    /// Whether what is put on `stream` is recorded and not run, or the driver would refuse to wait for it.
    pub fn is_recording(&self, stream: Handle) -> bool {
        let mut state = 0;
        // SAFETY: the stream is the program's, and the result is written to a variable that lives on.
        self.stream_is_capturing.is_some_and(|ask| unsafe { ask(stream, &mut state) } != SUCCESS || state != 0)
    }

    /// The allocation in which `address` lies: its first address and its bytes.
    pub fn range(&self, address: u64) -> Option<(u64, u64)> {
        let (mut kind, mut start, mut bytes) = (0 as c_uint, 0_u64, 0_u64);
        let which = [POINTER_MEMORY_TYPE, POINTER_RANGE_START, POINTER_RANGE_BYTES];
        let places = [(&raw mut kind).cast::<c_void>(), (&raw mut start).cast(), (&raw mut bytes).cast()];
        // SAFETY: each place has the size that the reference gives the attribute of the same index, and lives on.
        let status = unsafe { self.pointer_attributes?(which.len() as c_uint, which.as_ptr(), places.as_ptr(), address) };
        let is_memory = status == SUCCESS && kind != 0 && kind != MEMORY_ARRAY && bytes > 0;
        let end = start.checked_add(bytes)?;
        (is_memory && (start..end).contains(&address)).then_some((start, bytes))
    }

    /// Copies memory of the device from `address` on to `bytes`.
    pub fn copy(&self, address: u64, bytes: &mut [u8]) -> Status {
        // SAFETY: as many bytes are written as there are.
        self.copy_to_host.map_or(NOT_FOUND, |copy| unsafe { copy(bytes.as_mut_ptr().cast(), address, bytes.len()) })
    }

    /// The name of a function or kernel.
    pub fn name(&self, function: Handle) -> Option<String> {
        [self.function_name, self.kernel_name].into_iter().flatten().find_map(|ask| {
            let mut name = ptr::null();
            // SAFETY: the handle is one that the program launches; the name lives as long as its module.
            let is_known = unsafe { ask(&mut name, function) } == SUCCESS && !name.is_null();
            // SAFETY: the driver's names end with a zero.
            is_known.then(|| unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned())
        })
    }

    /// Offset and size of each parameter; none where the driver is older than CUDA 12.4.
    pub fn params(&self, function: Handle) -> Option<Vec<(usize, usize)>> {
        let mut is_known = false;
        for ask in [self.function_param, self.kernel_param].into_iter().flatten() {
            is_known = true;
            let mut params = Vec::new();
            let status = loop {
                let (mut offset, mut size) = (0, 0);
                // SAFETY: the handle is one that the program launches; the results are written to variables that live on.
                match unsafe { ask(function, params.len(), &mut offset, &mut size) } {
                    SUCCESS => params.push((offset, size)),
                    status => break status,
                }
            };
            // An index after the last one is an invalid value; a kernel in a function's place is an invalid handle.
            if !params.is_empty() || status == INVALID_VALUE {
                return Some(params);
            }
        }
        is_known.then(Vec::new)
    }

    /// The module of a function, or the library of a kernel, or the module that the library is in the current context.
    pub fn owners(&self, function: Handle) -> Vec<Handle> {
        let mut owners: Vec<Handle> =
            [self.function_module, self.kernel_library].into_iter().filter_map(|ask| handle_of(ask, function)).collect();
        let own = handle_of(self.kernel_function, function);
        owners.extend(own.and_then(|own| handle_of(self.function_module, own)));
        owners
    }

    /// The module that a library is in the current context.
    pub fn module_of(&self, library: Handle) -> Option<Handle> {
        handle_of(self.library_module, library)
    }

    /// Address and bytes of the variable `name` of a module or a library.
    pub fn variable(&self, owner: Handle, is_library: bool, name: &CStr) -> Option<(u64, u64)> {
        let ask = if is_library { self.library_global } else { self.module_global };
        let (mut address, mut bytes) = (0, 0);
        // SAFETY: the owner is loaded, and the results are written to variables that live on.
        let status = unsafe { ask?(&mut address, &mut bytes, owner, name.as_ptr()) };
        (status == SUCCESS && bytes > 0).then_some((address, bytes as u64))
    }
}

/// What is asked of the driver about graphs. Handles are those of the program, or of copies; results are written to variables that live on.
impl Driver {
    /// A copy of a graph.
    pub fn clone_graph(&self, graph: Handle) -> Result<Handle, Status> {
        let mut copy = ptr::null_mut();
        // SAFETY: as said of all of these.
        checked(unsafe { self.graph_clone.ok_or(NOT_FOUND)?(&mut copy, graph) }).map(|()| copy)
    }

    /// Destroys a graph, or an executable one.
    pub fn destroy_graph(&self, graph: Handle, is_executable: bool) {
        if let Some(destroy) = if is_executable { self.executable_destroy } else { self.graph_destroy } {
            // SAFETY: as said of all of these.
            unsafe { destroy(graph) };
        }
    }

    /// Makes a graph executable.
    pub fn instantiate(&self, graph: Handle) -> Result<Handle, Status> {
        let mut executable = ptr::null_mut();
        // SAFETY: as said of all of these.
        checked(unsafe { self.graph_instantiate.ok_or(NOT_FOUND)?(&mut executable, graph, 0) }).map(|()| executable)
    }

    /// The nodes of a graph.
    pub fn graph_nodes(&self, graph: Handle) -> Option<Vec<Handle>> {
        let (ask, mut count) = (self.graph_nodes?, 0);
        // SAFETY: as said of all of these; with no place, the driver says how many there are.
        checked(unsafe { ask(graph, ptr::null_mut(), &mut count) }).ok()?;
        let mut nodes = vec![ptr::null_mut(); count];
        // SAFETY: as many are written as there is place for.
        checked(unsafe { ask(graph, nodes.as_mut_ptr(), &mut count) }).ok()?;
        Some(nodes)
    }

    /// The edges of a graph: the nodes that each is from and to.
    pub fn graph_edges(&self, graph: Handle) -> Option<Vec<(Handle, Handle)>> {
        let (ask, mut count) = (self.graph_edges?, 0);
        let none: Handle = ptr::null_mut();
        // SAFETY: as said of all of these; with no place, the driver says how many there are.
        checked(unsafe { ask(graph, ptr::null_mut(), ptr::null_mut(), ptr::null_mut(), &mut count) }).ok()?;
        let (mut from, mut to, mut data) = (vec![none; count], vec![none; count], vec![EdgeData::default(); count]);
        if count > 0 {
            // SAFETY: as many are written as there is place for.
            checked(unsafe { ask(graph, from.as_mut_ptr(), to.as_mut_ptr(), data.as_mut_ptr(), &mut count) }).ok()?;
        }
        Some(from.into_iter().zip(to).collect())
    }

    /// The kind of a node.
    pub fn node_kind(&self, node: Handle) -> Option<c_int> {
        let mut kind = 0;
        // SAFETY: as said of all of these.
        checked(unsafe { self.node_kind?(node, &mut kind) }).ok().map(|()| kind)
    }

    /// The node that `node` is in a copy of its graph.
    pub fn node_of_clone(&self, node: Handle, copy: Handle) -> Result<Handle, Status> {
        let mut found = ptr::null_mut();
        // SAFETY: as said of all of these.
        checked(unsafe { self.node_of_clone.ok_or(NOT_FOUND)?(&mut found, node, copy) }).map(|()| found)
    }

    /// Takes a node out of its graph.
    pub fn destroy_node(&self, node: Handle) -> Result<(), Status> {
        // SAFETY: as said of all of these.
        checked(unsafe { self.node_destroy.ok_or(NOT_FOUND)?(node) })
    }

    /// What a kernel's node launches.
    pub fn kernel_node(&self, node: Handle) -> Option<KernelNode> {
        let mut kernel = KernelNode::default();
        // SAFETY: as said of all of these.
        checked(unsafe { self.kernel_node?(node, &mut kernel) }).ok().map(|()| kernel)
    }

    /// Has a kernel's node launch something else.
    pub fn set_kernel_node(&self, node: Handle, kernel: &KernelNode) -> Status {
        // SAFETY: as said of all of these; what the kernel points to is the program's.
        self.kernel_node_set.map_or(NOT_FOUND, |set| unsafe { set(node, kernel) })
    }

    /// An attribute of a kernel's node.
    pub fn kernel_attribute(&self, node: Handle, which: c_int) -> Option<[c_uint; 16]> {
        let mut value = [0; 16];
        // SAFETY: as said of all of these.
        checked(unsafe { self.kernel_attribute?(node, which, &mut value) }).ok().map(|()| value)
    }
}

fn checked(status: Status) -> Result<(), Status> {
    if status == SUCCESS { Ok(()) } else { Err(status) }
}

fn handle_of(ask: Option<HandleOf>, of: Handle) -> Option<Handle> {
    let mut found = ptr::null_mut();
    // SAFETY: the handle is one that the program has from the driver; the result is written to a variable that lives on.
    let status = unsafe { ask?(&mut found, of) };
    (status == SUCCESS && !found.is_null()).then_some(found)
}
