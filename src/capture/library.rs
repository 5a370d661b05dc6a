//! The capture library, which the build script has compiled.

/// Its bytes; none where it could not be compiled.
const LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libptxdbg_capture.so"));
/// Why it could not be.
const WHY: &str = include_str!(concat!(env!("OUT_DIR"), "/libptxdbg_capture.why"));

/// The bytes of the library.
///
/// # Errors
/// This ptxdbg was built without it, in one line.
pub fn bytes() -> Result<&'static [u8], String> {
    match LIBRARY {
        [] => Err(format!("this ptxdbg has no capture library: {}", WHY.trim())),
        library => Ok(library),
    }
}
