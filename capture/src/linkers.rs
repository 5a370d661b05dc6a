//! Linkers in the process, those of nvJitLink and of the driver: what a cubin was linked from is kept for it.

#![allow(non_snake_case, reason = "the names are those of nvJitLink")]

use std::collections::HashMap;
use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::driver::Handle;
use crate::made;
use crate::nvrtc;
use crate::parent;

const SUCCESS: c_int = 0;
/// What nvJitLink answers where the real function is not known.
const INTERNAL_ERROR: c_int = 6;
/// Bytes of an input at most.
const BYTES_MAX: usize = 1 << 30;

/// The inputs of each linker that has not ended, by its handle.
static INPUTS: Mutex<Option<HashMap<usize, Vec<Vec<u8>>>>> = Mutex::new(None);

fn inputs() -> MutexGuard<'static, Option<HashMap<usize, Vec<Vec<u8>>>>> {
    INPUTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Remembers an input of a linker.
///
/// # Safety
/// There are as many bytes.
pub unsafe fn add_data(linker: Handle, data: *const c_void, bytes: usize) {
    if !data.is_null() && bytes <= BYTES_MAX {
        // SAFETY: the caller says so.
        add(linker, unsafe { std::slice::from_raw_parts(data.cast::<u8>(), bytes) }.to_vec());
    }
}

/// Remembers an input of a linker that is a file.
///
/// # Safety
/// The path ends with a zero.
pub unsafe fn add_file(linker: Handle, path: *const c_char) {
    if path.is_null() {
        return;
    }
    // SAFETY: the caller says so.
    if let Ok(bytes) = std::fs::read(OsStr::from_bytes(unsafe { CStr::from_ptr(path) }.to_bytes())) {
        add(linker, bytes);
    }
}

fn add(linker: Handle, input: Vec<u8>) {
    if parent::is_there() {
        inputs().get_or_insert_default().entry(linker as usize).or_default().push(input);
    }
}

/// Remembers what a linker has made of its inputs.
pub fn complete(linker: Handle, cubin: Vec<u8>) {
    if let Some(given) = inputs().as_mut().and_then(|inputs| inputs.remove(&(linker as usize))) {
        made::remember(cubin, given);
    }
}

/// Forgets the inputs of a linker.
pub fn forget(linker: Handle) {
    if let Some(inputs) = inputs().as_mut() {
        inputs.remove(&(linker as usize));
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

static ADD_DATA: Hook = hook(c"nvJitLinkAddData", nvJitLinkAddData as *const c_void);
static ADD_FILE: Hook = hook(c"nvJitLinkAddFile", nvJitLinkAddFile as *const c_void);
static COMPLETE: Hook = hook(c"nvJitLinkComplete", nvJitLinkComplete as *const c_void);
static DESTROY: Hook = hook(c"nvJitLinkDestroy", nvJitLinkDestroy as *const c_void);
static HOOKS: [&Hook; 4] = [&ADD_DATA, &ADD_FILE, &COMPLETE, &DESTROY];

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

type AddData = unsafe extern "C" fn(Handle, c_int, *const c_void, usize, *const c_char) -> c_int;
type AddFile = unsafe extern "C" fn(Handle, c_int, *const c_char) -> c_int;
type Complete = unsafe extern "C" fn(Handle) -> c_int;
type Destroy = unsafe extern "C" fn(*mut Handle) -> c_int;

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
        unsafe { add_data(linker, data, bytes) };
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
        unsafe { add_file(linker, path) };
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
        if let Some(cubin) = cubin {
            complete(linker, cubin);
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
static NAMED: (AddData, AddFile, Complete, Destroy) = (nvJitLinkAddData, nvJitLinkAddFile, nvJitLinkComplete, nvJitLinkDestroy);
