//! The linker of the stand-in: it gives a cubin without code, each time another one.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::sync::atomic::{AtomicU8, Ordering};

use crate::{Handle, SUCCESS};

static LINKED: AtomicU8 = AtomicU8::new(0);

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLinkCreate_v2(_: c_uint, _: *mut c_int, _: *mut *mut c_void, linker: *mut Handle) -> c_int {
    unsafe { *linker = Box::into_raw(Box::new(0_u64)).cast() };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLinkAddData_v2(
    _: Handle, _: c_int, _: *mut c_void, _: usize, _: *const c_char, _: c_uint, _: *mut c_int, _: *mut *mut c_void,
) -> c_int {
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLinkComplete(_: Handle, cubin: *mut *mut c_void, size: *mut usize) -> c_int {
    let mut bytes = vec![0_u8; 64];
    bytes[..8].copy_from_slice(b"\x7fELF\x02\x01\x01\x33");
    bytes[15] = LINKED.fetch_add(1, Ordering::Relaxed) + 1;
    bytes[16..20].copy_from_slice(&[2, 0, 190, 0]);
    bytes[52] = 64;
    unsafe { (*size, *cubin) = (bytes.len(), bytes.leak().as_mut_ptr().cast()) };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLinkDestroy(linker: Handle) -> c_int {
    drop(unsafe { Box::from_raw(linker.cast::<u64>()) });
    SUCCESS
}
