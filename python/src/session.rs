//! Sessions of the debugger, line by line.

use std::sync::{Mutex, PoisonError};

use ptxdbg::api::{Execution, Prompt, PromptError, TensorElement};
use pyo3::prelude::*;

use crate::PtxdbgError;
use crate::run::{is_interrupted, raised};

/// A session of the debugger: it takes the commands that its prompt takes, and answers with the text that the prompt shows.
#[pyclass(name = "Session", frozen, module = "ptxdbg")]
pub struct PySession {
    prompt: Mutex<Prompt>,
}

/// The PTX type of the elements of a tensor, its shape, and the bits of each element that is known.
type TensorParts = (&'static str, Vec<u64>, Vec<Option<u64>>);

fn failed(error: PromptError) -> PyErr {
    PtxdbgError::new_err(error.message)
}

impl PySession {
    /// Wraps a session before its first command, with confirmations off.
    pub fn of(mut prompt: Prompt) -> PyResult<Self> {
        prompt.execute("set confirm off").map_err(failed)?;
        Ok(Self { prompt: Mutex::new(prompt) })
    }
}

#[pymethods]
impl PySession {
    /// Executes a command, and returns what the prompt shows. Of several lines each is executed, and a block of commands takes those up to
    /// its `end`.
    fn execute(&self, py: Python<'_>, command: &str) -> PyResult<String> {
        py.detach(|| {
            let mut prompt = self.prompt.lock().unwrap_or_else(PoisonError::into_inner);
            let answer = prompt.execute_until(command, is_interrupted);
            if prompt.was_interrupted() { Err(raised()) } else { answer.map_err(failed) }
        })
    }

    /// The tensor that a statement of a Triton kernel gives a variable: the PTX type of an element, the shape, the bits of the elements.
    #[pyo3(signature = (name, line, program, iteration))]
    fn _tensor(&self, py: Python<'_>, name: &str, line: Option<u32>, program: [u32; 3], iteration: u64) -> PyResult<TensorParts> {
        let tensor = py.detach(|| {
            let mut prompt = self.prompt.lock().unwrap_or_else(PoisonError::into_inner);
            prompt.tensor(name, Execution { line, block: program, iteration }).map_err(PtxdbgError::new_err)
        })?;
        let bits = |element: &TensorElement| element.bits().map(|bits| bits as u64);
        Ok((tensor.ty.word(), tensor.shape.clone(), tensor.elements.iter().map(bits).collect()))
    }

    fn __repr__(&self) -> String {
        "<ptxdbg.Session>".to_string()
    }
}
