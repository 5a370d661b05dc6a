//! Linkers in the process, those of nvJitLink and of the driver: what a cubin was linked from is kept for it.

#![allow(non_snake_case, reason = "the names are those of nvJitLink")]

use std::collections::HashMap;
use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::driver::Handle;
use crate::made;
use crate::nvrtc;
use crate::parent;

const SUCCESS: c_int = 0;
/// What nvJitLink answers where the real function is not known.
const INTERNAL_ERROR: c_int = 6;
/// Bytes of an input at most.
const BYTES_MAX: usize = 1 << 30;

/// What a linker was given.
#[derive(Default)]
struct Linker {
    options: Vec<CString>,
    /// The kind of each input, as nvJitLink or the driver has it, and its bytes.
    inputs: Vec<(c_int, Vec<u8>)>,
}

/// The linkers that have not ended, by their handles.
static LINKERS: Mutex<Option<HashMap<usize, Linker>>> = Mutex::new(None);

fn linkers() -> MutexGuard<'static, Option<HashMap<usize, Linker>>> {
    LINKERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Remembers an input of a linker.
///
/// # Safety
/// There are as many bytes.
pub unsafe fn add_data(linker: Handle, kind: c_int, data: *const c_void, bytes: usize) {
    if !data.is_null() && bytes <= BYTES_MAX {
        // SAFETY: the caller says so.
        add(linker, kind, unsafe { std::slice::from_raw_parts(data.cast::<u8>(), bytes) }.to_vec());
    }
}

/// Remembers an input of a linker that is a file.
///
/// # Safety
/// The path ends with a zero.
pub unsafe fn add_file(linker: Handle, kind: c_int, path: *const c_char) {
    if path.is_null() {
        return;
    }
    // SAFETY: the caller says so.
    if let Ok(bytes) = std::fs::read(OsStr::from_bytes(unsafe { CStr::from_ptr(path) }.to_bytes())) {
        add(linker, kind, bytes);
    }
}

fn add(linker: Handle, kind: c_int, input: Vec<u8>) {
    if parent::is_there() {
        linkers().get_or_insert_default().entry(linker as usize).or_default().inputs.push((kind, input));
    }
}

/// Remembers what the linker of the driver has made of its inputs.
pub fn complete(linker: Handle, cubin: Vec<u8>) {
    if let Some(given) = taken(linker) {
        made::remember(cubin, Arc::new(move || given.sources()));
    }
}

fn taken(linker: Handle) -> Option<Linker> {
    linkers().as_mut()?.remove(&(linker as usize))
}

/// Forgets what a linker was given.
pub fn forget(linker: Handle) {
    drop(taken(linker));
}

impl Linker {
    /// The inputs. One that was itself made here stands for what it was made from.
    fn sources(&self) -> Vec<Vec<u8>> {
        let of = |input: &Vec<u8>| made::source_of(input).map_or_else(|| vec![input.clone()], |source| source());
        self.inputs.iter().flat_map(|(_, input)| of(input)).collect()
    }

    /// Whether inputs are the compiler's own language, of which the linker makes code.
    fn compiles(&self) -> bool {
        const LTO_IR: c_int = 3;
        self.inputs.iter().any(|(kind, _)| *kind == LTO_IR)
    }

    /// The PTX that the linker makes on the way to code: it is asked to link the same again, up to there.
    fn linked_ptx(&self) -> Option<Vec<u8>> {
        let (create, add) = (CREATE.real::<Create>()?, ADD_DATA.real::<AddData>()?);
        let (complete, destroy) = (COMPLETE.real::<Complete>()?, DESTROY.real::<Destroy>()?);
        let options: Vec<*const c_char> = self.options.iter().map(|option| option.as_ptr()).chain([c"-ptx".as_ptr()]).collect();
        let mut linker = ptr::null_mut();
        // SAFETY: these are nvJitLink's functions, with what the program gave them; the linker is used only here.
        unsafe {
            if create(&mut linker, options.len() as u32, options.as_ptr()) != SUCCESS {
                return None;
            }
            let are_added = self
                .inputs
                .iter()
                .all(|(kind, input)| add(linker, *kind, input.as_ptr().cast(), input.len(), c"input".as_ptr()) == SUCCESS);
            let is_linked = are_added && complete(linker) == SUCCESS;
            let made = || nvrtc::made(linker, complete as *mut c_void, c"nvJitLinkGetLinkedPtxSize", c"nvJitLinkGetLinkedPtx");
            let ptx = if is_linked { made() } else { None };
            destroy(&mut linker);
            ptx
        }
    }
}

/// A function of nvJitLink that is replaced.
struct Hook {
    name: &'static CStr,
    own: *const c_void,
    real: AtomicPtr<c_void>,
}

// SAFETY: the pointers are those of functions.
unsafe impl Sync for Hook {}

const fn hook(name: &'static CStr, own: *const c_void) -> Hook {
    Hook { name, own, real: AtomicPtr::new(ptr::null_mut()) }
}

static CREATE: Hook = hook(c"nvJitLinkCreate", nvJitLinkCreate as *const c_void);
static ADD_DATA: Hook = hook(c"nvJitLinkAddData", nvJitLinkAddData as *const c_void);
static ADD_FILE: Hook = hook(c"nvJitLinkAddFile", nvJitLinkAddFile as *const c_void);
static COMPLETE: Hook = hook(c"nvJitLinkComplete", nvJitLinkComplete as *const c_void);
static DESTROY: Hook = hook(c"nvJitLinkDestroy", nvJitLinkDestroy as *const c_void);
static HOOKS: [&Hook; 5] = [&CREATE, &ADD_DATA, &ADD_FILE, &COMPLETE, &DESTROY];

