//! The functions of the driver that are replaced, under their own names: a program that is linked to the driver finds them as well.

#![allow(non_snake_case, reason = "the names are the driver's")]

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use crate::driver::{Handle, LaunchConfig, NOT_FOUND, STREAM_PER_THREAD, SUCCESS, Status};
use crate::graph_hooks;
use crate::images;
use crate::launch::Launch;
use crate::linkers;
use crate::nvrtc::nvrtcCompileProgram;
use crate::state;
use crate::symbols;
use crate::texture_hooks;

/// A function that is replaced.
pub struct Hook {
    /// What `cuGetProcAddress` calls it, beside `symbol`.
    name: &'static CStr,
    /// The first version of CUDA for which it means this by that name.
    since: c_int,
    /// What the library of the driver calls it.
    symbol: &'static CStr,
    /// Whether stream 0 is that of the thread.
    is_per_thread: bool,
    /// What takes its place.
    own: *const c_void,
    /// The real one, as soon as it is known.
    real: AtomicPtr<c_void>,
}

// SAFETY: the pointers are those of functions.
unsafe impl Sync for Hook {}

pub const fn hook(name: &'static CStr, symbol: &'static CStr, own: *const c_void) -> Hook {
    Hook { name, since: 0, symbol, is_per_thread: false, own, real: AtomicPtr::new(ptr::null_mut()) }
}

pub const fn since(version: c_int, hook: Hook) -> Hook {
    Hook { since: version, ..hook }
}

pub const fn per_thread(name: &'static CStr, symbol: &'static CStr, own: *const c_void) -> Hook {
    Hook { is_per_thread: true, ..hook(name, symbol, own) }
}

static LAUNCH: Hook = hook(c"cuLaunchKernel", c"cuLaunchKernel", cuLaunchKernel as *const c_void);
static LAUNCH_PTSZ: Hook = per_thread(c"cuLaunchKernel", c"cuLaunchKernel_ptsz", cuLaunchKernel_ptsz as *const c_void);
static LAUNCH_EX: Hook = hook(c"cuLaunchKernelEx", c"cuLaunchKernelEx", cuLaunchKernelEx as *const c_void);
static LAUNCH_EX_PTSZ: Hook = per_thread(c"cuLaunchKernelEx", c"cuLaunchKernelEx_ptsz", cuLaunchKernelEx_ptsz as *const c_void);
static COOPERATIVE: Hook = hook(c"cuLaunchCooperativeKernel", c"cuLaunchCooperativeKernel", cuLaunchCooperativeKernel as *const c_void);
static COOPERATIVE_PTSZ: Hook =
    per_thread(c"cuLaunchCooperativeKernel", c"cuLaunchCooperativeKernel_ptsz", cuLaunchCooperativeKernel_ptsz as *const c_void);
static MODULE_LOAD: Hook = hook(c"cuModuleLoad", c"cuModuleLoad", cuModuleLoad as *const c_void);
static MODULE_DATA: Hook = hook(c"cuModuleLoadData", c"cuModuleLoadData", cuModuleLoadData as *const c_void);
static MODULE_DATA_EX: Hook = hook(c"cuModuleLoadDataEx", c"cuModuleLoadDataEx", cuModuleLoadDataEx as *const c_void);
static MODULE_FAT: Hook = hook(c"cuModuleLoadFatBinary", c"cuModuleLoadFatBinary", cuModuleLoadFatBinary as *const c_void);
static MODULE_UNLOAD: Hook = hook(c"cuModuleUnload", c"cuModuleUnload", cuModuleUnload as *const c_void);
static LIBRARY_DATA: Hook = hook(c"cuLibraryLoadData", c"cuLibraryLoadData", cuLibraryLoadData as *const c_void);
static LIBRARY_FILE: Hook = hook(c"cuLibraryLoadFromFile", c"cuLibraryLoadFromFile", cuLibraryLoadFromFile as *const c_void);
static LIBRARY_UNLOAD: Hook = hook(c"cuLibraryUnload", c"cuLibraryUnload", cuLibraryUnload as *const c_void);
static ADDRESS: Hook = hook(c"cuGetProcAddress", c"cuGetProcAddress", cuGetProcAddress as *const c_void);
static ADDRESS_V2: Hook = since(12000, hook(c"cuGetProcAddress", c"cuGetProcAddress_v2", cuGetProcAddress_v2 as *const c_void));
static LINK_DATA: Hook = hook(c"cuLinkAddData", c"cuLinkAddData", cuLinkAddData as *const c_void);
static LINK_DATA_V2: Hook = since(6050, hook(c"cuLinkAddData", c"cuLinkAddData_v2", cuLinkAddData_v2 as *const c_void));
static LINK_FILE: Hook = hook(c"cuLinkAddFile", c"cuLinkAddFile", cuLinkAddFile as *const c_void);
static LINK_FILE_V2: Hook = since(6050, hook(c"cuLinkAddFile", c"cuLinkAddFile_v2", cuLinkAddFile_v2 as *const c_void));
static LINK_COMPLETE: Hook = hook(c"cuLinkComplete", c"cuLinkComplete", cuLinkComplete as *const c_void);
static LINK_DESTROY: Hook = hook(c"cuLinkDestroy", c"cuLinkDestroy", cuLinkDestroy as *const c_void);

