//! Results of trying the remedies of findings.

use std::ffi::{CString, c_char};

use ptxdbg::api::{FixReports, text};

use crate::error::{Failure, Status};
use crate::handle::{create, free, get_or, get_text, required};
use crate::options::COptions;
use crate::plan::{CPlan, not_run};
use crate::text::{c_text, pointer};

/// `ptxdbg_fix`
pub struct CFix {
    text: CString,
    changes: Vec<CString>,
    /// The changed modules: name and text.
    modules: Vec<(CString, CString)>,
}

impl CFix {
    fn of(fixed: &FixReports) -> Self {
        Self {
            text: c_text(&text::fixes(fixed)),
            changes: fixed.changes.iter().map(|change| c_text(change)).collect(),
            modules: fixed.texts.iter().map(|module| (c_text(&module.name), c_text(&module.text))).collect(),
        }
    }
}

/// `ptxdbg_plan_fix`
///
/// # Safety
/// `plan` is a plan, `options` null or as the header says, `fix` points to a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_plan_fix(
    plan: *const CPlan,
    number: usize,
    options: *const COptions,
    finding: usize,
    fix: *mut *mut CFix,
) -> Status {
    let make = || {
        // SAFETY: the caller says so.
        let plan = unsafe { required(plan, "the plan")? };
        // SAFETY: the caller says so.
        let options = unsafe { plan.options(options)? };
        let fixed = plan.planned.fix(number, &options, Some(finding).filter(|number| *number > 0)).map_err(not_run)?;
        let none = || Failure::argument(format!("there is no finding {finding}"));
        Ok(CFix::of(&fixed.ok_or_else(none)?))
    };
    // SAFETY: the caller says so.
    unsafe { create(fix, make) }
}

/// `ptxdbg_fix_free`
///
/// # Safety
/// `fix` is null, or came from [`ptxdbg_plan_fix`] and is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_fix_free(fix: *mut CFix) {
    // SAFETY: the caller says so.
    unsafe { free(fix) }
}

/// `ptxdbg_fix_text`
///
/// # Safety
/// `fix` is null or a fix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_fix_text(fix: *const CFix) -> *const c_char {
    // SAFETY: the caller says so.
    unsafe { get_text(fix, |fix| pointer(Some(&fix.text))) }
}

/// `ptxdbg_fix_change_count`
///
/// # Safety
/// `fix` is null or a fix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_fix_change_count(fix: *const CFix) -> usize {
    // SAFETY: the caller says so.
    unsafe { get_or(fix, 0, |fix| fix.changes.len()) }
}

/// `ptxdbg_fix_change`
///
/// # Safety
/// `fix` is null or a fix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_fix_change(fix: *const CFix, index: usize) -> *const c_char {
    // SAFETY: the caller says so.
    unsafe { get_text(fix, |fix| pointer(fix.changes.get(index))) }
}

/// `ptxdbg_fix_module_count`
///
/// # Safety
/// `fix` is null or a fix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_fix_module_count(fix: *const CFix) -> usize {
    // SAFETY: the caller says so.
    unsafe { get_or(fix, 0, |fix| fix.modules.len()) }
}

/// `ptxdbg_fix_module_name`
///
/// # Safety
/// `fix` is null or a fix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_fix_module_name(fix: *const CFix, index: usize) -> *const c_char {
    // SAFETY: the caller says so.
    unsafe { get_text(fix, |fix| pointer(fix.modules.get(index).map(|(name, _)| name))) }
}

/// `ptxdbg_fix_module_text`
///
/// # Safety
/// `fix` is null or a fix.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_fix_module_text(fix: *const CFix, index: usize) -> *const c_char {
    // SAFETY: the caller says so.
    unsafe { get_text(fix, |fix| pointer(fix.modules.get(index).map(|(_, text)| text))) }
}
