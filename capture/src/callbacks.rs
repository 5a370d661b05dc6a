//! The driver's functions that CUPTI calls back for: each as it gives their parameters, one after the other as in a structure of C.

use std::ffi::{CStr, c_char, c_uint, c_void};
use std::ptr;

use crate::driver::{Handle, LaunchConfig, SUCCESS, Status};
use crate::images;
use crate::launch::Launch;
use crate::linkers;
use crate::parent;
use crate::state::{self, Entered};
use crate::textures::{self, Kind};

/// A function that is followed.
pub struct Call {
    /// CUPTI's name of it.
    pub name: &'static CStr,
    /// What is done before it; a launch that is looked at.
    pub enter: Option<unsafe fn(*const c_void) -> Option<Entered>>,
    /// What is done after it, with its answer.
    pub leave: Option<unsafe fn(*const c_void, Status)>,
}

const fn before(name: &'static CStr, enter: unsafe fn(*const c_void) -> Option<Entered>) -> Call {
    Call { name, enter: Some(enter), leave: None }
}

const fn after(name: &'static CStr, leave: unsafe fn(*const c_void, Status)) -> Call {
    Call { name, enter: None, leave: Some(leave) }
}

/// The functions that are followed.
pub static CALLS: [Call; 32] = [
    before(c"cuLaunchKernel", launch::<false, false>),
    before(c"cuLaunchKernel_ptsz", launch::<true, false>),
    before(c"cuLaunchCooperativeKernel", launch::<false, true>),
    before(c"cuLaunchCooperativeKernel_ptsz", launch::<true, true>),
    before(c"cuLaunchKernelEx", launch_ex::<false>),
    before(c"cuLaunchKernelEx_ptsz", launch_ex::<true>),
    before(c"cuGraphLaunch", launch_graph),
    before(c"cuGraphLaunch_ptsz", launch_graph),
    before(c"cuModuleUnload", unload),
    before(c"cuLibraryUnload", unload),
    before(c"cuTexObjectDestroy", destroy_texture),
    before(c"cuSurfObjectDestroy", destroy_surface),
    before(c"cuLinkDestroy", destroy_linker),
    after(c"cuModuleLoad", load_file::<false>),
    after(c"cuModuleLoadData", load::<false>),
    after(c"cuModuleLoadDataEx", load::<false>),
    after(c"cuModuleLoadFatBinary", load::<false>),
    after(c"cuLibraryLoadData", load::<true>),
    after(c"cuLibraryLoadFromFile", load_file::<true>),
    after(c"cuLinkAddData", link_data),
    after(c"cuLinkAddData_v2", link_data),
    after(c"cuLinkAddFile", link_file),
    after(c"cuLinkAddFile_v2", link_file),
    after(c"cuLinkComplete", link_complete),
    after(c"cuTexObjectCreate", make_texture),
    after(c"cuSurfObjectCreate", make_surface),
    after(c"cuStreamBeginCapture", record::<true>),
    after(c"cuStreamBeginCapture_ptsz", record::<true>),
    after(c"cuStreamBeginCapture_v2", record::<true>),
    after(c"cuStreamBeginCapture_v2_ptsz", record::<true>),
    after(c"cuStreamEndCapture", record::<false>),
    after(c"cuStreamEndCapture_ptsz", record::<false>),
];

/// Parameters of `cuLaunchKernel`; `cuLaunchCooperativeKernel` lacks the last one.
#[repr(C)]
struct LaunchParams {
    function: Handle,
    grid: [c_uint; 3],
    block: [c_uint; 3],
    shared: c_uint,
    stream: Handle,
    params: *const *const c_void,
}

unsafe fn launch<const PER_THREAD: bool, const COOPERATIVE: bool>(given: *const c_void) -> Option<Entered> {
    // SAFETY: the function has these parameters.
    let LaunchParams { function, grid, block, shared, stream, params } = unsafe { given.cast::<LaunchParams>().read() };
    let extra = if COOPERATIVE {
        ptr::null()
    } else {
        // SAFETY: it follows the others.
        unsafe { given.cast::<LaunchParams>().add(1).cast::<*const *const c_void>().read() }
    };
    state::enter(function, || {
        let launch = Launch::new(function, grid, block, shared, stream, params, extra).of_thread(PER_THREAD);
        if COOPERATIVE { launch.cooperative() } else { launch }
    })
}

