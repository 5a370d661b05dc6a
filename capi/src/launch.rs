//! Launches.

use std::ffi::{c_char, c_void};
use std::{ptr, slice};

use ptxdbg::api::{Checks, DriverLaunch, Module, Run, RunOptions, Schedule};

use crate::error::{Failure, Status, guarded};
use crate::memory::{process_memory, write_back};
use crate::module::CModule;
use crate::result::CResult;
use crate::text::text_at;

/// `ptxdbg_param`
#[repr(C)]
pub struct CParam {
    bytes: *const c_void,
    length: usize,
}

/// `ptxdbg_launch`
#[repr(C)]
pub struct CLaunch {
    kernel: *const c_char,
    grid: [u32; 3],
    block: [u32; 3],
    cluster: [u32; 3],
    dynamic_shared: u32,
    cooperative: u32,
    params: *const CParam,
    param_count: usize,
}

/// `ptxdbg_options`
#[repr(C)]
pub struct COptions {
    checks: *const c_char,
    schedule: *const c_char,
    seed: u64,
    step_limit: u64,
}

impl COptions {
    /// What a null pointer stands for.
    const DEFAULT: Self = Self { checks: ptr::null(), schedule: ptr::null(), seed: 0, step_limit: 0 };
}

/// Runs a launch on the memory of the process, and writes back what it left there.
pub fn run(module: &Module, launch: &DriverLaunch, options: &RunOptions) -> Result<Run, Failure> {
    let planned = launch.planned(module).map_err(|error| Failure::refused(Status::InvalidLaunch, &error))?;
    let host = process_memory();
    let options = RunOptions { host: Some(host.clone()), ..options.clone() };
    let run = planned.run(0, &options).map_err(|error| Failure::refused(Status::RunFailed, &error))?;
    write_back(&run.host_writes(&host))?;
    Ok(run)
}

/// What a word of the caller means, `name` being what it is for.
pub fn parsed<T>(name: &str, word: &str, parse: impl Fn(&str) -> Result<T, String>) -> Result<T, Failure> {
    parse(word).map_err(|message| Failure::argument(format!("{name} '{word}': {message}")))
}

/// `ptxdbg_run`
///
/// # Safety
/// `module` is a module, `launch` and, unless it is null, `options` hold texts and values as the header says, and `result` is a place for
/// a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_run(
    module: *const CModule,
    launch: *const CLaunch,
    options: *const COptions,
    result: *mut *mut CResult,
) -> Status {
    guarded(|| {
        // SAFETY: the caller says so.
        let (module, launch, options) = unsafe { (module.as_ref(), launch.as_ref(), options.as_ref()) };
        let (Some(module), Some(launch)) = (module, launch) else { return Err(Failure::argument("a null pointer")) };
        if result.is_null() {
            return Err(Failure::argument("a null pointer"));
        }
        // SAFETY: the caller says so.
        let (launch, options) = unsafe { (driver_launch(launch)?, run_options(options.unwrap_or(&COptions::DEFAULT))?) };
        let made = Box::new(CResult::of(run(&module.module, &launch, &options)?));
        // SAFETY: the caller says so.
        unsafe { *result = Box::into_raw(made) };
        Ok(())
    })
}

/// # Safety
/// Its texts and values are as the header says.
unsafe fn driver_launch(launch: &CLaunch) -> Result<DriverLaunch, Failure> {
    // SAFETY: the caller says so.
    let kernel = unsafe { text_at(launch.kernel, "the name of the kernel")? };
    // SAFETY: the caller says so.
    let params = unsafe { values(launch.params, launch.param_count)? };
    let mut values = Vec::new();
    for (index, param) in params.iter().enumerate() {
        if param.bytes.is_null() && param.length > 0 {
            return Err(Failure::argument(format!("the value of parameter {index} is a null pointer")));
        }
        // SAFETY: the caller says so.
        values.push(unsafe { crate::launch::values(param.bytes.cast::<u8>(), param.length)? }.to_vec());
    }
    Ok(DriverLaunch {
        kernel: kernel.map(str::to_string),
        grid: launch.grid,
        block: launch.block,
        cluster: Some(launch.cluster).filter(|cluster| *cluster != [0; 3]),
        dynamic_shared: launch.dynamic_shared,
        cooperative: launch.cooperative != 0,
        params: values,
    })
}

/// `count` values from `first` on.
///
/// # Safety
/// There are as many, if the pointer is not null.
pub unsafe fn values<'a, T>(first: *const T, count: usize) -> Result<&'a [T], Failure> {
    match (first.is_null(), count) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(Failure::argument("a null pointer")),
        // SAFETY: the caller says so.
        (false, _) => Ok(unsafe { slice::from_raw_parts(first, count) }),
    }
}

/// # Safety
/// Its texts are as the header says.
unsafe fn run_options(options: &COptions) -> Result<RunOptions, Failure> {
    // SAFETY: the caller says so.
    let (checks, schedule) = unsafe { (text_at(options.checks, "checks")?, text_at(options.schedule, "schedule")?) };
    Ok(RunOptions {
        checks: checks.map_or(Ok(Checks::ALL), |word| parsed("checks", word, Checks::parse))?,
        schedule: schedule.map_or(Ok(Schedule::InOrder), |word| parsed("schedule", word, Schedule::parse))?,
        seed: options.seed,
        step_limit: Some(options.step_limit).filter(|limit| *limit > 0),
        ..RunOptions::default()
    })
}
