//! A program that launches kernels, for tests of `ptxdbg capture`: `program WAY IMAGE LAUNCH..`. WAY is how it comes to the driver's
//! functions (`linked`, `dlsym` or `address`), IMAGE how it gives the module (`text`, `fat` or `cubin`, or `link` for two that are linked),
//! and a LAUNCH a kernel, with `+ex` where it is launched by a configuration, `+extra` by packed parameters, or `+recorded` on a stream
//! that records; `graph=K,K,..` is a graph of these kernels, one after the other, whose first has other parameters where `changed` is
//! among them, or is disabled where `disabled` is; `begin` and `end` begin and end to record a stream; `exit=N` ends it so.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr;

type Handle = *mut c_void;
type Params = *const *const c_void;
type LoadData = unsafe extern "C" fn(*mut Handle, *const c_void) -> c_int;
type LaunchKernel = unsafe extern "C" fn(Handle, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Handle, Params, Params) -> c_int;
type LaunchEx = unsafe extern "C" fn(*const Config, Handle, Params, Params) -> c_int;
type GraphLaunch = unsafe extern "C" fn(Handle, Handle) -> c_int;
type GraphCreate = unsafe extern "C" fn(*mut Handle, c_uint) -> c_int;
type GraphAdd = unsafe extern "C" fn(*mut Handle, Handle, *const Handle, usize, *const KernelNode) -> c_int;
type GraphInstantiate = unsafe extern "C" fn(*mut Handle, Handle, u64) -> c_int;
type GraphSet = unsafe extern "C" fn(Handle, Handle, *const KernelNode) -> c_int;
type GraphEnable = unsafe extern "C" fn(Handle, Handle, c_uint) -> c_int;
type LinkData =
    unsafe extern "C" fn(Handle, c_int, *mut c_void, usize, *const c_char, c_uint, *mut c_int, *mut *mut c_void) -> c_int;
type LinkComplete = unsafe extern "C" fn(Handle, *mut *mut c_void, *mut usize) -> c_int;
type BeginCapture = unsafe extern "C" fn(Handle, c_int) -> c_int;
type EndCapture = unsafe extern "C" fn(Handle, *mut Handle) -> c_int;
type LinkDestroy = unsafe extern "C" fn(Handle) -> c_int;
type GetAddress = unsafe extern "C" fn(*const c_char, *mut *mut c_void, c_int, u64, *mut c_int) -> c_int;

#[repr(C)]
struct Config {
    extents: [c_uint; 7],
    stream: Handle,
    attributes: *const Attribute,
    count: c_uint,
}

#[repr(C)]
struct KernelNode {
    function: Handle,
    extents: [c_uint; 7],
    params: Params,
    extra: Params,
    kernel: Handle,
    context: Handle,
}

#[repr(C)]
struct Attribute {
    id: c_int,
    padding: c_uint,
    value: [c_uint; 16],
}

#[repr(C)]
struct ArrayShape {
    extents: [usize; 3],
    format: c_int,
    channels: c_uint,
    flags: c_uint,
}

#[repr(C)]
struct Resource {
    kind: c_int,
    words: [u64; 16],
    flags: c_uint,
}

#[repr(C)]
struct Side {
    at: [usize; 4],
    kind: c_uint,
    host: *const c_void,
    device: u64,
    array: Handle,
    reserved: *mut c_void,
    pitch: usize,
    height: usize,
}

#[repr(C)]
struct Copy3d {
    from: Side,
    to: Side,
    extents: [usize; 3],
}