unsafe fn launch_ex<const PER_THREAD: bool>(given: *const c_void) -> Option<Entered> {
    // SAFETY: the function has these parameters; all are pointers.
    let [config, function, params, extra] = unsafe { given.cast::<[*const c_void; 4]>().read() };
    let (function, params, extra) = (function.cast_mut(), params.cast(), extra.cast());
    // SAFETY: the configuration is the program's; the driver refuses a null pointer.
    let config = unsafe { config.cast::<LaunchConfig>().as_ref() }?;
    // SAFETY: it says how many attributes it has.
    state::enter(function, || unsafe { Launch::configured(config, function, params, extra) }.of_thread(PER_THREAD))
}

unsafe fn launch_graph(_: *const c_void) -> Option<Entered> {
    parent::report(&["say", "graphs are seen by CUPTI, which cannot have them launched in parts: their kernels are not captured"]);
    None
}

/// The first of the parameters.
unsafe fn first<T: Copy>(given: *const c_void) -> T {
    // SAFETY: the function has such a parameter.
    unsafe { given.cast::<T>().read() }
}

unsafe fn unload(given: *const c_void) -> Option<Entered> {
    // SAFETY: as said of it.
    images::forget(unsafe { first(given) });
    state::forget_functions();
    None
}

unsafe fn destroy_texture(given: *const c_void) -> Option<Entered> {
    // SAFETY: as said of it.
    textures::is_destroyed(Kind::Texture, unsafe { first(given) });
    None
}

unsafe fn destroy_surface(given: *const c_void) -> Option<Entered> {
    // SAFETY: as said of it.
    textures::is_destroyed(Kind::Surface, unsafe { first(given) });
    None
}

unsafe fn destroy_linker(given: *const c_void) -> Option<Entered> {
    // SAFETY: as said of it.
    linkers::forget(unsafe { first(given) });
    None
}

/// A pointer to what the driver makes, and one to what it makes it of.
unsafe fn made(given: *const c_void) -> (*const Handle, *const c_void) {
    // SAFETY: the function begins with these parameters.
    let [made, of] = unsafe { given.cast::<[*const c_void; 2]>().read() };
    (made.cast(), of)
}

unsafe fn load<const IS_LIBRARY: bool>(given: *const c_void, status: Status) {
    if status == SUCCESS {
        // SAFETY: the driver has read the image and written the handle.
        unsafe {
            let (owner, image) = made(given);
            images::record(*owner, IS_LIBRARY, image);
        }
    }
}

unsafe fn load_file<const IS_LIBRARY: bool>(given: *const c_void, status: Status) {
    if status == SUCCESS {
        // SAFETY: as above.
        unsafe {
            let (owner, path) = made(given);
            images::record_file(*owner, IS_LIBRARY, path.cast());
        }
    }
}

unsafe fn make_texture(given: *const c_void, status: Status) {
    if status == SUCCESS {
        // SAFETY: as above.
        textures::is_made(Kind::Texture, unsafe { *first::<*const u64>(given) });
    }
}

unsafe fn make_surface(given: *const c_void, status: Status) {
    if status == SUCCESS {
        // SAFETY: as above.
        textures::is_made(Kind::Surface, unsafe { *first::<*const u64>(given) });
    }
}

/// Parameters of `cuLinkAddData`.
#[repr(C)]
struct LinkData {
    linker: Handle,
    kind: std::ffi::c_int,
    data: *mut c_void,
    bytes: usize,
}

/// Parameters of `cuLinkAddFile`.
#[repr(C)]
struct LinkFile {
    linker: Handle,
    kind: std::ffi::c_int,
    path: *const c_char,
}

unsafe fn link_data(given: *const c_void, status: Status) {
    if status == SUCCESS {
        // SAFETY: as above.
        unsafe {
            let LinkData { linker, kind, data, bytes } = given.cast::<LinkData>().read();
            linkers::add_data(linker, kind, data, bytes);
        }
    }
}

unsafe fn link_file(given: *const c_void, status: Status) {
    if status == SUCCESS {
        // SAFETY: as above.
        unsafe {
            let LinkFile { linker, kind, path } = given.cast::<LinkFile>().read();
            linkers::add_file(linker, kind, path);
        }
    }
}

unsafe fn link_complete(given: *const c_void, status: Status) {
    if status == SUCCESS {
        // SAFETY: as above; the driver says how many bytes are there.
        unsafe {
            let [linker, cubin, bytes] = given.cast::<[*const c_void; 3]>().read();
            let (linker, cubin, bytes) = (linker.cast_mut(), cubin.cast::<*const u8>(), bytes.cast::<usize>());
            if !cubin.is_null() && !bytes.is_null() && !(*cubin).is_null() {
                linkers::complete(linker, std::slice::from_raw_parts(*cubin, *bytes).to_vec());
            }
        }
    }
}

unsafe fn record<const IS_BEGUN: bool>(_: *const c_void, status: Status) {
    if status == SUCCESS {
        state::records(IS_BEGUN);
    }
}
