//! NVRTC, which makes cubins in the process: the PTX that it made on the way is kept for the cubin.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::driver::Handle;
use crate::made;
use crate::parent;
use crate::symbols;

const SUCCESS: c_int = 0;
/// What is answered where the real function is not known.
const INTERNAL_ERROR: c_int = 11;
/// Look for a symbol in all libraries.
const DEFAULT: *mut c_void = ptr::null_mut();
/// Look for a symbol in the libraries after this one.
const NEXT: *mut c_void = -1_isize as *mut c_void;

type Compile = unsafe extern "C" fn(Handle, c_int, *const *const c_char) -> c_int;
type Size = unsafe extern "C" fn(Handle, *mut usize) -> c_int;
type Get = unsafe extern "C" fn(Handle, *mut c_char) -> c_int;

static REAL: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// What takes the place of the real `nvrtcCompileProgram`.
pub fn replace(real: *mut c_void) -> *mut c_void {
    if real.is_null() {
        return real;
    }
    let own = nvrtcCompileProgram as *const c_void as *mut c_void;
    // A search in all libraries finds what takes its place.
    if real != own {
        REAL.store(real, Ordering::Release);
    }
    own
}

/// As NVRTC's.
///
/// # Safety
/// As that of NVRTC.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvrtcCompileProgram(program: Handle, count: c_int, options: *const *const c_char) -> c_int {
    let mut found = REAL.load(Ordering::Acquire);
    if found.is_null() {
        found = next(c"nvrtcCompileProgram");
    }
    if found.is_null() {
        return INTERNAL_ERROR;
    }
    // SAFETY: the symbol of this name is this function, and the arguments are the program's.
    let status = unsafe { std::mem::transmute::<*mut c_void, Compile>(found)(program, count, options) };
    if status == SUCCESS && parent::is_there() {
        // SAFETY: the program has been compiled.
        let (cubin, ptx) = unsafe {
            (made(program, found, c"nvrtcGetCUBINSize", c"nvrtcGetCUBIN"), made(program, found, c"nvrtcGetPTXSize", c"nvrtcGetPTX"))
        };
        if let (Some(cubin), Some(ptx)) = (cubin, ptx) {
            made::remember(cubin, Arc::new(move || vec![ptx.clone()]));
        }
    }
    status
}

/// The symbol `name` of the libraries after this one.
pub fn next(name: &CStr) -> *mut c_void {
    symbols::of_library(NEXT, name)
}

#[repr(C)]
struct Info {
    file: *const c_char,
    base: *mut c_void,
    symbol: *const c_char,
    address: *mut c_void,
}

#[link(name = "dl")]
unsafe extern "C" {
    fn dladdr(address: *const c_void, info: *mut Info) -> c_int;
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
}

/// A function of the library in which `beside` lies.
fn beside(beside: *mut c_void, name: &CStr) -> *mut c_void {
    const LAZY_IF_LOADED: c_int = 1 | 4;
    let mut info = Info { file: ptr::null(), base: ptr::null_mut(), symbol: ptr::null(), address: ptr::null_mut() };
    // SAFETY: the result is written to a variable that lives on; the path that it names ends with a zero.
    let handle =
        unsafe { if dladdr(beside, &mut info) != 0 && !info.file.is_null() { dlopen(info.file, LAZY_IF_LOADED) } else { DEFAULT } };
    symbols::of_library(handle, name)
}

/// What a compiler or linker has made, by its functions that say how many bytes that are and copy them, beside its function `real`.
///
/// # Safety
/// It has been compiled or linked.
pub unsafe fn made(program: Handle, real: *mut c_void, size: &CStr, get: &CStr) -> Option<Vec<u8>> {
    let (size, get) = (beside(real, size), beside(real, get));
    if size.is_null() || get.is_null() {
        return None;
    }
    let mut bytes = 0;
    // SAFETY: the symbols of these names are these functions; as many bytes are written as were asked for.
    unsafe {
        let (size, get) = (std::mem::transmute::<*mut c_void, Size>(size), std::mem::transmute::<*mut c_void, Get>(get));
        if size(program, &mut bytes) != SUCCESS || bytes == 0 {
            return None;
        }
        let mut made = vec![0_u8; bytes];
        (get(program, made.as_mut_ptr().cast()) == SUCCESS).then_some(made)
    }
}