#[link(name = "cuda")]
unsafe extern "C" {
    fn cuInit(flags: c_uint) -> c_int;
    fn cuModuleLoadData(module: *mut Handle, image: *const c_void) -> c_int;
    fn cuModuleGetFunction(function: *mut Handle, module: Handle, name: *const c_char) -> c_int;
    fn cuModuleGetGlobal_v2(address: *mut u64, bytes: *mut usize, module: Handle, name: *const c_char) -> c_int;
    fn cuMemAlloc_v2(address: *mut u64, bytes: usize) -> c_int;
    fn cuMemcpyHtoD_v2(to: u64, from: *const c_void, bytes: usize) -> c_int;
    fn cuLaunchKernel(
        f: Handle, gx: c_uint, gy: c_uint, gz: c_uint, bx: c_uint, by: c_uint, bz: c_uint, shared: c_uint, stream: Handle, params: Params,
        extra: Params,
    ) -> c_int;
    fn cuLaunchKernelEx(config: *const Config, f: Handle, params: Params, extra: Params) -> c_int;
    fn cuStreamBeginCapture_v2(stream: Handle, mode: c_int) -> c_int;
    fn cuStreamEndCapture(stream: Handle, graph: *mut Handle) -> c_int;
    fn cuGraphCreate(graph: *mut Handle, flags: c_uint) -> c_int;
    fn cuGraphAddKernelNode_v2(node: *mut Handle, graph: Handle, after: *const Handle, count: usize, kernel: *const KernelNode) -> c_int;
    fn cuGraphInstantiateWithFlags(executable: *mut Handle, graph: Handle, flags: u64) -> c_int;
    fn cuGraphExecKernelNodeSetParams_v2(executable: Handle, node: Handle, kernel: *const KernelNode) -> c_int;
    fn cuGraphNodeSetEnabled(executable: Handle, node: Handle, is_enabled: c_uint) -> c_int;
    fn cuGraphLaunch(executable: Handle, stream: Handle) -> c_int;
    fn cuGraphDestroy(graph: Handle) -> c_int;
    fn cuLinkCreate_v2(count: c_uint, options: *mut c_int, values: *mut *mut c_void, linker: *mut Handle) -> c_int;
    fn cuLinkAddData_v2(
        linker: Handle, kind: c_int, data: *mut c_void, size: usize, name: *const c_char, count: c_uint, options: *mut c_int,
        values: *mut *mut c_void,
    ) -> c_int;
    fn cuLinkComplete(linker: Handle, cubin: *mut *mut c_void, size: *mut usize) -> c_int;
    fn cuLinkDestroy(linker: Handle) -> c_int;
    fn cuArray3DCreate_v2(array: *mut Handle, shape: *const ArrayShape) -> c_int;
    fn cuMemcpy3D_v2(copy: *const Copy3d) -> c_int;
    fn cuTexObjectCreate(handle: *mut u64, of: *const Resource, sampling: *const [c_uint; 26], view: *const c_void) -> c_int;
    fn cuSurfObjectCreate(handle: *mut u64, of: *const Resource) -> c_int;
}

#[link(name = "dl")]
unsafe extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
}

const PTX: &CStr = match CStr::from_bytes_with_nul(concat!(include_str!("kernels.ptx"), "\0").as_bytes()) {
    Ok(text) => text,
    Err(_) => c"",
};

/// The functions of the driver that are looked for by name.
struct Functions {
    load: LoadData,
    launch: LaunchKernel,
    launch_ex: LaunchEx,
    graph: GraphFunctions,
    link: (LinkData, LinkComplete, LinkDestroy),
    record: (BeginCapture, EndCapture),
}

struct GraphFunctions {
    create: GraphCreate,
    add: GraphAdd,
    instantiate: GraphInstantiate,
    set: GraphSet,
    enable: GraphEnable,
    launch: GraphLaunch,
}

