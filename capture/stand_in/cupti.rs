//! A stand-in for CUPTI: it has the stand-in for the driver call back.

#![allow(non_snake_case, clippy::missing_safety_doc, reason = "the names are those of CUPTI")]

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

type Callback = unsafe extern "C" fn(*mut c_void, c_uint, c_uint, *const c_void);

#[link(name = "cuda")]
unsafe extern "C" {
    fn stand_in_call_back(callback: Callback);
    fn stand_in_follow(number: c_uint, is_followed: bool);
}

/// The functions that the stand-in for the driver calls back for, as it numbers them.
const NAMES: [&CStr; 7] = [
    c"cuModuleLoadData",
    c"cuLaunchKernel",
    c"cuLaunchKernelEx",
    c"cuGraphLaunch",
    c"cuTexObjectCreate",
    c"cuSurfObjectCreate",
    c"cuMemAlloc_v2",
];

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuptiSubscribe(subscriber: *mut *mut c_void, callback: Callback, _: *mut c_void) -> c_int {
    if std::env::var_os("STAND_IN_SUBSCRIBER").is_some() {
        return 39;
    }
    unsafe {
        *subscriber = 8 as *mut c_void;
        stand_in_call_back(callback);
    }
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuptiEnableCallback(is_enabled: c_uint, subscriber: *mut c_void, domain: c_uint, number: c_uint) -> c_int {
    if subscriber as usize != 8 || domain != 1 {
        return 1;
    }
    unsafe { stand_in_follow(number, is_enabled != 0) };
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuptiGetCallbackName(domain: c_uint, number: c_uint, name: *mut *const c_char) -> c_int {
    let known = (number as usize).checked_sub(1).and_then(|index| NAMES.get(index)).filter(|_| domain == 1);
    let Some(known) = known else { return 1 };
    unsafe { *name = known.as_ptr() };
    0
}
