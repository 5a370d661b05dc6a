//! Runs.

use std::cell::RefCell;
use std::ops::Range;

use ptxdbg::api::{Checks, DriverLaunch, DriverVariable, Element, HostRange, HostWrite, Run, RunOptions, Schedule};
use ptxdbg_c::{host_memory, write_back};
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;

use crate::PtxdbgError;
use crate::debugger::Replay;
use crate::module::{PyPtx, failed};
use crate::result::PyRun;

thread_local! {
    /// What a signal handler raised while this thread ran a kernel or a command.
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// True if a signal handler raised an exception, as that of Ctrl-C does; [`raised`] is the exception.
pub fn is_interrupted() -> bool {
    let error = Python::attach(|py| py.check_signals()).err();
    let is_raised = error.is_some();
    RAISED.with_borrow_mut(|raised| *raised = error);
    is_raised
}

/// The exception that ended a run or a command.
pub fn raised() -> PyErr {
    RAISED.take().unwrap_or_else(|| PyKeyboardInterrupt::new_err(()))
}

/// Memory of an array: an address, a length, a name, true if it is writable, and the type of its elements.
type ArrayRange = (u64, u64, String, bool, Option<String>);

/// Contents of a variable: its name in the module, the type of its elements, its first bytes, and true if what the run leaves there can be
/// written to where they come from.
type Variable = (String, Option<String>, Vec<u8>, bool);

/// The first byte that a kernel wrote to read-only arrays only, and the name of the array.
fn read_only_write(ranges: &[ArrayRange], writes: &[HostWrite]) -> Option<(u64, String)> {
    let extent = |(start, length, ..): &ArrayRange| *start..start.saturating_add(*length);
    let writable: Vec<Range<u64>> = ranges.iter().filter(|range| range.3).map(extent).collect();
    for range in ranges.iter().filter(|range| !range.3) {
        let read_only = extent(range);
        for write in writes {
            let end = read_only.end.min(write.address + write.bytes.len() as u64);
            let mut at = read_only.start.max(write.address);
            // Another argument may be the same memory and be writable.
            while let Some(range) = writable.iter().find(|range| range.contains(&at)) {
                at = range.end;
            }
            if at < end {
                return Some((at, range.2.clone()));
            }
        }
    }
    None
}

/// The error that a statement writes at `address` of the read-only array `name`.
fn refused(replay: &Replay, address: u64, name: &str) -> PyResult<PyErr> {
    let writer = replay.writers(&[(address, 1)])?.pop().flatten();
    let place = writer.map_or_else(String::new, |writer| format!(", at {}", writer.words()));
    let advice = "no array is changed; pass a copy, or one that may be written";
    Ok(PyValueError::new_err(format!("the kernel writes to '{name}', a read-only array{place}: {advice}")))
}

/// What variables hold after a run, as many bytes as were given; an error where a value may only be read and the kernel has changed it.
fn left(run: &Run, variables: &[Variable]) -> PyResult<Vec<Vec<u8>>> {
    let after = |(name, _, bytes, is_writable): &Variable| {
        let mut left = run.variable(name).unwrap_or_else(|| bytes.clone());
        left.truncate(bytes.len());
        if !is_writable && left != *bytes {
            let message =
                format!("the kernel writes to variable '{name}', and its value can only be read: no array is changed; pass an array");
            return Err(PyValueError::new_err(message));
        }
        Ok(left)
    };
    variables.iter().map(after).collect()
}

/// Runs a kernel on the memory at `ranges`, and writes back what it left there: nothing where it wrote to what may only be read.
#[pyfunction]
#[pyo3(signature = (module, kernel, grid, block, params, ranges, *, cluster = None, shared = 0, cooperative = false, checks = "all",
    schedule = "in-order", seed = 0, step_limit = None, orders = RunOptions::ORDERS, variables = Vec::new()))]
#[expect(clippy::too_many_arguments, reason = "each is a keyword of the Python function")]
pub fn run(
    py: Python<'_>,
    module: &PyPtx,
    kernel: Option<String>,
    grid: [u32; 3],
    block: [u32; 3],
    params: Vec<Vec<u8>>,
    ranges: Vec<ArrayRange>,
    cluster: Option<[u32; 3]>,
    shared: u32,
    cooperative: bool,
    checks: &str,
    schedule: &str,
    seed: u64,
    step_limit: Option<u64>,
    orders: u32,
    variables: Vec<Variable>,
) -> PyResult<PyRun> {
    let element = |word: &Option<String>| word.as_deref().and_then(Element::from_name);
    let of = |(name, word, bytes, _): &Variable| DriverVariable { name: name.clone(), element: element(word), bytes: bytes.clone() };
    let launch = DriverLaunch {
        kernel,
        grid,
        block,
        cluster,
        dynamic_shared: shared,
        cooperative,
        params,
        variables: variables.iter().map(of).collect(),
    };
    let word = |name: &str, word: &str, message: String| PyValueError::new_err(format!("{name} '{word}': {message}"));
    let of = |(start, length, name, _, word): &ArrayRange| HostRange {
        addresses: *start..start.saturating_add(*length),
        name: name.clone(),
        element: element(word),
    };
    let host = host_memory(&ranges.iter().map(of).collect::<Vec<_>>());
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
        return Err(raised());
    }
    let writes = ran.host_writes(&host);
    let replay = Replay { module: module.module.clone(), launch, options, host };
    if let Some((address, name)) = read_only_write(&ranges, &writes) {
        return Err(py.detach(|| refused(&replay, address, &name))?);
    }
    let left = left(&ran, &variables)?;
    write_back(&writes).map_err(|failure| PtxdbgError::new_err(failure.message))?;
    Ok(PyRun::of(&ran, replay, left))
}