static INIT: Hook = hook(c"cuInit", c"cuInit", cuInit as *const c_void);

static HOOKS: [&Hook; 23] = [
    &INIT,
    &LAUNCH,
    &LAUNCH_PTSZ,
    &LAUNCH_EX,
    &LAUNCH_EX_PTSZ,
    &COOPERATIVE,
    &COOPERATIVE_PTSZ,
    &MODULE_LOAD,
    &MODULE_DATA,
    &MODULE_DATA_EX,
    &MODULE_FAT,
    &MODULE_UNLOAD,
    &LIBRARY_DATA,
    &LIBRARY_FILE,
    &LIBRARY_UNLOAD,
    &ADDRESS,
    &ADDRESS_V2,
    &LINK_DATA,
    &LINK_DATA_V2,
    &LINK_FILE,
    &LINK_FILE_V2,
    &LINK_COMPLETE,
    &LINK_DESTROY,
];

/// Those that are replaced: these, and those of graphs and of textures.
fn all() -> impl Iterator<Item = &'static Hook> {
    HOOKS.iter().chain(graph_hooks::HOOKS.iter()).chain(texture_hooks::HOOKS.iter()).copied()
}

/// Whether the program's first call of the driver came to what takes its place.
static IS_CALLED: AtomicBool = AtomicBool::new(false);

/// Whether calls of the program come to what takes the place of the driver's functions.
pub fn are_called() -> bool {
    IS_CALLED.load(Ordering::Acquire)
}

/// As the driver's.
///
/// # Safety
/// As that of the driver.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuInit(flags: c_uint) -> Status {
    IS_CALLED.store(true, Ordering::Release);
    // SAFETY: the argument is the program's.
    INIT.real::<unsafe extern "C" fn(c_uint) -> Status>().map_or(NOT_FOUND, |real| unsafe { real(flags) })
}

impl Hook {
    /// The stream that a program means by `stream`.
    pub fn stream(&self, stream: Handle) -> Handle {
        if self.is_per_thread && stream.is_null() { STREAM_PER_THREAD as Handle } else { stream }
    }

    /// The real function, as one of type `F`.
    pub fn real<F: Copy>(&self) -> Option<F> {
        const { assert!(size_of::<F>() == size_of::<*mut c_void>(), "a function is a pointer") };
        let mut found = self.real.load(Ordering::Acquire);
        if found.is_null() {
            found = symbols::of_driver(self.symbol);
            self.real.store(found, Ordering::Release);
        }
        // SAFETY: `F` is the type that the driver's reference gives the function.
        (!found.is_null()).then(|| unsafe { std::mem::transmute_copy::<*mut c_void, F>(&found) })
    }

    /// What takes the place of `real`, which is remembered.
    fn replace(&self, real: *mut c_void) -> *mut c_void {
        if real.is_null() {
            return real;
        }
        // A search in all libraries finds what takes its place.
        if real != self.own.cast_mut() {
            self.real.store(real, Ordering::Release);
        }
        self.own.cast_mut()
    }
}

/// What a program gets that looks for the symbol `name`, in place of what `real` finds; null where it is not replaced.
pub fn in_place_of(name: &CStr, real: impl FnOnce() -> *mut c_void) -> *mut c_void {
    if name == c"nvrtcCompileProgram" {
        return crate::nvrtc::replace(real());
    }
    match all().find(|hook| hook.symbol == name) {
        Some(hook) => hook.replace(real()),
        None => linkers::in_place_of(name, real),
    }
}