impl Hook {
    /// The real function, as one of type `F`.
    fn real<F: Copy>(&self) -> Option<F> {
        const { assert!(size_of::<F>() == size_of::<*mut c_void>(), "a function is a pointer") };
        let mut found = self.real.load(Ordering::Acquire);
        if found.is_null() {
            found = nvrtc::next(self.name);
        }
        // SAFETY: `F` is the type that nvJitLink's reference gives the function.
        (!found.is_null()).then(|| unsafe { std::mem::transmute_copy::<*mut c_void, F>(&found) })
    }
}

/// What takes the place of `real`, nvJitLink's function of this name; null where it is none of those that are replaced. A program that is
/// linked to it names a version: `__nvJitLinkComplete_13_0`.
pub fn in_place_of(name: &CStr, real: impl FnOnce() -> *mut c_void) -> *mut c_void {
    let plain = name.to_bytes();
    let plain = plain.strip_prefix(b"__").unwrap_or(plain);
    let is_it = |hook: &&&Hook| {
        let rest = plain.strip_prefix(hook.name.to_bytes());
        rest.is_some_and(|rest| rest.iter().all(|byte| *byte == b'_' || byte.is_ascii_digit()))
    };
    let Some(hook) = HOOKS.iter().find(is_it) else { return ptr::null_mut() };
    let found = real();
    if found.is_null() {
        return found;
    }
    // A search in all libraries finds what takes its place.
    if found != hook.own.cast_mut() {
        hook.real.store(found, Ordering::Release);
    }
    hook.own.cast_mut()
}

type Create = unsafe extern "C" fn(*mut Handle, u32, *const *const c_char) -> c_int;
type AddData = unsafe extern "C" fn(Handle, c_int, *const c_void, usize, *const c_char) -> c_int;
type AddFile = unsafe extern "C" fn(Handle, c_int, *const c_char) -> c_int;
type Complete = unsafe extern "C" fn(Handle) -> c_int;
type Destroy = unsafe extern "C" fn(*mut Handle) -> c_int;

/// As nvJitLink's.
///
/// # Safety
/// As that of nvJitLink.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvJitLinkCreate(linker: *mut Handle, count: u32, options: *const *const c_char) -> c_int {
    let Some(real) = CREATE.real::<Create>() else { return INTERNAL_ERROR };
    // SAFETY: the arguments are the program's.
    let status = unsafe { real(linker, count, options) };
    if status == SUCCESS && parent::is_there() {
        // SAFETY: nvJitLink has read the options and written the handle.
        let (handle, options) = unsafe {
            let option = |index: usize| CStr::from_ptr(*options.add(index)).to_owned();
            (*linker, (0..count as usize).map(option).collect())
        };
        linkers().get_or_insert_default().insert(handle as usize, Linker { options, inputs: Vec::new() });
    }
    status
}

/// As nvJitLink's.
///
/// # Safety
/// As that of nvJitLink.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvJitLinkAddData(linker: Handle, kind: c_int, data: *const c_void, bytes: usize, name: *const c_char) -> c_int {
    let Some(real) = ADD_DATA.real::<AddData>() else { return INTERNAL_ERROR };
    // SAFETY: the arguments are the program's.
    let status = unsafe { real(linker, kind, data, bytes, name) };
    if status == SUCCESS {
        // SAFETY: as above.
        unsafe { add_data(linker, kind, data, bytes) };
    }
    status
}

/// As nvJitLink's.
///
/// # Safety
/// As that of nvJitLink.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvJitLinkAddFile(linker: Handle, kind: c_int, path: *const c_char) -> c_int {
    let Some(real) = ADD_FILE.real::<AddFile>() else { return INTERNAL_ERROR };
    // SAFETY: the arguments are the program's.
    let status = unsafe { real(linker, kind, path) };
    if status == SUCCESS {
        // SAFETY: as above.
        unsafe { add_file(linker, kind, path) };
    }
    status
}

/// As nvJitLink's.
///
/// # Safety
/// As that of nvJitLink.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvJitLinkComplete(linker: Handle) -> c_int {
    let Some(real) = COMPLETE.real::<Complete>() else { return INTERNAL_ERROR };
    // SAFETY: the argument is the program's.
    let status = unsafe { real(linker) };
    if status == SUCCESS && parent::is_there() {
        // SAFETY: it has linked.
        let cubin = unsafe { nvrtc::made(linker, real as *mut c_void, c"nvJitLinkGetLinkedCubinSize", c"nvJitLinkGetLinkedCubin") };
        match (cubin, taken(linker)) {
            (Some(cubin), Some(given)) if given.compiles() => {
                made::remember(cubin, Arc::new(move || given.linked_ptx().into_iter().collect()));
            }
            (Some(cubin), Some(given)) => made::remember(cubin, Arc::new(move || given.sources())),
            (None, _) | (_, None) => {}
        }
    }
    status
}

/// As nvJitLink's.
///
/// # Safety
/// As that of nvJitLink.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvJitLinkDestroy(linker: *mut Handle) -> c_int {
    let Some(real) = DESTROY.real::<Destroy>() else { return INTERNAL_ERROR };
    // SAFETY: the argument is the program's.
    unsafe {
        if !linker.is_null() {
            forget(*linker);
        }
        real(linker)
    }
}

/// The replacements are known to the linker by name as well.
#[used]
static NAMED: (Create, AddData, AddFile, Complete, Destroy) =
    (nvJitLinkCreate, nvJitLinkAddData, nvJitLinkAddFile, nvJitLinkComplete, nvJitLinkDestroy);