fn functions(way: &str) -> Functions {
    let library = unsafe { dlopen(c"libcuda.so.1".as_ptr(), 1) };
    let by_name = |name: &CStr| unsafe { dlsym(library, name.as_ptr()) };
    let by_address = |name: &CStr| {
        let get = unsafe { std::mem::transmute::<*mut c_void, GetAddress>(by_name(c"cuGetProcAddress_v2")) };
        let (mut found, mut status) = (ptr::null_mut(), 0);
        // The version in which the driver has the function first, as the runtime asks.
        let version = if name == c"cuGraphInstantiateWithFlags" { 11040 } else { 12040 };
        assert_eq!(unsafe { get(name.as_ptr(), &mut found, version, 0, &mut status) }, 0, "{name:?}");
        found
    };
    // A library has the newest version of a function under its own name.
    let find = |name: &CStr, symbol: &CStr| if way == "dlsym" { by_name(symbol) } else { by_address(name) };
    macro_rules! found {
        ($type:ty, $name:literal, $symbol:ident) => {
            if way == "linked" { $symbol } else {
                let symbol = std::ffi::CString::new(stringify!($symbol)).unwrap();
                unsafe { std::mem::transmute::<*mut c_void, $type>(find($name, &symbol)) }
            }
        };
    }
    let graph = GraphFunctions {
        create: found!(GraphCreate, c"cuGraphCreate", cuGraphCreate),
        add: found!(GraphAdd, c"cuGraphAddKernelNode", cuGraphAddKernelNode_v2),
        instantiate: found!(GraphInstantiate, c"cuGraphInstantiateWithFlags", cuGraphInstantiateWithFlags),
        set: found!(GraphSet, c"cuGraphExecKernelNodeSetParams", cuGraphExecKernelNodeSetParams_v2),
        enable: found!(GraphEnable, c"cuGraphNodeSetEnabled", cuGraphNodeSetEnabled),
        launch: found!(GraphLaunch, c"cuGraphLaunch", cuGraphLaunch),
    };
    Functions {
        load: found!(LoadData, c"cuModuleLoadData", cuModuleLoadData),
        launch: found!(LaunchKernel, c"cuLaunchKernel", cuLaunchKernel),
        launch_ex: found!(LaunchEx, c"cuLaunchKernelEx", cuLaunchKernelEx),
        graph,
        link: (
            found!(LinkData, c"cuLinkAddData", cuLinkAddData_v2),
            found!(LinkComplete, c"cuLinkComplete", cuLinkComplete),
            found!(LinkDestroy, c"cuLinkDestroy", cuLinkDestroy),
        ),
        record: (
            found!(BeginCapture, c"cuStreamBeginCapture", cuStreamBeginCapture_v2),
            found!(EndCapture, c"cuStreamEndCapture", cuStreamEndCapture),
        ),
    }
}

/// What the driver links of two modules.
fn linked(functions: &Functions) -> *const c_void {
    let (add, complete, destroy) = functions.link;
    let (mut linker, mut cubin, mut size) = (ptr::null_mut(), ptr::null_mut(), 0);
    assert_eq!(unsafe { cuLinkCreate_v2(0, ptr::null_mut(), ptr::null_mut(), &mut linker) }, 0);
    for text in [include_str!("half.ptx"), include_str!("linked.ptx")] {
        let data = text.as_ptr().cast_mut().cast();
        assert_eq!(unsafe { add(linker, 1, data, text.len(), ptr::null(), 0, ptr::null_mut(), ptr::null_mut()) }, 0);
    }
    assert_eq!(unsafe { complete(linker, &mut cubin, &mut size) }, 0);
    // The linker owns what it has made.
    let copy = unsafe { std::slice::from_raw_parts(cubin.cast::<u8>(), size) }.to_vec().leak();
    assert_eq!(unsafe { destroy(linker) }, 0);
    copy.as_ptr().cast()
}

/// Makes a graph of kernels, one after the other, and launches it twice.
fn graph(functions: &Functions, module: Handle, words: &str) {
    let GraphFunctions { create, add, instantiate, set, enable, launch } = functions.graph;
    let (mut graph, mut executable) = (ptr::null_mut(), ptr::null_mut());
    assert_eq!(unsafe { create(&mut graph, 0) }, 0);
    let (mut nodes, mut functions_of) = (Vec::new(), Vec::new());
    let node_of = |function: Handle, kernel: &str, given: &[*const c_void]| {
        let (blocks, threads) = extents(kernel);
        let extents = [blocks, 1, 1, threads, 1, 1, 0];
        KernelNode { function, extents, params: given.as_ptr(), extra: ptr::null(), kernel: ptr::null_mut(), context: ptr::null_mut() }
    };
    let kernels = || words.split(',').filter(|word| !matches!(*word, "changed" | "disabled"));
    let pointers_to = |given: &[Vec<u8>]| given.iter().map(|bytes| bytes.as_ptr().cast()).collect::<Vec<*const c_void>>();
    for kernel in kernels() {
        let name = std::ffi::CString::new(kernel).unwrap();
        let (mut function, mut node) = (ptr::null_mut(), ptr::null_mut());
        assert_eq!(unsafe { cuModuleGetFunction(&mut function, module, name.as_ptr()) }, 0, "{kernel}");
        let given = params(module, kernel);
        let pointers = pointers_to(&given);
        let after: Vec<Handle> = nodes.last().copied().into_iter().collect();
        assert_eq!(unsafe { add(&mut node, graph, after.as_ptr(), after.len(), &node_of(function, kernel, &pointers)) }, 0);
        nodes.push(node);
        functions_of.push(function);
    }
    assert_eq!(unsafe { instantiate(&mut executable, graph, 0) }, 0);
    let first = kernels().next().unwrap();
    if words.contains("changed") {
        let given = params(module, first);
        let pointers = pointers_to(&given);
        assert_eq!(unsafe { set(executable, nodes[0], &node_of(functions_of[0], first, &pointers)) }, 0);
    }
    if words.contains("disabled") {
        assert_eq!(unsafe { enable(executable, nodes[0], 0) }, 0);
    }
    assert_eq!(unsafe { cuGraphDestroy(graph) }, 0);
    for _ in 0..2 {
        assert_eq!(unsafe { launch(executable, ptr::null_mut()) }, 0);
    }
}

