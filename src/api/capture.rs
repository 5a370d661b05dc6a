//! A launch with a copy of the memory that it ran on.

use std::fs;
use std::sync::Arc;

use super::error::Error;
use super::launch::{Launch, Planned};
use super::module::Module;
use crate::debug::HostMemory;
use crate::launch::file::Init;
use crate::launch::{DriverLaunch, DriverVariable, PlannedVariable};

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
        let program = module.program();
        let full = |(given, planned): (&DriverVariable, &PlannedVariable)| {
            let name = program.variables[planned.variable.index()].name.to_string();
            DriverVariable { name, ..given.clone() }
        };
        let variables = self.variables.iter().zip(&whole.launches[0].variables).map(full).collect();
        let launch = Self { kernel: Some(kernel.name.to_string()), params: values.collect(), variables, ..self.clone() };
        let cannot = |error: std::io::Error| Error::File(format!("cannot keep the memory in a temporary folder: {error}"));
        let folder = tempfile::tempdir().map_err(cannot)?;
        let mut inits = Vec::new();
        for (number, variable) in launch.variables.iter().enumerate() {
            let file = format!("variable{number}.bin");
            fs::write(folder.path().join(&file), &variable.bytes).map_err(cannot)?;
            inits.push(Init::File(file));
        }
        let content = launch.content("", host.save(folder.path()).map_err(cannot)?, inits);
        let path = folder.path().join("kernel.ron");
        fs::write(&path, content.to_text() + "\n").map_err(cannot)?;
        Ok(Launch::from_file(path).plan(module)?.reading(Arc::new(folder)))
    }
}
