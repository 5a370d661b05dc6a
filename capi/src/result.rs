//! What a run came to.

use std::ffi::{CString, c_char};
use std::ptr;

use ptxdbg::api::{FindingText, Run, Severity, Site};
use ptxdbg::debug::findings::SideText;
use ptxdbg::ui::text;

use crate::error::{Failure, Status, guarded};
use crate::text::c_text;

/// `ptxdbg_result`
pub struct CResult {
    findings: Vec<OwnedFinding>,
    ticks: u64,
    thread_instructions: u64,
    certificate: CString,
    fidelity: CString,
    printed: CString,
    printed_length: usize,
}

/// A finding with its texts.
struct OwnedFinding {
    id: CString,
    severity: i32,
    message: CString,
    memory: Option<CString>,
    why: CString,
    fix: CString,
    text: CString,
    count: u64,
    sides: [Option<OwnedSide>; 2],
}

struct OwnedSide {
    place: CString,
    source: Option<CString>,
    instruction: CString,
    tick: u64,
    block: [u32; 3],
    warp: u32,
    lanes: u32,
}

/// `ptxdbg_side`
#[repr(C)]
pub struct CSide {
    place: *const c_char,
    source: *const c_char,
    instruction: *const c_char,
    tick: u64,
    block: [u32; 3],
    warp: u32,
    lanes: u32,
}

/// `ptxdbg_finding`
#[repr(C)]
pub struct CFinding {
    id: *const c_char,
    severity: i32,
    message: *const c_char,
    memory: *const c_char,
    why: *const c_char,
    fix: *const c_char,
    text: *const c_char,
    count: u64,
    first: CSide,
    second: CSide,
}

impl CResult {
    /// The texts of a run.
    pub fn of(run: Run) -> Self {
        let line = |text: String| c_text(text.trim_end());
        let (ticks, threads) =
            run.launches().iter().fold((0, 0), |(ticks, threads), launch| (ticks + launch.ticks, threads + launch.thread_instructions));
        let style = text::Style::Human { color: false };
        let certificate = run.certificate.as_ref().map_or_else(String::new, |certificate| text::certificate("", certificate, style));
        let mut printed = run.printed().to_vec();
        let printed_length = printed.len();
        // The length says where it ends, as it may hold zero bytes.
        printed.push(0);
        // SAFETY: the bytes end with a zero; those before are read by their length.
        let printed = unsafe { CString::from_vec_with_nul_unchecked(printed) };
        Self {
            findings: run.findings().iter().map(OwnedFinding::of).collect(),
            ticks,
            thread_instructions: threads,
            certificate: line(certificate),
            fidelity: line(text::fidelity(&run.fidelity, style)),
            printed,
            printed_length,
        }
    }
}

impl OwnedFinding {
    fn of(finding: &FindingText) -> Self {
        let side = |side: &Option<SideText>| side.as_ref().map(|side| OwnedSide::of(&side.site));
        Self {
            id: c_text(finding.id.word()),
            severity: match finding.severity {
                Severity::Note => 0,
                Severity::Warning => 1,
                Severity::Error => 2,
            },
            message: c_text(&finding.message),
            memory: finding.memory.as_ref().map(|memory| c_text(&memory.name)),
            why: c_text(&finding.why),
            fix: c_text(&finding.fix),
            text: c_text(&text::finding(finding)),
            count: finding.count,
            sides: [side(&finding.first), side(&finding.second)],
        }
    }
}

impl OwnedSide {
    fn of(site: &Site) -> Self {
        Self {
            place: c_text(&site.place),
            source: site.source.as_deref().map(c_text),
            instruction: c_text(&site.statement),
            tick: site.time.0,
            block: site.block,
            warp: site.warp,
            lanes: site.lanes.bits(),
        }
    }
}

fn pointer(text: Option<&CString>) -> *const c_char {
    text.map_or(ptr::null(), |text| text.as_ptr())
}

