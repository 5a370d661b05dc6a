//! Plans: launches with memory of their own.

use std::ffi::{CString, c_char};

use ptxdbg::api::{Error, Launch, Planned, RunOptions};

use crate::error::{Failure, Status, guarded};
use crate::handle::{hand_out, seen, seen_text, take_back, used};
use crate::module::CModule;
use crate::options::{COptions, run_options};
use crate::result::CResult;
use crate::text::{c_text, pointer, required_text, text_at};

/// `ptxdbg_plan`
pub struct CPlan {
    pub(crate) planned: Planned,
    /// How it is run where nothing is said.
    options: RunOptions,
    cases: Vec<CString>,
}

impl CPlan {
    fn of(planned: Planned, options: RunOptions) -> Self {
        let cases = planned.cases().map(c_text).collect();
        Self { planned, options, cases }
    }

    /// How it is run.
    ///
    /// # Safety
    /// `options` is null or as the header says.
    pub unsafe fn options(&self, options: *const COptions) -> Result<RunOptions, Failure> {
        // SAFETY: the caller says so.
        Ok(unsafe { run_options(options)? }.unwrap_or_else(|| self.options.clone()))
    }
}

/// A reason for which a case cannot be run.
pub fn not_run(error: Error) -> Failure {
    match error {
        Error::NoCase { .. } => Failure::refused(Status::InvalidLaunch, &error),
        Error::File(_) | Error::Rejected(_) | Error::Run(_) | Error::Start(_) => Failure::refused(Status::RunFailed, &error),
    }
}

/// `ptxdbg_plan_open`
///
/// # Safety
/// `path` is a text, `plan` a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_plan_open(path: *const c_char, plan: *mut *mut CPlan) -> Status {
    let make = || {
        // SAFETY: the caller says so.
        let path = unsafe { required_text(path, "the path")? };
        let (planned, options) = Planned::open(path).map_err(|error| Failure::of_file(Status::InvalidLaunch, &error))?;
        Ok(CPlan::of(planned, options))
    };
    // SAFETY: the caller says so.
    unsafe { hand_out(plan, make) }
}

/// `ptxdbg_plan_create`
///
/// # Safety
/// `module` is a module, `text` a text, `plan` a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_plan_create(module: *const CModule, text: *const c_char, plan: *mut *mut CPlan) -> Status {
    let make = || {
        // SAFETY: the caller says so.
        let (module, text) = unsafe { (used(module, "the module")?, required_text(text, "the launch")?) };
        let planned = Launch::from_text(text).plan(&module.module);
        Ok(CPlan::of(planned.map_err(|error| Failure::refused(Status::InvalidLaunch, &error))?, RunOptions::default()))
    };
    // SAFETY: the caller says so.
    unsafe { hand_out(plan, make) }
}

/// `ptxdbg_plan_capture`
///
/// # Safety
/// `result` is a result, `plan` a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_plan_capture(result: *const CResult, plan: *mut *mut CPlan) -> Status {
    let make = || {
        // SAFETY: the caller says so.
        let result = unsafe { used(result, "the result")? };
        let none = || Failure::argument("the result is that of a plan, which can be run again itself");
        let started = result.started.as_ref().ok_or_else(none)?;
        let planned = started.launch.captured(&started.module, &started.host);
        Ok(CPlan::of(planned.map_err(|error| Failure::refused(Status::RunFailed, &error))?, started.options.clone()))
    };
    // SAFETY: the caller says so.
    unsafe { hand_out(plan, make) }
}

/// `ptxdbg_plan_free`
///
/// # Safety
/// `plan` is null, or came from a function of this surface and is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_plan_free(plan: *mut CPlan) {
    // SAFETY: the caller says so.
    unsafe { take_back(plan) }
}

/// `ptxdbg_plan_case_count`
///
/// # Safety
/// `plan` is null or a plan.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_plan_case_count(plan: *const CPlan) -> usize {
    // SAFETY: the caller says so.
    unsafe { seen(plan, 0, |plan| plan.cases.len()) }
}

/// `ptxdbg_plan_case_name`
///
/// # Safety
/// `plan` is null or a plan.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_plan_case_name(plan: *const CPlan, number: usize) -> *const c_char {
    // SAFETY: the caller says so.
    unsafe { seen_text(plan, |plan| pointer(plan.cases.get(number))) }
}

/// `ptxdbg_plan_run`
///
/// # Safety
/// `plan` is a plan, `options` null or as the header says, `result` a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_plan_run(plan: *const CPlan, number: usize, options: *const COptions, result: *mut *mut CResult) -> Status {
    let make = || {
        // SAFETY: the caller says so.
        let plan = unsafe { used(plan, "the plan")? };
        // SAFETY: the caller says so.
        let options = unsafe { plan.options(options)? };
        Ok(CResult::of(plan.planned.run(number, &options).map_err(not_run)?, None))
    };
    // SAFETY: the caller says so.
    unsafe { hand_out(result, make) }
}

/// `ptxdbg_plan_bundle`
///
/// # Safety
/// `plan` is a plan, `options` null or as the header says, `path` a text, `notes` null or a text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_plan_bundle(
    plan: *const CPlan,
    number: usize,
    options: *const COptions,
    path: *const c_char,
    notes: *const c_char,
) -> Status {
    guarded(|| {
        // SAFETY: the caller says so.
        let (plan, path, notes) = unsafe { (used(plan, "the plan")?, required_text(path, "the path")?, text_at(notes, "the notes")?) };
        // SAFETY: the caller says so.
        let options = unsafe { plan.options(options)? };
        plan.planned.bundle(number, &options, path, notes.unwrap_or_default()).map_err(|error| match error {
            Error::File(_) => Failure::refused(Status::InvalidFile, &error),
            Error::NoCase { .. } | Error::Rejected(_) | Error::Run(_) | Error::Start(_) => not_run(error),
        })
    })
}