/// The flag with which the functions of the thread's default stream are asked for.
const PER_THREAD: u64 = 2;

/// Replaces `place`, the driver's function `name`.
unsafe fn replace_address(name: *const c_char, place: *mut *mut c_void, version: c_int, flags: u64) {
    if name.is_null() || place.is_null() {
        return;
    }
    // SAFETY: the driver has read the name and written the place.
    let (name, real) = unsafe { (CStr::from_ptr(name), *place) };
    let named = || all().filter(|hook| hook.symbol == name || hook.name == name && hook.since <= version);
    let of_stream = named().filter(|hook| hook.is_per_thread == (flags & PER_THREAD != 0)).max_by_key(|hook| hook.since);
    if let Some(hook) = of_stream.or(named().max_by_key(|hook| hook.since)) {
        // SAFETY: as above.
        unsafe { *place = hook.replace(real) };
    }
}

type GetAddress = unsafe extern "C" fn(*const c_char, *mut *mut c_void, c_int, u64) -> Status;
type GetAddress2 = unsafe extern "C" fn(*const c_char, *mut *mut c_void, c_int, u64, *mut c_int) -> Status;

/// As the driver's.
///
/// # Safety
/// As that of the driver.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetProcAddress(name: *const c_char, place: *mut *mut c_void, version: c_int, flags: u64) -> Status {
    let Some(real) = ADDRESS.real::<GetAddress>() else { return NOT_FOUND };
    // SAFETY: the arguments are the program's.
    let status = unsafe { real(name, place, version, flags) };
    if status == SUCCESS {
        // SAFETY: as above.
        unsafe { replace_address(name, place, version, flags) };
    }
    status
}

/// As the driver's.
///
/// # Safety
/// As that of the driver.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetProcAddress_v2(
    name: *const c_char,
    place: *mut *mut c_void,
    version: c_int,
    flags: u64,
    found: *mut c_int,
) -> Status {
    let Some(real) = ADDRESS_V2.real::<GetAddress2>() else { return NOT_FOUND };
    // SAFETY: the arguments are the program's.
    let status = unsafe { real(name, place, version, flags, found) };
    if status == SUCCESS {
        // SAFETY: as above.
        unsafe { replace_address(name, place, version, flags) };
    }
    status
}

type Params = *const *const c_void;
type LaunchKernel = unsafe extern "C" fn(Handle, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Handle, Params, Params) -> Status;
type LaunchEx = unsafe extern "C" fn(*const LaunchConfig, Handle, Params, Params) -> Status;
type LaunchCooperative = unsafe extern "C" fn(Handle, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Handle, Params) -> Status;

/// Defines a function that launches as `cuLaunchKernel` does.
macro_rules! launch_kernel {
    ($name:ident, $hook:ident) => {
        /// As the driver's.
        ///
        /// # Safety
        /// As that of the driver.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            f: Handle,
            gx: c_uint,
            gy: c_uint,
            gz: c_uint,
            bx: c_uint,
            by: c_uint,
            bz: c_uint,
            shared: c_uint,
            stream: Handle,
            params: Params,
            extra: Params,
        ) -> Status {
            let Some(real) = $hook.real::<LaunchKernel>() else { return NOT_FOUND };
            let launch = || Launch::new(f, [gx, gy, gz], [bx, by, bz], shared, stream, params, extra).of_thread($hook.is_per_thread);
            // SAFETY: the arguments are the program's.
            state::around(f, launch, || unsafe { real(f, gx, gy, gz, bx, by, bz, shared, stream, params, extra) })
        }
    };
}

/// Defines a function that launches as `cuLaunchCooperativeKernel` does.
macro_rules! launch_cooperative {
    ($name:ident, $hook:ident) => {
        /// As the driver's.
        ///
        /// # Safety
        /// As that of the driver.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            f: Handle,
            gx: c_uint,
            gy: c_uint,
            gz: c_uint,
            bx: c_uint,
            by: c_uint,
            bz: c_uint,
            shared: c_uint,
            stream: Handle,
            params: Params,
        ) -> Status {
            let Some(real) = $hook.real::<LaunchCooperative>() else { return NOT_FOUND };
            let launch = || {
                let launch = Launch::new(f, [gx, gy, gz], [bx, by, bz], shared, stream, params, ptr::null());
                launch.cooperative().of_thread($hook.is_per_thread)
            };
            // SAFETY: the arguments are the program's.
            state::around(f, launch, || unsafe { real(f, gx, gy, gz, bx, by, bz, shared, stream, params) })
        }
    };
}

