//! A stand-in for the driver, for tests without a GPU: memory of the device is that of the process, and kernels are functions in Rust,
//! which do what `kernels.ptx` says. It answers what the capture library asks of the driver, under the names and with the binary
//! interface of the driver.

#![allow(non_snake_case, clippy::missing_safety_doc, clippy::too_many_arguments, reason = "the names and the arguments are the driver's")]

mod callbacks;
mod graphs;
mod linker;
mod textures;

use std::alloc::{Layout, alloc_zeroed};
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr;
use std::slice;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use callbacks::called;

type Handle = *mut c_void;

const SUCCESS: c_int = 0;
const INVALID_VALUE: c_int = 1;
const INVALID_HANDLE: c_int = 400;
const NOT_FOUND: c_int = 500;
/// As the driver aligns what it allocates.
const ALIGN: usize = 512;

/// Runs a kernel.
unsafe fn run(function: Handle, params: &[*const c_void]) {
    unsafe { (kernel(function).unwrap().run)(params) };
}

/// A kernel: its name, the offsets and sizes of its parameters, and what it does.
struct Kernel {
    name: &'static CStr,
    params: &'static [(usize, usize)],
    run: unsafe fn(&[*const c_void]),
}

static KERNELS: [Kernel; 6] = [
    Kernel { name: c"vecadd", params: &[(0, 8), (8, 8), (16, 8), (24, 4)], run: vecadd },
    Kernel { name: c"double_list", params: &[(0, 8)], run: double_list },
    Kernel { name: c"scale", params: &[(0, 16)], run: scale },
    Kernel { name: c"brighten", params: &[(0, 8), (8, 8), (16, 8)], run: brighten },
    Kernel { name: c"halve", params: &[(0, 8)], run: halve },
    Kernel { name: c"machine_code", params: &[], run: nothing },
];

/// Start and bytes of what is allocated; variables of the module are allocated as it is loaded.
static RANGES: Mutex<Vec<(u64, u64)>> = Mutex::new(Vec::new());
static VARIABLES: Mutex<Vec<(&CStr, u64, usize)>> = Mutex::new(Vec::new());

unsafe fn read<T: Copy>(from: *const c_void) -> T {
    unsafe { from.cast::<T>().read_unaligned() }
}

unsafe fn vecadd(params: &[*const c_void]) {
    unsafe {
        let n = read::<u32>(params[3]) as usize;
        let (a, b) = (slice::from_raw_parts(read::<*const f32>(params[0]), n), slice::from_raw_parts(read::<*const f32>(params[1]), n));
        let c = slice::from_raw_parts_mut(read::<*mut f32>(params[2]), n);
        c.iter_mut().zip(a.iter().zip(b)).for_each(|(c, (a, b))| *c = a + b);
    }
}

unsafe fn double_list(params: &[*const c_void]) {
    unsafe {
        let mut node = read::<*mut u64>(params[0]);
        while !node.is_null() {
            *node.add(1).cast::<u32>() *= 2;
            node = *node as *mut u64;
        }
    }
}

unsafe fn scale(params: &[*const c_void]) {
    unsafe {
        let (x, n, k) = (read::<*mut f32>(params[0]), read::<u32>(params[0].byte_add(8)), read::<f32>(params[0].byte_add(12)));
        let k = k * read::<f32>(variable(c"factor").0 as *const c_void);
        slice::from_raw_parts_mut(x, n as usize).iter_mut().for_each(|x| *x *= k);
        let calls = variable(c"calls").0 as *mut u32;
        *calls += 1;
        **(variable(c"table").0 as *mut *mut u32).add(1) += *calls;
    }
}

unsafe fn brighten(params: &[*const c_void]) {
    unsafe {
        let (texture, surface, sums) = (read::<u64>(params[0]), read::<u64>(params[1]), read::<*mut u32>(params[2]));
        for (x, y) in (0..4).flat_map(|y| (0..8).map(move |x| (x, y))) {
            let texel = *textures::texel(texture, x, y);
            *textures::texel(surface, x, y) += texel;
            *sums.add(y * 8 + x) = texel;
        }
    }
}

unsafe fn halve(params: &[*const c_void]) {
    unsafe { slice::from_raw_parts_mut(read::<*mut f32>(params[0]), 128).iter_mut().for_each(|x| *x *= 0.5) };
}

unsafe fn nothing(_: &[*const c_void]) {}

fn variable(name: &CStr) -> (u64, usize) {
    let variables = VARIABLES.lock().unwrap();
    variables.iter().find(|(known, ..)| *known == name).map_or((0, 0), |(_, address, bytes)| (*address, *bytes))
}

