//! The native part of the Python package: modules, runs on the memory of the process, and what they came to. What a Python value is as a
//! parameter, the Python part decides.

mod debugger;
mod module;
mod result;
mod run;
mod tensor_map;

use pyo3::prelude::*;

pyo3::create_exception!(_ptxdbg, PtxdbgError, pyo3::exceptions::PyException, "What cannot be read, launched or run.");

/// The module.
#[pymodule]
fn _ptxdbg(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("PtxdbgError", module.py().get_type::<PtxdbgError>())?;
    module.add_class::<module::PyPtx>()?;
    module.add_class::<result::PyRun>()?;
    module.add_class::<result::PyFinding>()?;
    module.add_class::<result::PySide>()?;
    module.add_function(wrap_pyfunction!(run::run, module)?)?;
    module.add_function(wrap_pyfunction!(tensor_map::tensor_map, module)?)
}