/// Defines a function that launches as `cuLaunchKernelEx` does.
macro_rules! launch_ex {
    ($name:ident, $hook:ident) => {
        /// As the driver's.
        ///
        /// # Safety
        /// As that of the driver.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(config: *const LaunchConfig, f: Handle, params: Params, extra: Params) -> Status {
            let Some(real) = $hook.real::<LaunchEx>() else { return NOT_FOUND };
            // SAFETY: the arguments are the program's; a null pointer is the driver's to refuse.
            let Some(given) = (unsafe { config.as_ref() }) else { return unsafe { real(config, f, params, extra) } };
            // SAFETY: the configuration says how many attributes it has.
            let launch = || unsafe { Launch::configured(given, f, params, extra) }.of_thread($hook.is_per_thread);
            // SAFETY: as above.
            state::around(f, launch, || unsafe { real(config, f, params, extra) })
        }
    };
}

launch_kernel!(cuLaunchKernel, LAUNCH);
launch_kernel!(cuLaunchKernel_ptsz, LAUNCH_PTSZ);
launch_cooperative!(cuLaunchCooperativeKernel, COOPERATIVE);
launch_cooperative!(cuLaunchCooperativeKernel_ptsz, COOPERATIVE_PTSZ);
launch_ex!(cuLaunchKernelEx, LAUNCH_EX);
launch_ex!(cuLaunchKernelEx_ptsz, LAUNCH_EX_PTSZ);

type Load<T> = unsafe extern "C" fn(*mut Handle, *const T) -> Status;
type LoadEx = unsafe extern "C" fn(*mut Handle, *const c_void, c_uint, *mut c_int, *mut *mut c_void) -> Status;
type LoadLibrary<T> =
    unsafe extern "C" fn(*mut Handle, *const T, *mut c_int, *mut *mut c_void, c_uint, *mut c_int, *mut *mut c_void, c_uint) -> Status;
type Unload = unsafe extern "C" fn(Handle) -> Status;

/// Defines a function that loads a module as `cuModuleLoad` and `cuModuleLoadData` do.
macro_rules! load {
    ($name:ident, $hook:ident, $type:ty, $record:path) => {
        /// As the driver's.
        ///
        /// # Safety
        /// As that of the driver.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(module: *mut Handle, image: *const $type) -> Status {
            let Some(real) = $hook.real::<Load<$type>>() else { return NOT_FOUND };
            // SAFETY: the arguments are the program's.
            let status = unsafe { real(module, image) };
            if status == SUCCESS {
                // SAFETY: the driver has read the image and written the handle.
                unsafe { $record(*module, false, image) };
            }
            status
        }
    };
}

/// Defines a function that loads a library.
macro_rules! load_library {
    ($name:ident, $hook:ident, $type:ty, $record:path) => {
        /// As the driver's.
        ///
        /// # Safety
        /// As that of the driver.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            library: *mut Handle,
            image: *const $type,
            jit: *mut c_int,
            jit_values: *mut *mut c_void,
            jit_count: c_uint,
            options: *mut c_int,
            values: *mut *mut c_void,
            count: c_uint,
        ) -> Status {
            let Some(real) = $hook.real::<LoadLibrary<$type>>() else { return NOT_FOUND };
            // SAFETY: the arguments are the program's.
            let status = unsafe { real(library, image, jit, jit_values, jit_count, options, values, count) };
            if status == SUCCESS {
                // SAFETY: the driver has read the image and written the handle.
                unsafe { $record(*library, true, image) };
            }
            status
        }
    };
}

/// Defines a function that unloads a module or a library.
macro_rules! unload {
    ($name:ident, $hook:ident) => {
        /// As the driver's.
        ///
        /// # Safety
        /// As that of the driver.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(owner: Handle) -> Status {
            images::forget(owner);
            state::forget_functions();
            // SAFETY: the argument is the program's.
            $hook.real::<Unload>().map_or(NOT_FOUND, |real| unsafe { real(owner) })
        }
    };
}

load!(cuModuleLoad, MODULE_LOAD, c_char, images::record_file);
load!(cuModuleLoadData, MODULE_DATA, c_void, images::record);
load!(cuModuleLoadFatBinary, MODULE_FAT, c_void, images::record);
load_library!(cuLibraryLoadData, LIBRARY_DATA, c_void, images::record);
load_library!(cuLibraryLoadFromFile, LIBRARY_FILE, c_char, images::record_file);
unload!(cuModuleUnload, MODULE_UNLOAD);
unload!(cuLibraryUnload, LIBRARY_UNLOAD);

