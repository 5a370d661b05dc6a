//! The native part of the Python package: modules, runs on the memory of the process, and their results. The Python part converts
//! arguments to parameters.

#[path = "../../src/main.rs"]
#[expect(dead_code, reason = "its main is that of a program, which a library has none of")]
mod command_line;
mod debugger;
mod module;
mod result;
mod run;
mod session;
mod tensor_map;

use std::ffi::OsString;

use pyo3::prelude::*;

pyo3::create_exception!(ptxdbg, PtxdbgError, pyo3::exceptions::PyException, "What cannot be read, launched or run.");

/// Does what the words of a command line say, the name of the program first; the exit status. `program` are the words that start it once
/// more.
#[pyfunction]
fn command_line_main(py: Python<'_>, words: Vec<OsString>, program: Vec<OsString>) -> PyResult<u8> {
    if program.is_empty() {
        return Err(PtxdbgError::new_err("no words that start the program"));
    }
    ptxdbg::ui::tty::restorer::set_program(program);
    Ok(py.detach(|| command_line::command_line(&words)))
}

/// The module.
#[pymodule]
fn _ptxdbg(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("PtxdbgError", module.py().get_type::<PtxdbgError>())?;
    module.add_class::<module::PyPtx>()?;
    module.add_class::<result::PyRun>()?;
    module.add_class::<result::PyFinding>()?;
    module.add_class::<result::PySide>()?;
    module.add_class::<session::PySession>()?;
    module.add_class::<debugger::PyWriter>()?;
    module.add_function(wrap_pyfunction!(command_line_main, module)?)?;
    module.add_function(wrap_pyfunction!(run::run, module)?)?;
    module.add_function(wrap_pyfunction!(tensor_map::tensor_map, module)?)
}
