//! What the driver does for tools: it loads the library that the environment names, and calls back before and after its functions.

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

type Callback = unsafe extern "C" fn(*mut c_void, c_uint, c_uint, *const Data);

#[repr(C)]
pub struct Data {
    site: c_uint,
    name: *const c_char,
    params: *const c_void,
    status: *const c_int,
}

static CALLBACK: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
static FOLLOWED: [AtomicBool; 8] = [const { AtomicBool::new(false) }; 8];

#[link(name = "dl")]
unsafe extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// Loads the library that `CUDA_INJECTION64_PATH` names.
pub fn inject() {
    let Ok(path) = std::env::var("CUDA_INJECTION64_PATH") else { return };
    unsafe {
        let library = dlopen(CString::new(path).unwrap().as_ptr(), 1);
        if library.is_null() {
            return;
        }
        let begin = dlsym(library, c"InitializeInjection".as_ptr());
        assert!(!begin.is_null());
        std::mem::transmute::<*mut c_void, extern "C" fn() -> c_int>(begin)();
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn stand_in_call_back(callback: Callback) {
    CALLBACK.store(callback as *mut c_void, Ordering::Release);
}

#[unsafe(no_mangle)]
pub extern "C" fn stand_in_follow(number: c_uint, is_followed: bool) {
    FOLLOWED[number as usize].store(is_followed, Ordering::Release);
}

/// Does `call`, the function of this number, and calls back before and after it with its parameters.
pub fn called<P>(number: usize, name: &CStr, params: P, call: impl FnOnce() -> c_int) -> c_int {
    let callback = CALLBACK.load(Ordering::Acquire);
    if callback.is_null() || !FOLLOWED[number].load(Ordering::Acquire) {
        return call();
    }
    let callback = unsafe { std::mem::transmute::<*mut c_void, Callback>(callback) };
    let (mut status, params) = (0, (&raw const params).cast());
    let at = |site, status| unsafe {
        callback(ptr::null_mut(), 1, number as c_uint, &Data { site, name: name.as_ptr(), params, status });
    };
    at(0, &status);
    status = call();
    at(1, &status);
    status
}
