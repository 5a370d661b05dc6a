//! A run once more: as a bundle, in a session, or to find what wrote to memory.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use ptxdbg::api::{DriverLaunch, HostMemory, Launch, Module, Planned, RunOptions, Session, Writer};
use pyo3::prelude::*;

use crate::PtxdbgError;
use crate::module::failed;

/// All that a run started from.
pub struct Replay {
    /// The module.
    pub module: Module,
    /// Its text.
    pub text: Arc<str>,
    /// The launch.
    pub launch: DriverLaunch,
    /// How it was run.
    pub options: RunOptions,
    /// The memory as it was.
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

    /// All of it, in one line.
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
    fn planned(&self) -> PyResult<Planned> {
        self.launch.planned(&self.module).map_err(|error| failed(&error))
    }

    /// A session about it, before its first instruction, on a copy of the memory.
    pub fn session(&self) -> PyResult<Session> {
        let planned = self.launch.captured(&self.module, &self.host).map_err(|error| failed(&error))?;
        planned.session(0, &RunOptions { host: None, ..self.options.clone() }).map_err(|error| failed(&error))
    }

    /// The last writer of each of these ranges, an address and a number of bytes each.
    pub fn writers(&self, ranges: &[(u64, u64)]) -> PyResult<Vec<Option<PyWriter>>> {
        let writers = self.planned()?.last_writers(0, &self.options, ranges).map_err(|error| failed(&error))?;
        Ok(writers.into_iter().map(|writer| writer.map(PyWriter::of)).collect())
    }

    /// The name of the module's file in a bundle.
    fn module_name(&self) -> String {
        let name = self.module.path().file_name().map(|name| name.to_string_lossy().into_owned());
        name.filter(|name| name.ends_with(".ptx")).unwrap_or_else(|| "kernel.ptx".to_string())
    }

    /// Writes it as a bundle.
    pub fn bundle(&self, path: &Path) -> PyResult<()> {
        let folder = tempfile::tempdir().map_err(|error| PtxdbgError::new_err(format!("cannot make a folder: {error}")))?;
        let launch = self.write_to(folder.path()).map_err(|error| PtxdbgError::new_err(format!("cannot write the launch: {error}")))?;
        let module = Module::load(folder.path().join(self.module_name())).map_err(|error| failed(&error))?;
        let planned = Launch::from_file(launch).plan(&module).map_err(|error| failed(&error))?;
        // The launch file holds the memory.
        let options = RunOptions { host: None, ..self.options.clone() };
        let session = planned.session(0, &options).map_err(|error| failed(&error))?;
        session.engine().bundle(path, "").map(drop).map_err(PtxdbgError::new_err)
    }

    /// Writes the module, a launch file and the pages that were taken to `folder`; the path of the launch file.
    fn write_to(&self, folder: &Path) -> io::Result<PathBuf> {
        let module = self.module_name();
        fs::write(folder.join(&module), self.text.as_bytes())?;
        let launch = folder.join("kernel.ron");
        fs::write(&launch, self.launch.content(&module, self.host.save(folder)?).to_text())?;
        Ok(launch)
    }
}
