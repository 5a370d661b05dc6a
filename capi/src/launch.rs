//! Launches on the memory of the process.

use std::ffi::{c_char, c_void};

use ptxdbg::api::{DriverLaunch, DriverVariable, HostMemory, Module, Run, RunOptions};

use crate::error::{Failure, Status};
use crate::handle::{Filled, create, filled, required, values};
use crate::interrupt::{Flag, uninterrupted};
use crate::memory::{process_memory, write_back};
use crate::module::CModule;
use crate::options::{COptions, interrupt_flag, run_options};
use crate::result::CResult;
use crate::text::text_at;

/// `ptxdbg_param`
#[repr(C)]
pub struct CParam {
    bytes: *const c_void,
    length: usize,
}

/// `ptxdbg_variable`
#[repr(C)]
pub struct CVariable {
    name: *const c_char,
    bytes: *mut c_void,
    length: usize,
}

/// `ptxdbg_launch`
#[repr(C)]
pub struct CLaunch {
    size: usize,
    kernel: *const c_char,
    params: *const CParam,
    param_count: usize,
    grid: [u32; 3],
    block: [u32; 3],
    cluster: [u32; 3],
    dynamic_shared: u32,
    cooperative: u32,
    variables: *const CVariable,
    variable_count: usize,
}

// SAFETY: pointers and numbers, the first one its size.
unsafe impl Filled for CLaunch {
    const NAME: &'static str = "ptxdbg_launch";
}

/// The inputs of a run on the memory of the process.
pub struct RunInputs {
    /// The module.
    pub module: Module,
    /// The launch.
    pub launch: DriverLaunch,
    /// The options of the run.
    pub options: RunOptions,
    /// The memory before the run.
    pub host: HostMemory,
}

/// Runs a launch on the memory of the process until `flag` is set, and writes its changes back.
pub fn run(module: &Module, launch: &DriverLaunch, options: &RunOptions, flag: Flag) -> Result<(Run, HostMemory), Failure> {
    let planned = launch.planned(module).map_err(|error| Failure::rejected(Status::InvalidLaunch, &error))?;
    let host = process_memory();
    let options = RunOptions { host: Some(host.clone()), ..options.clone() };
    let run = planned.run_until(0, &options, || flag.is_set()).map_err(|error| Failure::rejected(Status::RunFailed, &error))?;
    let run = uninterrupted(run)?;
    write_back(&run.host_writes(&host))?;
    Ok((run, host))
}

/// `ptxdbg_run`
///
/// # Safety
/// `module` is a module, `launch` and, unless it is null, `options` have texts and values as the header says, and `result` points to a
/// pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_run(
    module: *const CModule,
    launch: *const CLaunch,
    options: *const COptions,
    result: *mut *mut CResult,
) -> Status {
    let make = || {
        // SAFETY: the caller says so.
        let (module, variables) = unsafe { (required(module, "the module")?, variables_of(launch)?) };
        // SAFETY: the caller says so.
        let (launch, flag, options) = unsafe { (driver_launch(launch)?, interrupt_flag(options)?, run_options(options)?) };
        let options = options.unwrap_or_default();
        let (run, host) = run(&module.module, &launch, &options, flag)?;
        for (given, own) in variables.iter().zip(&launch.variables) {
            let after = run.variable(&own.name).unwrap_or_default();
            if let Some(after) = after.get(..own.bytes.len()).filter(|after| *after != own.bytes) {
                // SAFETY: the caller says that there are as many bytes, which may be written.
                unsafe { std::ptr::copy_nonoverlapping(after.as_ptr(), given.bytes.cast::<u8>(), after.len()) };
            }
        }
        Ok(CResult::of(run, Some(RunInputs { module: module.module.clone(), launch, options, host })))
    };
    // SAFETY: the caller says so.
    unsafe { create(result, make) }
}

/// The variables of a launch.
///
/// # Safety
/// It is null, or its values are as the header says.
unsafe fn variables_of<'a>(launch: *const CLaunch) -> Result<&'a [CVariable], Failure> {
    // SAFETY: the caller says so.
    let launch = unsafe { filled(launch)? };
    // SAFETY: the caller says so.
    launch.map_or(Ok(&[]), |launch| unsafe { values(launch.variables, launch.variable_count) })
}

/// # Safety
/// It is null, or its texts and values are as the header says.
unsafe fn driver_launch(launch: *const CLaunch) -> Result<DriverLaunch, Failure> {
    // SAFETY: the caller says so.
    let launch = unsafe { filled(launch)? }.ok_or_else(|| Failure::argument("the launch is a null pointer"))?;
    // SAFETY: the caller says so.
    let kernel = unsafe { text_at(launch.kernel, "the name of the kernel")? };
    // SAFETY: the caller says so.
    let params = unsafe { values(launch.params, launch.param_count)? };
    let mut bytes = Vec::new();
    for (index, param) in params.iter().enumerate() {
        if param.bytes.is_null() && param.length > 0 {
            return Err(Failure::argument(format!("the value of parameter {index} is a null pointer")));
        }
        // SAFETY: the caller says so.
        bytes.push(unsafe { values(param.bytes.cast::<u8>(), param.length)? }.to_vec());
    }
    let mut variables = Vec::new();
    // SAFETY: the caller says so.
    for (index, variable) in unsafe { values(launch.variables, launch.variable_count)? }.iter().enumerate() {
        // SAFETY: the caller says so.
        let name = unsafe { text_at(variable.name, "the name of a variable")? };
        let name = name.ok_or_else(|| Failure::argument(format!("the name of variable {index} is a null pointer")))?;
        // SAFETY: the caller says so.
        let bytes = unsafe { values(variable.bytes.cast::<u8>(), variable.length)? };
        variables.push(DriverVariable { name: name.to_string(), element: None, bytes: bytes.to_vec() });
    }
    Ok(DriverLaunch {
        kernel: kernel.map(str::to_string),
        grid: launch.grid,
        block: launch.block,
        cluster: Some(launch.cluster).filter(|cluster| *cluster != [0; 3]),
        dynamic_shared: launch.dynamic_shared,
        cooperative: launch.cooperative != 0,
        params: bytes,
        variables,
    })
}