impl CSide {
    fn of(side: Option<&OwnedSide>) -> Self {
        let none = Self { place: ptr::null(), source: ptr::null(), instruction: ptr::null(), tick: 0, block: [0; 3], warp: 0, lanes: 0 };
        side.map_or(none, |side| Self {
            place: side.place.as_ptr(),
            source: pointer(side.source.as_ref()),
            instruction: side.instruction.as_ptr(),
            tick: side.tick,
            block: side.block,
            warp: side.warp,
            lanes: side.lanes,
        })
    }
}

/// `ptxdbg_result_free`
///
/// # Safety
/// `result` is null, or came from [`ptxdbg_run`](crate::ptxdbg_run) and is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_result_free(result: *mut CResult) {
    if !result.is_null() {
        // SAFETY: the caller says so.
        drop(unsafe { Box::from_raw(result) });
    }
}

/// `ptxdbg_result_finding_count`
///
/// # Safety
/// `result` is null or a result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_result_finding_count(result: *const CResult) -> usize {
    // SAFETY: the caller says so.
    unsafe { result.as_ref() }.map_or(0, |result| result.findings.len())
}

/// `ptxdbg_result_finding`
///
/// # Safety
/// `result` is a result, and `finding` a place for a finding.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_result_finding(result: *const CResult, index: usize, finding: *mut CFinding) -> Status {
    guarded(|| {
        // SAFETY: the caller says so.
        let result = unsafe { result.as_ref() }.filter(|_| !finding.is_null()).ok_or_else(|| Failure::argument("a null pointer"))?;
        let count = result.findings.len();
        let own = result.findings.get(index).ok_or_else(|| Failure::argument(format!("there is no finding {index}: there are {count}")))?;
        let [first, second] = &own.sides;
        let made = CFinding {
            id: own.id.as_ptr(),
            severity: own.severity,
            message: own.message.as_ptr(),
            memory: pointer(own.memory.as_ref()),
            why: own.why.as_ptr(),
            fix: own.fix.as_ptr(),
            text: own.text.as_ptr(),
            count: own.count,
            first: CSide::of(first.as_ref()),
            second: CSide::of(second.as_ref()),
        };
        // SAFETY: the caller says so.
        unsafe { *finding = made };
        Ok(())
    })
}

/// `ptxdbg_result_ticks`
///
/// # Safety
/// `result` is null or a result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_result_ticks(result: *const CResult) -> u64 {
    // SAFETY: the caller says so.
    unsafe { result.as_ref() }.map_or(0, |result| result.ticks)
}

/// `ptxdbg_result_thread_instructions`
///
/// # Safety
/// `result` is null or a result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_result_thread_instructions(result: *const CResult) -> u64 {
    // SAFETY: the caller says so.
    unsafe { result.as_ref() }.map_or(0, |result| result.thread_instructions)
}

/// `ptxdbg_result_certificate`
///
/// # Safety
/// `result` is null or a result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_result_certificate(result: *const CResult) -> *const c_char {
    // SAFETY: the caller says so.
    pointer(unsafe { result.as_ref() }.map(|result| &result.certificate))
}

/// `ptxdbg_result_fidelity`
///
/// # Safety
/// `result` is null or a result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_result_fidelity(result: *const CResult) -> *const c_char {
    // SAFETY: the caller says so.
    pointer(unsafe { result.as_ref() }.map(|result| &result.fidelity))
}

/// `ptxdbg_result_printed`
///
/// # Safety
/// `result` is null or a result, `length` null or a place for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_result_printed(result: *const CResult, length: *mut usize) -> *const c_char {
    // SAFETY: the caller says so.
    let (result, length) = unsafe { (result.as_ref(), length.as_mut()) };
    if let Some(length) = length {
        *length = result.map_or(0, |result| result.printed_length);
    }
    pointer(result.map(|result| &result.printed))
}
