//! Handles that callers own, and structs that callers fill.

use std::ffi::c_char;
use std::ptr;

use crate::error::{Failure, Status, guarded, guarded_get};

/// Allocates the result of `make` for the caller and stores a pointer to it in `out`; a null pointer after a failure.
///
/// # Safety
/// `out` is null or points to a pointer.
pub unsafe fn create<T>(out: *mut *mut T, make: impl FnOnce() -> Result<T, Failure>) -> Status {
    guarded(|| {
        if out.is_null() {
            return Err(Failure::argument("the place for the result is a null pointer"));
        }
        // SAFETY: the caller says so.
        unsafe { *out = ptr::null_mut() };
        let made = Box::new(make()?);
        // SAFETY: the caller says so.
        unsafe { *out = Box::into_raw(made) };
        Ok(())
    })
}

/// Frees a handle of [`create`].
///
/// # Safety
/// `handle` is null, or came from there and is not used afterwards.
pub unsafe fn free<T>(handle: *mut T) {
    guarded(|| {
        if !handle.is_null() {
            // SAFETY: the caller says so.
            drop(unsafe { Box::from_raw(handle) });
        }
        Ok(())
    });
}

/// The value of a handle; `what` is its name in a message.
///
/// # Safety
/// `handle` is null, or came from [`create`] and lives for `'a`.
pub unsafe fn required<'a, T>(handle: *const T, what: &str) -> Result<&'a T, Failure> {
    // SAFETY: the caller says so.
    unsafe { handle.as_ref() }.ok_or_else(|| Failure::argument(format!("{what} is a null pointer")))
}

/// The result of `get` for a handle; `none` for a null pointer.
///
/// # Safety
/// As of [`required`].
pub unsafe fn get_or<T, R>(handle: *const T, none: R, get: impl FnOnce(&T) -> R) -> R {
    // SAFETY: the caller says so.
    match unsafe { handle.as_ref() } {
        Some(handle) => guarded_get(get, handle).unwrap_or(none),
        None => none,
    }
}

/// [`get_or`] for a text; a null pointer for a null pointer.
///
/// # Safety
/// As of [`required`].
pub unsafe fn get_text<T>(handle: *const T, get: impl FnOnce(&T) -> *const c_char) -> *const c_char {
    // SAFETY: the caller says so.
    unsafe { get_or(handle, ptr::null(), get) }
}

/// A struct that callers fill, whose first member is its size in bytes in the caller's header.
///
/// # Safety
/// It is `repr(C)`, its first member is a `usize`, and all zeros are a valid value.
pub unsafe trait Filled: Sized {
    /// Its name in C.
    const NAME: &'static str;
}

/// Maximum size of a struct: more is a mistake.
const SIZE_MAX: usize = 1 << 12;

/// A copy of a struct that a caller has filled, with zeros for members that an older header does not have; `None` for a null pointer.
///
/// # Safety
/// `from` is null, or points to the number of bytes in its first member.
pub unsafe fn filled<T: Filled>(from: *const T) -> Result<Option<T>, Failure> {
    if from.is_null() {
        return Ok(None);
    }
    let own = size_of::<T>();
    // SAFETY: the caller says so; the first member is the size.
    let size = unsafe { from.cast::<usize>().read() };
    if !(size_of::<usize>()..=SIZE_MAX).contains(&size) {
        return Err(Failure::argument(format!("the size of a {0} is {size}: it is to be sizeof ({0}), {own}", T::NAME)));
    }
    // SAFETY: the caller says that there are as many bytes.
    let bytes = unsafe { std::slice::from_raw_parts(from.cast::<u8>(), size) };
    if bytes.iter().skip(own).any(|byte| *byte != 0) {
        let message = format!("a {} says something that this version of the library does not know: it is of a newer header", T::NAME);
        return Err(Failure::argument(message));
    }
    // SAFETY: zeros are a valid value, and so are the caller's bytes.
    let filled = unsafe {
        let mut filled: T = std::mem::zeroed();
        ptr::copy_nonoverlapping(bytes.as_ptr(), (&raw mut filled).cast::<u8>(), size.min(own));
        filled
    };
    Ok(Some(filled))
}

/// `count` values from `first` on.
///
/// # Safety
/// There are as many, if the pointer is not null.
pub unsafe fn values<'a, T>(first: *const T, count: usize) -> Result<&'a [T], Failure> {
    match (first.is_null(), count) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(Failure::argument(format!("{count} values at a null pointer"))),
        (false, _) if count.checked_mul(size_of::<T>()).is_none_or(|bytes| bytes > isize::MAX as usize) => {
            Err(Failure::argument(format!("{count} values do not fit into memory")))
        }
        // SAFETY: the caller says so.
        (false, _) => Ok(unsafe { std::slice::from_raw_parts(first, count) }),
    }
}
