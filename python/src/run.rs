//! Runs.

use ptxdbg::api::{Checks, DriverLaunch, HostRange, RunOptions, Schedule};
use ptxdbg_c::{host_memory, write_back};
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;

use crate::module::{PyPtx, failed};
use crate::result::PyRun;
use crate::{PtxdbgError, debugger};

/// Whether the user pressed Ctrl-C.
pub fn is_interrupted() -> bool {
    Python::attach(|py| py.check_signals().is_err())
}

/// Runs a kernel on the memory at `ranges`, each an address, a length and a name, and writes back what it left there.
#[pyfunction]
#[pyo3(signature = (module, kernel, grid, block, params, ranges, *, cluster = None, shared = 0, cooperative = false, checks = "all",
    schedule = "in-order", seed = 0, step_limit = None, orders = RunOptions::ORDERS))]
#[expect(clippy::too_many_arguments, reason = "each is a keyword of the Python function")]
pub fn run(
    py: Python<'_>,
    module: &PyPtx,
    kernel: Option<String>,
    grid: [u32; 3],
    block: [u32; 3],
    params: Vec<Vec<u8>>,
    ranges: Vec<(u64, u64, String)>,
    cluster: Option<[u32; 3]>,
    shared: u32,
    cooperative: bool,
    checks: &str,
    schedule: &str,
    seed: u64,
    step_limit: Option<u64>,
    orders: u32,
) -> PyResult<PyRun> {
    let launch = DriverLaunch { kernel, grid, block, cluster, dynamic_shared: shared, cooperative, params };
    let word = |name: &str, word: &str, message: String| PyValueError::new_err(format!("{name} '{word}': {message}"));
    let of = |(start, length, name): (u64, u64, String)| HostRange { addresses: start..start.saturating_add(length), name };
    let ranges: Vec<HostRange> = ranges.into_iter().map(of).collect();
    let host = host_memory(&ranges);
    let options = RunOptions {
        checks: Checks::parse(checks).map_err(|message| word("checks", checks, message))?,
        schedule: Schedule::parse(schedule).map_err(|message| word("schedule", schedule, message))?,
        seed,
        step_limit,
        orders,
        host: Some(host.clone()),
        ..RunOptions::default()
    };
    let ran = py.detach(|| launch.planned(&module.module).and_then(|planned| planned.run_until(0, &options, is_interrupted)));
    let ran = ran.map_err(|error| failed(&error))?;
    if ran.summary.interrupted {
        return Err(PyKeyboardInterrupt::new_err(()));
    }
    write_back(&ran.host_writes(&host)).map_err(|failure| PtxdbgError::new_err(failure.message))?;
    Ok(PyRun::of(&ran, debugger::Replay { module: module.module.clone(), text: module.text.clone(), launch, options, host }))
}
