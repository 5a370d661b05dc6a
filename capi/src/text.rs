//! Texts across the surface.

use std::ffi::{CStr, CString, c_char};

use crate::error::Failure;

/// A text with a zero byte at its end; it is cut before one that it holds.
pub fn c_text(text: &str) -> CString {
    let end = text.bytes().position(|byte| byte == 0).unwrap_or(text.len());
    CString::new(&text[..end]).unwrap_or_default()
}

/// The text at `text`, none of a null pointer; `what` stands for it in a message.
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