/// As the driver's.
///
/// # Safety
/// As that of the driver.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleLoadDataEx(
    module: *mut Handle,
    image: *const c_void,
    count: c_uint,
    options: *mut c_int,
    values: *mut *mut c_void,
) -> Status {
    let Some(real) = MODULE_DATA_EX.real::<LoadEx>() else { return NOT_FOUND };
    // SAFETY: the arguments are the program's.
    let status = unsafe { real(module, image, count, options, values) };
    if status == SUCCESS {
        // SAFETY: the driver has read the image and written the handle.
        unsafe { images::record(*module, false, image) };
    }
    status
}

type LinkData = unsafe extern "C" fn(Handle, c_int, *mut c_void, usize, *const c_char, c_uint, *mut c_int, *mut *mut c_void) -> Status;
type LinkFile = unsafe extern "C" fn(Handle, c_int, *const c_char, c_uint, *mut c_int, *mut *mut c_void) -> Status;
type LinkComplete = unsafe extern "C" fn(Handle, *mut *mut c_void, *mut usize) -> Status;

/// Defines the functions that give a linker data, and a file.
macro_rules! link {
    ($data:ident, $data_hook:ident, $file:ident, $file_hook:ident) => {
        /// As the driver's.
        ///
        /// # Safety
        /// As that of the driver.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $data(
            linker: Handle,
            kind: c_int,
            data: *mut c_void,
            bytes: usize,
            name: *const c_char,
            count: c_uint,
            options: *mut c_int,
            values: *mut *mut c_void,
        ) -> Status {
            let Some(real) = $data_hook.real::<LinkData>() else { return NOT_FOUND };
            // SAFETY: the arguments are the program's.
            let status = unsafe { real(linker, kind, data, bytes, name, count, options, values) };
            if status == SUCCESS {
                // SAFETY: as above.
                unsafe { linkers::add_data(linker, kind, data, bytes) };
            }
            status
        }

        /// As the driver's.
        ///
        /// # Safety
        /// As that of the driver.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $file(
            linker: Handle,
            kind: c_int,
            path: *const c_char,
            count: c_uint,
            options: *mut c_int,
            values: *mut *mut c_void,
        ) -> Status {
            let Some(real) = $file_hook.real::<LinkFile>() else { return NOT_FOUND };
            // SAFETY: the arguments are the program's.
            let status = unsafe { real(linker, kind, path, count, options, values) };
            if status == SUCCESS {
                // SAFETY: as above.
                unsafe { linkers::add_file(linker, kind, path) };
            }
            status
        }
    };
}

link!(cuLinkAddData, LINK_DATA, cuLinkAddFile, LINK_FILE);
link!(cuLinkAddData_v2, LINK_DATA_V2, cuLinkAddFile_v2, LINK_FILE_V2);

/// As the driver's.
///
/// # Safety
/// As that of the driver.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLinkComplete(linker: Handle, cubin: *mut *mut c_void, bytes: *mut usize) -> Status {
    let Some(real) = LINK_COMPLETE.real::<LinkComplete>() else { return NOT_FOUND };
    // SAFETY: the arguments are the program's.
    let status = unsafe { real(linker, cubin, bytes) };
    let mut made = (ptr::null_mut(), 0);
    if status == SUCCESS && !cubin.is_null() && !bytes.is_null() {
        // SAFETY: the driver has written both.
        made = unsafe { (*cubin, *bytes) };
    }
    if !made.0.is_null() {
        // SAFETY: the driver says how many bytes are there.
        linkers::complete(linker, unsafe { std::slice::from_raw_parts(made.0.cast::<u8>(), made.1) }.to_vec());
    }
    status
}

/// As the driver's.
///
/// # Safety
/// As that of the driver.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLinkDestroy(linker: Handle) -> Status {
    linkers::forget(linker);
    // SAFETY: the argument is the program's.
    LINK_DESTROY.real::<Unload>().map_or(NOT_FOUND, |real| unsafe { real(linker) })
}

/// The replacement of NVRTC's function is known to the linker by name as well.
#[used]
static NVRTC: unsafe extern "C" fn(Handle, c_int, *const *const c_char) -> c_int = nvrtcCompileProgram;
