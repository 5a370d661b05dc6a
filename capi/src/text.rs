//! Texts across the C boundary.

use std::ffi::{CStr, CString, c_char};
use std::ptr;

use crate::error::{Failure, guarded};

/// A text with a zero byte at its end; zero bytes in it become U+FFFD.
pub fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', "\u{fffd}")).unwrap_or_default()
}

/// The pointer to a text; null for `None`.
pub fn pointer(text: Option<&CString>) -> *const c_char {
    text.map_or(ptr::null(), |text| text.as_ptr())
}

/// The text at `text`; `None` for a null pointer. `what` is its name in a message.
///
/// # Safety
/// `text` is null or points to a text that ends with a zero byte and lives for `'a`.
pub unsafe fn text_at<'a>(text: *const c_char, what: &str) -> Result<Option<&'a str>, Failure> {
    if text.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller says so.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map(Some).map_err(|_| Failure::argument(format!("{what} is not UTF-8")))
}

/// [`text_at`] with an error for a null pointer.
///
/// # Safety
/// As of [`text_at`].
pub unsafe fn required_text<'a>(text: *const c_char, what: &str) -> Result<&'a str, Failure> {
    // SAFETY: the caller says so.
    unsafe { text_at(text, what)? }.ok_or_else(|| Failure::argument(format!("{what} is a null pointer")))
}

/// `ptxdbg_text_free`
///
/// # Safety
/// `text` is null, or came from a function that gives texts to its caller and is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_text_free(text: *mut c_char) {
    guarded(|| {
        if !text.is_null() {
            // SAFETY: the caller says so.
            drop(unsafe { CString::from_raw(text) });
        }
        Ok(())
    });
}