/// Blocks, and threads of a block.
fn extents(kernel: &str) -> (c_uint, c_uint) {
    let threads = match kernel {
        "double_list" => 1,
        "brighten" => 32,
        _ => 128,
    };
    (if kernel == "vecadd" { 8 } else { 1 }, threads)
}

/// A fat binary with the text in it, in the wrapper that a program has.
fn fat() -> *const c_void {
    let text = PTX.to_bytes();
    let padded = text.len().next_multiple_of(8);
    let mut entry = vec![0_u8; 64];
    let mut put = |at: usize, bytes: &[u8]| entry[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, &1_u16.to_le_bytes());
    put(2, &0x101_u16.to_le_bytes());
    put(4, &64_u32.to_le_bytes());
    put(8, &(padded as u64).to_le_bytes());
    put(28, &80_u32.to_le_bytes());
    put(40, &0x11_u64.to_le_bytes());
    let mut bytes = [0xba55_ed50_u32.to_le_bytes(), [1, 0, 16, 0]].concat();
    bytes.extend(((64 + padded) as u64).to_le_bytes());
    bytes.extend(entry);
    bytes.extend(text);
    bytes.resize(16 + 64 + padded, 0);
    let data = bytes.leak().as_ptr() as u64;
    vec![0x0000_0001_4662_43b1, data, 0].leak().as_ptr().cast::<u64>().cast()
}

/// The header of a cubin and nothing more: 64-bit ELF for the machine 190.
fn cubin() -> *const c_void {
    let mut bytes = vec![0_u8; 64];
    bytes[..8].copy_from_slice(b"\x7fELF\x02\x01\x01\x33");
    bytes[16..20].copy_from_slice(&[2, 0, 190, 0]);
    bytes[52] = 64;
    bytes.leak().as_ptr().cast()
}

fn allocated<T: Copy>(values: &[T]) -> u64 {
    let (mut address, bytes) = (0, size_of_val(values));
    assert_eq!(unsafe { cuMemAlloc_v2(&mut address, bytes) }, 0);
    assert_eq!(unsafe { cuMemcpyHtoD_v2(address, values.as_ptr().cast(), bytes) }, 0);
    address
}

/// An array of 8 by 4 numbers that begin at `first`.
fn image(first: u32) -> Resource {
    let (mut array, none) = (ptr::null_mut(), ptr::null_mut());
    assert_eq!(unsafe { cuArray3DCreate_v2(&mut array, &ArrayShape { extents: [8, 4, 0], format: 3, channels: 1, flags: 2 }) }, 0);
    let numbers: Vec<u32> = (first..first + 32).collect();
    let host = numbers.as_ptr().cast();
    let side = |kind, array| Side { at: [0; 4], kind, host, device: 0, array, reserved: none, pitch: 32, height: 4 };
    assert_eq!(unsafe { cuMemcpy3D_v2(&Copy3d { from: side(1, none), to: side(3, array), extents: [32, 4, 1] }) }, 0);
    let mut words = [0; 16];
    words[0] = array as u64;
    Resource { kind: 0, words, flags: 0 }
}

fn set(module: Handle, name: &CStr, bytes: &[u8]) {
    let (mut address, mut size) = (0, 0);
    assert_eq!(unsafe { cuModuleGetGlobal_v2(&mut address, &mut size, module, name.as_ptr()) }, 0);
    assert!(bytes.len() <= size);
    assert_eq!(unsafe { cuMemcpyHtoD_v2(address, bytes.as_ptr().cast(), bytes.len()) }, 0);
}

