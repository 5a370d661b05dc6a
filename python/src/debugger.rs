//! A run once more: as a bundle.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use ptxdbg::api::{DriverLaunch, HostMemory, Launch, Module, RunOptions};
use pyo3::prelude::*;

use crate::PtxdbgError;
use crate::module::failed;

/// All that a run started from.
pub struct Replay {
    /// The module.
    pub text: Arc<str>,
    /// The launch.
    pub launch: DriverLaunch,
    /// How it was run.
    pub options: RunOptions,
    /// The memory as it was.
    pub host: HostMemory,
}

impl Replay {
    /// Writes it as a bundle.
    pub fn bundle(&self, path: &Path) -> PyResult<()> {
        let folder = tempfile::tempdir().map_err(|error| PtxdbgError::new_err(format!("cannot make a folder: {error}")))?;
        let launch = self.write_to(folder.path()).map_err(|error| PtxdbgError::new_err(format!("cannot write the launch: {error}")))?;
        let module = Module::load(folder.path().join(MODULE)).map_err(|error| failed(&error))?;
        let planned = Launch::from_file(launch).plan(&module).map_err(|error| failed(&error))?;
        // The launch file holds the memory.
        let options = RunOptions { host: None, ..self.options.clone() };
        let session = planned.session(0, &options).map_err(|error| failed(&error))?;
        session.engine().bundle(path, "").map(drop).map_err(PtxdbgError::new_err)
    }

    /// Writes the module, a launch file and the pages that were taken to `folder`; the path of the launch file.
    fn write_to(&self, folder: &Path) -> io::Result<PathBuf> {
        fs::write(folder.join(MODULE), self.text.as_bytes())?;
        let launch = folder.join("kernel.ron");
        fs::write(&launch, self.launch.content(MODULE, self.host.save(folder)?).to_text())?;
        Ok(launch)
    }
}

/// What the module is called beside its launch file.
const MODULE: &str = "kernel.ptx";
