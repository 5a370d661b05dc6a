//! A launch with the memory that it ran on, kept.

use std::fs;
use std::sync::Arc;

use super::error::Error;
use super::launch::{Launch, Planned};
use super::module::Module;
use crate::debug::HostMemory;
use crate::launch::DriverLaunch;

impl DriverLaunch {
    /// The same launch on a copy of the memory that was taken of `host`, as it was before the launch: it can be run again in any order,
    /// debugged, fixed and written to a [bundle](Planned::bundle), whatever the host does to its memory meanwhile. Memory that no run has
    /// touched is known to be there and not what it holds: reading it is a fault of that kind.
    ///
    /// # Errors
    /// There is no such kernel, the launch cannot be meant for it, or the copy cannot be written to a temporary folder.
    pub fn captured(&self, module: &Module, host: &HostMemory) -> Result<Planned, Error> {
        // What keeps it from running is said of the launch, and not of the text that is made of it.
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
