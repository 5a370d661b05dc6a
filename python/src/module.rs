//! Modules.

use std::sync::Arc;

use ptxdbg::api::{Error, Module};
use ptxdbg::launch::choose_kernel;
use ptxdbg_c::ADDRESSES;
use pyo3::prelude::*;

use crate::PtxdbgError;

/// The name, the PTX type and the bytes of a parameter.
type Param = (String, String, u32);

/// PTX that was read and checked.
#[pyclass(name = "Module", frozen, module = "ptxdbg")]
pub struct PyPtx {
    pub(crate) module: Module,
    text: Arc<str>,
}

/// All mistakes as text, a line each.
pub fn failed(error: &Error) -> PyErr {
    let text = match error {
        Error::Rejected(problems) => problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
        Error::File(_) | Error::NoCase { .. } | Error::Run(_) | Error::Start(_) => error.to_string(),
    };
    PtxdbgError::new_err(text)
}

#[pymethods]
impl PyPtx {
    /// Reads a PTX text; `name` stands for it in messages.
    #[new]
    #[pyo3(signature = (text, name = "kernel.ptx"))]
    fn new(py: Python<'_>, text: &str, name: &str) -> PyResult<Self> {
        let module = py.detach(|| Module::from_text_avoiding(name, text, ADDRESSES)).map_err(|error| failed(&error))?;
        Ok(Self { module, text: text.into() })
    }

    /// The names of its kernels, in order of the text.
    #[getter]
    fn kernels(&self) -> Vec<String> {
        self.module.kernels().map(str::to_string).collect()
    }

    /// Its text.
    #[getter]
    fn text(&self) -> &str {
        &self.text
    }

    /// The parameters of a kernel, which may be left out where there is one alone: the name, the PTX type and the bytes of each.
    #[pyo3(signature = (kernel = None))]
    fn params(&self, kernel: Option<&str>) -> PyResult<(String, Vec<Param>)> {
        let program = self.module.program();
        let id = choose_kernel(program, kernel).map_err(|(message, help)| PtxdbgError::new_err(format!("{message}: {help}")))?;
        let function = &program.functions[id.index()];
        let params = function.params.iter().map(|param| (param.name.to_string(), param.ty.word().to_string(), param.bytes));
        Ok((function.name.to_string(), params.collect()))
    }

    fn __repr__(&self) -> String {
        format!("<ptxdbg.Module {} with {}>", self.module.path().display(), self.kernels().join(", "))
    }
}
