//! How a program comes to the driver's functions: `dlsym`, which is replaced here, and the library of the driver itself.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::hooks;

/// Look for a symbol in the libraries after this one.
const NEXT: *mut c_void = -1_isize as *mut c_void;
const LAZY: c_int = 1;

/// The version under which every glibc of the architecture has `dlsym`.
#[cfg(target_arch = "x86_64")]
const VERSION: &CStr = c"GLIBC_2.2.5";
#[cfg(target_arch = "aarch64")]
const VERSION: &CStr = c"GLIBC_2.17";

#[link(name = "dl")]
unsafe extern "C" {
    fn dlvsym(handle: *mut c_void, name: *const c_char, version: *const c_char) -> *mut c_void;
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
}

type Dlsym = unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void;

/// The `dlsym` of the C library. It is static and known by name to the assembly below.
static REAL: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

fn real() -> Option<Dlsym> {
    let mut found = REAL.load(Ordering::Acquire);
    if found.is_null() {
        // SAFETY: both names end with a zero.
        found = unsafe { dlvsym(NEXT, c"dlsym".as_ptr(), VERSION.as_ptr()) };
        REAL.store(found, Ordering::Release);
    }
    // SAFETY: the symbol of this name is this function.
    (!found.is_null()).then(|| unsafe { std::mem::transmute::<*mut c_void, Dlsym>(found) })
}

/// The symbol `name` of the library `handle`, as the C library finds it.
pub fn of_library(handle: *mut c_void, name: &CStr) -> *mut c_void {
    // SAFETY: the handle is one that `dlopen` gave, or stands for a search; the name ends with a zero.
    real().map_or(ptr::null_mut(), |dlsym| unsafe { dlsym(handle, name.as_ptr()) })
}

/// The library at `path`, or where the system finds it; with `is_loaded`, only if it is loaded already. Null where there is none.
pub fn open(path: &CStr, is_loaded: bool) -> *mut c_void {
    const LOADED: c_int = 4;
    // SAFETY: the path ends with a zero.
    unsafe { dlopen(path.as_ptr(), if is_loaded { LAZY | LOADED } else { LAZY }) }
}

/// The function of the driver called `name`; null where it has none.
pub fn of_driver(name: &CStr) -> *mut c_void {
    static DRIVER: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
    let mut handle = DRIVER.load(Ordering::Acquire);
    if handle.is_null() {
        // SAFETY: the name ends with a zero. What calls this has the library loaded already.
        handle = unsafe { dlopen(c"libcuda.so.1".as_ptr(), LAZY) };
        DRIVER.store(handle, Ordering::Release);
    }
    if handle.is_null() { ptr::null_mut() } else { of_library(handle, name) }
}

/// What a program gets for `name` in place of what it looks for; null where it gets that. Nothing of `std` is used up to the point where
/// the name is one of those that are replaced: `std` itself may call `dlsym`.
unsafe extern "C" fn replacement(handle: *mut c_void, name: *const c_char) -> *mut c_void {
    let Some(_) = real() else { return ptr::null_mut() };
    if name.is_null() {
        return ptr::null_mut();
    }
    // SAFETY: what is looked for has a name that ends with a zero.
    let name = unsafe { CStr::from_ptr(name) };
    if !matches!(name.to_bytes(), [b'c', b'u', ..] | [b'n', b'v', ..] | [b'_', b'_', b'n', b'v', ..]) {
        return ptr::null_mut();
    }
    hooks::in_place_of(name, || of_library(handle, name))
}

/// `dlsym` that answers with what is replaced. For all else it jumps to the real one, which looks at where it was called from: the program
/// stays the caller.
///
/// # Safety
/// As that of the C library.
#[cfg(target_arch = "x86_64")]
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub unsafe extern "C" fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void {
    core::arch::naked_asm!(
        "push rdi",
        "push rsi",
        "sub rsp, 8",
        "call {replacement}",
        "add rsp, 8",
        "pop rsi",
        "pop rdi",
        "test rax, rax",
        "jz 2f",
        "ret",
        "2:",
        "mov rax, qword ptr [rip + {real}]",
        "test rax, rax",
        "jz 3f",
        "jmp rax",
        "3:",
        "ret",
        replacement = sym replacement,
        real = sym REAL,
    )
}

/// `dlsym` that answers with what is replaced. For all else it jumps to the real one, which looks at where it was called from: the program
/// stays the caller.
///
/// # Safety
/// As that of the C library.
#[cfg(target_arch = "aarch64")]
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub unsafe extern "C" fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void {
    core::arch::naked_asm!(
        "stp x0, x1, [sp, #-32]!",
        "str x30, [sp, #16]",
        "bl {replacement}",
        "mov x16, x0",
        "ldr x30, [sp, #16]",
        "ldp x0, x1, [sp], #32",
        "cbnz x16, 2f",
        "adrp x16, {real}",
        "ldr x16, [x16, :lo12:{real}]",
        "cbz x16, 2f",
        "br x16",
        "2:",
        "mov x0, x16",
        "ret",
        replacement = sym replacement,
        real = sym REAL,
    )
}