/// The bytes of the kernel's parameters.
fn params(module: Handle, kernel: &str) -> Vec<Vec<u8>> {
    let long = |value: u64| value.to_le_bytes().to_vec();
    match kernel {
        "vecadd" => {
            let numbers: Vec<f32> = (0..1000).map(|number| number as f32 * 0.5).collect();
            let (a, b, c) = (allocated(&numbers), allocated(&[1.25_f32; 1000]), allocated(&[0_f32; 1000]));
            vec![long(a), long(b), long(c), 1000_u32.to_le_bytes().to_vec()]
        }
        "double_list" => {
            let third = allocated(&[0_u64, 30]);
            let second = allocated(&[third, 20]);
            vec![long(allocated(&[second, 10]))]
        }
        "scale" => {
            set(module, c"factor", &2_f32.to_le_bytes());
            set(module, c"table", &[0_u64.to_le_bytes(), allocated(&[40_u32, 7]).to_le_bytes()].concat());
            let mut all = long(allocated(&[1_f32, 2.0, 3.0, 4.0]));
            all.extend(4_u32.to_le_bytes());
            all.extend(1.5_f32.to_le_bytes());
            vec![all]
        }
        "brighten" => {
            let (mut texture, mut surface) = (0, 0);
            // Texels are given as they are.
            let mut sampling = [0; 26];
            sampling[..3].fill(1);
            sampling[4] = 1;
            assert_eq!(unsafe { cuTexObjectCreate(&mut texture, &image(100), &sampling, ptr::null()) }, 0);
            assert_eq!(unsafe { cuSurfObjectCreate(&mut surface, &image(7)) }, 0);
            vec![long(texture), long(surface), long(allocated(&[0_u32; 32]))]
        }
        "halve" => vec![long(allocated(&[3_f32; 128]))],
        _ => Vec::new(),
    }
}

fn launch(functions: &Functions, module: Handle, words: &str) {
    let mut words = words.split('+');
    let kernel = words.next().unwrap_or_default();
    let ways: Vec<&str> = words.collect();
    let name = std::ffi::CString::new(kernel).unwrap();
    let mut function = ptr::null_mut();
    assert_eq!(unsafe { cuModuleGetFunction(&mut function, module, name.as_ptr()) }, 0, "{kernel}");
    let given = params(module, kernel);
    let pointers: Vec<*const c_void> = given.iter().map(|bytes| bytes.as_ptr().cast()).collect();
    let packed = given.concat();
    let size = packed.len();
    let list: [*const c_void; 5] = [1 as _, packed.as_ptr().cast(), 2 as _, (&raw const size).cast(), ptr::null()];
    let is_packed = ways.contains(&"extra");
    let (params, extra) = if is_packed { (ptr::null(), list.as_ptr()) } else { (pointers.as_ptr(), ptr::null()) };
    let stream = if ways.contains(&"recorded") { 16 } else { 0 } as Handle;
    let status = if ways.contains(&"ex") {
        let attributes = [Attribute { id: 4, padding: 0, value: [2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0] }];
        let config = Config { extents: [8, 1, 1, 128, 1, 1, 0], stream, attributes: attributes.as_ptr(), count: 1 };
        unsafe { (functions.launch_ex)(&config, function, params, extra) }
    } else {
        let (blocks, threads) = extents(kernel);
        unsafe { (functions.launch)(function, blocks, 1, 1, threads, 1, 1, 0, stream, params, extra) }
    };
    assert_eq!(status, 0, "{kernel}");
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [way, image, launches @ ..] = words.as_slice() else { panic!("program WAY IMAGE LAUNCH..") };
    let functions = functions(way);
    let image = match image.as_str() {
        "fat" => fat(),
        "cubin" => cubin(),
        "link" => linked(&functions),
        _ => PTX.as_ptr().cast(),
    };
    let mut module = ptr::null_mut();
    assert_eq!(unsafe { cuInit(0) }, 0);
    assert_eq!(unsafe { (functions.load)(&mut module, image) }, 0);
    for words in launches {
        match words.strip_prefix("exit=") {
            Some(status) => std::process::exit(status.parse().unwrap()),
            None if words == "begin" => assert_eq!(unsafe { functions.record.0(16 as Handle, 0) }, 0),
            None if words == "end" => assert_eq!(unsafe { functions.record.1(16 as Handle, &mut ptr::null_mut()) }, 0),
            None => match words.strip_prefix("graph=") {
                Some(kernels) => graph(&functions, module, kernels),
                None => launch(&functions, module, words),
            },
        }
    }
}
