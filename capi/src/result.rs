//! Results of runs.

use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr;

use ptxdbg::api::{Certificate, Run, Severity, text};

use crate::error::{Failure, Status, guarded};
use crate::finding::{CFinding, OwnedFinding};
use crate::handle::{free, get_or, get_text, required};
use crate::launch::RunInputs;
use crate::text::{c_text, pointer, required_text};

/// `ptxdbg_result`
pub struct CResult {
    run: Run,
    /// The inputs of a run on the memory of the process.
    pub(crate) inputs: Option<RunInputs>,
    findings: Vec<OwnedFinding>,
    buffers: Vec<CString>,
    certificate: CString,
    fidelity: CString,
    /// The output of printf, with a zero byte at the end.
    printed: Vec<u8>,
}

impl CResult {
    /// The result with the texts of a run.
    pub fn of(run: Run, inputs: Option<RunInputs>) -> Self {
        let line = |text: String| c_text(text.trim_end());
        Self {
            findings: run.findings().iter().map(OwnedFinding::of).collect(),
            buffers: run.buffer_names().map(c_text).collect(),
            certificate: line(run.certificate.as_ref().map_or_else(String::new, text::certificate)),
            fidelity: line(text::fidelity(&run.fidelity)),
            printed: run.printed().iter().copied().chain([0]).collect(),
            run,
            inputs,
        }
    }

    fn is_wrong(&self) -> bool {
        self.run.comparison.is_wrong() || self.run.findings().iter().any(|finding| finding.severity == Severity::Error)
    }
}

/// `ptxdbg_result_free`
///
/// # Safety
/// `result` is null, or came from a function of this surface and is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_result_free(result: *mut CResult) {
    // SAFETY: the caller says so.
    unsafe { free(result) }
}

/// `ptxdbg_result_finding_count`
///
/// # Safety
/// `result` is null or a result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_result_finding_count(result: *const CResult) -> usize {
    // SAFETY: the caller says so.
    unsafe { get_or(result, 0, |result| result.findings.len()) }
}

/// `ptxdbg_result_finding`
///
/// # Safety
/// `result` is null or a result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_result_finding(result: *const CResult, index: usize) -> *const CFinding {
    let finding = |result: &CResult| result.findings.get(index).map_or(ptr::null(), |finding| ptr::from_ref(&*finding.c));
    // SAFETY: the caller says so.
    unsafe { get_or(result, ptr::null(), finding) }
}

/// `ptxdbg_result_is_wrong`
///
/// # Safety
/// `result` is null or a result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_result_is_wrong(result: *const CResult) -> c_int {
    // SAFETY: the caller says so.
    unsafe { get_or(result, 0, |result| c_int::from(result.is_wrong())) }
}

/// `ptxdbg_result_ticks`
///
/// # Safety
/// `result` is null or a result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_result_ticks(result: *const CResult) -> u64 {
    // SAFETY: the caller says so.
    unsafe { get_or(result, 0, |result| result.run.launches().iter().map(|launch| launch.ticks).sum()) }
}

/// `ptxdbg_result_thread_instructions`
///
/// # Safety
/// `result` is null or a result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_result_thread_instructions(result: *const CResult) -> u64 {
    // SAFETY: the caller says so.
    unsafe { get_or(result, 0, |result| result.run.launches().iter().map(|launch| launch.thread_instructions).sum()) }
}

/// `ptxdbg_result_is_certified`
///
/// # Safety
/// `result` is null or a result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_result_is_certified(result: *const CResult) -> c_int {
    let is_certified = |result: &CResult| matches!(result.run.certificate, Some(Certificate::EveryOrder { .. }));
    // SAFETY: the caller says so.
    unsafe { get_or(result, 0, |result| c_int::from(is_certified(result))) }
}

/// `ptxdbg_result_certificate`
///
/// # Safety
/// `result` is null or a result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_result_certificate(result: *const CResult) -> *const c_char {
    // SAFETY: the caller says so.
    unsafe { get_text(result, |result| pointer(Some(&result.certificate))) }
}

/// `ptxdbg_result_fidelity`
///
/// # Safety
/// `result` is null or a result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_result_fidelity(result: *const CResult) -> *const c_char {
    // SAFETY: the caller says so.
    unsafe { get_text(result, |result| pointer(Some(&result.fidelity))) }
}

/// `ptxdbg_result_printed`
///
/// # Safety
/// `result` is null or a result, `length` null or a place for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_result_printed(result: *const CResult, length: *mut usize) -> *const c_char {
    // SAFETY: the caller says so.
    unsafe {
        if let Some(length) = length.as_mut() {
            *length = get_or(result, 0, |result| result.printed.len() - 1);
        }
        get_text(result, |result| result.printed.as_ptr().cast())
    }
}

/// `ptxdbg_result_buffer_count`
///
/// # Safety
/// `result` is null or a result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_result_buffer_count(result: *const CResult) -> usize {
    // SAFETY: the caller says so.
    unsafe { get_or(result, 0, |result| result.buffers.len()) }
}

/// `ptxdbg_result_buffer_name`
///
/// # Safety
/// `result` is null or a result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_result_buffer_name(result: *const CResult, index: usize) -> *const c_char {
    // SAFETY: the caller says so.
    unsafe { get_text(result, |result| pointer(result.buffers.get(index))) }
}

/// `ptxdbg_result_buffer`
///
/// # Safety
/// `result` is a result, `name` a text, `bytes` a place for `length` bytes, `needed` null or a place for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_result_buffer(
    result: *const CResult,
    name: *const c_char,
    bytes: *mut c_void,
    length: usize,
    needed: *mut usize,
) -> Status {
    guarded(|| {
        // SAFETY: the caller says so.
        let (result, name) = unsafe { (required(result, "the result")?, required_text(name, "the name")?) };
        let buffer = result.run.buffer(name).ok_or_else(|| Failure::argument(format!("there is no buffer '{name}'")))?;
        if bytes.is_null() && length > 0 {
            return Err(Failure::argument("the place for the bytes is a null pointer"));
        }
        // SAFETY: the caller says that there is room.
        unsafe {
            if !bytes.is_null() {
                ptr::copy_nonoverlapping(buffer.bytes.as_ptr(), bytes.cast::<u8>(), length.min(buffer.bytes.len()));
            }
            if let Some(needed) = needed.as_mut() {
                *needed = buffer.bytes.len();
            }
        }
        Ok(())
    })
}