fn allocate(bytes: usize) -> u64 {
    let room = unsafe { alloc_zeroed(Layout::from_size_align(bytes.max(1), ALIGN).unwrap()) } as u64;
    RANGES.lock().unwrap().push((room, bytes as u64));
    room
}

fn kernel(function: Handle) -> Option<&'static Kernel> {
    KERNELS.iter().find(|kernel| ptr::eq(*kernel, function.cast_const().cast()))
}

#[unsafe(no_mangle)]
pub extern "C" fn cuInit(_: c_uint) -> c_int {
    callbacks::inject();
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn cuCtxSynchronize() -> c_int {
    // A kernel that hangs is waited for until the program is ended.
    while IS_LAUNCHED.load(Ordering::Acquire) && std::env::var_os("STAND_IN_HANG").is_some() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetDevice(device: *mut c_int) -> c_int {
    unsafe { *device = 0 };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetAttribute(value: *mut c_int, which: c_int, _: c_int) -> c_int {
    unsafe { *value = if which == 75 { 9 } else { 0 } };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamIsCapturing(stream: Handle, state: *mut c_int) -> c_int {
    // Stream 16 of this device records.
    unsafe { *state = c_int::from(stream as usize == 16) };
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn cuStreamBeginCapture_v2(_: Handle, _: c_int) -> c_int {
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamEndCapture(_: Handle, graph: *mut Handle) -> c_int {
    unsafe { *graph = ptr::null_mut() };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAlloc_v2(address: *mut u64, bytes: usize) -> c_int {
    unsafe { *address = allocate(bytes) };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyHtoD_v2(to: u64, from: *const c_void, bytes: usize) -> c_int {
    unsafe { ptr::copy_nonoverlapping(from.cast::<u8>(), to as *mut u8, bytes) };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyDtoH_v2(to: *mut c_void, from: u64, bytes: usize) -> c_int {
    unsafe { ptr::copy_nonoverlapping(from as *const u8, to.cast::<u8>(), bytes) };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuPointerGetAttributes(count: c_uint, which: *const c_int, places: *const *mut c_void, address: u64) -> c_int {
    let ranges = RANGES.lock().unwrap();
    let (start, bytes) = ranges.iter().copied().find(|(start, bytes)| (*start..start + bytes).contains(&address)).unwrap_or((0, 0));
    for index in 0..count as usize {
        unsafe {
            let place = *places.add(index);
            match *which.add(index) {
                2 => *place.cast::<c_uint>() = if bytes > 0 { 2 } else { 0 },
                11 => *place.cast::<u64>() = start,
                12 => *place.cast::<u64>() = bytes,
                _ => return INVALID_VALUE,
            }
        }
    }
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleLoadData(module: *mut Handle, image: *const c_void) -> c_int {
    called(1, c"cuModuleLoadData", [module.cast_const().cast(), image], || load(module))
}

fn load(module: *mut Handle) -> c_int {
    let made = Box::leak(Box::new(0_u64)) as *mut u64;
    let variables = [(c"factor", 4), (c"calls", 4), (c"table", 16)].map(|(name, bytes)| (name, allocate(bytes), bytes));
    unsafe { *(variables[0].1 as *mut f32) = 1.0 };
    *VARIABLES.lock().unwrap() = variables.to_vec();
    unsafe { *module = made.cast() };
    *MODULE.lock().unwrap() = made as usize;
    SUCCESS
}

static MODULE: Mutex<usize> = Mutex::new(0);

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleGetFunction(function: *mut Handle, _: Handle, name: *const c_char) -> c_int {
    let name = unsafe { CStr::from_ptr(name) };
    let Some(kernel) = KERNELS.iter().find(|kernel| kernel.name == name) else { return NOT_FOUND };
    unsafe { *function = ptr::from_ref(kernel).cast_mut().cast() };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleGetGlobal_v2(address: *mut u64, bytes: *mut usize, _: Handle, name: *const c_char) -> c_int {
    let found = variable(unsafe { CStr::from_ptr(name) });
    unsafe { (*address, *bytes) = found };
    if found.1 > 0 { SUCCESS } else { NOT_FOUND }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuFuncGetName(name: *mut *const c_char, function: Handle) -> c_int {
    let Some(kernel) = kernel(function) else { return INVALID_HANDLE };
    unsafe { *name = kernel.name.as_ptr() };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuFuncGetModule(module: *mut Handle, function: Handle) -> c_int {
    if kernel(function).is_none() {
        return INVALID_HANDLE;
    }
    unsafe { *module = *MODULE.lock().unwrap() as Handle };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuFuncGetParamInfo(function: Handle, index: usize, offset: *mut usize, size: *mut usize) -> c_int {
    let Some(kernel) = kernel(function) else { return INVALID_HANDLE };
    let Some(param) = kernel.params.get(index) else { return INVALID_VALUE };
    unsafe { (*offset, *size) = *param };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLaunchKernel(
    function: Handle, gx: c_uint, gy: c_uint, gz: c_uint, bx: c_uint, by: c_uint, bz: c_uint, shared: c_uint, stream: Handle,
    params: *const *const c_void, extra: *const *const c_void,
) -> c_int {
    let given = LaunchParams { function, extents: [gx, gy, gz, bx, by, bz, shared], stream, params, extra };
    called(2, c"cuLaunchKernel", given, || unsafe { launch(function, params, extra) })
}

#[repr(C)]
struct LaunchParams {
    function: Handle,
    extents: [c_uint; 7],
    stream: Handle,
    params: *const *const c_void,
    extra: *const *const c_void,
}

/// Whether a kernel was launched.
static IS_LAUNCHED: AtomicBool = AtomicBool::new(false);

unsafe fn launch(function: Handle, params: *const *const c_void, extra: *const *const c_void) -> c_int {
    IS_LAUNCHED.store(true, Ordering::Release);
    let Some(kernel) = kernel(function) else { return INVALID_HANDLE };
    unsafe {
        let given = if extra.is_null() {
            (0..kernel.params.len()).map(|index| *params.add(index)).collect::<Vec<_>>()
        } else {
            // As the program of these tests gives it: the bytes first.
            let bytes = *extra.add(1);
            kernel.params.iter().map(|(offset, _)| bytes.byte_add(*offset)).collect()
        };
        (kernel.run)(&given);
    }
    SUCCESS
}

#[repr(C)]
pub struct Config {
    extents: [c_uint; 7],
    stream: Handle,
    attributes: *const c_void,
    count: c_uint,
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLaunchKernelEx(
    config: *const Config, function: Handle, params: *const *const c_void, extra: *const *const c_void,
) -> c_int {
    let given = [config.cast(), function.cast_const(), params.cast(), extra.cast()];
    called(3, c"cuLaunchKernelEx", given, || unsafe { launch(function, params, extra) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetProcAddress_v2(name: *const c_char, place: *mut *mut c_void, _: c_int, _: u64, found: *mut c_int) -> c_int {
    let (name, place) = unsafe { (CStr::from_ptr(name), &mut *place) };
    let known: [(&CStr, *const c_void); 15] = [
        (c"cuLaunchKernel", cuLaunchKernel as *const c_void),
        (c"cuLaunchKernelEx", cuLaunchKernelEx as *const c_void),
        (c"cuModuleLoadData", cuModuleLoadData as *const c_void),
        (c"cuGetProcAddress", cuGetProcAddress_v2 as *const c_void),
        (c"cuGraphCreate", graphs::cuGraphCreate as *const c_void),
        (c"cuGraphAddKernelNode", graphs::cuGraphAddKernelNode_v2 as *const c_void),
        (c"cuStreamBeginCapture", cuStreamBeginCapture_v2 as *const c_void),
        (c"cuStreamEndCapture", cuStreamEndCapture as *const c_void),
        (c"cuGraphInstantiateWithFlags", graphs::cuGraphInstantiateWithFlags as *const c_void),
        (c"cuGraphExecKernelNodeSetParams", graphs::cuGraphExecKernelNodeSetParams_v2 as *const c_void),
        (c"cuGraphNodeSetEnabled", graphs::cuGraphNodeSetEnabled as *const c_void),
        (c"cuGraphLaunch", graphs::cuGraphLaunch as *const c_void),
        (c"cuLinkAddData", linker::cuLinkAddData_v2 as *const c_void),
        (c"cuLinkComplete", linker::cuLinkComplete as *const c_void),
        (c"cuLinkDestroy", linker::cuLinkDestroy as *const c_void),
    ];
    let address = known.iter().find(|(known, _)| *known == name).map(|(_, address)| address.cast_mut());
    *place = address.unwrap_or(ptr::null_mut());
    if !found.is_null() {
        unsafe { *found = c_int::from(address.is_none()) };
    }
    if address.is_some() { SUCCESS } else { NOT_FOUND }
}
