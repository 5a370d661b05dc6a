//! `ptx_run`: the function by which other programs call an emulator, compatible with GPU Ocelot.

use std::collections::VecDeque;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::io::Write;
use std::sync::{Mutex, PoisonError};

use ptxdbg::api::{Checks, DriverLaunch, Module, RunOptions, Severity, text};

use crate::error::{Failure, Status, guarded, ptxdbg_error};
use crate::handle::values;
use crate::interrupt::Flag;
use crate::launch::run;
use crate::module::read;
use crate::options::parsed;

/// Maximum of cached modules: a program launches the same ones repeatedly.
const MODULES_MAX: usize = 256;
/// Cached modules by text, the newest last.
static MODULES: Mutex<VecDeque<(String, Module)>> = Mutex::new(VecDeque::new());

/// The module of a text.
fn module_of(text: &str) -> Result<Module, Failure> {
    let cache = || MODULES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, module)) = cache().iter().rev().find(|(known, _)| known == text) {
        return Ok(module.clone());
    }
    let module = read("kernel.ptx", text)?;
    let mut modules = cache();
    if modules.len() >= MODULES_MAX {
        modules.pop_front();
    }
    modules.push_back((text.to_string(), module.clone()));
    Ok(module)
}

/// `ptx_run`
///
/// # Safety
/// `source` is a text that ends with a zero byte, and `args` points to `n_args` values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptx_run(
    source: *const c_char,
    n_args: c_int,
    args: *const *const c_void,
    block_x: c_int,
    block_y: c_int,
    block_z: c_int,
    grid_x: c_int,
    grid_y: c_int,
    grid_z: c_int,
    dynamic_shared: c_int,
) -> c_int {
    let mut is_clean = true;
    let status = guarded(|| {
        if source.is_null() {
            return Err(Failure::argument("the PTX is a null pointer"));
        }
        // SAFETY: the caller says so.
        let text = unsafe { CStr::from_ptr(source) }.to_str().map_err(|_| Failure::argument("the PTX is not UTF-8"))?;
        let count = usize::try_from(n_args).map_err(|_| Failure::argument(format!("{n_args} arguments")))?;
        // SAFETY: the caller says so.
        let args = unsafe { values(args, count)? };
        let number = |value: c_int| u32::try_from(value).map_err(|_| Failure::argument(format!("an extent or a size of {value}")));
        let module = module_of(text)?;
        let launch = DriverLaunch {
            kernel: module.kernels().next().map(str::to_string),
            grid: [number(grid_x)?, number(grid_y)?, number(grid_z)?],
            block: [number(block_x)?, number(block_y)?, number(block_z)?],
            cluster: None,
            dynamic_shared: number(dynamic_shared)?,
            cooperative: false,
            params: args.iter().map(|arg| (*arg as u64).to_le_bytes().to_vec()).collect(),
            variables: Vec::new(),
        };
        let checks = std::env::var("PTXDBG_CHECKS").map_or(Ok(Checks::ALL), |word| parsed("PTXDBG_CHECKS", &word, Checks::parse))?;
        let options = RunOptions { checks, ..RunOptions::default() };
        let (run, _) = run(&module, &launch, &options, Flag::NONE)?;
        write_error(run.findings().iter().map(text::finding).collect::<String>().as_bytes());
        is_clean = !run.findings().iter().any(|finding| finding.severity > Severity::Note);
        std::io::stdout().write_all(run.printed()).map_err(|error| Failure::argument(format!("cannot write standard output: {error}")))
    });
    match status {
        Status::Ok => c_int::from(!is_clean),
        Status::InvalidArgument
        | Status::InvalidModule
        | Status::InvalidLaunch
        | Status::RunFailed
        | Status::InternalError
        | Status::InvalidFile
        | Status::InvalidCommand
        | Status::Interrupted => {
            // SAFETY: the text of the thread lives until the next call that fails.
            write_error(&[b"ptxdbg: ", unsafe { CStr::from_ptr(ptxdbg_error()) }.to_bytes(), b"\n"].concat());
            2
        }
    }
}

/// Writes to standard error; errors cannot be reported.
fn write_error(bytes: &[u8]) {
    let _ = std::io::stderr().write_all(bytes);
}
