//! What callers hold, and what they fill.

use std::ffi::c_char;
use std::ptr;

use crate::error::{Failure, Status, guarded, quietly};

/// Makes a value for the caller and puts a pointer to it where `place` says; a null pointer where it cannot be made.
///
/// # Safety
/// `place` is null or a place for a pointer.
pub unsafe fn hand_out<T>(place: *mut *mut T, make: impl FnOnce() -> Result<T, Failure>) -> Status {
    guarded(|| {
        if place.is_null() {
            return Err(Failure::argument("the place for the result is a null pointer"));
        }
        // SAFETY: the caller says so.
        unsafe { *place = ptr::null_mut() };
        let made = Box::new(make()?);
        // SAFETY: the caller says so.
        unsafe { *place = Box::into_raw(made) };
        Ok(())
    })
}

/// Takes back what [`hand_out`] has made.
///
/// # Safety
/// `handle` is null, or came from there and is not used afterwards.
pub unsafe fn take_back<T>(handle: *mut T) {
    guarded(|| {
        if !handle.is_null() {
            // SAFETY: the caller says so.
            drop(unsafe { Box::from_raw(handle) });
        }
        Ok(())
    });
}

/// What a handle stands for; `what` is its name in a message.
///
/// # Safety
/// `handle` is null, or came from [`hand_out`] and lives for `'a`.
pub unsafe fn used<'a, T>(handle: *const T, what: &str) -> Result<&'a T, Failure> {
    // SAFETY: the caller says so.
    unsafe { handle.as_ref() }.ok_or_else(|| Failure::argument(format!("{what} is a null pointer")))
}

/// What `look` sees in a handle; what a null pointer stands for where there is none.
///
/// # Safety
/// As of [`used`].
pub unsafe fn seen<T, R>(handle: *const T, none: R, look: impl FnOnce(&T) -> R) -> R {
    // SAFETY: the caller says so.
    match unsafe { handle.as_ref() } {
        Some(handle) => quietly(look, handle).unwrap_or(none),
        None => none,
    }
}

/// The same for a text.
///
/// # Safety
/// As of [`used`].
pub unsafe fn seen_text<T>(handle: *const T, look: impl FnOnce(&T) -> *const c_char) -> *const c_char {
    // SAFETY: the caller says so.
    unsafe { seen(handle, ptr::null(), look) }
}

/// A struct that callers fill, whose first member is its size in bytes as they know it.
///
/// # Safety
/// Its representation is that of C, its first member is a `usize`, and zeros are a value of it.
pub unsafe trait Filled: Sized {
    /// How C calls it.
    const NAME: &'static str;
}

/// Bytes beyond which no struct goes: more is no size.
const SIZE_MAX: usize = 1 << 12;

/// A copy of what a caller has filled, with zeros for what the caller does not know of; none of a null pointer.
///
/// # Safety
/// `given` is null, or points to as many bytes as it says.
pub unsafe fn filled<T: Filled>(given: *const T) -> Result<Option<T>, Failure> {
    if given.is_null() {
        return Ok(None);
    }
    let own = size_of::<T>();
    // SAFETY: the caller says so; the first member is the size.
    let size = unsafe { given.cast::<usize>().read() };
    if !(size_of::<usize>()..=SIZE_MAX).contains(&size) {
        return Err(Failure::argument(format!("the size of a {0} is {size}: it is to be sizeof ({0}), {own}", T::NAME)));
    }
    // SAFETY: the caller says that there are as many bytes.
    let bytes = unsafe { std::slice::from_raw_parts(given.cast::<u8>(), size) };
    if bytes.iter().skip(own).any(|byte| *byte != 0) {
        let message = format!("a {} says something that this version of the library does not know: it is of a newer header", T::NAME);
        return Err(Failure::argument(message));
    }
    // SAFETY: zeros are a value of it, and so is what the caller has filled.
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
