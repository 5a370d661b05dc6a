//! Plans: launches that allocate their memory.

use std::ffi::{CString, c_char};

use ptxdbg::api::{Error, Launch, Planned, RunOptions};

use crate::error::{Failure, Status, guarded};
use crate::handle::{create, free, get_or, get_text, required};
use crate::interrupt::uninterrupted;
use crate::module::CModule;
use crate::options::{COptions, interrupt_flag, run_options};
use crate::result::CResult;
use crate::text::{c_text, pointer, required_text, text_at};

/// `ptxdbg_plan`
pub struct CPlan {
    pub(crate) planned: Planned,
    /// The default options.
    options: RunOptions,
    cases: Vec<CString>,
}

impl CPlan {
    fn of(planned: Planned, options: RunOptions) -> Self {
        let cases = planned.cases().map(c_text).collect();
        Self { planned, options, cases }
    }

    /// The options of a run; the default ones for a null pointer.
    ///
    /// # Safety
    /// `options` is null or as the header says.
    pub unsafe fn options(&self, options: *const COptions) -> Result<RunOptions, Failure> {
        // SAFETY: the caller says so.
        Ok(unsafe { run_options(options)? }.unwrap_or_else(|| self.options.clone()))
    }
}

/// The failure for an error of a run.
pub fn not_run(error: Error) -> Failure {
    match error {
        Error::NoCase { .. } => Failure::rejected(Status::InvalidLaunch, &error),
        Error::File(_) | Error::Rejected(_) | Error::Run(_) | Error::Start(_) => Failure::rejected(Status::RunFailed, &error),
    }
}

/// `ptxdbg_plan_open`
///
/// # Safety
/// `path` is a text, `plan` points to a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_plan_open(path: *const c_char, plan: *mut *mut CPlan) -> Status {
    let make = || {
        // SAFETY: the caller says so.
        let path = unsafe { required_text(path, "the path")? };
        let (planned, options) = Planned::open(path).map_err(|error| Failure::of_file(Status::InvalidLaunch, &error))?;
        Ok(CPlan::of(planned, options))
    };
    // SAFETY: the caller says so.
    unsafe { create(plan, make) }
}

/// `ptxdbg_plan_create`
///
/// # Safety
/// `module` is a module, `text` a text, `plan` points to a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_plan_create(module: *const CModule, text: *const c_char, plan: *mut *mut CPlan) -> Status {
    let make = || {
        // SAFETY: the caller says so.
        let (module, text) = unsafe { (required(module, "the module")?, required_text(text, "the launch")?) };
        let planned = Launch::from_text(text).plan(&module.module);
        Ok(CPlan::of(planned.map_err(|error| Failure::rejected(Status::InvalidLaunch, &error))?, RunOptions::default()))
    };
    // SAFETY: the caller says so.
    unsafe { create(plan, make) }
}

/// `ptxdbg_plan_capture`
///
/// # Safety
/// `result` is a result, `plan` points to a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_plan_capture(result: *const CResult, plan: *mut *mut CPlan) -> Status {
    let make = || {
        // SAFETY: the caller says so.
        let result = unsafe { required(result, "the result")? };
        let none = || Failure::argument("the result is that of a plan, which can be run again itself");
        let inputs = result.inputs.as_ref().ok_or_else(none)?;
        let planned = inputs.launch.captured(&inputs.module, &inputs.host);
        Ok(CPlan::of(planned.map_err(|error| Failure::rejected(Status::RunFailed, &error))?, inputs.options.clone()))
    };
    // SAFETY: the caller says so.
    unsafe { create(plan, make) }
}

/// `ptxdbg_plan_free`
///
/// # Safety
/// `plan` is null, or came from a function of this surface and is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_plan_free(plan: *mut CPlan) {
    // SAFETY: the caller says so.
    unsafe { free(plan) }
}

/// `ptxdbg_plan_case_count`
///
/// # Safety
/// `plan` is null or a plan.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_plan_case_count(plan: *const CPlan) -> usize {
    // SAFETY: the caller says so.
    unsafe { get_or(plan, 0, |plan| plan.cases.len()) }
}

/// `ptxdbg_plan_case_name`
///
/// # Safety
/// `plan` is null or a plan.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_plan_case_name(plan: *const CPlan, number: usize) -> *const c_char {
    // SAFETY: the caller says so.
    unsafe { get_text(plan, |plan| pointer(plan.cases.get(number))) }
}

/// `ptxdbg_plan_run`
///
/// # Safety
/// `plan` is a plan, `options` null or as the header says, `result` points to a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_plan_run(plan: *const CPlan, number: usize, options: *const COptions, result: *mut *mut CResult) -> Status {
    let make = || {
        // SAFETY: the caller says so.
        let plan = unsafe { required(plan, "the plan")? };
        // SAFETY: the caller says so.
        let (flag, options) = unsafe { (interrupt_flag(options)?, plan.options(options)?) };
        let run = plan.planned.run_until(number, &options, || flag.is_set()).map_err(not_run)?;
        Ok(CResult::of(uninterrupted(run)?, None))
    };
    // SAFETY: the caller says so.
    unsafe { create(result, make) }
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
        let (plan, path, notes) = unsafe { (required(plan, "the plan")?, required_text(path, "the path")?, text_at(notes, "the notes")?) };
        // SAFETY: the caller says so.
        let options = unsafe { plan.options(options)? };
        plan.planned.bundle(number, &options, path, notes.unwrap_or_default()).map_err(|error| match error {
            Error::File(_) => Failure::rejected(Status::InvalidFile, &error),
            Error::NoCase { .. } | Error::Rejected(_) | Error::Run(_) | Error::Start(_) => not_run(error),
        })
    })
}
