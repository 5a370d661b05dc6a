//! Replays of a run: as a bundle, in a session, or to find the writers of memory.

use std::path::Path;

use ptxdbg::api::{DriverLaunch, HostMemory, Module, Planned, Prompt, RunOptions, Writer};
use pyo3::prelude::*;

use crate::module::failed;

/// The inputs of a run.
pub struct Replay {
    /// The module.
    pub module: Module,
    /// The launch.
    pub launch: DriverLaunch,
    /// The options of the run.
    pub options: RunOptions,
    /// The memory before the run.
    pub host: HostMemory,
}

/// The last thread that wrote to memory.
#[pyclass(name = "Writer", frozen, get_all, module = "ptxdbg")]
pub struct PyWriter {
    /// `kernel.ptx:12 (kernel.py:7)`
    place: String,
    /// The block.
    block: (u32, u32, u32),
    /// The thread of the block.
    thread: (u32, u32, u32),
    /// Warp-instructions since the start.
    tick: u64,
}

impl PyWriter {
    fn of(writer: Writer) -> Self {
        let ([bx, by, bz], [x, y, z]) = (writer.block, writer.thread);
        Self { place: writer.place, block: (bx, by, bz), thread: (x, y, z), tick: writer.time.0 }
    }

    /// The writer as text, in one line.
    pub fn words(&self) -> String {
        let ((bx, by, bz), (x, y, z)) = (self.block, self.thread);
        format!("{}, block ({bx},{by},{bz}) thread ({x},{y},{z}), t={}", self.place, self.tick)
    }
}

#[pymethods]
impl PyWriter {
    fn __repr__(&self) -> String {
        format!("<{}>", self.words())
    }
}

impl Replay {
    /// The launch on a copy of the memory before the run, and its options.
    fn captured(&self) -> PyResult<(Planned, RunOptions)> {
        let planned = self.launch.captured(&self.module, &self.host).map_err(|error| failed(&error))?;
        Ok((planned, RunOptions { host: None, ..self.options.clone() }))
    }

    /// A session of the run, before its first instruction.
    pub fn session(&self) -> PyResult<Prompt> {
        let (planned, options) = self.captured()?;
        planned.prompt(0, &options).map_err(|error| failed(&error))
    }

    /// The last writer of each of these ranges, an address and a number of bytes each.
    pub fn writers(&self, ranges: &[(u64, u64)]) -> PyResult<Vec<Option<PyWriter>>> {
        let planned = self.launch.planned(&self.module).map_err(|error| failed(&error))?;
        let writers = planned.last_writers(0, &self.options, ranges).map_err(|error| failed(&error))?;
        Ok(writers.into_iter().map(|writer| writer.map(PyWriter::of)).collect())
    }

    /// Writes it as a bundle.
    pub fn bundle(&self, path: &Path) -> PyResult<()> {
        let (planned, options) = self.captured()?;
        planned.bundle(0, &options, path, "").map_err(|error| failed(&error))
    }
}
