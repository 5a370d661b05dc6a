//! A launch with a copy of the memory that it ran on.

use std::fs;
use std::sync::Arc;

use super::error::Error;
use super::launch::{Launch, Planned};
use super::module::Module;
use crate::debug::HostMemory;
use crate::launch::DriverLaunch;

impl DriverLaunch {
    /// This launch on a copy of the memory of `host` from before the launch: it can be run again in any order, debugged, fixed and
    /// written to a [bundle](Planned::bundle), even if the host changes its memory meanwhile. Pages that no run has accessed are not
    /// copied: reading one is a fault of its own kind.
    ///
    /// # Errors
    /// There is no such kernel, the launch does not match it, or the copy cannot be written to a temporary folder.
    pub fn captured(&self, module: &Module, host: &HostMemory) -> Result<Planned, Error> {
        // Planned first, so that errors refer to the launch and not to the text that is generated from it.
        let whole = self.plan(module.program()).map_err(Error::File)?;
        let kernel = &module.program().functions[whole.launches[0].kernel.index()];
        let values = self.params.iter().zip(&kernel.params).map(|(value, param)| value[..param.bytes as usize].to_vec());
        let launch = Self { kernel: Some(kernel.name.to_string()), params: values.collect(), ..self.clone() };
        let cannot = |error: std::io::Error| Error::File(format!("cannot keep the memory in a temporary folder: {error}"));
        let folder = tempfile::tempdir().map_err(cannot)?;
        let content = launch.content("", host.save(folder.path()).map_err(cannot)?);
        let path = folder.path().join("kernel.ron");
        fs::write(&path, content.to_text() + "\n").map_err(cannot)?;
        Ok(Launch::from_file(path).plan(module)?.reading(Arc::new(folder)))
    }
}
